// RUN: disco-opt %s -split-input-file -disco-fuse-einsum | FileCheck %s

!psi = !disco.psi<sphere, 9, 16x32 -> 8x16>

// A linalg.generic with the operands swapped, another order of loops and a
// dynamic batch whose size is read off the filtered features.
// CHECK-LABEL: func @generic
// CHECK-SAME: (%[[X:arg[0-9]+]]: tensor<?x4x16x32xf32>, %[[PSI:arg[0-9]+]]: !disco.psi<sphere, 9, 16x32 -> 8x16>, %[[W:arg[0-9]+]]: tensor<6x4x9xf32>)
// CHECK-NEXT: %[[Y:.*]] = disco.conv %[[X]], %[[PSI]], %[[W]] : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x4x9xf32>) -> tensor<?x6x8x16xf32>
// CHECK-NEXT: return %[[Y]]
func.func @generic(%x: tensor<?x4x16x32xf32>, %psi: !psi, %w: tensor<6x4x9xf32>) -> tensor<?x6x8x16xf32> {
  %f = disco.contract %x, %psi : (tensor<?x4x16x32xf32>, !psi) -> tensor<?x4x9x8x16xf32>
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %f, %c0 : tensor<?x4x9x8x16xf32>
  %e = tensor.empty(%batch) : tensor<?x6x8x16xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x6x8x16xf32>) -> tensor<?x6x8x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(k, w, c, h, o, b) -> (o, c, k)>, affine_map<(k, w, c, h, o, b) -> (b, c, k, h, w)>, affine_map<(k, w, c, h, o, b) -> (b, o, h, w)>],
      iterator_types = ["reduction", "parallel", "reduction", "parallel", "parallel", "parallel"]}
      ins(%w, %f : tensor<6x4x9xf32>, tensor<?x4x9x8x16xf32>) outs(%i : tensor<?x6x8x16xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %m = arith.mulf %q, %p : f32
    %s = arith.addf %m, %acc : f32
    linalg.yield %s : f32
  } -> tensor<?x6x8x16xf32>
  return %y : tensor<?x6x8x16xf32>
}

// linalg.contract with the weight permuted: [K, O, C].
// CHECK-LABEL: func @contract_permuted_weight
// CHECK-SAME: %[[W:arg[0-9]+]]: tensor<9x6x4xf64>)
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<6x4x9xf64>
// CHECK-NEXT: %[[T:.*]] = linalg.transpose ins(%[[W]] : tensor<9x6x4xf64>) outs(%[[E]] : tensor<6x4x9xf64>) permutation = [1, 2, 0]
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %[[T]] : (tensor<2x4x16x32xf64>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x4x9xf64>) -> tensor<2x6x8x16xf64>
// CHECK-NEXT: return %[[Y]]
func.func @contract_permuted_weight(%x: tensor<2x4x16x32xf64>, %psi: !psi, %w: tensor<9x6x4xf64>) -> tensor<2x6x8x16xf64> {
  %f = disco.contract %x, %psi : (tensor<2x4x16x32xf64>, !psi) -> tensor<2x4x9x8x16xf64>
  %i = arith.constant dense<0.0> : tensor<2x6x8x16xf64>
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (k, o, c)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
      ins(%f, %w : tensor<2x4x9x8x16xf64>, tensor<9x6x4xf64>) outs(%i : tensor<2x6x8x16xf64>) -> tensor<2x6x8x16xf64>
  return %y : tensor<2x6x8x16xf64>
}

// A constant weight that is transposed is folded.
// CHECK-LABEL: func @constant_weight
// CHECK: %[[W:.*]] = arith.constant dense<{{\[\[\[}}1.000000e+00, 3.000000e+00], [2.000000e+00, 4.000000e+00]]]> : tensor<1x2x2xf32>
// CHECK-NEXT: disco.conv %{{.*}}, %{{.*}}, %[[W]] : (
// CHECK-NEXT: return
func.func @constant_weight(%x: tensor<2x2x300xf32>, %psi: !disco.psi<csr, 2, 300 -> 33>) -> tensor<2x1x33xf32> {
  %w = arith.constant dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>
  %f = disco.contract %x, %psi : (tensor<2x2x300xf32>, !disco.psi<csr, 2, 300 -> 33>) -> tensor<2x2x2x33xf32>
  %i = arith.constant dense<0.0> : tensor<2x1x33xf32>
  %y = linalg.contract indexing_maps = [affine_map<(b, o, n, c, k) -> (b, c, k, n)>, affine_map<(b, o, n, c, k) -> (o, k, c)>, affine_map<(b, o, n, c, k) -> (b, o, n)>]
      ins(%f, %w : tensor<2x2x2x33xf32>, tensor<1x2x2xf32>) outs(%i : tensor<2x1x33xf32>) -> tensor<2x1x33xf32>
  return %y : tensor<2x1x33xf32>
}

