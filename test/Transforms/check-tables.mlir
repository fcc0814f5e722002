// RUN: disco-opt %s --disco-prepare-entries --disco-check-tables | FileCheck %s

// Tables that are arguments are checked, constants are not.

// CHECK-LABEL: func.func @tables(
// CHECK-SAME:    checks = ["expected index %lld of input 1 to be in [0, 5), but got %lld", "expected bin %lld of input 2 to be in [0, 3), but got %lld"]
// CHECK-LABEL: func.func @tables_check_tables(
// CHECK-SAME:    %[[X:.*]]: memref<1x1x4xf32>, %[[I:.*]]: memref<2x2xi32>, %[[B:.*]]: memref<2x2xi64>, %[[RESULT:.*]]: memref<3xi64>)
// CHECK:         memref.load %[[I]]
// CHECK:         memref.load %[[B]]
// CHECK-COUNT-3: memref.store {{.*}}, %[[RESULT]]
func.func @tables(%x: tensor<1x1x4xf32>, %i: tensor<2x2xi32>, %b: tensor<2x2xi64>) -> tensor<1x1x3x2xf32> {
  %psi = disco.assemble knn_onehot(%i, %b) : (tensor<2x2xi32>, tensor<2x2xi64>) -> !disco.psi<table<2>, 3, 4 -> 2>
  %z = disco.contract %x, %psi : (tensor<1x1x4xf32>, !disco.psi<table<2>, 3, 4 -> 2>) -> tensor<1x1x3x2xf32>
  return %z : tensor<1x1x3x2xf32>
}

// CHECK-LABEL: func.func @constants(
// CHECK-NOT:     checks
// CHECK-NOT:     @constants_check_tables
func.func @constants(%x: tensor<1x1x4xf32>) -> tensor<1x1x3x2xf32> {
  %i = arith.constant dense<1> : tensor<2x2xi32>
  %psi = disco.assemble knn_onehot(%i, %i) : (tensor<2x2xi32>, tensor<2x2xi32>) -> !disco.psi<table<2>, 3, 4 -> 2>
  %z = disco.contract %x, %psi : (tensor<1x1x4xf32>, !disco.psi<table<2>, 3, 4 -> 2>) -> tensor<1x1x3x2xf32>
  return %z : tensor<1x1x3x2xf32>
}
