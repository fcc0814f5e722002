//===- Statistics.h - what a filter costs to store --------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_FILTER_STATISTICS_H
#define DISCO_FILTER_STATISTICS_H

#include "disco/Filter/Psi.h"

namespace disco::filter {

/// Counts over the rows of psi. A tap is a point with an entry for any k, a
/// ring a latitude with taps, a gap a break between two arcs of one ring.
struct FilterStatistics {
  PsiShape shape;
  int64_t numEntries = 0, numTaps = 0, numArcs = 0, numGaps = 0;
  int64_t numWholeRings = 0, numEmptyRows = 0, longestArc = 0;
  double meanTaps = 0, medianTaps = 0, meanRings = 0;
  int64_t maxTaps = 0, maxRings = 0;

  int64_t kPad = 0;
  /// Why psi is not K-packable; empty if it is.
  std::string notKPackable;

  /// Bytes of each form with float64 values. COO: int32 k and row, int64
  /// column. CSR: all indices int64. K-packed: 0 where it is not legal.
  int64_t cooBytes = 0, csrBytes = 0, kPackedBytes = 0, arcBytes = 0;
};

/// Errors: an index out of range, or a repeated entry.
Result<FilterStatistics> computeStatistics(const PsiCoo &psi,
                                           const PsiShape &shape);

} // namespace disco::filter

#endif // DISCO_FILTER_STATISTICS_H