// -----

!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>

// "bgckxy,gock->bgoxy": the groups are an expanded dimension.
// CHECK-LABEL: func @groups
// CHECK-SAME: %[[X:arg[0-9]+]]: tensor<?x4x16x32xf32>, %[[PSI:arg[0-9]+]]: !disco.psi<sphere, 9, 16x32 -> 16x32>, %[[W:arg[0-9]+]]: tensor<6x2x9xf32>)
// CHECK-NEXT: %[[Y:.*]] = disco.conv %[[X]], %[[PSI]], %[[W]] groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x2x9xf32>) -> tensor<?x6x16x32xf32>
// CHECK-NEXT: return %[[Y]]
func.func @groups(%x: tensor<?x4x16x32xf32>, %psi: !psi, %w: tensor<6x2x9xf32>) -> tensor<?x6x16x32xf32> {
  %f = disco.contract %x, %psi : (tensor<?x4x16x32xf32>, !psi) -> tensor<?x4x9x16x32xf32>
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %f, %c0 : tensor<?x4x9x16x32xf32>
  %fg = tensor.expand_shape %f [[0], [1, 2], [3], [4], [5]] output_shape [%batch, 2, 2, 9, 16, 32] : tensor<?x4x9x16x32xf32> into tensor<?x2x2x9x16x32xf32>
  %wg = tensor.expand_shape %w [[0, 1], [2], [3]] output_shape [2, 3, 2, 9] : tensor<6x2x9xf32> into tensor<2x3x2x9xf32>
  %e = tensor.empty(%batch) : tensor<?x2x3x16x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x2x3x16x32xf32>) -> tensor<?x2x3x16x32xf32>
  %yg = linalg.contract indexing_maps = [affine_map<(b, g, o, h, w, c, k) -> (b, g, c, k, h, w)>, affine_map<(b, g, o, h, w, c, k) -> (g, o, c, k)>, affine_map<(b, g, o, h, w, c, k) -> (b, g, o, h, w)>]
      ins(%fg, %wg : tensor<?x2x2x9x16x32xf32>, tensor<2x3x2x9xf32>) outs(%i : tensor<?x2x3x16x32xf32>) -> tensor<?x2x3x16x32xf32>
  %y = tensor.collapse_shape %yg [[0], [1, 2], [3], [4]] : tensor<?x2x3x16x32xf32> into tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// One filter set a channel ("bckxy,ck->bcxy"): as many groups as channels. The
// result keeps its own shape with the groups apart.
// CHECK-LABEL: func @depthwise
// CHECK-SAME: %[[W:arg[0-9]+]]: tensor<4x9xf32>)
// CHECK-NEXT: %[[V:.*]] = tensor.expand_shape %[[W]] {{\[\[}}0, 1], [2]] output_shape [4, 1, 9] : tensor<4x9xf32> into tensor<4x1x9xf32>
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %[[V]] groups 4 : (
// CHECK-NEXT: return %[[Y]]
func.func @depthwise(%x: tensor<2x4x16x32xf32>, %psi: !psi, %w: tensor<4x9xf32>) -> tensor<2x4x16x32xf32> {
  %f = disco.contract %x, %psi : (tensor<2x4x16x32xf32>, !psi) -> tensor<2x4x9x16x32xf32>
  %i = arith.constant dense<0.0> : tensor<2x4x16x32xf32>
  %y = linalg.contract indexing_maps = [affine_map<(b, c, h, w, k) -> (b, c, k, h, w)>, affine_map<(b, c, h, w, k) -> (c, k)>, affine_map<(b, c, h, w, k) -> (b, c, h, w)>]
      ins(%f, %w : tensor<2x4x9x16x32xf32>, tensor<4x9xf32>) outs(%i : tensor<2x4x16x32xf32>) -> tensor<2x4x16x32xf32>
  return %y : tensor<2x4x16x32xf32>
}

// The result leaves the einsum as [B, H, W, O].
// CHECK-LABEL: func @channels_last
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} : (
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<2x16x32x6xf32>
// CHECK-NEXT: %[[T:.*]] = linalg.transpose ins(%[[Y]] : tensor<2x6x16x32xf32>) outs(%[[E]] : tensor<2x16x32x6xf32>) permutation = [0, 2, 3, 1]
// CHECK-NEXT: return %[[T]]
func.func @channels_last(%x: tensor<2x4x16x32xf32>, %psi: !psi, %w: tensor<6x4x9xf32>) -> tensor<2x16x32x6xf32> {
  %f = disco.contract %x, %psi : (tensor<2x4x16x32xf32>, !psi) -> tensor<2x4x9x16x32xf32>
  %i = arith.constant dense<0.0> : tensor<2x16x32x6xf32>
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, h, w, o)>]
      ins(%f, %w : tensor<2x4x9x16x32xf32>, tensor<6x4x9xf32>) outs(%i : tensor<2x16x32x6xf32>) -> tensor<2x16x32x6xf32>
  return %y : tensor<2x16x32x6xf32>
}

