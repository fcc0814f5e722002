// RUN: disco-opt %s --split-input-file --disco-select-kernel="target=h200 include-planned force-family=toeplitz_wgmma" --disco-assign-layout --disco-verify-plan="target=h200 include-planned" | FileCheck %s

#grid = #disco.grid<legendre_gauss, 16x32>
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>

// Three conv + gelu layers in a row: one repack in, one out. 12 channels leave
// 4 padding channels, which the pack fills with zeros and gelu keeps zero.
// CHECK-LABEL: @three_layers
// CHECK-SAME: (%[[X:[a-z0-9]*]]: tensor<?x12x16x32xbf16>
// CHECK: linalg.pack %[[X]] padding_value({{.*}} : bf16) inner_dims_pos = [1] inner_tiles = [8] into %{{.*}} : tensor<?x12x16x32xbf16> -> tensor<?x2x16x32x8xbf16>
// CHECK-NOT: linalg.pack
// CHECK-NOT: linalg.unpack
// CHECK: disco.conv {{.*}} plan <toeplitz_wgmma, layout = c8 -> c8, {{.*}} -> tensor<?x2x16x32x8xbf16>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x2x16x32x8xbf16>) outs(%{{.*}} : tensor<?x2x16x32x8xbf16>)
// CHECK-NOT: {{linalg\.(un)?pack}}
// CHECK: disco.conv {{.*}} plan <toeplitz_wgmma, layout = c8 -> c8, {{.*}} -> tensor<?x2x16x32x8xbf16>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x2x16x32x8xbf16>) outs(%{{.*}} : tensor<?x2x16x32x8xbf16>)
// CHECK-NOT: {{linalg\.(un)?pack}}
// CHECK: disco.conv {{.*}} plan <toeplitz_wgmma, layout = c8 -> c8, {{.*}} -> tensor<?x2x16x32x8xbf16>
// CHECK-NOT: linalg.pack
// CHECK: linalg.unpack %{{.*}} inner_dims_pos = [1] inner_tiles = [8] into %{{.*}} : tensor<?x2x16x32x8xbf16> -> tensor<?x12x16x32xbf16>
// CHECK-NOT: linalg.pack
// CHECK-NOT: linalg.unpack
// CHECK: return %{{.*}} : tensor<?x12x16x32xbf16>
#id = affine_map<(b, c, h, w) -> (b, c, h, w)>
func.func @three_layers(%x: tensor<?x12x16x32xbf16>, %w: tensor<12x12x9xbf16>, %e: tensor<?x12x16x32xbf16>) -> tensor<?x12x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %1 = disco.conv %x, %psi, %w : (tensor<?x12x16x32xbf16>, !psi, tensor<12x12x9xbf16>) -> tensor<?x12x16x32xbf16>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%1 : tensor<?x12x16x32xbf16>) outs(%e : tensor<?x12x16x32xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %half = arith.constant 5.0e-01 : bf16
    %one = arith.constant 1.0 : bf16
    %r = arith.constant 7.070310e-01 : bf16
    %s = arith.mulf %a, %r : bf16
    %t = math.erf %s : bf16
    %u = arith.addf %t, %one : bf16
    %v = arith.mulf %a, %half : bf16
    %g = arith.mulf %v, %u : bf16
    linalg.yield %g : bf16
  } -> tensor<?x12x16x32xbf16>
  %3 = disco.conv %2, %psi, %w : (tensor<?x12x16x32xbf16>, !psi, tensor<12x12x9xbf16>) -> tensor<?x12x16x32xbf16>
  %4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%3 : tensor<?x12x16x32xbf16>) outs(%e : tensor<?x12x16x32xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %half = arith.constant 5.0e-01 : bf16
    %one = arith.constant 1.0 : bf16
    %r = arith.constant 7.070310e-01 : bf16
    %s = arith.mulf %a, %r : bf16
    %t = math.erf %s : bf16
    %u = arith.addf %t, %one : bf16
    %v = arith.mulf %a, %half : bf16
    %g = arith.mulf %v, %u : bf16
    linalg.yield %g : bf16
  } -> tensor<?x12x16x32xbf16>
  %5 = disco.conv %4, %psi, %w activation gelu : (tensor<?x12x16x32xbf16>, !psi, tensor<12x12x9xbf16>) -> tensor<?x12x16x32xbf16>
  return %5 : tensor<?x12x16x32xbf16>
}

