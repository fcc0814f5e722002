//===- CsrGather.cpp - gather on CUDA cores -------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One CTA computes one (row, block of channels, longitude tile) for all K. Ring
// windows are staged in shared memory once, for all features; taps are read
// once for all channels of the block. conv runs it over blocks of rows, with a
// matrix product after (or before) it.
//
//===----------------------------------------------------------------------===//

#include "../Models.h"

#include <algorithm>
#include <iterator>

using namespace disco;
using namespace disco::planning;

enum Field : int32_t {
  bcTile,
  kTile,
  threads,
  splitTaps,
  blockRows,
  atomics,
  numFields
};

static constexpr FieldInfo fields[numFields] = {
    {"bc_tile", "fields (batch times channels) of a CTA", "fields", 1, 8, 1},
    {"k_tile", "features that a thread sums at a time", "features", 1, 64, 1},
    {"threads", "threads of a CTA, one longitude (or point) each", "threads",
     32, 512, 32},
    {"split_taps", "rows with more taps are split into pieces; 0: never",
     "taps", 0, 65536, 1},
    {"block_rows",
     "rows of the K-expanded tensor between filter and mix; 0: all", "rows", 0,
     1 << 30, 1},
    {"atomics", "1: the weight gradient's pieces are added with atomics", "", 0,
     1, 1},
};
static constexpr FieldTable table = {fields, numFields};

