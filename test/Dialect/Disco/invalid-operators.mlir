// RUN: disco-opt %s -split-input-file -verify-diagnostics

func.func @filter_C1_basis() {
  // expected-error @+1 {{'disco.filter' op expected the result to be '!disco.psi<sphere, 9, 16x32 -> 8x16>', but got '!disco.psi<sphere, 8, 16x32 -> 8x16>'}}
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 8x16>> -> !disco.psi<sphere, 8, 16x32 -> 8x16>
  return
}

// -----

func.func @filter_C1_grid() {
  // expected-error @+1 {{'disco.filter' op expected the result to be '!disco.psi<sphere, 9, 16x32 -> 8x16>', but got '!disco.psi<sphere, 9, 8x16 -> 16x32>'}}
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 8x16>> -> !disco.psi<sphere, 9, 8x16 -> 16x32>
  return
}

// -----

func.func @filter_C1_structure() {
  // expected-error @+1 {{'disco.filter' op expected the result to be '!disco.psi<sphere, 1, 2x2 -> 2x2>', but got '!disco.psi<csr, 1, 4 -> 4>'}}
  %psi = disco.filter #disco.sphere_filter<zernike, [1], in = #disco.grid<lobatto, 2x2>, out = #disco.grid<lobatto, 2x2>> -> !disco.psi<csr, 1, 4 -> 4>
  return
}

// -----

func.func @adjoint_C1(%psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.adjoint' op expected the result to be '!disco.psi<sphere, 9, 8x16 -> 16x32>', but got '!disco.psi<sphere, 9, 16x32 -> 8x16>'}}
  %adjoint = "disco.adjoint"(%psi) : (!disco.psi<sphere, 9, 16x32 -> 8x16>) -> !disco.psi<sphere, 9, 16x32 -> 8x16>
  return
}

// -----

func.func @assemble_C1_too_few(%i: tensor<40x25xi32>) {
  // expected-error @+1 {{'disco.assemble' op expected knn to have 2 tables, but got 1}}
  %psi = disco.assemble knn(%i) : (tensor<40x25xi32>) -> !disco.psi<table<25>, 100, 128 -> 40>
  return
}

// -----

func.func @assemble_C1_none() {
  // expected-error @+1 {{'disco.assemble' op expected coo to have 4 tables, but got 0}}
  %psi = disco.assemble coo() : () -> !disco.psi<csr, 3, 300 -> 33>
  return
}

// -----

func.func @assemble_C1_too_many(%o: tensor<34xi32>, %c: tensor<99xi32>, %v: tensor<99x3xf32>) {
  // expected-error @+1 {{'disco.assemble' op expected csr to have 3 tables, but got 4}}
  %psi = disco.assemble csr(%o, %c, %v, %v) : (tensor<34xi32>, tensor<99xi32>, tensor<99x3xf32>, tensor<99x3xf32>) -> !disco.psi<csr, 3, 300 -> 33>
  return
}

// -----

func.func @assemble_C2_knn_sphere(%i: tensor<40x25xi32>, %v: tensor<40x25x9xf32>) {
  // expected-error @+1 {{'disco.assemble' op expected the structure of the psi to be one that knn describes, but got sphere}}
  %psi = disco.assemble knn(%i, %v) : (tensor<40x25xi32>, tensor<40x25x9xf32>) -> !disco.psi<sphere, 9, 16x32 -> 16x32>
  return
}

// -----

func.func @assemble_C2_onehot_csr(%i: tensor<33x25xi32>) {
  // expected-error @+1 {{'disco.assemble' op expected the structure of the psi to be one that knn_onehot describes, but got csr}}
  %psi = disco.assemble knn_onehot(%i, %i) : (tensor<33x25xi32>, tensor<33x25xi32>) -> !disco.psi<csr, 9, 300 -> 33>
  return
}

// -----

func.func @assemble_C2_csr_table(%o: tensor<41xi32>, %c: tensor<99xi32>, %v: tensor<99x3xf32>) {
  // expected-error @+1 {{'disco.assemble' op expected the structure of the psi to be one that csr describes, but got table}}
  %psi = disco.assemble csr(%o, %c, %v) : (tensor<41xi32>, tensor<99xi32>, tensor<99x3xf32>) -> !disco.psi<table<25>, 3, 128 -> 40>
  return
}

// -----

func.func @assemble_C2_coo_table(%i: tensor<99xi32>, %v: tensor<99xf32>) {
  // expected-error @+1 {{'disco.assemble' op expected the structure of the psi to be one that coo describes, but got table}}
  %psi = disco.assemble coo(%i, %i, %i, %v) : (tensor<99xi32>, tensor<99xi32>, tensor<99xi32>, tensor<99xf32>) -> !disco.psi<table<25>, 3, 128 -> 40>
  return
}

// -----

