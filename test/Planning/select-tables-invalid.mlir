// RUN: disco-opt %s --split-input-file --verify-diagnostics --disco-select-kernel

// Constant tables of materialised operations are checked before they are counted.

func.func @latitude(%x: tensor<1x2x4x8xf32>) -> tensor<1x2x1x4x8xf32> {
  %o = arith.constant dense<[0, 2, 2, 2, 2]> : tensor<5xi32>
  %a = arith.constant dense<[[4, 6, 5, 0], [3, 7, 8, 0]]> : tensor<2x4xi32>
  %v = arith.constant dense<1.0> : tensor<8x1xf32>
  // expected-error @below {{'disco.contract' op expected the latitude of arc 0 of psi to be in [0, 3], but got 4}}
  %z = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 1, 4x8 -> 4x8>> : (tensor<1x2x4x8xf32>, tensor<5xi32>, tensor<2x4xi32>, tensor<8x1xf32>) -> tensor<1x2x1x4x8xf32>
  return %z : tensor<1x2x1x4x8xf32>
}

// -----

func.func @longitude(%x: tensor<1x2x4x8xf32>) -> tensor<1x2x1x4x8xf32> {
  %o = arith.constant dense<[0, 2, 2, 2, 2]> : tensor<5xi32>
  %a = arith.constant dense<[[3, -1, 5, 0], [3, 7, 8, 0]]> : tensor<2x4xi32>
  %v = arith.constant dense<1.0> : tensor<8x1xf32>
  // expected-error @below {{'disco.contract' op expected the longitude of arc 0 of psi to be in [0, 7], but got -1}}
  %z = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 1, 4x8 -> 4x8>> : (tensor<1x2x4x8xf32>, tensor<5xi32>, tensor<2x4xi32>, tensor<8x1xf32>) -> tensor<1x2x1x4x8xf32>
  return %z : tensor<1x2x1x4x8xf32>
}

// -----

func.func @length(%x: tensor<1x2x4x8xf32>) -> tensor<1x2x1x4x8xf32> {
  %o = arith.constant dense<[0, 2, 2, 2, 2]> : tensor<5xi32>
  %a = arith.constant dense<[[3, 6, 9, 0], [3, 7, 8, 0]]> : tensor<2x4xi32>
  %v = arith.constant dense<1.0> : tensor<8x1xf32>
  // expected-error @below {{'disco.contract' op expected the length of arc 0 of psi to be in [1, 8], but got 9}}
  %z = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 1, 4x8 -> 4x8>> : (tensor<1x2x4x8xf32>, tensor<5xi32>, tensor<2x4xi32>, tensor<8x1xf32>) -> tensor<1x2x1x4x8xf32>
  return %z : tensor<1x2x1x4x8xf32>
}

// -----

func.func @value(%x: tensor<1x2x4x8xf32>) -> tensor<1x2x1x4x8xf32> {
  %o = arith.constant dense<[0, 2, 2, 2, 2]> : tensor<5xi32>
  %a = arith.constant dense<[[3, 6, 5, 4], [3, 7, 8, 0]]> : tensor<2x4xi32>
  %v = arith.constant dense<1.0> : tensor<8x1xf32>
  // expected-error @below {{'disco.contract' op expected the first value of arc 0 of psi to be in [0, 3], but got 4}}
  %z = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 1, 4x8 -> 4x8>> : (tensor<1x2x4x8xf32>, tensor<5xi32>, tensor<2x4xi32>, tensor<8x1xf32>) -> tensor<1x2x1x4x8xf32>
  return %z : tensor<1x2x1x4x8xf32>
}

// -----

func.func @first_offset(%x: tensor<1x2x4x8xf32>) -> tensor<1x2x1x4x8xf32> {
  %o = arith.constant dense<[1, 2, 2, 2, 2]> : tensor<5xi32>
  %a = arith.constant dense<[[3, 6, 5, 0], [3, 7, 8, 0]]> : tensor<2x4xi32>
  %v = arith.constant dense<1.0> : tensor<8x1xf32>
  // expected-error @below {{'disco.contract' op expected offset 0 of psi to be in [0, 0], but got 1}}
  %z = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 1, 4x8 -> 4x8>> : (tensor<1x2x4x8xf32>, tensor<5xi32>, tensor<2x4xi32>, tensor<8x1xf32>) -> tensor<1x2x1x4x8xf32>
  return %z : tensor<1x2x1x4x8xf32>
}

// -----

