// RUN: disco-opt %s --verify-diagnostics --split-input-file --disco-verify-plan="target=h200 include-planned"

// Each field is in its range, but a rule of the family refuses them together.
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @block(%x: tensor<1x4x16x32xf32>, %w: tensor<4x4x9xf32>) -> tensor<1x4x16x32xf32> {
  %psi = disco.filter #filter -> !psi
  // expected-error @below {{'disco.conv' op family 'csr_gather' is not applicable: rule 13: expected block_mib to be at least 1 for conv, but got 0; suggestion: use block_mib=192}}
  %y = disco.conv %x, %psi, %w plan <csr_gather, schedule = {fields = 8, features = 9, block_mib = 0}> : (tensor<1x4x16x32xf32>, !psi, tensor<4x4x9xf32>) -> tensor<1x4x16x32xf32>
  return %y : tensor<1x4x16x32xf32>
}

// -----

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @dtype(%x: tensor<1x4x16x32xf32>, %w: tensor<4x4x9xf32>) -> tensor<1x4x16x32xf32> {
  %psi = disco.filter #filter -> !psi
  // expected-error @below {{'disco.conv' op family 'kpacked_wgmma' is not applicable: rule 2: expected the dtype to be one of f16, bf16, but got f32; suggestion: use csr_gather}}
  %y = disco.conv %x, %psi, %w plan <kpacked_wgmma, schedule = {staged = 1, stages = 2, block_rows = 0}> : (tensor<1x4x16x32xf32>, !psi, tensor<4x4x9xf32>) -> tensor<1x4x16x32xf32>
  return %y : tensor<1x4x16x32xf32>
}

// -----

// What a kernel reads and writes is not for the plan to say.
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @kernel_layout(%x: tensor<1x4x16x32xf32>, %w: tensor<4x4x9xf32>) -> tensor<1x4x16x32xf32> {
  %psi = disco.filter #filter -> !psi
  // expected-error @below {{'disco.conv' op expected the kernel layout of csr_gather to be nchw -> nchw, but got c8 -> nhwc}}
  %y = disco.conv %x, %psi, %w plan <csr_gather, kernel_layout = c8 -> nhwc, schedule = {fields = 8, features = 9, block_mib = 32}> : (tensor<1x4x16x32xf32>, !psi, tensor<4x4x9xf32>) -> tensor<1x4x16x32xf32>
  return %y : tensor<1x4x16x32xf32>
}

// -----

// A batch that is known is not assumed.
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @static_batch(%x: tensor<2x4x16x32xf32>, %w: tensor<4x4x9xf32>) -> tensor<2x4x16x32xf32> {
  %psi = disco.filter #filter -> !psi
  // expected-error @below {{'disco.conv' op expected the plan of a static batch (2) to assume none, but got batch = 7}}
  %y = disco.conv %x, %psi, %w plan <csr_gather, batch = 7, schedule = {fields = 8, features = 9, block_mib = 32}> : (tensor<2x4x16x32xf32>, !psi, tensor<4x4x9xf32>) -> tensor<2x4x16x32xf32>
  return %y : tensor<2x4x16x32xf32>
}

// -----

// An architecture names the first chip that has it.
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @architecture(%x: tensor<1x4x16x32xf32>, %w: tensor<4x4x9xf32>) -> tensor<1x4x16x32xf32> {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w plan <csr_gather, target = "sm_90a", schedule = {fields = 8, features = 9, block_mib = 32}> : (tensor<1x4x16x32xf32>, !psi, tensor<4x4x9xf32>) -> tensor<1x4x16x32xf32>
  return %y : tensor<1x4x16x32xf32>
}
