// RUN: disco-opt %s --disco-prepare-entries --split-input-file | FileCheck %s
// RUN: disco-opt %s --disco-prepare-entries=strided --split-input-file | FileCheck %s --check-prefix=STRIDED

// Equal batches have one name (-2), which the result has too; private functions
// stay as they are.

// CHECK-LABEL: func.func @layer(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: memref<?x2x4xf32>,
// CHECK-SAME:    %[[W:[a-z0-9]*]]: memref<2x2x3xf32>,
// CHECK-SAME:    %[[R:[a-z0-9]*]]: memref<?x2x2xf32>,
// CHECK-SAME:    %[[Y:[a-z0-9]*]]: memref<?x2x2xf32>) -> i32
// CHECK-SAME:    disco.entry = {
// CHECK-SAME:      input_dims = [array<i64: [[NAME:-[0-9]+]], 2, 4>, array<i64: 2, 2, 3>, array<i64: [[NAME]], 2, 2>]
// CHECK-SAME:      inputs = [tensor<?x2x4xf32>, tensor<2x2x3xf32>, tensor<?x2x2xf32>]
// CHECK-SAME:      output_dims = [array<i64: [[NAME]], 2, 2>]
// CHECK-SAME:      outputs = [tensor<?x2x2xf32>]
// CHECK-SAME:      plan = "conv: loops, weight_first"
// CHECK-DAG:     bufferization.to_tensor %[[X]] restrict :
// CHECK-DAG:     bufferization.to_tensor %[[W]] restrict :
// CHECK-DAG:     bufferization.to_tensor %[[R]] restrict :
// CHECK:         %[[RESULT:.*]] = disco.conv
// CHECK:         bufferization.materialize_in_destination %[[RESULT]] in restrict writable %[[Y]]
// CHECK:         return %{{.*}} : i32

// STRIDED-LABEL: func.func @layer(
// STRIDED-SAME:    memref<?x2x4xf32, strided<[?, ?, ?], offset: ?>>,
// STRIDED-SAME:    memref<2x2x3xf32, strided<[?, ?, ?], offset: ?>>,
// STRIDED-SAME:    memref<?x2x2xf32, strided<[?, ?, ?], offset: ?>>,
// STRIDED-SAME:    memref<?x2x2xf32, strided<[?, ?, ?], offset: ?>>) -> i32
// STRIDED-SAME:    strided}
// STRIDED-LABEL: func.func @layer_output_shapes(
// STRIDED-SAME:    memref<?x2x4xf32, strided<[?, ?, ?], offset: ?>>,

// CHECK-LABEL: func.func private @other(%{{.*}}: tensor<4xf32>)

// CHECK-LABEL: func.func @layer_output_shapes(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: memref<?x2x4xf32>,
// CHECK-SAME:    {{.*}}%[[DIMS:[a-z0-9]*]]: memref<3xi64>)
// CHECK-NOT:     disco
// CHECK:         memref.dim %[[X]]
// CHECK-COUNT-3: memref.store {{.*}}, %[[DIMS]]
// CHECK-NEXT:    return
func.func @layer(%x: tensor<?x2x4xf32>, %w: tensor<2x2x3xf32>, %r: tensor<?x2x2xf32>) -> tensor<?x2x2xf32> {
  %o = arith.constant dense<[0, 1, 1]> : tensor<3xi32>
  %i = arith.constant dense<[3]> : tensor<1xi32>
  %v = arith.constant dense<1.0> : tensor<1x3xf32>
  %psi = disco.assemble csr(%o, %i, %v) : (tensor<3xi32>, tensor<1xi32>, tensor<1x3xf32>) -> !disco.psi<csr, 3, 4 -> 2>
  %y = disco.conv %x, %psi, %w residual %r plan <loops, order = weight_first> : (tensor<?x2x4xf32>, !disco.psi<csr, 3, 4 -> 2>, tensor<2x2x3xf32>, tensor<?x2x2xf32>) -> tensor<?x2x2xf32>
  return %y : tensor<?x2x2xf32>
}

func.func private @other(%x: tensor<4xf32>) {
  return
}

// -----

// A size that is arithmetic is computed.

// CHECK-LABEL: func.func @twice(
// CHECK-SAME:      input_dims = [array<i64: -2>]
// CHECK-SAME:      output_dims = [array<i64: -1>]
// CHECK-LABEL: func.func @twice_output_shapes(
// CHECK-COUNT-2: memref.dim
// CHECK:         affine.apply
func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = tensor.concat dim(0) %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// An input that has to agree with a constant is that constant.

// CHECK-LABEL: func.func @fixed(
// CHECK-SAME:      input_dims = [array<i64: 4>]
func.func @fixed(%x: tensor<?xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
