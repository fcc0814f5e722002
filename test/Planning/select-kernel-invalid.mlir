// RUN: not disco-opt %s --disco-select-kernel="target=h300" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not disco-opt %s --disco-select-kernel="target=h200 overrides=dram_gbps=-1" 2>&1 | FileCheck %s --check-prefix=OVERRIDE
// RUN: not disco-opt %s --disco-select-kernel="force-order=first" 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not disco-opt %s --disco-select-kernel="force-provider=cloud" 2>&1 | FileCheck %s --check-prefix=PROVIDER
// RUN: not disco-opt %s --disco-select-kernel="force-fields=threads=3" 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not disco-opt %s --disco-select-kernel="assumed-batch=0" 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not disco-opt %s --disco-select-kernel="force-family=fft" 2>&1 | FileCheck %s --check-prefix=FAMILY
// RUN: not disco-opt %s --disco-select-kernel="target=h200 force-family=kpacked_wgmma" 2>&1 | FileCheck %s --check-prefix=PLANNED
// RUN: not disco-opt %s --disco-select-kernel="target=h200 include-planned force-family=csr_gather force-fields=speed=3" 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not disco-opt %s --disco-select-kernel="target=h200 include-planned force-family=csr_gather force-fields=block_mib=0" 2>&1 | FileCheck %s --check-prefix=RULE
// RUN: not disco-opt %s --disco-select-kernel="target=h200 include-planned force-family=kpacked_wgmma force-order=weight_first" 2>&1 | FileCheck %s --check-prefix=FORCED
// RUN: not disco-opt %s --disco-select-kernel="target=a100 include-planned force-family=toeplitz_wgmma" 2>&1 | FileCheck %s --check-prefix=ARCH
// RUN: not disco-opt %s --disco-select-kernel="target=h200 force-provider=codegen" 2>&1 | FileCheck %s --check-prefix=NOTHING

// RUN: not disco-opt %s --disco-select-kernel="force-family=loops force-fields=threads=3" 2>&1 | FileCheck %s --check-prefix=NO-FIELDS
// RUN: not disco-opt %s --disco-select-kernel="target=h200 include-planned force-family=csr_gather force-fields=fields=4,fields=8" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not disco-opt %s --disco-select-kernel="target=h200 overrides=launch_us=2,launch_us=3" 2>&1 | FileCheck %s --check-prefix=OVERRIDE-TWICE
// RUN: not disco-opt %s --disco-select-kernel="overrides=cores=1e9" 2>&1 | FileCheck %s --check-prefix=HUGE

// NO-FIELDS: error: 'disco.conv' op expected no schedule fields, since the family has none, but got threads{{$}}
// TWICE: error: 'disco.conv' op expected the schedule field fields to be given once, but got it twice{{$}}
// OVERRIDE-TWICE: error: 'builtin.module' op expected the target field launch_us to be given once, but got it twice{{$}}
// HUGE: error: 'builtin.module' op expected avx2.cores to be at most 65536, but got 1e+09{{$}}
// TARGET: error: 'builtin.module' op expected the target to be one of h200 (sm_90a), h100 (sm_90a), a100 (sm_80), b200 (sm_100a), avx2 (x86-64-v3), avx512 (x86-64-v4), but got 'h300'{{$}}
// OVERRIDE: error: 'builtin.module' op expected h200.dram_gbps to be positive, but got -1{{$}}
// ORDER: error: 'builtin.module' op expected force-order to be filter_first or weight_first, but got first{{$}}
// PROVIDER: error: 'builtin.module' op expected force-provider to be codegen or runtime, but got cloud{{$}}
// ALONE: error: 'builtin.module' op expected force-fields to come with force-family, but got only threads=3{{$}}
// BATCH: error: 'builtin.module' op expected assumed-batch to be positive, but got 0{{$}}
// FAMILY: error: 'disco.conv' op expected the kernel family to be one of loops, cpu_gather, csr_gather, kpacked_wgmma, toeplitz_wgmma, but got 'fft'{{$}}
// PLANNED: error: 'disco.conv' op family 'kpacked_wgmma' is not applicable: expected the family to be available, but got one that is planned; suggestion: use an available family; disco-select-kernel ranks planned ones with include-planned{{$}}
// FIELD: error: 'disco.conv' op expected the schedule field to be one of fields, features, block_mib, but got speed{{$}}
// RULE: error: 'disco.conv' op family 'csr_gather' is not applicable: rule 13: expected block_mib to be at least 1 for conv, but got 0; suggestion: use block_mib=192{{$}}
// FORCED: error: 'disco.conv' op family 'kpacked_wgmma' is not applicable: rule 16: expected the order to be filter_first, since features are columns of the tensor tile, but got weight_first; suggestion: use csr_gather for weight_first{{$}}
// ARCH: error: 'disco.conv' op family 'toeplitz_wgmma' is not applicable: rule 10: expected the target to have wgmma, bulk_copy, but got a100 (sm_80) with mma_sync, async_copy; suggestion: compile for an architecture that has them, or use a family that does not need them{{$}}
// NOTHING: error: 'disco.conv' op no kernel family is applicable to conv forward bf16, sphere 16x32 -> 16x32, K 9, B 1, C 4, O 4 on h200{{$}}
// NOTHING-NEXT: loops: rule 10: expected the target to be a cpu target, but got h200 (cuda); suggestion: compile for cpu{{$}}
// NOTHING-NEXT: cpu_gather: rule 4: expected the target to be a cpu target, but got h200 (cuda); suggestion: compile for a cpu target{{$}}
// NOTHING-NEXT: csr_gather: rule 4: expected the provider to be runtime, but got codegen; suggestion: leave the provider to the family{{$}}
// NOTHING-NEXT: kpacked_wgmma: expected the family to be available, but got one that is planned; suggestion: use an available family; disco-select-kernel ranks planned ones with include-planned{{$}}
// NOTHING-NEXT: toeplitz_wgmma: expected the op to be one of contract, contract_sum, but got conv, which is planned; suggestion: use an available family; disco-select-kernel ranks planned ones with include-planned{{$}}

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @f(%x: tensor<1x4x16x32xbf16>, %w: tensor<4x4x9xbf16>) -> tensor<1x4x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w : (tensor<1x4x16x32xbf16>, !psi, tensor<4x4x9xbf16>) -> tensor<1x4x16x32xbf16>
  return %y : tensor<1x4x16x32xbf16>
}
