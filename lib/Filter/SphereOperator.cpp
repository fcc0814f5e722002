//===- SphereOperator.cpp - K maps between lat-lon grids ------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Filter/SphereOperator.h"

#include "disco/Support/Parallel.h"

#include <algorithm>
#include <new>
#include <stdexcept>

using namespace disco;
using namespace disco::filter;

namespace {

/// One point of a row, and where its K values come from.
struct Tap {
  int32_t lat, lon;
  int64_t source;
};

bool isBefore(const Tap &a, const Tap &b) {
  return a.lat != b.lat ? a.lat < b.lat : a.lon < b.lon;
}

/// The taps of all rows: row r owns [offsets[r], offsets[r + 1]), sorted by
/// (lat, lon) and without repetition.
struct RowTaps {
  std::vector<int64_t> offsets;
  std::vector<Tap> taps;
};

} // namespace

/// Appends the arcs of the ring [begin, end) of sorted taps. `order` receives
/// the taps in the order of the arcs.
static void appendRing(const Tap *begin, const Tap *end, int64_t nlon,
                       std::vector<Arc> &arcs, std::vector<Tap> &order) {
  auto appendArc = [&](const Tap *first, const Tap *last) {
    arcs.push_back({first->lat, first->lon, static_cast<int32_t>(last - first),
                    static_cast<int32_t>(order.size())});
    order.insert(order.end(), first, last);
  };
  // Runs of consecutive longitudes; the last one may continue in the first.
  const Tap *firstEnd = begin + 1;
  while (firstEnd != end && firstEnd->lon == firstEnd[-1].lon + 1)
    ++firstEnd;
  bool wraps = firstEnd != end && begin->lon == 0 && end[-1].lon == nlon - 1;
  if (!wraps)
    appendArc(begin, firstEnd);
  for (const Tap *run = firstEnd; run != end;) {
    const Tap *runEnd = run + 1;
    while (runEnd != end && runEnd->lon == runEnd[-1].lon + 1)
      ++runEnd;
    appendArc(run, runEnd);
    run = runEnd;
  }
  if (wraps) {
    arcs.back().length += static_cast<int32_t>(firstEnd - begin);
    order.insert(order.end(), begin, firstEnd);
  }
}

/// Fills the arcs of `op`, whose extents are set, and returns its taps in the
/// order of the values. The number of taps must fit in int32.
static std::vector<Tap> buildArcs(const RowTaps &rows, SphereOperator &op) {
  std::vector<Tap> order;
  order.reserve(rows.taps.size());
  op.rowOffsets.assign(1, 0);
  op.rowOffsets.reserve(rows.offsets.size());
  for (size_t r = 0; r + 1 < rows.offsets.size(); ++r) {
    const Tap *tap = rows.taps.data() + rows.offsets[r];
    const Tap *end = rows.taps.data() + rows.offsets[r + 1];
    while (tap != end) {
      const Tap *ringEnd = tap;
      while (ringEnd != end && ringEnd->lat == tap->lat)
        ++ringEnd;
      appendRing(tap, ringEnd, op.nlonIn, op.arcs, order);
      tap = ringEnd;
    }
    op.rowOffsets.push_back(static_cast<int32_t>(op.arcs.size()));
  }
  return order;
}

static Error outOfRange(const char *what, int64_t entry, int64_t bound,
                        int64_t got) {
  return Error{"expected " + std::string(what) + " of entry " +
               std::to_string(entry) + " to be in [0, " +
               std::to_string(bound) + "), but got " + std::to_string(got)};
}

static Error repeatedEntry(int64_t k, int64_t row, int64_t col) {
  return Error{"expected each entry to occur once, but got two of basis " +
               std::to_string(k) + ", row " + std::to_string(row) +
               ", column " + std::to_string(col)};
}

static Status verifyShape(const PsiShape &shape) {
  const std::pair<const char *, int64_t> extents[] = {
      {"the number of basis functions", shape.numBasis},
      {"nlat of the input grid", shape.nlatIn},
      {"nlon of the input grid", shape.nlonIn},
      {"nlat of the output grid", shape.nlatOut},
      {"nlon of the output grid", shape.nlonOut}};
  for (auto [what, value] : extents)
    if (value < 1 || value > INT32_MAX)
      return Error{"expected " + std::string(what) + " to be in [1, " +
                   std::to_string(INT32_MAX) + "], but got " +
                   std::to_string(value)};
  return Status();
}

