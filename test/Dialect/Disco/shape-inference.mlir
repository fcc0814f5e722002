// RUN: disco-opt %s -resolve-ranked-shaped-type-result-dims -canonicalize | FileCheck %s

// Sizes of results come from the operands: the batch from the activations, the
// rest is constant, and the op itself is not needed for it.

// CHECK-LABEL: func @contract
// CHECK-SAME: (%[[X:.*]]: tensor<?x4x16x32xf32>, %{{.*}}: !disco.psi
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C9:.*]] = arith.constant 9 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK: %[[B:.*]] = tensor.dim %[[X]], %[[C0]]
// CHECK-NEXT: return %[[B]], %[[C4]], %[[C9]], %[[C8]], %[[C16]]
func.func @contract(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) -> (index, index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %z = disco.contract %x, %psi : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x9x8x16xf32>
  %0 = tensor.dim %z, %c0 : tensor<?x4x9x8x16xf32>
  %1 = tensor.dim %z, %c1 : tensor<?x4x9x8x16xf32>
  %2 = tensor.dim %z, %c2 : tensor<?x4x9x8x16xf32>
  %3 = tensor.dim %z, %c3 : tensor<?x4x9x8x16xf32>
  %4 = tensor.dim %z, %c4 : tensor<?x4x9x8x16xf32>
  return %0, %1, %2, %3, %4 : index, index, index, index, index
}

// CHECK-LABEL: func @contract_sum
// CHECK-SAME: (%[[Z:.*]]: tensor<?x4x3x300xf64>, %{{.*}}: !disco.psi
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[B:.*]] = tensor.dim %[[Z]], %[[C0]]
// CHECK-NEXT: return %[[B]]
func.func @contract_sum(%z: tensor<?x4x3x300xf64>, %psi: !disco.psi<csr, 3, 300 -> 33>) -> index {
  %c0 = arith.constant 0 : index
  %y = disco.contract_sum %z, %psi : (tensor<?x4x3x300xf64>, !disco.psi<csr, 3, 300 -> 33>) -> tensor<?x4x33xf64>
  %0 = tensor.dim %y, %c0 : tensor<?x4x33xf64>
  return %0 : index
}

// Through two layers, the first of them materialised.
// CHECK-LABEL: func @conv_of_conv
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x4x128xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C7:.*]] = arith.constant 7 : index
// CHECK: %[[B:.*]] = tensor.dim %[[X]], %[[C0]]
// CHECK-NEXT: return %[[B]], %[[C7]]
func.func @conv_of_conv(%x: tensor<?x4x128xf32>, %i: tensor<40x5xi32>, %v: tensor<40x5x3xf32>, %w: tensor<6x4x3xf32>,
    %psi: !disco.psi<csr, 2, 40 -> 33>, %u: tensor<7x6x2xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %1 = disco.conv %x, (%i, %v), %w storage <table, !disco.psi<table<5>, 3, 128 -> 40>>
    : (tensor<?x4x128xf32>, tensor<40x5xi32>, tensor<40x5x3xf32>, tensor<6x4x3xf32>) -> tensor<?x6x40xf32>
  %2 = disco.conv %1, %psi, %u : (tensor<?x6x40xf32>, !disco.psi<csr, 2, 40 -> 33>, tensor<7x6x2xf32>) -> tensor<?x7x33xf32>
  %b = tensor.dim %2, %c0 : tensor<?x7x33xf32>
  %o = tensor.dim %2, %c1 : tensor<?x7x33xf32>
  return %b, %o : index, index
}

// A static result of a dynamic batch, and the other way round.
// CHECK-LABEL: func @static_batch
// CHECK: %[[C2:.*]] = arith.constant 2 : index
// CHECK-NEXT: return %[[C2]], %[[C2]]
func.func @static_batch(%x: tensor<?x1x300xf32>, %s: tensor<2x1x300xf32>, %psi: !disco.psi<csr, 2, 300 -> 33>, %u: tensor<7x1x2xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %1 = disco.conv %x, %psi, %u : (tensor<?x1x300xf32>, !disco.psi<csr, 2, 300 -> 33>, tensor<7x1x2xf32>) -> tensor<2x7x33xf32>
  %2 = disco.conv %s, %psi, %u : (tensor<2x1x300xf32>, !disco.psi<csr, 2, 300 -> 33>, tensor<7x1x2xf32>) -> tensor<?x7x33xf32>
  %a = tensor.dim %1, %c0 : tensor<2x7x33xf32>
  %b = tensor.dim %2, %c0 : tensor<?x7x33xf32>
  return %a, %b : index, index
}
