//===- KpackedWgmma.cpp - K-packed gather on tensor cores -----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warpgroup computes 64 x K_pad sums: 8 channels by 8 longitudes, all
// features; the reduction runs over the taps of the row in chunks of 16.
//
//        taps 0..15                       features
//     +--------------+                 +-----------+
//  64 | x, gathered  |   times  16 taps| psi       |
//     +--------------+                 +-----------+
//
//===----------------------------------------------------------------------===//

#include "../Models.h"

#include <algorithm>
#include <iterator>

using namespace disco;
using namespace disco::planning;

enum Field : int32_t { staged, stages, blockRows, numFields };

static constexpr FieldInfo fields[numFields] = {
    {"staged",
     "1: ring windows are copied to shared memory; 0: each element is loaded "
     "from global memory with a test for the longitude's wrap",
     "", 0, 1, 1},
    {"stages", "chunks of taps in flight", "chunks", 1, 4, 1},
    {"block_rows",
     "rows of the K-expanded tensor between filter and mix; 0: all", "rows", 0,
     1 << 30, 1},
};
static constexpr FieldTable table = {fields, numFields};

static constexpr double tileLongitudes = 8, tileChannels = 8, chunkTaps = 16;
static constexpr double threads = 128, warps = 4;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static std::optional<RuleFailure> checkArch(const Problem &,
                                            const Target &target, int32_t) {
  return checkFeatures(target, featureWgmma);
}

static std::optional<RuleFailure> checkConstant(const Problem &p,
                                                const Target &, int32_t) {
  return checkExact(p);
}

static std::optional<RuleFailure> checkKPad(const Problem &p, const Target &,
                                            int32_t) {
  if (kPadOf(p) <= 16)
    return std::nullopt;
  return failure("expected K_pad to be 8 or 16, but got " + text(kPadOf(p)) +
                     " (K " + text(p.num_basis) + ")",
                 "use csr_gather, or a filter with K <= 16");
}

static std::optional<RuleFailure> checkSupport(const Problem &p, const Target &,
                                               int32_t) {
  if (p.filter.shared_support)
    return std::nullopt;
  return failure("expected all features to share their support (" +
                     text(real(p.filter.taps) * real(p.num_basis)) +
                     " entries), but got " + text(p.filter.entries) +
                     " entries",
                 "use csr_gather, or a basis on the full disk");
}

static std::optional<RuleFailure> checkLongitudes(const Problem &p,
                                                  const Target &, int32_t) {
  if (p.out_shape[1] % 8 == 0)
    return std::nullopt;
  return failure("expected nlon of the output to be a multiple of 8, but got " +
                     text(p.out_shape[1]),
                 "use csr_gather");
}

static std::optional<RuleFailure> checkScale(const Problem &p, const Target &,
                                             int32_t) {
  if (p.filter.phases == 1)
    return std::nullopt;
  return failure("expected nlon of the input to be a multiple of nlon of the "
                 "output (" +
                     text(p.out_shape[1]) + "), but got " + text(p.in_shape[1]),
                 "use csr_gather");
}

static std::optional<RuleFailure> checkOrder(const Problem &, const Target &,
                                             int32_t order) {
  if (order == DISCO_FILTER_FIRST)
    return std::nullopt;
  return failure("expected the order to be filter_first, since features are "
                 "columns of the tensor tile, but got weight_first",
                 "use csr_gather for weight_first");
}

static std::optional<RuleFailure> checkIndices(const Problem &p,
                                               const Target &target, int32_t) {
  return checkExtents(p, target);
}

static double smemBytes(const Problem &p, const Schedule &s) {
  // A chunk: 64 x 16 of x and 16 x K_pad of psi; staged windows hold one
  // ring's longest arc for the eight longitudes of all channels.
  const double e = elementBytes(p);
  const double chunk =
      (64 + real(kPadOf(p))) * chunkTaps * e * real(get(s, stages));
  const double window =
      std::min(real(p.in_shape[1]), real(p.filter.longest_arc)) +
      real(p.filter.stride) * (tileLongitudes - 1);
  return chunk + (get(s, staged) ? 2 * window * tileChannels * e : 0);
}

static std::optional<RuleFailure>
checkSharedMemory(const Problem &p, const Target &target, const Schedule &s) {
  return checkSmem(target, smemBytes(p, s), "use staged=0 or fewer stages");
}

