// RUN: disco-opt %s -canonicalize | FileCheck %s
// RUN: disco-opt %s -cse | FileCheck %s --check-prefix=CSE

!psi = !disco.psi<sphere, 9, 16x32 -> 8x16>
!adj = !disco.psi<sphere, 9, 8x16 -> 16x32>

// CHECK-LABEL: func @adjoint_of_adjoint
// CHECK-SAME: (%[[PSI:.*]]: !disco.psi
// CHECK-NEXT: return %[[PSI]]
func.func @adjoint_of_adjoint(%psi: !psi) -> !psi {
  %0 = disco.adjoint %psi : !psi
  %1 = disco.adjoint %0 : !adj
  return %1 : !psi
}

// CHECK-LABEL: func @three_adjoints
// CHECK-SAME: (%[[PSI:.*]]: !disco.psi
// CHECK-NEXT: %[[A:.*]] = disco.adjoint %[[PSI]] : !disco.psi<sphere, 9, 16x32 -> 8x16>
// CHECK-NEXT: return %[[A]]
func.func @three_adjoints(%psi: !psi) -> !adj {
  %0 = disco.adjoint %psi : !psi
  %1 = disco.adjoint %0 : !adj
  %2 = disco.adjoint %1 : !psi
  return %2 : !adj
}

// The adjoint of a square operator has the same type, but is not the same.
// CHECK-LABEL: func @adjoint_of_square
// CHECK: disco.adjoint
func.func @adjoint_of_square(%psi: !disco.psi<csr, 3, 33 -> 33>) -> !disco.psi<csr, 3, 33 -> 33> {
  %0 = disco.adjoint %psi : !disco.psi<csr, 3, 33 -> 33>
  return %0 : !disco.psi<csr, 3, 33 -> 33>
}

// Everything without users goes.
// CHECK-LABEL: func @dead_ops
// CHECK-NEXT: return
func.func @dead_ops(%x: tensor<?x4x16x32xf32>, %z: tensor<?x4x9x16x32xf32>, %w: tensor<6x4x9xf32>, %gy: tensor<?x6x8x16xf32>,
    %o: tensor<34xi32>, %c: tensor<99xi32>, %v: tensor<99x4xf32>) {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 8x16>> -> !psi
  %adj = disco.adjoint %psi : !psi
  %csr = disco.assemble csr(%o, %c, %v) : (tensor<34xi32>, tensor<99xi32>, tensor<99x4xf32>) -> !disco.psi<csr, 4, 300 -> 33>
  %0 = disco.contract %x, %psi : (tensor<?x4x16x32xf32>, !psi) -> tensor<?x4x9x8x16xf32>
  %1 = disco.contract_sum %z, %psi : (tensor<?x4x9x16x32xf32>, !psi) -> tensor<?x4x8x16xf32>
  %2 = disco.conv %x, %psi, %w : (tensor<?x4x16x32xf32>, !psi, tensor<6x4x9xf32>) -> tensor<?x6x8x16xf32>
  %3 = disco.conv_weight_grad %x, %gy, %psi : (tensor<?x4x16x32xf32>, tensor<?x6x8x16xf32>, !psi) -> tensor<6x4x9xf32>
  return
}

// CSE merges equal filters, however they are spelled, and what follows.
// CSE-LABEL: func @equal_filters
// CSE-NEXT: %[[PSI:.*]] = disco.filter
// CSE-NEXT: %[[Y:.*]] = disco.contract %{{.*}}, %[[PSI]]
// CSE-NEXT: return %[[Y]], %[[Y]]
func.func @equal_filters(%x: tensor<?x4x16x32xf32>) -> (tensor<?x4x9x8x16xf32>, tensor<?x4x9x8x16xf32>) {
  %p = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 1e-1, norm = nodal, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 8x16>> -> !psi
  %q = disco.filter #disco.sphere_filter<harmonic, [3,3], out = #disco.grid<lobatto,8x16>, in = grid<lobatto, 16x32>, cutoff = 0.10> -> !psi
  %0 = disco.contract %x, %p : (tensor<?x4x16x32xf32>, !psi) -> tensor<?x4x9x8x16xf32>
  %1 = disco.contract %x, %q : (tensor<?x4x16x32xf32>, !psi) -> tensor<?x4x9x8x16xf32>
  return %0, %1 : tensor<?x4x9x8x16xf32>, tensor<?x4x9x8x16xf32>
}

// Filters that differ in one option only stay apart.
// CSE-LABEL: func @different_filters
// CSE-COUNT-4: disco.filter
func.func @different_filters() -> (!psi, !psi, !psi, !psi) {
  %p = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.1, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 8x16>> -> !psi
  %q = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.1000001, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 8x16>> -> !psi
  %r = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.1, norm = mean, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 8x16>> -> !psi
  %s = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.1, in = #disco.grid<equiangular, 16x32>, out = #disco.grid<lobatto, 8x16>> -> !psi
  return %p, %q, %r, %s : !psi, !psi, !psi, !psi
}

// CSE merges equal adjoints, not those of different operators.
// CSE-LABEL: func @adjoints
// CSE-NEXT: %[[A:.*]] = disco.adjoint
// CSE-NEXT: %[[B:.*]] = disco.adjoint
// CSE-NEXT: return %[[A]], %[[A]], %[[B]]
func.func @adjoints(%p: !psi, %q: !psi) -> (!adj, !adj, !adj) {
  %0 = disco.adjoint %p : !psi
  %1 = disco.adjoint %p : !psi
  %2 = disco.adjoint %q : !psi
  return %0, %1, %2 : !adj, !adj, !adj
}

// No fold evaluates a filter: this one has 4096 features on 2^31 points (its
// values would not fit in any memory) and stays the op that it is.
// CHECK-LABEL: func @huge_filter
// CHECK-NEXT: %[[PSI:.*]] = disco.filter #disco.sphere_filter<harmonic, [64, 64], cutoff = 3.14, norm = nodal, in = #disco.grid<lobatto, 32768x65535>, out = #disco.grid<lobatto, 32768x65535>>
// CHECK-NEXT: disco.contract %{{.*}}, %[[PSI]]
func.func @huge_filter(%x: tensor<1x1x32768x65535xbf16>) -> tensor<1x1x4096x32768x65535xbf16> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [64, 64], cutoff = 3.14, in = #disco.grid<lobatto, 32768x65535>, out = #disco.grid<lobatto, 32768x65535>> -> !disco.psi<sphere, 4096, 32768x65535 -> 32768x65535>
  %adj = disco.adjoint %psi : !disco.psi<sphere, 4096, 32768x65535 -> 32768x65535>
  %back = disco.adjoint %adj : !disco.psi<sphere, 4096, 32768x65535 -> 32768x65535>
  %y = disco.contract %x, %back : (tensor<1x1x32768x65535xbf16>, !disco.psi<sphere, 4096, 32768x65535 -> 32768x65535>) -> tensor<1x1x4096x32768x65535xbf16>
  return %y : tensor<1x1x4096x32768x65535xbf16>
}
