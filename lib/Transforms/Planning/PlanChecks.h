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

/// The chip that the options of a pass name, or else that of the module, or
/// else the host. Emits an error at the module.
FailureOr<TargetAttr> resolveTarget(ModuleOp module, StringRef target,
                                    StringRef overrides);

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

/// The contractions of a module, in their order.
SmallVector<ContractionOpInterface> getContractions(ModuleOp module);

/// The batch that the problem of a planned op is built with.
inline int64_t getAssumedBatch(PlanAttr plan) {
  return plan.getBatch() ? plan.getBatch() : 1;
}

} // namespace mlir::disco

#endif // DISCO_LIB_TRANSFORMS_PLANNING_PLANCHECKS_H
