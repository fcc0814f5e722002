// RUN: disco-opt %s --disco-select-kernel="target=h200 include-planned" --remarks-filter=disco-select-kernel -o /dev/null 2>&1 | FileCheck %s

// K = 20 pads to 24 (fused into a conv).
// CHECK: remark: [Passed] toeplitz_wgmma | Category:disco-select-kernel | Function=kpad24_conv_bf16 | Bound={{[a-z0-9]+}}, Executable=false, Margin={{[0-9.]+}}, Order=filter_first, PredictedMicroseconds={{[0-9.]+}}, Provider=runtime, Remark="chose toeplitz_wgmma", Schedule="{{[a-z0-9_=,]+}}"{{$}}
// CHECK: remark: [Missed] loops | Category:disco-select-kernel | Function=kpad24_conv_bf16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=10, Suggestion="compile for cpu"{{$}}
// CHECK: remark: [Missed] cpu_gather | Category:disco-select-kernel | Function=kpad24_conv_bf16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=4, Suggestion="compile for a cpu target"{{$}}
// CHECK: remark: [Missed] csr_gather filter_first runtime | Category:disco-select-kernel | Function=kpad24_conv_bf16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] csr_gather weight_first runtime | Category:disco-select-kernel | Function=kpad24_conv_bf16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma | Category:disco-select-kernel | Function=kpad24_conv_bf16 | Reason="expected K_pad to be 8 or 16, but got 24 (K 20)", Rule=12, Suggestion="use csr_gather, or a filter with K <= 16"{{$}}
// CHECK: remark: [Missed] toeplitz_wgmma weight_first runtime | Category:disco-select-kernel | Function=kpad24_conv_bf16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="toeplitz_wgmma, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
func.func @kpad24_conv_bf16(%x: tensor<1x16x32x64xbf16>, %w: tensor<16x16x20xbf16>) -> tensor<1x16x32x64xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [4, 5], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 20, 32x64 -> 32x64>
  %y = disco.conv %x, %psi, %w : (tensor<1x16x32x64xbf16>, !disco.psi<sphere, 20, 32x64 -> 32x64>, tensor<16x16x20xbf16>) -> tensor<1x16x32x64xbf16>
  return %y : tensor<1x16x32x64xbf16>
}

// K = 20, unfused.
// CHECK: remark: [Passed] toeplitz_wgmma | Category:disco-select-kernel | Function=kpad24_contract_bf16 | Bound={{[a-z0-9]+}}, Executable=true, Margin={{[0-9.]+}}, Order=filter_first, PredictedMicroseconds={{[0-9.]+}}, Provider=runtime, Remark="chose toeplitz_wgmma", Schedule="{{[a-z0-9_=,]+}}"{{$}}
// CHECK: remark: [Missed] loops filter_first | Category:disco-select-kernel | Function=kpad24_contract_bf16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=10, Suggestion="compile for cpu"{{$}}
// CHECK: remark: [Missed] cpu_gather filter_first | Category:disco-select-kernel | Function=kpad24_contract_bf16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=4, Suggestion="compile for a cpu target"{{$}}
// CHECK: remark: [Missed] csr_gather filter_first runtime | Category:disco-select-kernel | Function=kpad24_contract_bf16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma filter_first | Category:disco-select-kernel | Function=kpad24_contract_bf16 | Reason="expected K_pad to be 8 or 16, but got 24 (K 20)", Rule=12, Suggestion="use csr_gather, or a filter with K <= 16"{{$}}
func.func @kpad24_contract_bf16(%x: tensor<1x16x32x64xbf16>) -> tensor<1x16x20x32x64xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [4, 5], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 20, 32x64 -> 32x64>
  %z = disco.contract %x, %psi : (tensor<1x16x32x64xbf16>, !disco.psi<sphere, 20, 32x64 -> 32x64>) -> tensor<1x16x20x32x64xbf16>
  return %z : tensor<1x16x20x32x64xbf16>
}

