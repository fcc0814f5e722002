// RUN: disco-opt %s --disco-lower-to-runtime --cse --mlir-print-local-scope --split-input-file | FileCheck %s

// A dynamic batch: what the kernel needs is asked for when run.

// CHECK-LABEL: func.func @contract(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x4x2x4xf32>, %[[O:[a-z0-9]*]]: tensor<3xi32>, %[[A:[a-z0-9]*]]: tensor<5x4xi32>, %[[V:[a-z0-9]*]]: tensor<7x3xf32>)
// CHECK:         %[[B:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK:         %[[INIT:.*]] = tensor.empty(%[[B]]) : tensor<?x4x3x2x4xf32>
// CHECK:         %[[BYTES:.*]] = disco.kernel_workspace <kind = contract, dtype = f32, channels = 4, storage = <arcs, !disco.psi<sphere, 3, 2x4 -> 2x4>>, indexType = i32, valueType = f32, numArcs = 5, numTaps = 7, plan = <cpu_gather, schedule = {tile = 32, channel_block = 0}>> batch %[[B]]
// CHECK:         %[[WS:.*]] = tensor.empty(%[[BYTES]]) : tensor<?xi8>
// CHECK:         %[[Z:.*]]:2 = disco.kernel_call <kind = contract, {{.*}}> ins(%[[X]] psi(%[[O]], %[[A]], %[[V]])) outs(%[[INIT]], %[[WS]])
// CHECK:         return %[[Z]]#0
func.func @contract(%x: tensor<?x4x2x4xf32>, %o: tensor<3xi32>, %a: tensor<5x4xi32>, %v: tensor<7x3xf32>) -> tensor<?x4x3x2x4xf32> {
  %z = disco.contract %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 3, 2x4 -> 2x4>> plan <cpu_gather, schedule = {tile = 32, channel_block = 0}> : (tensor<?x4x2x4xf32>, tensor<3xi32>, tensor<5x4xi32>, tensor<7x3xf32>) -> tensor<?x4x3x2x4xf32>
  return %z : tensor<?x4x3x2x4xf32>
}

// -----

// Constant offsets say how many arcs there are: tables without a tap keep one
// element, which none refers to.

// CHECK-LABEL: func.func @empty(
// CHECK:         disco.kernel_workspace <kind = contract_sum, dtype = f64, channels = 4, storage = <arcs, {{.*}}>, indexType = i32, valueType = f64, numTaps = 1, plan = <cpu_gather, order = weight_first,
func.func @empty(%x: tensor<1x4x3x2x4xf64>) -> tensor<1x4x2x4xf64> {
  %o = arith.constant dense<0> : tensor<3xi32>
  %a = arith.constant dense<0> : tensor<1x4xi32>
  %v = arith.constant dense<0.0> : tensor<1x3xf64>
  %y = disco.contract_sum %x, (%o, %a, %v) storage <arcs, !disco.psi<sphere, 3, 2x4 -> 2x4>> plan <cpu_gather, order = weight_first, schedule = {tile = 0, channel_block = 4}> : (tensor<1x4x3x2x4xf64>, tensor<3xi32>, tensor<1x4xi32>, tensor<1x3xf64>) -> tensor<1x4x2x4xf64>
  return %y : tensor<1x4x2x4xf64>
}

// -----

// All of a conv. Taps whose number only a run knows; offsets in the type of the
// indices; weight and bias in one type.

