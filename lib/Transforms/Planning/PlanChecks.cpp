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

FailureOr<TargetAttr> mlir::disco::resolveTarget(ModuleOp module,
                                                 StringRef target,
                                                 StringRef overrides) {
  StringAttr values;
  if (Attribute attr = module->getAttr(kTargetAttr); attr && target.empty()) {
    auto known = dyn_cast<TargetAttr>(attr);
    if (!known)
      return module.emitOpError() << "expected " << kTargetAttr
                                  << " to be a #disco.target, but got " << attr;
    target = known.getName();
    values = known.getOverrides();
  }
  if (!overrides.empty())
    values = StringAttr::get(
        module.getContext(),
        mergeOverrides(values ? values.getValue() : StringRef(), overrides));
  auto attr = TargetAttr::getChecked(
      [&] { return module.emitOpError(); }, module.getContext(),
      target.empty() ? StringRef("cpu") : target, values);
  if (!attr)
    return failure();
  // The row's own name, whatever it was looked up by.
  return TargetAttr::get(module.getContext(), StringRef(attr.getTarget().name),
                         values);
}

std::string mlir::disco::formatHash(uint64_t hash) {
  return "0x" + llvm::utohexstr(hash, /*LowerCase=*/true, /*Width=*/16);
}

SmallVector<ContractionOpInterface>
mlir::disco::getContractions(ModuleOp module) {
  SmallVector<ContractionOpInterface> ops;
  module.walk([&](ContractionOpInterface op) { ops.push_back(op); });
  return ops;
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
    FailureOr<TargetAttr> attr =
        resolveTarget(getOperation(), target, overrides);
    if (failed(attr))
      return signalPassFailure();
    planning::Target chip = attr->getTarget();
    auto &problems = getAnalysis<ProblemBuilder>();
    bool isValid = true;
    for (ContractionOpInterface op : getContractions(getOperation())) {
      auto plan = op->getAttrOfType<PlanAttr>("plan");
      if (!plan)
        continue;
      ++numVerified;
      isValid &= succeeded(
          mlir::disco::checkPlan(op, plan, chip, problems, includePlanned));
    }
    markAllAnalysesPreserved();
    if (!isValid)
      signalPassFailure();
  }
};
} // namespace