// Its input gradient.
// CHECK: remark: [Passed] toeplitz_wgmma | Category:disco-select-kernel | Function=kpad24_input_gradient_bf16 | Bound={{[a-z0-9]+}}, Executable=false, Margin={{[0-9.]+}}, Order=filter_first, PredictedMicroseconds={{[0-9.]+}}, Provider=runtime, Remark="chose toeplitz_wgmma", Schedule="{{[a-z0-9_=,]+}}"{{$}}
// CHECK: remark: [Missed] loops | Category:disco-select-kernel | Function=kpad24_input_gradient_bf16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=10, Suggestion="compile for cpu"{{$}}
// CHECK: remark: [Missed] cpu_gather | Category:disco-select-kernel | Function=kpad24_input_gradient_bf16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=4, Suggestion="compile for a cpu target"{{$}}
// CHECK: remark: [Missed] csr_gather filter_first runtime | Category:disco-select-kernel | Function=kpad24_input_gradient_bf16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] csr_gather weight_first runtime | Category:disco-select-kernel | Function=kpad24_input_gradient_bf16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma | Category:disco-select-kernel | Function=kpad24_input_gradient_bf16 | Reason="expected K_pad to be 8 or 16, but got 24 (K 20)", Rule=12, Suggestion="use csr_gather, or a filter with K <= 16"{{$}}
// CHECK: remark: [Missed] toeplitz_wgmma weight_first runtime | Category:disco-select-kernel | Function=kpad24_input_gradient_bf16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="toeplitz_wgmma, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
func.func @kpad24_input_gradient_bf16(%gy: tensor<1x16x32x64xbf16>, %w: tensor<16x16x20xbf16>) -> tensor<1x16x32x64xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [4, 5], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 20, 32x64 -> 32x64>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 20, 32x64 -> 32x64>
  %gx = disco.conv %gy, %adjoint, %w : (tensor<1x16x32x64xbf16>, !disco.psi<sphere, 20, 32x64 -> 32x64>, tensor<16x16x20xbf16>) -> tensor<1x16x32x64xbf16>
  return %gx : tensor<1x16x32x64xbf16>
}

// Its weight gradient.
// CHECK: remark: [Passed] toeplitz_wgmma | Category:disco-select-kernel | Function=kpad24_weight_gradient_bf16 | Bound={{[a-z0-9]+}}, Executable=false, Margin={{[0-9.]+}}, Order=weight_first, PredictedMicroseconds={{[0-9.]+}}, Provider=runtime, Remark="chose toeplitz_wgmma", Schedule="{{[a-z0-9_=,]+}}"{{$}}
// CHECK: remark: [Missed] loops | Category:disco-select-kernel | Function=kpad24_weight_gradient_bf16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=10, Suggestion="compile for cpu"{{$}}
// CHECK: remark: [Missed] cpu_gather | Category:disco-select-kernel | Function=kpad24_weight_gradient_bf16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=4, Suggestion="compile for a cpu target"{{$}}
// CHECK: remark: [Missed] csr_gather filter_first runtime | Category:disco-select-kernel | Function=kpad24_weight_gradient_bf16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] csr_gather weight_first runtime | Category:disco-select-kernel | Function=kpad24_weight_gradient_bf16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma | Category:disco-select-kernel | Function=kpad24_weight_gradient_bf16 | Reason="expected the op to be one of contract, conv, but got conv_weight_grad", Rule=1, Suggestion="use csr_gather or toeplitz_wgmma"{{$}}
// CHECK: remark: [Missed] toeplitz_wgmma filter_first runtime | Category:disco-select-kernel | Function=kpad24_weight_gradient_bf16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="toeplitz_wgmma, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
func.func @kpad24_weight_gradient_bf16(%x: tensor<1x16x32x64xbf16>, %gy: tensor<1x16x32x64xbf16>) -> tensor<16x16x20xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [4, 5], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 20, 32x64 -> 32x64>
  %gw = disco.conv_weight_grad %x, %gy, %psi : (tensor<1x16x32x64xbf16>, tensor<1x16x32x64xbf16>, !disco.psi<sphere, 20, 32x64 -> 32x64>) -> tensor<16x16x20xbf16>
  return %gw : tensor<16x16x20xbf16>
}

// K = 20 pads to 24 (fused into a conv).
// CHECK: remark: [Passed] toeplitz_wgmma | Category:disco-select-kernel | Function=kpad24_conv_f16 | Bound={{[a-z0-9]+}}, Executable=false, Margin={{[0-9.]+}}, Order=filter_first, PredictedMicroseconds={{[0-9.]+}}, Provider=runtime, Remark="chose toeplitz_wgmma", Schedule="{{[a-z0-9_=,]+}}"{{$}}
// CHECK: remark: [Missed] loops | Category:disco-select-kernel | Function=kpad24_conv_f16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=10, Suggestion="compile for cpu"{{$}}
// CHECK: remark: [Missed] cpu_gather | Category:disco-select-kernel | Function=kpad24_conv_f16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=4, Suggestion="compile for a cpu target"{{$}}
// CHECK: remark: [Missed] csr_gather filter_first runtime | Category:disco-select-kernel | Function=kpad24_conv_f16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] csr_gather weight_first runtime | Category:disco-select-kernel | Function=kpad24_conv_f16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma | Category:disco-select-kernel | Function=kpad24_conv_f16 | Reason="expected K_pad to be 8 or 16, but got 24 (K 20)", Rule=12, Suggestion="use csr_gather, or a filter with K <= 16"{{$}}
// CHECK: remark: [Missed] toeplitz_wgmma weight_first runtime | Category:disco-select-kernel | Function=kpad24_conv_f16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="toeplitz_wgmma, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
func.func @kpad24_conv_f16(%x: tensor<1x16x32x64xf16>, %w: tensor<16x16x20xf16>) -> tensor<1x16x32x64xf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [4, 5], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 20, 32x64 -> 32x64>
  %y = disco.conv %x, %psi, %w : (tensor<1x16x32x64xf16>, !disco.psi<sphere, 20, 32x64 -> 32x64>, tensor<16x16x20xf16>) -> tensor<1x16x32x64xf16>
  return %y : tensor<1x16x32x64xf16>
}

