// RUN: disco-opt %s --disco-materialize-filters --split-input-file --verify-diagnostics

func.func @block_argument(%x: tensor<1x2x4xf32>, %psi: !disco.psi<csr, 3, 4 -> 2>) -> tensor<1x2x3x2xf32> {
  // expected-error@below {{'disco.contract' op expected psi to be the result of disco.filter, disco.assemble or disco.adjoint, but got a block argument}}
  %z = disco.contract %x, %psi : (tensor<1x2x4xf32>, !disco.psi<csr, 3, 4 -> 2>) -> tensor<1x2x3x2xf32>
  return %z : tensor<1x2x3x2xf32>
}

// -----

func.func @control_flow(%x: tensor<1x2x4xf32>, %c: i1, %o: tensor<3xi32>, %i: tensor<2xi32>, %v: tensor<2x3xf32>) -> tensor<1x2x3x2xf32> {
  %a = disco.assemble csr(%o, %i, %v) : (tensor<3xi32>, tensor<2xi32>, tensor<2x3xf32>) -> !disco.psi<csr, 3, 4 -> 2>
  %b = disco.assemble csr(%o, %i, %v) : (tensor<3xi32>, tensor<2xi32>, tensor<2x3xf32>) -> !disco.psi<csr, 3, 4 -> 2>
  %psi = arith.select %c, %a, %b : !disco.psi<csr, 3, 4 -> 2>
  // expected-error@below {{'disco.contract' op expected psi to be the result of disco.filter, disco.assemble or disco.adjoint, but got a result of 'arith.select'}}
  %z = disco.contract %x, %psi : (tensor<1x2x4xf32>, !disco.psi<csr, 3, 4 -> 2>) -> tensor<1x2x3x2xf32>
  return %z : tensor<1x2x3x2xf32>
}

// -----

// expected-error@below {{'func.func' op expected a function to have no psi among its arguments and results, but got '!disco.psi<csr, 3, 4 -> 2>'}}
func.func @unused_argument(%psi: !disco.psi<csr, 3, 4 -> 2>) {
  return
}

// -----

func.func @left_over(%c: i1, %o: tensor<3xi32>, %i: tensor<2xi32>, %v: tensor<2x3xf32>) {
  %a = disco.assemble csr(%o, %i, %v) : (tensor<3xi32>, tensor<2xi32>, tensor<2x3xf32>) -> !disco.psi<csr, 3, 4 -> 2>
  // expected-error@below {{'arith.select' op expected psi to be used by disco operations only, but got an operand '!disco.psi<csr, 3, 4 -> 2>'}}
  %psi = arith.select %c, %a, %a : !disco.psi<csr, 3, 4 -> 2>
  return
}

// -----

func.func @sphere_not_constant(%x: tensor<1x1x2x4xf32>, %k: tensor<1xi32>, %r: tensor<1xi32>, %c: tensor<1xi64>, %v: tensor<1xf64>) -> tensor<1x1x1x2x2xf32> {
  // expected-error@below {{'disco.assemble' op expected the tables of a sphere psi to be constants, but got basis index that is not one}}
  %psi = disco.assemble coo(%k, %r, %c, %v) : (tensor<1xi32>, tensor<1xi32>, tensor<1xi64>, tensor<1xf64>) -> !disco.psi<sphere, 1, 2x4 -> 2x2>
  %z = disco.contract %x, %psi : (tensor<1x1x2x4xf32>, !disco.psi<sphere, 1, 2x4 -> 2x2>) -> tensor<1x1x1x2x2xf32>
  return %z : tensor<1x1x1x2x2xf32>
}

// -----

