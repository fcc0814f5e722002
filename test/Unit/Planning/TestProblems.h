//===- TestProblems.h - problems that the planning tests share --*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//

#ifndef DISCO_TEST_UNIT_PLANNING_TESTPROBLEMS_H
#define DISCO_TEST_UNIT_PLANNING_TESTPROBLEMS_H

#include "disco/Planning/Selection.h"

#include <map>
#include <stdexcept>
#include <string>

namespace disco::planning::test {

inline Problem sphereProblem(const std::string &text, bool adjoint = false) {
  static std::map<std::pair<std::string, bool>, Problem> cache;
  auto [it, isNew] = cache.try_emplace({text, adjoint});
  if (isNew) {
    auto filter = filter::parseSphereFilter(text);
    if (!filter)
      throw std::runtime_error(filter.message());
    // With the counts of both directions, for as(DISCO_OP_CONV_WEIGHT_GRAD).
    auto problem =
        makeSphereProblem(DISCO_OP_CONV_WEIGHT_GRAD, *filter, adjoint);
    if (!problem)
      throw std::runtime_error(problem.message());
    it->second = *problem;
    it->second.op = DISCO_OP_CONV;
    it->second.direction = DISCO_FORWARD;
  }
  return it->second;
}

inline void setDType(Problem &p, DType dtype) {
  p.dtype = p.parameter_dtype = static_cast<int32_t>(dtype);
}

/// A named layer's conv; its input gradient swaps channels and takes the
/// adjoint.
inline Problem layer(std::string_view wanted, DType dtype,
                     int32_t direction = DISCO_FORWARD) {
  struct Row {
    std::string_view name;
    int64_t channels, outChannels, groups;
    const char *filter;
  };
  static const Row rows[] = {
#define DISCO_LAYER(name, channels, outChannels, groups, filter)               \
  {#name, channels, outChannels, groups, filter},
#include "disco/Planning/Layers.def"
  };
  for (const Row &row : rows) {
    if (row.name != wanted)
      continue;
    const bool gradient = direction == DISCO_INPUT_GRADIENT;
    Problem p = sphereProblem(row.filter, gradient);
    p.op = direction == DISCO_WEIGHT_GRADIENT ? DISCO_OP_CONV_WEIGHT_GRAD
                                              : DISCO_OP_CONV;
    p.direction = direction;
    p.channels = gradient ? row.outChannels : row.channels;
    p.out_channels = gradient ? row.channels : row.outChannels;
    p.groups = row.groups;
    setDType(p, dtype);
    return p;
  }
  throw std::runtime_error("no layer " + std::string(wanted));
}

/// A layer on a small grid: harmonic [3, 3] unless another basis is given.
inline Problem small(DType dtype = DType::bf16,
                     const std::string &basis = "harmonic, [3, 3]",
                     int nlonIn = 64, int nlonOut = 64) {
  const bool transpose = nlonIn < nlonOut;
  Problem p = sphereProblem(
      "#disco.sphere_filter<" + basis +
      ", cutoff = 0.2, in = " + "#disco.grid<equiangular, 33x" +
      std::to_string(nlonIn) + ">, out = " + "#disco.grid<equiangular, 33x" +
      std::to_string(nlonOut) + ">" + (transpose ? ", transpose>" : ">"));
  p.channels = p.out_channels = 16;
  setDType(p, dtype);
  return p;
}

inline Problem as(int32_t op, Problem p) {
  p.op = op;
  if (op == DISCO_OP_CONTRACT || op == DISCO_OP_CONTRACT_SUM) {
    p.out_channels = p.channels;
    p.groups = 1;
  }
  return p;
}

inline Target target(std::string_view name) { return *lookupTarget(name); }

inline SelectionOptions withPlanned(std::string family = "") {
  SelectionOptions options;
  options.includePlanned = true;
  options.family = std::move(family);
  return options;
}

/// The number and text of the first rule that fails: "12: expected ...", or ""
/// when all hold.
inline std::string firstFailure(std::string_view family, const Problem &p,
                                const Target &target,
                                int32_t order = DISCO_FILTER_FIRST) {
  auto failure = checkFamily(*findFamily(family), p, target, order);
  return failure ? std::to_string(failure->rule) + ": " + failure->reason : "";
}

/// The same for the rules that look at a schedule: the family's first candidate
/// with these fields set.
inline std::string scheduleFailure(std::string_view name, const Problem &p,
                                   const Target &target,
                                   const std::string &fields,
                                   int32_t order = DISCO_FILTER_FIRST) {
  const Family &family = *findFamily(name);
  std::vector<Schedule> schedules;
  family.impl->candidates(p, target, order, DISCO_RUNTIME, schedules);
  Status set = parseFields(schedules.at(0), family.fields(), fields);
  if (!set)
    return set.message();
  auto failure = checkSchedule(family, p, target, schedules[0]);
  return failure ? std::to_string(failure->rule) + ": " + failure->reason : "";
}

} // namespace disco::planning::test

#endif // DISCO_TEST_UNIT_PLANNING_TESTPROBLEMS_H