// K = 20, unfused.
// CHECK: remark: [Passed] toeplitz_wgmma | Category:disco-select-kernel | Function=kpad24_contract_f16 | Bound={{[a-z0-9]+}}, Executable=true, Margin={{[0-9.]+}}, Order=filter_first, PredictedMicroseconds={{[0-9.]+}}, Provider=runtime, Remark="chose toeplitz_wgmma", Schedule="{{[a-z0-9_=,]+}}"{{$}}
// CHECK: remark: [Missed] loops filter_first | Category:disco-select-kernel | Function=kpad24_contract_f16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=10, Suggestion="compile for cpu"{{$}}
// CHECK: remark: [Missed] cpu_gather filter_first | Category:disco-select-kernel | Function=kpad24_contract_f16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=4, Suggestion="compile for a cpu target"{{$}}
// CHECK: remark: [Missed] csr_gather filter_first runtime | Category:disco-select-kernel | Function=kpad24_contract_f16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma filter_first | Category:disco-select-kernel | Function=kpad24_contract_f16 | Reason="expected K_pad to be 8 or 16, but got 24 (K 20)", Rule=12, Suggestion="use csr_gather, or a filter with K <= 16"{{$}}
func.func @kpad24_contract_f16(%x: tensor<1x16x32x64xf16>) -> tensor<1x16x20x32x64xf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [4, 5], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 20, 32x64 -> 32x64>
  %z = disco.contract %x, %psi : (tensor<1x16x32x64xf16>, !disco.psi<sphere, 20, 32x64 -> 32x64>) -> tensor<1x16x20x32x64xf16>
  return %z : tensor<1x16x20x32x64xf16>
}

// Its input gradient.
// CHECK: remark: [Passed] toeplitz_wgmma | Category:disco-select-kernel | Function=kpad24_input_gradient_f16 | Bound={{[a-z0-9]+}}, Executable=false, Margin={{[0-9.]+}}, Order=filter_first, PredictedMicroseconds={{[0-9.]+}}, Provider=runtime, Remark="chose toeplitz_wgmma", Schedule="{{[a-z0-9_=,]+}}"{{$}}
// CHECK: remark: [Missed] loops | Category:disco-select-kernel | Function=kpad24_input_gradient_f16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=10, Suggestion="compile for cpu"{{$}}
// CHECK: remark: [Missed] cpu_gather | Category:disco-select-kernel | Function=kpad24_input_gradient_f16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=4, Suggestion="compile for a cpu target"{{$}}
// CHECK: remark: [Missed] csr_gather filter_first runtime | Category:disco-select-kernel | Function=kpad24_input_gradient_f16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] csr_gather weight_first runtime | Category:disco-select-kernel | Function=kpad24_input_gradient_f16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma | Category:disco-select-kernel | Function=kpad24_input_gradient_f16 | Reason="expected K_pad to be 8 or 16, but got 24 (K 20)", Rule=12, Suggestion="use csr_gather, or a filter with K <= 16"{{$}}
// CHECK: remark: [Missed] toeplitz_wgmma weight_first runtime | Category:disco-select-kernel | Function=kpad24_input_gradient_f16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="toeplitz_wgmma, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
func.func @kpad24_input_gradient_f16(%gy: tensor<1x16x32x64xf16>, %w: tensor<16x16x20xf16>) -> tensor<1x16x32x64xf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [4, 5], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 20, 32x64 -> 32x64>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 20, 32x64 -> 32x64>
  %gx = disco.conv %gy, %adjoint, %w : (tensor<1x16x32x64xf16>, !disco.psi<sphere, 20, 32x64 -> 32x64>, tensor<16x16x20xf16>) -> tensor<1x16x32x64xf16>
  return %gx : tensor<1x16x32x64xf16>
}

