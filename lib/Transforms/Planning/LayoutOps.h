//===- LayoutOps.h - physical layouts of activations ------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_TRANSFORMS_PLANNING_LAYOUTOPS_H
#define DISCO_LIB_TRANSFORMS_PLANNING_LAYOUTOPS_H

#include "disco/Dialect/Disco/Disco.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::disco {

constexpr unsigned numLayouts = 3;

/// Whether `type` is [B, C, points...] with all but the batch static.
bool isActivation(Type type);

/// The type of activations `logical` [B, C, points...] in a layout.
RankedTensorType getPhysicalType(RankedTensorType logical, Layout layout);

/// A pack, unpack or transpose that turns `value`, the activations `logical` in
/// layout `from`, into layout `to`. Padding channels become zeros.
Value convertLayout(OpBuilder &builder, Location loc, Value value,
                    RankedTensorType logical, Layout from, Layout to);

/// Whether `op` computes each element of its one result [B, C, points...] from
/// the elements of its operands at the same place, from splat constants,
/// vectors of channels [C] and scalars, so that it can be carried in any
/// layout.
bool isCarriable(Operation *op);

/// Whether a carriable `op` is known to map zeros to zero.
bool mapsZerosToZero(Operation *op);

/// A copy of the carriable `op` in `layout`. `operands` (without inits) are the
/// activations and splat constants in that layout, and all others as they are.
Value carry(OpBuilder &builder, Operation *op, ValueRange operands,
            RankedTensorType result, Layout layout);

/// Whether the padding channels of `value`, in layout c8, are known to be zero.
bool hasZeroPadding(Value value);

/// pack(unpack(x)) -> x where both are the same layout and the padding of x is
/// known to be zero.
void populateLayoutFoldPatterns(RewritePatternSet &patterns);

} // namespace mlir::disco

#endif // DISCO_LIB_TRANSFORMS_PLANNING_LAYOUTOPS_H
