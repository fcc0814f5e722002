// RUN: disco-opt %s | FileCheck %s
// RUN: disco-opt %s | disco-opt | FileCheck %s
// RUN: disco-opt %s --emit-bytecode | disco-opt | FileCheck %s

// CHECK: module attributes {disco.target = #disco.target<"h200">, test.other = #disco.target<"h200", "dram_gbps=3000,launch_us=4">}
module attributes {disco.target = #disco.target<"h200">, test.other = #disco.target<"h200", "dram_gbps=3000,launch_us=4">} {

// Keys in any order come back in one order; what is as by default is left out.
// CHECK-LABEL: @every_key
// CHECK: plan <csr_gather, order = weight_first, schedule = {fields = 8, features = 9}, target = "h200", batch = 4, problem = 0xfedcba9876543210>
func.func @every_key(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32> {
  %y = disco.conv %x, %psi, %w plan <csr_gather, problem = 0xfedcba9876543210, batch = 4, target = "h200", schedule = {features = 9, fields = 8}, kernel_layout = nchw -> nchw, layout = nchw -> nchw, order = weight_first, provider = runtime>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}

// Only a kernel that repacks has layouts of its own.
// CHECK-LABEL: @kernel_layout
// CHECK: plan <toeplitz_wgmma, kernel_layout = c8 -> nhwc>
func.func @kernel_layout(%x: tensor<?x4x16x32xf16>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<?x4x9x16x32xf16> {
  %z = disco.contract %x, %psi plan <toeplitz_wgmma, kernel_layout = c8 -> nhwc>
    : (tensor<?x4x16x32xf16>, !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<?x4x9x16x32xf16>
  return %z : tensor<?x4x9x16x32xf16>
}

// Physical shapes: 12 channels are two blocks of 8, 6 are one.
// CHECK-LABEL: @c8_to_nhwc
// CHECK: plan <toeplitz_wgmma, layout = c8 -> nhwc>
func.func @c8_to_nhwc(%x: tensor<?x2x16x32x8xf16>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x4x9xf16>, %r: tensor<?x8x16x6xf16>) -> tensor<?x8x16x6xf16> {
  %y = disco.conv %x, %psi, %w residual %r groups 3 plan <toeplitz_wgmma, layout = c8 -> nhwc>
    : (tensor<?x2x16x32x8xf16>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x4x9xf16>, tensor<?x8x16x6xf16>) -> tensor<?x8x16x6xf16>
  return %y : tensor<?x8x16x6xf16>
}

// CHECK-LABEL: @weight_gradient_in_c8
// CHECK: plan <toeplitz_wgmma, layout = c8 -> c8>
func.func @weight_gradient_in_c8(%x: tensor<?x2x16x32x8xf16>, %gy: tensor<?x1x8x16x8xf16>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x4x9xf16> {
  %gw = disco.conv_weight_grad %x, %gy, %psi groups 3 plan <toeplitz_wgmma, layout = c8 -> c8>
    : (tensor<?x2x16x32x8xf16>, tensor<?x1x8x16x8xf16>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x4x9xf16>
  return %gw : tensor<6x4x9xf16>
}
}