// Its weight gradient.
// CHECK: remark: [Passed] toeplitz_wgmma | Category:disco-select-kernel | Function=kpad24_weight_gradient_f16 | Bound={{[a-z0-9]+}}, Executable=false, Margin={{[0-9.]+}}, Order=weight_first, PredictedMicroseconds={{[0-9.]+}}, Provider=runtime, Remark="chose toeplitz_wgmma", Schedule="{{[a-z0-9_=,]+}}"{{$}}
// CHECK: remark: [Missed] loops | Category:disco-select-kernel | Function=kpad24_weight_gradient_f16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=10, Suggestion="compile for cpu"{{$}}
// CHECK: remark: [Missed] cpu_gather | Category:disco-select-kernel | Function=kpad24_weight_gradient_f16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=4, Suggestion="compile for a cpu target"{{$}}
// CHECK: remark: [Missed] csr_gather filter_first runtime | Category:disco-select-kernel | Function=kpad24_weight_gradient_f16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] csr_gather weight_first runtime | Category:disco-select-kernel | Function=kpad24_weight_gradient_f16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma | Category:disco-select-kernel | Function=kpad24_weight_gradient_f16 | Reason="expected the op to be one of contract, conv, but got conv_weight_grad", Rule=1, Suggestion="use csr_gather or toeplitz_wgmma"{{$}}
// CHECK: remark: [Missed] toeplitz_wgmma filter_first runtime | Category:disco-select-kernel | Function=kpad24_weight_gradient_f16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="toeplitz_wgmma, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
func.func @kpad24_weight_gradient_f16(%x: tensor<1x16x32x64xf16>, %gy: tensor<1x16x32x64xf16>) -> tensor<16x16x20xf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [4, 5], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 20, 32x64 -> 32x64>
  %gw = disco.conv_weight_grad %x, %gy, %psi : (tensor<1x16x32x64xf16>, tensor<1x16x32x64xf16>, !disco.psi<sphere, 20, 32x64 -> 32x64>) -> tensor<16x16x20xf16>
  return %gw : tensor<16x16x20xf16>
}

// Isotropic hats: features differ in their support.
// CHECK: remark: [Passed] toeplitz_wgmma | Category:disco-select-kernel | Function=hats | Bound={{[a-z0-9]+}}, Executable=false, Margin={{[0-9.]+}}, Order=filter_first, PredictedMicroseconds={{[0-9.]+}}, Provider=runtime, Remark="chose toeplitz_wgmma", Schedule="{{[a-z0-9_=,]+}}"{{$}}
// CHECK: remark: [Missed] loops | Category:disco-select-kernel | Function=hats | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=10, Suggestion="compile for cpu"{{$}}
// CHECK: remark: [Missed] cpu_gather | Category:disco-select-kernel | Function=hats | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=4, Suggestion="compile for a cpu target"{{$}}
// CHECK: remark: [Missed] csr_gather filter_first runtime | Category:disco-select-kernel | Function=hats | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] csr_gather weight_first runtime | Category:disco-select-kernel | Function=hats | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma | Category:disco-select-kernel | Function=hats | Reason="expected all features to share their support (7184 entries), but got 4596 entries", Rule=13, Suggestion="use csr_gather, or a basis on the full disk"{{$}}
// CHECK: remark: [Missed] toeplitz_wgmma weight_first runtime | Category:disco-select-kernel | Function=hats | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="toeplitz_wgmma, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
func.func @hats(%x: tensor<1x16x32x64xbf16>, %w: tensor<16x16x2xbf16>) -> tensor<1x16x32x64xbf16> {
  %psi = disco.filter #disco.sphere_filter<piecewise_linear, [3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 2, 32x64 -> 32x64>
  %y = disco.conv %x, %psi, %w : (tensor<1x16x32x64xbf16>, !disco.psi<sphere, 2, 32x64 -> 32x64>, tensor<16x16x2xbf16>) -> tensor<1x16x32x64xbf16>
  return %y : tensor<1x16x32x64xbf16>
}

// No tensor family serves f64.
// CHECK: remark: [Passed] csr_gather | Category:disco-select-kernel | Function=f64 | Bound={{[a-z0-9]+}}, Executable=true, Margin={{[0-9.]+}}, Order=filter_first, PredictedMicroseconds={{[0-9.]+}}, Provider=runtime, Remark="chose csr_gather", Schedule="{{[a-z0-9_=,]+}}"{{$}}
// CHECK: remark: [Missed] loops | Category:disco-select-kernel | Function=f64 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=10, Suggestion="compile for cpu"{{$}}
// CHECK: remark: [Missed] cpu_gather | Category:disco-select-kernel | Function=f64 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=4, Suggestion="compile for a cpu target"{{$}}
// CHECK: remark: [Missed] csr_gather weight_first runtime | Category:disco-select-kernel | Function=f64 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma | Category:disco-select-kernel | Function=f64 | Reason="expected the dtype to be one of f16, bf16, but got f64", Rule=2, Suggestion="use csr_gather"{{$}}
// CHECK: remark: [Missed] toeplitz_wgmma | Category:disco-select-kernel | Function=f64 | Reason="expected the dtype to be one of f16, bf16, but got f64", Rule=2, Suggestion="use csr_gather"{{$}}
func.func @f64(%x: tensor<1x16x32x64xf64>, %w: tensor<16x16x9xf64>) -> tensor<1x16x32x64xf64> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 9, 32x64 -> 32x64>
  %y = disco.conv %x, %psi, %w : (tensor<1x16x32x64xf64>, !disco.psi<sphere, 9, 32x64 -> 32x64>, tensor<16x16x9xf64>) -> tensor<1x16x32x64xf64>
  return %y : tensor<1x16x32x64xf64>
}

