// RUN: disco-opt %s -split-input-file -verify-diagnostics

func.func @contract_C1_rank(%x: tensor<4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract' op expected x to be [batch, channels, points...] of rank 4, but got 'tensor<4x16x32xf32>'}}
  %r = disco.contract %x, %psi : (tensor<4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C1_scalar(%x: tensor<f32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract' op expected x to be [batch, channels, points...] of rank 4, but got 'tensor<f32>'}}
  %r = disco.contract %x, %psi : (tensor<f32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C1_dynamic_channels(%x: tensor<?x?x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract' op expected x to be static in all dimensions but the batch, but got 'tensor<?x?x16x32xf32>'}}
  %r = disco.contract %x, %psi : (tensor<?x?x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C1_dynamic_points(%x: tensor<2x4x16x?xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract' op expected x to be static in all dimensions but the batch, but got 'tensor<2x4x16x?xf32>'}}
  %r = disco.contract %x, %psi : (tensor<2x4x16x?xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C2_points(%x: tensor<?x4x32x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract' op expected the points of x to be the input 16x32 of psi, but got 32x16}}
  %r = disco.contract %x, %psi : (tensor<?x4x32x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C2_output_points(%x: tensor<?x4x8x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract' op expected the points of x to be the input 16x32 of psi, but got 8x16}}
  %r = disco.contract %x, %psi : (tensor<?x4x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C3_two_psi(%x: tensor<?x4x16x32xf32>, %p: !disco.psi<sphere, 9, 16x32 -> 8x16>, %q: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract' op expected psi without storage to be 1 value, but got 2}}
  %r = disco.contract %x, (%p, %q) : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C3_no_psi(%x: tensor<?x4x16x32xf32>) {
  // expected-error @+1 {{'disco.contract' op expected psi without storage to be 1 value, but got 0}}
  %r = disco.contract %x, () : (tensor<?x4x16x32xf32>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C3_tensor_without_storage(%x: tensor<?x4x16x32xf32>, %p: tensor<9xi32>) {
  // expected-error @+1 {{'disco.contract' op expected psi without storage to be a psi value, but got 'tensor<9xi32>'}}
  %r = disco.contract %x, %p : (tensor<?x4x16x32xf32>, tensor<9xi32>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C3_psi_with_storage(%x: tensor<?x4x16x32xf32>, %p: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract' op expected storage arcs to have 3 tensors, but got 1}}
  %r = disco.contract %x, %p storage <arcs, !disco.psi<sphere, 9, 16x32 -> 8x16>> : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C3_arcs_missing_tensor(%x: tensor<?x4x16x32xf32>, %o: tensor<9xi32>, %a: tensor<40x4xi32>) {
  // expected-error @+1 {{'disco.contract' op expected storage arcs to have 3 tensors, but got 2}}
  %r = disco.contract %x, (%o, %a) storage <arcs, !disco.psi<sphere, 9, 16x32 -> 8x16>> : (tensor<?x4x16x32xf32>, tensor<9xi32>, tensor<40x4xi32>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C3_arcs_psi_for_tensor(%x: tensor<?x4x16x32xf32>, %o: tensor<9xi32>, %p: !disco.psi<sphere, 9, 16x32 -> 8x16>, %v: tensor<99x9xf32>) {
  // expected-error @+1 {{'disco.contract' op expected the shape of storage tensor 1 to be ?x4, but got '!disco.psi<sphere, 9, 16x32 -> 8x16>'}}
  %r = disco.contract %x, (%o, %p, %v) storage <arcs, !disco.psi<sphere, 9, 16x32 -> 8x16>> : (tensor<?x4x16x32xf32>, tensor<9xi32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, tensor<99x9xf32>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C3_arcs_offsets(%x: tensor<?x4x16x32xf32>, %o: tensor<8xi32>, %a: tensor<40x4xi32>, %v: tensor<99x9xf32>) {
  // expected-error @+1 {{'disco.contract' op expected the shape of storage tensor 0 to be 9, but got 'tensor<8xi32>'}}
  %r = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 9, 16x32 -> 8x16>> : (tensor<?x4x16x32xf32>, tensor<8xi32>, tensor<40x4xi32>, tensor<99x9xf32>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C3_arcs_dynamic_offsets(%x: tensor<?x4x16x32xf32>, %o: tensor<?xi32>, %a: tensor<40x4xi32>, %v: tensor<99x9xf32>) {
  // expected-error @+1 {{'disco.contract' op expected the shape of storage tensor 0 to be 9, but got 'tensor<?xi32>'}}
  %r = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 9, 16x32 -> 8x16>> : (tensor<?x4x16x32xf32>, tensor<?xi32>, tensor<40x4xi32>, tensor<99x9xf32>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C3_arcs_phases(%x: tensor<?x4x8x16xf32>, %o: tensor<17xi32>, %a: tensor<40x4xi32>, %v: tensor<99x9xf32>) {
  // expected-error @+1 {{'disco.contract' op expected the shape of storage tensor 0 to be 33, but got 'tensor<17xi32>'}}
  %r = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 9, 8x16 -> 16x32>> : (tensor<?x4x8x16xf32>, tensor<17xi32>, tensor<40x4xi32>, tensor<99x9xf32>) -> tensor<?x4x9x16x32xf32>
  return
}

// -----

func.func @contract_C3_arcs_fields(%x: tensor<?x4x16x32xf32>, %o: tensor<9xi32>, %a: tensor<40x3xi32>, %v: tensor<99x9xf32>) {
  // expected-error @+1 {{'disco.contract' op expected the shape of storage tensor 1 to be ?x4, but got 'tensor<40x3xi32>'}}
  %r = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 9, 16x32 -> 8x16>> : (tensor<?x4x16x32xf32>, tensor<9xi32>, tensor<40x3xi32>, tensor<99x9xf32>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C3_arcs_basis(%x: tensor<?x4x16x32xf32>, %o: tensor<9xi32>, %a: tensor<40x4xi32>, %v: tensor<99x8xf32>) {
  // expected-error @+1 {{'disco.contract' op expected the shape of storage tensor 2 to be ?x9, but got 'tensor<99x8xf32>'}}
  %r = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 9, 16x32 -> 8x16>> : (tensor<?x4x16x32xf32>, tensor<9xi32>, tensor<40x4xi32>, tensor<99x8xf32>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C3_arcs_rank(%x: tensor<?x4x16x32xf32>, %o: tensor<9xi32>, %a: tensor<40x4xi32>, %v: tensor<99xf32>) {
  // expected-error @+1 {{'disco.contract' op expected the shape of storage tensor 2 to be ?x9, but got 'tensor<99xf32>'}}
  %r = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 9, 16x32 -> 8x16>> : (tensor<?x4x16x32xf32>, tensor<9xi32>, tensor<40x4xi32>, tensor<99xf32>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C3_arcs_float_offsets(%x: tensor<?x4x16x32xf32>, %o: tensor<9xf32>, %a: tensor<40x4xi32>, %v: tensor<99x9xf32>) {
  // expected-error @+1 {{'disco.contract' op expected the elements of storage tensor 0 to be i32 or i64, but got 'f32'}}
  %r = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 9, 16x32 -> 8x16>> : (tensor<?x4x16x32xf32>, tensor<9xf32>, tensor<40x4xi32>, tensor<99x9xf32>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C3_arcs_wide_arcs(%x: tensor<?x4x16x32xf32>, %o: tensor<9xi32>, %a: tensor<40x4xi64>, %v: tensor<99x9xf32>) {
  // expected-error @+1 {{'disco.contract' op expected the elements of storage tensor 1 to be i32, but got 'i64'}}
  %r = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 9, 16x32 -> 8x16>> : (tensor<?x4x16x32xf32>, tensor<9xi32>, tensor<40x4xi64>, tensor<99x9xf32>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C3_arcs_integer_values(%x: tensor<?x4x16x32xf32>, %o: tensor<9xi32>, %a: tensor<40x4xi32>, %v: tensor<99x9xi32>) {
  // expected-error @+1 {{'disco.contract' op expected the elements of storage tensor 2 to be floats, but got 'i32'}}
  %r = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 9, 16x32 -> 8x16>> : (tensor<?x4x16x32xf32>, tensor<9xi32>, tensor<40x4xi32>, tensor<99x9xi32>) -> tensor<?x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C3_csr_offsets(%x: tensor<2x4x300xf32>, %o: tensor<33xi32>, %c: tensor<99xi64>, %v: tensor<99x3xf32>) {
  // expected-error @+1 {{'disco.contract' op expected the shape of storage tensor 0 to be 34, but got 'tensor<33xi32>'}}
  %r = disco.contract %x, (%o, %c, %v) storage <csr, !disco.psi<csr, 3, 300 -> 33>> : (tensor<2x4x300xf32>, tensor<33xi32>, tensor<99xi64>, tensor<99x3xf32>) -> tensor<2x4x3x33xf32>
  return
}

// -----

func.func @contract_C3_csr_adjoint_offsets(%x: tensor<2x4x300xf32>, %o: tensor<34xi32>, %c: tensor<99xi64>, %v: tensor<99x3xf32>) {
  // expected-error @+1 {{'disco.contract' op expected the shape of storage tensor 0 to be 301, but got 'tensor<34xi32>'}}
  %r = disco.contract %x, (%o, %c, %v) storage <csr, !disco.psi<csr, 3, 300 -> 33>, adjoint> : (tensor<2x4x300xf32>, tensor<34xi32>, tensor<99xi64>, tensor<99x3xf32>) -> tensor<2x4x3x33xf32>
  return
}

// -----

func.func @contract_C3_csr_columns(%x: tensor<2x4x300xf32>, %o: tensor<34xi32>, %c: tensor<99x1xi32>, %v: tensor<99x3xf32>) {
  // expected-error @+1 {{'disco.contract' op expected the shape of storage tensor 1 to be ?, but got 'tensor<99x1xi32>'}}
  %r = disco.contract %x, (%o, %c, %v) storage <csr, !disco.psi<csr, 3, 300 -> 33>> : (tensor<2x4x300xf32>, tensor<34xi32>, tensor<99x1xi32>, tensor<99x3xf32>) -> tensor<2x4x3x33xf32>
  return
}

// -----

func.func @contract_C3_csr_values(%x: tensor<2x4x300xf32>, %o: tensor<34xi32>, %c: tensor<99xi64>, %v: tensor<99x4xf32>) {
  // expected-error @+1 {{'disco.contract' op expected the shape of storage tensor 2 to be ?x3, but got 'tensor<99x4xf32>'}}
  %r = disco.contract %x, (%o, %c, %v) storage <csr, !disco.psi<csr, 3, 300 -> 33>> : (tensor<2x4x300xf32>, tensor<34xi32>, tensor<99xi64>, tensor<99x4xf32>) -> tensor<2x4x3x33xf32>
  return
}

// -----

func.func @contract_C3_csr_float_columns(%x: tensor<2x4x300xf32>, %o: tensor<34xi32>, %c: tensor<99xf32>, %v: tensor<99x3xf32>) {
  // expected-error @+1 {{'disco.contract' op expected the elements of storage tensor 1 to be i32 or i64, but got 'f32'}}
  %r = disco.contract %x, (%o, %c, %v) storage <csr, !disco.psi<csr, 3, 300 -> 33>> : (tensor<2x4x300xf32>, tensor<34xi32>, tensor<99xf32>, tensor<99x3xf32>) -> tensor<2x4x3x33xf32>
  return
}

// -----

func.func @contract_C3_table_count(%x: tensor<2x4x128xf32>, %i: tensor<40x25xi32>, %v: tensor<40x25x3xf32>, %w: tensor<1xf32>) {
  // expected-error @+1 {{'disco.contract' op expected storage table to have 2 tensors, but got 3}}
  %r = disco.contract %x, (%i, %v, %w) storage <table, !disco.psi<table<25>, 3, 128 -> 40>> : (tensor<2x4x128xf32>, tensor<40x25xi32>, tensor<40x25x3xf32>, tensor<1xf32>) -> tensor<2x4x3x40xf32>
  return
}

// -----

func.func @contract_C3_table_index(%x: tensor<2x4x128xf32>, %i: tensor<40x24xi32>, %v: tensor<40x25x3xf32>) {
  // expected-error @+1 {{'disco.contract' op expected the shape of storage tensor 0 to be 40x25, but got 'tensor<40x24xi32>'}}
  %r = disco.contract %x, (%i, %v) storage <table, !disco.psi<table<25>, 3, 128 -> 40>> : (tensor<2x4x128xf32>, tensor<40x24xi32>, tensor<40x25x3xf32>) -> tensor<2x4x3x40xf32>
  return
}

// -----

func.func @contract_C3_table_values(%x: tensor<2x4x128xf32>, %i: tensor<40x25xi32>, %v: tensor<40x25x4xf32>) {
  // expected-error @+1 {{'disco.contract' op expected the shape of storage tensor 1 to be 40x25x3, but got 'tensor<40x25x4xf32>'}}
  %r = disco.contract %x, (%i, %v) storage <table, !disco.psi<table<25>, 3, 128 -> 40>> : (tensor<2x4x128xf32>, tensor<40x25xi32>, tensor<40x25x4xf32>) -> tensor<2x4x3x40xf32>
  return
}

// -----

func.func @contract_C3_table_adjoint(%x: tensor<2x4x128xf32>, %i: tensor<40x25xi32>, %v: tensor<40x25x3xf32>) {
  // expected-error @+1 {{'disco.contract' op expected the shape of storage tensor 0 to be 128x25, but got 'tensor<40x25xi32>'}}
  %r = disco.contract %x, (%i, %v) storage <table, !disco.psi<table<25>, 3, 128 -> 40>, adjoint> : (tensor<2x4x128xf32>, tensor<40x25xi32>, tensor<40x25x3xf32>) -> tensor<2x4x3x40xf32>
  return
}

// -----

func.func @contract_C3_onehot_bin(%x: tensor<2x4x128xf32>, %i: tensor<40x25xi32>, %b: tensor<40x25x3xi32>) {
  // expected-error @+1 {{'disco.contract' op expected the shape of storage tensor 1 to be 40x25, but got 'tensor<40x25x3xi32>'}}
  %r = disco.contract %x, (%i, %b) storage <onehot, !disco.psi<table<25>, 3, 128 -> 40>> : (tensor<2x4x128xf32>, tensor<40x25xi32>, tensor<40x25x3xi32>) -> tensor<2x4x3x40xf32>
  return
}

// -----

func.func @contract_C3_onehot_float_bin(%x: tensor<2x4x128xf32>, %i: tensor<40x25xi32>, %b: tensor<40x25xf32>) {
  // expected-error @+1 {{'disco.contract' op expected the elements of storage tensor 1 to be i32 or i64, but got 'f32'}}
  %r = disco.contract %x, (%i, %b) storage <onehot, !disco.psi<table<25>, 3, 128 -> 40>> : (tensor<2x4x128xf32>, tensor<40x25xi32>, tensor<40x25xf32>) -> tensor<2x4x3x40xf32>
  return
}

// -----

func.func @contract_C4_basis(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract' op expected the result to be 'tensor<?x4x9x8x16xf32>', but got 'tensor<?x4x8x8x16xf32>'}}
  %r = disco.contract %x, %psi : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x8x8x16xf32>
  return
}

// -----

func.func @contract_C4_channels(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract' op expected the result to be 'tensor<?x4x9x8x16xf32>', but got 'tensor<?x5x9x8x16xf32>'}}
  %r = disco.contract %x, %psi : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x5x9x8x16xf32>
  return
}

// -----

func.func @contract_C4_points(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract' op expected the result to be 'tensor<?x4x9x8x16xf32>', but got 'tensor<?x4x9x16x32xf32>'}}
  %r = disco.contract %x, %psi : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x9x16x32xf32>
  return
}

// -----

func.func @contract_C4_dynamic_points(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract' op expected the result to be 'tensor<?x4x9x8x16xf32>', but got 'tensor<?x4x9x?x16xf32>'}}
  %r = disco.contract %x, %psi : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x9x?x16xf32>
  return
}

// -----

func.func @contract_C4_batch(%x: tensor<2x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract' op expected the result to be 'tensor<2x4x9x8x16xf32>', but got 'tensor<3x4x9x8x16xf32>'}}
  %r = disco.contract %x, %psi : (tensor<2x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<3x4x9x8x16xf32>
  return
}

// -----

func.func @contract_C4_element_type(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract' op expected the result to be 'tensor<?x4x9x8x16xf32>', but got 'tensor<?x4x9x8x16xf64>'}}
  %r = disco.contract %x, %psi : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x9x8x16xf64>
  return
}

// -----

func.func @contract_C4_rank(%x: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract' op expected the result to be 'tensor<?x4x9x8x16xf32>', but got 'tensor<f32>'}}
  %r = disco.contract %x, %psi : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<f32>
  return
}

// -----

func.func @contract_sum_C1_rank(%z: tensor<?x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract_sum' op expected z to be [batch, channels, K, points...] of rank 5, but got 'tensor<?x4x16x32xf32>'}}
  %r = disco.contract_sum %z, %psi : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x8x16xf32>
  return
}

// -----

func.func @contract_sum_C1_dynamic_basis(%z: tensor<?x4x?x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract_sum' op expected z to be static in all dimensions but the batch, but got 'tensor<?x4x?x16x32xf32>'}}
  %r = disco.contract_sum %z, %psi : (tensor<?x4x?x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x8x16xf32>
  return
}

// -----

func.func @contract_sum_C2_points(%z: tensor<?x4x9x8x16xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract_sum' op expected the points of z to be the input 16x32 of psi, but got 8x16}}
  %r = disco.contract_sum %z, %psi : (tensor<?x4x9x8x16xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x8x16xf32>
  return
}

// -----

func.func @contract_sum_C3_two_psi(%z: tensor<?x4x9x16x32xf32>, %p: !disco.psi<sphere, 9, 16x32 -> 8x16>, %q: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract_sum' op expected psi without storage to be 1 value, but got 2}}
  %r = disco.contract_sum %z, (%p, %q) : (tensor<?x4x9x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x8x16xf32>
  return
}

// -----

func.func @contract_sum_C4_basis(%z: tensor<?x4x8x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract_sum' op expected z to have the 9 features of psi, but got 8}}
  %r = disco.contract_sum %z, %psi : (tensor<?x4x8x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x8x16xf32>
  return
}

// -----

func.func @contract_sum_C5_points(%z: tensor<?x4x9x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract_sum' op expected the result to be 'tensor<?x4x8x16xf32>', but got 'tensor<?x4x16x32xf32>'}}
  %r = disco.contract_sum %z, %psi : (tensor<?x4x9x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x16x32xf32>
  return
}

// -----

func.func @contract_sum_C5_channels(%z: tensor<?x4x9x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract_sum' op expected the result to be 'tensor<?x4x8x16xf32>', but got 'tensor<?x36x8x16xf32>'}}
  %r = disco.contract_sum %z, %psi : (tensor<?x4x9x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x36x8x16xf32>
  return
}

// -----

func.func @contract_sum_C5_element_type(%z: tensor<?x4x9x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 8x16>) {
  // expected-error @+1 {{'disco.contract_sum' op expected the result to be 'tensor<?x4x8x16xf32>', but got 'tensor<?x4x8x16xbf16>'}}
  %r = disco.contract_sum %z, %psi : (tensor<?x4x9x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x8x16xbf16>
  return
}
