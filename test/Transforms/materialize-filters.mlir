// RUN: disco-opt %s --disco-materialize-filters --cse --split-input-file --mlir-elide-resource-strings-if-larger=20 | FileCheck %s

// One evaluation and one set of constants serve both ops; the f16 op has its
// own values, but the same arcs.

// CHECK-LABEL: func.func @shared(
// CHECK-DAG:     %[[OFFSETS:.*]] = arith.constant dense_resource<[[KEY:disco_i32_[0-9a-f]+]]> : tensor<7xi32>
// CHECK-DAG:     %[[ARCS:.*]] = arith.constant dense_resource<disco_i32_{{[0-9a-f]+}}> : tensor<{{[0-9]+}}x4xi32>
// CHECK-DAG:     %[[F32:.*]] = arith.constant dense_resource<disco_f32_{{[0-9a-f]+}}> : tensor<{{[0-9]+}}x4xf32>
// CHECK-DAG:     %[[F16:.*]] = arith.constant dense_resource<disco_f16_{{[0-9a-f]+}}> : tensor<{{[0-9]+}}x4xf16>
// CHECK-NOT:     arith.constant
// CHECK-NOT:     disco.filter
// CHECK:         disco.contract %{{.*}}, (%[[OFFSETS]], %[[ARCS]], %[[F32]]) storage <arcs, !disco.psi<sphere, 4, 6x8 -> 6x8>>
// CHECK:         disco.conv %{{.*}}, (%[[OFFSETS]], %[[ARCS]], %[[F32]]), %{{.*}} storage <arcs, !disco.psi<sphere, 4, 6x8 -> 6x8>>
// CHECK:         disco.contract %{{.*}}, (%[[OFFSETS]], %[[ARCS]], %[[F16]]) storage <arcs, !disco.psi<sphere, 4, 6x8 -> 6x8>>
#f = #disco.sphere_filter<harmonic, [2, 2], cutoff = 6e-1, in = #disco.grid<legendre_gauss, 6x8>, out = #disco.grid<legendre_gauss, 6x8>>
func.func @shared(%x: tensor<1x2x6x8xf32>, %h: tensor<1x2x6x8xf16>, %w: tensor<3x2x4xf32>) -> (tensor<1x2x4x6x8xf32>, tensor<1x3x6x8xf32>, tensor<1x2x4x6x8xf16>) {
  %p = disco.filter #f -> !disco.psi<sphere, 4, 6x8 -> 6x8>
  %q = disco.filter #f -> !disco.psi<sphere, 4, 6x8 -> 6x8>
  %0 = disco.contract %x, %p : (tensor<1x2x6x8xf32>, !disco.psi<sphere, 4, 6x8 -> 6x8>) -> tensor<1x2x4x6x8xf32>
  %1 = disco.conv %x, %q, %w : (tensor<1x2x6x8xf32>, !disco.psi<sphere, 4, 6x8 -> 6x8>, tensor<3x2x4xf32>) -> tensor<1x3x6x8xf32>
  %2 = disco.contract %h, %q : (tensor<1x2x6x8xf16>, !disco.psi<sphere, 4, 6x8 -> 6x8>) -> tensor<1x2x4x6x8xf16>
  return %0, %1, %2 : tensor<1x2x4x6x8xf32>, tensor<1x3x6x8xf32>, tensor<1x2x4x6x8xf16>
}

// -----

// The adjoint of a sphere is a sphere, transposed; two adjoints are none.

