//===- Loops.cpp - the scalar reference -----------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Models.h"

#include <iterator>

using namespace disco;
using namespace disco::planning;

static std::optional<RuleFailure> checkTarget(const Problem &,
                                              const Target &target, int32_t) {
  if (target.kind == TargetKind::cpu)
    return std::nullopt;
  return failure("expected the target to be a cpu target, but got " +
                     target.name + " (cuda)",
                 "compile for cpu");
}

static void candidates(const Problem &p, const Target &, int32_t order,
                       int32_t provider, std::vector<Schedule> &schedules) {
  schedules.push_back(makeSchedule({}, order, provider, DISCO_NCHW));
}

/// One thread, one multiply-add at a time, the K-expanded tensor in memory.
static Cost cost(const Problem &p, const Target &target, const Schedule &s) {
  Stage stage;
  stage.name = "loops";
  Counts &c = stage.counts;
  c.usefulFlop = sparseFlop(p, s.order) + einsumFlop(p, s.order);
  c.paddedFlop = c.usefulFlop;
  const double mults = c.usefulFlop / 2;
  // A multiply-add loads both factors, keeps an index for each, tests the wrap
  // of the longitude and counts the loop.
  constexpr double slots = 8;
  c.issueSlots = slots * mults;
  c.l1Requests = 2 * mults;
  const bool mixes = einsumFlop(p, s.order) > 0;
  // The K-expanded tensor is kept in the type of the sums.
  const double z =
      mixes ? expandedElements(p, s.order) * accumulatorBytes(p) : 0;
  const bool isGradient = p.op == DISCO_OP_CONV_WEIGHT_GRAD;
  c.dramReadBytes = inputBytes(p) + psiBytes(p, elementBytes(p)) + z;
  c.dramReadBytes += isGradient ? gyBytes(p) : weightBytes(p) + biasBytes(p);
  if (p.epilogue & DISCO_EPILOGUE_RESIDUAL)
    c.dramReadBytes += outputBytes(p);
  c.dramWriteBytes = outputBytes(p) + z + (isGradient ? biasBytes(p) : 0);
  // Code of the function that calls it.
  c.launches = 0;
  c.l2Bytes = c.dramReadBytes + c.dramWriteBytes;
  Work work;
  work.fmaDType = dtypeOf(p);
  // Sums are kept in order: an addition waits for the one before it.
  work.chainSeconds = mults * target[TargetField::add_latency_clocks] /
                      (1e9 * target[TargetField::clock_ghz]);
  // Each multiply-add occupies a whole vector unit.
  work.fmaFlop =
      c.usefulFlop * target[TargetField::vector_bytes] / accumulatorBytes(p);
  setTimes(stage, target, work);
  Cost cost;
  cost.workspaceBytes = z;
  addInputRepack(cost, target, p, s);
  cost.stages.push_back(stage);
  addOutputRepack(cost, target, p, s);
  return cost;
}

/// Weight gradients filter x: gy is never filtered with the adjoint.
static std::optional<RuleFailure> checkOrder(const Problem &p, const Target &,
                                             int32_t order) {
  if (p.op != DISCO_OP_CONV_WEIGHT_GRAD || order == DISCO_FILTER_FIRST)
    return std::nullopt;
  return failure("expected the order of a conv_weight_grad to be filter_first, "
                 "but got weight_first",
                 "use filter_first");
}

static void describe(const Problem &p, const Target &, const Schedule &s,
                     Description &d) {
  const bool sumOverK =
      s.order == DISCO_WEIGHT_FIRST && p.op != DISCO_OP_CONV_WEIGHT_GRAD;
  const std::string accumulator = accumulatorBytes(p) == 8 ? "f64" : "f32";
  d.threads = {
      "one thread runs all loops",
      std::string("the filter, from the outside in: sample, channel, ") +
          (sumOverK ? "output point, tap, feature"
                    : "feature, output point, tap")};
  d.example = {
      std::string("sample 0, channel 0, ") + (sumOverK ? "" : "feature 0, ") +
      (p.structure == DISCO_SPHERE ? "row " : "point ") +
      text(p.filter.rows / 2) + ": one sum over its taps, " +
      text(static_cast<int64_t>(p.filter.median_taps)) + " in the median " +
      (p.structure == DISCO_SPHERE ? "row" : "point") + " and " +
      text(p.filter.max_taps) + " in the longest one"};
  d.loads = {"one element of " + nameOfFiltered(p, s.order) +
             " and one value of psi for each tap" +
             std::string(sumOverK ? " and feature" : "") +
             ", each at an index computed for it"};
  d.computation = {"sums in " + accumulator +
                   ", tap by tap in one order, a multiplication and an "
                   "addition each"};
  d.stores = {"each element once, after one rounding"};
  if (einsumFlop(p, s.order) > 0)
    d.mix = {"the same thread, one sum over channels" +
             std::string(sumOverK ? "" : " and features") +
             " for each element"};
  if (einsumFlop(p, s.order) > 0)
    d.stores.push_back("the K-expanded tensor is kept in memory, in " +
                       accumulator);
}

static constexpr Rule rules[] = {
    {10, "the target is a cpu", checkTarget, nullptr},
    {11, "a weight gradient filters x", checkOrder, nullptr},
};

namespace disco::planning::impls {
extern const FamilyImpl loops;
const FamilyImpl loops = {rules, std::size(rules), {}, candidates,
                          cost,  describe};
} // namespace disco::planning::impls
