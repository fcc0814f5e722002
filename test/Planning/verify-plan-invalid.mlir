// RUN: disco-opt %s --verify-diagnostics --split-input-file --disco-verify-plan="target=h200"

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @other_target(%x: tensor<1x4x16x32xf32>, %w: tensor<4x4x9xf32>) -> tensor<1x4x16x32xf32> {
  %psi = disco.filter #filter -> !psi
  // expected-error @below {{'disco.conv' op expected the plan to be for target h200, but got one for avx2}}
  %y = disco.conv %x, %psi, %w plan <loops, target = "avx2"> : (tensor<1x4x16x32xf32>, !psi, tensor<4x4x9xf32>) -> tensor<1x4x16x32xf32>
  return %y : tensor<1x4x16x32xf32>
}

// -----

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @stale(%x: tensor<1x4x16x32xf32>, %w: tensor<4x4x9xf32>) -> tensor<1x4x16x32xf32> {
  %psi = disco.filter #filter -> !psi
  // expected-error-re @below {{'disco.conv' op expected the problem of the plan to be 0x{{[0-9a-f]+}}, but got 0x0000000000001234: the plan was made for another operation}}
  // expected-note @below {{the operation is: conv forward f32, sphere 16x32 -> 16x32, K 9, B 1, C 4, O 4}}
  %y = disco.conv %x, %psi, %w plan <csr_gather, problem = 0x1234> : (tensor<1x4x16x32xf32>, !psi, tensor<4x4x9xf32>) -> tensor<1x4x16x32xf32>
  return %y : tensor<1x4x16x32xf32>
}

// -----

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @missing_fields(%x: tensor<1x4x16x32xf32>, %w: tensor<4x4x9xf32>) -> tensor<1x4x16x32xf32> {
  %psi = disco.filter #filter -> !psi
  // expected-error @below {{'disco.conv' op expected the plan to have the fields fields, features, block_mib of csr_gather, but got fields=4: disco-select-kernel chooses those that are missing}}
  %y = disco.conv %x, %psi, %w plan <csr_gather, schedule = {fields = 4}> : (tensor<1x4x16x32xf32>, !psi, tensor<4x4x9xf32>) -> tensor<1x4x16x32xf32>
  return %y : tensor<1x4x16x32xf32>
}

// -----

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @not_available(%x: tensor<1x4x16x32xf32>, %w: tensor<4x4x9xf32>) -> tensor<1x4x16x32xf32> {
  %psi = disco.filter #filter -> !psi
  // expected-error @below {{'disco.conv' op family 'toeplitz_wgmma' is not applicable: expected the op to be one of contract, contract_sum, but got conv, which is planned; suggestion: use an available family; disco-select-kernel ranks planned ones with include-planned}}
  %y = disco.conv %x, %psi, %w plan <toeplitz_wgmma, schedule = {rows = 1, lon_groups = 16, stages = 3, fused = 0, block_rows = 0}> : (tensor<1x4x16x32xf32>, !psi, tensor<4x4x9xf32>) -> tensor<1x4x16x32xf32>
  return %y : tensor<1x4x16x32xf32>
}

// -----

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @refused(%x: tensor<1x4x16x32xf32>, %w: tensor<4x4x9xf32>) -> tensor<1x4x16x32xf32> {
  %psi = disco.filter #filter -> !psi
  // expected-error @below {{'disco.conv' op family 'loops' is not applicable: rule 10: expected the target to be a cpu target, but got h200 (cuda); suggestion: compile for cpu}}
  %y = disco.conv %x, %psi, %w plan <loops> : (tensor<1x4x16x32xf32>, !psi, tensor<4x4x9xf32>) -> tensor<1x4x16x32xf32>
  return %y : tensor<1x4x16x32xf32>
}

// -----

// Of a materialised psi the family can still be checked.
func.func @materialised(%x: tensor<1x4x16x32xf32>, %o: tensor<17xi32>, %a: tensor<40x4xi32>, %v: tensor<99x9xf32>) -> tensor<1x4x9x16x32xf32> {
  // expected-error @below {{'disco.contract' op family 'kpacked_wgmma' is not applicable: expected the family to be available, but got one that is planned; suggestion: use an available family; disco-select-kernel ranks planned ones with include-planned}}
  %z = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 9, 16x32 -> 16x32>> plan <kpacked_wgmma, schedule = {staged = 1, stages = 3, block_rows = 0}> : (tensor<1x4x16x32xf32>, tensor<17xi32>, tensor<40x4xi32>, tensor<99x9xf32>) -> tensor<1x4x9x16x32xf32>
  return %z : tensor<1x4x9x16x32xf32>
}