// -----

!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>

// As a matmul [O, C K] x [C K, B H W] of transposed and collapsed tensors, with
// a dynamic batch.
// CHECK-LABEL: func @matmul
// CHECK-SAME: %[[X:arg[0-9]+]]: tensor<?x4x16x32xf32>, %[[PSI:arg[0-9]+]]: !disco.psi<sphere, 9, 16x32 -> 16x32>, %[[W:arg[0-9]+]]: tensor<6x4x9xf32>, %{{.*}}: index)
// CHECK-NEXT: %[[Y:.*]] = disco.conv %[[X]], %[[PSI]], %[[W]] : (
// CHECK-NEXT: return %[[Y]]
func.func @matmul(%x: tensor<?x4x16x32xf32>, %psi: !psi, %w: tensor<6x4x9xf32>, %batch: index) -> tensor<?x6x16x32xf32> {
  %f = disco.contract %x, %psi : (tensor<?x4x16x32xf32>, !psi) -> tensor<?x4x9x16x32xf32>
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %columns = arith.muli %batch, %c512 : index
  %e = tensor.empty(%batch) : tensor<4x9x?x16x32xf32>
  %t = linalg.transpose ins(%f : tensor<?x4x9x16x32xf32>) outs(%e : tensor<4x9x?x16x32xf32>) permutation = [1, 2, 0, 3, 4]
  %fm = tensor.collapse_shape %t [[0, 1], [2, 3, 4]] : tensor<4x9x?x16x32xf32> into tensor<36x?xf32>
  %wm = tensor.collapse_shape %w [[0], [1, 2]] : tensor<6x4x9xf32> into tensor<6x36xf32>
  %ye = tensor.empty(%columns) : tensor<6x?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%ye : tensor<6x?xf32>) -> tensor<6x?xf32>
  %ym = linalg.matmul ins(%wm, %fm : tensor<6x36xf32>, tensor<36x?xf32>) outs(%i : tensor<6x?xf32>) -> tensor<6x?xf32>
  %y4 = tensor.expand_shape %ym [[0], [1, 2, 3]] output_shape [6, %batch, 16, 32] : tensor<6x?xf32> into tensor<6x?x16x32xf32>
  %ey = tensor.empty(%batch) : tensor<?x6x16x32xf32>
  %y = linalg.transpose ins(%y4 : tensor<6x?x16x32xf32>) outs(%ey : tensor<?x6x16x32xf32>) permutation = [1, 0, 2, 3]
  return %y : tensor<?x6x16x32xf32>
}

