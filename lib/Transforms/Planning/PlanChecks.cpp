//===- PlanChecks.cpp - targets and checks of plans, disco-verify-plan ----===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanChecks.h"
#include "disco/Planning/Selection.h"
#include "disco/Transforms/Passes.h"

#include "llvm/ADT/StringExtras.h"

namespace mlir::disco {
#define GEN_PASS_DEF_VERIFYPLANPASS
#include "disco/Transforms/Passes.h.inc"
} // namespace mlir::disco

using namespace mlir;
using namespace mlir::disco;
namespace planning = ::disco::planning;

/// The overrides of a module, less those that `replacing` gives, and these.
static std::string mergeOverrides(StringRef old, StringRef replacing) {
  SmallVector<StringRef> items, others;
  old.split(items, ',', -1, /*KeepEmpty=*/false);
  replacing.split(others, ',', -1, /*KeepEmpty=*/false);
  llvm::erase_if(items, [&](StringRef item) {
    return llvm::any_of(others, [&](StringRef other) {
      return other.split('=').first == item.split('=').first;
    });
  });
  llvm::append_range(items, others);
  return llvm::join(items, ",");
}

/// The disco.target of `module`, or of the next module around it that has one;
/// null: none. Emits an error at the module.
static FailureOr<TargetAttr> findTarget(ModuleOp module) {
  for (Operation *op = module; op; op = op->getParentOp()) {
    Attribute attr = op->getAttr(kTargetAttr);
    if (!attr)
      continue;
    auto target = dyn_cast<TargetAttr>(attr);
    if (!target)
      return op->emitOpError() << "expected " << kTargetAttr
                               << " to be a #disco.target, but got " << attr;
    return target;
  }
  return TargetAttr();
}

/// The chip of one module, as `resolveTargets` says.
static FailureOr<TargetAttr> resolveTarget(ModuleOp module, StringRef target,
                                           StringRef overrides) {
  FailureOr<TargetAttr> known = findTarget(module);
  if (failed(known))
    return failure();
  auto create = [&](StringRef name, StringAttr values) {
    return TargetAttr::getChecked([&] { return module.emitOpError(); },
                                  module.getContext(), name, values);
  };
  StringAttr values = *known ? known->getOverrides() : StringAttr();
  if (target.empty()) {
    target = *known ? known->getName() : StringRef("cpu");
  } else if (values) {
    TargetAttr named = create(target, {});
    if (!named)
      return failure();
    if (named.getTarget().name != known->getTarget().name) {
      module.emitWarning() << "the overrides " << values << " of "
                           << kTargetAttr << " are those of "
                           << known->getTarget().name
                           << " and not used for the target "
                           << named.getTarget().name;
      values = {};
    }
  }
  if (!overrides.empty())
    values = StringAttr::get(
        module.getContext(),
        mergeOverrides(values ? values.getValue() : StringRef(), overrides));
  TargetAttr attr = create(target, values);
  if (!attr)
    return failure();
  // The row's own name, whatever it was looked up by.
  return TargetAttr::get(module.getContext(), StringRef(attr.getTarget().name),
                         values);
}

FailureOr<std::vector<TargetScope>>
mlir::disco::resolveTargets(ModuleOp root, StringRef target,
                            StringRef overrides) {
  std::vector<TargetScope> scopes;
  LogicalResult result = success();
  auto add = [&](ModuleOp module) {
    FailureOr<TargetAttr> attr = resolveTarget(module, target, overrides);
    if (failed(attr))
      result = failure();
    else
      scopes.push_back({module, *attr, attr->getTarget(), {}});
  };
  add(root);
  root.walk<WalkOrder::PreOrder>([&](ModuleOp module) {
    if (module != root && module->hasAttr(kTargetAttr))
      add(module);
  });
  if (failed(result))
    return failure();
  root.walk([&](ContractionOpInterface op) {
    // A nested module that has no target of its own has that around it.
    auto module = op->getParentOfType<ModuleOp>();
    while (module != root && !module->hasAttr(kTargetAttr))
      module = module->getParentOfType<ModuleOp>();
    llvm::find_if(scopes, [&](const TargetScope &scope) {
      return scope.module == module;
    })->ops.push_back(op);
  });
  return scopes;
}

