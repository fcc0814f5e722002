// RUN: disco-opt %s | FileCheck %s
// RUN: disco-opt %s | disco-opt | FileCheck %s
// RUN: disco-opt %s --mlir-print-op-generic | disco-opt | FileCheck %s
// RUN: disco-opt %s --emit-bytecode | disco-opt | FileCheck %s

// CHECK-LABEL: func @conv_with_everything
func.func @conv_with_everything(%x: tensor<?x4x16x32xf32>, %w: tensor<6x2x9xf32>,
    %b: tensor<6xf32>, %r: tensor<?x6x16x32xf32>) -> tensor<?x6x16x32xf32> {
  // CHECK: disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.1, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>> -> !disco.psi<sphere, 9, 16x32 -> 16x32>
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 1e-1, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>> -> !disco.psi<sphere, 9, 16x32 -> 16x32>
  // CHECK: disco.conv %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} residual %{{.*}} groups 2 activation gelu plan <loops, order = weight_first> : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x2x9xf32>, tensor<6xf32>, tensor<?x6x16x32xf32>) -> tensor<?x6x16x32xf32>
  %y = disco.conv %x, %psi, %w bias %b residual %r groups 2 activation gelu plan <loops, order = weight_first>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x2x9xf32>, tensor<6xf32>, tensor<?x6x16x32xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}
