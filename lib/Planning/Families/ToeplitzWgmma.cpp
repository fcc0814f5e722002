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

#include "disco/ABI/Families/ToeplitzWgmma.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

using namespace disco;
using namespace disco::planning;

/// The kernels' fields, and those of the planned conv.
enum Field : int32_t {
  rows = DISCO_TOEPLITZ_WGMMA_ROWS,
  lonGroups = DISCO_TOEPLITZ_WGMMA_LON_GROUPS,
  stages = DISCO_TOEPLITZ_WGMMA_STAGES,
  fused,
  blockRows,
  numFields
};

static constexpr int64_t rowChoices[] = DISCO_TOEPLITZ_WGMMA_ROW_CHOICES;
static constexpr int64_t groupChoices[] = DISCO_TOEPLITZ_WGMMA_GROUP_CHOICES;

static constexpr FieldInfo fields[numFields] = {
    {"rows", "output latitudes in the rows of A (features in the reduction)",
     "rows", 1, *std::prev(std::end(rowChoices)), 1},
    {"lon_groups", "groups of T longitudes of a tile", "groups", 1,
     *std::begin(groupChoices), 1},
    {"stages", "stages of the pipeline: a band and three slabs of x each",
     "stages", DISCO_TOEPLITZ_WGMMA_MIN_STAGES, DISCO_TOEPLITZ_WGMMA_MAX_STAGES,
     1},
    {"fused", "1: the channel mix follows in the same kernel", "", 0, 1, 1},
    {"block_rows",
     "rows of the K-expanded tensor between filter and mix; 0: all", "rows", 0,
     1 << 30, 1},
};
static constexpr FieldTable table = {fields, numFields};

static constexpr double tileRows = DISCO_TOEPLITZ_WGMMA_TILE_ROWS,
                        tileChannels = DISCO_TOEPLITZ_WGMMA_CHANNELS,
                        stepColumns = DISCO_TOEPLITZ_WGMMA_STEP_COLUMNS,
                        mathGroups = DISCO_TOEPLITZ_WGMMA_MATH_GROUPS;

/// Whether features lie in the reduction.
static bool reducesOverK(const Problem &p, int32_t order) {
  return order == DISCO_WEIGHT_FIRST && p.op != DISCO_OP_CONV_WEIGHT_GRAD;
}

/// Counts of the filter that the order applies.
static FilterCounts countsOf(const Problem &p, int32_t order) {
  return appliedFilter(p, order).problem.filter;
}

/// Planes of the rows of A: output latitudes or features.
static int64_t planesOf(const Problem &p, const Schedule &s) {
  return reducesOverK(p, s.order) ? get(s, rows) : p.num_basis;
}

/// T, the longitudes of a phase in the rows of A; at least 1.
static int64_t longitudes(const Problem &p, const Schedule &s) {
  const int64_t phases = countsOf(p, s.order).phases;
  return std::max<int64_t>(1, DISCO_TOEPLITZ_WGMMA_TILE_ROWS /
                                  (planesOf(p, s) * phases));
}

/// Points of a slab of x of a stage.
static int64_t slabPoints(const Problem &p, const Schedule &s) {
  const auto group =
      static_cast<int32_t>(longitudes(p, s) * countsOf(p, s.order).phases);
  return disco_toeplitz_wgmma_slab_bytes(
             static_cast<int32_t>(get(s, lonGroups)), group,
             static_cast<int32_t>(get(s, stages))) /
         DISCO_TOEPLITZ_WGMMA_POINT_BYTES;
}

