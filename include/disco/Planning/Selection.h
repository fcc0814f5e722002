//===- Selection.h - choosing how an op is run ------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks all (family, provider, order, schedule) jointly by predicted time; ties
// go to the earlier row of the registry, then the earlier candidate. What is
// forced is honoured, or refused naming the rule.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_PLANNING_SELECTION_H
#define DISCO_PLANNING_SELECTION_H

#include "disco/Planning/Family.h"

#include <optional>
#include <string>
#include <vector>

namespace disco::planning {

/// What the user forces; empty members are free.
struct SelectionOptions {
  std::string family;
  std::optional<int32_t> provider, order;
  /// "fields=4,features=9" for the forced family.
  std::string fields;
  /// Rank planned families too. A winner that is planned must not be executed:
  /// `Choice::executable` is false.
  bool includePlanned = false;
};

/// One (family, provider, order) with its best schedule.
struct Choice {
  const Family *family = nullptr;
  Schedule schedule{};
  Cost cost;
  bool executable = true;

  double microseconds() const { return cost.predictedMicroseconds(); }
};

/// Why something was not chosen: a rule (failure is set), or a greater cost.
struct Loser {
  const Family *family = nullptr;
  /// Unset when the rule does not depend on the order or provider.
  std::optional<int32_t> order, provider;
  /// A rule that failed, or planned and not asked for (rule 0).
  std::optional<RuleFailure> failure;
  /// Its best schedule, when no rule failed.
  Schedule schedule{};
  Cost cost;
  /// One line: "csr_gather, filter_first: 1234.0 us, 2.31 times the winner".
  std::string text(double winnerMicroseconds) const;
};

struct Selection {
  Choice winner;
  /// In the order of the registry, then filter_first before weight_first.
  std::vector<Loser> losers;
};

/// Errors: the problem or the target does not verify; an unknown family or
/// field; a forced choice that a rule refuses ("family 'kpacked_wgmma' is not
/// applicable: rule 12: expected ...; suggestion: ..."); no family is
/// applicable (all reasons, one a line).
Result<Selection> select(const Problem &problem, const Target &target,
                         const SelectionOptions &options = {});

/// Checks a plan written by hand by the same rules: that the family exists and
/// is available (unless `includePlanned`), its rules, the fields and the rules
/// about them. What select() chose passes.
Status checkPlan(const Problem &problem, const Target &target,
                 std::string_view family, const Schedule &schedule,
                 bool includePlanned = false);

/// A table for people; deterministic.
std::string toText(const Selection &selection, const Problem &problem,
                   const Target &target);
/// One JSON object; deterministic, keys in a fixed order.
std::string toJson(const Selection &selection, const Problem &problem,
                   const Target &target);
/// A problem, and a cost, as JSON objects.
std::string toJson(const Problem &problem);
std::string toJson(const Cost &cost);

} // namespace disco::planning

#endif // DISCO_PLANNING_SELECTION_H
