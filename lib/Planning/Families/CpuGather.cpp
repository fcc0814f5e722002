//===- CpuGather.cpp - gather on the host's vector units ------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One parallel loop over (batch, output row, channel block); the longitude is
// the vector axis: a tap is one load of x and K multiply-adds into sums that
// stay in registers, k_tile features by vectors vectors of longitudes at a
// time. The channel mix follows in cache blocks, in a fixed order.
//
//===----------------------------------------------------------------------===//

#include "../Models.h"

#include <algorithm>
#include <iterator>

using namespace disco;
using namespace disco::planning;

enum Field : int32_t { kTile, vectors, channelBlock, numFields };

static constexpr FieldInfo fields[numFields] = {
    {"k_tile", "features that are summed at a time", "features", 1, 16, 1},
    {"vectors", "vectors of longitudes that are summed at a time", "vectors", 1,
     16, 1},
    {"channel_block", "fields filtered between two channel mixes", "fields", 1,
     1024, 1},
};
static constexpr FieldTable table = {fields, numFields};

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static std::optional<RuleFailure> checkArch(const Problem &,
                                            const Target &target, int32_t) {
  return checkFeatures(target, featureAvx2);
}

static std::optional<RuleFailure> checkIndices(const Problem &p, const Target &,
                                               int32_t) {
  return checkExtents(p);
}

/// Sums that fit beside two vectors of x and one broadcast value.
static int64_t maxSums(const Target &target) {
  return (target.has(featureAvx512) ? 32 : 16) - 3;
}

