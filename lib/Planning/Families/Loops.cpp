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
  const double z = mixes ? expandedElements(p, s.order) * elementBytes(p) : 0;
  c.dramReadBytes = inputBytes(p) + weightBytes(p) + z;
  c.dramWriteBytes = outputBytes(p) + z;
  c.l2Bytes = c.dramReadBytes + c.dramWriteBytes;
  Work work;
  work.fmaDType = dtypeOf(p);
  // Each multiply-add occupies a whole vector unit.
  work.fmaFlop =
      c.usefulFlop * target[TargetField::vector_bytes] / accumulatorBytes(p);
  setTimes(stage, target, work);
  Cost cost;
  cost.workspaceBytes = z;
  cost.stages.push_back(stage);
  addRepack(cost, target, "repack x", inputBytes(p), p.in_layout, s.in_layout);
  addRepack(cost, target, "repack y", outputBytes(p), s.out_layout,
            p.out_layout);
  return cost;
}

static constexpr Rule rules[] = {
    {10, "the target is a cpu", checkTarget, nullptr},
};

namespace disco::planning::impls {
extern const FamilyImpl loops;
const FamilyImpl loops = {rules, std::size(rules), {}, candidates, cost};
} // namespace disco::planning::impls
