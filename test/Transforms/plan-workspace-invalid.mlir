// RUN: disco-opt %s --disco-plan-workspace --split-input-file --verify-diagnostics

func.func @data(%x: memref<1xindex>) attributes {disco.entry = {inputs = [tensor<1xindex>]}} {
  %c0 = arith.constant 0 : index
  // expected-note@below {{which is here}}
  %n = memref.load %x[%c0] : memref<1xindex>
  // expected-error@below {{'memref.alloc' op expected the size of a buffer to be a function of the inputs' dimensions, but got a size that depends on something else}}
  %a = memref.alloc(%n) : memref<?xf32>
  memref.store %n, %x[%c0] : memref<1xindex>
  return
}

// -----

func.func @loop(%x: memref<?xf32>) attributes {disco.entry = {inputs = [tensor<?xf32>]}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  // expected-note@below {{which is here}}
  scf.for %i = %c0 to %n step %c1 {
    // expected-error@below {{'memref.alloc' op expected the size of a buffer to be a function of the inputs' dimensions, but got a size that depends on something else}}
    %a = memref.alloc(%i) : memref<?xf32>
  }
  return
}

// -----

func.func @carried(%x: memref<4xf32>) attributes {disco.entry = {inputs = [tensor<4xf32>]}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %first = memref.alloc() : memref<4xf32>
  %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%old = %first) -> memref<4xf32> {
    // expected-error@below {{'memref.alloc' op expected a buffer to stay in one iteration of a loop, but got one that is handed to the next}}
    %new = memref.alloc() : memref<4xf32>
    memref.copy %old, %new : memref<4xf32> to memref<4xf32>
    scf.yield %new : memref<4xf32>
  }
  memref.copy %last, %x : memref<4xf32> to memref<4xf32>
  return
}

// -----

func.func @layout(%x: memref<4xf32>) attributes {disco.entry = {inputs = [tensor<4xf32>]}} {
  // expected-error@below {{'memref.alloc' op expected a buffer of the workspace to be dense numbers, but got 'memref<4xf32, strided<[2]>>'}}
  %a = memref.alloc() : memref<4xf32, strided<[2]>>
  return
}

// -----

func.func @large(%x: memref<4xf32>) attributes {disco.entry = {inputs = [tensor<4xf32>]}} {
  // expected-error@below {{'memref.alloc' op expected the size of a buffer to fit into 64 bits, but got 'memref<4611686018427387904xf32>'}}
  %a = memref.alloc() : memref<4611686018427387904xf32>
  return
}