// CHECK-LABEL: func.func @conv(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x4x8xbf16>, %[[O:[a-z0-9]*]]: tensor<6xi32>, %[[I:[a-z0-9]*]]: tensor<?xi64>, %[[V:[a-z0-9]*]]: tensor<?x3xbf16>, %[[W:[a-z0-9]*]]: tensor<6x2x3xbf16>, %[[BIAS:[a-z0-9]*]]: tensor<6xf32>, %[[R:[a-z0-9]*]]: tensor<?x6x5xbf16>)
// CHECK:         %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[W]] : tensor<6x2x3xbf16>) outs(%{{.*}} : tensor<6x2x3xf32>)
// CHECK:           arith.extf
// CHECK:         %[[OFFSETS:.*]] = linalg.generic {{.*}} ins(%[[O]] : tensor<6xi32>) outs(%{{.*}} : tensor<6xi64>)
// CHECK:           arith.extsi
// CHECK:         %[[TAPS:.*]] = tensor.dim %[[I]]
// CHECK:         disco.kernel_workspace <kind = conv, dtype = bf16, parameterType = f32, channels = 4, outChannels = 6, groups = 2, activation = gelu, bias = unit, residual = unit, storage = <csr, !disco.psi<csr, 3, 8 -> 5>>, indexType = i64, valueType = bf16, plan = <cpu_gather, order = weight_first, schedule = {tile = 0, channel_block = 8}>> batch %{{.*}} taps %[[TAPS]]
// CHECK:         disco.kernel_call <{{.*}}> ins(%[[X]] psi(%[[OFFSETS]], %[[I]], %[[V]]) weight(%[[WIDE]]) bias(%[[BIAS]]) residual(%[[R]])) outs(
func.func @conv(%x: tensor<?x4x8xbf16>, %o: tensor<6xi32>, %i: tensor<?xi64>, %v: tensor<?x3xbf16>, %w: tensor<6x2x3xbf16>, %b: tensor<6xf32>, %r: tensor<?x6x5xbf16>) -> tensor<?x6x5xbf16> {
  %y = disco.conv %x, (%o, %i, %v), %w bias %b residual %r groups 2 activation gelu storage <csr, !disco.psi<csr, 3, 8 -> 5>> plan <cpu_gather, order = weight_first, schedule = {tile = 0, channel_block = 8}> : (tensor<?x4x8xbf16>, tensor<6xi32>, tensor<?xi64>, tensor<?x3xbf16>, tensor<6x2x3xbf16>, tensor<6xf32>, tensor<?x6x5xbf16>) -> tensor<?x6x5xbf16>
  return %y : tensor<?x6x5xbf16>
}

// -----

// The weight of an input gradient is taken as it was before its transposition.

// CHECK-LABEL: func.func @input_gradient(
// CHECK-SAME:    %[[W:[a-z0-9]*]]: tensor<4x6x3xf32>)
// CHECK:         disco.kernel_call <kind = conv, {{.*}}transposeWeight = unit{{.*}}weight(%[[W]])
// CHECK-LABEL: func.func @grouped_input_gradient(
// CHECK-SAME:    %[[W:[a-z0-9]*]]: tensor<4x3x3xf32>)
// CHECK:         disco.kernel_call <kind = conv, {{.*}}groups = 2{{.*}}transposeWeight = unit{{.*}}weight(%[[W]])
// Another permutation is not undone.
// CHECK-LABEL: func.func @permuted(
// CHECK-NOT:     transposeWeight
// CHECK:         disco.kernel_call <kind = conv
// CHECK-NOT:     transposeWeight
func.func @input_gradient(%x: tensor<1x4x8xf32>, %i: tensor<5x2xi32>, %v: tensor<5x2x3xf32>, %w: tensor<4x6x3xf32>) -> tensor<1x6x5xf32> {
  %e = tensor.empty() : tensor<6x4x3xf32>
  %t = linalg.transpose ins(%w : tensor<4x6x3xf32>) outs(%e : tensor<6x4x3xf32>) permutation = [1, 0, 2]
  %y = disco.conv %x, (%i, %v), %t storage <table, !disco.psi<table<2>, 3, 8 -> 5>> plan <cpu_gather, schedule = {tile = 16, channel_block = 4}> : (tensor<1x4x8xf32>, tensor<5x2xi32>, tensor<5x2x3xf32>, tensor<6x4x3xf32>) -> tensor<1x6x5xf32>
  return %y : tensor<1x6x5xf32>
}
func.func @grouped_input_gradient(%x: tensor<1x4x8xf32>, %i: tensor<5x2xi32>, %v: tensor<5x2x3xf32>, %w: tensor<4x3x3xf32>) -> tensor<1x6x5xf32> {
  %s = tensor.expand_shape %w [[0, 1], [2], [3]] output_shape [2, 2, 3, 3] : tensor<4x3x3xf32> into tensor<2x2x3x3xf32>
  %e = tensor.empty() : tensor<2x3x2x3xf32>
  %t = linalg.transpose ins(%s : tensor<2x2x3x3xf32>) outs(%e : tensor<2x3x2x3xf32>) permutation = [0, 2, 1, 3]
  %c = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<2x3x2x3xf32> into tensor<6x2x3xf32>
  %y = disco.conv %x, (%i, %v), %c groups 2 storage <table, !disco.psi<table<2>, 3, 8 -> 5>> plan <cpu_gather, schedule = {tile = 16, channel_block = 4}> : (tensor<1x4x8xf32>, tensor<5x2xi32>, tensor<5x2x3xf32>, tensor<6x2x3xf32>) -> tensor<1x6x5xf32>
  return %y : tensor<1x6x5xf32>
}
func.func @permuted(%x: tensor<1x4x8xf32>, %i: tensor<5x2xi32>, %v: tensor<5x2x3xf32>, %w: tensor<3x4x6xf32>) -> tensor<1x6x5xf32> {
  %e = tensor.empty() : tensor<6x4x3xf32>
  %t = linalg.transpose ins(%w : tensor<3x4x6xf32>) outs(%e : tensor<6x4x3xf32>) permutation = [2, 1, 0]
  %y = disco.conv %x, (%i, %v), %t storage <table, !disco.psi<table<2>, 3, 8 -> 5>> plan <cpu_gather, schedule = {tile = 16, channel_block = 4}> : (tensor<1x4x8xf32>, tensor<5x2xi32>, tensor<5x2x3xf32>, tensor<6x4x3xf32>) -> tensor<1x6x5xf32>
  return %y : tensor<1x6x5xf32>
}