// As a batch_matmul over the batch with the weight broadcast.
// CHECK-LABEL: func @batch_matmul
// CHECK-SAME: %[[X:arg[0-9]+]]: tensor<2x4x16x32xf32>, %[[PSI:arg[0-9]+]]: !disco.psi<sphere, 9, 16x32 -> 16x32>, %[[W:arg[0-9]+]]: tensor<6x4x9xf32>)
// CHECK-NEXT: %[[Y:.*]] = disco.conv %[[X]], %[[PSI]], %[[W]] : (
// CHECK-NEXT: return %[[Y]]
func.func @batch_matmul(%x: tensor<2x4x16x32xf32>, %psi: !psi, %w: tensor<6x4x9xf32>) -> tensor<2x6x16x32xf32> {
  %f = disco.contract %x, %psi : (tensor<2x4x16x32xf32>, !psi) -> tensor<2x4x9x16x32xf32>
  %fm = tensor.collapse_shape %f [[0], [1, 2], [3, 4]] : tensor<2x4x9x16x32xf32> into tensor<2x36x512xf32>
  %wm = tensor.collapse_shape %w [[0], [1, 2]] : tensor<6x4x9xf32> into tensor<6x36xf32>
  %we = tensor.empty() : tensor<2x6x36xf32>
  %wb = linalg.broadcast ins(%wm : tensor<6x36xf32>) outs(%we : tensor<2x6x36xf32>) dimensions = [0]
  %i = arith.constant dense<0.0> : tensor<2x6x512xf32>
  %ym = linalg.batch_matmul ins(%wb, %fm : tensor<2x6x36xf32>, tensor<2x36x512xf32>) outs(%i : tensor<2x6x512xf32>) -> tensor<2x6x512xf32>
  %y = tensor.expand_shape %ym [[0], [1], [2, 3]] output_shape [2, 6, 16, 32] : tensor<2x6x512xf32> into tensor<2x6x16x32xf32>
  return %y : tensor<2x6x16x32xf32>
}