// CHECK-LABEL: func.func @adjoint(
// CHECK:         disco.contract_sum %{{.*}}, ({{.*}}) storage <arcs, !disco.psi<sphere, 4, 3x4 -> 6x8>> :
// CHECK:         disco.contract %{{.*}}, ({{.*}}) storage <arcs, !disco.psi<sphere, 4, 6x8 -> 3x4>> :
#f = #disco.sphere_filter<harmonic, [2, 2], cutoff = 6e-1, in = #disco.grid<legendre_gauss, 6x8>, out = #disco.grid<legendre_gauss, 3x4>>
func.func @adjoint(%z: tensor<1x2x4x3x4xf64>, %x: tensor<1x2x6x8xf64>) -> (tensor<1x2x6x8xf64>, tensor<1x2x4x3x4xf64>) {
  %p = disco.filter #f -> !disco.psi<sphere, 4, 6x8 -> 3x4>
  %a = disco.adjoint %p : !disco.psi<sphere, 4, 6x8 -> 3x4>
  %b = disco.adjoint %a : !disco.psi<sphere, 4, 3x4 -> 6x8>
  %0 = disco.contract_sum %z, %a : (tensor<1x2x4x3x4xf64>, !disco.psi<sphere, 4, 3x4 -> 6x8>) -> tensor<1x2x6x8xf64>
  %1 = disco.contract %x, %b : (tensor<1x2x6x8xf64>, !disco.psi<sphere, 4, 6x8 -> 3x4>) -> tensor<1x2x4x3x4xf64>
  return %0, %1 : tensor<1x2x6x8xf64>, tensor<1x2x4x3x4xf64>
}

// -----

// Run-time tables pass through, values are rounded to the op's type; the
// adjoint is a flag.

// CHECK-LABEL: func.func @run_time(
// CHECK-SAME:    %{{.*}}, %[[I:.*]]: tensor<2x3xi64>, %[[V:.*]]: tensor<2x3x5xf32>)
// CHECK:         %[[ROUNDED:.*]] = linalg.generic {{.*}} ins(%[[V]] : tensor<2x3x5xf32>)
// CHECK:           arith.truncf %{{.*}} : f32 to bf16
// CHECK:         disco.contract %{{.*}}, (%[[I]], %[[ROUNDED]]) storage <table, !disco.psi<table<3>, 5, 4 -> 2>> :
// CHECK:         disco.contract_sum %{{.*}}, (%[[I]], %[[ROUNDED]]) storage <table, !disco.psi<table<3>, 5, 2 -> 4>, adjoint> :
func.func @run_time(%x: tensor<1x1x4xbf16>, %i: tensor<2x3xi64>, %v: tensor<2x3x5xf32>) -> tensor<1x1x4xbf16> {
  %p = disco.assemble knn(%i, %v) : (tensor<2x3xi64>, tensor<2x3x5xf32>) -> !disco.psi<table<3>, 5, 4 -> 2>
  %a = disco.adjoint %p : !disco.psi<table<3>, 5, 4 -> 2>
  %z = disco.contract %x, %p : (tensor<1x1x4xbf16>, !disco.psi<table<3>, 5, 4 -> 2>) -> tensor<1x1x5x2xbf16>
  %y = disco.contract_sum %z, %a : (tensor<1x1x5x2xbf16>, !disco.psi<table<3>, 5, 2 -> 4>) -> tensor<1x1x4xbf16>
  return %y : tensor<1x1x4xbf16>
}

// -----

// Entries of a csr psi are sorted by row and column; all k of a tap are one row
// of the values.

// CHECK-LABEL: func.func @coo(
// CHECK-DAG:     arith.constant dense_resource<disco_i32_{{.*}}> : tensor<4xi32>
// CHECK-DAG:     arith.constant dense_resource<disco_i32_{{.*}}> : tensor<2xi32>
// CHECK-DAG:     arith.constant dense_resource<disco_f32_{{.*}}> : tensor<2x2xf32>
// CHECK:         storage <csr, !disco.psi<csr, 2, 4 -> 3>>
func.func @coo(%x: tensor<1x1x4xf32>) -> tensor<1x1x2x3xf32> {
  %k = arith.constant dense<[1, 0, 0]> : tensor<3xi32>
  %r = arith.constant dense<[2, 2, 1]> : tensor<3xi64>
  %c = arith.constant dense<[3, 3, 0]> : tensor<3xi32>
  %v = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %p = disco.assemble coo(%k, %r, %c, %v) : (tensor<3xi32>, tensor<3xi64>, tensor<3xi32>, tensor<3xf32>) -> !disco.psi<csr, 2, 4 -> 3>
  %z = disco.contract %x, %p : (tensor<1x1x4xf32>, !disco.psi<csr, 2, 4 -> 3>) -> tensor<1x1x2x3xf32>
  return %z : tensor<1x1x2x3xf32>
}

// -----

