//===- ToyBlocks.cpp - a family for tests ---------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include <iterator>

using namespace disco;
using namespace disco::planning;

static constexpr FieldInfo fields[] = {{"blocks", "toys", "", 1, 4, 1}};

static std::optional<RuleFailure> checkChannels(const Problem &p,
                                                const Target &, int32_t) {
  if (p.channels % 2 == 0)
    return std::nullopt;
  return failure("expected the channels to be even, but got " +
                     text(p.channels),
                 "use two");
}

static void candidates(const Problem &, const Target &, int32_t order,
                       int32_t provider, std::vector<Schedule> &schedules) {
  schedules.push_back(
      makeSchedule({fields, std::size(fields)}, order, provider));
}

static Cost cost(const Problem &p, const Target &target, const Schedule &) {
  Stage stage;
  stage.name = "toy";
  stage.counts.dramReadBytes = inputBytes(p);
  setTimes(stage, target, {});
  Cost cost;
  cost.stages.push_back(stage);
  return cost;
}

static void describe(const Problem &, const Target &, const Schedule &,
                     Description &d) {
  d.threads = {"a toy"};
}

static constexpr Rule rules[] = {
    {10, "channels are even", checkChannels, nullptr}};

namespace disco::planning::impls {
extern const FamilyImpl toy_blocks;
const FamilyImpl toy_blocks = {
    rules, std::size(rules), {fields, std::size(fields)}, candidates,
    cost,  describe};
} // namespace disco::planning::impls