// -----

// With the weight first a weight gradient filters gy: the kernel gets the
// adjoint. Gradients of two types are computed in f32 and rounded.

// CHECK-LABEL: func.func @weight_gradient(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x4x8xf16>, %[[GY:[a-z0-9]*]]: tensor<?x6x5xf16>
// CHECK:         %[[G:.*]]:3 = disco.kernel_call <kind = conv_weight_grad, dtype = f16, parameterType = f32, channels = 4, outChannels = 6, groups = 2, bias = unit, storage = <onehot, !disco.psi<table<2>, 3, 5 -> 8>, adjoint>, indexType = i32, {{.*}}> ins(%[[X]] gy(%[[GY]]) psi(
// CHECK:         %[[ROUNDED:.*]] = linalg.generic {{.*}} ins(%[[G]]#1 : tensor<6xf32>) outs(%{{.*}} : tensor<6xf16>)
// CHECK:           arith.truncf
// CHECK:         return %[[G]]#0, %[[ROUNDED]]
func.func @weight_gradient(%x: tensor<?x4x8xf16>, %gy: tensor<?x6x5xf16>, %i: tensor<5x2xi32>, %b: tensor<5x2xi32>) -> (tensor<6x2x3xf32>, tensor<6xf16>) {
  %gw, %gb = disco.conv_weight_grad %x, %gy, (%i, %b) groups 2 storage <onehot, !disco.psi<table<2>, 3, 8 -> 5>> plan <cpu_gather, order = weight_first, schedule = {tile = 16, channel_block = 3}> : (tensor<?x4x8xf16>, tensor<?x6x5xf16>, tensor<5x2xi32>, tensor<5x2xi32>) -> (tensor<6x2x3xf32>, tensor<6xf16>)
  return %gw, %gb : tensor<6x2x3xf32>, tensor<6xf16>
}

// -----

// What is planned for loops, or not at all, stays.

// CHECK-LABEL: func.func @others(
// CHECK-COUNT-2: disco.contract
// CHECK-NOT:     disco.kernel_call
func.func @others(%x: tensor<1x4x8xf32>, %i: tensor<5x2xi32>, %v: tensor<5x2x3xf32>) -> (tensor<1x4x3x5xf32>, tensor<1x4x3x5xf32>) {
  %y = disco.contract %x, (%i, %v) storage <table, !disco.psi<table<2>, 3, 8 -> 5>> plan <loops> : (tensor<1x4x8xf32>, tensor<5x2xi32>, tensor<5x2x3xf32>) -> tensor<1x4x3x5xf32>
  %z = disco.contract %x, (%i, %v) storage <table, !disco.psi<table<2>, 3, 8 -> 5>> : (tensor<1x4x8xf32>, tensor<5x2xi32>, tensor<5x2x3xf32>) -> tensor<1x4x3x5xf32>
  return %y, %z : tensor<1x4x3x5xf32>, tensor<1x4x3x5xf32>
}
