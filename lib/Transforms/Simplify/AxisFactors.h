//===- AxisFactors.h - axes followed through reshapes ----------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An einsum rarely meets a filter op directly: reshapes, transposes and
// broadcasts lie between. A layout says, for each dimension of a tensor, which
// factors of which logical axes it holds, so that these ops are bookkeeping:
//
//   z                [B, C, K, n]          B | C | K | n
//   expand C         [B, g, c, K, n]       B | C/4 | C%4 | K | n
//   transpose        [g, B, n, c, K]       C/4 | B | n | C%4 | K
//   collapse         [g, B n, c K]         C/4 | B n | C%4 K
//
// Factors of size 1 do not appear: a unit dimension is an empty list.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_TRANSFORMS_SIMPLIFY_AXISFACTORS_H
#define DISCO_LIB_TRANSFORMS_SIMPLIFY_AXISFACTORS_H

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace mlir::disco {

/// `size` steps of `stride` along a logical axis; the size may be dynamic when
/// the factor is the whole axis.
struct AxisFactor {
  int64_t axis, size, stride;
};

inline bool operator==(const AxisFactor &a, const AxisFactor &b) {
  return a.axis == b.axis && a.size == b.size && a.stride == b.stride;
}

/// The factors that one dimension holds, major first.
using FactorList = SmallVector<AxisFactor, 2>;
/// One list for each dimension of a tensor.
using AxisLayout = SmallVector<FactorList>;

/// The whole of an axis of this size: no factor for size 1.
FactorList wholeAxis(int64_t axis, int64_t size);

/// Dimension i is axis i.
AxisLayout identityLayout(RankedTensorType type);

/// The product of the sizes; dynamic when one of them is.
int64_t sizeOf(const FactorList &factors);

/// Ops that move or convert elements and compute nothing.
enum class ViewKind {
  None,
  Expand,
  Collapse,
  Transpose,
  Broadcast,
  Extend,
  Truncate
};

/// What `op` does to its source: the views that layouts follow, and
/// elementwise arith.extf and arith.truncf, on tensors or as linalg ops.
ViewKind getViewKind(Operation *op);
/// The source of a view.
Value getViewSource(Operation *op);

/// The layout of the result of a view (not of a broadcast), given that of its
/// source; nothing when a factor would have to be split unevenly.
std::optional<AxisLayout> followForward(Operation *view,
                                        const AxisLayout &source);
/// The layout of the source of a view, given that of its result.
std::optional<AxisLayout> followBackward(Operation *view,
                                         const AxisLayout &result);

/// A tensor and what its dimensions hold.
struct LaidOutValue {
  Value value;
  AxisLayout layout;
};

/// Follows views and broadcasts back to where the value comes from, as far as
/// the layout allows; extensions only of `element` and f32.
LaidOutValue followToSource(LaidOutValue value, Type element);

/// Splits the factors of `layout` where those of `finer` are smaller.
void refine(AxisLayout &layout, const AxisLayout &finer);

/// Reshapes and transposes `value` from one layout to another that has the
/// same factors, with as few ops as it takes.
Value rearrange(OpBuilder &builder, Location loc, Value value, AxisLayout from,
                AxisLayout to);

} // namespace mlir::disco

#endif // DISCO_LIB_TRANSFORMS_SIMPLIFY_AXISFACTORS_H
