// RUN: disco-opt %s --disco-prepare-entries --split-input-file --verify-diagnostics

// expected-error@below {{'func.func' op expected argument 1 to be a ranked tensor, but got 'index'}}
func.func @scalar(%x: tensor<4xf32>, %i: index) {
  return
}

// -----

// expected-error@below {{'func.func' op expected the elements of result 0 to be f64, f32, f16, bf16, i32 or i64, but got 'i8'}}
func.func @element() -> tensor<4xi8> {
  %x = arith.constant dense<1> : tensor<4xi8>
  return %x : tensor<4xi8>
}

// -----

// expected-error@below {{'func.func' op expected argument 0 to have rank at most 8, but got 9}}
func.func @rank(%x: tensor<1x1x1x1x1x1x1x1x1xf32>) {
  return
}

// -----

// expected-error@below {{'func.func' op expected the body of an entry to be one block, but got 2}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^end
^end:
  return %x : tensor<4xf32>
}

// -----

func.func private @other(tensor<4xf32>) -> tensor<4xf32>
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'func.call' op expected calls to be inlined, but got a call that cannot be (recursive, or of a declaration)}}
  %y = func.call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error@below {{'func.func' op expected the name @f_workspace_bytes to be free for this entry, but got another symbol of that name}}
func.func @f(%x: tensor<4xf32>) {
  return
}
// expected-note@below {{which is here}}
func.func private @f_workspace_bytes()

// -----

// expected-error@below {{'func.func' op expected the shapes of the results to be functions of the shapes of the arguments, but got 'tensor.extract' among what decides them}}
func.func @data(%x: tensor<1xi64>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  // expected-note@below {{which is here}}
  %n = tensor.extract %x[%c0] : tensor<1xi64>
  %size = arith.index_cast %n : i64 to index
  %y = tensor.empty(%size) : tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @sizes(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.addi %n, %c1 : index
  %z = tensor.empty(%m) : tensor<?xf32>
  // expected-error@below {{'linalg.generic' op expected the sizes of a loop to be the same dimension of the arguments, or constants, but got sizes that may differ}}
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<?xf32>) outs(%z : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// A name ends at the first NUL in C: this entry could be taken for another.
// expected-error@below {{'func.func' op expected the name of an entry to have no NUL character, but got one at 1}}
func.func @"a\00b"(%x: tensor<1xf32>) -> tensor<1xf32> {
  return %x : tensor<1xf32>
}