// 36 output longitudes are no multiple of 8.
// CHECK: remark: [Passed] toeplitz_wgmma | Category:disco-select-kernel | Function=nlon_36 | Bound={{[a-z0-9]+}}, Executable=false, Margin={{[0-9.]+}}, Order=filter_first, PredictedMicroseconds={{[0-9.]+}}, Provider=runtime, Remark="chose toeplitz_wgmma", Schedule="{{[a-z0-9_=,]+}}"{{$}}
// CHECK: remark: [Missed] loops | Category:disco-select-kernel | Function=nlon_36 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=10, Suggestion="compile for cpu"{{$}}
// CHECK: remark: [Missed] cpu_gather | Category:disco-select-kernel | Function=nlon_36 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=4, Suggestion="compile for a cpu target"{{$}}
// CHECK: remark: [Missed] csr_gather filter_first runtime | Category:disco-select-kernel | Function=nlon_36 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] csr_gather weight_first runtime | Category:disco-select-kernel | Function=nlon_36 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma | Category:disco-select-kernel | Function=nlon_36 | Reason="expected nlon of the output to be a multiple of 8, but got 36", Rule=14, Suggestion="use csr_gather"{{$}}
// CHECK: remark: [Missed] toeplitz_wgmma weight_first runtime | Category:disco-select-kernel | Function=nlon_36 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="toeplitz_wgmma, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
func.func @nlon_36(%x: tensor<1x16x18x36xbf16>, %w: tensor<16x16x9xbf16>) -> tensor<1x16x18x36xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 18x36>, out = #disco.grid<legendre_gauss, 18x36>> -> !disco.psi<sphere, 9, 18x36 -> 18x36>
  %y = disco.conv %x, %psi, %w : (tensor<1x16x18x36xbf16>, !disco.psi<sphere, 9, 18x36 -> 18x36>, tensor<16x16x9xbf16>) -> tensor<1x16x18x36xbf16>
  return %y : tensor<1x16x18x36xbf16>
}

// A cutoff below the grid spacing leaves rows of one tap or none.
// CHECK: remark: [Passed] kpacked_wgmma | Category:disco-select-kernel | Function=empty_rows | Bound={{[a-z0-9]+}}, Executable=false, Margin={{[0-9.]+}}, Order=filter_first, PredictedMicroseconds={{[0-9.]+}}, Provider=codegen, Remark="chose kpacked_wgmma", Schedule="{{[a-z0-9_=,]+}}"{{$}}
// CHECK: remark: [Missed] loops | Category:disco-select-kernel | Function=empty_rows | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=10, Suggestion="compile for cpu"{{$}}
// CHECK: remark: [Missed] cpu_gather | Category:disco-select-kernel | Function=empty_rows | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=4, Suggestion="compile for a cpu target"{{$}}
// CHECK: remark: [Missed] csr_gather filter_first runtime | Category:disco-select-kernel | Function=empty_rows | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] csr_gather weight_first runtime | Category:disco-select-kernel | Function=empty_rows | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma weight_first | Category:disco-select-kernel | Function=empty_rows | Reason="expected the order to be filter_first, since features are columns of the tensor tile, but got weight_first", Rule=16, Suggestion="use csr_gather for weight_first"{{$}}
// CHECK: remark: [Missed] toeplitz_wgmma filter_first runtime | Category:disco-select-kernel | Function=empty_rows | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="toeplitz_wgmma, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] toeplitz_wgmma weight_first runtime | Category:disco-select-kernel | Function=empty_rows | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="toeplitz_wgmma, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
func.func @empty_rows(%x: tensor<1x16x33x64xbf16>, %w: tensor<16x16x9xbf16>) -> tensor<1x16x8x16xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.02, in = #disco.grid<equiangular, 33x64>, out = #disco.grid<legendre_gauss, 8x16>> -> !disco.psi<sphere, 9, 33x64 -> 8x16>
  %y = disco.conv %x, %psi, %w : (tensor<1x16x33x64xbf16>, !disco.psi<sphere, 9, 33x64 -> 8x16>, tensor<16x16x9xbf16>) -> tensor<1x16x8x16xbf16>
  return %y : tensor<1x16x8x16xbf16>
}

