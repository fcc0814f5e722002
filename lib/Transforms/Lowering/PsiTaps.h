//===- PsiTaps.h - loops over the taps of a stored psi ----------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that knows how the tensors of a #disco.storage are walked.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_TRANSFORMS_LOWERING_PSITAPS_H
#define DISCO_LIB_TRANSFORMS_LOWERING_PSITAPS_H

#include "disco/Dialect/Disco/Disco.h"

namespace mlir::disco {

/// One tap of a point.
struct Tap {
  /// Indices of the point that the tap selects: (lat, lon), or one number.
  SmallVector<Value> column;
  /// Leading indices into the values; the last one is k. Empty for onehot.
  SmallVector<Value> valuePrefix;
  /// The only k that the tap has, with value 1 (onehot), else null.
  Value bin;
};

/// A psi as tensors, in the points of its storage: with `adjoint` the points
/// that it walks are the input points of the psi.
class PsiTaps {
public:
  PsiTaps(StorageAttr storage, ValueRange tensors)
      : storage(storage), tensors(tensors) {}

  using Body =
      function_ref<Value(OpBuilder &, Location, const Tap &, Value state)>;

  /// Emits the loops over the taps of `point` ((t, w), or one number), in the
  /// order of the storage, which does not depend on w. `state` is carried from
  /// tap to tap. Taps of padding are skipped.
  Value forEachTap(OpBuilder &builder, Location loc, ValueRange point,
                   Value state, Body body) const;

  /// The value of a tap (never for onehot) in the type `accumulator`.
  Value loadValue(OpBuilder &builder, Location loc, const Tap &tap, Value k,
                  Type accumulator) const;

  bool isAdjoint() const { return storage.getAdjoint(); }
  PsiType getPsi() const { return storage.getPsi(); }
  StorageAttr getStorage() const { return storage; }

private:
  Value forEachArcTap(OpBuilder &builder, Location loc, ValueRange point,
                      Value state, Body body) const;
  Value forEachCsrTap(OpBuilder &builder, Location loc, Value point,
                      Value state, Body body) const;
  Value forEachTableTap(OpBuilder &builder, Location loc, Value point,
                        Value state, Body body) const;

  StorageAttr storage;
  SmallVector<Value> tensors;
};

/// `value` as a float of another width.
Value convertFloat(OpBuilder &builder, Location loc, Value value, Type type);

/// `tensor` at `indices`, as a float of type `accumulator`.
Value extractFloat(OpBuilder &builder, Location loc, Value tensor,
                   ValueRange indices, Type accumulator);

} // namespace mlir::disco

#endif // DISCO_LIB_TRANSFORMS_LOWERING_PSITAPS_H
