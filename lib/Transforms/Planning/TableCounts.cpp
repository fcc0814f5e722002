//===- TableCounts.cpp - tap counts of constant tables --------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TableCounts.h"
#include "../Materialize/Tables.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::disco;
namespace filter = ::disco::filter;
namespace planning = ::disco::planning;
using planning::FilterCounts;

/// Taps of every output point of the tables, or of every input point of them
/// when transposed.
static std::vector<int64_t> getRowTaps(AssembleOp op, const StoredPsi &stored,
                                       bool adjoint) {
  PsiType psi = op.getType();
  int64_t numInput = psi.getNumInputPoints();
  std::vector<int64_t> taps(adjoint ? numInput : psi.getNumOutputPoints(), 0);
  auto add = [&](int64_t row, int64_t column) {
    if (column < numInput)
      ++taps[adjoint ? column : row];
  };
  if (stored.form == StorageForm::csr) {
    const std::vector<int64_t> &offsets = stored.tensors[0].constant->indices;
    const std::vector<int64_t> &columns = stored.tensors[1].constant->indices;
    for (size_t row = 0; row + 1 < offsets.size(); ++row)
      for (int64_t i = offsets[row]; i < offsets[row + 1]; ++i)
        add(row, columns[i]);
    return taps;
  }
  const HostTensor &index = *stored.tensors[0].constant;
  for (auto [at, column] : llvm::enumerate(index.indices))
    add(at / psi.getDegree(), column);
  return taps;
}

/// The statistics of points with these taps; every tap is a ring of its own.
static FilterCounts countPoints(std::vector<int64_t> taps, int64_t entriesOfTap,
                                int64_t numBasis) {
  FilterCounts counts{};
  counts.exact = counts.stride = counts.phases = counts.longest_arc = 1;
  counts.rows = taps.size();
  llvm::sort(taps);
  for (int64_t count : taps) {
    int bin =
        count ? std::min<int>(llvm::Log2_64(count) + 1, DISCO_TAP_BINS - 1) : 0;
    ++counts.histogram_rows[bin];
    counts.histogram_taps[bin] += count;
    counts.taps += count;
    counts.empty_rows += count == 0;
  }
  size_t middle = taps.size() / 2;
  counts.min_taps = taps.front();
  counts.max_taps = counts.max_rings = taps.back();
  counts.median_taps = taps.size() % 2
                           ? static_cast<double>(taps[middle])
                           : (taps[middle - 1] + taps[middle]) / 2.0;
  counts.rings = counts.arcs = counts.taps;
  counts.longest_arc = counts.taps ? 1 : 0;
  counts.entries = counts.taps * entriesOfTap;
  counts.shared_support = entriesOfTap == numBasis;
  return counts;
}

static FailureOr<FilterCounts> countSphere(AssembleOp op, bool adjoint) {
  FailureOr<filter::SphereOperator> sphere = assembleSphere(op);
  if (failed(sphere))
    return failure();
  ::disco::Result<filter::PsiCoo> psi = filter::cooFromOperator(*sphere);
  if (!psi)
    return op.emitOpError() << psi.message();
  filter::PsiShape shape{sphere->numBasis, sphere->nlatIn, sphere->nlonIn,
                         sphere->nlatOut, sphere->nlonOut};
  ::disco::Result<FilterCounts> counts =
      planning::countFilter(*psi, shape, adjoint);
  if (!counts)
    return op.emitOpError() << counts.message();
  return *counts;
}

FailureOr<FilterCounts> mlir::disco::countTables(AssembleOp op, bool adjoint) {
  if (op.getType().getStructure() == Structure::sphere)
    return countSphere(op, adjoint);
  FailureOr<StoredPsi> stored = assembleTables(op);
  if (failed(stored))
    return failure();
  bool oneHot = stored->form == StorageForm::onehot;
  // Empty tables have no constant: no tap at all.
  bool isEmpty = llvm::any_of(stored->tensors, [](const StoredTensor &tensor) {
    return !tensor.constant;
  });
  std::vector<int64_t> taps =
      isEmpty
          ? std::vector<int64_t>(adjoint ? op.getType().getNumInputPoints()
                                         : op.getType().getNumOutputPoints())
          : getRowTaps(op, *stored, adjoint);
  int64_t numBasis = op.getType().getNumBasis();
  return countPoints(std::move(taps), oneHot ? 1 : numBasis, numBasis);
}
