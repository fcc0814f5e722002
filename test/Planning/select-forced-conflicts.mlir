// RUN: disco-opt %s --split-input-file --verify-diagnostics --disco-select-kernel="target=h200 include-planned force-family=csr_gather force-order=filter_first force-fields=fields=1"
// RUN: not disco-opt %s --split-input-file --disco-select-kernel="target=h200 include-planned force-family=csr_gather force-order=filter_first force-fields=fields=1" 2>/dev/null | FileCheck %s

// What is forced is honoured or refused where an op has a plan, too.

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
!x = tensor<1x4x16x32xbf16>
func.func @family(%x: !x, %w: tensor<4x4x9xbf16>) -> !x {
  %psi = disco.filter #filter -> !psi
  // expected-error @below {{'disco.conv' op expected the plan to have the family 'csr_gather' that is forced, but got 'kpacked_wgmma'}}
  %y = disco.conv %x, %psi, %w plan <kpacked_wgmma> : (!x, !psi, tensor<4x4x9xbf16>) -> !x
  return %y : !x
}

// -----

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
!x = tensor<1x4x16x32xbf16>
func.func @order(%x: !x, %w: tensor<4x4x9xbf16>) -> !x {
  %psi = disco.filter #filter -> !psi
  // expected-error @below {{'disco.conv' op expected the plan to have the order 'filter_first' that is forced, but got 'weight_first'}}
  %y = disco.conv %x, %psi, %w plan <csr_gather, order = weight_first> : (!x, !psi, tensor<4x4x9xbf16>) -> !x
  return %y : !x
}

// -----

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
!x = tensor<1x4x16x32xbf16>
func.func @field(%x: !x, %w: tensor<4x4x9xbf16>) -> !x {
  %psi = disco.filter #filter -> !psi
  // expected-error @below {{'disco.conv' op expected the plan to have the field fields = 1 that is forced, but got 4}}
  %y = disco.conv %x, %psi, %w plan <csr_gather, schedule = {fields = 4}> : (!x, !psi, tensor<4x4x9xbf16>) -> !x
  return %y : !x
}

// -----

// A plan that was made before is no exception: its hash is not even compared.
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
!x = tensor<1x4x16x32xbf16>
func.func @made_before(%x: !x, %w: tensor<4x4x9xbf16>) -> !x {
  %psi = disco.filter #filter -> !psi
  // expected-error @below {{'disco.conv' op expected the plan to have the field fields = 1 that is forced, but got 8}}
  %y = disco.conv %x, %psi, %w plan <csr_gather, schedule = {fields = 8, features = 9, block_mib = 128}, target = "h200", problem = 0x1> : (!x, !psi, tensor<4x4x9xbf16>) -> !x
  return %y : !x
}

// -----

// What the plan leaves open is forced.
// CHECK-LABEL: @open
// CHECK: plan <csr_gather, schedule = {fields = 1, features = 9, block_mib = 32}
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
!x = tensor<1x4x16x32xbf16>
func.func @open(%x: !x, %w: tensor<4x4x9xbf16>) -> !x {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w plan <csr_gather, schedule = {block_mib = 32}> : (!x, !psi, tensor<4x4x9xbf16>) -> !x
  return %y : !x
}

// -----

// An op that has one order is not asked for another.
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
// CHECK-LABEL: @one_order
// CHECK: plan <csr_gather, order = weight_first,
func.func @one_order(%z: tensor<1x4x9x16x32xbf16>) -> tensor<1x4x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %y = disco.contract_sum %z, %psi plan <csr_gather> : (tensor<1x4x9x16x32xbf16>, !psi) -> tensor<1x4x16x32xbf16>
  return %y : tensor<1x4x16x32xbf16>
}