static GatherShape shapeOf(const Problem &p, const Schedule &s) {
  GatherShape shape;
  shape.bcTile = real(get(s, bcTile));
  shape.kTile = real(std::min(get(s, kTile), p.num_basis));
  shape.threads = real(get(s, threads));
  shape.loadElements = 4 / elementBytes(p) < 1 ? 1 : 4 / elementBytes(p);
  // K values of a tap as 16-byte broadcasts.
  shape.tapLoads = ceilDiv(shape.kTile * accumulatorBytes(p), 16);
  shape.tapOverhead = 4;
  shape.pipelined = true;
  shape.splitTaps = real(get(s, splitTaps));
  shape.sumOverK =
      s.order == DISCO_WEIGHT_FIRST && p.op != DISCO_OP_CONV_WEIGHT_GRAD;
  return shape;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static std::optional<RuleFailure> checkArch(const Problem &,
                                            const Target &target, int32_t) {
  return checkFeatures(target, featureAsyncCopy);
}

static std::optional<RuleFailure> checkIndices(const Problem &p,
                                               const Target &target, int32_t) {
  return checkExtents(p, target);
}

static std::optional<RuleFailure>
checkSharedMemory(const Problem &p, const Target &target, const Schedule &s) {
  return checkSmem(
      target, gatherSmemBytes(appliedFilter(p, s.order).problem, shapeOf(p, s)),
      "use a smaller bc_tile or fewer threads");
}

static std::optional<RuleFailure>
checkRegisters(const Problem &p, const Target &, const Schedule &s) {
  // What a thread has besides its sums: addresses, a tap, loop counters.
  constexpr int64_t limit = 255 - 40;
  const GatherShape shape = shapeOf(p, s);
  const auto sums =
      static_cast<int64_t>(shape.bcTile * (shape.sumOverK ? 1 : shape.kTile) *
                           accumulatorBytes(p) / 4);
  if (sums <= limit)
    return std::nullopt;
  return failure("expected the sums of a thread to take at most " +
                     text(limit) + " registers, but got " + text(sums),
                 "use a smaller bc_tile or k_tile");
}

/// Sums, and what a thread has besides them, as gatherStage counts; the
/// register file is handed out in steps of 8 a thread.
static std::optional<RuleFailure>
checkLaunch(const Problem &p, const Target &target, const Schedule &s) {
  const GatherShape shape = shapeOf(p, s);
  const double perThread = padTo(gatherRegisters(p, shape), 8);
  const double registers = perThread * shape.threads;
  if (registers > target[TargetField::registers])
    return failure("expected the registers of a CTA to be at most " +
                       text(target[TargetField::registers]) + ", but got " +
                       text(registers) + " (" + text(get(s, threads)) +
                       " threads of " + text(perThread) + ")",
                   "use fewer threads, or a smaller bc_tile or k_tile");
  if (shape.threads > target[TargetField::max_threads])
    return failure("expected the threads of a CTA to be at most " +
                       text(target[TargetField::max_threads]) + ", but got " +
                       text(shape.threads),
                   "use fewer threads");
  return std::nullopt;
}

static std::optional<RuleFailure> checkAtomics(const Problem &p, const Target &,
                                               const Schedule &s) {
  if (!get(s, atomics))
    return std::nullopt;
  if (p.op != DISCO_OP_CONV_WEIGHT_GRAD)
    return failure("expected atomics to be 0 for " +
                       std::string(nameOfOp(p.op)) + ", but got 1",
                   "leave atomics at 0");
  if (p.deterministic)
    return failure("expected atomics to be 0 where results are deterministic, "
                   "but got 1",
                   "leave atomics at 0, or ask for deterministic = false");
  return std::nullopt;
}

static std::optional<RuleFailure> checkBlocks(const Problem &p, const Target &,
                                              const Schedule &s) {
  const int64_t rows = get(s, blockRows);
  const bool blocked = p.op == DISCO_OP_CONV && s.order == DISCO_FILTER_FIRST;
  if (rows == 0 || (blocked && rows <= p.filter.rows))
    return std::nullopt;
  if (!blocked)
    return failure("expected block_rows to be 0 for " +
                       std::string(nameOfOp(p.op)) + " in the order " +
                       std::string(nameOfOrder(s.order)) + ", but got " +
                       text(rows),
                   "leave block_rows at 0");
  return failure("expected block_rows to be at most " + text(p.filter.rows) +
                     ", but got " + text(rows),
                 "use 0 for all rows");
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

static double blockBytes(const Problem &p, int32_t order, double rows) {
  return expandedElements(p, order) / real(p.filter.rows) * rows *
         elementBytes(p);
}

/// The largest power of two whose block fits half of the shared cache.
static int64_t cachedRows(const Problem &p, const Target &target,
                          int32_t order) {
  int64_t rows = 1;
  while (2 * rows <= p.filter.rows && blockBytes(p, order, real(2 * rows)) <=
                                          target[TargetField::l2_bytes] / 2)
    rows *= 2;
  return rows;
}

static void candidates(const Problem &p, const Target &target, int32_t order,
                       int32_t provider, std::vector<Schedule> &schedules) {
  const double numFieldsOfX = filteredFields(p, order);
  const int64_t widest = numFieldsOfX >= 8 ? 8 : numFieldsOfX >= 4 ? 4 : 1;
  const bool conv = p.op == DISCO_OP_CONV;
  for (int64_t bc : {widest, widest == 8 ? int64_t(4) : widest}) {
    Schedule s = makeSchedule(table, order, provider);
    // As many features as leave room for bc_tile sums of each.
    const auto wide = static_cast<int64_t>(accumulatorBytes(p) / 4);
    s.fields[bcTile].value = bc;
    s.fields[kTile].value =
        std::clamp<int64_t>(p.num_basis, 1, 144 / (bc * wide));
    for (int64_t n : {128, 256}) {
      s.fields[threads].value = n;
      for (int64_t split : {1024, 256}) {
        s.fields[splitTaps].value = split;
        s.fields[blockRows].value = 0;
        schedules.push_back(s);
        if (conv && order == DISCO_FILTER_FIRST) {
          s.fields[blockRows].value = cachedRows(p, target, order);
          schedules.push_back(s);
        }
      }
    }
    if (bc == 1 || widest < 8)
      break;
  }
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

static Cost cost(const Problem &p, const Target &target, const Schedule &s) {
  GatherShape shape = shapeOf(p, s);
  Cost cost;
  const bool mixes = p.op == DISCO_OP_CONV || p.op == DISCO_OP_CONV_WEIGHT_GRAD;
  double blocks = 1;
  if (mixes) {
    const double rows =
        get(s, blockRows) ? real(get(s, blockRows)) : real(p.filter.rows);
    blocks = ceilDiv(real(p.filter.rows), rows);
    cost.workspaceBytes =
        s.order == DISCO_WEIGHT_FIRST
            ? expandedElements(p, s.order) * elementBytes(p)
            : blockBytes(p, s.order, std::min(rows, real(p.filter.rows)));
    shape.expanded = cost.workspaceBytes <= target[TargetField::l2_bytes] / 2
                         ? Expanded::sharedCache
                         : Expanded::dram;
  }
  const AppliedFilter applied = appliedFilter(p, s.order);
  Stage contraction =
      gatherStage(applied.problem, target, applied.order, shape);
  contraction.counts.launches = blocks;
  contraction[BoundClass::launch] *= blocks;
  addInputRepack(cost, target, p, s);
  if (mixes) {
    Stage einsum = einsumStage(p, target, s.order, shape.expanded);
    einsum.counts.launches = blocks;
    einsum[BoundClass::launch] *= blocks;
    if (get(s, atomics) == 0 && p.op == DISCO_OP_CONV_WEIGHT_GRAD)
      einsum.counts.launches += 1; // the second stage of the fixed-order sum
    cost.stages.push_back(einsum);
  }
  // In the order in which they run: the mix first where features are summed.
  const bool isFirst = mixes && !shape.sumOverK;
  cost.stages.insert(cost.stages.end() - (isFirst ? 1 : 0), contraction);
  addOutputRepack(cost, target, p, s);
  return cost;
}

static void describe(const Problem &p, const Target &, const Schedule &s,
                     Description &d) {
  const GatherShape shape = shapeOf(p, s);
  const int64_t width = get(s, threads);
  const AppliedFilter applied = appliedFilter(p, s.order);
  const bool sphere = p.structure == DISCO_SPHERE;
  const std::string point = sphere ? "longitude" : "point";
  const auto points = static_cast<int64_t>(
      sphere ? pointsPerRow(applied.problem) : outPoints(applied.problem));
  const auto numFieldsOfX = static_cast<int64_t>(filteredFields(p, s.order));
  d.threads = {std::string("a CTA is (") + (sphere ? "output row, " : "") +
                   text(get(s, bcTile)) + " fields, tile of " + text(width) +
                   " " + point + "s); a field is a sample and channel",
               "thread i sums " + point + " i of the tile, for all " +
                   text(get(s, bcTile)) + " fields and " + text(shape.kTile) +
                   " features at a time"};
  const int64_t tile = width < points ? 1 : 0;
  const int64_t thread = std::min<int64_t>(5, points - tile * width - 1);
  d.example = {std::string("CTA (") + (sphere ? "row 0, " : "") + "fields 0.." +
               text(std::min(get(s, bcTile), numFieldsOfX) - 1) + ", tile " +
               text(tile) + "), thread " + text(thread) + ": " + point + " " +
               text(tile * width + thread)};
  d.loads =
      sphere
          ? std::vector<
                std::string>{"x: each ring window once into shared memory, " +
                                 text(shape.loadElements) +
                                 " element(s) a load of a thread",
                             "psi: " + text(shape.tapLoads) +
                                 " broadcast(s) of 16 B for each tap"}
          : std::vector<std::string>{
                "x: each tap's element of each field from global memory; "
                "threads of a warp read other points",
                "psi: " + text(shape.tapLoads) +
                    " load(s) of 16 B for each tap, of the thread's own row"};
  d.computation = {"multiply-adds in registers, no atomics" +
                   std::string(get(s, atomics)
                                   ? " but for pieces of the weight "
                                     "gradient"
                                   : "")};
  if (get(s, splitTaps))
    d.computation.push_back("rows of more than " + text(get(s, splitTaps)) +
                            " taps are pieces that are added in order");
  d.stores = {"neighbouring threads store neighbouring " + point +
              "s, each element once"};
}

static constexpr Rule rules[] = {
    {10, "the architecture is sm_80 or later", checkArch, nullptr},
    {11, "planes and values have fewer than 2^31 elements", checkIndices,
     nullptr},
    {12, "the ring windows fit the shared memory of a CTA", nullptr,
     checkSharedMemory},
    {13, "the sums of a thread fit its registers", nullptr, checkRegisters},
    {14, "atomics only where results need not be deterministic", nullptr,
     checkAtomics},
    {15, "block_rows only where a conv filters first", nullptr, checkBlocks},
    {16, "the threads of a CTA and their registers fit a core", nullptr,
     checkLaunch},
};

namespace disco::planning::impls {
extern const FamilyImpl csr_gather;
const FamilyImpl csr_gather = {rules, std::size(rules), table, candidates,
                               cost,  describe};
} // namespace disco::planning::impls