static std::optional<RuleFailure>
checkRegisters(const Problem &p, const Target &target, const Schedule &s) {
  const int64_t sums = get(s, kTile) * get(s, vectors);
  if (sums <= maxSums(target))
    return std::nullopt;
  return failure("expected k_tile times vectors to be at most " +
                     text(maxSums(target)) + " registers, but got " +
                     text(sums),
                 "use a smaller k_tile or fewer vectors");
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

static void candidates(const Problem &p, const Target &target, int32_t order,
                       int32_t provider, std::vector<Schedule> &schedules) {
  const auto all =
      static_cast<int64_t>(std::min(1024.0, filteredChannels(p, order)));
  for (int64_t k = std::min<int64_t>(p.num_basis, 12); k >= 1; --k) {
    // Only even cuts of K: others leave a ragged last tile.
    if (k != p.num_basis && ceilDiv(real(p.num_basis), real(k)) ==
                                ceilDiv(real(p.num_basis), real(k - 1)))
      continue;
    Schedule s = makeSchedule(table, order, provider);
    s.fields[kTile].value = k;
    s.fields[vectors].value = std::clamp<int64_t>(maxSums(target) / k, 1, 16);
    s.fields[channelBlock].value = std::min<int64_t>(all, 32);
    schedules.push_back(s);
  }
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

static Stage contraction(const Problem &p, const Target &target,
                         const Schedule &s, bool mixes) {
  Stage stage;
  stage.name = "contraction";
  Counts &c = stage.counts;
  const bool sumOverK =
      s.order == DISCO_WEIGHT_FIRST && p.op != DISCO_OP_CONV_WEIGHT_GRAD;
  const double K = real(p.num_basis), e = elementBytes(p);
  const double groups = sumOverK ? 1 : ceilDiv(K, real(get(s, kTile)));
  const double tile = sumOverK ? 1 : real(get(s, kTile));
  const double lanes = target[TargetField::vector_bytes] / accumulatorBytes(p);
  const bool sphere = p.structure == DISCO_SPHERE;
  const double v = real(get(s, vectors));
  const double points = sphere ? pointsPerRow(p) : real(p.filter.rows);
  const double passes = ceilDiv(points, v * lanes);
  const double fields = filteredFields(p, s.order);
  const double taps =
      sphere ? real(p.filter.taps) : real(p.filter.taps) / real(p.filter.rows);
  const double tapPasses = taps * passes * fields;

  // A tap of a pass: x once for each group of features (twice where longitudes
  // are taken `stride` apart: load and shuffle), and K broadcasts. A psi of
  // points gathers lane by lane.
  const double loadX = sphere ? (p.filter.stride > 1 ? 2 : 1) : lanes;
  const double reads = v * groups * (sumOverK ? K : 1) * loadX;
  const double fma = v * (sumOverK ? K : tile * groups);
  const double broadcasts = sumOverK ? K : tile * groups;
  const double convert = e < 4 ? reads : 0;
  c.l1Requests = tapPasses * (reads + broadcasts);
  c.issueSlots = tapPasses * (reads + convert + broadcasts + fma + 2 * groups);
  c.usefulFlop = sparseFlop(p, s.order);
  c.paddedFlop = 2 * tapPasses * fma * lanes;

  const double expanded = expandedElements(p, s.order) * e;
  c.dramReadBytes = (sumOverK ? expanded : inputBytes(p)) +
                    real(p.filter.taps) * K * accumulatorBytes(p);
  // With a mix behind it the features stay in cache blocks.
  c.dramWriteBytes = sumOverK ? outputBytes(p) : mixes ? 0 : expanded;
  c.l2Bytes = c.dramReadBytes + c.dramWriteBytes +
              real(p.filter.rings) * real(p.in_shape[1]) * fields *
                  (sumOverK ? K : 1) * e;
  c.ctas = std::max(1.0, real(p.filter.rows) * real(p.batch));
  const double mean = std::max(1.0, real(p.filter.taps) / real(p.filter.rows));
  c.tapImbalance = real(p.filter.max_taps) / mean;
  Work work;
  work.fmaDType = dtypeOf(p);
  work.fmaFlop = c.paddedFlop;
  setTimes(stage, target, work);
  return stage;
}

static Cost cost(const Problem &p, const Target &target, const Schedule &s) {
  Cost cost;
  const bool mixes = p.op == DISCO_OP_CONV || p.op == DISCO_OP_CONV_WEIGHT_GRAD;
  addRepack(cost, target, "repack x", inputBytes(p), p.in_layout, s.in_layout);
  cost.stages.push_back(contraction(p, target, s, mixes));
  if (mixes) {
    const bool cached =
        s.order == DISCO_FILTER_FIRST || p.op == DISCO_OP_CONV_WEIGHT_GRAD;
    cost.stages.push_back(einsumStage(
        p, target, s.order, cached ? Expanded::sharedCache : Expanded::dram));
    cost.workspaceBytes = cached
                              ? real(get(s, channelBlock)) * real(p.num_basis) *
                                    pointsPerRow(p) * accumulatorBytes(p) *
                                    target[TargetField::cores]
                              : expandedElements(p, s.order) * elementBytes(p);
  }
  addRepack(cost, target, "repack y", outputBytes(p), s.out_layout,
            p.out_layout);
  return cost;
}

static void describe(const Problem &p, const Target &target, const Schedule &s,
                     Description &d) {
  const int64_t lanes = static_cast<int64_t>(target[TargetField::vector_bytes] /
                                             accumulatorBytes(p));
  const int64_t width = lanes * get(s, vectors);
  d.threads = {"a task is (sample, output row, " + text(get(s, channelBlock)) +
                   " channels); a thread runs one task at a time",
               "a pass holds " + text(get(s, vectors)) + " vectors of " +
                   text(lanes) + " longitudes times " + text(get(s, kTile)) +
                   " features: " + text(get(s, vectors) * get(s, kTile)) +
                   " sums in registers"};
  const int64_t pass = width + 3 < p.out_shape[1] ? 1 : 0;
  d.example = {"pass " + text(pass) +
               " of a row: lane 3 of vector 0 is longitude " +
               text(pass * width + 3)};
  d.loads = {"x: " + text(get(s, vectors)) + " vector loads for each tap" +
                 (p.filter.stride > 1 ? ", every " + text(p.filter.stride) +
                                            "th longitude of them"
                                      : std::string()),
             "psi: one broadcast for each tap and feature"};
  d.computation = {"a fused multiply-add for each tap, feature and vector; the "
                   "channel mix follows in cache, in a fixed order"};
  d.stores = {"vectors of " + text(lanes) + " longitudes, each element once"};
}

static constexpr Rule rules[] = {
    {10, "the processor has AVX2", checkArch, nullptr},
    {11, "planes and values have fewer than 2^31 elements", checkIndices,
     nullptr},
    {12, "the sums fit the vector registers", nullptr, checkRegisters},
};

namespace disco::planning::impls {
extern const FamilyImpl cpu_gather;
const FamilyImpl cpu_gather = {rules, std::size(rules), table, candidates,
                               cost,  describe};
} // namespace disco::planning::impls
