// RUN: disco-opt %s -split-input-file -verify-diagnostics

func.func @conv_C1_rank(%x: tensor<4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected x to be [batch, channels, points...] of rank 4, but got 'tensor<4x16x32xf32>'}}
  %y = disco.conv %x, %psi, %w groups 2 : (tensor<4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C1_dynamic_channels(%x: tensor<2x?x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected x to be static in all dimensions but the batch, but got 'tensor<2x?x16x32xf32>'}}
  %y = disco.conv %x, %psi, %w groups 2 : (tensor<2x?x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C2_points(%x: tensor<?x4x8x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected the points of x to be the input 16x32 of psi, but got 8x16}}
  %y = disco.conv %x, %psi, %w groups 2 : (tensor<?x4x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C3_two_psi(%x: tensor<?x4x16x32xf32>, %p: !disco.psi<sphere, 9, 16x32 -> 8x16>, %q: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected psi without storage to be 1 value, but got 2}}
  %y = disco.conv %x, (%p, %q), %w groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C3_storage(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected storage arcs to have 3 tensors, but got 1}}
  %y = disco.conv %x, %psi, %w groups 2 storage <arcs, !disco.psi<sphere, 9, 16x32 -> 8x16>> : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C4_no_groups(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected groups to be positive, but got 0}}
  %y = disco.conv %x, %psi, %w groups 0 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C4_negative_groups(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected groups to be positive, but got -9223372036854775808}}
  %y = disco.conv %x, %psi, %w groups -9223372036854775808 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C4_channels(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected groups to divide the 4 input channels, but got 3}}
  %y = disco.conv %x, %psi, %w groups 3 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C4_most_groups(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected groups to divide the 4 input channels, but got 9223372036854775807}}
  %y = disco.conv %x, %psi, %w groups 9223372036854775807 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C5_rank(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x18xf32>) {
  // expected-error @+1 {{'disco.conv' op expected the weight to be a static [O, 2, 9], but got 'tensor<6x18xf32>'}}
  %y = disco.conv %x, %psi, %w groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x18xf32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C5_scalar(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<f32>) {
  // expected-error @+1 {{'disco.conv' op expected the weight to be a static [O, 2, 9], but got 'tensor<f32>'}}
  %y = disco.conv %x, %psi, %w groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<f32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C5_dynamic(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<?x2x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected the weight to be a static [O, 2, 9], but got 'tensor<?x2x9xf32>'}}
  %y = disco.conv %x, %psi, %w groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<?x2x9xf32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C5_channels(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x4x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected the weight to be a static [O, 2, 9], but got 'tensor<6x4x9xf32>'}}
  %y = disco.conv %x, %psi, %w groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x4x9xf32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C5_basis(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x8xf32>) {
  // expected-error @+1 {{'disco.conv' op expected the weight to be a static [O, 2, 9], but got 'tensor<6x2x8xf32>'}}
  %y = disco.conv %x, %psi, %w groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x8xf32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C5_groups(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<5x2x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected groups to divide the 5 output channels, but got 2}}
  %y = disco.conv %x, %psi, %w groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<5x2x9xf32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C6_channels(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'disco.conv' op expected the bias to have shape 6, but got 'tensor<4xf32>'}}
  %y = disco.conv %x, %psi, %w bias %b groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>, tensor<4xf32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C6_rank(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>, %b: tensor<1x6xf32>) {
  // expected-error @+1 {{'disco.conv' op expected the bias to have shape 6, but got 'tensor<1x6xf32>'}}
  %y = disco.conv %x, %psi, %w bias %b groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>, tensor<1x6xf32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C6_scalar(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>, %b: tensor<f32>) {
  // expected-error @+1 {{'disco.conv' op expected the bias to have shape 6, but got 'tensor<f32>'}}
  %y = disco.conv %x, %psi, %w bias %b groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>, tensor<f32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C6_dynamic(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>, %b: tensor<?xf32>) {
  // expected-error @+1 {{'disco.conv' op expected the bias to have shape 6, but got 'tensor<?xf32>'}}
  %y = disco.conv %x, %psi, %w bias %b groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>, tensor<?xf32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C7_weight(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf64>) {
  // expected-error @+1 {{'disco.conv' op expected the elements of the weight to be 'f32', but got 'f64'}}
  %y = disco.conv %x, %psi, %w groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf64>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C7_bias(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>, %b: tensor<6xf16>) {
  // expected-error @+1 {{'disco.conv' op expected the elements of the bias to be 'f32', but got 'f16'}}
  %y = disco.conv %x, %psi, %w bias %b groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>, tensor<6xf16>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C7_weight_of_f16(%x: tensor<?x4x16x32xf16>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xbf16>) {
  // expected-error @+1 {{'disco.conv' op expected the elements of the weight to be 'f16' or f32, but got 'bf16'}}
  %y = disco.conv %x, %psi, %w groups 2 : (tensor<?x4x16x32xf16>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xbf16>) -> tensor<?x6x8x16xf16>
  return
}

// -----

func.func @conv_C7_bias_of_f64(%x: tensor<?x4x16x32xf64>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>, %b: tensor<6xbf16>) {
  // expected-error @+1 {{'disco.conv' op expected the elements of the bias to be 'f64' or f32, but got 'bf16'}}
  %y = disco.conv %x, %psi, %w bias %b groups 2 : (tensor<?x4x16x32xf64>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>, tensor<6xbf16>) -> tensor<?x6x8x16xf64>
  return
}

// -----

func.func @conv_C8_shape(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>, %r: tensor<?x6x16x32xf32>) {
  // expected-error @+1 {{'disco.conv' op expected the residual to have the result's type 'tensor<?x6x8x16xf32>', but got 'tensor<?x6x16x32xf32>'}}
  %y = disco.conv %x, %psi, %w residual %r groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>, tensor<?x6x16x32xf32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C8_element_type(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>, %r: tensor<?x6x8x16xf64>) {
  // expected-error @+1 {{'disco.conv' op expected the residual to have the result's type 'tensor<?x6x8x16xf32>', but got 'tensor<?x6x8x16xf64>'}}
  %y = disco.conv %x, %psi, %w residual %r groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>, tensor<?x6x8x16xf64>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C8_batch(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>, %r: tensor<2x6x8x16xf32>) {
  // expected-error @+1 {{'disco.conv' op expected the residual to have the result's type 'tensor<?x6x8x16xf32>', but got 'tensor<2x6x8x16xf32>'}}
  %y = disco.conv %x, %psi, %w residual %r groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>, tensor<2x6x8x16xf32>) -> tensor<?x6x8x16xf32>
  return
}

// -----

func.func @conv_C9_channels(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected the result to be 'tensor<?x6x8x16xf32>', but got 'tensor<?x4x8x16xf32>'}}
  %y = disco.conv %x, %psi, %w groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>) -> tensor<?x4x8x16xf32>
  return
}

// -----

func.func @conv_C9_points(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected the result to be 'tensor<?x6x8x16xf32>', but got 'tensor<?x6x16x32xf32>'}}
  %y = disco.conv %x, %psi, %w groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>) -> tensor<?x6x16x32xf32>
  return
}

