//===- Matchers.h - constants ----------------------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_DIALECT_DISCO_MATCHERS_H
#define DISCO_DIALECT_DISCO_MATCHERS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace mlir::disco {

/// The value of a constant, or null.
///
/// Instead of m_Constant and everything that builds on it: MLIR identifies
/// traits that are templates by their name as the compiler spells it, so that
/// `hasTrait` finds nothing in a libMLIR that another compiler built (the
/// packages are built by clang).
inline Attribute getConstant(Value value) {
  Operation *op = value.getDefiningOp();
  SmallVector<OpFoldResult, 1> results;
  if (!op || op->getNumOperands() != 0 || op->getNumRegions() != 0 ||
      op->getNumResults() != 1 || failed(op->fold({}, results)) ||
      results.size() != 1)
    return {};
  return dyn_cast<Attribute>(results.front());
}

/// The value of a constant scalar or splat.
inline std::optional<APFloat> getConstantFloat(Value value) {
  Attribute attr = getConstant(value);
  if (auto scalar = dyn_cast_or_null<FloatAttr>(attr))
    return scalar.getValue();
  auto splat = dyn_cast_or_null<SplatElementsAttr>(attr);
  if (splat && isa<FloatType>(splat.getElementType()))
    return splat.getSplatValue<APFloat>();
  return std::nullopt;
}

} // namespace mlir::disco

#endif // DISCO_DIALECT_DISCO_MATCHERS_H
