//===- Selection.cpp - choosing how an op is run --------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Planning/Selection.h"

#include <algorithm>
#include <cstdio>

using namespace disco;
using namespace disco::planning;

//===----------------------------------------------------------------------===//
// Trying one family
//===----------------------------------------------------------------------===//

namespace {

/// Everything that a selection reads.
struct Request {
  const Problem &problem;
  const Target &target;
  const SelectionOptions &options;
};

/// The best schedule of one (family, provider, order), or why there is none.
struct Attempt {
  const Family *family = nullptr;
  int32_t order = 0, provider = 0;
  std::optional<RuleFailure> failure;
  Schedule schedule{};
  Cost cost;

  bool ok() const { return !failure; }
  double microseconds() const { return cost.predictedMicroseconds(); }
};

} // namespace

/// Of a provider that a family that runs on the target does not have there.
static RuleFailure providerFailure(const Family &family, const Target &target,
                                   int32_t provider) {
  std::string names;
  for (int32_t i = 0; i < DISCO_NUM_PROVIDERS; ++i)
    if (family.providersOn(target) >> i & 1)
      names += (names.empty() ? "" : " or ") + std::string(nameOfProvider(i));
  return {4,
          "expected the provider to be " + names + ", but got " +
              std::string(nameOfProvider(provider)),
          "leave the provider to the family"};
}

static Attempt tryOne(const Request &request, const Family &family,
                      int32_t order, int32_t provider) {
  const auto &[problem, target, options] = request;
  Attempt attempt;
  attempt.family = &family;
  attempt.order = order;
  attempt.provider = provider;
  attempt.failure = checkFamily(family, problem, target, order);
  if (attempt.failure)
    return attempt;
  std::vector<Schedule> candidates;
  family.impl->candidates(problem, target, order, provider, candidates);
  bool found = false;
  for (Schedule &schedule : candidates) {
    // Forced fields were checked against the table before.
    if (Status s = parseFields(schedule, family.fields(), options.fields); !s) {
      attempt.failure = RuleFailure{0, s.message(), ""};
      return attempt;
    }
    if (auto failure = checkSchedule(family, problem, target, schedule)) {
      if (!attempt.failure)
        attempt.failure = std::move(failure);
      continue;
    }
    Cost cost = family.impl->cost(problem, target, schedule);
    if (found && cost.predictedMicroseconds() >= attempt.microseconds())
      continue;
    found = true;
    attempt.schedule = schedule;
    attempt.cost = std::move(cost);
  }
  if (found)
    attempt.failure.reset();
  else if (!attempt.failure)
    attempt.failure = RuleFailure{0,
                                  "expected at least one schedule, but got "
                                  "none",
                                  ""};
  return attempt;
}

