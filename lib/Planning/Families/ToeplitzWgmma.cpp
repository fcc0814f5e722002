//===- ToeplitzWgmma.cpp - banded Toeplitz matrices on tensor cores -------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The support of a row on a ring is one arc, so that T consecutive longitudes
// of all features are a banded Toeplitz matrix A times a slab of x.
// filter_first has features in the rows of A, weight_first features in the
// reduction:
//
//   filter_first   rows (k, t), t < T = 64 / K      reduction (ring, u)
//   weight_first   rows (row, phase, t)             reduction (k, ring, u)
//                  over the union of the rows' rings
//
// An arc of n taps gives n + stride (T - 1) columns u, padded to 8. The columns
// of the product are longitude groups times 8 channels (layout c8).
//
//===----------------------------------------------------------------------===//

#include "../Models.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

using namespace disco;
using namespace disco::planning;

enum Field : int32_t { rows, lonGroups, stages, fused, blockRows, numFields };

static constexpr FieldInfo fields[numFields] = {
    {"rows", "output rows in the rows of A (weight_first)", "rows", 1, 8, 1},
    {"lon_groups", "groups of T longitudes of a CTA", "groups", 1, 32, 1},
    {"stages", "slabs of x in flight", "slabs", 2, 8, 1},
    {"fused", "1: the channel mix follows in the same kernel", "", 0, 1, 1},
    {"block_rows",
     "rows of the K-expanded tensor between filter and mix; 0: all", "rows", 0,
     1 << 30, 1},
};
static constexpr FieldTable table = {fields, numFields};

static constexpr double tileRows = 64, tileChannels = 8, chunkTaps = 16;

/// Whether features lie in the reduction.
static bool reducesOverK(const Problem &p, int32_t order) {
  return order == DISCO_WEIGHT_FIRST && p.op != DISCO_OP_CONV_WEIGHT_GRAD;
}

/// Counts of the filter that the order applies.
static FilterCounts countsOf(const Problem &p, int32_t order) {
  return appliedFilter(p, order).problem.filter;
}

