//===- Family.h - the interface of a kernel family --------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A family is a row of KernelFamilies.def and one constant of type FamilyImpl
// in lib/Planning/Families/<Family>.cpp: numbered rules, a field table,
// candidates and a cost. All are pure functions of plain data.
//
// Rules 1 to 5 are those that the row itself states and hold for all families:
//
//   1  the row serves the op
//   2  the row serves the dtype
//   3  the row serves the structure
//   4  one of the row's parts runs on the target's kind of machine
//   5  the order is one that the op has
//
// Those of the family are numbered from 10. A rule with `checkSchedule` looks
// at one schedule and is asked after the others.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_PLANNING_FAMILY_H
#define DISCO_PLANNING_FAMILY_H

#include "disco/Planning/Cost.h"
#include "disco/Planning/Problem.h"
#include "disco/Planning/Schedule.h"
#include "disco/Planning/Target.h"

#include <optional>

namespace disco::planning {

//===----------------------------------------------------------------------===//
// The registry's rows
//===----------------------------------------------------------------------===//

/// Parts that a row promises, as bits.
enum FamilyPart : uint32_t {
  partCodegen = 1,    // its lowering generates the code
  partLowering = 2,   // its lowering calls the runtime
  partCpuKernel = 4,  // the runtime has it for the host
  partCudaKernel = 8, // the runtime has it for CUDA
};

/// A rule that does not hold. `text` fields follow the project's diagnostics.
struct RuleFailure {
  int rule = 0;
  std::string reason;     ///< "expected K_pad to be 8 or 16, but got 24"
  std::string suggestion; ///< "use csr_gather, or a filter with K <= 16"
};

/// A numbered rule; exactly one of the two checks is set. A check need not fill
/// in the number.
struct Rule {
  int number;
  const char *summary;
  std::optional<RuleFailure> (*check)(const Problem &, const Target &,
                                      int32_t order);
  std::optional<RuleFailure> (*checkSchedule)(const Problem &, const Target &,
                                              const Schedule &);
};

/// How a kernel of the family runs one schedule, as lines for people. Families
/// build them from the constants that their rules and costs use.
struct Description {
  std::vector<std::string> threads;     ///< which thread does which elements
  std::vector<std::string> example;     ///< one CTA and thread, worked out
  std::vector<std::string> loads;       ///< what is read, and how wide
  std::vector<std::string> computation; ///< instructions and reductions
  std::vector<std::string> mix;         ///< threads of the channel mix
  std::vector<std::string> stores;
};

/// What lib/Planning/Families/<Family>.cpp defines.
struct FamilyImpl {
  const Rule *rules;
  int32_t numRules;
  FieldTable fields;
  /// Appends the schedules worth scoring for one order and provider, best guess
  /// first. Called only when all rules without a schedule hold.
  void (*candidates)(const Problem &, const Target &, int32_t order,
                     int32_t provider, std::vector<Schedule> &);
  /// Pure; defined for every legal schedule of a problem that verifies.
  Cost (*cost)(const Problem &, const Target &, const Schedule &);
  /// Defined like cost; adds to a description that is empty.
  void (*describe)(const Problem &, const Target &, const Schedule &,
                   Description &);
};

struct Family {
  const char *name;
  /// Bits 1 << DISCO_OP_*, 1 << DType, 1 << DISCO_SPHERE ...; `available` are
  /// those of `ops` that can be executed.
  uint32_t available, ops, dtypes, structures;
  uint32_t parts; // FamilyPart
  const char *summary;
  const FamilyImpl *impl;

  /// Providers that the parts give on that kind of target: bits 1 <<
  /// DISCO_CODEGEN, 1 << DISCO_RUNTIME.
  uint32_t providersOn(const Target &target) const;
  const FieldTable &fields() const { return impl->fields; }
};

/// All families in the order of the registry.
const std::vector<Family> &families();
/// Null if there is none of that name.
const Family *findFamily(std::string_view name);
/// "loops, cpu_gather, ...".
std::string familyNames();
/// The table that --list-kernel-families prints.
std::string listFamilies();

/// That the family can execute the op, not only be ranked for it (rule 0); ops
/// that the row does not serve are left to rule 1, unless all is planned.
std::optional<RuleFailure> checkAvailable(const Family &family, int32_t op);
/// All rules that do not look at a schedule, in order, for one association
/// order; the first that fails.
std::optional<RuleFailure> checkFamily(const Family &family,
                                       const Problem &problem,
                                       const Target &target, int32_t order);
/// Rules that look at the schedule; the first that fails.
std::optional<RuleFailure> checkSchedule(const Family &family,
                                         const Problem &problem,
                                         const Target &target,
                                         const Schedule &schedule);

/// The association orders that the op has, as bits: contract filters first,
/// contract_sum last, the others have both.
uint32_t ordersOf(const Problem &problem);

} // namespace disco::planning

#endif // DISCO_PLANNING_FAMILY_H