// -----

func.func @conv_C9_element_type(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected the result to be 'tensor<?x6x8x16xf32>', but got 'tensor<?x6x8x16xf16>'}}
  %y = disco.conv %x, %psi, %w groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>) -> tensor<?x6x8x16xf16>
  return
}

// -----

func.func @conv_C9_batch(%x: tensor<2x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected the result to be 'tensor<2x6x8x16xf32>', but got 'tensor<1x6x8x16xf32>'}}
  %y = disco.conv %x, %psi, %w groups 2 : (tensor<2x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>) -> tensor<1x6x8x16xf32>
  return
}

// -----

func.func @conv_C9_dynamic_channels(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected the result to be 'tensor<?x6x8x16xf32>', but got 'tensor<?x?x8x16xf32>'}}
  %y = disco.conv %x, %psi, %w groups 2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xf32>) -> tensor<?x?x8x16xf32>
  return
}

// -----

func.func @conv_weight_grad_C1_rank(%x: tensor<16x32xf32>, %gy: tensor<?x6x8x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected x to be [batch, channels, points...] of rank 4, but got 'tensor<16x32xf32>'}}
  %gw = disco.conv_weight_grad %x, %gy, %psi groups 2 : (tensor<16x32xf32>, tensor<?x6x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x2x9xf32>
  return
}

// -----

func.func @conv_weight_grad_C1_dynamic_points(%x: tensor<?x4x?x32xf32>, %gy: tensor<?x6x8x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected x to be static in all dimensions but the batch, but got 'tensor<?x4x?x32xf32>'}}
  %gw = disco.conv_weight_grad %x, %gy, %psi groups 2 : (tensor<?x4x?x32xf32>, tensor<?x6x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x2x9xf32>
  return
}

// -----

