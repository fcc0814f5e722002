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

// -----

// Only a run knows how much workspace kernels want: two that are not alive
// together share a slot as large as the larger one. A refusal is told apart
// from a size that is too large.

// CHECK-LABEL: func.func @kernels(
// CHECK-SAME:    %[[WS:[a-z0-9]*]]: memref<?xi8>) -> i32
// CHECK-DAG:     %[[FIRST:.*]] = disco.kernel_workspace <{{.*}}channel_block = 2{{.*}}> batch
// CHECK-DAG:     %[[SECOND:.*]] = disco.kernel_workspace <{{.*}}channel_block = 4{{.*}}> batch
// CHECK-DAG:     memref.view %[[WS]][%[[AT:.*]]][%[[FIRST]]] : memref<?xi8> to memref<?xi8>
// CHECK-DAG:     memref.view %[[WS]][%[[AT]]][%[[SECOND]]] : memref<?xi8> to memref<?xi8>
// CHECK-LABEL: func.func @kernels_workspace_bytes(
// CHECK-DAG:     %[[REFUSED:.*]] = arith.constant -2 : i64
// CHECK-DAG:     disco.kernel_workspace
// CHECK-DAG:     disco.kernel_workspace
// CHECK:         arith.maxsi
// CHECK:         %[[BYTES:.*]] = arith.select %{{.*}}, %[[REFUSED]], %{{.*}} : i64
// CHECK-NEXT:    return %[[BYTES]] : i64
#first = #disco.kernel_call<kind = conv, dtype = f32, parameterType = f32, channels = 4, outChannels = 4, storage = <arcs, !disco.psi<sphere, 1, 2x4 -> 2x4>>, indexType = i32, valueType = f32, numArcs = 1, numTaps = 1, plan = <cpu_gather, schedule = {tile = 16, channel_block = 2}>>
#second = #disco.kernel_call<kind = conv, dtype = f32, parameterType = f32, channels = 4, outChannels = 4, storage = <arcs, !disco.psi<sphere, 1, 2x4 -> 2x4>>, indexType = i32, valueType = f32, numArcs = 1, numTaps = 1, plan = <cpu_gather, schedule = {tile = 16, channel_block = 4}>>
func.func @kernels(%x: memref<?x4x2x4xf32>, %w: memref<4x4x1xf32>, %o: memref<3xi32>, %a: memref<1x4xi32>, %v: memref<1x1xf32>, %y: memref<?x4x2x4xf32>) -> i32 attributes {disco.entry = {inputs = [tensor<?x4x2x4xf32>, tensor<4x4x1xf32>, tensor<3xi32>, tensor<1x4xi32>, tensor<1x1xf32>]}} {
  %c0 = arith.constant 0 : index
  %ok = arith.constant 0 : i32
  %n = memref.dim %x, %c0 : memref<?x4x2x4xf32>
  %t = memref.alloc(%n) : memref<?x4x2x4xf32>
  %b = disco.kernel_workspace #first batch %n
  %s = memref.alloc(%b) : memref<?xi8>
  disco.kernel_call #first ins(%x psi(%o, %a, %v) weight(%w)) outs(%t, %s) : (memref<?x4x2x4xf32>, memref<3xi32>, memref<1x4xi32>, memref<1x1xf32>, memref<4x4x1xf32>, memref<?x4x2x4xf32>, memref<?xi8>) -> ()
  %b2 = disco.kernel_workspace #second batch %n
  %s2 = memref.alloc(%b2) : memref<?xi8>
  disco.kernel_call #second ins(%t psi(%o, %a, %v) weight(%w)) outs(%y, %s2) : (memref<?x4x2x4xf32>, memref<3xi32>, memref<1x4xi32>, memref<1x1xf32>, memref<4x4x1xf32>, memref<?x4x2x4xf32>, memref<?xi8>) -> ()
  return %ok : i32
}