func.func @sphere_basis_range(%x: tensor<1x1x2x4xf32>) -> tensor<1x1x1x2x2xf32> {
  %k = arith.constant dense<[0, 1]> : tensor<2xi32>
  %r = arith.constant dense<[0, 1]> : tensor<2xi32>
  %c = arith.constant dense<[0, 7]> : tensor<2xi64>
  %v = arith.constant dense<1.0> : tensor<2xf64>
  // expected-error@below {{'disco.assemble' op expected basis index 1 to be in [0, 1), but got 1}}
  %psi = disco.assemble coo(%k, %r, %c, %v) : (tensor<2xi32>, tensor<2xi32>, tensor<2xi64>, tensor<2xf64>) -> !disco.psi<sphere, 1, 2x4 -> 2x2>
  %z = disco.contract %x, %psi : (tensor<1x1x2x4xf32>, !disco.psi<sphere, 1, 2x4 -> 2x2>) -> tensor<1x1x1x2x2xf32>
  return %z : tensor<1x1x1x2x2xf32>
}

// -----

func.func @sphere_row_range(%x: tensor<1x1x2x4xf32>) -> tensor<1x1x1x2x2xf32> {
  %k = arith.constant dense<[0, 0]> : tensor<2xi32>
  %r = arith.constant dense<[0, -1]> : tensor<2xi32>
  %c = arith.constant dense<[0, 7]> : tensor<2xi64>
  %v = arith.constant dense<1.0> : tensor<2xf64>
  // expected-error@below {{'disco.assemble' op expected row 1 to be in [0, 2), but got -1}}
  %psi = disco.assemble coo(%k, %r, %c, %v) : (tensor<2xi32>, tensor<2xi32>, tensor<2xi64>, tensor<2xf64>) -> !disco.psi<sphere, 1, 2x4 -> 2x2>
  %z = disco.contract %x, %psi : (tensor<1x1x2x4xf32>, !disco.psi<sphere, 1, 2x4 -> 2x2>) -> tensor<1x1x1x2x2xf32>
  return %z : tensor<1x1x1x2x2xf32>
}

// -----

func.func @sphere_column_range(%x: tensor<1x1x2x4xf32>) -> tensor<1x1x1x2x2xf32> {
  %k = arith.constant dense<[0, 0]> : tensor<2xi32>
  %r = arith.constant dense<[0, 1]> : tensor<2xi32>
  %c = arith.constant dense<[0, 8]> : tensor<2xi64>
  %v = arith.constant dense<1.0> : tensor<2xf64>
  // expected-error@below {{'disco.assemble' op expected column 1 to be in [0, 8), but got 8}}
  %psi = disco.assemble coo(%k, %r, %c, %v) : (tensor<2xi32>, tensor<2xi32>, tensor<2xi64>, tensor<2xf64>) -> !disco.psi<sphere, 1, 2x4 -> 2x2>
  %z = disco.contract %x, %psi : (tensor<1x1x2x4xf32>, !disco.psi<sphere, 1, 2x4 -> 2x2>) -> tensor<1x1x1x2x2xf32>
  return %z : tensor<1x1x1x2x2xf32>
}

// -----

func.func @packed_count(%x: tensor<1x1x2x4xf32>) -> tensor<1x1x1x2x2xf32> {
  %i = arith.constant dense<0> : tensor<2x3x2xi32>
  %v = arith.constant dense<1.0> : tensor<2x3x8xf32>
  %n = arith.constant dense<[1, 4]> : tensor<2xi32>
  // expected-error@below {{'disco.assemble' op expected count 1 to be in [0, 4), but got 4}}
  %psi = disco.assemble kpacked(%i, %v, %n) : (tensor<2x3x2xi32>, tensor<2x3x8xf32>, tensor<2xi32>) -> !disco.psi<sphere, 1, 2x4 -> 2x2>
  %z = disco.contract %x, %psi : (tensor<1x1x2x4xf32>, !disco.psi<sphere, 1, 2x4 -> 2x2>) -> tensor<1x1x1x2x2xf32>
  return %z : tensor<1x1x1x2x2xf32>
}

// -----

func.func @packed_latitude(%x: tensor<1x1x2x4xf32>) -> tensor<1x1x1x2x2xf32> {
  %i = arith.constant dense<[[[0, 0]], [[2, 0]]]> : tensor<2x1x2xi32>
  %v = arith.constant dense<1.0> : tensor<2x1x1xf32>
  %n = arith.constant dense<[1, 1]> : tensor<2xi32>
  // expected-error@below {{'disco.assemble' op expected latitude 1 to be in [0, 2), but got 2}}
  %psi = disco.assemble kpacked(%i, %v, %n) : (tensor<2x1x2xi32>, tensor<2x1x1xf32>, tensor<2xi32>) -> !disco.psi<sphere, 1, 2x4 -> 2x2>
  %z = disco.contract %x, %psi : (tensor<1x1x2x4xf32>, !disco.psi<sphere, 1, 2x4 -> 2x2>) -> tensor<1x1x1x2x2xf32>
  return %z : tensor<1x1x1x2x2xf32>
}

