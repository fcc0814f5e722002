// RUN: disco-opt %s --disco-cpu-pipeline | FileCheck %s

// The fill is needed after the product has replaced it, so it is copied to a
// buffer of the output's shape. Its batch is that of the input, which is all
// that the size of the workspace may depend on.

// CHECK: llvm.func @product_and_fill(
// CHECK: llvm.func @product_and_fill_workspace_bytes(
func.func @product_and_fill(%x: tensor<?x4xf32>, %w: tensor<4x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %x, %c0 : tensor<?x4xf32>
  %empty = tensor.empty(%batch) : tensor<?x8xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  %product = linalg.matmul ins(%x, %w : tensor<?x4xf32>, tensor<4x8xf32>) outs(%fill : tensor<?x8xf32>) -> tensor<?x8xf32>
  %relu = arith.maximumf %product, %fill : tensor<?x8xf32>
  return %relu : tensor<?x8xf32>
}
