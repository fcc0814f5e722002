// RUN: disco-opt %s --disco-select-kernel=assumed-batch=8 2> %t.warnings | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARNING --input-file=%t.warnings
// RUN: disco-opt %s --disco-select-kernel --disco-select-kernel 2>&1 | FileCheck %s --check-prefix=SILENT --implicit-check-not=warning

// A plan that states a batch keeps it, and that is said.
// WARNING: warning: the batch 4 that the plan states is assumed, not the assumed-batch 8{{$}}
// WARNING-NOT: warning:
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
!x = tensor<?x4x16x32xf32>
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
// CHECK-LABEL: @written
// CHECK: batch = 4
// SILENT: batch = 4
func.func @written(%x: !x, %w: tensor<4x4x9xf32>) -> !x {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w plan <cpu_gather, batch = 4> : (!x, !psi, tensor<4x4x9xf32>) -> !x
  return %y : !x
}

// CHECK-LABEL: @free
// CHECK: batch = 8
func.func @free(%x: !x, %w: tensor<4x4x9xf32>) -> !x {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w : (!x, !psi, tensor<4x4x9xf32>) -> !x
  return %y : !x
}
