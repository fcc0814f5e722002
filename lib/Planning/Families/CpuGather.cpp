//===- CpuGather.cpp - gather on the host's vector units ------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Columns (longitudes; channels of points) are the vector axis. What is done
// first decides how the kernels run:
//
//   filters first   a task is a row: `tile` columns at a time, windows of the
//                   rings are copied without wrap, features of `channel_block`
//                   channels summed in registers and mixed while in the cache
//   sums over k     a task is some rows and `channel_block` channels: each ring
//                   of maps is copied or mixed once and added to the rows
//
//===----------------------------------------------------------------------===//

#include "CpuGatherWorkspace.h"

#include <cmath>
#include <iterator>

using namespace disco;
using namespace disco::planning;

static constexpr FieldInfo fields[DISCO_CPU_GATHER_NUM_FIELDS] = {
    {"tile",
     "longitudes (points) whose features are computed together; 0: none",
     "longitudes", 0, 65536, 1},
    {"channel_block", "channels whose features are computed together; 0: none",
     "channels", 0, 65536, 1},
};
static constexpr FieldTable table = {fields, DISCO_CPU_GATHER_NUM_FIELDS};

/// Sums in registers: features by vectors; and rows of the matrix product by
/// the vectors of a panel.
static constexpr int64_t sumFeatures = DISCO_CPU_GATHER_SUM_FEATURES,
                         sumVectors = DISCO_CPU_GATHER_SUM_VECTORS,
                         productRows = DISCO_CPU_GATHER_PRODUCT_ROWS,
                         panelVectors = DISCO_CPU_GATHER_PANEL_VECTORS;

/// Points of a task, where psi is no sphere's.
static constexpr double pointBlock = DISCO_CPU_GATHER_POINT_BLOCK;

/// Whether K maps are summed over the rings that they live on.
static bool sumsOverK(const Problem &p, int32_t order) {
  return order == DISCO_WEIGHT_FIRST && p.op != DISCO_OP_CONV_WEIGHT_GRAD;
}
static bool isSphere(const Problem &p) { return p.structure == DISCO_SPHERE; }
static bool mixes(const Problem &p) { return p.op >= DISCO_OP_CONV; }