// -----

// exp(0) is one: with 12 channels it would fill the padding, so it stays nchw.
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
// CHECK-LABEL: @exp_of_padding
// CHECK: disco.conv
// CHECK: linalg.unpack
// CHECK: math.exp %{{.*}} : tensor<2x12x16x32xbf16>
// CHECK: linalg.pack {{.*}} padding_value
// CHECK: disco.conv
func.func @exp_of_padding(%x: tensor<2x12x16x32xbf16>, %w: tensor<12x12x9xbf16>) -> tensor<2x12x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %1 = disco.conv %x, %psi, %w : (tensor<2x12x16x32xbf16>, !psi, tensor<12x12x9xbf16>) -> tensor<2x12x16x32xbf16>
  %2 = math.exp %1 : tensor<2x12x16x32xbf16>
  %3 = disco.conv %2, %psi, %w : (tensor<2x12x16x32xbf16>, !psi, tensor<12x12x9xbf16>) -> tensor<2x12x16x32xbf16>
  return %3 : tensor<2x12x16x32xbf16>
}

// -----

// 16 channels have no padding: anything elementwise is carried, with splat
// constants in the physical shape, and packs need no padding value.
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
// CHECK-LABEL: @exp_without_padding
// CHECK: arith.constant dense<2.000000e+00> : tensor<2x2x16x32x8xbf16>
// CHECK: linalg.pack %{{[^ ]*}} inner_dims_pos = [1] inner_tiles = [8] into
// CHECK: disco.conv
// CHECK-NOT: {{linalg\.(un)?pack}}
// CHECK: math.exp %{{.*}} : tensor<2x2x16x32x8xbf16>
// CHECK: arith.mulf {{.*}} : tensor<2x2x16x32x8xbf16>
// CHECK-NOT: {{linalg\.(un)?pack}}
// CHECK: disco.conv
// CHECK: linalg.unpack
func.func @exp_without_padding(%x: tensor<2x16x16x32xbf16>, %w: tensor<16x16x9xbf16>) -> tensor<2x16x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %two = arith.constant dense<2.0> : tensor<2x16x16x32xbf16>
  %1 = disco.conv %x, %psi, %w : (tensor<2x16x16x32xbf16>, !psi, tensor<16x16x9xbf16>) -> tensor<2x16x16x32xbf16>
  %2 = math.exp %1 : tensor<2x16x16x32xbf16>
  %3 = arith.mulf %2, %two : tensor<2x16x16x32xbf16>
  %4 = disco.conv %3, %psi, %w : (tensor<2x16x16x32xbf16>, !psi, tensor<16x16x9xbf16>) -> tensor<2x16x16x32xbf16>
  return %4 : tensor<2x16x16x32xbf16>
}

// -----