// K = 1.
// CHECK: remark: [Passed] kpacked_wgmma | Category:disco-select-kernel | Function=one_feature | Bound={{[a-z0-9]+}}, Executable=false, Margin={{[0-9.]+}}, Order=filter_first, PredictedMicroseconds={{[0-9.]+}}, Provider=codegen, Remark="chose kpacked_wgmma", Schedule="{{[a-z0-9_=,]+}}"{{$}}
// CHECK: remark: [Missed] loops | Category:disco-select-kernel | Function=one_feature | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=10, Suggestion="compile for cpu"{{$}}
// CHECK: remark: [Missed] cpu_gather | Category:disco-select-kernel | Function=one_feature | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=4, Suggestion="compile for a cpu target"{{$}}
// CHECK: remark: [Missed] csr_gather filter_first runtime | Category:disco-select-kernel | Function=one_feature | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] csr_gather weight_first runtime | Category:disco-select-kernel | Function=one_feature | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma weight_first | Category:disco-select-kernel | Function=one_feature | Reason="expected the order to be filter_first, since features are columns of the tensor tile, but got weight_first", Rule=16, Suggestion="use csr_gather for weight_first"{{$}}
// CHECK: remark: [Missed] toeplitz_wgmma filter_first runtime | Category:disco-select-kernel | Function=one_feature | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="toeplitz_wgmma, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] toeplitz_wgmma weight_first runtime | Category:disco-select-kernel | Function=one_feature | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="toeplitz_wgmma, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
func.func @one_feature(%x: tensor<1x16x32x64xbf16>, %w: tensor<16x16x1xbf16>) -> tensor<1x16x32x64xbf16> {
  %psi = disco.filter #disco.sphere_filter<piecewise_linear, [1], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 1, 32x64 -> 32x64>
  %y = disco.conv %x, %psi, %w : (tensor<1x16x32x64xbf16>, !disco.psi<sphere, 1, 32x64 -> 32x64>, tensor<16x16x1xbf16>) -> tensor<1x16x32x64xbf16>
  return %y : tensor<1x16x32x64xbf16>
}

// B * C = 15 fields leave a tail in every tile.
// CHECK: remark: [Passed] kpacked_wgmma | Category:disco-select-kernel | Function=tail | Bound={{[a-z0-9]+}}, Executable=false, Margin={{[0-9.]+}}, Order=filter_first, PredictedMicroseconds={{[0-9.]+}}, Provider=codegen, Remark="chose kpacked_wgmma", Schedule="{{[a-z0-9_=,]+}}"{{$}}
// CHECK: remark: [Missed] loops | Category:disco-select-kernel | Function=tail | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=10, Suggestion="compile for cpu"{{$}}
// CHECK: remark: [Missed] cpu_gather | Category:disco-select-kernel | Function=tail | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=4, Suggestion="compile for a cpu target"{{$}}
// CHECK: remark: [Missed] csr_gather filter_first runtime | Category:disco-select-kernel | Function=tail | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] csr_gather weight_first runtime | Category:disco-select-kernel | Function=tail | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma weight_first | Category:disco-select-kernel | Function=tail | Reason="expected the order to be filter_first, since features are columns of the tensor tile, but got weight_first", Rule=16, Suggestion="use csr_gather for weight_first"{{$}}
// CHECK: remark: [Missed] toeplitz_wgmma filter_first runtime | Category:disco-select-kernel | Function=tail | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="toeplitz_wgmma, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] toeplitz_wgmma weight_first runtime | Category:disco-select-kernel | Function=tail | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="toeplitz_wgmma, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
func.func @tail(%x: tensor<3x5x32x64xbf16>, %w: tensor<7x5x9xbf16>) -> tensor<3x7x32x64xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 9, 32x64 -> 32x64>
  %y = disco.conv %x, %psi, %w : (tensor<3x5x32x64xbf16>, !disco.psi<sphere, 9, 32x64 -> 32x64>, tensor<7x5x9xbf16>) -> tensor<3x7x32x64xbf16>
  return %y : tensor<3x7x32x64xbf16>
}

// 2^28 points: a plane of eight channels side by side has 2^31 elements, too many
// for the 32-bit indices of toeplitz_wgmma. Nothing else is in its way: the filter
// is a constant with one shared arc a ring. csr_gather cuts the whole ring of a
// pole to pieces; kpacked_wgmma loads element by element.
// CHECK: remark: [Passed] kpacked_wgmma | Category:disco-select-kernel | Function=beyond_int32_plane | Bound={{[a-z0-9]+}}, Executable=false, Margin={{[0-9.]+}}, Order=filter_first, PredictedMicroseconds={{[0-9.]+}}, Provider=codegen, Remark="chose kpacked_wgmma", Schedule="{{[a-z0-9_=,]+}}"{{$}}
// CHECK: remark: [Missed] loops | Category:disco-select-kernel | Function=beyond_int32_plane | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=10, Suggestion="compile for cpu"{{$}}
// CHECK: remark: [Missed] cpu_gather | Category:disco-select-kernel | Function=beyond_int32_plane | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=4, Suggestion="compile for a cpu target"{{$}}
// CHECK: remark: [Missed] csr_gather filter_first runtime | Category:disco-select-kernel | Function=beyond_int32_plane | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] csr_gather weight_first runtime | Category:disco-select-kernel | Function=beyond_int32_plane | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma weight_first | Category:disco-select-kernel | Function=beyond_int32_plane | Reason="expected the order to be filter_first, since features are columns of the tensor tile, but got weight_first", Rule=16, Suggestion="use csr_gather for weight_first"{{$}}
// CHECK: remark: [Missed] toeplitz_wgmma | Category:disco-select-kernel | Function=beyond_int32_plane | Reason="expected a plane of 8 channel(s) to have fewer than 2147483648 elements for 32-bit indices, but got 2147483648", Rule=14, Suggestion="use csr_gather, whose planes hold one channel"{{$}}
func.func @beyond_int32_plane(%x: tensor<1x8x16384x16384xbf16>, %w: tensor<8x8x1xbf16>) -> tensor<1x8x16384x16384xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [1], cutoff = 1e-4, in = #disco.grid<equiangular, 16384x16384>, out = #disco.grid<equiangular, 16384x16384>> -> !disco.psi<sphere, 1, 16384x16384 -> 16384x16384>
  %y = disco.conv %x, %psi, %w : (tensor<1x8x16384x16384xbf16>, !disco.psi<sphere, 1, 16384x16384 -> 16384x16384>, tensor<8x8x1xbf16>) -> tensor<1x8x16384x16384xbf16>
  return %y : tensor<1x8x16384x16384xbf16>
}

