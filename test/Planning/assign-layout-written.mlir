// RUN: disco-opt %s --disco-assign-layout | FileCheck %s

// Plans written by hand: nhwc, and layouts that differ from kernel to kernel.
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>

// CHECK-LABEL: @nhwc
// CHECK: linalg.transpose ins(%{{.*}} : tensor<?x12x16x32xf16>) outs(%{{.*}} : tensor<?x16x32x12xf16>) permutation = [0, 2, 3, 1]
// CHECK: disco.conv {{.*}} plan <toeplitz_wgmma, layout = nhwc -> nhwc>
// CHECK: linalg.transpose ins(%{{.*}} : tensor<?x16x32x12xf16>) outs(%{{.*}} : tensor<?x12x16x32xf16>) permutation = [0, 3, 1, 2]
func.func @nhwc(%x: tensor<?x12x16x32xf16>, %w: tensor<12x12x9xf16>) -> tensor<?x12x16x32xf16> {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w plan <toeplitz_wgmma, kernel_layout = nhwc -> nhwc> : (tensor<?x12x16x32xf16>, !psi, tensor<12x12x9xf16>) -> tensor<?x12x16x32xf16>
  return %y : tensor<?x12x16x32xf16>
}

// One change from nhwc to c8, not by way of nchw; and back.
// CHECK-LABEL: @nhwc_and_c8
// CHECK: linalg.pack %{{.*}} padding_value(%{{.*}} : f16) outer_dims_perm = [0, 3, 1, 2] inner_dims_pos = [3] inner_tiles = [8] into %{{.*}} : tensor<2x16x32x12xf16> -> tensor<2x2x16x32x8xf16>
// CHECK: linalg.unpack %{{.*}} outer_dims_perm = [0, 3, 1, 2] inner_dims_pos = [3] inner_tiles = [8] into %{{.*}} : tensor<2x2x16x32x8xf16> -> tensor<2x16x32x12xf16>
func.func @nhwc_and_c8(%x: tensor<2x12x16x32xf16>, %w: tensor<12x12x9xf16>) -> tensor<2x12x16x32xf16> {
  %psi = disco.filter #filter -> !psi
  %a = disco.conv %x, %psi, %w plan <toeplitz_wgmma, kernel_layout = nchw -> nhwc> : (tensor<2x12x16x32xf16>, !psi, tensor<12x12x9xf16>) -> tensor<2x12x16x32xf16>
  %b = disco.conv %a, %psi, %w plan <toeplitz_wgmma, kernel_layout = c8 -> c8> : (tensor<2x12x16x32xf16>, !psi, tensor<12x12x9xf16>) -> tensor<2x12x16x32xf16>
  %c = disco.conv %b, %psi, %w plan <toeplitz_wgmma, kernel_layout = nhwc -> nchw> : (tensor<2x12x16x32xf16>, !psi, tensor<12x12x9xf16>) -> tensor<2x12x16x32xf16>
  return %c : tensor<2x12x16x32xf16>
}

// Layers that were laid out apart meet: the pack of the unpack folds, because a
// conv leaves zeros in its padding.
// CHECK-LABEL: @folds
// CHECK: %[[A:.*]] = disco.conv
// CHECK-NOT: linalg.unpack
// CHECK: disco.conv %[[A]]
func.func @folds(%x: tensor<2x2x16x32x8xf16>, %w: tensor<12x12x9xf16>) -> tensor<2x2x16x32x8xf16> {
  %psi = disco.filter #filter -> !psi
  %a = disco.conv %x, %psi, %w plan <toeplitz_wgmma, layout = c8 -> c8> : (tensor<2x2x16x32x8xf16>, !psi, tensor<12x12x9xf16>) -> tensor<2x2x16x32x8xf16>
  %e = tensor.empty() : tensor<2x12x16x32xf16>
  %u = linalg.unpack %a inner_dims_pos = [1] inner_tiles = [8] into %e : tensor<2x2x16x32x8xf16> -> tensor<2x12x16x32xf16>
  %f = tensor.empty() : tensor<2x2x16x32x8xf16>
  %z = arith.constant 0.0 : f16
  %p = linalg.pack %u padding_value(%z : f16) inner_dims_pos = [1] inner_tiles = [8] into %f : tensor<2x12x16x32xf16> -> tensor<2x2x16x32x8xf16>
  %b = disco.conv %p, %psi, %w plan <toeplitz_wgmma, layout = c8 -> c8> : (tensor<2x2x16x32x8xf16>, !psi, tensor<12x12x9xf16>) -> tensor<2x2x16x32x8xf16>
  return %b : tensor<2x2x16x32x8xf16>
}

