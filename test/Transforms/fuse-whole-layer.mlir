// RUN: disco-opt %s -disco-fuse-einsum -disco-fuse-epilogue | FileCheck %s
// RUN: disco-opt %s -disco-fuse-einsum -disco-fuse-epilogue -o %t --remarks-filter='disco-fuse.*' --verify-diagnostics
// Twice is as once.
// RUN: disco-opt %s -disco-fuse-einsum -disco-fuse-epilogue -disco-fuse-einsum -disco-fuse-epilogue | FileCheck %s
// Without the einsum there is no conv for the epilogue.
// RUN: disco-opt %s -disco-fuse-epilogue | FileCheck %s --check-prefix=ALONE

!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
!x = tensor<?x4x16x32xf32>
!y = tensor<?x6x16x32xf32>
#id = affine_map<(b, o, h, w) -> (b, o, h, w)>
#channel = affine_map<(b, o, h, w) -> (o)>

// contract, einsum, bias, gelu and residual: one conv.
// CHECK-LABEL: func @layer
// CHECK-SAME: (%[[X:.*]]: tensor<?x4x16x32xf32>, %[[W:.*]]: tensor<6x4x9xf32>, %[[B:.*]]: tensor<6xf32>, %[[R:.*]]: tensor<?x6x16x32xf32>)
// CHECK-NEXT: %[[PSI:.*]] = disco.filter
// CHECK-NEXT: %[[Y:.*]] = disco.conv %[[X]], %[[PSI]], %[[W]] bias %[[B]] residual %[[R]] activation gelu : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>, tensor<6xf32>, tensor<?x6x16x32xf32>) -> tensor<?x6x16x32xf32>
// CHECK-NEXT: return %[[Y]]
// ALONE: disco.contract
// ALONE-NOT: disco.conv
func.func @layer(%x: !x, %w: tensor<6x4x9xf32>, %b: tensor<6xf32>, %r: !y) -> !y {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %s2 = arith.constant 0.70710678 : f32
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.3, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>> -> !psi
  // expected-remark @+4 {{[Passed] disco.contract | Category:disco-fuse-einsum | Function=layer | Groups=1, Remark="formed a disco.conv"}}
  // expected-remark @+3 {{[Passed] disco.conv | Category:disco-fuse-epilogue | Function=layer | Remark="fused bias"}}
  // expected-remark @+2 {{[Passed] disco.conv | Category:disco-fuse-epilogue | Function=layer | Remark="fused gelu"}}
  // expected-remark @+1 {{[Passed] disco.conv | Category:disco-fuse-epilogue | Function=layer | Remark="fused residual"}}
  %f = disco.contract %x, %psi : (!x, !psi) -> tensor<?x4x9x16x32xf32>
  %batch = tensor.dim %f, %c0 : tensor<?x4x9x16x32xf32>
  %e = tensor.empty(%batch) : !y
  %i = linalg.fill ins(%zero : f32) outs(%e : !y) -> !y
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
      ins(%f, %w : tensor<?x4x9x16x32xf32>, tensor<6x4x9xf32>) outs(%i : !y) -> !y
  %size = tensor.dim %y, %c0 : !y
  %out = tensor.empty(%size) : !y
  %v = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %b : !y, tensor<6xf32>) outs(%out : !y) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> !y
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%v : !y) outs(%out : !y) {
  ^bb0(%p: f32, %o: f32):
    %a = arith.mulf %p, %s2 : f32
    %erf = math.erf %a : f32
    %sum = arith.addf %erf, %one : f32
    %h = arith.mulf %p, %half : f32
    %act = arith.mulf %h, %sum : f32
    linalg.yield %act : f32
  } -> !y
  %z = arith.addf %g, %r : !y
  return %z : !y
}