static double lanesOf(const Problem &p, const Target &target) {
  return target[TargetField::vector_bytes] / accumulatorBytes(p);
}
static double panelOf(const Problem &p, const Target &target) {
  return real(panelVectors) * lanesOf(p, target);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static std::optional<RuleFailure> checkBasis(const Problem &p, const Target &,
                                             int32_t) {
  constexpr int64_t most = 4096;
  if (p.num_basis <= most)
    return std::nullopt;
  return failure("expected K to be at most " + text(most) + ", but got " +
                     text(p.num_basis),
                 "use loops");
}

static std::optional<RuleFailure> checkIndices(const Problem &p,
                                               const Target &target, int32_t) {
  return checkExtents(p, target);
}

static std::optional<RuleFailure> checkFields(const Problem &p, const Target &,
                                              const Schedule &s) {
  const struct {
    int32_t id;
    bool isUsed;
  } uses[] = {{DISCO_CPU_GATHER_TILE, !sumsOverK(p, s.order)},
              {DISCO_CPU_GATHER_CHANNEL_BLOCK, p.op != DISCO_OP_CONTRACT}};
  for (const auto &use : uses) {
    const int64_t value = get(s, use.id);
    if ((value > 0) == use.isUsed)
      continue;
    const std::string name = fields[use.id].name;
    return failure(
        "expected " + name + " to be " + (use.isUsed ? "positive" : "0") +
            " for " + std::string(nameOfOp(p.op)) + ", " +
            std::string(nameOfOrder(s.order)) + ", but got " + text(value),
        use.isUsed ? "leave " + name + " out to have it chosen"
                   : "leave " + name + " out");
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

static void addCandidate(std::vector<Schedule> &schedules, int32_t order,
                         int32_t provider, int64_t tile, int64_t block) {
  constexpr int64_t most = 65536;
  Schedule s = makeSchedule(table, order, provider);
  s.fields[DISCO_CPU_GATHER_TILE].value = std::min(tile, most);
  s.fields[DISCO_CPU_GATHER_CHANNEL_BLOCK].value = std::min(block, most);
  for (const Schedule &other : schedules)
    if (isEqual(s, other))
      return;
  schedules.push_back(s);
}

/// Bytes of a ring of all features of a channel, extended without wrap.
static double ringBytes(const Problem &p, const Target &target) {
  const double lattice = real(std::min(p.in_shape[1], p.out_shape[1]));
  const double panel = panelOf(p, target);
  return real(p.num_basis) * real(p.filter.stride) *
         padTo(lattice + padTo(lattice, panel), panel) * accumulatorBytes(p);
}

/// What the kernels choose by themselves comes first.
static void candidates(const Problem &p, const Target &target, int32_t order,
                       int32_t provider, std::vector<Schedule> &schedules) {
  const int64_t groupIn = p.channels / p.groups;
  const int64_t groupOut = p.out_channels / p.groups;
  const auto panel = static_cast<int64_t>(panelOf(p, target));
  const Problem f = appliedFilter(p, order).problem;
  const auto widest = static_cast<int64_t>(
      padTo(isSphere(f) ? pointsPerRow(f) : outPoints(f), real(panel)));
  const auto add = [&](int64_t tile, int64_t block) {
    addCandidate(schedules, order, provider, tile, block);
  };
  if (p.op == DISCO_OP_CONTRACT) {
    const auto featureBytes =
        static_cast<int64_t>(real(p.num_basis) * accumulatorBytes(p)) *
        (isSphere(p) ? 1 : DISCO_CPU_GATHER_POINT_CHANNELS);
    const int64_t fit = DISCO_CPU_GATHER_CONTRACT_BYTES / featureBytes;
    // Tiles of the same width, but for the last.
    const int64_t columns = isSphere(p) ? static_cast<int64_t>(pointsPerRow(p))
                                        : int64_t(DISCO_CPU_GATHER_POINT_BLOCK);
    for (int64_t tile : {fit, fit / 2, 2 * fit}) {
      const int64_t tiles =
          std::max<int64_t>(columns / std::max(tile, 2 * panel), 1);
      add(std::min(std::max((columns + tiles - 1) / tiles, 2 * panel), widest),
          0);
    }
    return;
  }
  if (!sumsOverK(p, order)) {
    const int64_t filtered = order == DISCO_WEIGHT_FIRST ? groupOut : groupIn;
    const int64_t block =
        std::max<int64_t>(DISCO_CPU_GATHER_DEPTH_TARGET / p.num_basis, 1);
    const int64_t tile = DISCO_CPU_GATHER_TILE_TARGET;
    // Features of the same size, wider and less deep, or the other way round.
    const auto fit = [&](int64_t columns, int64_t channels) {
      add(std::min(columns, widest),
          std::min(std::max<int64_t>(channels, 1), filtered));
    };
    fit(tile, block);
    fit(2 * tile, block / 2);
    fit(tile / 2, 2 * block);
    return;
  }
  int64_t block = DISCO_CPU_GATHER_SUM_CHANNELS;
  if (isSphere(p) && mixes(p)) {
    const bool isWide = groupIn >= DISCO_CPU_GATHER_WIDE_MIX;
    block = static_cast<int64_t>((isWide ? 4 : 1) *
                                 real(DISCO_CPU_GATHER_RING_BYTES) /
                                 ringBytes(p, target));
  } else if (isSphere(p)) {
    const double row = padTo(pointsPerRow(p), panelOf(p, target));
    block = std::min(static_cast<int64_t>(real(DISCO_CPU_GATHER_ROW_BYTES) /
                                          (row * accumulatorBytes(p))),
                     static_cast<int64_t>(DISCO_CPU_GATHER_ROW_CHANNELS));
  }
  for (int64_t channels : {block, block / 2})
    add(0, std::min(std::max<int64_t>(channels, 1), groupOut));
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

/// Columns of a row (of points: channels), in whole panels.
static double columnsOf(const Problem &p, const Target &target, double fields) {
  const double panel = panelOf(p, target);
  return isSphere(p) ? padTo(pointsPerRow(p), panel) * fields
                     : padTo(fields / real(p.batch), panel) * real(p.batch);
}

/// Tiles of a row, or of all points.
static double tilesOf(const Problem &p, const Schedule &s) {
  const double points = isSphere(p) ? pointsPerRow(p) : outPoints(p);
  return ceilDiv(points, real(get(s, DISCO_CPU_GATHER_TILE)));
}

namespace {

/// The arithmetic of the taps, by vectors of columns. Two taps of an arc with
/// the same or opposite values, for all features, are one multiplication of the
/// sum or the difference of two vectors.
struct TapWork {
  double all = 0;        ///< taps, of one feature
  double multiplied = 0; ///< and those that are left of them
  double pairs = 0;
};

} // namespace

static TapWork tapWork(const Problem &p, const Target &target, double fields) {
  const double columns = columnsOf(p, target, fields) / lanesOf(p, target);
  // f64 values mostly differ in their last bits.
  const int64_t pairs = dtypeOf(p) == DType::f64 ? 0 : p.filter.mirrored_pairs;
  TapWork work;
  work.all = real(p.filter.taps) * columns;
  work.pairs = real(pairs) * columns;
  work.multiplied = work.all - work.pairs;
  return work;
}

/// A tap of a vector of columns: x once for each block of features, a
/// multiply-add for each feature; values splat once for the vectors that are
/// summed together.
static double countFilterFirst(const Problem &p, const Target &target,
                               const Schedule &s, bool isMixed, Counts &c) {
  const double K = real(p.num_basis), e = elementBytes(p);
  const double lanes = lanesOf(p, target);
  const double fields = filteredFields(p, s.order);
  const TapWork taps = tapWork(p, target, fields);
  const double blocks = ceilDiv(K, real(sumFeatures));
  const double loads = taps.all * blocks, additions = taps.pairs * blocks;
  const double products = taps.multiplied * K;
  const double splats = products / real(sumVectors);
  const double loop = 2 * taps.multiplied / real(sumVectors);
  // Windows of rings are copied for each tile: read, written, and with a stride
  // sorted by residue. Points have x transposed once.
  const double rows = isSphere(p) ? tilesOf(p, s) : 1;
  const double window =
      isSphere(p)
          ? std::min(real(p.in_shape[1]),
                     real(p.filter.taps) / std::max(1.0, real(p.filter.rings)) +
                         real(p.filter.stride) *
                             std::min(pointsPerRow(p),
                                      real(get(s, DISCO_CPU_GATHER_TILE))))
          : inPoints(p);
  const double rings = isSphere(p) ? real(p.filter.rings) * rows : 1;
  const double staged = rings * window * fields;
  const double copies = (p.filter.stride > 1 ? 4 : 2) * staged / lanes;
  const double z = expandedElements(p, s.order);
  c.l1Requests = loads + splats + copies + z / lanes;
  c.issueSlots = loads + splats + products + additions + loop + copies +
                 (e < 4 ? staged / lanes : 0) + z / lanes;
  c.paddedFlop = 2 * taps.all * K * lanes;
  c.dramReadBytes = inputBytes(p) + psiBytes(p, e);
  c.dramWriteBytes = isMixed ? 0 : z * e;
  c.l2Bytes = staged * e + (isMixed ? z * accumulatorBytes(p) : z * e);
  const double tasks =
      isSphere(p) ? real(p.filter.rows) : ceilDiv(outPoints(p), pointBlock);
  c.ctas = std::max(1.0, tasks * real(p.batch));
  return 2 * lanes * (products + additions);
}

/// Whether the maps that are summed are x as it is.
static bool readsInPlace(const Problem &p) {
  return isSphere(p) && !mixes(p) && p.filter.stride == 1 &&
         elementBytes(p) == accumulatorBytes(p);
}

/// Up to three rows that are added together share the loads of a map.
static double countSums(const Problem &p, const Target &target,
                        const Schedule &s, Counts &c) {
  const double K = real(p.num_basis), e = elementBytes(p);
  const double lanes = lanesOf(p, target);
  const double fields = filteredFields(p, s.order);
  const TapWork taps = tapWork(p, target, fields);
  // Two rows share on average.
  const double shared = isSphere(p) ? 0.5 : 1;
  const double loads = taps.all * K * shared;
  const double additions = taps.pairs * K * shared;
  const double products = taps.multiplied * K;
  const double splats = products / real(sumVectors), loop = splats;
  // A row's sums are read and written for each of its rings.
  const double sums =
      isSphere(p) ? 2 * real(p.filter.rings) * pointsPerRow(p) * fields / lanes
                  : 0;
  const double maps = expandedElements(p, s.order);
  // Rings that are read in place have only their ends copied.
  const double copies =
      readsInPlace(p) ? 0 : (p.filter.stride > 1 ? 4 : 2) * maps / lanes;
  c.l1Requests = loads + splats + sums + copies;
  c.issueSlots = loads + splats + products + additions + loop + sums + copies +
                 (e < 4 ? maps / lanes : 0);
  c.paddedFlop = 2 * taps.all * K * lanes;
  c.dramReadBytes = (mixes(p) ? 0 : maps * e) + psiBytes(p, e);
  c.dramWriteBytes = outputBytes(p);
  c.l2Bytes = maps * (mixes(p) ? accumulatorBytes(p) : e) + outputBytes(p);
  const double blocks = ceilDiv(real(p.out_channels / p.groups),
                                real(get(s, DISCO_CPU_GATHER_CHANNEL_BLOCK)));
  c.ctas = std::max(4 * target[TargetField::cores],
                    real(p.batch) * real(p.groups) * blocks);
  return 2 * lanes * (products + additions);
}

static Stage contraction(const Problem &op, const Target &target, Schedule s) {
  const AppliedFilter applied = appliedFilter(op, s.order);
  const Problem &p = applied.problem;
  s.order = applied.order;
  Stage stage;
  stage.name = "contraction";
  Counts &c = stage.counts;
  Work work;
  work.fmaFlop = sumsOverK(p, s.order)
                     ? countSums(p, target, s, c)
                     : countFilterFirst(p, target, s, mixes(op), c);
  c.usefulFlop = sparseFlop(p, s.order);
  c.tapImbalance = tapImbalance(p.filter);
  work.fmaDType = dtypeOf(p);
  setTimes(stage, target, work);
  return stage;
}

/// The own matrix product, in the same parallel loop as the filter: for one d,
/// a panel and a block of rows, 2 loads, `rows` splats and twice as many
/// multiply-adds.
static Stage mix(const Problem &p, const Target &target, const Schedule &s,
                 double ctas) {
  Stage stage;
  stage.name = "einsum";
  Counts &c = stage.counts;
  const double lanes = lanesOf(p, target);
  const double groupIn = real(p.channels / p.groups),
               groupOut = real(p.out_channels / p.groups);
  const double block = real(get(s, DISCO_CPU_GATHER_CHANNEL_BLOCK));
  c.usefulFlop = c.paddedFlop = einsumFlop(p, s.order);
  const double fma = c.usefulFlop / 2 / lanes;
  const double rows = real(productRows), vectors = real(panelVectors);
  const double loads = fma * (vectors + rows) / (vectors * rows);
  double sums = 0;
  if (sumsOverK(p, s.order)) {
    // Each block of channels reads all of its group's x again.
    c.l2Bytes = inputBytes(p) * ceilDiv(groupOut, block);
    sums = 2 * expandedElements(p, s.order) / lanes;
    c.dramReadBytes = inputBytes(p);
  } else {
    // The sums of a tile are read and written for each block of channels, and
    // its weight is read again.
    const bool isGradient = p.op == DISCO_OP_CONV_WEIGHT_GRAD;
    const double filtered = s.order == DISCO_WEIGHT_FIRST ? groupOut : groupIn;
    const double other = s.order == DISCO_WEIGHT_FIRST ? groupIn : groupOut;
    const Problem f = appliedFilter(p, s.order).problem;
    const double points =
        isSphere(f) ? real(f.filter.rows) * pointsPerRow(f) : outPoints(f);
    const double tiles =
        real(f.batch) * tilesOf(f, s) * (isSphere(f) ? real(f.filter.rows) : 1);
    const double weight = real(p.out_channels) * groupIn * real(p.num_basis);
    sums = isGradient ? 2 * tiles * weight / lanes
                      : 2 * ceilDiv(filtered, block) * real(p.batch) *
                            real(p.groups) * other * points / lanes;
    c.l2Bytes = expandedElements(p, s.order) * accumulatorBytes(p) +
                tiles * weight * accumulatorBytes(p);
    // The field that is not filtered.
    if (isGradient)
      c.dramReadBytes =
          s.order == DISCO_WEIGHT_FIRST ? inputBytes(p) : gyBytes(p);
    else
      c.dramWriteBytes = outputBytes(p);
  }
  if (p.epilogue & DISCO_EPILOGUE_RESIDUAL)
    c.dramReadBytes += outputBytes(p);
  (p.op == DISCO_OP_CONV_WEIGHT_GRAD ? c.dramWriteBytes : c.dramReadBytes) +=
      weightBytes(p) + biasBytes(p);
  c.l1Requests = loads + sums;
  c.issueSlots = loads + fma + sums;
  c.ctas = ctas;
  c.launches = 0;
  Work work;
  work.fmaDType = dtypeOf(p);
  work.fmaFlop = c.paddedFlop;
  setTimes(stage, target, work);
  return stage;
}

static Cost cost(const Problem &p, const Target &target, const Schedule &s) {
  Cost cost;
  addInputRepack(cost, target, p, s);
  Stage filter = contraction(p, target, s);
  const double ctas = filter.counts.ctas;
  cost.stages.push_back(std::move(filter));
  // In the order in which they run: maps are mixed before they are summed.
  if (mixes(p))
    cost.stages.insert(cost.stages.end() - (sumsOverK(p, s.order) ? 1 : 0),
                       mix(p, target, s, ctas));
  cost.workspaceBytes = planning::cpu_gather::Workspace(p, target, s).bytes();
  addOutputRepack(cost, target, p, s);
  return cost;
}

//===----------------------------------------------------------------------===//
// Description
//===----------------------------------------------------------------------===//

/// A lane that holds one of `count` columns.
static std::string laneOf(int64_t count, int64_t lanes) {
  const int64_t column = std::min(lanes + 3, count - 1);
  return "lane " + text(column % lanes) + " of vector " + text(column / lanes) +
         " is column " + text(column);
}

static void describe(const Problem &p, const Target &target, const Schedule &s,
                     Description &d) {
  const auto lanes = static_cast<int64_t>(lanesOf(p, target));
  const int64_t tile = get(s, DISCO_CPU_GATHER_TILE);
  const std::string block = text(get(s, DISCO_CPU_GATHER_CHANNEL_BLOCK));
  const std::string features =
      text(std::min<int64_t>(p.num_basis, sumFeatures));
  const std::string columns = isSphere(p) ? "longitudes" : "channels";
  // Longitudes of a tile, or of a whole row that is summed; channels of points.
  const Problem f = appliedFilter(p, s.order).problem;
  const int64_t row = isSphere(p)
                          ? static_cast<int64_t>(pointsPerRow(f))
                          : static_cast<int64_t>(filteredChannels(p, s.order));
  const int64_t count = isSphere(p) && tile ? std::min(tile, row) : row;
  if (sumsOverK(p, s.order)) {
    const std::string rows = isSphere(p) ? "rows" : "points";
    const std::string made = mixes(p)          ? "mixed from x once"
                             : readsInPlace(p) ? "read where it is, but for "
                                                 "copies of its ends"
                                               : "copied once";
    d.threads = {"a task is (sample, " + block + " channels, some " + rows +
                     "); a thread runs one task at a time",
                 isSphere(p)
                     ? "each ring of maps is " + made +
                           ", and added to all rows of the task that read it"
                     : "the maps of each point are " + made +
                           ", with channels last, and gathered by taps"};
    d.example = {"a thread adds " + text(sumVectors) + " vectors of " +
                 text(lanes) + " " + columns +
                 " of up to three rows at a time: " + laneOf(count, lanes)};
  } else {
    d.threads = {
        std::string("a task is (sample, ") +
            (isSphere(p) ? "output row"
                         : "block of " + text(pointBlock) + " points") +
            "); a thread runs one task at a time, in tiles of " + text(tile) +
            (isSphere(p) ? " longitudes" : " points") +
            (mixes(p) ? ", " + block + " channels at a time" : ""),
        text(sumVectors) + " vectors of " + text(lanes) + " " + columns +
            " times " + features + " features are summed in registers"};
    d.example = {"in the first pass over a tile, " + laneOf(count, lanes)};
  }
  const std::string from = nameOfFiltered(p, s.order);
  d.loads = {isSphere(p)
                 ? from + ": windows of the rings, " +
                       (sumsOverK(p, s.order) && readsInPlace(p)
                            ? "in place but where they wrap"
                            : "copied without wrap") +
                       std::string(f.filter.stride > 1
                                       ? " and sorted by longitude "
                                         "modulo " +
                                             text(f.filter.stride)
                                       : "")
                 : from + ": transposed once, so that channels are adjacent",
             "psi: a value is splat once for all vectors that are summed"};
  d.computation = {"a fused multiply-add for each tap, feature and vector"};
  if (sumsOverK(p, s.order) && readsInPlace(p) &&
      planning::cpu_gather::isSmooth(static_cast<int64_t>(pointsPerRow(f))))
    d.computation.push_back(
        "rows whose arcs are long, from " +
        text(int64_t(DISCO_CPU_GATHER_FOURIER_TAPS)) +
        " taps on the average, by Fourier transforms of the rings instead; "
        "counts and times are those of taps");
  if (dtypeOf(p) != DType::f64 && f.filter.mirrored_pairs > 0)
    d.computation.push_back(
        text(f.filter.mirrored_pairs) + " pairs of the " + text(f.filter.taps) +
        " taps mirror each other for all features: one multiplication of their "
        "sum or difference each, so that fewer FLOP are issued than are "
        "useful");
  if (mixes(p))
    d.mix = {sumsOverK(p, s.order)
                 ? "the thread of a task mixes each ring of x that its rows "
                   "read, for its channels, before it adds it"
                 : "the thread of a task mixes the features of its tile while "
                   "they are in its cache",
             text(productRows) + " rows by " + text(panelVectors) +
                 " vectors of " + text(lanes) +
                 " columns of sums are in registers, in a fixed order"};
  d.stores = {"vectors of " + text(lanes) + " columns, each element once"};
}

static constexpr Rule rules[] = {
    {10, "K is at most 4096", checkBasis, nullptr},
    {11, "planes and values have fewer than 2^31 elements", checkIndices,
     nullptr},
    {12, "fields are given where the kernel has them", nullptr, checkFields},
};

namespace disco::planning::impls {
extern const FamilyImpl cpu_gather;
const FamilyImpl cpu_gather = {rules, std::size(rules), table, candidates,
                               cost,  describe};
} // namespace disco::planning::impls