static Status verifyIndices(const PsiShape &shape, int64_t numEntries,
                            const int32_t *k, const int32_t *row,
                            const int64_t *col) {
  int64_t numColumns = shape.nlatIn * shape.nlonIn;
  for (int64_t e = 0; e < numEntries; ++e) {
    if (k[e] < 0 || k[e] >= shape.numBasis)
      return outOfRange("the basis index", e, shape.numBasis, k[e]);
    if (row[e] < 0 || row[e] >= shape.nlatOut)
      return outOfRange("the row", e, shape.nlatOut, row[e]);
    if (col[e] < 0 || col[e] >= numColumns)
      return outOfRange("the column", e, numColumns, col[e]);
  }
  return Status();
}

namespace {

/// Entries grouped by row, each row sorted by (column, k).
struct SortedEntries {
  std::vector<int64_t> offsets;
  std::vector<int64_t> entries;
};

} // namespace

static SortedEntries sortEntries(int64_t numRows, int64_t numEntries,
                                 const int32_t *k, const int32_t *row,
                                 const int64_t *col) {
  SortedEntries sorted;
  sorted.offsets.assign(numRows + 1, 0);
  for (int64_t e = 0; e < numEntries; ++e)
    ++sorted.offsets[row[e] + 1];
  for (int64_t r = 0; r < numRows; ++r)
    sorted.offsets[r + 1] += sorted.offsets[r];
  sorted.entries.resize(numEntries);
  std::vector<int64_t> next(sorted.offsets.begin(), sorted.offsets.end() - 1);
  for (int64_t e = 0; e < numEntries; ++e)
    sorted.entries[next[row[e]]++] = e;
  parallelFor(numRows, 8, [&](int64_t r) {
    std::sort(sorted.entries.begin() + sorted.offsets[r],
              sorted.entries.begin() + sorted.offsets[r + 1],
              [&](int64_t a, int64_t b) {
                return col[a] != col[b] ? col[a] < col[b] : k[a] < k[b];
              });
  });
  return sorted;
}

/// The distinct columns of each row; the source of a tap is the position of its
/// first entry in `sorted`. An error for a repeated entry.
static Result<RowTaps> unionTaps(const SortedEntries &sorted, int64_t nlonIn,
                                 const int32_t *k, const int64_t *col) {
  RowTaps rows;
  rows.offsets.push_back(0);
  for (size_t r = 0; r + 1 < sorted.offsets.size(); ++r) {
    for (int64_t j = sorted.offsets[r]; j < sorted.offsets[r + 1]; ++j) {
      int64_t e = sorted.entries[j];
      if (j > sorted.offsets[r]) {
        int64_t before = sorted.entries[j - 1];
        if (col[before] == col[e]) {
          if (k[before] == k[e])
            return repeatedEntry(k[e], static_cast<int64_t>(r), col[e]);
          continue;
        }
      }
      rows.taps.push_back({static_cast<int32_t>(col[e] / nlonIn),
                           static_cast<int32_t>(col[e] % nlonIn), j});
    }
    rows.offsets.push_back(static_cast<int64_t>(rows.taps.size()));
  }
  if (rows.taps.size() > INT32_MAX)
    return Error{"expected the number of taps to be at most " +
                 std::to_string(INT32_MAX) + ", but got " +
                 std::to_string(rows.taps.size())};
  return rows;
}

