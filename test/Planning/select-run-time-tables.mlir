// RUN: disco-opt %s --disco-select-kernel=force-family=cpu_gather --disco-explain=output=%t.md -o /dev/null
// RUN: FileCheck %s --input-file=%t.md

// The types of tables tell how many taps there are, if not where.

// 900 entries for 300 points: three each.
// CHECK: # disco.contract in @csr: cpu_gather{{$}}
// x, 301 offsets, 900 indices and 1800 values; z.
// CHECK: |  13.6 kB read
// CHECK: | taps a row, mean | 3 | model |{{$}}
// CHECK: | taps a row, most | 3 | model |{{$}}
func.func @csr(%x: tensor<1x2x200xf32>, %o: tensor<301xi32>, %c: tensor<900xi32>, %v: tensor<900x2xf32>) -> tensor<1x2x2x300xf32> {
  %psi = disco.assemble csr(%o, %c, %v) : (tensor<301xi32>, tensor<900xi32>, tensor<900x2xf32>) -> !disco.psi<csr, 2, 200 -> 300>
  %z = disco.contract %x, %psi : (tensor<1x2x200xf32>, !disco.psi<csr, 2, 200 -> 300>) -> tensor<1x2x2x300xf32>
  return %z : tensor<1x2x2x300xf32>
}

// The adjoint spreads the same entries over 200 points.
// CHECK: # disco.contract in @adjoint: cpu_gather{{$}}
// CHECK: | taps a row, mean | 4.50 | model |{{$}}
// CHECK: | taps a row, most | 5 | model |{{$}}
func.func @adjoint(%x: tensor<1x2x300xf32>, %o: tensor<301xi32>, %c: tensor<900xi32>, %v: tensor<900x2xf32>) -> tensor<1x2x2x200xf32> {
  %psi = disco.assemble csr(%o, %c, %v) : (tensor<301xi32>, tensor<900xi32>, tensor<900x2xf32>) -> !disco.psi<csr, 2, 200 -> 300>
  %adjoint = disco.adjoint %psi : !disco.psi<csr, 2, 200 -> 300>
  %z = disco.contract %x, %adjoint : (tensor<1x2x300xf32>, !disco.psi<csr, 2, 300 -> 200>) -> tensor<1x2x2x200xf32>
  return %z : tensor<1x2x2x200xf32>
}

// What is materialised says the same.
// CHECK: # disco.contract in @stored: cpu_gather{{$}}
// CHECK: | taps a row, mean | 3 | model |{{$}}
func.func @stored(%x: tensor<1x2x200xf32>, %o: tensor<301xi32>, %c: tensor<900xi32>, %v: tensor<900x2xf32>) -> tensor<1x2x2x300xf32> {
  %z = disco.contract %x, (%o, %c, %v) storage <csr, !disco.psi<csr, 2, 200 -> 300>> : (tensor<1x2x200xf32>, tensor<301xi32>, tensor<900xi32>, tensor<900x2xf32>) -> tensor<1x2x2x300xf32>
  return %z : tensor<1x2x2x300xf32>
}

// Where the number is dynamic, 32 a point.
// CHECK: # disco.contract in @dynamic: cpu_gather{{$}}
// CHECK: | taps a row, mean | 32 | model |{{$}}
func.func @dynamic(%x: tensor<1x2x200xf32>, %o: tensor<301xi32>, %c: tensor<?xi32>, %v: tensor<?x2xf32>) -> tensor<1x2x2x300xf32> {
  %psi = disco.assemble csr(%o, %c, %v) : (tensor<301xi32>, tensor<?xi32>, tensor<?x2xf32>) -> !disco.psi<csr, 2, 200 -> 300>
  %z = disco.contract %x, %psi : (tensor<1x2x200xf32>, !disco.psi<csr, 2, 200 -> 300>) -> tensor<1x2x2x300xf32>
  return %z : tensor<1x2x2x300xf32>
}

// The format tells that a tap has one feature: z, 1200 indices and 1200 bins.
// CHECK: # disco.contract_sum in @one_hot: cpu_gather{{$}}
// CHECK: - the maps of each point are copied once, with channels last, and gathered by taps{{$}}
// CHECK: |  57.6 kB read
func.func @one_hot(%z: tensor<2x5x2x300xf64>, %i: tensor<300x4xi32>, %b: tensor<300x4xi32>) -> tensor<2x5x200xf64> {
  %psi = disco.assemble knn_onehot(%i, %b) : (tensor<300x4xi32>, tensor<300x4xi32>) -> !disco.psi<table<4>, 2, 200 -> 300>
  %adjoint = disco.adjoint %psi : !disco.psi<table<4>, 2, 200 -> 300>
  %y = disco.contract_sum %z, %adjoint : (tensor<2x5x2x300xf64>, !disco.psi<table<4>, 2, 300 -> 200>) -> tensor<2x5x200xf64>
  return %y : tensor<2x5x200xf64>
}
