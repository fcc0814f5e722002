// RUN: disco-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// expected-error @+1 {{expected the provider of the plan to be runtime, but got codegen}}
"test.op"() {kernel_call_C1_provider = #disco.kernel_call<kind = contract, dtype = f32, channels = 4, storage = <arcs, !disco.psi<sphere, 1, 2x4 -> 2x4>>, indexType = i32, valueType = f32, numTaps = 1, plan = <loops>>} : () -> ()

// -----

// expected-error @+1 {{expected the plan to have the fields tile, channel_block of cpu_gather, but got none}}
"test.op"() {kernel_call_C1_fields = #disco.kernel_call<kind = contract, dtype = f32, channels = 4, storage = <arcs, !disco.psi<sphere, 1, 2x4 -> 2x4>>, indexType = i32, valueType = f32, numTaps = 1, plan = <cpu_gather>>} : () -> ()

// -----

// expected-error @+1 {{expected element types to be f64, f32, f16 or bf16, but got 'f8E5M2'}}
"test.op"() {kernel_call_C2_float = #disco.kernel_call<kind = contract, dtype = f8E5M2, channels = 4, storage = <arcs, !disco.psi<sphere, 1, 2x4 -> 2x4>>, indexType = i32, valueType = f32, numTaps = 1, plan = <cpu_gather, schedule = {tile = 16, channel_block = 0}>>} : () -> ()

// -----

// expected-error @+1 {{expected the type of indices to be i32 or i64, but got 'i16'}}
"test.op"() {kernel_call_C2_index = #disco.kernel_call<kind = contract, dtype = f32, channels = 4, storage = <arcs, !disco.psi<sphere, 1, 2x4 -> 2x4>>, indexType = i16, valueType = f32, numTaps = 1, plan = <cpu_gather, schedule = {tile = 16, channel_block = 0}>>} : () -> ()

// -----

#call = #disco.kernel_call<kind = contract, dtype = f32, channels = 4, storage = <arcs, !disco.psi<sphere, 1, 2x4 -> 2x4>>, indexType = i32, valueType = f32, numTaps = 1, plan = <cpu_gather, schedule = {tile = 16, channel_block = 0}>>
func.func @kernel_workspace_C1(%n: index) {
  // expected-error @+1 {{'disco.kernel_workspace' op expected the number of taps of the call to be dynamic, but got a constant one}}
  %b = disco.kernel_workspace #call batch %n taps %n
  return
}

// -----

#call = #disco.kernel_call<kind = contract, dtype = f32, channels = 4, storage = <csr, !disco.psi<csr, 1, 8 -> 8>>, indexType = i32, valueType = f32, plan = <cpu_gather, schedule = {tile = 16, channel_block = 0}>>
func.func @kernel_workspace_C1_missing(%n: index) {
  // expected-error @+1 {{'disco.kernel_workspace' op expected the number of taps of the call to be constant, but got a dynamic one}}
  %b = disco.kernel_workspace #call batch %n
  return
}

// -----

#call = #disco.kernel_call<kind = contract, dtype = f32, channels = 4, storage = <arcs, !disco.psi<sphere, 1, 2x4 -> 2x4>>, indexType = i32, valueType = f32, numTaps = 1, plan = <cpu_gather, schedule = {tile = 16, channel_block = 0}>>
func.func @kernel_call_C1_weight(%x: memref<1x4x2x4xf32>, %o: memref<3xi32>, %a: memref<1x4xi32>, %v: memref<1x1xf32>, %w: memref<1x1x1xf32>, %y: memref<1x4x1x2x4xf32>, %s: memref<?xi8>) {
  // expected-error @+1 {{'disco.kernel_call' op expected no weight for this call, but got one}}
  disco.kernel_call #call ins(%x psi(%o, %a, %v) weight(%w)) outs(%y, %s) : (memref<1x4x2x4xf32>, memref<3xi32>, memref<1x4xi32>, memref<1x1xf32>, memref<1x1x1xf32>, memref<1x4x1x2x4xf32>, memref<?xi8>) -> ()
  return
}

// -----

#call = #disco.kernel_call<kind = contract, dtype = f32, channels = 4, storage = <arcs, !disco.psi<sphere, 1, 2x4 -> 2x4>>, indexType = i32, valueType = f32, numTaps = 1, plan = <cpu_gather, schedule = {tile = 16, channel_block = 0}>>
func.func @kernel_call_C1_psi(%x: memref<1x4x2x4xf32>, %a: memref<1x4xi32>, %v: memref<1x1xf32>, %y: memref<1x4x1x2x4xf32>, %s: memref<?xi8>) {
  // expected-error @+1 {{'disco.kernel_call' op expected psi to be 3 operands, but got 2}}
  disco.kernel_call #call ins(%x psi(%a, %v)) outs(%y, %s) : (memref<1x4x2x4xf32>, memref<1x4xi32>, memref<1x1xf32>, memref<1x4x1x2x4xf32>, memref<?xi8>) -> ()
  return
}

// -----

#call = #disco.kernel_call<kind = contract, dtype = f32, channels = 4, storage = <arcs, !disco.psi<sphere, 1, 2x4 -> 2x4>>, indexType = i32, valueType = f32, numTaps = 1, plan = <cpu_gather, schedule = {tile = 16, channel_block = 0}>>
func.func @kernel_call_C1_outs(%x: memref<1x4x2x4xf32>, %o: memref<3xi32>, %a: memref<1x4xi32>, %v: memref<1x1xf32>, %s: memref<?xi8>) {
  // expected-error @+1 {{'disco.kernel_call' op expected 2 outs with the workspace, but got 1}}
  disco.kernel_call #call ins(%x psi(%o, %a, %v)) outs(%s) : (memref<1x4x2x4xf32>, memref<3xi32>, memref<1x4xi32>, memref<1x1xf32>, memref<?xi8>) -> ()
  return
}

// -----

#call = #disco.kernel_call<kind = contract, dtype = f32, channels = 4, storage = <arcs, !disco.psi<sphere, 1, 2x4 -> 2x4>>, indexType = i32, valueType = f32, numTaps = 1, plan = <cpu_gather, schedule = {tile = 16, channel_block = 0}>>
func.func @kernel_call_C2_mixed(%x: memref<1x4x2x4xf32>, %o: tensor<3xi32>, %a: memref<1x4xi32>, %v: memref<1x1xf32>, %y: memref<1x4x1x2x4xf32>, %s: memref<?xi8>) {
  // expected-error @+1 {{'disco.kernel_call' op expected all operands to be memrefs, but got 'tensor<3xi32>'}}
  disco.kernel_call #call ins(%x psi(%o, %a, %v)) outs(%y, %s) : (memref<1x4x2x4xf32>, tensor<3xi32>, memref<1x4xi32>, memref<1x1xf32>, memref<1x4x1x2x4xf32>, memref<?xi8>) -> ()
  return
}

// -----

#call = #disco.kernel_call<kind = contract, dtype = f32, channels = 4, storage = <arcs, !disco.psi<sphere, 1, 2x4 -> 2x4>>, indexType = i32, valueType = f32, numTaps = 1, plan = <cpu_gather, schedule = {tile = 16, channel_block = 0}>>
func.func @kernel_call_C2_strided(%x: memref<1x4x2x4xf32, strided<[?, ?, ?, ?]>>, %o: memref<3xi32>, %a: memref<1x4xi32>, %v: memref<1x1xf32>, %y: memref<1x4x1x2x4xf32>, %s: memref<?xi8>) {
  // expected-error @+1 {{'disco.kernel_call' op expected a memref to have the identity layout, but got 'memref<1x4x2x4xf32, strided<[?, ?, ?, ?]>>'}}
  disco.kernel_call #call ins(%x psi(%o, %a, %v)) outs(%y, %s) : (memref<1x4x2x4xf32, strided<[?, ?, ?, ?]>>, memref<3xi32>, memref<1x4xi32>, memref<1x1xf32>, memref<1x4x1x2x4xf32>, memref<?xi8>) -> ()
  return
}

// -----

#call = #disco.kernel_call<kind = contract, dtype = f32, channels = 4, storage = <arcs, !disco.psi<sphere, 1, 2x4 -> 2x4>>, indexType = i32, valueType = f32, numTaps = 1, plan = <cpu_gather, schedule = {tile = 16, channel_block = 0}>>
func.func @kernel_call_C3(%x: memref<1x4x2x4xf32>, %o: memref<3xi32>, %a: memref<1x4xi32>, %v: memref<1x1xf32>, %y: memref<1x4x1x2x4xf32>, %s: memref<?xi32>) {
  // expected-error @+1 {{'disco.kernel_call' op expected the workspace to have rank 1 and type i8, but got 'memref<?xi32>'}}
  disco.kernel_call #call ins(%x psi(%o, %a, %v)) outs(%y, %s) : (memref<1x4x2x4xf32>, memref<3xi32>, memref<1x4xi32>, memref<1x1xf32>, memref<1x4x1x2x4xf32>, memref<?xi32>) -> ()
  return
}
