// RUN: disco-opt %s --disco-plan-workspace --canonicalize --cse --split-input-file | FileCheck %s

// %a and %c are never alive together and share a slot; %b is alive with both.

// CHECK-LABEL: func.func @reuse(
// CHECK-SAME:    %[[X:.*]]: memref<?x4xf32>, %[[Y:.*]]: memref<?x4xf32>, %[[WS:.*]]: memref<?xi8>)
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[N:.*]] = memref.dim %[[X]], %[[C0]]
// CHECK-DAG:     %[[FIRST:.*]] = memref.view %[[WS]][%[[C0]]][%[[N]]] : memref<?xi8> to memref<?x16xf32>
// CHECK-DAG:     %[[SECOND:.*]] = memref.view %[[WS]][%[[C0]]][%[[N]]] : memref<?xi8> to memref<?x4xf32>
// CHECK-DAG:     %[[OTHER:.*]] = memref.view %[[WS]][%{{.*}}][%[[N]]] : memref<?xi8> to memref<?x8xf32>
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.dealloc

// CHECK-LABEL: func.func @reuse_workspace_bytes(
// CHECK-SAME:    %[[X:.*]]: memref<?x4xf32>) -> i64
// CHECK:         memref.dim %[[X]]
// CHECK:         arith.mulsi_extended
// CHECK:         %[[BYTES:.*]] = arith.select
// CHECK:         return %[[BYTES]] : i64
func.func @reuse(%x: memref<?x4xf32>, %y: memref<?x4xf32>) attributes {disco.entry = {inputs = [tensor<?x4xf32>]}} {
  %c0 = arith.constant 0 : index
  %f = arith.constant 1.0 : f32
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %a = memref.alloc(%n) : memref<?x16xf32>
  linalg.fill ins(%f : f32) outs(%a : memref<?x16xf32>)
  %b = memref.alloc(%n) : memref<?x8xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1 + 8)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<?x16xf32>) outs(%b : memref<?x8xf32>) {
  ^bb0(%i: f32, %o: f32):
    linalg.yield %i : f32
  }
  memref.dealloc %a : memref<?x16xf32>
  %c = memref.alloc(%n) : memref<?x4xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1 + 4)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%b : memref<?x8xf32>) outs(%c : memref<?x4xf32>) {
  ^bb0(%i: f32, %o: f32):
    linalg.yield %i : f32
  }
  memref.copy %c, %y : memref<?x4xf32> to memref<?x4xf32>
  return
}

// -----

// A buffer of a loop is hoisted, and lives as long as the loop.

// CHECK-LABEL: func.func @loop(
// CHECK:         memref.view
// CHECK:         memref.view
// CHECK:         scf.for
// CHECK-NOT:     memref.alloc
// 64 bytes of %a, alive in the loop, and 64 of the buffer in it.
// CHECK-LABEL: func.func @loop_workspace_bytes
// CHECK:         %[[BYTES:.*]] = arith.constant 128 : i64
// CHECK:         return %[[BYTES]] : i64
func.func @loop(%x: memref<4xf32>, %y: memref<4xf32>) attributes {disco.entry = {inputs = [tensor<4xf32>]}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %t = memref.alloc() : memref<4xf32>
    memref.copy %a, %t : memref<4xf32> to memref<4xf32>
    memref.copy %t, %y : memref<4xf32> to memref<4xf32>
  }
  return
}

// -----

// Views keep a buffer alive.

// CHECK-LABEL: func.func @alias_workspace_bytes
// CHECK:         %[[BYTES:.*]] = arith.constant 128 : i64
// CHECK:         return %[[BYTES]] : i64
func.func @alias(%x: memref<4xf32>, %y: memref<4xf32>) attributes {disco.entry = {inputs = [tensor<4xf32>]}} {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %view = memref.subview %a[0] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1]>>
  %b = memref.alloc() : memref<4xf32>
  memref.copy %x, %b : memref<4xf32> to memref<4xf32>
  %out = memref.subview %y[0] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1]>>
  memref.copy %view, %out : memref<2xf32, strided<[1]>> to memref<2xf32, strided<[1]>>
  memref.copy %b, %y : memref<4xf32> to memref<4xf32>
  return
}

// -----

// CHECK-LABEL: func.func @nothing_workspace_bytes
// CHECK:         %[[BYTES:.*]] = arith.constant 0 : i64
// CHECK:         return %[[BYTES]] : i64
func.func @nothing(%x: memref<4xf32>) attributes {disco.entry = {inputs = [tensor<4xf32>]}} {
  return
}
