// RUN: disco-opt %s --disco-select-kernel="target=h200 include-planned" --remarks-filter=disco-select-kernel -o /dev/null 2>&1 | FileCheck %s

// K = 20 pads to 24 (fused into a conv).
// CHECK-kpad24_conv_bf16
func.func @kpad24_conv_bf16(%x: tensor<1x16x32x64xbf16>, %w: tensor<16x16x20xbf16>) -> tensor<1x16x32x64xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [4, 5], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 20, 32x64 -> 32x64>
  %y = disco.conv %x, %psi, %w : (tensor<1x16x32x64xbf16>, !disco.psi<sphere, 20, 32x64 -> 32x64>, tensor<16x16x20xbf16>) -> tensor<1x16x32x64xbf16>
  return %y : tensor<1x16x32x64xbf16>
}

// K = 20, unfused.
// CHECK-kpad24_contract_bf16
func.func @kpad24_contract_bf16(%x: tensor<1x16x32x64xbf16>) -> tensor<1x16x20x32x64xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [4, 5], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 20, 32x64 -> 32x64>
  %z = disco.contract %x, %psi : (tensor<1x16x32x64xbf16>, !disco.psi<sphere, 20, 32x64 -> 32x64>) -> tensor<1x16x20x32x64xbf16>
  return %z : tensor<1x16x20x32x64xbf16>
}

// Its input gradient.
// CHECK-kpad24_input_gradient_bf16
func.func @kpad24_input_gradient_bf16(%gy: tensor<1x16x32x64xbf16>, %w: tensor<16x16x20xbf16>) -> tensor<1x16x32x64xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [4, 5], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 20, 32x64 -> 32x64>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 20, 32x64 -> 32x64>
  %gx = disco.conv %gy, %adjoint, %w : (tensor<1x16x32x64xbf16>, !disco.psi<sphere, 20, 32x64 -> 32x64>, tensor<16x16x20xbf16>) -> tensor<1x16x32x64xbf16>
  return %gx : tensor<1x16x32x64xbf16>
}

// Its weight gradient.
// CHECK-kpad24_weight_gradient_bf16
func.func @kpad24_weight_gradient_bf16(%x: tensor<1x16x32x64xbf16>, %gy: tensor<1x16x32x64xbf16>) -> tensor<16x16x20xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [4, 5], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 20, 32x64 -> 32x64>
  %gw = disco.conv_weight_grad %x, %gy, %psi : (tensor<1x16x32x64xbf16>, tensor<1x16x32x64xbf16>, !disco.psi<sphere, 20, 32x64 -> 32x64>) -> tensor<16x16x20xbf16>
  return %gw : tensor<16x16x20xbf16>
}

// K = 20 pads to 24 (fused into a conv).
// CHECK-kpad24_conv_f16
func.func @kpad24_conv_f16(%x: tensor<1x16x32x64xf16>, %w: tensor<16x16x20xf16>) -> tensor<1x16x32x64xf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [4, 5], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 20, 32x64 -> 32x64>
  %y = disco.conv %x, %psi, %w : (tensor<1x16x32x64xf16>, !disco.psi<sphere, 20, 32x64 -> 32x64>, tensor<16x16x20xf16>) -> tensor<1x16x32x64xf16>
  return %y : tensor<1x16x32x64xf16>
}

// K = 20, unfused.
// CHECK-kpad24_contract_f16
func.func @kpad24_contract_f16(%x: tensor<1x16x32x64xf16>) -> tensor<1x16x20x32x64xf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [4, 5], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 20, 32x64 -> 32x64>
  %z = disco.contract %x, %psi : (tensor<1x16x32x64xf16>, !disco.psi<sphere, 20, 32x64 -> 32x64>) -> tensor<1x16x20x32x64xf16>
  return %z : tensor<1x16x20x32x64xf16>
}

// Its input gradient.
// CHECK-kpad24_input_gradient_f16
func.func @kpad24_input_gradient_f16(%gy: tensor<1x16x32x64xf16>, %w: tensor<16x16x20xf16>) -> tensor<1x16x32x64xf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [4, 5], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 20, 32x64 -> 32x64>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 20, 32x64 -> 32x64>
  %gx = disco.conv %gy, %adjoint, %w : (tensor<1x16x32x64xf16>, !disco.psi<sphere, 20, 32x64 -> 32x64>, tensor<16x16x20xf16>) -> tensor<1x16x32x64xf16>
  return %gx : tensor<1x16x32x64xf16>
}

// Its weight gradient.
// CHECK-kpad24_weight_gradient_f16
func.func @kpad24_weight_gradient_f16(%x: tensor<1x16x32x64xf16>, %gy: tensor<1x16x32x64xf16>) -> tensor<16x16x20xf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [4, 5], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 20, 32x64 -> 32x64>
  %gw = disco.conv_weight_grad %x, %gy, %psi : (tensor<1x16x32x64xf16>, tensor<1x16x32x64xf16>, !disco.psi<sphere, 20, 32x64 -> 32x64>) -> tensor<16x16x20xf16>
  return %gw : tensor<16x16x20xf16>
}

