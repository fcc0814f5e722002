// RUN: disco-opt %s --disco-instrument --mlir-print-local-scope | FileCheck %s

// The text describes the stored operator: that of an adjoint has input and
// output swapped.

// CHECK:       module attributes {disco.probes = [
// CHECK-SAME:    {attributes = "kind=conv groups=2 activation=silu order=weight_first bias=1 residual=0 form=csr k=3 in=4 out=2 family=loops", location = "{{[^"]*}}instrument.mlir:[[# @LINE + 13]]:8", op = "disco.conv", operands = 6 : i32, results = 1 : i32},
// CHECK-SAME:    {attributes = "kind=contract_sum form=onehot k=3 in=2 out=4 degree=5 adjoint=1 family=loops", location = "{{[^"]*}}instrument.mlir:[[# @LINE + 15]]:8", op = "disco.contract_sum", operands = 3 : i32, results = 1 : i32}]}
// CHECK-LABEL: func.func @f(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<1x2x4xf32>, %[[O:[a-z0-9]*]]: {{.*}}, %[[I:[a-z0-9]*]]: {{.*}}, %[[V:[a-z0-9]*]]: {{.*}}, %[[W:[a-z0-9]*]]: {{.*}}, %[[B:[a-z0-9]*]]: {{.*}}, %[[Z:[a-z0-9]*]]: {{.*}}, %[[T:[a-z0-9]*]]: {{.*}}, %[[N:[a-z0-9]*]]: tensor<4x5xi32>)
// CHECK-NEXT:    disco.probe_begin 0
// CHECK-NEXT:    disco.probe_operand 0, 0, %[[X]]
// CHECK-NEXT:    disco.probe_operand 0, 1, %[[O]]
// CHECK-NEXT:    disco.probe_operand 0, 2, %[[I]]
// CHECK-NEXT:    disco.probe_operand 0, 3, %[[V]]
// CHECK-NEXT:    disco.probe_operand 0, 4, %[[W]]
// CHECK-NEXT:    disco.probe_operand 0, 5, %[[B]]
func.func @f(%x: tensor<1x2x4xf32>, %o: tensor<3xi32>, %i: tensor<?xi32>, %v: tensor<?x3xf32>, %w: tensor<4x1x3xf32>, %b: tensor<4xf32>, %z: tensor<1x2x3x4xf32>, %t: tensor<4x5xi32>, %n: tensor<4x5xi32>) -> (tensor<1x4x2xf32>, tensor<1x2x2xf32>) {
  // CHECK-NEXT: %[[Y:.*]] = disco.conv
  %y = disco.conv %x, (%o, %i, %v), %w bias %b groups 2 activation silu storage <csr, !disco.psi<csr, 3, 4 -> 2>> plan <loops, order = weight_first> : (tensor<1x2x4xf32>, tensor<3xi32>, tensor<?xi32>, tensor<?x3xf32>, tensor<4x1x3xf32>, tensor<4xf32>) -> tensor<1x4x2xf32>
  // CHECK-NEXT: disco.probe_operand 0, 6, %[[Y]]
  // CHECK-NEXT: disco.probe_end 0
  %s = disco.contract_sum %z, (%t, %n) storage <onehot, !disco.psi<table<5>, 3, 4 -> 2>, adjoint> : (tensor<1x2x3x4xf32>, tensor<4x5xi32>, tensor<4x5xi32>) -> tensor<1x2x2xf32>
  return %y, %s : tensor<1x4x2xf32>, tensor<1x2x2xf32>
}