// -----

func.func @packed_longitude(%x: tensor<1x1x2x4xf32>) -> tensor<1x1x1x2x2xf32> {
  %i = arith.constant dense<[[[0, 0]], [[1, 4]]]> : tensor<2x1x2xi32>
  %v = arith.constant dense<1.0> : tensor<2x1x1xf32>
  %n = arith.constant dense<[1, 1]> : tensor<2xi32>
  // expected-error@below {{'disco.assemble' op expected longitude 1 to be in [0, 4), but got 4}}
  %psi = disco.assemble kpacked(%i, %v, %n) : (tensor<2x1x2xi32>, tensor<2x1x1xf32>, tensor<2xi32>) -> !disco.psi<sphere, 1, 2x4 -> 2x2>
  %z = disco.contract %x, %psi : (tensor<1x1x2x4xf32>, !disco.psi<sphere, 1, 2x4 -> 2x2>) -> tensor<1x1x1x2x2xf32>
  return %z : tensor<1x1x1x2x2xf32>
}

// -----

func.func @csr_offsets_start(%x: tensor<1x1x4xf32>, %v: tensor<2x1xf32>) -> tensor<1x1x1x2xf32> {
  %o = arith.constant dense<[1, 1, 2]> : tensor<3xi32>
  %i = arith.constant dense<[0, 1]> : tensor<2xi32>
  // expected-error@below {{'disco.assemble' op expected row offsets to start at 0, but got 1}}
  %psi = disco.assemble csr(%o, %i, %v) : (tensor<3xi32>, tensor<2xi32>, tensor<2x1xf32>) -> !disco.psi<csr, 1, 4 -> 2>
  %z = disco.contract %x, %psi : (tensor<1x1x4xf32>, !disco.psi<csr, 1, 4 -> 2>) -> tensor<1x1x1x2xf32>
  return %z : tensor<1x1x1x2xf32>
}

// -----

func.func @csr_offsets_order(%x: tensor<1x1x4xf32>, %v: tensor<2x1xf32>) -> tensor<1x1x1x2xf32> {
  %o = arith.constant dense<[0, 3, 2]> : tensor<3xi32>
  %i = arith.constant dense<[0, 1]> : tensor<2xi32>
  // expected-error@below {{'disco.assemble' op expected row offset 2 to be at least 3, but got 2}}
  %psi = disco.assemble csr(%o, %i, %v) : (tensor<3xi32>, tensor<2xi32>, tensor<2x1xf32>) -> !disco.psi<csr, 1, 4 -> 2>
  %z = disco.contract %x, %psi : (tensor<1x1x4xf32>, !disco.psi<csr, 1, 4 -> 2>) -> tensor<1x1x1x2xf32>
  return %z : tensor<1x1x1x2xf32>
}

// -----

func.func @csr_offsets_end(%x: tensor<1x1x4xf32>, %v: tensor<2x1xf32>) -> tensor<1x1x1x2xf32> {
  %o = arith.constant dense<[0, 1, 1]> : tensor<3xi32>
  %i = arith.constant dense<[0, 1]> : tensor<2xi32>
  // expected-error@below {{'disco.assemble' op expected the last row offset to be the number of taps 2, but got 1}}
  %psi = disco.assemble csr(%o, %i, %v) : (tensor<3xi32>, tensor<2xi32>, tensor<2x1xf32>) -> !disco.psi<csr, 1, 4 -> 2>
  %z = disco.contract %x, %psi : (tensor<1x1x4xf32>, !disco.psi<csr, 1, 4 -> 2>) -> tensor<1x1x1x2xf32>
  return %z : tensor<1x1x1x2xf32>
}

