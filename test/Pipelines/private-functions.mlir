// RUN: disco-opt %s --disco-cpu-pipeline -o - | FileCheck %s

// A psi may pass between functions as long as these are private: they are
// inlined before filters are evaluated.

// CHECK-NOT:   @helper
// CHECK:       llvm.func @entry(
// CHECK-NOT:   @helper
// CHECK:       llvm.func @entry_workspace_bytes(
func.func private @helper(%x: tensor<1x1x4xf32>, %psi: !disco.psi<csr, 3, 4 -> 2>) -> tensor<1x1x3x2xf32> {
  %z = disco.contract %x, %psi : (tensor<1x1x4xf32>, !disco.psi<csr, 3, 4 -> 2>) -> tensor<1x1x3x2xf32>
  return %z : tensor<1x1x3x2xf32>
}
func.func @entry(%x: tensor<1x1x4xf32>, %o: tensor<3xi32>, %i: tensor<2xi32>, %v: tensor<2x3xf32>) -> tensor<1x1x3x2xf32> {
  %psi = disco.assemble csr(%o, %i, %v) : (tensor<3xi32>, tensor<2xi32>, tensor<2x3xf32>) -> !disco.psi<csr, 3, 4 -> 2>
  %z = func.call @helper(%x, %psi) : (tensor<1x1x4xf32>, !disco.psi<csr, 3, 4 -> 2>) -> tensor<1x1x3x2xf32>
  return %z : tensor<1x1x3x2xf32>
}