// A value that is needed in both layouts is repacked once, a skip connection
// is carried.
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
// CHECK-LABEL: @skip
// CHECK: linalg.pack
// CHECK: %[[A:.*]] = disco.conv
// CHECK-NOT: {{linalg\.(un)?pack}}
// CHECK: %[[B:.*]] = disco.conv %[[A]]
// CHECK-NOT: linalg.pack
// CHECK: arith.addf %[[A]], %[[B]] : tensor<2x2x16x32x8xbf16>
// CHECK: linalg.unpack
// CHECK-NOT: linalg.unpack
// CHECK: return
func.func @skip(%x: tensor<2x16x16x32xbf16>, %w: tensor<16x16x9xbf16>) -> (tensor<2x16x16x32xbf16>, tensor<2x16x16x32xbf16>) {
  %psi = disco.filter #filter -> !psi
  %a = disco.conv %x, %psi, %w : (tensor<2x16x16x32xbf16>, !psi, tensor<16x16x9xbf16>) -> tensor<2x16x16x32xbf16>
  %b = disco.conv %a, %psi, %w : (tensor<2x16x16x32xbf16>, !psi, tensor<16x16x9xbf16>) -> tensor<2x16x16x32xbf16>
  %s = arith.addf %a, %b : tensor<2x16x16x32xbf16>
  %c = disco.conv %s, %psi, %w residual %s : (tensor<2x16x16x32xbf16>, !psi, tensor<16x16x9xbf16>, tensor<2x16x16x32xbf16>) -> tensor<2x16x16x32xbf16>
  return %c, %c : tensor<2x16x16x32xbf16>, tensor<2x16x16x32xbf16>
}

// -----

// Forward and both gradients share the packed x and gy.
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
// CHECK-LABEL: @training_step
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<2x12x16x32xbf16>, %[[GY:[a-z0-9]*]]: tensor<2x12x16x32xbf16>
// CHECK-DAG: %[[PX:.*]] = linalg.pack %[[X]]
// CHECK-DAG: %[[PGY:.*]] = linalg.pack %[[GY]]
// CHECK-NOT: linalg.pack
// CHECK: disco.conv %[[PX]]
// CHECK: disco.conv_weight_grad %[[PX]], %[[PGY]], {{.*}} plan <toeplitz_wgmma, {{.*}}layout = c8 -> c8, {{.*}} -> tensor<12x12x9xbf16>
// CHECK-NOT: linalg.pack
// CHECK: return
func.func @training_step(%x: tensor<2x12x16x32xbf16>, %gy: tensor<2x12x16x32xbf16>, %w: tensor<12x12x9xbf16>) -> (tensor<2x12x16x32xbf16>, tensor<12x12x9xbf16>) {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w : (tensor<2x12x16x32xbf16>, !psi, tensor<12x12x9xbf16>) -> tensor<2x12x16x32xbf16>
  %gw = disco.conv_weight_grad %x, %gy, %psi : (tensor<2x12x16x32xbf16>, tensor<2x12x16x32xbf16>, !psi) -> tensor<12x12x9xbf16>
  return %y, %gw : tensor<2x12x16x32xbf16>, tensor<12x12x9xbf16>
}

// -----

// Named linalg operations and linalg.map are carried like generics, with a bias
// that is broadcast along the channels: packed to [2, 8] with zeros. Five layers of
// operations, two repacks of activations.
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
#id4 = affine_map<(b, c, h, w) -> (b, c, h, w)>
#channel = affine_map<(b, c, h, w) -> (c)>
// CHECK: #[[VECTOR:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d4)>
// CHECK-LABEL: @named_operations
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x12x16x32xbf16>, %[[W:[a-z0-9]*]]: tensor<12x12x9xbf16>, %[[B:[a-z0-9]*]]: tensor<12xbf16>
// CHECK: linalg.pack %[[X]] padding_value
// CHECK: %[[A:.*]] = disco.conv
// CHECK-NOT: -> tensor<?x{{[0-9]+}}x16x32xbf16>
// CHECK: linalg.pack %[[B]] padding_value({{.*}} : bf16) inner_dims_pos = [0] inner_tiles = [8] into %{{.*}} : tensor<12xbf16> -> tensor<2x8xbf16>
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[VECTOR]], #{{.*}}]
// CHECK: arith.addf
// CHECK: linalg.generic
// CHECK: math.absf
// CHECK: linalg.generic
// CHECK: arith.mulf
// CHECK-NOT: linalg.unpack
// CHECK: disco.conv {{.*}} layout = c8 -> c8
// CHECK: linalg.unpack
// CHECK-NOT: {{linalg\.(un)?pack}}
// CHECK: return
func.func @named_operations(%x: tensor<?x12x16x32xbf16>, %w: tensor<12x12x9xbf16>, %bias: tensor<12xbf16>, %e: tensor<?x12x16x32xbf16>) -> tensor<?x12x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %1 = disco.conv %x, %psi, %w : (tensor<?x12x16x32xbf16>, !psi, tensor<12x12x9xbf16>) -> tensor<?x12x16x32xbf16>
  %2 = linalg.generic {indexing_maps = [#id4, #channel, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%1, %bias : tensor<?x12x16x32xbf16>, tensor<12xbf16>) outs(%e : tensor<?x12x16x32xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %s = arith.addf %a, %b : bf16
    linalg.yield %s : bf16
  } -> tensor<?x12x16x32xbf16>
  %3 = linalg.abs ins(%2 : tensor<?x12x16x32xbf16>) outs(%e : tensor<?x12x16x32xbf16>) -> tensor<?x12x16x32xbf16>
  %4 = linalg.mul ins(%3, %1 : tensor<?x12x16x32xbf16>, tensor<?x12x16x32xbf16>) outs(%e : tensor<?x12x16x32xbf16>) -> tensor<?x12x16x32xbf16>
  %5 = disco.conv %4, %psi, %w : (tensor<?x12x16x32xbf16>, !psi, tensor<12x12x9xbf16>) -> tensor<?x12x16x32xbf16>
  return %5 : tensor<?x12x16x32xbf16>
}

