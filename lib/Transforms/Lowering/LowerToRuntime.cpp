//===- LowerToRuntime.cpp - disco-lower-to-runtime ------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Planning/ProblemBuilder.h"
#include "FamilyLowering.h"
#include "disco/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::disco {
#define GEN_PASS_DEF_LOWERTORUNTIMEPASS
#include "disco/Transforms/Passes.h.inc"
} // namespace mlir::disco

using namespace mlir;
using namespace mlir::disco;

//===----------------------------------------------------------------------===//
// The families
//===----------------------------------------------------------------------===//

namespace mlir::disco::lowerings {
#define DISCO_FAMILY_LOWERING(name) extern const FamilyLowering name;
#include "disco/FamilyLowerings.inc"
} // namespace mlir::disco::lowerings

const FamilyLowering *mlir::disco::findLowering(StringRef family) {
  static constexpr struct {
    StringLiteral name;
    const FamilyLowering *lowering;
  } rows[] = {
#define DISCO_FAMILY_LOWERING(name) {#name, &lowerings::name},
#include "disco/FamilyLowerings.inc"
  };
  for (const auto &row : rows)
    if (row.name == family)
      return row.lowering;
  return nullptr;
}

LogicalResult mlir::disco::checkMaterialised(ContractionOpInterface op) {
  if (op.getStorageAttr())
    return success();
  return op->emitOpError()
         << "expected psi to be the tensors of a storage, but got "
         << op.getPsiMutable().getAsOperandRange().front().getType()
         << ": run disco-materialize-filters first";
}

void mlir::disco::replaceByLowering(
    ArrayRef<ContractionOpInterface> ops,
    function_ref<const FamilyLowering *(ContractionOpInterface op)> lowering) {
  for (ContractionOpInterface op : ops) {
    OpBuilder builder(op);
    SmallVector<Value> results = lowering(op)->lower(builder, op);
    // A static batch of the operands may be a dynamic one of the result.
    for (auto [old, value] : llvm::zip_equal(op->getResults(), results)) {
      if (value.getType() != old.getType())
        value =
            tensor::CastOp::create(builder, op.getLoc(), old.getType(), value);
      old.replaceAllUsesWith(value);
    }
    op->erase();
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct LowerToRuntimePass
    : public mlir::disco::impl::LowerToRuntimePassBase<LowerToRuntimePass> {
  void runOnOperation() override {
    SmallVector<ContractionOpInterface> ops;
    bool isValid = true;
    getOperation()->walk([&](ContractionOpInterface op) {
      auto plan = op->getAttrOfType<PlanAttr>("plan");
      if (!plan || plan.getProvider() != Provider::runtime)
        return;
      ops.push_back(op);
      isValid &= succeeded(check(op, plan));
    });
    if (!isValid)
      return signalPassFailure();
    replaceByLowering(ops, [](ContractionOpInterface op) {
      return findLowering(op->getAttrOfType<PlanAttr>("plan").getFamily());
    });
    numLowered += ops.size();
  }

private:
  static LogicalResult check(ContractionOpInterface op, PlanAttr plan) {
    const FamilyLowering *lowering = findLowering(plan.getFamily());
    if (!lowering || lowering->provider != Provider::runtime)
      return op->emitOpError()
             << "expected the family of the plan to have a lowering to the "
                "runtime, but got "
             << plan.getFamily();
    if (auto planned = ::disco::planning::checkAvailable(plan.getKernelFamily(),
                                                         getOpKind(op)))
      return op->emitOpError() << "family '" << plan.getFamily()
                               << "' is not applicable: " << planned->reason;
    if (!plan.isComplete()) {
      std::string got = plan.getFieldsText();
      return op->emitOpError()
             << "expected the plan to have the fields "
             << plan.getKernelFamily().fields().names() << " of "
             << plan.getFamily() << ", but got " << (got.empty() ? "none" : got)
             << ": disco-select-kernel chooses those that are missing";
    }
    if (failed(checkMaterialised(op)))
      return failure();
    return lowering->check(op);
  }
};
} // namespace