static Result<SphereOperator>
buildFromCoo(const PsiShape &shape, int64_t numEntries, const int32_t *k,
             const int32_t *row, const int64_t *col, const double *values) {
  SortedEntries sorted = sortEntries(shape.nlatOut, numEntries, k, row, col);
  Result<RowTaps> rows = unionTaps(sorted, shape.nlonIn, k, col);
  if (!rows)
    return rows.error();
  SphereOperator op;
  op.numBasis = shape.numBasis;
  op.nlatIn = shape.nlatIn;
  op.nlonIn = shape.nlonIn;
  op.nlatOut = shape.nlatOut;
  op.nlonOut = shape.nlonOut;
  op.stride = shape.nlonIn / shape.nlonOut;
  std::vector<Tap> order = buildArcs(*rows, op);
  op.values.assign(order.size() * op.numBasis, 0.0);
  parallelFor(static_cast<int64_t>(order.size()), 4096, [&](int64_t tap) {
    // The entries of a tap follow each other, and end with its row at the
    // latest; a tap of another row has another row index.
    int64_t j = order[tap].source;
    int64_t first = sorted.entries[j];
    for (; j < numEntries; ++j) {
      int64_t e = sorted.entries[j];
      if (col[e] != col[first] || row[e] != row[first])
        break;
      op.values[tap * op.numBasis + k[e]] = values[e];
    }
  });
  return op;
}

static Error outOfMemory() {
  return Error{"expected memory to hold the operator, but got none"};
}

Result<SphereOperator>
disco::filter::operatorFromCoo(const PsiShape &shape, int64_t numEntries,
                               const int32_t *k, const int32_t *row,
                               const int64_t *col, const double *values) {
  if (Status status = verifyShape(shape); !status)
    return status.error();
  if (shape.nlonIn % shape.nlonOut != 0)
    return Error{"expected nlon of the input grid to be a multiple of nlon of "
                 "the output grid, but got " +
                 std::to_string(shape.nlonIn) + " and " +
                 std::to_string(shape.nlonOut)};
  if (Status status = verifyIndices(shape, numEntries, k, row, col); !status)
    return status.error();
  try {
    return buildFromCoo(shape, numEntries, k, row, col, values);
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  } catch (const std::length_error &) {
    return outOfMemory();
  }
}

Result<SphereOperator> disco::filter::operatorFromCoo(const PsiShape &shape,
                                                      const PsiCoo &psi) {
  return operatorFromCoo(shape, psi.size(), psi.k.data(), psi.row.data(),
                         psi.col.data(), psi.values.data());
}

Status disco::filter::verify(const PsiCoo &psi, const PsiShape &shape) {
  if (Status status = verifyShape(shape); !status)
    return status;
  if (Status status = verifyIndices(shape, psi.size(), psi.k.data(),
                                    psi.row.data(), psi.col.data());
      !status)
    return status;
  SortedEntries sorted = sortEntries(shape.nlatOut, psi.size(), psi.k.data(),
                                     psi.row.data(), psi.col.data());
  for (int64_t j = 1; j < psi.size(); ++j) {
    int64_t a = sorted.entries[j - 1], b = sorted.entries[j];
    if (psi.row[a] == psi.row[b] && psi.col[a] == psi.col[b] &&
        psi.k[a] == psi.k[b])
      return repeatedEntry(psi.k[b], psi.row[b], psi.col[b]);
  }
  return Status();
}

Result<SphereOperator>
disco::filter::buildOperator(const SphereFilter &filter) {
  Result<PsiCoo> psi = buildPsi(filter);
  if (!psi)
    return psi.error();
  Result<SphereOperator> op = operatorFromCoo(psiShape(filter), *psi);
  if (!op || !filter.transpose)
    return op;
  try {
    return adjoint(*op);
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  }
}

/// The remainder in [0, divisor).
static int64_t floorMod(int64_t value, int64_t divisor) {
  int64_t rest = value % divisor;
  return rest < 0 ? rest + divisor : rest;
}

namespace {

/// A tap of the adjoint: its row there, its point, and its values here.
struct MovedTap {
  int64_t row;
  Tap tap;
};

} // namespace

/// The tap (row, lat, lon) of `op` connects output (t, phase + phases j) with
/// input (lat, lon + stride j) for every j. Seen from the input, j is such that
/// the longitude falls into the first phase there.
static MovedTap moveTap(const SphereOperator &op, const SphereOperator &result,
                        int64_t row, int64_t lat, int64_t lon, int64_t source) {
  int64_t t = row / op.phases, phase = row % op.phases;
  int64_t newPhase = lon % result.phases;
  int64_t j = -(lon / result.phases);
  int64_t newLon = floorMod(phase + op.phases * j, op.nlonOut);
  return {lat * result.phases + newPhase,
          {static_cast<int32_t>(t), static_cast<int32_t>(newLon), source}};
}

