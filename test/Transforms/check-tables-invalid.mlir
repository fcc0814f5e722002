// RUN: disco-opt %s --disco-prepare-entries --disco-check-tables --split-input-file --verify-diagnostics

// An index that nothing has checked would read memory of others.
func.func @computed_index(%x: tensor<1x1x4xf32>, %i: tensor<2x2xi32>) -> tensor<1x1x1x2xf32> {
  %v = arith.constant dense<1.0> : tensor<2x2x1xf32>
  %j = arith.extsi %i : tensor<2x2xi32> to tensor<2x2xi64>
  // expected-error@below {{'disco.assemble' op expected index table 0 to be a constant or an argument of the entry, whose elements can be checked, but got a result of 'arith.extsi'}}
  %psi = disco.assemble knn(%j, %v) : (tensor<2x2xi64>, tensor<2x2x1xf32>) -> !disco.psi<table<2>, 1, 4 -> 2>
  %z = disco.contract %x, %psi : (tensor<1x1x4xf32>, !disco.psi<table<2>, 1, 4 -> 2>) -> tensor<1x1x1x2xf32>
  return %z : tensor<1x1x1x2xf32>
}

// -----

func.func @reshaped_index(%x: tensor<1x1x4xf32>, %i: tensor<4xi32>) -> tensor<1x1x1x2xf32> {
  %v = arith.constant dense<1.0> : tensor<2x2x1xf32>
  %j = tensor.expand_shape %i [[0, 1]] output_shape [2, 2] : tensor<4xi32> into tensor<2x2xi32>
  // expected-error@below {{'disco.assemble' op expected index table 0 to be a constant or an argument of the entry, whose elements can be checked, but got a result of 'tensor.expand_shape'}}
  %psi = disco.assemble knn(%j, %v) : (tensor<2x2xi32>, tensor<2x2x1xf32>) -> !disco.psi<table<2>, 1, 4 -> 2>
  %z = disco.contract %x, %psi : (tensor<1x1x4xf32>, !disco.psi<table<2>, 1, 4 -> 2>) -> tensor<1x1x1x2xf32>
  return %z : tensor<1x1x1x2xf32>
}

// -----

func.func @half_constant_csr(%x: tensor<1x1x4xf32>, %c: tensor<?xi32>, %v: tensor<?x1xf32>) -> tensor<1x1x1x2xf32> {
  %r = arith.constant dense<[0, 1, 9]> : tensor<3xi32>
  // expected-error@below {{'disco.assemble' op expected row offsets and columns to be both constants or both arguments of the entry, but got one of each}}
  %psi = disco.assemble csr(%r, %c, %v) : (tensor<3xi32>, tensor<?xi32>, tensor<?x1xf32>) -> !disco.psi<csr, 1, 4 -> 2>
  %z = disco.contract %x, %psi : (tensor<1x1x4xf32>, !disco.psi<csr, 1, 4 -> 2>) -> tensor<1x1x1x2xf32>
  return %z : tensor<1x1x1x2xf32>
}
