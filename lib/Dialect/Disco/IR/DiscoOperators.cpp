//===- DiscoOperators.cpp - filter, assemble, adjoint --------------*- C++
//-*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Dialect/Disco/Disco.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::disco;

//===----------------------------------------------------------------------===//
// filter
//===----------------------------------------------------------------------===//

LogicalResult FilterOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         ValueRange, DictionaryAttr,
                                         OpaqueProperties properties,
                                         RegionRange,
                                         SmallVectorImpl<Type> &types) {
  SphereFilterAttr filter = properties.as<Properties *>()->getFilter();
  if (!filter)
    return failure();
  types.push_back(filter.getPsiType());
  return success();
}

LogicalResult FilterOp::verify() {
  // C1
  PsiType expected = getFilter().getPsiType();
  if (getType() != expected)
    return emitOpError() << "expected the result to be " << expected
                         << ", but got " << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// adjoint
//===----------------------------------------------------------------------===//

LogicalResult AdjointOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &types) {
  if (operands.size() != 1 || !isa<PsiType>(operands.front().getType()))
    return failure();
  types.push_back(cast<PsiType>(operands.front().getType()).getAdjoint());
  return success();
}

LogicalResult AdjointOp::verify() {
  // C1
  PsiType expected = getPsi().getType().getAdjoint();
  if (getType() != expected)
    return emitOpError() << "expected the result to be " << expected
                         << ", but got " << getType();
  return success();
}

OpFoldResult AdjointOp::fold(FoldAdaptor) {
  if (auto inner = getPsi().getDefiningOp<AdjointOp>())
    return inner.getPsi();
  return {};
}

//===----------------------------------------------------------------------===//
// assemble
//===----------------------------------------------------------------------===//

namespace {

/// What one table of a format has to look like. `kAny` is a free size that all
/// tables of the op share (the number of taps, or the width).
constexpr int64_t kAny = -1;
/// A free size of its own (the number of groups, padded values).
constexpr int64_t kFree = -2;

struct TableRule {
  StringRef name;
  SmallVector<int64_t> shape;
  bool isIndex;
};

} // namespace

static SmallVector<TableRule> getTableRules(TableFormat format, PsiType psi) {
  int64_t numRows = psi.getStructure() == Structure::sphere
                        ? psi.getOutShape().front()
                        : psi.getNumOutputPoints();
  int64_t numBasis = psi.getNumBasis();
  switch (format) {
  case TableFormat::harmonics_csr:
    return {{"offsets", {kFree}, true},
            {"basis index", {kAny}, true},
            {"row", {kAny}, true},
            {"column", {kAny}, true},
            {"values", {kAny}, false}};
  case TableFormat::coo:
    return {{"basis index", {kAny}, true},
            {"row", {kAny}, true},
            {"column", {kAny}, true},
            {"values", {kAny}, false}};
  case TableFormat::kpacked:
    return {{"index", {numRows, kAny, 2}, true},
            {"values", {numRows, kAny, kFree}, false},
            {"count", {numRows}, true}};
  case TableFormat::csr:
    return {{"row offsets", {numRows + 1}, true},
            {"columns", {kAny}, true},
            {"values", {kAny, numBasis}, false}};
  case TableFormat::knn:
    return {{"index", {numRows, psi.getDegree()}, true},
            {"values", {numRows, psi.getDegree(), numBasis}, false}};
  case TableFormat::knn_onehot:
    return {{"index", {numRows, psi.getDegree()}, true},
            {"bin", {numRows, psi.getDegree()}, true}};
  }
  llvm_unreachable("unknown table format");
}

static bool describes(TableFormat format, Structure structure) {
  switch (format) {
  case TableFormat::harmonics_csr:
  case TableFormat::kpacked:
    return structure == Structure::sphere;
  case TableFormat::coo:
    return structure != Structure::table;
  case TableFormat::csr:
    return structure == Structure::csr;
  case TableFormat::knn:
  case TableFormat::knn_onehot:
    return structure == Structure::table;
  }
  llvm_unreachable("unknown table format");
}

/// "40x?x2" of an expected shape.
static std::string formatRule(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      shape, os,
      [&](int64_t size) {
        if (size < 0)
          os << '?';
        else
          os << size;
      },
      "x");
  return text;
}

/// Whether `type` matches `rule`; `shared` is the size that kAny stands for,
/// set by the first table that has it.
static bool matchShape(RankedTensorType type, const TableRule &rule,
                       int64_t &shared) {
  if (type.getRank() != static_cast<int64_t>(rule.shape.size()))
    return false;
  for (auto [size, expected] : llvm::zip_equal(type.getShape(), rule.shape)) {
    if (ShapedType::isDynamic(size)) {
      if (expected >= 0)
        return false;
      continue;
    }
    if (expected == kAny && shared == kAny)
      shared = size;
    int64_t wanted = expected == kAny ? shared : expected;
    if (wanted != kFree && size != wanted)
      return false;
  }
  return true;
}

LogicalResult AssembleOp::verify() {
  PsiType psi = getType();
  // C2 comes first: the other rules need a structure that fits the format.
  if (!describes(getFormat(), psi.getStructure()))
    return emitOpError() << "expected the structure of the psi to be one that "
                         << stringifyTableFormat(getFormat())
                         << " describes, but got "
                         << stringifyStructure(psi.getStructure());
  SmallVector<TableRule> rules = getTableRules(getFormat(), psi);
  // C1
  if (getTables().size() != rules.size())
    return emitOpError() << "expected " << stringifyTableFormat(getFormat())
                         << " to have " << rules.size() << " tables, but got "
                         << getTables().size();
  int64_t shared = kAny;
  for (auto [table, rule] : llvm::zip_equal(getTables(), rules)) {
    auto type = cast<RankedTensorType>(table.getType());
    // C4
    if (isa<IntegerType>(type.getElementType()) != rule.isIndex)
      return emitOpError() << "expected the elements of " << rule.name
                           << " to be "
                           << (rule.isIndex ? "i32 or i64" : "floats")
                           << ", but got " << type.getElementType();
    // C3
    if (!matchShape(type, rule, shared)) {
      for (int64_t &size : rule.shape)
        if (size == kAny)
          size = shared;
      return emitOpError() << "expected the shape of " << rule.name << " to be "
                           << formatRule(rule.shape) << ", but got " << type;
    }
  }
  // C3: padded values.
  if (getFormat() == TableFormat::kpacked) {
    auto values = cast<RankedTensorType>(getTables()[1].getType());
    if (!values.isDynamicDim(2) && values.getDimSize(2) < psi.getNumBasis())
      return emitOpError() << "expected the last dimension of values to be at "
                              "least "
                           << psi.getNumBasis() << ", but got "
                           << values.getDimSize(2);
  }
  // C5
  if (psi.getStructure() == Structure::sphere &&
      psi.getInShape().back() % psi.getOutShape().back() != 0)
    return emitOpError() << "expected the input nlon to be a multiple of the "
                            "output nlon "
                         << psi.getOutShape().back() << ", but got "
                         << psi.getInShape().back();
  return success();
}