// What a caller left in the padding is not known to be zeros.
// CHECK-LABEL: @does_not_fold
// CHECK: linalg.unpack
// CHECK: linalg.pack
func.func @does_not_fold(%x: tensor<2x2x16x32x8xf16>) -> tensor<2x2x16x32x8xf16> {
  %e = tensor.empty() : tensor<2x12x16x32xf16>
  %u = linalg.unpack %x inner_dims_pos = [1] inner_tiles = [8] into %e : tensor<2x2x16x32x8xf16> -> tensor<2x12x16x32xf16>
  %f = tensor.empty() : tensor<2x2x16x32x8xf16>
  %z = arith.constant 0.0 : f16
  %p = linalg.pack %u padding_value(%z : f16) inner_dims_pos = [1] inner_tiles = [8] into %f : tensor<2x12x16x32xf16> -> tensor<2x2x16x32x8xf16>
  return %p : tensor<2x2x16x32x8xf16>
}

// Three branches in nchw: one change of their common source is cheaper than one
// for each.
// CHECK-LABEL: @branches
// CHECK: disco.conv
// CHECK-COUNT-1: linalg.unpack
// CHECK-NOT: linalg.unpack
// CHECK: return
func.func @branches(%x: tensor<2x16x16x32xf16>, %w: tensor<16x16x9xf16>) -> (tensor<2x16x16x32xf16>, tensor<2x16x16x32xf16>, tensor<2x16x16x32xf16>) {
  %psi = disco.filter #filter -> !psi
  %a = disco.conv %x, %psi, %w plan <toeplitz_wgmma, kernel_layout = c8 -> c8> : (tensor<2x16x16x32xf16>, !psi, tensor<16x16x9xf16>) -> tensor<2x16x16x32xf16>
  %1 = math.absf %a : tensor<2x16x16x32xf16>
  %2 = math.exp %1 : tensor<2x16x16x32xf16>
  %3 = math.tanh %1 : tensor<2x16x16x32xf16>
  %4 = math.sin %1 : tensor<2x16x16x32xf16>
  return %2, %3, %4 : tensor<2x16x16x32xf16>, tensor<2x16x16x32xf16>, tensor<2x16x16x32xf16>
}

// Tensors that a caller has in nhwc or c8, for kernels on nchw: the change is at
// the op, for x, gy, the residual and the result, and hashes follow.
// CHECK-LABEL: @written_nhwc
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x16x32x12xf32>
// CHECK: %[[IN:.*]] = linalg.transpose ins(%[[X]] : tensor<?x16x32x12xf32>) outs(%{{.*}} : tensor<?x12x16x32xf32>) permutation = [0, 3, 1, 2]
// CHECK: %[[R:.*]] = linalg.transpose ins(%{{.*}} : tensor<?x16x32x6xf32>) outs(%{{.*}} : tensor<?x6x16x32xf32>) permutation = [0, 3, 1, 2]
// CHECK: %[[Y:.*]] = disco.conv %[[IN]], {{.*}} residual %[[R]] plan <loops> : (tensor<?x12x16x32xf32>, {{.*}}) -> tensor<?x6x16x32xf32>
// CHECK: %[[OUT:.*]] = linalg.transpose ins(%[[Y]] : tensor<?x6x16x32xf32>) outs(%{{.*}} : tensor<?x16x32x6xf32>) permutation = [0, 2, 3, 1]
// CHECK: return %[[OUT]]
func.func @written_nhwc(%x: tensor<?x16x32x12xf32>, %w: tensor<6x12x9xf32>, %r: tensor<?x16x32x6xf32>) -> tensor<?x16x32x6xf32> {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w residual %r plan <loops, layout = nhwc -> nhwc, kernel_layout = nchw -> nchw> : (tensor<?x16x32x12xf32>, !psi, tensor<6x12x9xf32>, tensor<?x16x32x6xf32>) -> tensor<?x16x32x6xf32>
  return %y : tensor<?x16x32x6xf32>
}

