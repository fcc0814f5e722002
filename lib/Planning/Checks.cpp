//===- Checks.cpp - rules that several families share ---------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include <algorithm>
#include <cstdio>

using namespace disco;
using namespace disco::planning;

RuleFailure planning::failure(const std::string &reason,
                              const std::string &suggestion) {
  return {0, reason, suggestion};
}

std::string planning::nameOfFiltered(const Problem &p, int32_t order) {
  if (p.op == DISCO_OP_CONTRACT_SUM)
    return "z";
  if (order == DISCO_FILTER_FIRST || p.op == DISCO_OP_CONTRACT)
    return "x";
  return p.op == DISCO_OP_CONV ? "maps (x mixed)" : "gy";
}

std::string planning::text(int64_t value) { return std::to_string(value); }

std::string planning::text(double wholeValue) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.0f", wholeValue);
  return buffer;
}

std::optional<RuleFailure> planning::checkExtents(const Problem &p,
                                                  const Target &target,
                                                  int64_t channels) {
  const std::string loops = target.kind == TargetKind::cpu
                                ? "use loops, which indexes with 64 bits, or "
                                : "";
  constexpr double limit = 2147483648.0; // 2^31
  const double plane =
      std::max(inPoints(p), outPoints(p)) * static_cast<double>(channels);
  if (plane >= limit)
    return failure("expected a plane of " + text(channels) +
                       " channel(s) to have fewer than 2147483648 elements for "
                       "32-bit indices, but got " +
                       text(plane),
                   channels > 1
                       ? std::string("use csr_gather or kpacked_wgmma, whose "
                                     "planes hold one channel")
                       : loops + "shard the grid");
  const double values = real(p.filter.taps) * real(p.num_basis);
  if (values >= limit)
    return failure("expected the filter to have fewer than 2147483648 values "
                   "for 32-bit indices, but got " +
                       text(values),
                   loops + "use a smaller cutoff");
  return std::nullopt;
}

std::optional<RuleFailure> planning::checkFeatures(const Target &target,
                                                   uint32_t features) {
  if (target.has(features))
    return std::nullopt;
  return failure("expected the target to have " + featureNames(features) +
                     ", but got " + target.name + " (" + target.arch +
                     ") with " + featureNames(target.features),
                 "compile for an architecture that has them, or use a family "
                 "that does not need them");
}

std::optional<RuleFailure> planning::checkSmem(const Target &target,
                                               double bytes,
                                               const char *suggestion) {
  if (bytes <= target[TargetField::smem_cta_bytes])
    return std::nullopt;
  return failure("expected the shared memory of a CTA to be at most " +
                     text(target[TargetField::smem_cta_bytes]) +
                     " bytes, but got " + text(bytes),
                 suggestion);
}

std::optional<RuleFailure> planning::checkExact(const Problem &p) {
  if (p.filter.exact)
    return std::nullopt;
  return failure("expected the filter to be a constant, but got tables known "
                 "only at run time",
                 "use disco.filter or constant tables");
}