func.func @assemble_C2_kpacked_csr(%i: tensor<33x5x2xi32>, %v: tensor<33x5x8xf32>, %n: tensor<33xi32>) {
  // expected-error @+1 {{'disco.assemble' op expected the structure of the psi to be one that kpacked describes, but got csr}}
  %psi = disco.assemble kpacked(%i, %v, %n) : (tensor<33x5x2xi32>, tensor<33x5x8xf32>, tensor<33xi32>) -> !disco.psi<csr, 3, 300 -> 33>
  return
}

// -----

func.func @assemble_C2_harmonics_csr(%i: tensor<99xi32>, %v: tensor<99xf32>) {
  // expected-error @+1 {{'disco.assemble' op expected the structure of the psi to be one that harmonics_csr describes, but got csr}}
  %psi = disco.assemble harmonics_csr(%i, %i, %i, %i, %v) : (tensor<99xi32>, tensor<99xi32>, tensor<99xi32>, tensor<99xi32>, tensor<99xf32>) -> !disco.psi<csr, 3, 300 -> 33>
  return
}

// -----

func.func @assemble_C3_degree(%i: tensor<40x24xi32>, %v: tensor<40x25x100xf32>) {
  // expected-error @+1 {{'disco.assemble' op expected the shape of index to be 40x25, but got 'tensor<40x24xi32>'}}
  %psi = disco.assemble knn(%i, %v) : (tensor<40x24xi32>, tensor<40x25x100xf32>) -> !disco.psi<table<25>, 100, 128 -> 40>
  return
}

// -----

func.func @assemble_C3_points(%i: tensor<128x25xi32>, %v: tensor<40x25x100xf32>) {
  // expected-error @+1 {{'disco.assemble' op expected the shape of index to be 40x25, but got 'tensor<128x25xi32>'}}
  %psi = disco.assemble knn(%i, %v) : (tensor<128x25xi32>, tensor<40x25x100xf32>) -> !disco.psi<table<25>, 100, 128 -> 40>
  return
}

// -----

func.func @assemble_C3_dynamic_points(%i: tensor<?x25xi32>, %v: tensor<40x25x100xf32>) {
  // expected-error @+1 {{'disco.assemble' op expected the shape of index to be 40x25, but got 'tensor<?x25xi32>'}}
  %psi = disco.assemble knn(%i, %v) : (tensor<?x25xi32>, tensor<40x25x100xf32>) -> !disco.psi<table<25>, 100, 128 -> 40>
  return
}

// -----

func.func @assemble_C3_basis(%i: tensor<40x25xi32>, %v: tensor<40x25x99xf32>) {
  // expected-error @+1 {{'disco.assemble' op expected the shape of values to be 40x25x100, but got 'tensor<40x25x99xf32>'}}
  %psi = disco.assemble knn(%i, %v) : (tensor<40x25xi32>, tensor<40x25x99xf32>) -> !disco.psi<table<25>, 100, 128 -> 40>
  return
}

// -----

func.func @assemble_C3_bin(%i: tensor<40x25xi32>, %b: tensor<40xi32>) {
  // expected-error @+1 {{'disco.assemble' op expected the shape of bin to be 40x25, but got 'tensor<40xi32>'}}
  %psi = disco.assemble knn_onehot(%i, %b) : (tensor<40x25xi32>, tensor<40xi32>) -> !disco.psi<table<25>, 100, 128 -> 40>
  return
}

// -----

func.func @assemble_C3_offsets(%o: tensor<33xi32>, %c: tensor<99xi32>, %v: tensor<99x3xf32>) {
  // expected-error @+1 {{'disco.assemble' op expected the shape of row offsets to be 34, but got 'tensor<33xi32>'}}
  %psi = disco.assemble csr(%o, %c, %v) : (tensor<33xi32>, tensor<99xi32>, tensor<99x3xf32>) -> !disco.psi<csr, 3, 300 -> 33>
  return
}

// -----

func.func @assemble_C3_shared_nnz(%o: tensor<34xi32>, %c: tensor<99xi32>, %v: tensor<98x3xf32>) {
  // expected-error @+1 {{'disco.assemble' op expected the shape of values to be 99x3, but got 'tensor<98x3xf32>'}}
  %psi = disco.assemble csr(%o, %c, %v) : (tensor<34xi32>, tensor<99xi32>, tensor<98x3xf32>) -> !disco.psi<csr, 3, 300 -> 33>
  return
}

// -----

func.func @assemble_C3_scalar_table(%o: tensor<i32>, %i: tensor<99xi32>, %v: tensor<99xf32>) {
  // expected-error @+1 {{'disco.assemble' op expected the shape of offsets to be ?, but got 'tensor<i32>'}}
  %psi = disco.assemble harmonics_csr(%o, %i, %i, %i, %v) : (tensor<i32>, tensor<99xi32>, tensor<99xi32>, tensor<99xi32>, tensor<99xf32>) -> !disco.psi<sphere, 3, 16x32 -> 16x32>
  return
}

