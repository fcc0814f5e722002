// RUN: disco-opt %s --one-shot-bufferize="bufferize-function-boundaries" --convert-to-llvm --reconcile-unrealized-casts | FileCheck %s

// The descriptor is in the entry block; dtype 3 is bf16.

// CHECK-DAG:   llvm.func @disco_probe_begin(i64)
// CHECK-DAG:   llvm.func @disco_probe_operand(i64, i32, i32, i64, !llvm.ptr)
// CHECK-DAG:   llvm.func @disco_probe_end(i64)
// CHECK-LABEL: llvm.func @probes(
// CHECK:         %[[SLOT:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
// CHECK:         llvm.call @disco_probe_begin(%{{.*}}) : (i64) -> ()
// CHECK:         llvm.store %{{.*}}, %[[SLOT]]
// CHECK-DAG:     %[[INDEX:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG:     %[[DTYPE:.*]] = llvm.mlir.constant(3 : i32)
// CHECK-DAG:     %[[RANK:.*]] = llvm.mlir.constant(2 : i64)
// CHECK:         llvm.call @disco_probe_operand(%{{.*}}, %[[INDEX]], %[[DTYPE]], %[[RANK]], %[[SLOT]])
// CHECK:         llvm.call @disco_probe_end(%{{.*}}) : (i64) -> ()
func.func @probes(%x: tensor<?x4xbf16>) {
  disco.probe_begin 2
  disco.probe_operand 2, 0, %x : tensor<?x4xbf16>
  disco.probe_end 2
  return
}
