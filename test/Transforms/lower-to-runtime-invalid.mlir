// RUN: disco-opt %s --disco-lower-to-runtime --split-input-file --verify-diagnostics

func.func @abstract(%x: tensor<1x2x4xf32>, %psi: !disco.psi<csr, 3, 4 -> 2>) -> tensor<1x2x3x2xf32> {
  // expected-error@below {{'disco.contract' op expected psi to be the tensors of a storage, but got '!disco.psi<csr, 3, 4 -> 2>': run disco-materialize-filters first}}
  %z = disco.contract %x, %psi plan <cpu_gather, schedule = {tile = 16, channel_block = 0}> : (tensor<1x2x4xf32>, !disco.psi<csr, 3, 4 -> 2>) -> tensor<1x2x3x2xf32>
  return %z : tensor<1x2x3x2xf32>
}

// -----

func.func @planned(%x: tensor<1x2x4xf32>, %o: tensor<3xi32>, %i: tensor<?xi32>, %v: tensor<?x3xf32>) -> tensor<1x2x3x2xf32> {
  // expected-error@below {{'disco.contract' op expected the family of the plan to have a lowering to the runtime, but got kpacked_wgmma}}
  %z = disco.contract %x, (%o, %i, %v) storage <csr, !disco.psi<csr, 3, 4 -> 2>> plan <kpacked_wgmma, provider = runtime> : (tensor<1x2x4xf32>, tensor<3xi32>, tensor<?xi32>, tensor<?x3xf32>) -> tensor<1x2x3x2xf32>
  return %z : tensor<1x2x3x2xf32>
}

// -----

func.func @loops(%x: tensor<1x2x4xf32>, %o: tensor<3xi32>, %i: tensor<?xi32>, %v: tensor<?x3xf32>) -> tensor<1x2x3x2xf32> {
  // expected-error@below {{'disco.contract' op expected the family of the plan to have a lowering to the runtime, but got loops}}
  %z = disco.contract %x, (%o, %i, %v) storage <csr, !disco.psi<csr, 3, 4 -> 2>> plan <loops, provider = runtime> : (tensor<1x2x4xf32>, tensor<3xi32>, tensor<?xi32>, tensor<?x3xf32>) -> tensor<1x2x3x2xf32>
  return %z : tensor<1x2x3x2xf32>
}

// -----

func.func @fields(%x: tensor<1x2x4xf32>, %o: tensor<3xi32>, %i: tensor<?xi32>, %v: tensor<?x3xf32>) -> tensor<1x2x3x2xf32> {
  // expected-error@below {{'disco.contract' op expected the plan to have the fields tile, channel_block of cpu_gather, but got tile=16: disco-select-kernel chooses those that are missing}}
  %z = disco.contract %x, (%o, %i, %v) storage <csr, !disco.psi<csr, 3, 4 -> 2>> plan <cpu_gather, schedule = {tile = 16}> : (tensor<1x2x4xf32>, tensor<3xi32>, tensor<?xi32>, tensor<?x3xf32>) -> tensor<1x2x3x2xf32>
  return %z : tensor<1x2x3x2xf32>
}

// -----

func.func @layout(%x: tensor<1x4x2xf32>, %o: tensor<3xi32>, %i: tensor<?xi32>, %v: tensor<?x3xf32>, %w: tensor<1x2x3xf32>) -> tensor<1x1x2xf32> {
  // expected-error@below {{'disco.conv' op expected the layouts of a plan for cpu_gather to be nchw, but got nhwc}}
  %y = disco.conv %x, (%o, %i, %v), %w storage <csr, !disco.psi<csr, 3, 4 -> 2>> plan <cpu_gather, layout = nhwc -> nchw, schedule = {tile = 16, channel_block = 2}> : (tensor<1x4x2xf32>, tensor<3xi32>, tensor<?xi32>, tensor<?x3xf32>, tensor<1x2x3xf32>) -> tensor<1x1x2xf32>
  return %y : tensor<1x1x2xf32>
}

// -----

// The family has kernels for other ops.
func.func @planned_op(%x: tensor<1x2x4x8xbf16>, %w: tensor<3x2x3xbf16>, %o: tensor<5xi32>, %a: tensor<?x4xi32>, %v: tensor<?x3xf32>) -> tensor<1x3x4x8xbf16> {
  // expected-error@below {{'disco.conv' op family 'toeplitz_wgmma' is not applicable: expected the op to be one of contract, contract_sum, but got conv, which is planned}}
  %y = disco.conv %x, (%o, %a, %v), %w storage <arcs, !disco.psi<sphere, 3, 4x8 -> 4x8>> plan <toeplitz_wgmma> : (tensor<1x2x4x8xbf16>, tensor<5xi32>, tensor<?x4xi32>, tensor<?x3xf32>, tensor<3x2x3xbf16>) -> tensor<1x3x4x8xbf16>
  return %y : tensor<1x3x4x8xbf16>
}

// -----

// Layouts that the kernels do not have.
func.func @layouts(%x: tensor<1x2x4x8xf32>, %o: tensor<5xi32>, %a: tensor<?x4xi32>, %v: tensor<?x3xf32>) -> tensor<1x2x3x4x8xf32> {
  // expected-error@below {{'disco.contract' op expected the layouts of a plan for csr_gather to be nchw, but got c8}}
  %z = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 3, 4x8 -> 4x8>> plan <csr_gather, kernel_layout = c8 -> nchw, schedule = {fields = 8, features = 9, block_mib = 0}> : (tensor<1x2x4x8xf32>, tensor<5xi32>, tensor<?x4xi32>, tensor<?x3xf32>) -> tensor<1x2x3x4x8xf32>
  return %z : tensor<1x2x3x4x8xf32>
}
