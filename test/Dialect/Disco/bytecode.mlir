// The stored file was written by version 1 of the dialect's bytecode; it must
// read as this module for ever. It is this file's text through
//   disco-opt bytecode.mlir -strip-debuginfo --emit-bytecode
// RUN: disco-opt %s > %t.text.mlir
// RUN: disco-opt %S/Inputs/version-1.mlirbc > %t.read.mlir
// RUN: diff %t.text.mlir %t.read.mlir

// Equal text gives equal bytes.
// RUN: disco-opt %s -strip-debuginfo --emit-bytecode -o %t.new.mlirbc
// RUN: disco-opt %t.read.mlir -strip-debuginfo --emit-bytecode -o %t.again.mlirbc
// RUN: cmp %t.new.mlirbc %t.again.mlirbc

// The same file with the version raised to 3.
// RUN: not disco-opt %S/Inputs/version-3.mlirbc 2>&1 | FileCheck %s --check-prefix=NEWER
// NEWER: version-3.mlirbc:0:0: error: expected disco bytecode of version 2 or older, but got version 3{{$}}

// A file that ends too early is an error, not a crash.
// RUN: head -c 200 %S/Inputs/version-1.mlirbc > %t.cut.mlirbc
// RUN: not disco-opt %t.cut.mlirbc 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: error: {{.+}}

func.func @layer(%x: tensor<?x4x16x32xf32>, %w: tensor<6x2x9xf32>, %b: tensor<6xf32>, %r: tensor<?x6x16x32xf32>) -> tensor<?x6x16x32xf32> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 1e-1, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>> -> !disco.psi<sphere, 9, 16x32 -> 16x32>
  %y = disco.conv %x, %psi, %w bias %b residual %r groups 2 activation gelu plan <loops, order = weight_first>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x2x9xf32>, tensor<6xf32>, tensor<?x6x16x32xf32>) -> tensor<?x6x16x32xf32>
  return %y : tensor<?x6x16x32xf32>
}
func.func @tables(%x: tensor<2x4x128xf64>, %index: tensor<40x25xi32>, %bin: tensor<40x25xi32>, %gy: tensor<2x5x40xf64>) -> (tensor<2x4x128xf64>, tensor<5x4x3xf64>, tensor<5xf32>) {
  %psi = disco.assemble knn_onehot(%index, %bin) : (tensor<40x25xi32>, tensor<40x25xi32>) -> !disco.psi<table<25>, 3, 128 -> 40>
  %adjoint = disco.adjoint %psi : !disco.psi<table<25>, 3, 128 -> 40>
  %z = disco.contract %x, (%index, %bin) storage <onehot, !disco.psi<table<25>, 3, 128 -> 40>> : (tensor<2x4x128xf64>, tensor<40x25xi32>, tensor<40x25xi32>) -> tensor<2x4x3x40xf64>
  %y = disco.contract_sum %z, %adjoint : (tensor<2x4x3x40xf64>, !disco.psi<table<25>, 3, 40 -> 128>) -> tensor<2x4x128xf64>
  %gw, %gb = disco.conv_weight_grad %x, %gy, %psi : (tensor<2x4x128xf64>, tensor<2x5x40xf64>, !disco.psi<table<25>, 3, 128 -> 40>) -> (tensor<5x4x3xf64>, tensor<5xf32>)
  return %y, %gw, %gb : tensor<2x4x128xf64>, tensor<5x4x3xf64>, tensor<5xf32>
}