/// All (order, provider) of a family that the options leave free, filter_first
/// first. A rule that fails alike for all of them is reported once.
static std::vector<Attempt> tryFamily(const Request &request,
                                      const Family &family) {
  const auto &[problem, target, options] = request;
  std::vector<Attempt> attempts;
  const uint32_t orders =
      options.order ? 1u << *options.order : ordersOf(problem);
  uint32_t providers = family.providersOn(target);
  if (options.provider)
    providers &= 1u << *options.provider;
  for (int32_t order = 0; order < DISCO_NUM_ORDERS; ++order) {
    if (!(orders >> order & 1))
      continue;
    if (!providers) {
      // No provider: a rule of the row says why, unless one was forced.
      Attempt attempt = tryOne(request, family, order, DISCO_CODEGEN);
      if (attempt.ok())
        attempt.failure = providerFailure(family, target, *options.provider);
      attempts.push_back(std::move(attempt));
    }
    for (int32_t provider = 0; provider < DISCO_NUM_PROVIDERS; ++provider)
      if (providers >> provider & 1)
        attempts.push_back(tryOne(request, family, order, provider));
  }
  return attempts;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static std::string describe(const RuleFailure &failure) {
  std::string text = failure.rule
                         ? "rule " + std::to_string(failure.rule) + ": "
                         : std::string();
  text += failure.reason;
  if (!failure.suggestion.empty())
    text += "; suggestion: " + failure.suggestion;
  return text;
}

static Status checkOptions(const Request &request) {
  const SelectionOptions &options = request.options;
  if (options.family.empty()) {
    if (!options.fields.empty())
      return Error{"expected a family to be forced along with schedule fields, "
                   "but got fields '" +
                   options.fields + "' alone"};
    return {};
  }
  const Family *family = findFamily(options.family);
  if (!family)
    return Error{"expected the kernel family to be one of " + familyNames() +
                 ", but got '" + options.family + "'"};
  Schedule schedule = makeSchedule(family->fields(), 0, 0);
  return parseFields(schedule, family->fields(), options.fields);
}

/// Why nothing that was forced can be done: the failures of the family.
static Error refuse(const Family &family,
                    const std::vector<Attempt> &attempts) {
  std::string text =
      "family '" + std::string(family.name) + "' is not applicable: ";
  const char *separator = "";
  std::string last;
  // A reason that holds for one of two orders only says for which.
  const bool saysOrder =
      std::any_of(attempts.begin(), attempts.end(), [&](const Attempt &a) {
        return a.order != attempts.front().order &&
               describe(*a.failure) != describe(*attempts.front().failure);
      });
  for (const Attempt &attempt : attempts) {
    std::string line = describe(*attempt.failure);
    if (line == last)
      continue;
    text += separator;
    if (saysOrder)
      text += std::string(nameOfOrder(attempt.order)) + ": ";
    text += line;
    separator = "; ";
    last = std::move(line);
  }
  return Error{text};
}

//===----------------------------------------------------------------------===//
// Selecting
//===----------------------------------------------------------------------===//

static Loser makeLoser(Attempt &&attempt) {
  Loser loser;
  loser.family = attempt.family;
  loser.order = attempt.order;
  if (attempt.ok())
    loser.provider = attempt.provider;
  loser.failure = std::move(attempt.failure);
  loser.schedule = attempt.schedule;
  loser.cost = std::move(attempt.cost);
  return loser;
}

/// Drops a loser that says what the one before it says for another order.
static void mergeLosers(std::vector<Loser> &losers) {
  std::vector<Loser> merged;
  for (Loser &loser : losers) {
    if (!merged.empty() && merged.back().family == loser.family &&
        merged.back().failure && loser.failure &&
        merged.back().failure->rule == loser.failure->rule &&
        merged.back().failure->reason == loser.failure->reason) {
      merged.back().order.reset();
      continue;
    }
    merged.push_back(std::move(loser));
  }
  losers = std::move(merged);
}

static Error nothingApplies(const Request &request,
                            const std::vector<Loser> &losers) {
  std::string text = "no kernel family is applicable to " +
                     toString(request.problem) + " on " + request.target.name;
  for (const Loser &loser : losers)
    text += "\n  " + loser.text(0);
  return Error{text};
}

Result<Selection> planning::select(const Problem &problem, const Target &target,
                                   const SelectionOptions &options) {
  const Request request{problem, target, options};
  if (Status status = verify(problem); !status)
    return status.error();
  if (Status status = validate(target); !status)
    return status.error();
  if (Status status = checkOptions(request); !status)
    return status.error();

  std::vector<Attempt> attempts;
  std::vector<Loser> losers;
  for (const Family &family : families()) {
    if (!options.family.empty() && options.family != family.name)
      continue;
    auto planned = checkAvailable(family, problem.op);
    if (planned && !options.includePlanned) {
      Loser loser;
      loser.family = &family;
      loser.failure = std::move(planned);
      if (!options.family.empty())
        return Error{"family '" + options.family +
                     "' is not applicable: " + describe(*loser.failure)};
      losers.push_back(std::move(loser));
      continue;
    }
    std::vector<Attempt> tried = tryFamily(request, family);
    bool any = std::any_of(tried.begin(), tried.end(),
                           [](const Attempt &a) { return a.ok(); });
    if (!any && !options.family.empty())
      return refuse(family, tried);
    std::move(tried.begin(), tried.end(), std::back_inserter(attempts));
  }

  const Attempt *best = nullptr;
  for (const Attempt &attempt : attempts)
    if (attempt.ok() &&
        (!best || attempt.microseconds() < best->microseconds()))
      best = &attempt;
  Selection selection;
  if (best)
    selection.winner = {best->family, best->schedule, best->cost,
                        !checkAvailable(*best->family, problem.op)};
  // Losers in the order of the registry: planned ones that were not asked for
  // interleave.
  for (Attempt &attempt : attempts)
    if (&attempt != best)
      losers.push_back(makeLoser(std::move(attempt)));
  std::stable_sort(
      losers.begin(), losers.end(),
      [](const Loser &a, const Loser &b) { return a.family < b.family; });
  mergeLosers(losers);
  if (!best)
    return nothingApplies(request, losers);
  selection.losers = std::move(losers);
  return selection;
}

std::string Loser::text(double winnerMicroseconds) const {
  std::string line = family->name;
  if (order)
    line += ", " + std::string(nameOfOrder(*order));
  if (failure)
    return line + ": " + describe(*failure);
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, ": %.1f us",
                cost.predictedMicroseconds());
  line += buffer;
  if (winnerMicroseconds > 0) {
    std::snprintf(buffer, sizeof buffer, ", %.2f times the winner",
                  cost.predictedMicroseconds() / winnerMicroseconds);
    line += buffer;
  }
  return line + ", bound by " + std::string(nameOf(cost.bound()));
}

