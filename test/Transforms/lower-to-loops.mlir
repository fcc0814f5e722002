// RUN: disco-opt %s --disco-lower-to-loops --canonicalize --split-input-file | FileCheck %s

// What the loops compute is checked by running them; this is their shape.

// A gather: K features of each point, taps innermost, rounded once.

// CHECK-LABEL: func.func @contract(
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "parallel", "parallel", "parallel"]
// CHECK-SAME:      outs(%{{.*}} : tensor<?x2x3x2xbf16>)
// CHECK:           %[[SUM:.*]] = scf.for {{.*}} -> (f32)
// CHECK:             arith.extf %{{.*}} : bf16 to f32
// CHECK:             arith.mulf {{.*}} : f32
// CHECK:             arith.addf {{.*}} : f32
// CHECK:           %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : f32 to bf16
// CHECK:           linalg.yield %[[ROUNDED]] : bf16
// CHECK-NOT:     disco.
func.func @contract(%x: tensor<?x2x4xbf16>, %o: tensor<3xi32>, %i: tensor<?xi32>, %v: tensor<?x3xbf16>) -> tensor<?x2x3x2xbf16> {
  %z = disco.contract %x, (%o, %i, %v) storage <csr, !disco.psi<csr, 3, 4 -> 2>> : (tensor<?x2x4xbf16>, tensor<3xi32>, tensor<?xi32>, tensor<?x3xbf16>) -> tensor<?x2x3x2xbf16>
  return %z : tensor<?x2x3x2xbf16>
}

// -----

// A scatter: loops over the points of the tables carry the tensor.

// CHECK-LABEL: func.func @adjoint(
// CHECK:         linalg.fill
// CHECK:         scf.for {{.*}} -> (tensor<?x2x3x4xf64>)
// CHECK:           scf.for {{.*}} -> (tensor<?x2x3x4xf64>)
// CHECK:             scf.for {{.*}} -> (tensor<?x2x3x4xf64>)
// CHECK:               scf.for {{.*}} -> (tensor<?x2x3x4xf64>)
// CHECK:                 arith.cmpi ne
// CHECK:                 scf.if {{.*}} -> (tensor<?x2x3x4xf64>)
// CHECK:                   scf.for {{.*}} -> (tensor<?x2x3x4xf64>)
// CHECK:                     tensor.extract
// CHECK:                     tensor.insert
func.func @adjoint(%x: tensor<?x2x2xf64>, %i: tensor<2x5xi32>, %v: tensor<2x5x3xf64>) -> tensor<?x2x3x4xf64> {
  %z = disco.contract %x, (%i, %v) storage <table, !disco.psi<table<5>, 3, 2 -> 4>, adjoint> : (tensor<?x2x2xf64>, tensor<2x5xi32>, tensor<2x5x3xf64>) -> tensor<?x2x3x4xf64>
  return %z : tensor<?x2x3x4xf64>
}

// -----

// filter_first: z [B,C,K,points] in f32, then the einsum over C and K.

// CHECK-LABEL: func.func @filter_first(
// CHECK:         %[[Z:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x4x3x2xf32>)
// CHECK:         %[[SPLIT:.*]] = tensor.expand_shape %[[Z]] {{.*}} into tensor<1x2x2x3x2xf32>
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "parallel"]} ins(%[[SPLIT]], %{{.*}} : tensor<1x2x2x3x2xf32>, tensor<2x3x2x3xf16>) outs(%{{.*}} : tensor<1x2x3x2xf32>)
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<1x6x2xf16>)
// CHECK:           math.erf {{.*}} : f32
func.func @filter_first(%x: tensor<1x4x4xf16>, %o: tensor<3xi32>, %i: tensor<?xi32>, %v: tensor<?x3xf16>, %w: tensor<6x2x3xf16>) -> tensor<1x6x2xf16> {
  %y = disco.conv %x, (%o, %i, %v), %w groups 2 activation gelu storage <csr, !disco.psi<csr, 3, 4 -> 2>> : (tensor<1x4x4xf16>, tensor<3xi32>, tensor<?xi32>, tensor<?x3xf16>, tensor<6x2x3xf16>) -> tensor<1x6x2xf16>
  return %y : tensor<1x6x2xf16>
}

// -----

// weight_first: the einsum over C on the input points, then the sum over taps
// and K.

// CHECK-LABEL: func.func @weight_first(
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "parallel"]}
// CHECK-SAME:      outs(%{{.*}} : tensor<1x2x3x3x4xf32>)
// CHECK:         tensor.collapse_shape {{.*}} into tensor<1x6x3x4xf32>
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<1x6x2xf32>)
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<1x6x2xf16>)
func.func @weight_first(%x: tensor<1x4x4xf16>, %o: tensor<3xi32>, %i: tensor<?xi32>, %v: tensor<?x3xf16>, %w: tensor<6x2x3xf16>) -> tensor<1x6x2xf16> {
  %y = disco.conv %x, (%o, %i, %v), %w groups 2 storage <csr, !disco.psi<csr, 3, 4 -> 2>> plan <loops, order = weight_first> : (tensor<1x4x4xf16>, tensor<3xi32>, tensor<?xi32>, tensor<?x3xf16>, tensor<6x2x3xf16>) -> tensor<1x6x2xf16>
  return %y : tensor<1x6x2xf16>
}