// -----

func.func @csr_column(%x: tensor<1x1x4xf32>, %v: tensor<2x1xf32>) -> tensor<1x1x1x2xf32> {
  %o = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
  %i = arith.constant dense<[0, 4]> : tensor<2xi32>
  // expected-error@below {{'disco.assemble' op expected column 1 to be in [0, 4), but got 4}}
  %psi = disco.assemble csr(%o, %i, %v) : (tensor<3xi32>, tensor<2xi32>, tensor<2x1xf32>) -> !disco.psi<csr, 1, 4 -> 2>
  %z = disco.contract %x, %psi : (tensor<1x1x4xf32>, !disco.psi<csr, 1, 4 -> 2>) -> tensor<1x1x1x2xf32>
  return %z : tensor<1x1x1x2xf32>
}

// -----

func.func @coo_twice(%x: tensor<1x1x4xf32>) -> tensor<1x1x1x2xf32> {
  %k = arith.constant dense<0> : tensor<2xi32>
  %r = arith.constant dense<1> : tensor<2xi32>
  %c = arith.constant dense<3> : tensor<2xi32>
  %v = arith.constant dense<1.0> : tensor<2xf32>
  // expected-error@below {{'disco.assemble' op expected entries to be unique, but got basis index 0, row 1, column 3 twice}}
  %psi = disco.assemble coo(%k, %r, %c, %v) : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xf32>) -> !disco.psi<csr, 1, 4 -> 2>
  %z = disco.contract %x, %psi : (tensor<1x1x4xf32>, !disco.psi<csr, 1, 4 -> 2>) -> tensor<1x1x1x2xf32>
  return %z : tensor<1x1x1x2xf32>
}

// -----

func.func @coo_not_constant(%x: tensor<1x1x4xf32>, %v: tensor<2xf32>) -> tensor<1x1x1x2xf32> {
  %k = arith.constant dense<0> : tensor<2xi32>
  // expected-error@below {{'disco.assemble' op expected the tables of format coo to be constants, but got one that is not}}
  %psi = disco.assemble coo(%k, %k, %k, %v) : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xf32>) -> !disco.psi<csr, 1, 4 -> 2>
  %z = disco.contract %x, %psi : (tensor<1x1x4xf32>, !disco.psi<csr, 1, 4 -> 2>) -> tensor<1x1x1x2xf32>
  return %z : tensor<1x1x1x2xf32>
}

// -----

func.func @knn_index(%x: tensor<1x1x4xf32>, %v: tensor<2x2x1xf32>) -> tensor<1x1x1x2xf32> {
  %i = arith.constant dense<[[0, 4], [3, 5]]> : tensor<2x2xi32>
  // expected-error@below {{'disco.assemble' op expected index 3 to be in [0, 5), but got 5}}
  %psi = disco.assemble knn(%i, %v) : (tensor<2x2xi32>, tensor<2x2x1xf32>) -> !disco.psi<table<2>, 1, 4 -> 2>
  %z = disco.contract %x, %psi : (tensor<1x1x4xf32>, !disco.psi<table<2>, 1, 4 -> 2>) -> tensor<1x1x1x2xf32>
  return %z : tensor<1x1x1x2xf32>
}

// -----

// The bin of the neighbour that is none may be anything.
func.func @knn_bin(%x: tensor<1x1x4xf32>) -> tensor<1x1x3x2xf32> {
  %i = arith.constant dense<[[0, 4], [3, 2]]> : tensor<2x2xi32>
  %b = arith.constant dense<[[0, 9], [2, 3]]> : tensor<2x2xi32>
  // expected-error@below {{'disco.assemble' op expected bin 3 to be in [0, 3), but got 3}}
  %psi = disco.assemble knn_onehot(%i, %b) : (tensor<2x2xi32>, tensor<2x2xi32>) -> !disco.psi<table<2>, 3, 4 -> 2>
  %z = disco.contract %x, %psi : (tensor<1x1x4xf32>, !disco.psi<table<2>, 3, 4 -> 2>) -> tensor<1x1x3x2xf32>
  return %z : tensor<1x1x3x2xf32>
}