// Three spellings of one sphere give the same constants, so that the ops are
// one.

// CHECK-LABEL: func.func @formats(
// CHECK:         %[[Y:.*]] = disco.contract %{{.*}}, (%{{.*}}) storage <arcs
// CHECK-NEXT:    return %[[Y]], %[[Y]], %[[Y]]
func.func @formats(%x: tensor<1x1x2x4xf32>) -> (tensor<1x1x1x2x2xf32>, tensor<1x1x1x2x2xf32>, tensor<1x1x1x2x2xf32>) {
  %offsets = arith.constant dense<[0, 2, 3]> : tensor<3xi64>
  %k = arith.constant dense<0> : tensor<3xi64>
  %r = arith.constant dense<[0, 0, 1]> : tensor<3xi64>
  %c = arith.constant dense<[0, 3, 5]> : tensor<3xi64>
  %v = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
  %0 = disco.assemble harmonics_csr(%offsets, %k, %r, %c, %v) : (tensor<3xi64>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>, tensor<3xf64>) -> !disco.psi<sphere, 1, 2x4 -> 2x2>
  %k1 = arith.constant dense<0> : tensor<3xi32>
  %r1 = arith.constant dense<[1, 0, 0]> : tensor<3xi32>
  %c1 = arith.constant dense<[5, 0, 3]> : tensor<3xi32>
  %v1 = arith.constant dense<[3.0, 1.0, 2.0]> : tensor<3xf32>
  %1 = disco.assemble coo(%k1, %r1, %c1, %v1) : (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xf32>) -> !disco.psi<sphere, 1, 2x4 -> 2x2>
  %i = arith.constant dense<[[[0, 0], [0, 3]], [[1, 1], [9, 9]]]> : tensor<2x2x2xi32>
  %p = arith.constant dense<[[[1.0, 0.0], [2.0, 0.0]], [[3.0, 0.0], [7.0, 7.0]]]> : tensor<2x2x2xf32>
  %n = arith.constant dense<[2, 1]> : tensor<2xi32>
  %2 = disco.assemble kpacked(%i, %p, %n) : (tensor<2x2x2xi32>, tensor<2x2x2xf32>, tensor<2xi32>) -> !disco.psi<sphere, 1, 2x4 -> 2x2>
  %y0 = disco.contract %x, %0 : (tensor<1x1x2x4xf32>, !disco.psi<sphere, 1, 2x4 -> 2x2>) -> tensor<1x1x1x2x2xf32>
  %y1 = disco.contract %x, %1 : (tensor<1x1x2x4xf32>, !disco.psi<sphere, 1, 2x4 -> 2x2>) -> tensor<1x1x1x2x2xf32>
  %y2 = disco.contract %x, %2 : (tensor<1x1x2x4xf32>, !disco.psi<sphere, 1, 2x4 -> 2x2>) -> tensor<1x1x1x2x2xf32>
  return %y0, %y1, %y2 : tensor<1x1x1x2x2xf32>, tensor<1x1x1x2x2xf32>, tensor<1x1x1x2x2xf32>
}

// -----

// A filter without taps has one dummy arc and tap that no row refers to.

// CHECK-LABEL: func.func @empty(
// CHECK-DAG:     arith.constant dense_resource<disco_i32_{{.*}}> : tensor<5xi32>
// CHECK-DAG:     arith.constant dense_resource<disco_i32_{{.*}}> : tensor<1x4xi32>
// CHECK-DAG:     arith.constant dense_resource<disco_f32_{{.*}}> : tensor<1x4xf32>
#f = #disco.sphere_filter<harmonic, [2, 2], cutoff = 1e-3, in = #disco.grid<equiangular, 7x8>, out = #disco.grid<legendre_gauss, 4x8>>
func.func @empty(%x: tensor<1x1x7x8xf32>) -> tensor<1x1x4x4x8xf32> {
  %p = disco.filter #f -> !disco.psi<sphere, 4, 7x8 -> 4x8>
  %z = disco.contract %x, %p : (tensor<1x1x7x8xf32>, !disco.psi<sphere, 4, 7x8 -> 4x8>) -> tensor<1x1x4x4x8xf32>
  return %z : tensor<1x1x4x4x8xf32>
}
