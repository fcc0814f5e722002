// RUN: disco-opt %s | FileCheck %s
// RUN: disco-opt %s | disco-opt | FileCheck %s
// RUN: disco-opt %s --mlir-print-op-generic | disco-opt | FileCheck %s
// RUN: disco-opt %s --emit-bytecode | disco-opt | FileCheck %s
// The text of the second trip is that of the first, whole.
// RUN: disco-opt %s > %t.1.mlir
// RUN: disco-opt %t.1.mlir > %t.2.mlir
// RUN: disco-opt %s --emit-bytecode | disco-opt > %t.3.mlir
// RUN: disco-opt %s --mlir-print-op-generic | disco-opt > %t.4.mlir
// RUN: diff %t.1.mlir %t.2.mlir
// RUN: diff %t.1.mlir %t.3.mlir
// RUN: diff %t.1.mlir %t.4.mlir

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func private @types(
// CHECK-SAME: !disco.psi<sphere, 9, 721x1440 -> 360x720>, !disco.psi<sphere, 1, 8x16 -> 16x32>, !disco.psi<table<25>, 100, 128 -> 40>, !disco.psi<csr, 4, 300 -> 33>)
func.func private @types(!disco.psi<sphere, 9, 721x1440 -> 360x720>, !disco.psi<sphere,1,8x16->16x32>,
    !disco.psi<table<25>, 100, 128 -> 40>, !disco.psi<csr, 4, 300 -> 33>)

// CHECK-LABEL: func private @grids
// CHECK-SAME: a = #disco.grid<equiangular, 721x1440>
// CHECK-SAME: b = #disco.grid<legendre_gauss, 360x720>
// CHECK-SAME: c = #disco.grid<lobatto, 16x32>
// CHECK-SAME: d = #disco.grid<equiangular_trapezoidal, 2x1>
func.func private @grids() attributes {
  a = #disco.grid<equiangular, 721x1440>, b = #disco.grid<legendre_gauss,360x720>,
  c = #disco.grid< lobatto , 16x32 >, d = #disco.grid<equiangular_trapezoidal, 2x1>}

// Numbers as people and Python write them; the default norm is spelled out, a
// default cutoff is not.
// CHECK-LABEL: func private @filters
// CHECK-SAME: a = #disco.sphere_filter<piecewise_linear, [3], norm = nodal, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>
// CHECK-SAME: b = #disco.sphere_filter<harmonic, [3, 3], cutoff = 1e-05, norm = modal, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 8x16>>
// CHECK-SAME: c = #disco.sphere_filter<morlet, [2, 4], cutoff = 2, norm = mean, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>
// CHECK-SAME: d = #disco.sphere_filter<zernike, [3], cutoff = 0.45, norm = support, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>
// CHECK-SAME: e = #disco.sphere_filter<fourier_bessel, [3, 0], cutoff = 0.02771993517873347, norm = geometric, in = #disco.grid<lobatto, 8x16>, out = #disco.grid<lobatto, 16x32>, transpose>
// CHECK-SAME: f = #disco.sphere_filter<harmonic, [1], cutoff = 0.1, norm = none, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>
func.func private @filters() attributes {
  a = #disco.sphere_filter<piecewise_linear, [3], in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>,
  b = #disco.sphere_filter<harmonic, [3, 3], cutoff = 1e-05, norm = modal, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 8x16>>,
  c = #disco.sphere_filter<morlet, [2, 4], norm = mean, cutoff = 2.0, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>,
  d = #disco.sphere_filter<zernike, [3], out = #disco.grid<lobatto, 16x32>, in = #disco.grid<lobatto, 16x32>, norm = support, cutoff = .45>,
  e = #disco.sphere_filter<fourier_bessel, [3, 0], transpose, cutoff = 2.771993517873347e-2, norm = geometric, in = #disco.grid<lobatto, 8x16>, out = #disco.grid<lobatto, 16x32>>,
  f = #disco.sphere_filter<harmonic, [1], cutoff = 100E-3, norm = none, in = grid<lobatto, 16x32>, out = grid<lobatto, 16x32>>}

// CHECK-LABEL: func private @storages
// CHECK-SAME: a = #disco.storage<arcs, !disco.psi<sphere, 9, 16x32 -> 8x16>>
// CHECK-SAME: b = #disco.storage<csr, !disco.psi<csr, 3, 300 -> 33>, adjoint>
// CHECK-SAME: c = #disco.storage<csr, !disco.psi<table<5>, 3, 128 -> 40>>
// CHECK-SAME: d = #disco.storage<table, !disco.psi<table<5>, 3, 128 -> 40>, adjoint>
// CHECK-SAME: e = #disco.storage<onehot, !disco.psi<table<5>, 3, 128 -> 40>>
func.func private @storages() attributes {
  a = #disco.storage<arcs, !disco.psi<sphere, 9, 16x32 -> 8x16>>,
  b = #disco.storage<csr, !disco.psi<csr, 3, 300 -> 33>, adjoint>,
  c = #disco.storage<csr, !disco.psi<table<5>, 3, 128 -> 40>>,
  d = #disco.storage<table, !disco.psi<table<5>, 3, 128 -> 40>, adjoint>,
  e = #disco.storage<onehot, !disco.psi<table<5>, 3, 128 -> 40>>}

// Fields that have their default are not printed.
// CHECK-LABEL: func private @plans
// CHECK-SAME: a = #disco.plan<loops>
// CHECK-SAME: b = #disco.plan<loops, order = weight_first>
// CHECK-SAME: c = #disco.plan<loops, provider = runtime>
// CHECK-SAME: d = #disco.plan<loops, provider = runtime, order = weight_first>
func.func private @plans() attributes {
  a = #disco.plan<loops, provider = codegen, order = filter_first>, b = #disco.plan<loops, order = weight_first>,
  c = #disco.plan<loops, provider = runtime>, d = #disco.plan<loops, order = weight_first, provider = runtime>}

// CHECK-LABEL: func private @enumerations
// CHECK-SAME: a = #disco<activation silu>, b = #disco<table_format knn_onehot>
func.func private @enumerations() attributes {a = #disco<activation silu>, b = #disco<table_format knn_onehot>}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @filter
func.func @filter() -> !disco.psi<sphere, 9, 8x16 -> 16x32> {
  // CHECK: disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.1, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 8x16>> {note = "kept"} -> !disco.psi<sphere, 9, 16x32 -> 8x16>
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 1e-1, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 8x16>> {note = "kept"} -> !disco.psi<sphere, 9, 16x32 -> 8x16>
  // CHECK: disco.adjoint %{{.*}} : !disco.psi<sphere, 9, 16x32 -> 8x16>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 9, 16x32 -> 8x16>
  return %adjoint : !disco.psi<sphere, 9, 8x16 -> 16x32>
}

// CHECK-LABEL: func @assemble
func.func @assemble(%offsets: tensor<?xi64>, %k: tensor<?xi32>, %row: tensor<?xi32>, %column: tensor<99xi64>, %v: tensor<99xf64>,
    %packed: tensor<16x?x2xi32>, %pv: tensor<16x?x16xbf16>, %count: tensor<16xi32>,
    %roff: tensor<34xi32>, %values: tensor<99x4xf32>, %index: tensor<40x25xi32>, %dense: tensor<40x25x100xf16>, %bin: tensor<40x25xi64>) {
  // CHECK: disco.assemble harmonics_csr(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (tensor<?xi64>, tensor<?xi32>, tensor<?xi32>, tensor<99xi64>, tensor<99xf64>) -> !disco.psi<sphere, 9, 16x32 -> 8x16>
  %0 = disco.assemble harmonics_csr(%offsets, %k, %row, %column, %v) : (tensor<?xi64>, tensor<?xi32>, tensor<?xi32>, tensor<99xi64>, tensor<99xf64>) -> !disco.psi<sphere, 9, 16x32 -> 8x16>
  // CHECK: disco.assemble coo(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (tensor<?xi32>, tensor<?xi32>, tensor<99xi64>, tensor<99xf64>) -> !disco.psi<sphere, 9, 16x32 -> 16x32>
  %1 = disco.assemble coo(%k, %row, %column, %v) : (tensor<?xi32>, tensor<?xi32>, tensor<99xi64>, tensor<99xf64>) -> !disco.psi<sphere, 9, 16x32 -> 16x32>
  // CHECK: disco.assemble coo({{.*}}) : (tensor<?xi32>, tensor<?xi32>, tensor<99xi64>, tensor<99xf64>) -> !disco.psi<csr, 4, 300 -> 33>
  %2 = disco.assemble coo(%k, %row, %column, %v) : (tensor<?xi32>, tensor<?xi32>, tensor<99xi64>, tensor<99xf64>) -> !disco.psi<csr, 4, 300 -> 33>
  // CHECK: disco.assemble kpacked(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<16x?x2xi32>, tensor<16x?x16xbf16>, tensor<16xi32>) -> !disco.psi<sphere, 9, 16x32 -> 16x32>
  %3 = disco.assemble kpacked(%packed, %pv, %count) : (tensor<16x?x2xi32>, tensor<16x?x16xbf16>, tensor<16xi32>) -> !disco.psi<sphere, 9, 16x32 -> 16x32>
  // CHECK: disco.assemble csr(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<34xi32>, tensor<99xi64>, tensor<99x4xf32>) -> !disco.psi<csr, 4, 300 -> 33>
  %4 = disco.assemble csr(%roff, %column, %values) : (tensor<34xi32>, tensor<99xi64>, tensor<99x4xf32>) -> !disco.psi<csr, 4, 300 -> 33>
  // CHECK: disco.assemble knn(%{{.*}}, %{{.*}}) : (tensor<40x25xi32>, tensor<40x25x100xf16>) -> !disco.psi<table<25>, 100, 128 -> 40>
  %5 = disco.assemble knn(%index, %dense) : (tensor<40x25xi32>, tensor<40x25x100xf16>) -> !disco.psi<table<25>, 100, 128 -> 40>
  // CHECK: disco.assemble knn_onehot(%{{.*}}, %{{.*}}) {note = "kept"} : (tensor<40x25xi32>, tensor<40x25xi64>) -> !disco.psi<table<25>, 100, 128 -> 40>
  %6 = disco.assemble knn_onehot(%index, %bin) {note = "kept"} : (tensor<40x25xi32>, tensor<40x25xi64>) -> !disco.psi<table<25>, 100, 128 -> 40>
  return
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @contract
func.func @contract(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %xt: tensor<3x4x128xf64>,
    %i: tensor<40x5xi64>, %v: tensor<40x5x3xf64>) {
  // CHECK: disco.contract %{{.*}}, %{{.*}} : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x9x8x16xf32>
  %0 = disco.contract %x, %psi : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x9x8x16xf32>
  // A dynamic batch matches any.
  // CHECK: disco.contract %{{.*}}, %{{.*}} plan <loops> : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<2x4x9x8x16xf32>
  %1 = disco.contract %x, %psi plan <loops> : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<2x4x9x8x16xf32>
  // CHECK: disco.contract %{{.*}}, (%{{.*}}, %{{.*}}) storage <table, !disco.psi<table<5>, 3, 128 -> 40>> plan <loops, order = weight_first> {note = "kept"} : (tensor<3x4x128xf64>, tensor<40x5xi64>, tensor<40x5x3xf64>) -> tensor<3x4x3x40xf64>
  %2 = disco.contract %xt, (%i, %v) storage <table, !disco.psi<table<5>, 3, 128 -> 40>> plan <loops, order = weight_first> {note = "kept"}
    : (tensor<3x4x128xf64>, tensor<40x5xi64>, tensor<40x5x3xf64>) -> tensor<3x4x3x40xf64>
  return
}

// CHECK-LABEL: func @contract_sum
func.func @contract_sum(%z: tensor<?x4x9x16x32xbf16>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %zc: tensor<0x1x3x33xf16>,
    %o: tensor<34xi32>, %c: tensor<?xi32>, %v: tensor<?x3xf16>) {
  // CHECK: disco.contract_sum %{{.*}}, %{{.*}} : (tensor<?x4x9x16x32xbf16>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x8x16xbf16>
  %0 = disco.contract_sum %z, %psi : (tensor<?x4x9x16x32xbf16>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x8x16xbf16>
  // The adjoint of 300 -> 33 from the tables of that operator, an empty batch.
  // CHECK: disco.contract_sum %{{.*}}, (%{{.*}}, %{{.*}}, %{{.*}}) storage <csr, !disco.psi<csr, 3, 33 -> 300>, adjoint> plan <loops, provider = runtime> {note = "kept"} : (tensor<0x1x3x33xf16>, tensor<34xi32>, tensor<?xi32>, tensor<?x3xf16>) -> tensor<0x1x300xf16>
  %1 = disco.contract_sum %zc, (%o, %c, %v) storage <csr, !disco.psi<csr, 3, 33 -> 300>, adjoint> plan <loops, provider = runtime> {note = "kept"}
    : (tensor<0x1x3x33xf16>, tensor<34xi32>, tensor<?xi32>, tensor<?x3xf16>) -> tensor<0x1x300xf16>
  return
}

// CHECK-LABEL: func @conv
func.func @conv(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w4: tensor<6x4x9xf32>, %w: tensor<6x2x9xf32>,
    %b: tensor<6xf32>, %r: tensor<?x6x16x32xf32>, %xh: tensor<1x4x16x32xf16>, %bh: tensor<6xf16>,
    %o: tensor<17xi32>, %a: tensor<?x4xi32>, %v: tensor<?x9xf32>) {
  // CHECK: disco.conv %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  %0 = disco.conv %x, %psi, %w4 groups 1 activation none : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  // CHECK: disco.conv %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} residual %{{.*}} groups 2 activation gelu plan <loops, order = weight_first> : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x2x9xf32>, tensor<6xf32>, tensor<?x6x16x32xf32>) -> tensor<?x6x16x32xf32>
  %1 = disco.conv %x, %psi, %w bias %b residual %r groups 2 activation gelu plan <loops, order = weight_first>
    : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x2x9xf32>, tensor<6xf32>, tensor<?x6x16x32xf32>) -> tensor<?x6x16x32xf32>
  // CHECK: disco.conv %{{.*}}, (%{{.*}}, %{{.*}}, %{{.*}}), %{{.*}} residual %{{.*}} activation relu storage <arcs, !disco.psi<sphere, 9, 16x32 -> 16x32>> {note = "kept"} : (
  %2 = disco.conv %x, (%o, %a, %v), %w4 residual %r activation relu storage <arcs, !disco.psi<sphere, 9, 16x32 -> 16x32>> {note = "kept"}
    : (tensor<?x4x16x32xf32>, tensor<17xi32>, tensor<?x4xi32>, tensor<?x9xf32>, tensor<6x4x9xf32>, tensor<?x6x16x32xf32>) -> tensor<?x6x16x32xf32>
  // Parameters in f32 or in x's type.
  // CHECK: disco.conv %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} activation gelu_tanh : (tensor<1x4x16x32xf16>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>, tensor<6xf16>) -> tensor<1x6x16x32xf16>
  %3 = disco.conv %xh, %psi, %w4 bias %bh activation gelu_tanh : (tensor<1x4x16x32xf16>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>, tensor<6xf16>) -> tensor<1x6x16x32xf16>
  // CHECK: disco.conv %{{.*}}, %{{.*}}, %{{.*}} activation silu : (
  %4 = disco.conv %xh, %psi, %w4 activation silu : (tensor<1x4x16x32xf16>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<1x6x16x32xf16>
  return
}

// CHECK-LABEL: func @conv_weight_grad
func.func @conv_weight_grad(%x: tensor<?x4x16x32xbf16>, %gy: tensor<?x6x8x16xbf16>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>,
    %o: tensor<9xi32>, %a: tensor<?x4xi32>, %v: tensor<?x9xbf16>) {
  // CHECK: disco.conv_weight_grad %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x4x16x32xbf16>, tensor<?x6x8x16xbf16>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x4x9xf32>
  %0 = disco.conv_weight_grad %x, %gy, %psi : (tensor<?x4x16x32xbf16>, tensor<?x6x8x16xbf16>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x4x9xf32>
  // CHECK: %{{.*}}, %{{.*}} = disco.conv_weight_grad %{{.*}}, %{{.*}}, (%{{.*}}, %{{.*}}, %{{.*}}) groups 2 storage <arcs, !disco.psi<sphere, 9, 16x32 -> 8x16>> plan <loops> {note = "kept"} : (tensor<?x4x16x32xbf16>, tensor<?x6x8x16xbf16>, tensor<9xi32>, tensor<?x4xi32>, tensor<?x9xbf16>) -> (tensor<6x2x9xbf16>, tensor<6xf32>)
  %1, %2 = disco.conv_weight_grad %x, %gy, (%o, %a, %v) groups 2 storage <arcs, !disco.psi<sphere, 9, 16x32 -> 8x16>> plan <loops> {note = "kept"}
    : (tensor<?x4x16x32xbf16>, tensor<?x6x8x16xbf16>, tensor<9xi32>, tensor<?x4xi32>, tensor<?x9xbf16>) -> (tensor<6x2x9xbf16>, tensor<6xf32>)
  return
}

// What an op permits; defaults are not printed.
// CHECK-LABEL: func @permissions
// CHECK: disco.conv %{{.*}}, %{{.*}}, %{{.*}} activation relu precision tf32 : (
// CHECK: disco.conv_weight_grad %{{.*}}, %{{.*}}, %{{.*}} precision bf16x3 deterministic = false : (
// CHECK: disco.conv_weight_grad %{{.*}}, %{{.*}}, %{{.*}} : (
func.func @permissions(%x: tensor<?x4x16x32xf32>, %gy: tensor<?x6x8x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>, %w: tensor<6x4x9xf32>) -> tensor<?x6x8x16xf32> {
  %y = disco.conv %x, %psi, %w activation relu precision tf32 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<6x4x9xf32>) -> tensor<?x6x8x16xf32>
  %0 = disco.conv_weight_grad %x, %gy, %psi precision bf16x3 deterministic = false : (tensor<?x4x16x32xf32>, tensor<?x6x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x4x9xf32>
  %1 = disco.conv_weight_grad %x, %gy, %psi precision ieee deterministic = true : (tensor<?x4x16x32xf32>, tensor<?x6x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x4x9xf32>
  return %y : tensor<?x6x8x16xf32>
}