std::string mlir::disco::formatHash(uint64_t hash) {
  return "0x" + llvm::utohexstr(hash, /*LowerCase=*/true, /*Width=*/16);
}

/// That a value was given to every field.
static LogicalResult checkFields(Operation *op, PlanAttr plan) {
  if (plan.isComplete())
    return success();
  std::string got = plan.getFieldsText();
  return op->emitOpError()
         << "expected the plan to have the fields "
         << plan.getKernelFamily().fields().names() << " of "
         << plan.getFamily() << ", but got " << (got.empty() ? "none" : got)
         << ": disco-select-kernel chooses those that are missing";
}

LogicalResult mlir::disco::checkPremises(ContractionOpInterface op,
                                         PlanAttr plan,
                                         const planning::Target &target) {
  // A target may be named by its architecture.
  if (!plan.getTarget().empty() &&
      planning::lookupTarget(std::string_view(plan.getTarget()))->name !=
          target.name)
    return op->emitOpError()
           << "expected the plan to be for target " << target.name
           << ", but got one for " << plan.getTarget();
  RankedTensorType x = op.getActivations().getType();
  if (plan.getBatch() && !x.isDynamicDim(0))
    return op->emitOpError()
           << "expected the plan of a static batch (" << x.getDimSize(0)
           << ") to assume none, but got batch = " << plan.getBatch();
  return success();
}

LogicalResult mlir::disco::checkStorage(ContractionOpInterface op,
                                        PlanAttr plan) {
  StorageAttr storage = op.getStorageAttr();
  if (!storage || storage.getForm() != StorageForm::arcs)
    return success();
  bool isFirst = isa<ConvWeightGradOp>(op.getOperation()) &&
                 plan.getOrder() == Order::weight_first;
  if (storage.getAdjoint() == isFirst)
    return success();
  return op->emitOpError() << "expected the arcs of psi to be those of "
                           << (isFirst ? "the adjoint" : "the operator")
                           << ", which the order "
                           << stringifyOrder(plan.getOrder())
                           << " applies, but got those of "
                           << (isFirst ? "the operator" : "the adjoint");
}

LogicalResult mlir::disco::checkPlan(ContractionOpInterface op, PlanAttr plan,
                                     const planning::Target &target,
                                     ProblemBuilder &problems,
                                     bool includePlanned) {
  if (failed(checkPremises(op, plan, target)))
    return failure();
  if (failed(checkStorage(op, plan)))
    return failure();
  FailureOr<planning::Problem> problem =
      problems.build(op, getAssumedBatch(plan));
  if (failed(problem))
    return failure();
  uint64_t hash = planning::hashOf(*problem);
  if (plan.getProblem() && plan.getProblem() != hash) {
    InFlightDiagnostic diag = op->emitOpError()
                              << "expected the problem of the plan to be "
                              << formatHash(hash) << ", but got "
                              << formatHash(plan.getProblem())
                              << ": the plan was made for another operation";
    diag.attachNote() << "the operation is: " << planning::toString(*problem);
    return diag;
  }
  if (failed(checkFields(op, plan)))
    return failure();
  ::disco::Status status =
      planning::checkPlan(*problem, target, std::string_view(plan.getFamily()),
                          plan.toSchedule(), includePlanned);
  if (!status)
    return op->emitOpError() << status.message();
  return success();
}

namespace {
struct VerifyPlanPass
    : public mlir::disco::impl::VerifyPlanPassBase<VerifyPlanPass> {
  using VerifyPlanPassBase::VerifyPlanPassBase;

  void runOnOperation() override {
    FailureOr<std::vector<TargetScope>> scopes =
        resolveTargets(getOperation(), target, overrides);
    if (failed(scopes))
      return signalPassFailure();
    auto &problems = getAnalysis<ProblemBuilder>();
    bool isValid = true;
    for (TargetScope &scope : *scopes)
      for (ContractionOpInterface op : scope.ops) {
        auto plan = op->getAttrOfType<PlanAttr>("plan");
        if (!plan)
          continue;
        ++numVerified;
        isValid &= succeeded(mlir::disco::checkPlan(op, plan, scope.chip,
                                                    problems, includePlanned));
      }
    markAllAnalysesPreserved();
    if (!isValid)
      signalPassFailure();
  }
};
} // namespace