SphereOperator disco::filter::adjoint(const SphereOperator &op) {
  SphereOperator result;
  result.numBasis = op.numBasis;
  result.nlatIn = op.nlatOut;
  result.nlonIn = op.nlonOut;
  result.nlatOut = op.nlatIn;
  result.nlonOut = op.nlonIn;
  result.stride = op.phases;
  result.phases = op.stride;

  auto forEachTap = [&](auto visit) {
    for (int64_t row = 0; row < op.numRows(); ++row)
      for (int32_t a = op.rowOffsets[row]; a < op.rowOffsets[row + 1]; ++a) {
        const Arc &arc = op.arcs[a];
        for (int64_t u = 0; u < arc.length; ++u)
          visit(moveTap(op, result, row, arc.lat,
                        (arc.lonStart + u) % op.nlonIn, arc.valueOffset + u));
      }
  };

  RowTaps rows;
  rows.offsets.assign(result.numRows() + 1, 0);
  forEachTap([&](const MovedTap &moved) { ++rows.offsets[moved.row + 1]; });
  for (int64_t r = 0; r < result.numRows(); ++r)
    rows.offsets[r + 1] += rows.offsets[r];
  rows.taps.resize(op.numTaps());
  std::vector<int64_t> next(rows.offsets.begin(), rows.offsets.end() - 1);
  forEachTap(
      [&](const MovedTap &moved) { rows.taps[next[moved.row]++] = moved.tap; });
  parallelFor(result.numRows(), 8, [&](int64_t r) {
    std::sort(rows.taps.begin() + rows.offsets[r],
              rows.taps.begin() + rows.offsets[r + 1], isBefore);
  });

  std::vector<Tap> order = buildArcs(rows, result);
  result.values.resize(op.values.size());
  parallelFor(static_cast<int64_t>(order.size()), 4096, [&](int64_t tap) {
    std::copy_n(op.values.begin() + order[tap].source * op.numBasis,
                op.numBasis, result.values.begin() + tap * op.numBasis);
  });
  return result;
}

Result<PsiCoo> disco::filter::cooFromOperator(const SphereOperator &op) {
  if (op.phases != 1)
    return Error{"expected the operator to have 1 phase, but got " +
                 std::to_string(op.phases)};
  PsiCoo psi;
  psi.numBasis = op.numBasis;
  for (int64_t t = 0; t < op.nlatOut; ++t) {
    std::vector<Tap> taps;
    for (int32_t a = op.rowOffsets[t]; a < op.rowOffsets[t + 1]; ++a) {
      const Arc &arc = op.arcs[a];
      for (int32_t u = 0; u < arc.length; ++u)
        taps.push_back(
            {arc.lat,
             static_cast<int32_t>((int64_t(arc.lonStart) + u) % op.nlonIn),
             int64_t(arc.valueOffset) + u});
    }
    std::sort(taps.begin(), taps.end(), isBefore);
    for (int64_t k = 0; k < op.numBasis; ++k)
      for (const Tap &tap : taps) {
        double value = op.values[tap.source * op.numBasis + k];
        if (value == 0)
          continue;
        psi.k.push_back(static_cast<int32_t>(k));
        psi.row.push_back(static_cast<int32_t>(t));
        psi.col.push_back(tap.lat * op.nlonIn + tap.lon);
        psi.values.push_back(value);
      }
  }
  return psi;
}

bool disco::filter::operator==(const SphereOperator &a,
                               const SphereOperator &b) {
  return a.numBasis == b.numBasis && a.nlatIn == b.nlatIn &&
         a.nlonIn == b.nlonIn && a.nlatOut == b.nlatOut &&
         a.nlonOut == b.nlonOut && a.stride == b.stride &&
         a.phases == b.phases && a.rowOffsets == b.rowOffsets &&
         a.arcs == b.arcs && a.values == b.values;
}
