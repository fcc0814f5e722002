// RUN: not disco-opt %s --disco-materialize-filters --disco-select-kernel 2>&1 | FileCheck %s
// RUN: disco-opt %s --disco-select-kernel --disco-materialize-filters --disco-select-kernel | FileCheck %s --check-prefix=KEPT
// RUN: not disco-opt %s --disco-select-kernel --disco-materialize-filters --disco-select-kernel=force-order=weight_first 2>&1 | FileCheck %s --check-prefix=FORCED

// Without taps there is nothing to choose by; a plan that was made before stays.
// CHECK: select-materialised.mlir:[[#@LINE+9]]:8: error: 'disco.conv' op expected psi to be planned before disco-materialize-filters, but got tensors{{$}}
// KEPT: disco.conv {{.*}} plan <cpu_gather,
// FORCED: error: 'disco.conv' op expected the plan to have the order 'weight_first' that is forced, but got 'filter_first'{{$}}

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
!x = tensor<1x4x16x32xf32>
func.func @f(%x: !x, %w: tensor<4x4x9xf32>) -> !x {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w : (!x, !psi, tensor<4x4x9xf32>) -> !x
  return %y : !x
}
