// RUN: disco-opt %s | disco-opt | FileCheck %s
// RUN: disco-opt %s --emit-bytecode | disco-opt | FileCheck %s
// RUN: disco-opt %s --canonicalize --cse | FileCheck %s

// Probes stay, in their order, whatever nothing uses.

// CHECK-LABEL: func.func @probes(
// CHECK-NEXT:    disco.probe_begin 7
// CHECK-NEXT:    disco.probe_operand 7, 0, %{{.*}} : tensor<?x4xf32>
// CHECK-NEXT:    disco.probe_operand 7, 1, %{{.*}} : memref<4xi32>
// CHECK-NEXT:    disco.probe_end 7
// CHECK-NEXT:    return
func.func @probes(%x: tensor<?x4xf32>, %m: memref<4xi32>) {
  disco.probe_begin 7
  disco.probe_operand 7, 0, %x : tensor<?x4xf32>
  disco.probe_operand 7, 1, %m : memref<4xi32>
  disco.probe_end 7
  return
}
