//===- LoopEmitter.h - contractions as loops on tensors ---------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function emits one step of a contraction as linalg.generic and scf.for
// on tensors. Sums are in the accumulator type; every function that stores an
// element type of the caller's choice rounds to it once. Shapes: B batch, C
// input channels, O output channels, K basis functions, `in` and `out` the
// points of psi.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_TRANSFORMS_LOWERING_LOOPEMITTER_H
#define DISCO_LIB_TRANSFORMS_LOWERING_LOOPEMITTER_H

#include "PsiTaps.h"

namespace mlir::disco {

class LoopEmitter {
public:
  LoopEmitter(OpBuilder &builder, Location loc, Type accumulator)
      : builder(builder), loc(loc), accumulator(accumulator) {}

  /// x [B,C,in] -> [B,C,K,out] of type `element`.
  Value contract(Value x, const PsiTaps &psi, Type element);
  /// z [B,C,K,in] -> [B,C,out] of type `element`.
  Value contractSum(Value z, const PsiTaps &psi, Type element);
  /// z [B,C,K,out], weight [O,C/groups,K] -> [B,O,out], accumulator type.
  Value mixFeatures(Value z, Value weight, int64_t groups);
  /// x [B,C,in], weight [O,C/groups,K] -> [B,O,K,in], accumulator type.
  Value mixChannels(Value x, Value weight, int64_t groups);
  /// activation(y + bias) + residual as `element`; bias and residual may be
  /// null.
  Value epilogue(Value y, Value bias, Value residual, Activation activation,
                 Type element);
  /// gy [B,O,out], z [B,C,K,out] -> [O,C/groups,K] of type `element`.
  Value weightGrad(Value gy, Value z, int64_t groups, Type element);
  /// gy [B,O,out] -> [O] of type `element`.
  Value biasGrad(Value gy, Type element);

private:
  using PointBody = function_ref<Value(OpBuilder &, Location, ValueRange)>;

  /// A tensor of `sizes` whose element at each index is `body` of it.
  Value generate(ArrayRef<OpFoldResult> sizes, Type element, PointBody body);
  /// A tensor of zeros in the accumulator type.
  Value zeros(ArrayRef<OpFoldResult> sizes);
  Value zero(OpBuilder &builder, Location loc);
  /// `tensor` rounded to `element`.
  Value round(Value tensor, Type element);
  /// Dimension `dim` of `tensor` split into groups.
  Value splitGroups(Value tensor, int64_t dim, int64_t groups);
  Value scatter(Value input, const PsiTaps &psi, Type element, bool sum);
  Value sumOverPoints(OpBuilder &builder, Location loc, Value batch,
                      ArrayRef<int64_t> points, PointBody term);
  Value mix(Value input, Value weight, int64_t groups, bool features);

  OpBuilder &builder;
  Location loc;
  Type accumulator;
};

/// `activation` of a value of the accumulator type.
Value emitActivation(OpBuilder &builder, Location loc, Activation activation,
                     Value value);

} // namespace mlir::disco

#endif // DISCO_LIB_TRANSFORMS_LOWERING_LOOPEMITTER_H