// As torch writes a grouped einsum: batch_matmul over the groups.
// CHECK-LABEL: func @batch_matmul_over_groups
// CHECK-SAME: %[[X:arg[0-9]+]]: tensor<2x4x16x32xf32>, %[[PSI:arg[0-9]+]]: !disco.psi<sphere, 9, 16x32 -> 16x32>, %[[W:arg[0-9]+]]: tensor<2x3x2x9xf32>)
// CHECK-NEXT: %[[V:.*]] = tensor.collapse_shape %[[W]] {{\[\[}}0, 1], [2], [3]] : tensor<2x3x2x9xf32> into tensor<6x2x9xf32>
// CHECK-NEXT: %[[Y:.*]] = disco.conv %[[X]], %[[PSI]], %[[V]] groups 2 : (
// CHECK-NEXT: return %[[Y]]
func.func @batch_matmul_over_groups(%x: tensor<2x4x16x32xf32>, %psi: !psi, %w: tensor<2x3x2x9xf32>) -> tensor<2x6x16x32xf32> {
  %f = disco.contract %x, %psi : (tensor<2x4x16x32xf32>, !psi) -> tensor<2x4x9x16x32xf32>
  %fg = tensor.expand_shape %f [[0], [1, 2], [3], [4], [5]] output_shape [2, 2, 2, 9, 16, 32] : tensor<2x4x9x16x32xf32> into tensor<2x2x2x9x16x32xf32>
  %fe = tensor.empty() : tensor<2x2x16x32x2x9xf32>
  // A transpose as a linalg.generic: [g, B, H, W, c, K].
  %ft = linalg.generic {indexing_maps = [affine_map<(g, b, h, w, c, k) -> (b, g, c, k, h, w)>, affine_map<(g, b, h, w, c, k) -> (g, b, h, w, c, k)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%fg : tensor<2x2x2x9x16x32xf32>) outs(%fe : tensor<2x2x16x32x2x9xf32>) {
  ^bb0(%p: f32, %out: f32):
    linalg.yield %p : f32
  } -> tensor<2x2x16x32x2x9xf32>
  %fm = tensor.collapse_shape %ft [[0], [1, 2, 3], [4, 5]] : tensor<2x2x16x32x2x9xf32> into tensor<2x1024x18xf32>
  %we = tensor.empty() : tensor<2x2x9x3xf32>
  %wt = linalg.transpose ins(%w : tensor<2x3x2x9xf32>) outs(%we : tensor<2x2x9x3xf32>) permutation = [0, 2, 3, 1]
  %wm = tensor.collapse_shape %wt [[0], [1, 2], [3]] : tensor<2x2x9x3xf32> into tensor<2x18x3xf32>
  %i = arith.constant dense<0.0> : tensor<2x1024x3xf32>
  %ym = linalg.batch_matmul ins(%fm, %wm : tensor<2x1024x18xf32>, tensor<2x18x3xf32>) outs(%i : tensor<2x1024x3xf32>) -> tensor<2x1024x3xf32>
  %y5 = tensor.expand_shape %ym [[0], [1, 2, 3], [4]] output_shape [2, 2, 16, 32, 3] : tensor<2x1024x3xf32> into tensor<2x2x16x32x3xf32>
  %ye = tensor.empty() : tensor<2x2x3x16x32xf32>
  %yt = linalg.transpose ins(%y5 : tensor<2x2x16x32x3xf32>) outs(%ye : tensor<2x2x3x16x32xf32>) permutation = [1, 0, 4, 2, 3]
  %y = tensor.collapse_shape %yt [[0], [1, 2], [3], [4]] : tensor<2x2x3x16x32xf32> into tensor<2x6x16x32xf32>
  return %y : tensor<2x6x16x32xf32>
}

// A batch of 1 that the matmul drops, and one channel in and out.
// CHECK-LABEL: func @unit_dimensions
// CHECK-SAME: %[[W:arg[0-9]+]]: tensor<1x9xf32>)
// CHECK-NEXT: %[[V:.*]] = tensor.expand_shape %[[W]] {{\[\[}}0], [1, 2]] output_shape [1, 1, 9] : tensor<1x9xf32> into tensor<1x1x9xf32>
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %[[V]] : (
// CHECK-NEXT: return %[[Y]]
func.func @unit_dimensions(%x: tensor<1x1x16x32xf32>, %psi: !psi, %w: tensor<1x9xf32>) -> tensor<1x1x16x32xf32> {
  %f = disco.contract %x, %psi : (tensor<1x1x16x32xf32>, !psi) -> tensor<1x1x9x16x32xf32>
  %fm = tensor.collapse_shape %f [[0, 1, 2], [3, 4]] : tensor<1x1x9x16x32xf32> into tensor<9x512xf32>
  %i = arith.constant dense<0.0> : tensor<1x512xf32>
  %ym = linalg.matmul ins(%w, %fm : tensor<1x9xf32>, tensor<9x512xf32>) outs(%i : tensor<1x512xf32>) -> tensor<1x512xf32>
  %y = tensor.expand_shape %ym [[0, 1], [2, 3]] output_shape [1, 1, 16, 32] : tensor<1x512xf32> into tensor<1x1x16x32xf32>
  return %y : tensor<1x1x16x32xf32>
}

// -----

!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>

// The init is a bias.
// CHECK-LABEL: func @bias_init
// CHECK-SAME: %[[W:arg[0-9]+]]: tensor<6x4x9xf32>, %[[B:arg[0-9]+]]: tensor<6xf32>)
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %[[W]] bias %[[B]] : (
// CHECK-NEXT: return %[[Y]]
func.func @bias_init(%x: tensor<2x4x16x32xf32>, %psi: !psi, %w: tensor<6x4x9xf32>, %b: tensor<6xf32>) -> tensor<2x6x16x32xf32> {
  %f = disco.contract %x, %psi : (tensor<2x4x16x32xf32>, !psi) -> tensor<2x4x9x16x32xf32>
  %e = tensor.empty() : tensor<2x6x16x32xf32>
  %i = linalg.broadcast ins(%b : tensor<6xf32>) outs(%e : tensor<2x6x16x32xf32>) dimensions = [0, 2, 3]
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
      ins(%f, %w : tensor<2x4x9x16x32xf32>, tensor<6x4x9xf32>) outs(%i : tensor<2x6x16x32xf32>) -> tensor<2x6x16x32xf32>
  return %y : tensor<2x6x16x32xf32>
}

// bf16 summed in f32 and truncated; the weight is f32.
// CHECK-LABEL: func @bf16_f32_sums
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x4x16x32xbf16>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<2x6x16x32xbf16>
// CHECK-NEXT: return %[[Y]]
func.func @bf16_f32_sums(%x: tensor<2x4x16x32xbf16>, %psi: !psi, %w: tensor<6x4x9xf32>) -> tensor<2x6x16x32xbf16> {
  %f = disco.contract %x, %psi : (tensor<2x4x16x32xbf16>, !psi) -> tensor<2x4x9x16x32xbf16>
  %i = arith.constant dense<0.0> : tensor<2x6x16x32xf32>
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
      ins(%f, %w : tensor<2x4x9x16x32xbf16>, tensor<6x4x9xf32>) outs(%i : tensor<2x6x16x32xf32>) -> tensor<2x6x16x32xf32>
  %t = arith.truncf %y : tensor<2x6x16x32xf32> to tensor<2x6x16x32xbf16>
  return %t : tensor<2x6x16x32xbf16>
}

// f16 extended as a tensor, multiplied as a matmul and truncated behind the
// reshape; the weight is extended from f16.
// CHECK-LABEL: func @f16_extended
// CHECK-SAME: %[[W:arg[0-9]+]]: tensor<6x36xf16>)
// CHECK-NEXT: %[[V:.*]] = tensor.expand_shape %[[W]] {{\[\[}}0], [1, 2]] output_shape [6, 4, 9] : tensor<6x36xf16> into tensor<6x4x9xf16>
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %[[V]] : (tensor<1x4x16x32xf16>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf16>) -> tensor<1x6x16x32xf16>
// CHECK-NEXT: return %[[Y]]
func.func @f16_extended(%x: tensor<1x4x16x32xf16>, %psi: !psi, %w: tensor<6x36xf16>) -> tensor<1x6x16x32xf16> {
  %f = disco.contract %x, %psi : (tensor<1x4x16x32xf16>, !psi) -> tensor<1x4x9x16x32xf16>
  %fe = arith.extf %f : tensor<1x4x9x16x32xf16> to tensor<1x4x9x16x32xf32>
  %we = arith.extf %w : tensor<6x36xf16> to tensor<6x36xf32>
  %fm = tensor.collapse_shape %fe [[0, 1, 2], [3, 4]] : tensor<1x4x9x16x32xf32> into tensor<36x512xf32>
  %i = arith.constant dense<-0.0> : tensor<6x512xf32>
  %ym = linalg.matmul ins(%we, %fm : tensor<6x36xf32>, tensor<36x512xf32>) outs(%i : tensor<6x512xf32>) -> tensor<6x512xf32>
  %y = tensor.expand_shape %ym [[0, 1], [2, 3]] output_shape [1, 6, 16, 32] : tensor<6x512xf32> into tensor<1x6x16x32xf32>
  %t = arith.truncf %y : tensor<1x6x16x32xf32> to tensor<1x6x16x32xf16>
  return %t : tensor<1x6x16x32xf16>
}

// bf16 summed in bf16: the conv sums in f32.
// CHECK-LABEL: func @bf16_sums
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x4x16x32xbf16>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xbf16>) -> tensor<2x6x16x32xbf16>
func.func @bf16_sums(%x: tensor<2x4x16x32xbf16>, %psi: !psi, %w: tensor<6x4x9xbf16>) -> tensor<2x6x16x32xbf16> {
  %f = disco.contract %x, %psi : (tensor<2x4x16x32xbf16>, !psi) -> tensor<2x4x9x16x32xbf16>
  %i = arith.constant dense<0.0> : tensor<2x6x16x32xbf16>
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
      ins(%f, %w : tensor<2x4x9x16x32xbf16>, tensor<6x4x9xbf16>) outs(%i : tensor<2x6x16x32xbf16>) -> tensor<2x6x16x32xbf16>
  return %y : tensor<2x6x16x32xbf16>
}

// -----

!fine = tensor<?x6x16x32xf32>

// Mix, then sum: the einsum expands C channels to O times K maps.
// CHECK-LABEL: func @mix_then_sum
// CHECK-SAME: %[[X:arg[0-9]+]]: tensor<?x4x8x16xf32>, %[[PSI:arg[0-9]+]]: !disco.psi<sphere, 9, 8x16 -> 16x32>, %[[W:arg[0-9]+]]: tensor<6x4x9xf32>)
// CHECK-NEXT: %[[Y:.*]] = disco.conv %[[X]], %[[PSI]], %[[W]] : (tensor<?x4x8x16xf32>, !disco.psi<sphere, 9, 8x16 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
// CHECK-NEXT: return %[[Y]]
func.func @mix_then_sum(%x: tensor<?x4x8x16xf32>, %psi: !disco.psi<sphere, 9, 8x16 -> 16x32>, %w: tensor<6x4x9xf32>) -> !fine {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %x, %c0 : tensor<?x4x8x16xf32>
  %e = tensor.empty(%batch) : tensor<?x6x9x8x16xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x6x9x8x16xf32>) -> tensor<?x6x9x8x16xf32>
  %z = linalg.contract indexing_maps = [affine_map<(b, o, k, h, w, c) -> (b, c, h, w)>, affine_map<(b, o, k, h, w, c) -> (o, c, k)>, affine_map<(b, o, k, h, w, c) -> (b, o, k, h, w)>]
      ins(%x, %w : tensor<?x4x8x16xf32>, tensor<6x4x9xf32>) outs(%i : tensor<?x6x9x8x16xf32>) -> tensor<?x6x9x8x16xf32>
  %y = disco.contract_sum %z, %psi : (tensor<?x6x9x8x16xf32>, !disco.psi<sphere, 9, 8x16 -> 16x32>) -> !fine
  return %y : !fine
}

// The same as a matmul, with groups by way of a batch_matmul.
// CHECK-LABEL: func @mix_groups_then_sum
// CHECK-SAME: %[[X:arg[0-9]+]]: tensor<1x4x8x16xf32>, %[[PSI:arg[0-9]+]]: !disco.psi<sphere, 9, 8x16 -> 16x32>, %[[W:arg[0-9]+]]: tensor<2x27x2xf32>)
// CHECK: %[[E:.*]] = tensor.expand_shape %[[W]] {{\[\[}}0], [1, 2], [3]] output_shape [2, 3, 9, 2] : tensor<2x27x2xf32> into tensor<2x3x9x2xf32>
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[E]] : tensor<2x3x9x2xf32>) outs(%{{.*}} : tensor<2x3x2x9xf32>) permutation = [0, 1, 3, 2]
// CHECK-NEXT: %[[V:.*]] = tensor.collapse_shape %[[T]] {{\[\[}}0, 1], [2], [3]] : tensor<2x3x2x9xf32> into tensor<6x2x9xf32>
// CHECK-NEXT: %[[Y:.*]] = disco.conv %[[X]], %[[PSI]], %[[V]] groups 2 : (
// CHECK-NEXT: return %[[Y]]
func.func @mix_groups_then_sum(%x: tensor<1x4x8x16xf32>, %psi: !disco.psi<sphere, 9, 8x16 -> 16x32>, %w: tensor<2x27x2xf32>) -> tensor<1x6x16x32xf32> {
  %xm = tensor.collapse_shape %x [[0, 1], [2, 3]] : tensor<1x4x8x16xf32> into tensor<4x128xf32>
  %xg = tensor.expand_shape %xm [[0, 1], [2]] output_shape [2, 2, 128] : tensor<4x128xf32> into tensor<2x2x128xf32>
  %i = arith.constant dense<0.0> : tensor<2x27x128xf32>
  %zm = linalg.batch_matmul ins(%w, %xg : tensor<2x27x2xf32>, tensor<2x2x128xf32>) outs(%i : tensor<2x27x128xf32>) -> tensor<2x27x128xf32>
  %z6 = tensor.expand_shape %zm [[0, 1], [2, 3], [4, 5]] output_shape [1, 2, 3, 9, 8, 16] : tensor<2x27x128xf32> into tensor<1x2x3x9x8x16xf32>
  %z = tensor.collapse_shape %z6 [[0], [1, 2], [3], [4], [5]] : tensor<1x2x3x9x8x16xf32> into tensor<1x6x9x8x16xf32>
  %y = disco.contract_sum %z, %psi : (tensor<1x6x9x8x16xf32>, !disco.psi<sphere, 9, 8x16 -> 16x32>) -> tensor<1x6x16x32xf32>
  return %y : tensor<1x6x16x32xf32>
}

