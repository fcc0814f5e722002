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

/// Taps of every output point of the tables of `psi`, or of every input point
/// of them when transposed.
static std::vector<int64_t> getRowTaps(PsiType psi, const StoredPsi &stored,
                                       bool adjoint) {
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
          : getRowTaps(op.getType(), *stored, adjoint);
  int64_t numBasis = op.getType().getNumBasis();
  return countPoints(std::move(taps), oneHot ? 1 : numBasis, numBasis);
}

//===----------------------------------------------------------------------===//
// Tables of materialised operations
//===----------------------------------------------------------------------===//

/// Checks that `value` is in [low, high].
static LogicalResult checkRange(Operation *op, const Twine &what, int64_t low,
                                int64_t high, int64_t value) {
  if (value >= low && value <= high)
    return success();
  return op->emitOpError() << "expected " << what << " to be in [" << low
                           << ", " << high << "], but got " << value;
}

/// That the offsets of `rows` rows ascend from 0 to at most `size`.
static LogicalResult checkOffsets(Operation *op, const HostTensor &offsets,
                                  int64_t size) {
  int64_t last = 0;
  for (auto [row, offset] : llvm::enumerate(offsets.indices)) {
    if (failed(checkRange(op, "offset " + Twine(row) + " of psi", last,
                          row == 0 ? 0 : size, offset)))
      return failure();
    last = offset;
  }
  return success();
}

/// The operator of arcs, whose ranges are checked.
static FailureOr<filter::SphereOperator>
readArcs(Operation *op, StorageAttr storage, ArrayRef<StoredTensor> tensors) {
  PsiType psi = storage.getStoredPsi();
  const HostTensor &offsets = *tensors[0].constant;
  const std::vector<int64_t> &words = tensors[1].constant->indices;
  filter::SphereOperator sphere;
  sphere.numBasis = psi.getNumBasis();
  sphere.nlatIn = psi.getInShape()[0];
  sphere.nlonIn = psi.getInShape()[1];
  sphere.nlatOut = psi.getOutShape()[0];
  sphere.nlonOut = psi.getOutShape()[1];
  sphere.stride = storage.getStride();
  sphere.phases = storage.getPhases();
  sphere.values = tensors[2].constant->values;
  auto numArcs = static_cast<int64_t>(words.size()) / 4;
  if (failed(checkOffsets(op, offsets, numArcs)))
    return failure();
  sphere.rowOffsets.assign(offsets.indices.begin(), offsets.indices.end());
  // An operator without taps has one arc that no row refers to.
  for (int64_t a = 0; a < offsets.indices.back(); ++a) {
    const int64_t *arc = &words[4 * a];
    std::string name = "of arc " + std::to_string(a) + " of psi";
    if (failed(checkRange(op, "the latitude " + name, 0, sphere.nlatIn - 1,
                          arc[0])) ||
        failed(checkRange(op, "the longitude " + name, 0, sphere.nlonIn - 1,
                          arc[1])) ||
        failed(
            checkRange(op, "the length " + name, 1, sphere.nlonIn, arc[2])) ||
        failed(checkRange(op, "the first value " + name, 0,
                          sphere.numTaps() - arc[2], arc[3])))
      return failure();
    sphere.arcs.push_back(
        {static_cast<int32_t>(arc[0]), static_cast<int32_t>(arc[1]),
         static_cast<int32_t>(arc[2]), static_cast<int32_t>(arc[3])});
  }
  return sphere;
}

/// That the arcs of each row ascend in latitude, and those of a ring in
/// longitude without overlap.
static LogicalResult checkArcsOfRows(Operation *op,
                                     const filter::SphereOperator &sphere) {
  for (int64_t row = 0; row < sphere.numRows(); ++row) {
    int32_t first = sphere.rowOffsets[row];
    for (int32_t a = first; a < sphere.rowOffsets[row + 1]; ++a) {
      const filter::Arc &arc = sphere.arcs[a];
      if (arc.lat != sphere.arcs[first].lat) {
        if (arc.lat < sphere.arcs[first].lat)
          return op->emitOpError()
                 << "expected the latitude of arc " << a << " of psi, of row "
                 << row << ", to be at least " << sphere.arcs[first].lat
                 << ", but got " << arc.lat;
        first = a;
      }
      // The last arc of a ring may reach around it to the first.
      bool isLast = a + 1 == sphere.rowOffsets[row + 1] ||
                    sphere.arcs[a + 1].lat != arc.lat;
      int32_t next = isLast
                         ? sphere.arcs[first].lonStart + int32_t(sphere.nlonIn)
                         : sphere.arcs[a + 1].lonStart;
      if (arc.lonStart + arc.length > next)
        return op->emitOpError()
               << "expected arc " << a << " of psi, of row " << row
               << " and latitude " << arc.lat << ", to end before longitude "
               << next << ", where the next one starts, but got an end of "
               << arc.lonStart + arc.length;
    }
  }
  return success();
}

static FailureOr<FilterCounts> countArcs(Operation *op, StorageAttr storage,
                                         ArrayRef<StoredTensor> tensors,
                                         bool transpose) {
  FailureOr<filter::SphereOperator> sphere = readArcs(op, storage, tensors);
  if (failed(sphere) || failed(checkArcsOfRows(op, *sphere)))
    return failure();
  int64_t entries = 0;
  for (const filter::Arc &arc : sphere->arcs)
    for (int64_t i = arc.valueOffset * sphere->numBasis,
                 end = i + arc.length * sphere->numBasis;
         i < end; ++i)
      entries += sphere->values[i] != 0;
  return planning::countOperator(transpose ? filter::adjoint(*sphere) : *sphere,
                                 entries);
}

/// Of csr, table and onehot.
static FailureOr<FilterCounts> countPointTables(Operation *op,
                                                StorageAttr storage,
                                                StoredPsi &&stored,
                                                bool transpose) {
  PsiType psi = storage.getStoredPsi();
  bool isCsr = storage.getForm() == StorageForm::csr;
  const HostTensor &columns = *stored.tensors[isCsr ? 1 : 0].constant;
  if (isCsr && failed(checkOffsets(op, *stored.tensors[0].constant,
                                   columns.indices.size())))
    return failure();
  for (auto [at, column] : llvm::enumerate(columns.indices))
    if (failed(checkRange(op, "index " + Twine(at) + " of psi", 0,
                          psi.getNumInputPoints(), column)))
      return failure();
  return countPoints(
      getRowTaps(psi, stored, transpose),
      storage.getForm() == StorageForm::onehot ? 1 : psi.getNumBasis(),
      psi.getNumBasis());
}

FailureOr<FilterCounts> mlir::disco::countStorage(ContractionOpInterface op,
                                                  bool adjoint) {
  StorageAttr storage = op.getStorageAttr();
  StoredPsi stored;
  stored.form = storage.getForm();
  for (Value tensor : op.getPsiMutable().getAsOperandRange())
    stored.tensors.push_back({readConstant(tensor), tensor});
  bool transpose = adjoint != storage.getAdjoint();
  if (storage.getForm() == StorageForm::arcs)
    return countArcs(op, storage, stored.tensors, transpose);
  return countPointTables(op, storage, std::move(stored), transpose);
}