// -----

// A bias that linalg.broadcast spreads, and linalg.map.
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
// CHECK-LABEL: @broadcast
// CHECK: linalg.pack
// CHECK: disco.conv
// CHECK-NOT: linalg.unpack
// CHECK-NOT: linalg.broadcast
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2x8xbf16>) outs(%{{.*}} : tensor<1x2x16x32x8xbf16>)
// CHECK-NOT: linalg.unpack
// CHECK: arith.addf
// CHECK-NOT: linalg.unpack
// CHECK: disco.conv
// CHECK: linalg.unpack
// CHECK-NOT: {{linalg\.(un)?pack}}
// CHECK: return
func.func @broadcast(%x: tensor<1x16x16x32xbf16>, %w: tensor<16x16x9xbf16>, %bias: tensor<16xbf16>) -> tensor<1x16x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %1 = disco.conv %x, %psi, %w : (tensor<1x16x16x32xbf16>, !psi, tensor<16x16x9xbf16>) -> tensor<1x16x16x32xbf16>
  %e = tensor.empty() : tensor<1x16x16x32xbf16>
  %b = linalg.broadcast ins(%bias : tensor<16xbf16>) outs(%e : tensor<1x16x16x32xbf16>) dimensions = [0, 2, 3]
  %2 = linalg.map { arith.addf } ins(%1, %b : tensor<1x16x16x32xbf16>, tensor<1x16x16x32xbf16>) outs(%e : tensor<1x16x16x32xbf16>)
  %3 = disco.conv %2, %psi, %w : (tensor<1x16x16x32xbf16>, !psi, tensor<16x16x9xbf16>) -> tensor<1x16x16x32xbf16>
  return %3 : tensor<1x16x16x32xbf16>
}

// -----

// A scalar that is added is not zero in the padding: the sum stays nchw, although
// its operand is carried.
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
#id4 = affine_map<(b, c, h, w) -> (b, c, h, w)>
#scalar = affine_map<(b, c, h, w) -> ()>
// CHECK-LABEL: @scalar_in_padding
// CHECK: disco.conv
// CHECK: linalg.unpack
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x12x16x32xbf16>)
// CHECK: linalg.pack {{.*}} padding_value
// CHECK: disco.conv
func.func @scalar_in_padding(%x: tensor<1x12x16x32xbf16>, %w: tensor<12x12x9xbf16>, %s: bf16, %e: tensor<1x12x16x32xbf16>) -> tensor<1x12x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %1 = disco.conv %x, %psi, %w : (tensor<1x12x16x32xbf16>, !psi, tensor<12x12x9xbf16>) -> tensor<1x12x16x32xbf16>
  %2 = linalg.generic {indexing_maps = [#id4, #scalar, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%1, %s : tensor<1x12x16x32xbf16>, bf16) outs(%e : tensor<1x12x16x32xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %t = arith.addf %a, %b : bf16
    linalg.yield %t : bf16
  } -> tensor<1x12x16x32xbf16>
  %3 = disco.conv %2, %psi, %w : (tensor<1x12x16x32xbf16>, !psi, tensor<12x12x9xbf16>) -> tensor<1x12x16x32xbf16>
  return %3 : tensor<1x12x16x32xbf16>
}

