//===- PointTables.cpp - table and csr operators --------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace mlir::disco;

/// Checks elements of a constant table: each in [0, bound).
static LogicalResult checkAll(AssembleOp op, StringRef name,
                              const HostTensor &table, int64_t bound) {
  for (auto [at, value] : llvm::enumerate(table.indices))
    if (value < 0 || value >= bound)
      return op.emitOpError()
             << "expected " << name << " " << at << " to be in [0, " << bound
             << "), but got " << value;
  return success();
}

/// Row offsets ascend from 0 to the number of taps.
static LogicalResult checkOffsets(AssembleOp op, ArrayRef<int64_t> offsets,
                                  int64_t numTaps) {
  if (offsets.front() != 0)
    return op.emitOpError()
           << "expected row offsets to start at 0, but got " << offsets.front();
  for (size_t i = 1; i < offsets.size(); ++i)
    if (offsets[i] < offsets[i - 1])
      return op.emitOpError()
             << "expected row offset " << i << " to be at least "
             << offsets[i - 1] << ", but got " << offsets[i];
  if (offsets.back() != numTaps)
    return op.emitOpError() << "expected the last row offset to be the number "
                               "of taps "
                            << numTaps << ", but got " << offsets.back();
  return success();
}

/// A csr psi from entries (k, row, column) in any order: taps sorted by
/// (row, column), each with the values of all k.
static FailureOr<StoredPsi> sortEntries(AssembleOp op,
                                        ArrayRef<HostTensor> tables) {
  PsiType psi = op.getType();
  int64_t numBasis = psi.getNumBasis(), numRows = psi.getNumOutputPoints();
  ArrayRef<int64_t> ks = tables[0].indices, rows = tables[1].indices,
                    cols = tables[2].indices;
  if (failed(checkAll(op, "basis index", tables[0], numBasis)) ||
      failed(checkAll(op, "row", tables[1], numRows)) ||
      failed(checkAll(op, "column", tables[2], psi.getNumInputPoints())))
    return failure();
  std::vector<size_t> order(ks.size());
  std::iota(order.begin(), order.end(), 0);
  auto key = [&](size_t i) { return std::tuple(rows[i], cols[i], ks[i]); };
  llvm::sort(order, [&](size_t a, size_t b) { return key(a) < key(b); });
  std::vector<int64_t> offsets(numRows + 1), columns;
  std::vector<double> values;
  for (size_t n = 0; n < order.size(); ++n) {
    size_t i = order[n];
    bool isNew = n == 0 || rows[i] != rows[order[n - 1]] ||
                 cols[i] != cols[order[n - 1]];
    if (!isNew && ks[i] == ks[order[n - 1]])
      return op.emitOpError()
             << "expected entries to be unique, but got basis index " << ks[i]
             << ", row " << rows[i] << ", column " << cols[i] << " twice";
    if (isNew) {
      columns.push_back(cols[i]);
      values.resize(values.size() + numBasis);
      ++offsets[rows[i] + 1];
    }
    values[(columns.size() - 1) * numBasis + ks[i]] = tables[3].values[i];
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  if (columns.empty()) { // a constant needs an element
    columns.push_back(0);
    values.resize(numBasis);
  }
  auto numTaps = static_cast<int64_t>(columns.size());
  StoredPsi stored;
  stored.form = StorageForm::csr;
  stored.tensors.push_back(
      {HostTensor::ofIndices({numRows + 1}, std::move(offsets)), Value()});
  stored.tensors.push_back(
      {HostTensor::ofIndices({numTaps}, std::move(columns)), Value()});
  stored.tensors.push_back(
      {HostTensor::ofValues({numTaps, numBasis}, std::move(values)), Value()});
  return stored;
}

/// Checks those csr tables that are constant.
static LogicalResult checkCsr(AssembleOp op, ArrayRef<StoredTensor> tables) {
  auto columnType = cast<RankedTensorType>(op.getTables()[1].getType());
  if (tables[0].constant && !columnType.isDynamicDim(0) &&
      failed(checkOffsets(op, tables[0].constant->indices,
                          columnType.getDimSize(0))))
    return failure();
  if (!tables[1].constant)
    return success();
  return checkAll(op, "column", *tables[1].constant,
                  op.getType().getNumInputPoints());
}

/// Checks those knn tables that are constant. The index one past the last point
/// means no neighbour; its bin is not looked at.
static LogicalResult checkNeighbours(AssembleOp op,
                                     ArrayRef<StoredTensor> tables) {
  int64_t numPoints = op.getType().getNumInputPoints();
  if (tables[0].constant &&
      failed(checkAll(op, "index", *tables[0].constant, numPoints + 1)))
    return failure();
  if (op.getFormat() != TableFormat::knn_onehot || !tables[1].constant)
    return success();
  HostTensor bins = *tables[1].constant;
  if (tables[0].constant)
    for (auto [bin, index] :
         llvm::zip_equal(bins.indices, tables[0].constant->indices))
      if (index == numPoints)
        bin = 0;
  return checkAll(op, "bin", bins, op.getType().getNumBasis());
}

FailureOr<StoredPsi> mlir::disco::assembleTables(AssembleOp op) {
  StoredPsi stored;
  for (Value table : op.getTables())
    stored.tensors.push_back({readConstant(table), table});
  if (op.getFormat() == TableFormat::coo) {
    SmallVector<HostTensor> tables;
    for (StoredTensor &tensor : stored.tensors) {
      if (!tensor.constant)
        return op.emitOpError() << "expected the tables of format coo to be "
                                   "constants, but got one that is not";
      tables.push_back(std::move(*tensor.constant));
    }
    return sortEntries(op, tables);
  }
  if (op.getFormat() == TableFormat::csr) {
    stored.form = StorageForm::csr;
    if (failed(checkCsr(op, stored.tensors)))
      return failure();
  } else {
    stored.form = op.getFormat() == TableFormat::knn ? StorageForm::table
                                                     : StorageForm::onehot;
    if (failed(checkNeighbours(op, stored.tensors)))
      return failure();
  }
  // An empty constant stays the value that it is.
  for (StoredTensor &tensor : stored.tensors)
    if (tensor.constant && tensor.constant->indices.empty() &&
        tensor.constant->values.empty())
      tensor.constant.reset();
  return stored;
}
