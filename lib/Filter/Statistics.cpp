//===- Statistics.cpp - what a filter costs to store ----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Filter/Statistics.h"

#include "disco/Filter/SphereOperator.h"

#include <algorithm>

using namespace disco;
using namespace disco::filter;

static double median(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  auto upper = static_cast<double>(values[middle]);
  return values.size() % 2
             ? upper
             : (static_cast<double>(values[middle - 1]) + upper) / 2;
}

/// Counts the taps, rings and arcs of each row.
static void countRows(const SphereOperator &op, FilterStatistics &statistics) {
  std::vector<int64_t> taps;
  int64_t numRings = 0;
  for (int64_t row = 0; row < op.numRows(); ++row) {
    int64_t rowTaps = 0, rowRings = 0;
    for (int32_t a = op.rowOffsets[row]; a < op.rowOffsets[row + 1]; ++a) {
      const Arc &arc = op.arcs[a];
      rowTaps += arc.length;
      bool sameRing = a > op.rowOffsets[row] && op.arcs[a - 1].lat == arc.lat;
      statistics.numGaps += sameRing;
      rowRings += !sameRing;
      statistics.numWholeRings += arc.length == op.nlonIn;
      statistics.longestArc =
          std::max<int64_t>(statistics.longestArc, arc.length);
    }
    taps.push_back(rowTaps);
    numRings += rowRings;
    statistics.numEmptyRows += rowTaps == 0;
    statistics.maxTaps = std::max(statistics.maxTaps, rowTaps);
    statistics.maxRings = std::max(statistics.maxRings, rowRings);
  }
  auto numRows = static_cast<double>(op.numRows());
  statistics.numTaps = op.numTaps();
  statistics.numArcs = static_cast<int64_t>(op.arcs.size());
  statistics.meanTaps = static_cast<double>(op.numTaps()) / numRows;
  statistics.medianTaps = median(std::move(taps));
  statistics.meanRings = static_cast<double>(numRings) / numRows;
}

Result<FilterStatistics>
disco::filter::computeStatistics(const PsiCoo &psi, const PsiShape &shape) {
  Result<SphereOperator> op = operatorFromCoo(shape, psi);
  if (!op)
    return op.error();
  FilterStatistics statistics;
  statistics.shape = shape;
  statistics.numEntries = psi.size();
  statistics.kPad = paddedNumBasis(psi.numBasis);
  countRows(*op, statistics);

  Result<PsiKPacked> packed = kPackedFromCoo(psi, shape);
  if (!packed)
    statistics.notKPackable = packed.message();
  auto numSegments =
      static_cast<int64_t>(csrFromCoo(psi).rowOffsets.size()) - 1;
  constexpr int64_t value = 8, index32 = 4, index64 = 8;
  statistics.cooBytes = psi.size() * (2 * index32 + index64 + value);
  statistics.csrBytes =
      psi.size() * (3 * index64 + value) + (numSegments + 1) * index64;
  if (packed)
    statistics.kPackedBytes =
        (shape.nlatOut + 1) * index32 +
        statistics.numTaps * (2 * index32 + statistics.kPad * value);
  statistics.arcBytes = (shape.nlatOut + 1) * index32 +
                        statistics.numArcs * static_cast<int64_t>(sizeof(Arc)) +
                        statistics.numTaps * psi.numBasis * value;
  return statistics;
}