static std::string layoutsOf(const Schedule &schedule) {
  return std::string(nameOfLayout(schedule.in_layout)) + " -> " +
         std::string(nameOfLayout(schedule.out_layout));
}

/// That the kernel reads and writes the layouts that the schedule says: those
/// of one of the family's candidates.
static Status checkLayouts(const Family &family, const Problem &problem,
                           const Target &target, const Schedule &schedule) {
  std::vector<Schedule> candidates;
  family.impl->candidates(problem, target, schedule.order, schedule.provider,
                          candidates);
  std::string known;
  for (const Schedule &candidate : candidates) {
    if (layoutsOf(candidate) == layoutsOf(schedule))
      return {};
    if (known.find(layoutsOf(candidate)) == known.npos)
      known += (known.empty() ? "" : " or ") + layoutsOf(candidate);
  }
  return Error{"expected the kernel layout of " + std::string(family.name) +
               " to be " + known + ", but got " + layoutsOf(schedule)};
}

Status planning::checkPlan(const Problem &problem, const Target &target,
                           std::string_view familyName,
                           const Schedule &schedule, bool includePlanned) {
  if (Status status = verify(problem); !status)
    return status;
  const Family *family = findFamily(familyName);
  if (!family)
    return Error{"expected the kernel family to be one of " + familyNames() +
                 ", but got '" + std::string(familyName) + "'"};
  if (auto planned = checkAvailable(*family, problem.op);
      planned && !includePlanned)
    return Error{"family '" + std::string(familyName) +
                 "' is not applicable: " + describe(*planned)};
  if (Status status = verify(schedule, family->fields()); !status)
    return Error{"family '" + std::string(familyName) +
                 "': " + status.message()};
  auto failure = checkFamily(*family, problem, target, schedule.order);
  if (!failure && !(family->providersOn(target) >> schedule.provider & 1))
    failure = providerFailure(*family, target, schedule.provider);
  if (!failure)
    failure = checkSchedule(*family, problem, target, schedule);
  if (failure)
    return Error{"family '" + std::string(familyName) +
                 "' is not applicable: " + describe(*failure)};
  return checkLayouts(*family, problem, target, schedule);
}
