//===- FilterCounts.cpp - tap statistics of filters -----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Planning/Problem.h"

#include <algorithm>
#include <new>

using namespace disco;
using namespace disco::planning;
using filter::Arc;
using filter::PsiCoo;
using filter::PsiShape;
using filter::SphereOperator;

/// The bin of a row with that many taps.
static int binOf(int64_t taps) {
  int bin = 0;
  while (taps > 0 && bin < DISCO_TAP_BINS - 1) {
    ++bin;
    taps >>= 1;
  }
  return bin;
}

/// Adds `count` rows of `taps` taps.
static void addRows(FilterCounts &counts, int64_t taps, int64_t count) {
  counts.histogram_rows[binOf(taps)] += count;
  counts.histogram_taps[binOf(taps)] += taps * count;
  counts.taps += taps * count;
  counts.empty_rows += taps == 0 ? count : 0;
  counts.max_taps = std::max(counts.max_taps, taps);
}

/// Points that one arc covering `arcs`, all on one ring and sorted by their
/// start, would add: all breaks between them but the widest.
static int64_t gapTaps(const Arc *arcs, int64_t numArcs, int64_t nlon) {
  int64_t taps = 0, widest = 0;
  for (int64_t a = 0; a < numArcs; ++a) {
    int64_t end = arcs[a].lonStart + arcs[a].length;
    int64_t next =
        a + 1 < numArcs ? arcs[a + 1].lonStart : arcs[0].lonStart + nlon;
    widest = std::max(widest, next - end);
    taps += arcs[a].length;
  }
  return nlon - taps - widest;
}

/// The pairs of taps of an arc that mirror each other, if they do for every
/// feature; else 0. On a whole ring tap 0 is the middle, and tap u mirrors tap
/// n - u.
static int64_t mirroredPairs(const SphereOperator &op, const Arc &arc) {
  const int64_t n = arc.length, middle = n == op.nlonIn ? 0 : 1;
  int64_t pairs = 0;
  std::vector<uint8_t> even(op.numBasis, 1), odd(op.numBasis, 1);
  for (int64_t u = 1 - middle, v = n - 1; u < v; ++u, --v, ++pairs)
    for (int64_t k = 0; k < op.numBasis; ++k) {
      const auto valueOf = [&](int64_t tap) {
        return static_cast<float>(
            op.values[(arc.valueOffset + tap) * op.numBasis + k]);
      };
      even[k] &= valueOf(u) == valueOf(v);
      odd[k] &= valueOf(u) == -valueOf(v);
      if (!even[k] && !odd[k])
        return 0;
    }
  return pairs;
}

/// Counts the arcs of one row; returns its taps.
static int64_t addArcs(FilterCounts &counts, const SphereOperator &op,
                       int64_t row) {
  int64_t taps = 0, rings = 0;
  const int32_t end = op.rowOffsets[row + 1];
  for (int32_t a = op.rowOffsets[row]; a < end;) {
    int32_t next = a;
    for (; next < end && op.arcs[next].lat == op.arcs[a].lat; ++next) {
      taps += op.arcs[next].length;
      counts.longest_arc =
          std::max<int64_t>(counts.longest_arc, op.arcs[next].length);
      counts.mirrored_pairs += mirroredPairs(op, op.arcs[next]);
    }
    counts.arcs += next - a;
    counts.gaps += next - a - 1;
    counts.gap_taps += gapTaps(&op.arcs[a], next - a, op.nlonIn);
    counts.whole_rings += op.arcs[a].length == op.nlonIn;
    ++rings;
    a = next;
  }
  counts.rings += rings;
  counts.max_rings = std::max(counts.max_rings, rings);
  return taps;
}

FilterCounts planning::countOperator(const SphereOperator &op,
                                     int64_t entries) {
  FilterCounts counts{};
  counts.exact = 1;
  counts.rows = op.numRows();
  counts.stride = op.stride;
  counts.phases = op.phases;
  std::vector<int64_t> taps;
  taps.reserve(counts.rows);
  for (int64_t row = 0; row < counts.rows; ++row) {
    taps.push_back(addArcs(counts, op, row));
    addRows(counts, taps.back(), 1);
  }
  counts.entries = entries;
  counts.shared_support = entries == counts.taps * op.numBasis;
  std::sort(taps.begin(), taps.end());
  if (!taps.empty()) {
    counts.min_taps = taps.front();
    size_t middle = taps.size() / 2;
    counts.median_taps =
        taps.size() % 2
            ? static_cast<double>(taps[middle])
            : static_cast<double>(taps[middle - 1] + taps[middle]) / 2;
  }
  return counts;
}