/// Points that a window of x has beyond the columns of A.
static int64_t haloOf(const Problem &p, const Schedule &s) {
  return disco_toeplitz_wgmma_halo(static_cast<int32_t>(get(s, lonGroups)),
                                   static_cast<int32_t>(longitudes(p, s)),
                                   countsOf(p, s.order).stride);
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
                                         int32_t order) {
  const int64_t phases = countsOf(p, order).phases;
  if (reducesOverK(p, order)) {
    if (phases <= tileRows)
      return std::nullopt;
    return failure("expected the phases to be at most " + text(tileRows) +
                       ", the rows of a tensor tile, but got " + text(phases),
                   "use csr_gather");
  }
  if (real(p.num_basis) * real(phases) <= tileRows)
    return std::nullopt;
  return failure("expected K times the phases to be at most " + text(tileRows) +
                     ", the rows of a tensor tile, but got " +
                     text(p.num_basis) + " times " + text(phases),
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

/// Shared memory of a CTA. The kernels share all that there is out to stages;
/// the planned fused one has blocks of W and of the features, too.
static double smemBytes(const Problem &p, const Schedule &s) {
  if (!get(s, fused))
    return DISCO_TOEPLITZ_WGMMA_SMEM_BYTES;
  const double e = elementBytes(p);
  constexpr double bandSteps = 16, pieceTaps = 256;
  constexpr double weightStages = 4, weightColumns = 48, featureBlocks = 2;
  const FilterCounts f = countsOf(p, s.order);
  const double tile = real(longitudes(p, s) * get(s, lonGroups));
  const double band = bandSteps * tileRows * stepColumns * e;
  const double window =
      std::min(real(f.longest_arc), pieceTaps) + real(f.stride) * (tile - 1);
  const double slabs = real(get(s, stages)) * window * tileChannels * e;
  const double weights =
      weightStages * weightColumns * padTo(real(p.out_channels), 8) * e;
  const double features =
      featureBlocks * 2 * tileChannels * e * real(p.num_basis) * tile;
  return band + slabs + weights + features;
}

static std::optional<RuleFailure>
checkSharedMemory(const Problem &p, const Target &target, const Schedule &s) {
  if (get(s, fused))
    return checkSmem(target, smemBytes(p, s),
                     "use fewer lon_groups or stages, or fused=0");
  const int64_t least = haloOf(p, s) + DISCO_TOEPLITZ_WGMMA_BLOCK_COLUMNS;
  const int64_t got = std::max<int64_t>(0, slabPoints(p, s));
  if (got >= least)
    return std::nullopt;
  return failure("expected a slab of x to hold at least " + text(least) +
                     " longitudes, those of " + text(get(s, lonGroups)) +
                     " groups, but got " + text(got) + " with " +
                     text(get(s, stages)) + " stages",
                 "use fewer lon_groups or stages, or more rows");
}

/// "1, 2, 4".
template <size_t N> static std::string listOf(const int64_t (&choices)[N]) {
  std::string list;
  for (const int64_t choice : choices)
    list += (list.empty() ? "" : ", ") + text(choice);
  return list;
}

template <size_t N>
static bool isOneOf(int64_t value, const int64_t (&choices)[N]) {
  return std::find(std::begin(choices), std::end(choices), value) !=
         std::end(choices);
}

static std::optional<RuleFailure> checkGroups(const Problem &, const Target &,
                                              const Schedule &s) {
  if (isOneOf(get(s, lonGroups), groupChoices))
    return std::nullopt;
  return failure("expected lon_groups to be one of " + listOf(groupChoices) +
                     ", but got " + text(get(s, lonGroups)),
                 "use " + text(groupChoices[0]) +
                     ", for which there is a kernel");
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
  if (!isOneOf(n, rowChoices))
    return failure("expected rows to be one of " + listOf(rowChoices) +
                       ", but got " + text(n),
                   "use a power of two");
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

/// The schedule with the number of stages that is best where it fits.
static void setBestStages(const Problem &p, Schedule &s) {
  int64_t &n = s.fields[stages].value;
  for (n = DISCO_TOEPLITZ_WGMMA_BEST_STAGES;
       n > DISCO_TOEPLITZ_WGMMA_MIN_STAGES; --n)
    if (slabPoints(p, s) >= haloOf(p, s) + DISCO_TOEPLITZ_WGMMA_BLOCK_COLUMNS)
      return;
}

static void addSchedules(const Problem &p, const Target &target, Schedule s,
                         std::vector<Schedule> &schedules) {
  const bool sum = reducesOverK(p, s.order);
  setBestStages(p, s);
  // Features are nchw: the kernels transpose them themselves.
  if (p.op == DISCO_OP_CONTRACT)
    s.out_layout = DISCO_NCHW;
  schedules.push_back(s);
  if (p.op == DISCO_OP_CONV_WEIGHT_GRAD || !sum) {
    Schedule cached = s;
    cached.fields[blockRows].value = cachedRows(p, target, s.order);
    schedules.push_back(cached);
  }
  if (p.op == DISCO_OP_CONV && !sum) {
    constexpr int64_t fusedStages = 4;
    s.fields[fused].value = 1;
    s.fields[stages].value = fusedStages;
    schedules.push_back(s);
  }
}

static void candidates(const Problem &p, const Target &target, int32_t order,
                       int32_t provider, std::vector<Schedule> &schedules) {
  const bool sum = reducesOverK(p, order);
  for (const int64_t n : rowChoices) {
    if (n > 1 && (!sum || n * countsOf(p, order).phases > tileRows))
      break;
    for (const int64_t groups : groupChoices) {
      Schedule s = makeSchedule(table, order, provider, DISCO_C8);
      s.fields[rows].value = n;
      s.fields[lonGroups].value = groups;
      // Few groups were slower on all layers: only for short rows.
      constexpr int64_t few = 9;
      const Problem applied = appliedFilter(p, order).problem;
      if (groups < few &&
          ceilDiv(pointsPerRow(applied), real(longitudes(p, s))) > real(groups))
        continue;
      addSchedules(p, target, s, schedules);
    }
  }
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

namespace {

/// The products A times slab of a whole op, of one channel block unless said.
struct Shape {
  double rowsUsed; ///< of 64
  double blocks;   ///< blocks of rows
  double tiles;    ///< along the longitude of a row
  double groups;   ///< longitude groups along a row that are used
  double columns;  ///< of A, padded, summed over blocks
  double points;   ///< of x that one tile of all blocks loads
  double longestColumns;
};

} // namespace

/// What the kernels' packing comes to on the average: gaps are filled, so that
/// a ring has one arc, and an arc of n taps has n + stride (T - 1) columns, at
/// most a turn of the ring, padded to blocks of 8.
static Shape shapeOf(const Problem &p, const Schedule &s) {
  const FilterCounts &f = p.filter;
  const bool sum = reducesOverK(p, s.order);
  const double T = real(longitudes(p, s)), phases = real(f.phases);
  const double taps = real(f.taps) + real(f.gap_taps), rings = real(f.rings);
  const double n = real(get(s, rows)), repeats = sum ? real(p.num_basis) : 1;
  constexpr double arcPad = 3.5, blockPad = 4;
  Shape shape{};
  shape.groups = ceilDiv(pointsPerRow(p), T);
  shape.tiles = ceilDiv(shape.groups, real(get(s, lonGroups)));
  shape.rowsUsed = T * real(planesOf(p, s)) * phases;
  const double latitudes = real(f.rows - f.empty_rows) / phases;
  shape.blocks = ceilDiv(latitudes, n);
  if (rings == 0 || latitudes == 0)
    return shape;
  // The arcs of the phases of a latitude are next to each other.
  const double nlon = real(p.in_shape[1]);
  const double extra = real(f.stride) * (T - 1) + arcPad;
  const double arc = taps / rings + (f.phases > 1 ? 1 : 0);
  const double ring = std::min(nlon, arc + extra);
  // Each latitude more adds the rings that the grids' ratio gives.
  const double step = real(p.in_shape[0]) / real(p.out_shape[0]);
  const double ringsOfBlock = rings / phases / latitudes + (n - 1) * step;
  const double allRings = shape.blocks * repeats * ringsOfBlock;
  shape.columns = allRings * ring + shape.blocks * blockPad;
  // A window has a halo; rings are cut where slabs or bands are full.
  const double halo = real(haloOf(p, s));
  const double room = std::max(1.0, real(slabPoints(p, s)) - halo);
  constexpr double bandColumns = stepColumns * DISCO_TOEPLITZ_WGMMA_BAND_STEPS;
  const double cuts =
      std::max(0.0, shape.columns / bandColumns - shape.blocks) / 2;
  const double windows = allRings * std::max(1.0, ring / room) + cuts;
  shape.points = allRings * ring + windows * halo;
  shape.longestColumns =
      repeats *
      (real(f.max_taps) + real(f.max_rings) * extra + (n - 1) * step * ring);
  return shape;
}

/// By measurement on an H200 products, loads and stores overlap only in part,
/// so that each adds a share of the time that it would take alone. A tile of
/// results costs its CTA a little, and at the last rows of a pole few
/// multiprocessors are at work.
namespace share {
constexpr double products = 0.32, loads = 0.54, results = 0.25, dram = 0.40,
                 planarResults = 0.8, tail = 0.79;
constexpr double itemMicroseconds = 0.75;
} // namespace share

/// Adds up what does not overlap; the class that takes longest is charged.
static void addShares(Stage &stage, double resultMicroseconds, bool planar,
                      double items) {
  const double products =
      std::max(stage[BoundClass::tensor], stage[BoundClass::lsu]);
  const double loads = stage[BoundClass::l2] - resultMicroseconds;
  const double sum =
      share::products * products + share::loads * loads +
      (planar ? share::planarResults : share::results) * resultMicroseconds +
      share::dram * stage[BoundClass::dram] +
      share::tail * stage[BoundClass::latency] + stage[BoundClass::launch] +
      share::itemMicroseconds * items;
  double &longest = stage[stage.bound()];
  longest = std::max(longest, sum);
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
  const double units = shape.tiles * channels / tileChannels;
  const double columns = tileChannels * G; // of a product

  c.usefulFlop = sparseFlop(p, s.order);
  c.paddedFlop = 2 * shape.rowsUsed * shape.columns * shape.groups * channels;
  Work work;
  work.tensorDType = dtypeOf(p);
  c.tensorInstructions = shape.columns / stepColumns * units;
  const double product = 2 * tileRows * stepColumns * columns;
  work.tensorFlop = c.tensorInstructions * product;
  const double operands = stepColumns * (tileRows + columns) * e / vector;
  c.smemWavefronts = c.tensorInstructions * operands;

  // Bulk copies bring slabs, and bands for the tiles that share them.
  const double loads =
      units * tileChannels * e *
      (shape.points + shape.columns * tileRows / tileChannels / mathGroups);
  const double full = storedExpanded(p, s.order, DISCO_C8) * e;
  const double result = sum ? outputBytes(p, DISCO_C8) : full;
  c.l2Bytes = loads + (expanded == Expanded::core ? 0 : result);
  c.dramReadBytes =
      (sum ? full : inputBytes(p, DISCO_C8)) + shape.columns * tileRows * e;
  if (sum || expanded == Expanded::dram)
    c.dramWriteBytes = result;
  constexpr double warps = 4, slotsOfInstruction = 4, slotsOfSum = 1.5;
  c.issueSlots = c.tensorInstructions * warps * slotsOfInstruction +
                 tileRows * shape.blocks * shape.groups * channels /
                     (vector / 4) * slotsOfSum;

  c.threads = DISCO_TOEPLITZ_WGMMA_THREADS;
  c.registersPerThread = DISCO_TOEPLITZ_WGMMA_REGISTERS;
  c.smemBytes = smemBytes(p, s);
  c.ctas = std::max(1.0, shape.blocks * ceilDiv(units, mathGroups));
  c.ctasPerCore = 1; // persistent
  c.tapImbalance = tapImbalance(f);
  // The warpgroups of a CTA share its tensor cores.
  const double instruction = std::max(
      product / (target.tensorRate(dtypeOf(p)) / target[TargetField::cores]),
      operands / (target[TargetField::lsu_per_clock] * target.coreClocks() /
                  target[TargetField::cores]));
  work.chainSeconds =
      shape.longestColumns / stepColumns * mathGroups * instruction +
      1e-9 * target[TargetField::dram_latency_ns];
  setTimes(stage, target, work);
  if (expanded != Expanded::core)
    addShares(stage, 1e6 * result / (1e9 * target[TargetField::l2_gbps]),
              s.out_layout == DISCO_NCHW, c.ctas / target[TargetField::cores]);
  // Results pass through shared memory to a bulk store, beside the products.
  c.smemWavefronts += (2 * result + loads) / vector;
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
  const double tile = real(longitudes(p, s) * get(s, lonGroups));
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
  c.tensorInstructions += mix / (2 * tileRows * outputs * stepColumns);
  c.smemWavefronts += mix / 2 * e * (1 / outputs + 1 / tileRows) /
                      target[TargetField::vector_bytes];
  const double weights =
      outputs * channels * K * e * shape.blocks * shape.tiles * real(p.batch);
  const double result = outputBytes(p, DISCO_C8);
  c.l2Bytes += weights + result;
  c.smemWavefronts += weights / target[TargetField::vector_bytes];
  c.dramReadBytes += weightBytes(p) + biasBytes(p);
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
  // The runtime packs what it gets in nchw into its workspace.
  if (p.in_layout != s.in_layout)
    cost.workspaceBytes += inputBytes(p, s.in_layout);
  addOutputRepack(cost, target, p, s);
  return cost;
}

/// "feature 5, longitude 2 of group 1, channel 1": an element of the product
/// that exists, however few channels, groups and rows there are.
static std::string exampleOf(const Problem &p, const Schedule &s) {
  const bool sum = reducesOverK(p, s.order);
  const Problem applied = appliedFilter(p, s.order).problem;
  const int64_t T = longitudes(p, s), phases = applied.filter.phases;
  const auto perRow = static_cast<int64_t>(pointsPerRow(applied));
  const int64_t group = std::min(get(s, lonGroups), (perRow + T - 1) / T) > 1;
  const int64_t channel = filteredFields(p, s.order) > 1 ? 1 : 0;
  const int64_t column = group * DISCO_TOEPLITZ_WGMMA_CHANNELS + channel;
  const int64_t used = planesOf(p, s) * T * phases;
  int64_t row = std::min<int64_t>(37, used - 1);
  // The last group of a row may have fewer than T longitudes.
  const int64_t t = row / phases % T, left = perRow - group * T;
  if (t >= left)
    row -= (t - left + 1) * phases;
  std::string place = "row " + text(row) + ", column " + text(column) + ": " +
                      (sum ? "latitude " : "feature ") +
                      text(row / (T * phases)) + ", longitude " +
                      text(row / phases % T) + " of group " + text(group);
  if (phases > 1)
    place += ", phase " + text(row % phases);
  return place + ", channel " + text(channel);
}

static void describe(const Problem &p, const Target &, const Schedule &s,
                     Description &d) {
  const bool sum = reducesOverK(p, s.order);
  const FilterCounts f = countsOf(p, s.order);
  const int64_t T = longitudes(p, s), G = get(s, lonGroups);
  const int64_t perPlane = T * f.phases;
  const std::string plane = sum ? "latitude" : "feature";
  const std::string tile = text(perPlane * G);
  std::string row = "row m of A is (" + plane + ", longitude" +
                    (f.phases > 1 ? ", phase" : "") + "): " + plane + " m / " +
                    text(perPlane) + ", ";
  if (f.phases > 1)
    row += "longitude m / " + text(f.phases) + " % " + text(T) +
           ", phase m % " + text(f.phases);
  else
    row += "longitude m % " + text(T);
  if (sum)
    row += ", features in the reduction";
  d.threads = {"a CTA has " + text(mathGroups) +
                   " warpgroups that compute, each a tile "
                   "of " +
                   text(get(s, rows)) + " output latitude(s), " + tile +
                   " points and " + text(tileChannels) +
                   " channels with the same A, and " +
                   text(int64_t(DISCO_TOEPLITZ_WGMMA_THREADS / 128) -
                        DISCO_TOEPLITZ_WGMMA_MATH_GROUPS) +
                   " that loads; one CTA stays on each multiprocessor",
               row + "; " + text(planesOf(p, s) * perPlane) + " of " +
                   text(tileRows) + " rows are used",
               "column n is (longitude group, channel): group n / " +
                   text(tileChannels) + " of " + text(G) + ", channel n % " +
                   text(tileChannels)};
  d.example = {exampleOf(p, s)};
  d.loads = {
      nameOfFiltered(p, s.order) + " (c8): one window for each ring, arc + " +
          text(f.stride * (T - 1)) + " longitudes and " + text(haloOf(p, s)) +
          " for the groups, by bulk copies into shared memory, " +
          text(get(s, stages)) + " stages in flight",
      "A: packed once for each filter, " + text(stepColumns) + " columns of " +
          text(tileRows) + " rows for each step, " +
          text(int64_t(DISCO_TOEPLITZ_WGMMA_BAND_STEPS)) + " steps at a time"};
  d.computation = {"m" + text(tileRows) + "n" + text(tileChannels * real(G)) +
                   "k" + text(stepColumns) +
                   " instructions of a warpgroup, sums in f32 registers"};
  if (p.op >= DISCO_OP_CONV && !get(s, fused))
    d.mix = describeEinsum(p, s.order);
  if (get(s, fused))
    d.computation.push_back("the features go through shared memory into a "
                            "second product with W; they never reach device "
                            "memory");
  if (s.out_layout == DISCO_NCHW)
    d.stores = {"nchw: transposed in shared memory, 16 bytes a thread"};
  else
    d.stores = {"c8: " + text(tileChannels) +
                " channels of a longitude are neighbours in memory, by bulk "
                "copies of a row of a tile"};
}

static constexpr Rule rules[] = {
    {10, "the architecture is sm_90a", checkArch, nullptr},
    // Before what follows from counts: extents decide whatever the filter is.
    {14, "planes of 8 channels and values have fewer than 2^31 elements",
     checkIndices, nullptr},
    {11, "the filter is a constant", checkConstant, nullptr},
    {12,
     "K times the phases is at most 64; with features in the reduction the "
     "phases are",
     checkK, nullptr},
    {13, "gaps between arcs hold at most a quarter of the taps", checkGaps,
     nullptr},
    // Before the shared memory that such a kernel would need.
    {16, "fused only in a conv that filters first, groups 1, O <= 256", nullptr,
     checkFused},
    {15, "slabs and features fit the shared memory of a CTA", nullptr,
     checkSharedMemory},
    {17,
     "rows is a power of two that fits with the phases, and 1 where features "
     "are rows",
     nullptr, checkRows},
    {18, "block_rows only where features and mix alternate", nullptr,
     checkBlocks},
    {19, "there is a kernel for lon_groups", nullptr, checkGroups},
};

namespace disco::planning::impls {
extern const FamilyImpl toeplitz_wgmma;
const FamilyImpl toeplitz_wgmma = {rules, std::size(rules), table, candidates,
                                   cost,  describe};
} // namespace disco::planning::impls
