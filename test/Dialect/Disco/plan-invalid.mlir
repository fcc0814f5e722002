// RUN: disco-opt %s --verify-diagnostics --split-input-file

// Unknown family.
func.func @f(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32> {
  // expected-error @below {{expected the kernel family to be one of loops, cpu_gather, csr_gather, kpacked_wgmma, toeplitz_wgmma, but got wgmma}}
  %y = disco.conv %x, %psi, %w plan <wgmma>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// -----

// Unknown key.
func.func @f(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32> {
  // expected-error @below {{expected each of provider, order, layout, kernel_layout, schedule, target, batch, problem at most once, but got speed}}
  %y = disco.conv %x, %psi, %w plan <loops, speed = 3>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// -----

// Key given twice.
func.func @f(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32> {
  // expected-error @below {{expected each of provider, order, layout, kernel_layout, schedule, target, batch, problem at most once, but got batch}}
  %y = disco.conv %x, %psi, %w plan <loops, batch = 3, batch = 4>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// -----

// Unknown provider.
func.func @f(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32> {
  // expected-error @below {{expected the provider to be codegen or runtime, but got cloud}}
  %y = disco.conv %x, %psi, %w plan <loops, provider = cloud>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// -----

// Unknown order.
func.func @f(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32> {
  // expected-error @below {{expected the order to be filter_first or weight_first, but got first}}
  %y = disco.conv %x, %psi, %w plan <loops, order = first>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// -----

// Unknown layout.
func.func @f(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32> {
  // expected-error @below {{expected the layout to be nchw, nhwc or c8, but got chwn}}
  %y = disco.conv %x, %psi, %w plan <loops, layout = nchw -> chwn>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// -----

// Field of another family.
func.func @f(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32> {
  // expected-error @below {{expected the field to be one of fields, features, block_mib of csr_gather, but got vectors}}
  %y = disco.conv %x, %psi, %w plan <csr_gather, schedule = {vectors = 1}>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// -----

// Field of a family without fields.
func.func @f(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32> {
  // expected-error @below {{expected the field to be one of none of loops, but got vectors}}
  %y = disco.conv %x, %psi, %w plan <loops, schedule = {vectors = 1}>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// -----

// Field given twice.
func.func @f(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32> {
  // expected-error @below {{expected each field once, but got fields again}}
  %y = disco.conv %x, %psi, %w plan <csr_gather, schedule = {fields = 4, fields = 8}>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// -----

// Field out of range.
func.func @f(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32> {
  // expected-error @below {{expected fields to be in [1, 8], but got 9}}
  %y = disco.conv %x, %psi, %w plan <csr_gather, schedule = {fields = 9}>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// -----

// Unknown target.
func.func @f(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32> {
  // expected-error @below {{expected the target to be one of h200 (sm_90a), h100 (sm_90a), a100 (sm_80), b200 (sm_100a), avx2 (x86-64-v3), avx512 (x86-64-v4), but got 'h300'}}
  %y = disco.conv %x, %psi, %w plan <loops, target = "h300">
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// -----

// Batch of zero.
func.func @f(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32> {
  // expected-error @below {{expected batch to be positive and to fit into 63 bits, but got 0}}
  %y = disco.conv %x, %psi, %w plan <loops, batch = 0>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// -----

// A negative batch.
func.func @f(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32> {
  // expected-error @below {{expected batch to be positive and to fit into 63 bits, but got -1}}
  %y = disco.conv %x, %psi, %w plan <loops, batch = -1>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// -----

// Problem too wide.
func.func @f(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32> {
  // expected-error @below {{expected problem to be positive and to fit into 64 bits, but got 36811502618202616336}}
  %y = disco.conv %x, %psi, %w plan <loops, problem = 0x1fedcba9876543210>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// -----

// Batch that is no number.
func.func @f(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32> {
  // expected-error @below {{expected an integer for batch}}
  %y = disco.conv %x, %psi, %w plan <loops, batch = many>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// -----

// expected-error @below {{expected the target to be one of h200 (sm_90a), h100 (sm_90a), a100 (sm_80), b200 (sm_100a), avx2 (x86-64-v3), avx512 (x86-64-v4), but got 'h300'}}
module attributes {disco.target = #disco.target<"h300">} {}

// -----

// expected-error @below {{expected h200.cores to be positive, but got 0}}
module attributes {disco.target = #disco.target<"h200", "cores=0">} {}

// -----

// C1, packed: 12 channels are two blocks.
func.func @x_in_c8(%x: tensor<?x1x16x32x8xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32> {
  // expected-error @below {{'disco.conv' op expected x in layout c8 to be 'tensor<?x2x16x32x8xf32>', but got 'tensor<?x1x16x32x8xf32>'}}
  %y = disco.conv %x, %psi, %w groups 3 plan <toeplitz_wgmma, layout = c8 -> nchw>
    : (tensor<?x1x16x32x8xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// -----

// C5, packed: the weight says how many channels there are.
func.func @weight_of_c8(%x: tensor<?x1x16x32x8xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4xf32>) -> tensor<?x6x16x32xf32> {
  // expected-error @below {{'disco.conv' op expected the weight to be a static [O, C/groups, 9], but got 'tensor<6x4xf32>'}}
  %y = disco.conv %x, %psi, %w plan <toeplitz_wgmma, layout = c8 -> nchw>
    : (tensor<?x1x16x32x8xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// -----

// C9, packed.
func.func @y_in_nhwc(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32> {
  // expected-error @below {{'disco.conv' op expected the result to be 'tensor<?x16x32x6xf32>', but got 'tensor<?x6x16x32xf32>'}}
  %y = disco.conv %x, %psi, %w plan <toeplitz_wgmma, layout = nchw -> nhwc>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// -----

// C1 of contract, packed.
func.func @contract_in_c8(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<?x4x9x16x32xf32> {
  // expected-error @below {{'disco.contract' op expected x in layout c8 to be 'tensor<?x1x16x32x8xf32>', but got 'tensor<?x4x16x32xf32>'}}
  %z = disco.contract %x, %psi plan <toeplitz_wgmma, layout = c8 -> nchw>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<?x4x9x16x32xf32>
  return %z : tensor<?x4x9x16x32xf32>
}

// -----

// 12 channels are not the 17 that z has.
func.func @contract_of_other_channels(%x: tensor<?x2x16x32x8xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<?x17x9x16x32xf32> {
  // expected-error @below {{'disco.contract' op expected x in layout c8 to be 'tensor<?x3x16x32x8xf32>', but got 'tensor<?x2x16x32x8xf32>'}}
  %z = disco.contract %x, %psi plan <toeplitz_wgmma, layout = c8 -> nchw>
    : (tensor<?x2x16x32x8xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<?x17x9x16x32xf32>
  return %z : tensor<?x17x9x16x32xf32>
}

// -----

// C5 of contract.
func.func @contract_to_c8(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<?x4x9x16x32xf32> {
  // expected-error @below {{'disco.contract' op expected the layout of z to be nchw, but got c8}}
  %z = disco.contract %x, %psi plan <toeplitz_wgmma, layout = nchw -> c8>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<?x4x9x16x32xf32>
  return %z : tensor<?x4x9x16x32xf32>
}

// -----

// C5 of contract_sum, packed.
func.func @contract_sum_to_c8(%z: tensor<?x12x9x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<?x12x16x32xf32> {
  // expected-error @below {{'disco.contract_sum' op expected the result to be 'tensor<?x2x16x32x8xf32>', but got 'tensor<?x12x16x32xf32>'}}
  %y = disco.contract_sum %z, %psi plan <toeplitz_wgmma, layout = nchw -> c8>
    : (tensor<?x12x9x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<?x12x16x32xf32>
  return %y : tensor<?x12x16x32xf32>
}

// -----

// C6 of contract_sum.
func.func @contract_sum_in_nhwc(%z: tensor<?x4x9x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<?x4x16x32xf32> {
  // expected-error @below {{'disco.contract_sum' op expected the layout of z to be nchw, but got nhwc}}
  %y = disco.contract_sum %z, %psi plan <toeplitz_wgmma, layout = nhwc -> nhwc>
    : (tensor<?x4x9x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<?x4x16x32xf32>
  return %y : tensor<?x4x16x32xf32>
}