// Storage moves to the conv.
// CHECK-LABEL: func @storage
// CHECK-NEXT: disco.conv %{{.*}}, (%{{.*}}, %{{.*}}), %{{.*}} storage <table, !disco.psi<table<5>, 3, 128 -> 40>> : (
func.func @storage(%x: tensor<2x4x128xf32>, %index: tensor<40x5xi32>, %values: tensor<40x5x3xf32>, %w: tensor<6x4x3xf32>) -> tensor<2x6x40xf32> {
  %f = disco.contract %x, (%index, %values) storage <table, !disco.psi<table<5>, 3, 128 -> 40>> : (tensor<2x4x128xf32>, tensor<40x5xi32>, tensor<40x5x3xf32>) -> tensor<2x4x3x40xf32>
  %i = arith.constant dense<0.0> : tensor<2x6x40xf32>
  %y = linalg.contract indexing_maps = [affine_map<(b, o, n, c, k) -> (b, c, k, n)>, affine_map<(b, o, n, c, k) -> (o, c, k)>, affine_map<(b, o, n, c, k) -> (b, o, n)>]
      ins(%f, %w : tensor<2x4x3x40xf32>, tensor<6x4x3xf32>) outs(%i : tensor<2x6x40xf32>) -> tensor<2x6x40xf32>
  return %y : tensor<2x6x40xf32>
}