func.func @conv_weight_grad_C2_points(%x: tensor<?x4x8x16xf32>, %gy: tensor<?x6x8x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected the points of x to be the input 16x32 of psi, but got 8x16}}
  %gw = disco.conv_weight_grad %x, %gy, %psi groups 2 : (tensor<?x4x8x16xf32>, tensor<?x6x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x2x9xf32>
  return
}

// -----

func.func @conv_weight_grad_C3_two_psi(%x: tensor<?x4x16x32xf32>, %gy: tensor<?x6x8x16xf32>, %p: !disco.psi<sphere, 9, 16x32 -> 8x16>, %q: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected psi without storage to be 1 value, but got 2}}
  %gw = disco.conv_weight_grad %x, %gy, (%p, %q) groups 2 : (tensor<?x4x16x32xf32>, tensor<?x6x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x2x9xf32>
  return
}

// -----

func.func @conv_weight_grad_C4_no_groups(%x: tensor<?x4x16x32xf32>, %gy: tensor<?x6x8x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected groups to be positive, but got -1}}
  %gw = disco.conv_weight_grad %x, %gy, %psi groups -1 : (tensor<?x4x16x32xf32>, tensor<?x6x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x2x9xf32>
  return
}

// -----

func.func @conv_weight_grad_C4_channels(%x: tensor<?x4x16x32xf32>, %gy: tensor<?x6x8x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected groups to divide the 4 input channels, but got 3}}
  %gw = disco.conv_weight_grad %x, %gy, %psi groups 3 : (tensor<?x4x16x32xf32>, tensor<?x6x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x2x9xf32>
  return
}

// -----

func.func @conv_weight_grad_C5_rank(%x: tensor<?x4x16x32xf32>, %gy: tensor<6xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected gy to be [batch, channels, points...] of rank 4, but got 'tensor<6xf32>'}}
  %gw = disco.conv_weight_grad %x, %gy, %psi groups 2 : (tensor<?x4x16x32xf32>, tensor<6xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x2x9xf32>
  return
}

// -----

func.func @conv_weight_grad_C5_scalar(%x: tensor<?x4x16x32xf32>, %gy: tensor<f32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected gy to be [batch, channels, points...] of rank 4, but got 'tensor<f32>'}}
  %gw = disco.conv_weight_grad %x, %gy, %psi groups 2 : (tensor<?x4x16x32xf32>, tensor<f32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x2x9xf32>
  return
}

// -----

func.func @conv_weight_grad_C5_dynamic_channels(%x: tensor<?x4x16x32xf32>, %gy: tensor<?x?x8x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected gy to be static in all dimensions but the batch, but got 'tensor<?x?x8x16xf32>'}}
  %gw = disco.conv_weight_grad %x, %gy, %psi groups 2 : (tensor<?x4x16x32xf32>, tensor<?x?x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x2x9xf32>
  return
}

// -----

func.func @conv_weight_grad_C5_points(%x: tensor<?x4x16x32xf32>, %gy: tensor<?x6x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected gy to be 'tensor<?x6x8x16xf32>', but got 'tensor<?x6x16x32xf32>'}}
  %gw = disco.conv_weight_grad %x, %gy, %psi groups 2 : (tensor<?x4x16x32xf32>, tensor<?x6x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x2x9xf32>
  return
}

// -----

func.func @conv_weight_grad_C5_batch(%x: tensor<2x4x16x32xf32>, %gy: tensor<3x6x8x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected gy to be 'tensor<2x6x8x16xf32>', but got 'tensor<3x6x8x16xf32>'}}
  %gw = disco.conv_weight_grad %x, %gy, %psi groups 2 : (tensor<2x4x16x32xf32>, tensor<3x6x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x2x9xf32>
  return
}

// -----

func.func @conv_weight_grad_C5_element_type(%x: tensor<?x4x16x32xf32>, %gy: tensor<?x6x8x16xf64>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected gy to be 'tensor<?x6x8x16xf32>', but got 'tensor<?x6x8x16xf64>'}}
  %gw = disco.conv_weight_grad %x, %gy, %psi groups 2 : (tensor<?x4x16x32xf32>, tensor<?x6x8x16xf64>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x2x9xf32>
  return
}

// -----

func.func @conv_weight_grad_C5_groups(%x: tensor<?x4x16x32xf32>, %gy: tensor<?x5x8x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected groups to divide the 5 output channels, but got 2}}
  %gw = disco.conv_weight_grad %x, %gy, %psi groups 2 : (tensor<?x4x16x32xf32>, tensor<?x5x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x2x9xf32>
  return
}

