// RUN: not disco-opt %s --disco-select-kernel="target=h300" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not disco-opt %s --disco-select-kernel="target=h200 overrides=dram_gbps=-1" 2>&1 | FileCheck %s --check-prefix=OVERRIDE
// RUN: not disco-opt %s --disco-select-kernel="force-order=first" 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not disco-opt %s --disco-select-kernel="force-provider=cloud" 2>&1 | FileCheck %s --check-prefix=PROVIDER
// RUN: not disco-opt %s --disco-select-kernel="force-fields=threads=3" 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not disco-opt %s --disco-select-kernel="assumed-batch=0" 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not disco-opt %s --disco-select-kernel="force-family=fft" 2>&1 | FileCheck %s --check-prefix=FAMILY
// RUN: not disco-opt %s --disco-select-kernel="target=h200 force-family=csr_gather" 2>&1 | FileCheck %s --check-prefix=PLANNED
// RUN: not disco-opt %s --disco-select-kernel="target=h200 include-planned force-family=csr_gather force-fields=speed=3" 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not disco-opt %s --disco-select-kernel="target=h200 include-planned force-family=csr_gather force-fields=atomics=1" 2>&1 | FileCheck %s --check-prefix=RULE
// RUN: not disco-opt %s --disco-select-kernel="target=h200 include-planned force-family=kpacked_wgmma force-order=weight_first" 2>&1 | FileCheck %s --check-prefix=FORCED
// RUN: not disco-opt %s --disco-select-kernel="target=a100 include-planned force-family=toeplitz_wgmma" 2>&1 | FileCheck %s --check-prefix=ARCH
// RUN: not disco-opt %s --disco-select-kernel="target=h200" 2>&1 | FileCheck %s --check-prefix=NOTHING

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @f(%x: tensor<1x4x16x32xbf16>, %w: tensor<4x4x9xbf16>) -> tensor<1x4x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w : (tensor<1x4x16x32xbf16>, !psi, tensor<4x4x9xbf16>) -> tensor<1x4x16x32xbf16>
  return %y : tensor<1x4x16x32xbf16>
}