static std::optional<RuleFailure> checkBlocks(const Problem &p, const Target &,
                                              const Schedule &s) {
  const int64_t rows = get(s, blockRows);
  const int64_t most = p.op == DISCO_OP_CONV ? p.filter.rows : 0;
  if (rows <= most)
    return std::nullopt;
  return failure("expected block_rows to be at most " + text(most) + " for " +
                     std::string(nameOfOp(p.op)) + ", but got " + text(rows),
                 "use 0");
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

static double blockBytes(const Problem &p, double rows) {
  return expandedElements(p, DISCO_FILTER_FIRST) / real(p.filter.rows) * rows *
         elementBytes(p);
}

static void candidates(const Problem &p, const Target &target, int32_t order,
                       int32_t provider, std::vector<Schedule> &schedules) {
  Schedule s = makeSchedule(table, order, provider);
  for (int64_t stage : {1, 0}) {
    s.fields[staged].value = stage;
    s.fields[stages].value = 3;
    s.fields[blockRows].value = 0;
    schedules.push_back(s);
    if (p.op != DISCO_OP_CONV)
      continue;
    int64_t rows = 1;
    while (2 * rows <= p.filter.rows &&
           blockBytes(p, real(2 * rows)) <= target[TargetField::l2_bytes] / 2)
      rows *= 2;
    s.fields[blockRows].value = rows;
    schedules.push_back(s);
  }
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

static Stage contraction(const Problem &p, const Target &target,
                         const Schedule &s, Expanded expanded) {
  Stage stage;
  stage.name = "contraction";
  Counts &c = stage.counts;
  const FilterCounts &f = p.filter;
  const double e = elementBytes(p);
  const double vector = target[TargetField::vector_bytes];
  const double rows = real(f.rows - f.empty_rows);
  const double blocks = ceilDiv(filteredFields(p, s.order), tileChannels);
  const double tiles = ceilDiv(pointsPerRow(p), tileLongitudes) * blocks;
  // The last chunk of a row is half empty on average.
  const double chunks =
      (real(f.taps) + rows * (chunkTaps - 1) / 2) / chunkTaps * tiles;

  // Each of 128 threads brings 8 of the 64 x 16 elements. From global memory
  // each load of a warp touches 8 channels, each its own line, and costs some
  // 28 instructions: the tap's latitude and longitude, the wrap, a 64-bit
  // address, tests for tails, load, pack. From staged windows: an offset, load,
  // pack; 8 longitudes of 4 taps conflict two ways.
  constexpr double loads = 8;
  const bool isStaged = get(s, staged);
  const double wavefronts = isStaged ? 2 : tileChannels;
  const double slots = isStaged ? 3 : 28;
  (isStaged ? c.smemWavefronts : c.l1Requests) +=
      chunks * warps * loads * wavefronts;
  c.issueSlots = chunks * warps * (loads * slots + 20);
  // The packed tile is written, and read with psi by the tensor units.
  const double tileBytes = 64 * chunkTaps * e;
  const double psiBytes = chunkTaps * real(kPadOf(p)) * e;
  c.smemWavefronts += chunks * (2 * tileBytes + psiBytes) / vector;
  c.l2Bytes = chunks * psiBytes;
  if (isStaged) {
    const double arc = f.rings ? real(f.taps) / real(f.rings) : 0;
    const double window = std::min(real(p.in_shape[1]),
                                   arc + real(f.stride) * (tileLongitudes - 1));
    const double bytes = real(f.rings) * tiles * tileChannels * window * e;
    c.l2Bytes += bytes;
    // Pieces of a window are short: a wavefront for each channel at least.
    const double requests = std::max(bytes / vector, real(f.rings) * tiles * 8);
    c.l1Requests += requests;
    c.smemWavefronts += requests;
    c.issueSlots += 4 * requests;
  } else {
    c.l2Bytes += chunks * tileBytes;
  }

  c.tensorInstructions = chunks;
  c.usefulFlop = sparseFlop(p, s.order);
  c.paddedFlop = 2 * chunks * 64 * chunkTaps * real(kPadOf(p));
  const double z = expandedElements(p, s.order) * e;
  c.dramReadBytes = inputBytes(p) + planning::psiBytes(p, e);
  c.dramWriteBytes = expanded == Expanded::dram ? z : 0;
  c.l2Bytes += z;
  c.l1Requests += z / 32; // 8 longitudes of a feature: half-used sectors
  c.threads = threads;
  c.registersPerThread = 64;
  c.smemBytes = smemBytes(p, s);
  c.ctas = std::max(1.0, rows * tiles);
  c.ctasPerCore =
      residentCtas(target, threads, c.registersPerThread, c.smemBytes);
  c.tapImbalance = tapImbalance(f);
  Work work;
  work.tensorFlop = c.paddedFlop;
  work.tensorDType = dtypeOf(p);
  // A chunk waits for its loads unless others are in flight; the longest row
  // does so alone.
  const double trip = 1e-9 * target[TargetField::l2_latency_ns];
  const double depth = real(get(s, stages));
  const double resident = target[TargetField::cores] * c.ctasPerCore;
  work.chainSeconds =
      std::max(chunks / resident, ceilDiv(real(f.max_taps), chunkTaps)) * trip /
      depth;
  setTimes(stage, target, work);
  return stage;
}

static Cost cost(const Problem &p, const Target &target, const Schedule &s) {
  Cost cost;
  addInputRepack(cost, target, p, s);
  const bool mixes = p.op == DISCO_OP_CONV;
  const double rows =
      get(s, blockRows) ? real(get(s, blockRows)) : real(p.filter.rows);
  const double block = blockBytes(p, std::min(rows, real(p.filter.rows)));
  const bool cached = mixes && block <= target[TargetField::l2_bytes] / 2;
  const Expanded expanded = cached ? Expanded::sharedCache : Expanded::dram;
  const double blocks = ceilDiv(real(p.filter.rows), rows);
  cost.stages.push_back(contraction(p, target, s, expanded));
  if (mixes) {
    cost.stages.push_back(einsumStage(p, target, s.order, expanded));
    cost.workspaceBytes = block;
    for (size_t i = cost.stages.size() - 2; i < cost.stages.size(); ++i) {
      cost.stages[i].counts.launches = blocks;
      cost.stages[i][BoundClass::launch] *= blocks;
    }
  }
  addOutputRepack(cost, target, p, s);
  return cost;
}

static void describe(const Problem &p, const Target &, const Schedule &s,
                     Description &d) {
  const int64_t columns = kPadOf(p);
  d.threads = {"a CTA of " + text(threads) + " threads is (output row, " +
                   text(tileChannels) + " fields, " + text(tileLongitudes) +
                   " longitudes)",
               "row m of the tile is field m / " + text(tileLongitudes) +
                   ", longitude m % " + text(tileLongitudes) + "; its " +
                   text(columns) + " columns are the features, " +
                   text(columns - p.num_basis) + " of them zeros"};
  const int64_t field = filteredFields(p, s.order) > 1 ? 1 : 0;
  d.example = {"row " + text(field * tileLongitudes + 5) +
               " of the tile: field " + text(field) + ", longitude 5"};
  d.loads = {get(s, staged)
                 ? "x: ring windows into shared memory, then 64 x " +
                       text(chunkTaps) + " tiles gathered from them"
                 : "x: 64 x " + text(chunkTaps) +
                       " tiles, element by element from global memory",
             "psi: " + text(chunkTaps) + " x " + text(columns) + " tiles, " +
                 text(get(s, stages)) + " in flight"};
  d.computation = {"one m64n" + text(columns) + "k" + text(chunkTaps) +
                   " instruction of a warpgroup for " + text(chunkTaps) +
                   " taps, sums in f32 registers"};
  if (p.op == DISCO_OP_CONV)
    d.mix = describeEinsum(p, s.order);
  d.stores = {"planes of one feature, " + text(tileLongitudes) +
              " longitudes of a field at a time"};
}

static constexpr Rule rules[] = {
    {10, "the architecture is sm_90a", checkArch, nullptr},
    // Before what follows from counts: extents decide whatever the filter is.
    {17, "planes and values have fewer than 2^31 elements", checkIndices,
     nullptr},
    {11, "the filter is a constant", checkConstant, nullptr},
    {12, "K_pad is 8 or 16", checkKPad, nullptr},
    {13, "all features share their support", checkSupport, nullptr},
    {14, "nlon of the output is a multiple of 8", checkLongitudes, nullptr},
    {15, "nlon of the input is a multiple of nlon of the output", checkScale,
     nullptr},
    {16, "the order is filter_first", checkOrder, nullptr},
    {18, "chunks and windows fit the shared memory of a CTA", nullptr,
     checkSharedMemory},
    {19, "block_rows only in a conv", nullptr, checkBlocks},
};

namespace disco::planning::impls {
extern const FamilyImpl kpacked_wgmma;
const FamilyImpl kpacked_wgmma = {rules, std::size(rules), table, candidates,
                                  cost,  describe};
} // namespace disco::planning::impls