// 2^32 elements in planes of 2^11 points: planes are found with 64 bits, so that
// batch and channels decide nothing.
// CHECK: remark: [Passed] toeplitz_wgmma | Category:disco-select-kernel | Function=beyond_int32_batch | Bound={{[a-z0-9]+}}, Executable=false, Margin={{[0-9.]+}}, Order=filter_first, PredictedMicroseconds={{[0-9.]+}}, Provider={{runtime|codegen}}, Remark="chose toeplitz_wgmma", Schedule="{{[a-z0-9_=,]+}}"{{$}}
// CHECK: remark: [Missed] loops | Category:disco-select-kernel | Function=beyond_int32_batch | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=10, Suggestion="compile for cpu"{{$}}
// CHECK: remark: [Missed] cpu_gather | Category:disco-select-kernel | Function=beyond_int32_batch | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=4, Suggestion="compile for a cpu target"{{$}}
// CHECK: remark: [Missed] csr_gather filter_first runtime | Category:disco-select-kernel | Function=beyond_int32_batch | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] csr_gather weight_first runtime | Category:disco-select-kernel | Function=beyond_int32_batch | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma filter_first codegen | Category:disco-select-kernel | Function=beyond_int32_batch | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="kpacked_wgmma, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma weight_first | Category:disco-select-kernel | Function=beyond_int32_batch | Reason="expected the order to be filter_first, since features are columns of the tensor tile, but got weight_first", Rule=16, Suggestion="use csr_gather for weight_first"{{$}}
// CHECK: remark: [Missed] toeplitz_wgmma weight_first runtime | Category:disco-select-kernel | Function=beyond_int32_batch | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="toeplitz_wgmma, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
func.func @beyond_int32_batch(%x: tensor<131072x16x32x64xbf16>, %w: tensor<16x16x9xbf16>) -> tensor<131072x16x32x64xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 9, 32x64 -> 32x64>
  %y = disco.conv %x, %psi, %w : (tensor<131072x16x32x64xbf16>, !disco.psi<sphere, 9, 32x64 -> 32x64>, tensor<16x16x9xbf16>) -> tensor<131072x16x32x64xbf16>
  return %y : tensor<131072x16x32x64xbf16>
}

// The coarse side is the input: phases.
// CHECK: remark: [Passed] toeplitz_wgmma | Category:disco-select-kernel | Function=upsampling | Bound={{[a-z0-9]+}}, Executable=false, Margin={{[0-9.]+}}, Order=filter_first, PredictedMicroseconds={{[0-9.]+}}, Provider=runtime, Remark="chose toeplitz_wgmma", Schedule="{{[a-z0-9_=,]+}}"{{$}}
// CHECK: remark: [Missed] loops | Category:disco-select-kernel | Function=upsampling | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=10, Suggestion="compile for cpu"{{$}}
// CHECK: remark: [Missed] cpu_gather | Category:disco-select-kernel | Function=upsampling | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=4, Suggestion="compile for a cpu target"{{$}}
// CHECK: remark: [Missed] csr_gather filter_first runtime | Category:disco-select-kernel | Function=upsampling | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] csr_gather weight_first runtime | Category:disco-select-kernel | Function=upsampling | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma | Category:disco-select-kernel | Function=upsampling | Reason="expected nlon of the input to be a multiple of nlon of the output (64), but got 32", Rule=15, Suggestion="use csr_gather"{{$}}
// CHECK: remark: [Missed] toeplitz_wgmma weight_first runtime | Category:disco-select-kernel | Function=upsampling | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="toeplitz_wgmma, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
func.func @upsampling(%x: tensor<1x16x16x32xbf16>, %w: tensor<16x16x9xbf16>) -> tensor<1x16x32x64xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 32x64>, transpose> -> !disco.psi<sphere, 9, 16x32 -> 32x64>
  %y = disco.conv %x, %psi, %w : (tensor<1x16x16x32xbf16>, !disco.psi<sphere, 9, 16x32 -> 32x64>, tensor<16x16x9xbf16>) -> tensor<1x16x32x64xbf16>
  return %y : tensor<1x16x32x64xbf16>
}

