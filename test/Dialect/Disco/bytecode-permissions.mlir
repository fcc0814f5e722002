// The stored file was written by version 2 of the dialect's bytecode, the first
// that has permissions; it must read as this module for ever:
//   disco-opt bytecode-permissions.mlir -strip-debuginfo --emit-bytecode
// RUN: disco-opt %s > %t.text.mlir
// RUN: disco-opt %S/Inputs/version-2.mlirbc > %t.read.mlir
// RUN: diff %t.text.mlir %t.read.mlir
// RUN: FileCheck %s --input-file=%t.read.mlir

// CHECK: disco.conv {{.*}} precision tf32
// CHECK: disco.conv_weight_grad {{.*}} precision bf16x3 deterministic = false
func.func @layer(%x: tensor<?x4x16x32xf32>, %gy: tensor<?x6x16x32xf32>, %w: tensor<6x4x9xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<6x4x9xf32> {
  %y = disco.conv %x, %psi, %w precision tf32 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  %gw = disco.conv_weight_grad %x, %gy, %psi precision bf16x3 deterministic = false : (tensor<?x4x16x32xf32>, tensor<?x6x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<6x4x9xf32>
  return %gw : tensor<6x4x9xf32>
}
