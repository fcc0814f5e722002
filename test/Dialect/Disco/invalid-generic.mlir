// RUN: disco-opt %s -split-input-file -verify-diagnostics

// IR that only the generic form can write: each of these must be refused, and
// none may crash the parser, the verifier or type inference.

func.func @filter_without_attribute() {
  // expected-error @+1 {{'disco.filter' op requires attribute 'filter'}}
  %psi = "disco.filter"() : () -> !disco.psi<sphere, 9, 16x32 -> 16x32>
  return
}

// -----

func.func @filter_with_another_attribute() {
  // expected-error @+1 {{Invalid attribute `filter` in property conversion: 1 : i64}}
  %psi = "disco.filter"() <{filter = 1 : i64}> : () -> !disco.psi<sphere, 9, 16x32 -> 16x32>
  return
}

// -----

func.func @filter_without_result() {
  // expected-error @+1 {{'disco.filter' op requires one result}}
  "disco.filter"() <{filter = #disco.sphere_filter<zernike, [1], in = #disco.grid<lobatto, 2x2>, out = #disco.grid<lobatto, 2x2>>}> : () -> ()
  return
}

// -----

func.func @filter_of_a_tensor() {
  // expected-error @+1 {{'disco.filter' op result #0 must be a filter operator: K linear maps from input points to output points, but got 'tensor<1xf32>'}}
  %psi = "disco.filter"() <{filter = #disco.sphere_filter<zernike, [1], in = #disco.grid<lobatto, 2x2>, out = #disco.grid<lobatto, 2x2>>}> : () -> tensor<1xf32>
  return
}

// -----

func.func @adjoint_without_operand() {
  // expected-error @+1 {{'disco.adjoint' op requires a single operand}}
  %psi = "disco.adjoint"() : () -> !disco.psi<sphere, 9, 16x32 -> 16x32>
  return
}

// -----

func.func @adjoint_of_a_tensor(%x: tensor<9xf32>) {
  // expected-error @+1 {{'disco.adjoint' op operand #0 must be a filter operator: K linear maps from input points to output points, but got 'tensor<9xf32>'}}
  %psi = "disco.adjoint"(%x) : (tensor<9xf32>) -> !disco.psi<sphere, 9, 16x32 -> 16x32>
  return
}

// -----

func.func @assemble_without_format(%x: tensor<9xf32>) {
  // expected-error @+1 {{'disco.assemble' op requires attribute 'format'}}
  %psi = "disco.assemble"(%x) : (tensor<9xf32>) -> !disco.psi<csr, 9, 300 -> 33>
  return
}

// -----

func.func @assemble_of_psi(%psi: !disco.psi<csr, 9, 300 -> 33>) {
  // expected-error @+1 {{'disco.assemble' op operand #0 must be variadic of ranked tensor of i32 or i64 or f64, f32, f16 or bf16 values, but got '!disco.psi<csr, 9, 300 -> 33>'}}
  %p = "disco.assemble"(%psi) <{format = #disco<table_format coo>}> : (!disco.psi<csr, 9, 300 -> 33>) -> !disco.psi<csr, 9, 300 -> 33>
  return
}

// -----

func.func @contract_without_operands() {
  // expected-error @+1 {{'disco.contract' op expected 1 or more operands, but found 0}}
  %z = "disco.contract"() : () -> tensor<2x4x9x16x32xf32>
  return
}

// -----

func.func @contract_without_psi(%x: tensor<2x4x16x32xf32>) {
  // expected-error @+1 {{'disco.contract' op expected psi without storage to be 1 value, but got 0}}
  %z = "disco.contract"(%x) : (tensor<2x4x16x32xf32>) -> tensor<2x4x9x16x32xf32>
  return
}

// -----

func.func @contract_unranked(%x: tensor<*xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>) {
  // expected-error @+1 {{'disco.contract' op operand #0 must be ranked tensor of f64, f32, f16 or bf16 values, but got 'tensor<*xf32>'}}
  %z = "disco.contract"(%x, %psi) : (tensor<*xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<2x4x9x16x32xf32>
  return
}

// -----

func.func @contract_memref(%x: memref<2x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>) {
  // expected-error @+1 {{'disco.contract' op operand #0 must be ranked tensor of f64, f32, f16 or bf16 values, but got 'memref<2x4x16x32xf32>'}}
  %z = "disco.contract"(%x, %psi) : (memref<2x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<2x4x9x16x32xf32>
  return
}

// -----

func.func @contract_integers(%x: tensor<2x4x16x32xi32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>) {
  // expected-error @+1 {{'disco.contract' op operand #0 must be ranked tensor of f64, f32, f16 or bf16 values, but got 'tensor<2x4x16x32xi32>'}}
  %z = "disco.contract"(%x, %psi) : (tensor<2x4x16x32xi32>, !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<2x4x9x16x32xi32>
  return
}

// -----

func.func @contract_psi_as_activations(%psi: !disco.psi<sphere, 9, 16x32 -> 16x32>) {
  // expected-error @+1 {{'disco.contract' op operand #0 must be ranked tensor of f64, f32, f16 or bf16 values, but got '!disco.psi<sphere, 9, 16x32 -> 16x32>'}}
  %z = "disco.contract"(%psi, %psi) : (!disco.psi<sphere, 9, 16x32 -> 16x32>, !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<2x4x9x16x32xf32>
  return
}

// -----

func.func @contract_storage_of_another_kind(%x: tensor<2x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>) {
  // expected-error @+1 {{Invalid attribute `storage` in property conversion: "arcs"}}
  %z = "disco.contract"(%x, %psi) <{storage = "arcs"}> : (tensor<2x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<2x4x9x16x32xf32>
  return
}

// -----

func.func @contract_sum_without_result(%z: tensor<2x4x9x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>) {
  // expected-error @+1 {{'disco.contract_sum' op requires one result}}
  "disco.contract_sum"(%z, %psi) : (tensor<2x4x9x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>) -> ()
  return
}

// -----

func.func @conv_segments_do_not_add_up(%x: tensor<2x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>) {
  // expected-error @+1 {{'disco.conv' op operand count (2) does not match with the total size (3) specified in attribute 'operandSegmentSizes'}}
  %y = "disco.conv"(%x, %psi) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<2x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<2x6x16x32xf32>
  return
}

// -----

func.func @conv_without_segments(%x: tensor<2x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) {
  // expected-error @+1 {{'disco.conv' op operand count (3) does not match with the total size (0) specified in attribute 'operandSegmentSizes'}}
  %y = "disco.conv"(%x, %psi, %w) : (tensor<2x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<2x6x16x32xf32>
  return
}

// -----

func.func @conv_two_weights(%x: tensor<2x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected 1 x and 1 weight, but got 1 and 2}}
  %y = "disco.conv"(%x, %psi, %w, %w) <{operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>}> : (tensor<2x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>, tensor<6x4x9xf32>) -> tensor<2x6x16x32xf32>
  return
}

// -----

func.func @conv_without_weight(%x: tensor<2x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>) {
  // expected-error @+1 {{'disco.conv' op expected 1 x and 1 weight, but got 1 and 0}}
  %y = "disco.conv"(%x, %psi, %psi) <{operandSegmentSizes = array<i32: 1, 2, 0, 0, 0>}> : (tensor<2x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, !disco.psi<sphere, 9, 16x32 -> 16x32>) -> tensor<2x6x16x32xf32>
  return
}

// -----

func.func @conv_without_x(%psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected 1 x and 1 weight, but got 0 and 1}}
  %y = "disco.conv"(%psi, %w) <{operandSegmentSizes = array<i32: 0, 1, 1, 0, 0>}> : (!disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<2x6x16x32xf32>
  return
}

// -----

func.func @conv_negative_segment(%x: tensor<2x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) {
  // expected-error @+1 {{'disco.conv' op 'operandSegmentSizes' attribute cannot have negative elements}}
  %y = "disco.conv"(%x, %psi, %w) <{operandSegmentSizes = array<i32: 1, 1, 2, -1, 0>}> : (tensor<2x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<2x6x16x32xf32>
  return
}

// -----

func.func @conv_groups_of_another_kind(%x: tensor<2x4x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) {
  // expected-error @+1 {{'disco.conv' op attribute 'groups' failed to satisfy constraint: 64-bit signless integer attribute}}
  %y = "disco.conv"(%x, %psi, %w) <{groups = 1 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<2x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<2x6x16x32xf32>
  return
}

// -----

// Sizes whose products overflow.
func.func @conv_huge_channels(%x: tensor<?x9223372036854775807x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>, %w: tensor<6x4x9xf32>) {
  // expected-error @+1 {{'disco.conv' op expected the weight to be a static [O, 9223372036854775807, 9], but got 'tensor<6x4x9xf32>'}}
  %y = "disco.conv"(%x, %psi, %w) <{groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<?x9223372036854775807x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
  return
}

// -----

func.func @weight_grad_three_results(%x: tensor<2x4x16x32xf32>, %gy: tensor<2x6x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op result group starting at #1 requires 0 or 1 element, but found 2}}
  %g:3 = "disco.conv_weight_grad"(%x, %gy, %psi) : (tensor<2x4x16x32xf32>, tensor<2x6x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>) -> (tensor<6x4x9xf32>, tensor<6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @weight_grad_without_results(%x: tensor<2x4x16x32xf32>, %gy: tensor<2x6x16x32xf32>, %psi: !disco.psi<sphere, 9, 16x32 -> 16x32>) {
  // expected-error @+1 {{'disco.conv_weight_grad' op expected 1 or more results}}
  "disco.conv_weight_grad"(%x, %gy, %psi) : (tensor<2x4x16x32xf32>, tensor<2x6x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>) -> ()
  return
}