// Isotropic hats: features differ in their support.
// CHECK-hats
func.func @hats(%x: tensor<1x16x32x64xbf16>, %w: tensor<16x16x2xbf16>) -> tensor<1x16x32x64xbf16> {
  %psi = disco.filter #disco.sphere_filter<piecewise_linear, [3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 2, 32x64 -> 32x64>
  %y = disco.conv %x, %psi, %w : (tensor<1x16x32x64xbf16>, !disco.psi<sphere, 2, 32x64 -> 32x64>, tensor<16x16x2xbf16>) -> tensor<1x16x32x64xbf16>
  return %y : tensor<1x16x32x64xbf16>
}

// No tensor family serves f64.
// CHECK-f64
func.func @f64(%x: tensor<1x16x32x64xf64>, %w: tensor<16x16x9xf64>) -> tensor<1x16x32x64xf64> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 9, 32x64 -> 32x64>
  %y = disco.conv %x, %psi, %w : (tensor<1x16x32x64xf64>, !disco.psi<sphere, 9, 32x64 -> 32x64>, tensor<16x16x9xf64>) -> tensor<1x16x32x64xf64>
  return %y : tensor<1x16x32x64xf64>
}

// 36 output longitudes are no multiple of 8.
// CHECK-nlon_36
func.func @nlon_36(%x: tensor<1x16x18x36xbf16>, %w: tensor<16x16x9xbf16>) -> tensor<1x16x18x36xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 18x36>, out = #disco.grid<legendre_gauss, 18x36>> -> !disco.psi<sphere, 9, 18x36 -> 18x36>
  %y = disco.conv %x, %psi, %w : (tensor<1x16x18x36xbf16>, !disco.psi<sphere, 9, 18x36 -> 18x36>, tensor<16x16x9xbf16>) -> tensor<1x16x18x36xbf16>
  return %y : tensor<1x16x18x36xbf16>
}

// A cutoff below the grid spacing leaves rows of one tap or none.
// CHECK-empty_rows
func.func @empty_rows(%x: tensor<1x16x33x64xbf16>, %w: tensor<16x16x9xbf16>) -> tensor<1x16x8x16xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.02, in = #disco.grid<equiangular, 33x64>, out = #disco.grid<legendre_gauss, 8x16>> -> !disco.psi<sphere, 9, 33x64 -> 8x16>
  %y = disco.conv %x, %psi, %w : (tensor<1x16x33x64xbf16>, !disco.psi<sphere, 9, 33x64 -> 8x16>, tensor<16x16x9xbf16>) -> tensor<1x16x8x16xbf16>
  return %y : tensor<1x16x8x16xbf16>
}

// K = 1.
// CHECK-one_feature
func.func @one_feature(%x: tensor<1x16x32x64xbf16>, %w: tensor<16x16x1xbf16>) -> tensor<1x16x32x64xbf16> {
  %psi = disco.filter #disco.sphere_filter<piecewise_linear, [1], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 1, 32x64 -> 32x64>
  %y = disco.conv %x, %psi, %w : (tensor<1x16x32x64xbf16>, !disco.psi<sphere, 1, 32x64 -> 32x64>, tensor<16x16x1xbf16>) -> tensor<1x16x32x64xbf16>
  return %y : tensor<1x16x32x64xbf16>
}

// B * C = 15 fields leave a tail in every tile.
// CHECK-tail
func.func @tail(%x: tensor<3x5x32x64xbf16>, %w: tensor<7x5x9xbf16>) -> tensor<3x7x32x64xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 9, 32x64 -> 32x64>
  %y = disco.conv %x, %psi, %w : (tensor<3x5x32x64xbf16>, !disco.psi<sphere, 9, 32x64 -> 32x64>, tensor<7x5x9xbf16>) -> tensor<3x7x32x64xbf16>
  return %y : tensor<3x7x32x64xbf16>
}

// 2^30 points times 4 channels; a psi known only at run time.
// CHECK-beyond_int32
func.func @beyond_int32(%x: tensor<1x4x32768x32768xbf16>, %w: tensor<4x4x9xbf16>, %psi: !disco.psi<sphere, 9, 32768x32768 -> 32768x32768>) -> tensor<1x4x32768x32768xbf16> {
  %y = disco.conv %x, %psi, %w : (tensor<1x4x32768x32768xbf16>, !disco.psi<sphere, 9, 32768x32768 -> 32768x32768>, tensor<4x4x9xbf16>) -> tensor<1x4x32768x32768xbf16>
  return %y : tensor<1x4x32768x32768xbf16>
}

// The coarse side is the input: phases.
// CHECK-upsampling
func.func @upsampling(%x: tensor<1x16x16x32xbf16>, %w: tensor<16x16x9xbf16>) -> tensor<1x16x32x64xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 32x64>, transpose> -> !disco.psi<sphere, 9, 16x32 -> 32x64>
  %y = disco.conv %x, %psi, %w : (tensor<1x16x16x32xbf16>, !disco.psi<sphere, 9, 16x32 -> 32x64>, tensor<16x16x9xbf16>) -> tensor<1x16x32x64xbf16>
  return %y : tensor<1x16x32x64xbf16>
}