// -----

func.func @assemble_C3_coordinates(%i: tensor<16x5x3xi32>, %v: tensor<16x5x16xf32>, %n: tensor<16xi32>) {
  // expected-error @+1 {{'disco.assemble' op expected the shape of index to be 16x5x2, but got 'tensor<16x5x3xi32>'}}
  %psi = disco.assemble kpacked(%i, %v, %n) : (tensor<16x5x3xi32>, tensor<16x5x16xf32>, tensor<16xi32>) -> !disco.psi<sphere, 9, 16x32 -> 16x32>
  return
}

// -----

func.func @assemble_C3_width(%i: tensor<16x5x2xi32>, %v: tensor<16x4x16xf32>, %n: tensor<16xi32>) {
  // expected-error @+1 {{'disco.assemble' op expected the shape of values to be 16x5x?, but got 'tensor<16x4x16xf32>'}}
  %psi = disco.assemble kpacked(%i, %v, %n) : (tensor<16x5x2xi32>, tensor<16x4x16xf32>, tensor<16xi32>) -> !disco.psi<sphere, 9, 16x32 -> 16x32>
  return
}

// -----

func.func @assemble_C3_padded_values(%i: tensor<16x5x2xi32>, %v: tensor<16x5x8xf32>, %n: tensor<16xi32>) {
  // expected-error @+1 {{'disco.assemble' op expected the last dimension of values to be at least 9, but got 8}}
  %psi = disco.assemble kpacked(%i, %v, %n) : (tensor<16x5x2xi32>, tensor<16x5x8xf32>, tensor<16xi32>) -> !disco.psi<sphere, 9, 16x32 -> 16x32>
  return
}

// -----

func.func @assemble_C3_count(%i: tensor<16x5x2xi32>, %v: tensor<16x5x16xf32>, %n: tensor<17xi32>) {
  // expected-error @+1 {{'disco.assemble' op expected the shape of count to be 16, but got 'tensor<17xi32>'}}
  %psi = disco.assemble kpacked(%i, %v, %n) : (tensor<16x5x2xi32>, tensor<16x5x16xf32>, tensor<17xi32>) -> !disco.psi<sphere, 9, 16x32 -> 16x32>
  return
}

// -----

func.func @assemble_C4_float_index(%i: tensor<40x25xf32>, %v: tensor<40x25x100xf32>) {
  // expected-error @+1 {{'disco.assemble' op expected the elements of index to be i32 or i64, but got 'f32'}}
  %psi = disco.assemble knn(%i, %v) : (tensor<40x25xf32>, tensor<40x25x100xf32>) -> !disco.psi<table<25>, 100, 128 -> 40>
  return
}

// -----

func.func @assemble_C4_integer_values(%i: tensor<40x25xi32>, %v: tensor<40x25x100xi32>) {
  // expected-error @+1 {{'disco.assemble' op expected the elements of values to be floats, but got 'i32'}}
  %psi = disco.assemble knn(%i, %v) : (tensor<40x25xi32>, tensor<40x25x100xi32>) -> !disco.psi<table<25>, 100, 128 -> 40>
  return
}

// -----

func.func @assemble_C4_narrow_index(%i: tensor<40x25xi16>, %v: tensor<40x25x100xf32>) {
  // expected-error @+1 {{'disco.assemble' op operand #0 must be variadic of ranked tensor of i32 or i64 or f64, f32, f16 or bf16 values, but got 'tensor<40x25xi16>'}}
  %psi = disco.assemble knn(%i, %v) : (tensor<40x25xi16>, tensor<40x25x100xf32>) -> !disco.psi<table<25>, 100, 128 -> 40>
  return
}

// -----

func.func @assemble_C5_upsampling(%i: tensor<99xi32>, %v: tensor<99xf32>) {
  // expected-error @+1 {{'disco.assemble' op expected the input nlon to be a multiple of the output nlon 32, but got 16}}
  %psi = disco.assemble coo(%i, %i, %i, %v) : (tensor<99xi32>, tensor<99xi32>, tensor<99xi32>, tensor<99xf32>) -> !disco.psi<sphere, 9, 8x16 -> 16x32>
  return
}

// -----

func.func @assemble_unknown_format(%i: tensor<40x25xi32>) {
  // expected-error @+2 {{expected ::mlir::disco::TableFormat to be one of: harmonics_csr, coo, kpacked, csr, knn, knn_onehot}}
  // expected-error @+1 {{failed to parse Disco_TableFormatAttr parameter 'value' which is to be a `::mlir::disco::TableFormat`}}
  %psi = disco.assemble ell(%i) : (tensor<40x25xi32>) -> !disco.psi<table<25>, 100, 128 -> 40>
  return
}
