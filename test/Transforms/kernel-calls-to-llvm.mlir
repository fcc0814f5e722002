// RUN: disco-opt %s --one-shot-bufferize --convert-to-llvm --reconcile-unrealized-casts --split-input-file | FileCheck %s

// The call is a constant that is copied to the stack; the batch and pointers are
// stored into the copy. A failure is raised and ends the function.

// CHECK-DAG:   llvm.mlir.global private constant @disco_call_0("\00\02\00\00{{.*}}") {{{.*}}alignment = 8 : i64}
// CHECK-DAG:   llvm.func @disco_cpu_gather_run(!llvm.ptr, !llvm.ptr, i64) -> i32
// CHECK-DAG:   llvm.func @disco_last_error() -> !llvm.ptr
// CHECK-DAG:   llvm.func @disco_raise(!llvm.ptr)
// CHECK-LABEL: llvm.func @run(
// CHECK:         %[[SLOT:.*]] = llvm.alloca %{{.*}} x !llvm.array<512 x i8> {alignment = 8 : i64}
// CHECK:         %[[CONSTANT:.*]] = llvm.mlir.addressof @disco_call_0
// CHECK:         "llvm.intr.memcpy"(%[[SLOT]], %[[CONSTANT]], %{{.*}})
// CHECK:         %[[BATCH:.*]] = llvm.getelementptr %[[SLOT]][40]
// CHECK:         llvm.store %{{.*}}, %[[BATCH]] : i64, !llvm.ptr
// CHECK:         %[[X:.*]] = llvm.getelementptr %[[SLOT]][{{[0-9]+}}]
// CHECK:         llvm.store %{{.*}}, %[[X]] : !llvm.ptr, !llvm.ptr
// CHECK:         %[[STATUS:.*]] = llvm.call @disco_cpu_gather_run(%[[SLOT]], %{{.*}}, %{{.*}})
// CHECK:         %[[OK:.*]] = llvm.icmp "eq" %[[STATUS]], %{{.*}} : i32
// CHECK:         llvm.cond_br %[[OK]], ^[[FINE:.*]], ^[[FAILED:.*]]
// CHECK:       ^[[FINE]]:
// CHECK:         llvm.return %{{.*}} : i32
// CHECK:       ^[[FAILED]]:
// CHECK:         %[[TEXT:.*]] = llvm.call @disco_last_error()
// CHECK:         llvm.call @disco_raise(%[[TEXT]])
// CHECK:         llvm.return %[[STATUS]] : i32
#call = #disco.kernel_call<kind = contract, dtype = f32, channels = 4, storage = <arcs, !disco.psi<sphere, 1, 2x4 -> 2x4>>, indexType = i32, valueType = f32, numArcs = 1, numTaps = 1, plan = <cpu_gather, schedule = {tile = 16, channel_block = 0}>>
func.func @run(%x: memref<?x4x2x4xf32>, %o: memref<3xi32>, %a: memref<1x4xi32>, %v: memref<1x1xf32>, %y: memref<?x4x1x2x4xf32>, %s: memref<?xi8>) -> i32 {
  disco.kernel_call #call ins(%x psi(%o, %a, %v)) outs(%y, %s) : (memref<?x4x2x4xf32>, memref<3xi32>, memref<1x4xi32>, memref<1x1xf32>, memref<?x4x1x2x4xf32>, memref<?xi8>) -> ()
  %c0 = arith.constant 0 : i32
  return %c0 : i32
}

// -----

// CHECK-LABEL: llvm.func @workspace(
// CHECK-SAME:    %[[N:.*]]: i64, %[[TAPS:.*]]: i64) -> i64
// CHECK:         %[[BYTES:.*]] = llvm.alloca %{{.*}} x i64
// CHECK:         llvm.store %[[N]], %{{.*}} : i64, !llvm.ptr
// CHECK:         llvm.store %[[TAPS]], %{{.*}} : i64, !llvm.ptr
// CHECK:         %[[STATUS:.*]] = llvm.call @disco_cpu_gather_workspace_bytes(%{{.*}}, %[[BYTES]])
// CHECK:         llvm.cond_br %{{.*}}, ^[[FINE:.*]], ^[[FAILED:.*]]
// CHECK:       ^[[FAILED]]:
// CHECK:         llvm.call @disco_raise(
// CHECK:         %[[MINUS:.*]] = llvm.mlir.constant(-1 : i64)
// CHECK:         llvm.br ^[[DONE:.*]](%[[MINUS]] : i64)
// CHECK:       ^[[FINE]]:
// CHECK:         %[[VALUE:.*]] = llvm.load %[[BYTES]] : !llvm.ptr -> i64
// CHECK:         llvm.br ^[[DONE]](%[[VALUE]] : i64)
// CHECK:       ^[[DONE]](%[[RESULT:.*]]: i64):
// CHECK:         llvm.return %[[RESULT]] : i64
#call = #disco.kernel_call<kind = contract, dtype = f32, channels = 4, storage = <csr, !disco.psi<csr, 1, 8 -> 8>>, indexType = i32, valueType = f32, plan = <cpu_gather, schedule = {tile = 16, channel_block = 0}>>
func.func @workspace(%n: index, %t: index) -> index {
  %b = disco.kernel_workspace #call batch %n taps %t
  return %b : index
}

// -----

// Kernels work on dense memory: what is not dense is copied.

// CHECK-LABEL: llvm.func @strided(
// CHECK:         llvm.call @malloc
// CHECK:         llvm.call @memrefCopy
// CHECK:         llvm.call @disco_cpu_gather_run
#call = #disco.kernel_call<kind = contract, dtype = f32, channels = 2, storage = <arcs, !disco.psi<sphere, 1, 2x4 -> 2x4>>, indexType = i32, valueType = f32, numArcs = 1, numTaps = 1, plan = <cpu_gather, schedule = {tile = 16, channel_block = 0}>>
func.func @strided(%m: memref<1x4x2x4xf32, strided<[?, ?, ?, ?], offset: ?>>, %om: memref<3xi32>, %am: memref<1x4xi32>, %vm: memref<1x1xf32>, %sm: memref<64xi8>, %ym: memref<1x4x1x2x4xf32>) -> i32 {
  %x = bufferization.to_tensor %m restrict : memref<1x4x2x4xf32, strided<[?, ?, ?, ?], offset: ?>> to tensor<1x4x2x4xf32>
  %o = bufferization.to_tensor %om restrict : memref<3xi32> to tensor<3xi32>
  %a = bufferization.to_tensor %am restrict : memref<1x4xi32> to tensor<1x4xi32>
  %v = bufferization.to_tensor %vm restrict : memref<1x1xf32> to tensor<1x1xf32>
  %s = bufferization.to_tensor %sm restrict writable : memref<64xi8> to tensor<64xi8>
  %e = tensor.empty() : tensor<1x4x1x2x4xf32>
  %y, %w = disco.kernel_call #call ins(%x psi(%o, %a, %v)) outs(%e, %s) : (tensor<1x4x2x4xf32>, tensor<3xi32>, tensor<1x4xi32>, tensor<1x1xf32>, tensor<1x4x1x2x4xf32>, tensor<64xi8>) -> (tensor<1x4x1x2x4xf32>, tensor<64xi8>)
  bufferization.materialize_in_destination %y in restrict writable %ym : (tensor<1x4x1x2x4xf32>, memref<1x4x1x2x4xf32>) -> ()
  %c0 = arith.constant 0 : i32
  return %c0 : i32
}