Result<FilterCounts>
planning::countFilter(const PsiCoo &psi, const PsiShape &shape, bool adjoint) {
  Result<SphereOperator> op = filter::operatorFromCoo(shape, psi);
  if (!op)
    return op.error();
  try {
    return countOperator(adjoint ? filter::adjoint(*op) : *op, psi.size());
  } catch (const std::bad_alloc &) {
    return Error{"out of memory while counting the taps of a filter"};
  }
}

Result<Problem> planning::makeSphereProblem(int32_t op,
                                            const filter::SphereFilter &filter,
                                            bool adjoint) {
  Result<PsiCoo> psi = filter::buildPsi(filter);
  if (!psi)
    return psi.error();
  // psi of a transposed filter is keyed by coarse rows; the layer applies its
  // adjoint.
  Result<FilterCounts> counts =
      countFilter(*psi, filter::psiShape(filter), filter.transpose != adjoint);
  if (!counts)
    return counts.error();
  Problem problem = makeProblem(op);
  const filter::Grid &in = adjoint ? filter.out : filter.in;
  const filter::Grid &out = adjoint ? filter.in : filter.out;
  problem.structure = DISCO_SPHERE;
  problem.num_basis = filter.numBasis();
  problem.in_shape[0] = in.nlat;
  problem.in_shape[1] = in.nlon;
  problem.out_shape[0] = out.nlat;
  problem.out_shape[1] = out.nlon;
  problem.filter = *counts;
  if (op == DISCO_OP_CONV_WEIGHT_GRAD) {
    counts = countFilter(*psi, filter::psiShape(filter),
                         filter.transpose == adjoint);
    if (!counts)
      return counts.error();
    problem.adjoint = *counts;
  }
  return problem;
}

FilterCounts planning::spreadCounts(int32_t structure, int64_t numBasis,
                                    const int64_t inShape[2],
                                    const int64_t outShape[2], int64_t taps) {
  FilterCounts counts{};
  const bool sphere = structure == DISCO_SPHERE;
  counts.stride = sphere ? std::max<int64_t>(inShape[1] / outShape[1], 1) : 1;
  counts.phases = sphere ? std::max<int64_t>(outShape[1] / inShape[1], 1) : 1;
  counts.rows = outShape[0] * (sphere ? counts.phases : outShape[1]);
  // The first rows have one more where it does not come out even.
  const int64_t most = inShape[0] * inShape[1];
  int64_t least = std::max<int64_t>(taps, 0) / counts.rows;
  int64_t more = std::max<int64_t>(taps, 0) % counts.rows;
  if (least >= most) {
    least = most;
    more = 0;
  }
  // Arcs of 8 taps on a sphere; a row of points has its taps anywhere.
  const int64_t greatest = least + (more > 0);
  const int64_t length =
      sphere ? std::min<int64_t>({8, greatest, inShape[1]}) : greatest > 0;
  const auto add = [&](int64_t tapsOfRow, int64_t rows) {
    if (rows == 0)
      return;
    addRows(counts, tapsOfRow, rows);
    const int64_t rings = length ? (tapsOfRow + length - 1) / length : 0;
    counts.rings += rings * rows;
    counts.max_rings = std::max(counts.max_rings, rings);
  };
  add(greatest, more);
  add(least, counts.rows - more);
  counts.min_taps = least;
  counts.median_taps = static_cast<double>(least);
  if (2 * more >= counts.rows)
    counts.median_taps += 2 * more == counts.rows ? 0.5 : 1;
  counts.arcs = counts.rings;
  counts.longest_arc = length;
  counts.shared_support = 1;
  counts.entries = counts.taps * numBasis;
  return counts;
}

FilterCounts planning::assumedCounts(int32_t structure, int64_t numBasis,
                                     const int64_t inShape[2],
                                     const int64_t outShape[2],
                                     int64_t degree) {
  const int64_t phases = structure == DISCO_SPHERE
                             ? std::max<int64_t>(outShape[1] / inShape[1], 1)
                             : outShape[1];
  return spreadCounts(structure, numBasis, inShape, outShape,
                      std::max<int64_t>(degree, 1) * outShape[0] * phases);
}