// -----

func.func @conv_weight_grad_C6_weight_channels(%x: tensor<?x4x16x32xf32>, %gy: tensor<?x6x8x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected the weight gradient to have shape 6x2x9, but got 'tensor<6x4x9xf32>'}}
  %gw = disco.conv_weight_grad %x, %gy, %psi groups 2 : (tensor<?x4x16x32xf32>, tensor<?x6x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x4x9xf32>
  return
}

// -----

func.func @conv_weight_grad_C6_weight_rank(%x: tensor<?x4x16x32xf32>, %gy: tensor<?x6x8x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected the weight gradient to have shape 6x2x9, but got 'tensor<6x18xf32>'}}
  %gw = disco.conv_weight_grad %x, %gy, %psi groups 2 : (tensor<?x4x16x32xf32>, tensor<?x6x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x18xf32>
  return
}

// -----

func.func @conv_weight_grad_C6_weight_dynamic(%x: tensor<?x4x16x32xf32>, %gy: tensor<?x6x8x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected the weight gradient to have shape 6x2x9, but got 'tensor<?x2x9xf32>'}}
  %gw = disco.conv_weight_grad %x, %gy, %psi groups 2 : (tensor<?x4x16x32xf32>, tensor<?x6x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x2x9xf32>
  return
}

// -----

func.func @conv_weight_grad_C6_bias(%x: tensor<?x4x16x32xf32>, %gy: tensor<?x6x8x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected the bias gradient to have shape 6, but got 'tensor<4xf32>'}}
  %gw, %gb = disco.conv_weight_grad %x, %gy, %psi groups 2 : (tensor<?x4x16x32xf32>, tensor<?x6x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> (tensor<6x2x9xf32>, tensor<4xf32>)
  return
}

// -----

func.func @conv_weight_grad_C6_bias_scalar(%x: tensor<?x4x16x32xf32>, %gy: tensor<?x6x8x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected the bias gradient to have shape 6, but got 'tensor<f32>'}}
  %gw, %gb = disco.conv_weight_grad %x, %gy, %psi groups 2 : (tensor<?x4x16x32xf32>, tensor<?x6x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> (tensor<6x2x9xf32>, tensor<f32>)
  return
}

// -----

func.func @conv_weight_grad_C7_weight(%x: tensor<?x4x16x32xf32>, %gy: tensor<?x6x8x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected the elements of the weight gradient to be 'f32', but got 'bf16'}}
  %gw = disco.conv_weight_grad %x, %gy, %psi groups 2 : (tensor<?x4x16x32xf32>, tensor<?x6x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x2x9xbf16>
  return
}

// -----

func.func @conv_weight_grad_C7_bias(%x: tensor<?x4x16x32xf32>, %gy: tensor<?x6x8x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected the elements of the bias gradient to be 'f32', but got 'f64'}}
  %gw, %gb = disco.conv_weight_grad %x, %gy, %psi groups 2 : (tensor<?x4x16x32xf32>, tensor<?x6x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> (tensor<6x2x9xf32>, tensor<6xf64>)
  return
}

// -----

func.func @conv_weight_grad_C7_weight_of_bf16(%x: tensor<?x4x16x32xbf16>, %gy: tensor<?x6x8x16xbf16>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected the elements of the weight gradient to be 'bf16' or f32, but got 'f16'}}
  %gw = disco.conv_weight_grad %x, %gy, %psi groups 2 : (tensor<?x4x16x32xbf16>, tensor<?x6x8x16xbf16>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x2x9xf16>
  return
}

// -----

func.func @conv_C10_precision(%x: tensor<?x4x16x32xbf16>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x2x9xbf16>) {
  // expected-error @below {{'disco.conv' op expected the precision of 'bf16' to be ieee, but got tf32}}
  %y = disco.conv %x, %psi, %w groups 2 precision tf32 : (tensor<?x4x16x32xbf16>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x2x9xbf16>) -> tensor<?x6x8x16xbf16>
  return
}

// -----

func.func @conv_weight_grad_C8_precision(%x: tensor<?x4x16x32xf64>, %gy: tensor<?x6x8x16xf64>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @below {{'disco.conv_weight_grad' op expected the precision of 'f64' to be ieee, but got bf16x3}}
  %gw = disco.conv_weight_grad %x, %gy, %psi precision bf16x3 : (tensor<?x4x16x32xf64>, tensor<?x6x8x16xf64>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x4x9xf64>
  return
}
