//===- PlanChecks.h - targets and checks of plans ---------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_TRANSFORMS_PLANNING_PLANCHECKS_H
#define DISCO_LIB_TRANSFORMS_PLANNING_PLANCHECKS_H

#include "ProblemBuilder.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::disco {

/// A module that has a chip of its own, and the contractions in it that are not
/// in another such module, in their order.
struct TargetScope {
  ModuleOp module;
  TargetAttr attr;
  ::disco::planning::Target chip;
  SmallVector<ContractionOpInterface> ops;
};

/// `root`, and the modules in it that have a disco.target. The chip of a module
/// is the one that the options of a pass name, or else its disco.target, or
/// that of the module around it, or else the host. The overrides of a
/// disco.target are kept with the option's over them, unless the option names
/// another chip: that is a warning. Emits an error at a module.
FailureOr<std::vector<TargetScope>>
resolveTargets(ModuleOp root, StringRef target, StringRef overrides);

/// Checks the plan of `op`, as disco-verify-plan documents it. Emits an error
/// at the op.
LogicalResult checkPlan(ContractionOpInterface op, PlanAttr plan,
                        const ::disco::planning::Target &target,
                        ProblemBuilder &problems, bool includePlanned);

/// The part that needs no problem: the target, and that only a dynamic batch is
/// assumed.
LogicalResult checkPremises(ContractionOpInterface op, PlanAttr plan,
                            const ::disco::planning::Target &target);

/// That arcs describe the operator that the plan's order applies.
LogicalResult checkStorage(ContractionOpInterface op, PlanAttr plan);

/// "0x0123456789abcdef".
std::string formatHash(uint64_t hash);

/// The batch that the problem of a planned op is built with.
inline int64_t getAssumedBatch(PlanAttr plan) {
  return plan.getBatch() ? plan.getBatch() : 1;
}

} // namespace mlir::disco

#endif // DISCO_LIB_TRANSFORMS_PLANNING_PLANCHECKS_H