/// Longitudes in the rows of A.
static double longitudes(const Problem &p, const Schedule &s) {
  const double other = reducesOverK(p, s.order)
                           ? real(get(s, rows)) * real(p.filter.phases)
                           : real(p.num_basis);
  return std::max(1.0, std::floor(tileRows / other));
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static std::optional<RuleFailure> checkArch(const Problem &,
                                            const Target &target, int32_t) {
  return checkFeatures(target, featureWgmma | featureBulkCopy);
}

static std::optional<RuleFailure> checkConstant(const Problem &p,
                                                const Target &, int32_t) {
  return checkExact(p);
}

static std::optional<RuleFailure> checkK(const Problem &p, const Target &,
                                         int32_t) {
  if (p.num_basis <= 64)
    return std::nullopt;
  return failure("expected K to be at most 64, the rows of a tensor tile, but "
                 "got " +
                     text(p.num_basis),
                 "use csr_gather");
}

static std::optional<RuleFailure> checkGaps(const Problem &p, const Target &,
                                            int32_t order) {
  const FilterCounts f = countsOf(p, order);
  if (f.gap_taps <= f.taps / 4)
    return std::nullopt;
  return failure("expected the gaps between arcs to hold at most a quarter of "
                 "the taps (" +
                     text(f.taps / 4) + "), but got " + text(f.gap_taps),
                 "use csr_gather, which takes arcs as they are");
}

/// Slabs hold tileChannels channels of a longitude side by side.
static std::optional<RuleFailure> checkIndices(const Problem &p,
                                               const Target &target, int32_t) {
  return checkExtents(p, target, static_cast<int64_t>(tileChannels));
}

/// A, slabs of x, and in a fused kernel blocks of W and of the features.
static double smemBytes(const Problem &p, const Schedule &s) {
  const double e = elementBytes(p);
  constexpr double bandChunks = 16, pieceTaps = 256;
  const FilterCounts f = countsOf(p, s.order);
  const double tile = longitudes(p, s) * real(get(s, lonGroups));
  const double band = bandChunks * tileRows * chunkTaps * e;
  const double window =
      std::min(real(f.longest_arc), pieceTaps) + real(f.stride) * (tile - 1);
  const double slabs = real(get(s, stages)) * window * tileChannels * e;
  if (!get(s, fused))
    return band + slabs;
  constexpr double weightStages = 4, weightColumns = 48, featureBlocks = 2;
  const double weights =
      weightStages * weightColumns * padTo(real(p.out_channels), 8) * e;
  const double features =
      featureBlocks * 2 * tileChannels * e * real(p.num_basis) * tile;
  return band + slabs + weights + features;
}

static std::optional<RuleFailure>
checkSharedMemory(const Problem &p, const Target &target, const Schedule &s) {
  return checkSmem(target, smemBytes(p, s),
                   "use fewer lon_groups or stages, or fused=0");
}

static std::optional<RuleFailure> checkFused(const Problem &p, const Target &,
                                             const Schedule &s) {
  if (!get(s, fused))
    return std::nullopt;
  if (p.op != DISCO_OP_CONV || s.order != DISCO_FILTER_FIRST)
    return failure("expected fused to be 0 for " + std::string(nameOfOp(p.op)) +
                       " in the order " + std::string(nameOfOrder(s.order)) +
                       ", but got 1",
                   "use fused=0");
  if (p.groups != 1)
    return failure("expected the groups of a fused conv to be 1, but got " +
                       text(p.groups),
                   "use fused=0: small groups are no matrix products");
  if (p.out_channels > 256)
    return failure("expected the output channels of a fused conv to be at most "
                   "256, the columns of a tensor tile, but got " +
                       text(p.out_channels),
                   "use fused=0 with block_rows");
  return std::nullopt;
}

static std::optional<RuleFailure> checkRows(const Problem &p, const Target &,
                                            const Schedule &s) {
  const int64_t n = get(s, rows);
  if (!reducesOverK(p, s.order)) {
    if (n == 1)
      return std::nullopt;
    return failure("expected rows to be 1 where features are rows of A, but "
                   "got " +
                       text(n),
                   "use rows=1, or the order weight_first");
  }
  if (n * p.filter.phases <= 64)
    return std::nullopt;
  return failure("expected rows times phases to be at most 64, the rows of a "
                 "tensor tile, but got " +
                     text(n) + " times " + text(p.filter.phases),
                 "use fewer rows");
}

static std::optional<RuleFailure> checkBlocks(const Problem &p, const Target &,
                                              const Schedule &s) {
  const bool blocked = (p.op == DISCO_OP_CONV &&
                        s.order == DISCO_FILTER_FIRST && !get(s, fused)) ||
                       p.op == DISCO_OP_CONV_WEIGHT_GRAD;
  const int64_t most = blocked ? countsOf(p, s.order).rows : 0;
  if (get(s, blockRows) <= most)
    return std::nullopt;
  return failure("expected block_rows to be at most " + text(most) + " for " +
                     std::string(nameOfOp(p.op)) + " in the order " +
                     std::string(nameOfOrder(s.order)) + ", but got " +
                     text(get(s, blockRows)),
                 "use 0");
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

static double blockBytes(const Problem &p, int32_t order, double n) {
  return storedExpanded(p, order, DISCO_C8) / real(countsOf(p, order).rows) *
         n * elementBytes(p);
}

static int64_t cachedRows(const Problem &p, const Target &target,
                          int32_t order) {
  const int64_t all = countsOf(p, order).rows;
  int64_t n = 1;
  while (2 * n <= all &&
         blockBytes(p, order, real(2 * n)) <= target[TargetField::l2_bytes] / 2)
    n *= 2;
  return n;
}

static void candidates(const Problem &p, const Target &target, int32_t order,
                       int32_t provider, std::vector<Schedule> &schedules) {
  const bool sum = reducesOverK(p, order);
  for (int64_t n : {1, 2, 4, 8}) {
    if (n > 1 && !sum)
      break;
    Schedule s = makeSchedule(table, order, provider, DISCO_C8);
    s.fields[rows].value = n;
    s.fields[stages].value = 4;
    // About 128 longitudes, or what a row has.
    const double T = longitudes(p, s);
    const double tile = std::min(
        128.0, padTo(pointsPerRow(appliedFilter(p, order).problem), T));
    s.fields[lonGroups].value =
        std::clamp<int64_t>(static_cast<int64_t>(tile / T), 1, 32);
    schedules.push_back(s);
    const bool blocked =
        p.op == DISCO_OP_CONV_WEIGHT_GRAD || (p.op == DISCO_OP_CONV && !sum);
    if (blocked) {
      Schedule cached = s;
      cached.fields[blockRows].value = cachedRows(p, target, order);
      schedules.push_back(cached);
    }
    if (p.op == DISCO_OP_CONV && !sum) {
      s.fields[fused].value = 1;
      schedules.push_back(s);
    }
  }
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

namespace {

/// The products A times slab of a whole op.
struct Shape {
  double reduction;  ///< columns of A, padded, summed over blocks of rows
  double rowsUsed;   ///< of 64
  double tiles;      ///< CTAs along the longitude of a row
  double groups;     ///< longitude groups along a row
  double blocks;     ///< blocks of rows
  double slabPoints; ///< points of x that CTAs read, for one channel
  double longestColumns;
};

} // namespace

static Shape shapeOf(const Problem &p, const Schedule &s) {
  const FilterCounts &f = p.filter;
  const double T = longitudes(p, s), stride = real(f.stride);
  const double G = real(get(s, lonGroups));
  // Gaps are filled: one arc a ring. Padding to 8 costs 3.5 columns an arc,
  // to whole chunks 4 a block of rows.
  constexpr double arcPad = 3.5, chunkPad = 4;
  const double taps = real(f.taps) + real(f.gap_taps), rings = real(f.rings);
  Shape shape{};
  shape.groups = ceilDiv(pointsPerRow(p), T);
  shape.tiles = ceilDiv(shape.groups, G);
  const double extra = stride * (T - 1) + arcPad;
  const double slabExtra = stride * (T * std::min(G, shape.groups) - 1);
  if (!reducesOverK(p, s.order)) {
    shape.blocks = real(f.rows - f.empty_rows);
    shape.reduction = taps + rings * extra + shape.blocks * chunkPad;
    shape.rowsUsed = T * real(p.num_basis);
    shape.slabPoints = (taps + rings * slabExtra) * shape.tiles;
    shape.longestColumns = real(f.max_taps) + real(f.max_rings) * extra;
    return shape;
  }
  // Blocks of `n` latitudes with all phases; each latitude more adds the rings
  // that the grids' ratio gives.
  const double n = real(get(s, rows)), phases = real(f.phases);
  const double K = real(p.num_basis);
  const double latitudes = real(f.rows - f.empty_rows) / phases;
  const double arc = rings > 0 ? taps / rings : 0;
  const double ringsOfRow = rings > 0 ? rings / (latitudes * phases) : 0;
  shape.blocks = ceilDiv(latitudes, n);
  const double ringsOfStep = real(p.in_shape[0]) / real(p.out_shape[0]);
  const double unionRings = rings > 0 ? ringsOfRow + (n - 1) * ringsOfStep : 0;
  shape.reduction = shape.blocks * (K * unionRings * (arc + extra) + chunkPad);
  shape.rowsUsed = T * n * phases;
  shape.slabPoints =
      shape.blocks * K * unionRings * (arc + slabExtra) * shape.tiles;
  shape.longestColumns =
      K *
      (real(f.max_taps) + (real(f.max_rings) + (n - 1) * ringsOfStep) * extra);
  return shape;
}

static Stage contraction(const Problem &op, const Target &target, Schedule s,
                         Expanded expanded) {
  const AppliedFilter applied = appliedFilter(op, s.order);
  const Problem &p = applied.problem;
  s.order = applied.order;
  Stage stage;
  stage.name = "contraction";
  Counts &c = stage.counts;
  const FilterCounts &f = p.filter;
  const bool sum = reducesOverK(p, s.order);
  const double e = elementBytes(p), vector = target[TargetField::vector_bytes];
  const double channels = padTo(filteredFields(p, s.order), tileChannels);
  const double G = real(get(s, lonGroups));
  const Shape shape = shapeOf(p, s);
  const double columns = shape.groups * channels;
  const double chunks = shape.reduction / chunkTaps;

  c.usefulFlop = sparseFlop(p, s.order);
  c.paddedFlop = 2 * shape.rowsUsed * shape.reduction * columns;
  Work work;
  work.tensorDType = dtypeOf(p);
  work.tensorFlop = 2 * tileRows * shape.reduction * columns;
  // One instruction: 64 x (8 channels of G groups) x 16.
  const double perChunk = shape.tiles * channels / tileChannels;
  c.tensorInstructions = chunks * perChunk;
  c.smemWavefronts = c.tensorInstructions * chunkTaps *
                     (tileRows + tileChannels * G) * e / vector;

  // Bulk copies bring slabs; the band is brought once for a row and tile.
  const double slabs = shape.slabPoints * channels * e;
  const double bands = shape.reduction * tileRows * e * shape.tiles;
  c.l2Bytes = slabs + bands;
  c.smemWavefronts += (slabs + bands) / vector;

  const double full = storedExpanded(p, s.order, DISCO_C8) * e;
  const double result = sum ? outputBytes(p, DISCO_C8) : full;
  c.dramReadBytes = (sum ? full : inputBytes(p, DISCO_C8)) +
                    real(f.taps) * real(p.num_basis) * e;
  if (sum || expanded == Expanded::dram)
    c.dramWriteBytes = result;
  // Sums are rounded and pass through shared memory to a bulk store.
  c.smemWavefronts += 2 * result / vector;
  if (expanded != Expanded::core)
    c.l2Bytes += result;
  constexpr double warps = 4, slotsOfInstruction = 4, slotsOfSum = 1.5;
  c.issueSlots = c.tensorInstructions * warps * slotsOfInstruction +
                 tileRows * shape.blocks * columns / (vector / 4) * slotsOfSum;

  c.threads = 384;
  c.registersPerThread = 168;
  c.smemBytes = smemBytes(p, s);
  c.ctas = std::max(1.0, shape.blocks * shape.tiles *
                             ceilDiv(channels, 64)); // 8 blocks share a band
  c.ctasPerCore = 1; // persistent, two math warpgroups and a producer
  c.tapImbalance = f.taps ? real(f.max_taps) * real(f.rows) / real(f.taps) : 1;
  const double instruction =
      2 * tileRows * chunkTaps * tileChannels * G /
      (target.tensorRate(dtypeOf(p)) / target[TargetField::cores]);
  work.chainSeconds = shape.longestColumns / chunkTaps * instruction +
                      1e-9 * target[TargetField::dram_latency_ns];
  setTimes(stage, target, work);
  return stage;
}

/// Both products in one kernel: the features of a tile go through shared memory
/// into the second one, which reads W from the shared cache for each tile.
static Stage fusedConv(const Problem &p, const Target &target,
                       const Schedule &s) {
  Stage stage = contraction(p, target, s, Expanded::core);
  stage.name = "fused conv";
  Counts &c = stage.counts;
  const double e = elementBytes(p), K = real(p.num_basis);
  const Shape shape = shapeOf(p, s);
  const double tile = longitudes(p, s) * real(get(s, lonGroups));
  const double pixels =
      shape.blocks * shape.tiles * real(p.batch) * padTo(tile, tileRows);
  const double channels = padTo(real(p.channels), tileChannels);
  const double outputs = padTo(real(p.out_channels), 8);
  const double mix = 2 * pixels * outputs * channels * K;
  Work work;
  work.tensorDType = dtypeOf(p);
  work.tensorFlop = c.issuedFlop + mix;
  work.chainSeconds = 1e-6 * stage[BoundClass::latency];
  c.usefulFlop += einsumFlop(p, s.order);
  c.paddedFlop += mix;
  c.tensorInstructions += mix / (2 * tileRows * outputs * chunkTaps);
  c.smemWavefronts += mix / 2 * e * (1 / outputs + 1 / tileRows) /
                      target[TargetField::vector_bytes];
  const double weights =
      outputs * channels * K * e * shape.blocks * shape.tiles * real(p.batch);
  const double result = outputBytes(p, DISCO_C8);
  c.l2Bytes += weights + result;
  c.smemWavefronts += weights / target[TargetField::vector_bytes];
  c.dramReadBytes += weightBytes(p);
  if (p.epilogue & DISCO_EPILOGUE_RESIDUAL)
    c.dramReadBytes += result;
  c.dramWriteBytes += result;
  c.ctas = std::max(1.0, shape.blocks * shape.tiles * real(p.batch));
  setTimes(stage, target, work);
  return stage;
}

static Cost cost(const Problem &p, const Target &target, const Schedule &s) {
  Cost cost;
  addInputRepack(cost, target, p, s);
  const bool mixes = p.op == DISCO_OP_CONV || p.op == DISCO_OP_CONV_WEIGHT_GRAD;
  if (!mixes) {
    cost.stages.push_back(contraction(p, target, s, Expanded::dram));
  } else if (get(s, fused)) {
    cost.stages.push_back(fusedConv(p, target, s));
  } else {
    const double all = real(countsOf(p, s.order).rows);
    const double n = get(s, blockRows) ? real(get(s, blockRows)) : all;
    cost.workspaceBytes = blockBytes(p, s.order, std::min(n, all));
    const bool cached =
        cost.workspaceBytes <= target[TargetField::l2_bytes] / 2;
    const Expanded expanded = cached ? Expanded::sharedCache : Expanded::dram;
    cost.stages.push_back(contraction(p, target, s, expanded));
    cost.stages.push_back(einsumStage(p, target, s.order, expanded, DISCO_C8));
    if (reducesOverK(p, s.order)) // the mix runs first
      std::swap(cost.stages.back(), cost.stages[cost.stages.size() - 2]);
    for (size_t i = cost.stages.size() - 2; i < cost.stages.size(); ++i) {
      cost.stages[i].counts.launches = ceilDiv(all, n);
      cost.stages[i][BoundClass::launch] *= ceilDiv(all, n);
    }
  }
  addOutputRepack(cost, target, p, s);
  return cost;
}

static void describe(const Problem &p, const Target &, const Schedule &s,
                     Description &d) {
  const bool sum = reducesOverK(p, s.order);
  const double T = longitudes(p, s), G = real(get(s, lonGroups));
  const std::string lons = text(T);
  d.threads = {
      "a CTA is (" + text(get(s, rows)) + " output row(s), " + text(T * G) +
          " longitudes, channels in blocks of " + text(tileChannels) + ")",
      sum ? "row m of A is (row, phase, longitude): longitude m % " + lons +
                ", features in the reduction"
          : "row m of A is (feature, longitude): feature m / " + lons +
                ", longitude m % " + lons + "; " + text(T * real(p.num_basis)) +
                " of " + text(tileRows) + " rows are used",
      "column n is (longitude group, channel): group n / " +
          text(tileChannels) + " of " + text(G) + ", channel n % " +
          text(tileChannels)};
  // An element that exists, however few channels, groups and rows there are.
  const AppliedFilter applied = appliedFilter(p, s.order);
  const int64_t t = static_cast<int64_t>(T);
  const double groupsOfRow = ceilDiv(pointsPerRow(applied.problem), T);
  const int64_t group = std::min(G, groupsOfRow) > 1 ? 1 : 0;
  const int64_t channel = filteredFields(p, s.order) > 1 ? 1 : 0;
  const int64_t column = group * static_cast<int64_t>(tileChannels) + channel;
  const double used = sum ? T * real(get(s, rows)) * real(p.filter.phases)
                          : T * real(p.num_basis);
  int64_t row = std::min<int64_t>(37, static_cast<int64_t>(used) - 1);
  // The last group of a row may have fewer than T longitudes.
  const auto left = static_cast<int64_t>(pointsPerRow(applied.problem) -
                                         static_cast<double>(group) * T);
  row -= std::max<int64_t>(0, row % t - (left - 1));
  const std::string place = "row " + text(row) + ", column " + text(column) +
                            ": " +
                            (sum ? "" : "feature " + text(row / t) + ", ");
  d.example = {place + "longitude " + text(row % t) + " of group " +
               text(group) + ", channel " + text(channel)};
  d.loads = {"x (c8): one slab for each ring, arc + " +
                 text(countsOf(p, s.order).stride * (t - 1)) +
                 " longitudes, by bulk copies into shared memory, " +
                 text(get(s, stages)) + " in flight",
             "A: built once for each row, " + text(chunkTaps) +
                 " columns of 64 rows for each step"};
  d.computation = {"m64n" + text(tileChannels * G) + "k" + text(chunkTaps) +
                   " instructions of a warpgroup, sums in f32 registers"};
  if (get(s, fused))
    d.computation.push_back("the features go through shared memory into a "
                            "second product with W; they never reach device "
                            "memory");
  d.stores = {"c8: " + text(tileChannels) +
              " channels of a longitude are neighbours in memory"};
}

static constexpr Rule rules[] = {
    {10, "the architecture is sm_90a", checkArch, nullptr},
    // Before what follows from counts: extents decide whatever the filter is.
    {14, "planes of 8 channels and values have fewer than 2^31 elements",
     checkIndices, nullptr},
    {11, "the filter is a constant", checkConstant, nullptr},
    {12, "K is at most 64", checkK, nullptr},
    {13, "gaps between arcs hold at most a quarter of the taps", checkGaps,
     nullptr},
    {15, "bands, slabs and features fit the shared memory of a CTA", nullptr,
     checkSharedMemory},
    {16, "fused only in a conv that filters first, groups 1, O <= 256", nullptr,
     checkFused},
    {17, "rows times phases is at most 64, and 1 where features are rows",
     nullptr, checkRows},
    {18, "block_rows only where features and mix alternate", nullptr,
     checkBlocks},
};

namespace disco::planning::impls {
extern const FamilyImpl toeplitz_wgmma;
const FamilyImpl toeplitz_wgmma = {rules, std::size(rules), table, candidates,
                                   cost,  describe};
} // namespace disco::planning::impls