// Its weight gradient: another family than the forward op, which cannot do it.
// CHECK: remark: [Passed] toeplitz_wgmma | Category:disco-select-kernel | Function=tail_weight_gradient |
// CHECK: remark: [Missed] kpacked_wgmma | Category:disco-select-kernel | Function=tail_weight_gradient | Reason="expected the op to be one of contract, conv, but got conv_weight_grad", Rule=1, Suggestion="use csr_gather or toeplitz_wgmma"{{$}}
func.func @tail_weight_gradient(%x: tensor<3x5x32x64xbf16>, %gy: tensor<3x7x32x64xbf16>) -> tensor<7x5x9xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 9, 32x64 -> 32x64>
  %gw = disco.conv_weight_grad %x, %gy, %psi : (tensor<3x5x32x64xbf16>, tensor<3x7x32x64xbf16>, !disco.psi<sphere, 9, 32x64 -> 32x64>) -> tensor<7x5x9xbf16>
  return %gw : tensor<7x5x9xbf16>
}

// Its input gradient, unfused.
// CHECK: remark: [Passed] toeplitz_wgmma | Category:disco-select-kernel | Function=kpad24_unfused_input_gradient_bf16 | Bound={{[a-z0-9]+}}, Executable=true, Margin={{[0-9.]+}}, Order=weight_first, PredictedMicroseconds={{[0-9.]+}}, Provider=runtime, Remark="chose toeplitz_wgmma", Schedule="{{[a-z0-9_=,]+}}"{{$}}
// CHECK: remark: [Missed] loops weight_first | Category:disco-select-kernel | Function=kpad24_unfused_input_gradient_bf16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=10, Suggestion="compile for cpu"{{$}}
// CHECK: remark: [Missed] cpu_gather weight_first | Category:disco-select-kernel | Function=kpad24_unfused_input_gradient_bf16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=4, Suggestion="compile for a cpu target"{{$}}
// CHECK: remark: [Missed] csr_gather weight_first runtime | Category:disco-select-kernel | Function=kpad24_unfused_input_gradient_bf16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma weight_first | Category:disco-select-kernel | Function=kpad24_unfused_input_gradient_bf16 | Reason="expected the op to be one of contract, conv, but got contract_sum", Rule=1, Suggestion="use csr_gather or toeplitz_wgmma"{{$}}
func.func @kpad24_unfused_input_gradient_bf16(%gz: tensor<1x16x20x32x64xbf16>) -> tensor<1x16x32x64xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [4, 5], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 20, 32x64 -> 32x64>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 20, 32x64 -> 32x64>
  %gx = disco.contract_sum %gz, %adjoint : (tensor<1x16x20x32x64xbf16>, !disco.psi<sphere, 20, 32x64 -> 32x64>) -> tensor<1x16x32x64xbf16>
  return %gx : tensor<1x16x32x64xbf16>
}

// Its input gradient, unfused.
// CHECK: remark: [Passed] toeplitz_wgmma | Category:disco-select-kernel | Function=kpad24_unfused_input_gradient_f16 | Bound={{[a-z0-9]+}}, Executable=true, Margin={{[0-9.]+}}, Order=weight_first, PredictedMicroseconds={{[0-9.]+}}, Provider=runtime, Remark="chose toeplitz_wgmma", Schedule="{{[a-z0-9_=,]+}}"{{$}}
// CHECK: remark: [Missed] loops weight_first | Category:disco-select-kernel | Function=kpad24_unfused_input_gradient_f16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=10, Suggestion="compile for cpu"{{$}}
// CHECK: remark: [Missed] cpu_gather weight_first | Category:disco-select-kernel | Function=kpad24_unfused_input_gradient_f16 | Reason="expected the target to be a cpu target, but got h200 (cuda)", Rule=4, Suggestion="compile for a cpu target"{{$}}
// CHECK: remark: [Missed] csr_gather weight_first runtime | Category:disco-select-kernel | Function=kpad24_unfused_input_gradient_f16 | Bound={{[a-z0-9]+}}, PredictedMicroseconds={{[0-9.]+}}, Reason="csr_gather, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}"{{$}}
// CHECK: remark: [Missed] kpacked_wgmma weight_first | Category:disco-select-kernel | Function=kpad24_unfused_input_gradient_f16 | Reason="expected the op to be one of contract, conv, but got contract_sum", Rule=1, Suggestion="use csr_gather or toeplitz_wgmma"{{$}}
func.func @kpad24_unfused_input_gradient_f16(%gz: tensor<1x16x20x32x64xf16>) -> tensor<1x16x32x64xf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [4, 5], cutoff = 0.4, in = #disco.grid<legendre_gauss, 32x64>, out = #disco.grid<legendre_gauss, 32x64>> -> !disco.psi<sphere, 20, 32x64 -> 32x64>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 20, 32x64 -> 32x64>
  %gx = disco.contract_sum %gz, %adjoint : (tensor<1x16x20x32x64xf16>, !disco.psi<sphere, 20, 32x64 -> 32x64>) -> tensor<1x16x32x64xf16>
  return %gx : tensor<1x16x32x64xf16>
}
