// RUN: disco-opt %s --disco-lower-to-loops --split-input-file --verify-diagnostics

func.func @abstract(%x: tensor<1x2x4xf32>, %psi: !disco.psi<csr, 3, 4 -> 2>) -> tensor<1x2x3x2xf32> {
  // expected-error@below {{'disco.contract' op expected psi to be the tensors of a storage, but got '!disco.psi<csr, 3, 4 -> 2>': run disco-materialize-filters first}}
  %z = disco.contract %x, %psi : (tensor<1x2x4xf32>, !disco.psi<csr, 3, 4 -> 2>) -> tensor<1x2x3x2xf32>
  return %z : tensor<1x2x3x2xf32>
}

// -----

func.func @provider(%x: tensor<1x2x4xf32>, %o: tensor<3xi32>, %i: tensor<?xi32>, %v: tensor<?x3xf32>) -> tensor<1x2x3x2xf32> {
  // expected-error@below {{'disco.contract' op expected the plan to be <loops, provider = codegen>, but got <loops, provider = runtime>}}
  %z = disco.contract %x, (%o, %i, %v) storage <csr, !disco.psi<csr, 3, 4 -> 2>> plan <loops, provider = runtime> : (tensor<1x2x4xf32>, tensor<3xi32>, tensor<?xi32>, tensor<?x3xf32>) -> tensor<1x2x3x2xf32>
  return %z : tensor<1x2x3x2xf32>
}

// -----

// All extents are 4: read as nchw, the shapes would agree and the result be wrong.
func.func @layout(%x: tensor<1x4x4x4xf32>, %w: tensor<4x4x1xf32>, %o: tensor<5xi32>, %a: tensor<?x4xi32>, %v: tensor<?x1xf32>) -> tensor<1x4x4x4xf32> {
  // expected-error@below {{'disco.conv' op expected the layout of loops to be nchw -> nchw, but got nhwc -> nhwc}}
  %y = disco.conv %x, (%o, %a, %v), %w storage <arcs, !disco.psi<sphere, 1, 4x4 -> 4x4>> plan <loops, layout = nhwc -> nhwc> : (tensor<1x4x4x4xf32>, tensor<5xi32>, tensor<?x4xi32>, tensor<?x1xf32>, tensor<4x4x1xf32>) -> tensor<1x4x4x4xf32>
  return %y : tensor<1x4x4x4xf32>
}