func.func @last_offset(%x: tensor<1x2x4x8xf32>) -> tensor<1x2x1x4x8xf32> {
  %o = arith.constant dense<[0, 3, 2, 2, 2]> : tensor<5xi32>
  %a = arith.constant dense<[[3, 6, 5, 0], [3, 7, 8, 0]]> : tensor<2x4xi32>
  %v = arith.constant dense<1.0> : tensor<8x1xf32>
  // expected-error @below {{'disco.contract' op expected offset 1 of psi to be in [0, 2], but got 3}}
  %z = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 1, 4x8 -> 4x8>> : (tensor<1x2x4x8xf32>, tensor<5xi32>, tensor<2x4xi32>, tensor<8x1xf32>) -> tensor<1x2x1x4x8xf32>
  return %z : tensor<1x2x1x4x8xf32>
}

// -----

func.func @descending_offset(%x: tensor<1x2x4x8xf32>) -> tensor<1x2x1x4x8xf32> {
  %o = arith.constant dense<[0, 2, 1, 2, 2]> : tensor<5xi32>
  %a = arith.constant dense<[[3, 6, 5, 0], [3, 7, 8, 0]]> : tensor<2x4xi32>
  %v = arith.constant dense<1.0> : tensor<8x1xf32>
  // expected-error @below {{'disco.contract' op expected offset 2 of psi to be in [2, 2], but got 1}}
  %z = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 1, 4x8 -> 4x8>> : (tensor<1x2x4x8xf32>, tensor<5xi32>, tensor<2x4xi32>, tensor<8x1xf32>) -> tensor<1x2x1x4x8xf32>
  return %z : tensor<1x2x1x4x8xf32>
}

// -----

func.func @table(%x: tensor<1x2x8xf32>) -> tensor<1x2x1x3xf32> {
  %i = arith.constant dense<[[0, 1], [9, 2], [3, 4]]> : tensor<3x2xi32>
  %v = arith.constant dense<1.0> : tensor<3x2x1xf32>
  // expected-error @below {{'disco.contract' op expected index 2 of psi to be in [0, 8], but got 9}}
  %z = disco.contract %x, (%i, %v) storage <table, !disco.psi<table<2>, 1, 8 -> 3>> : (tensor<1x2x8xf32>, tensor<3x2xi32>, tensor<3x2x1xf32>) -> tensor<1x2x1x3xf32>
  return %z : tensor<1x2x1x3xf32>
}

// -----

func.func @overlap(%x: tensor<1x2x4x8xf32>) -> tensor<1x2x1x4x8xf32> {
  %o = arith.constant dense<[0, 2, 2, 2, 2]> : tensor<5xi32>
  %a = arith.constant dense<[[3, 1, 3, 0], [3, 3, 2, 3]]> : tensor<2x4xi32>
  %v = arith.constant dense<1.0> : tensor<8x1xf32>
  // expected-error @below {{'disco.contract' op expected arc 0 of psi, of row 0 and latitude 3, to end before longitude 3, where the next one starts, but got an end of 4}}
  %z = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 1, 4x8 -> 4x8>> : (tensor<1x2x4x8xf32>, tensor<5xi32>, tensor<2x4xi32>, tensor<8x1xf32>) -> tensor<1x2x1x4x8xf32>
  return %z : tensor<1x2x1x4x8xf32>
}

// -----

func.func @overlap_around_the_ring(%x: tensor<1x2x4x8xf32>) -> tensor<1x2x1x4x8xf32> {
  %o = arith.constant dense<[0, 0, 2, 2, 2]> : tensor<5xi32>
  %a = arith.constant dense<[[3, 1, 2, 0], [3, 6, 4, 2]]> : tensor<2x4xi32>
  %v = arith.constant dense<1.0> : tensor<8x1xf32>
  // expected-error @below {{'disco.contract' op expected arc 1 of psi, of row 1 and latitude 3, to end before longitude 9, where the next one starts, but got an end of 10}}
  %z = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 1, 4x8 -> 4x8>> : (tensor<1x2x4x8xf32>, tensor<5xi32>, tensor<2x4xi32>, tensor<8x1xf32>) -> tensor<1x2x1x4x8xf32>
  return %z : tensor<1x2x1x4x8xf32>
}

// -----

func.func @descending_latitude(%x: tensor<1x2x4x8xf32>) -> tensor<1x2x1x4x8xf32> {
  %o = arith.constant dense<[0, 2, 2, 2, 2]> : tensor<5xi32>
  %a = arith.constant dense<[[3, 1, 2, 0], [2, 6, 4, 2]]> : tensor<2x4xi32>
  %v = arith.constant dense<1.0> : tensor<8x1xf32>
  // expected-error @below {{'disco.contract' op expected the latitude of arc 1 of psi, of row 0, to be at least 3, but got 2}}
  %z = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 1, 4x8 -> 4x8>> : (tensor<1x2x4x8xf32>, tensor<5xi32>, tensor<2x4xi32>, tensor<8x1xf32>) -> tensor<1x2x1x4x8xf32>
  return %z : tensor<1x2x1x4x8xf32>
}