// CHECK-LABEL: @written_c8
// CHECK: linalg.unpack %{{.*}} : tensor<2x2x16x32x8xf32> -> tensor<2x12x16x32xf32>
// CHECK: linalg.unpack %{{.*}} : tensor<2x1x16x32x8xf32> -> tensor<2x6x16x32xf32>
// CHECK: disco.conv_weight_grad {{.*}} plan <loops> : (tensor<2x12x16x32xf32>, tensor<2x6x16x32xf32>,
func.func @written_c8(%x: tensor<2x2x16x32x8xf32>, %gy: tensor<2x1x16x32x8xf32>) -> tensor<6x12x9xf32> {
  %psi = disco.filter #filter -> !psi
  %gw = disco.conv_weight_grad %x, %gy, %psi plan <loops, layout = c8 -> c8, kernel_layout = nchw -> nchw> : (tensor<2x2x16x32x8xf32>, tensor<2x1x16x32x8xf32>, !psi) -> tensor<6x12x9xf32>
  return %gw : tensor<6x12x9xf32>
}

// Features stay nchw.
// CHECK-LABEL: @written_features
// CHECK: %[[X:.*]] = linalg.transpose
// CHECK: %[[Z:.*]] = disco.contract %[[X]]
// CHECK: %[[Y:.*]] = disco.contract_sum %[[Z]]
// CHECK: linalg.pack %[[Y]]
func.func @written_features(%x: tensor<2x16x32x12xf32>) -> tensor<2x2x16x32x8xf32> {
  %psi = disco.filter #filter -> !psi
  %z = disco.contract %x, %psi plan <loops, layout = nhwc -> nchw, kernel_layout = nchw -> nchw> : (tensor<2x16x32x12xf32>, !psi) -> tensor<2x12x9x16x32xf32>
  %y = disco.contract_sum %z, %psi plan <loops, order = weight_first, layout = nchw -> c8, kernel_layout = nchw -> nchw> : (tensor<2x12x9x16x32xf32>, !psi) -> tensor<2x2x16x32x8xf32>
  return %y : tensor<2x2x16x32x8xf32>
}

// Between two such ops the changes cancel.
// CHECK-LABEL: @written_chain
// CHECK: linalg.transpose
// CHECK: %[[A:.*]] = disco.conv
// CHECK-NEXT: disco.conv %[[A]]
// CHECK: linalg.transpose
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @written_chain(%x: tensor<2x16x32x12xf32>, %w: tensor<12x12x9xf32>) -> tensor<2x16x32x12xf32> {
  %psi = disco.filter #filter -> !psi
  %a = disco.conv %x, %psi, %w plan <loops, layout = nhwc -> nhwc, kernel_layout = nchw -> nchw> : (tensor<2x16x32x12xf32>, !psi, tensor<12x12x9xf32>) -> tensor<2x16x32x12xf32>
  %b = disco.conv %a, %psi, %w plan <loops, layout = nhwc -> nhwc, kernel_layout = nchw -> nchw> : (tensor<2x16x32x12xf32>, !psi, tensor<12x12x9xf32>) -> tensor<2x16x32x12xf32>
  return %b : tensor<2x16x32x12xf32>
}