// -----

// A splat of ones as an input of a generic is ones in the padding, too.
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
#id4 = affine_map<(b, c, h, w) -> (b, c, h, w)>
// CHECK-LABEL: @ones_in_padding
// CHECK: disco.conv
// CHECK: linalg.unpack
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x12x16x32xbf16>)
// CHECK: linalg.pack {{.*}} padding_value
// CHECK: disco.conv
func.func @ones_in_padding(%x: tensor<1x12x16x32xbf16>, %w: tensor<12x12x9xbf16>, %e: tensor<1x12x16x32xbf16>) -> tensor<1x12x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %ones = arith.constant dense<1.0> : tensor<1x12x16x32xbf16>
  %1 = disco.conv %x, %psi, %w : (tensor<1x12x16x32xbf16>, !psi, tensor<12x12x9xbf16>) -> tensor<1x12x16x32xbf16>
  %2 = linalg.generic {indexing_maps = [#id4, #id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%1, %ones : tensor<1x12x16x32xbf16>, tensor<1x12x16x32xbf16>) outs(%e : tensor<1x12x16x32xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %t = arith.addf %a, %b : bf16
    linalg.yield %t : bf16
  } -> tensor<1x12x16x32xbf16>
  %3 = disco.conv %2, %psi, %w : (tensor<1x12x16x32xbf16>, !psi, tensor<12x12x9xbf16>) -> tensor<1x12x16x32xbf16>
  return %3 : tensor<1x12x16x32xbf16>
}

// -----

// contract takes x packed, contract_sum gives y packed; features stay nchw.
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
// CHECK-LABEL: @features
// CHECK: linalg.pack
// CHECK: %[[A:.*]] = disco.conv
// CHECK: %[[Z:.*]] = disco.contract %[[A]], {{.*}} plan <toeplitz_wgmma, layout = c8 -> nchw, schedule = {{.*}} -> tensor<?x12x9x16x32xbf16>
// CHECK: %[[Y:.*]] = disco.contract_sum %[[Z]], {{.*}} plan <toeplitz_wgmma, order = weight_first, layout = nchw -> c8, kernel_layout = c8 -> c8, {{.*}} -> tensor<?x2x16x32x8xbf16>
// CHECK-NOT: {{linalg\.(un)?pack}}
// CHECK: disco.conv %[[Y]]
// CHECK: linalg.unpack
// CHECK-NOT: {{linalg\.(un)?pack}}
// CHECK: return
func.func @features(%x: tensor<?x12x16x32xbf16>, %w: tensor<12x12x9xbf16>) -> tensor<?x12x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %adjoint = disco.adjoint %psi : !psi
  %1 = disco.conv %x, %psi, %w : (tensor<?x12x16x32xbf16>, !psi, tensor<12x12x9xbf16>) -> tensor<?x12x16x32xbf16>
  %z = disco.contract %1, %psi : (tensor<?x12x16x32xbf16>, !psi) -> tensor<?x12x9x16x32xbf16>
  %y = disco.contract_sum %z, %adjoint : (tensor<?x12x9x16x32xbf16>, !psi) -> tensor<?x12x16x32xbf16>
  %2 = disco.conv %y, %psi, %w : (tensor<?x12x16x32xbf16>, !psi, tensor<12x12x9xbf16>) -> tensor<?x12x16x32xbf16>
  return %2 : tensor<?x12x16x32xbf16>
}
