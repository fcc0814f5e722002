//===- Loops.cpp - the loops family: disco-lower-to-loops -----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../FamilyLowering.h"
#include "../LoopEmitter.h"
#include "disco/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::disco {
#define GEN_PASS_DEF_LOWERTOLOOPSPASS
#include "disco/Transforms/Passes.h.inc"
} // namespace mlir::disco

using namespace mlir;
using namespace mlir::disco;

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

static SmallVector<Value> lowerConv(ConvOp op, LoopEmitter &emit,
                                    const PsiTaps &psi, Type accumulator) {
  Value x = op.getX(), weight = op.getWeight();
  int64_t groups = op.getGroups();
  PlanAttr plan = op.getPlanAttr();
  Value sum;
  if (plan && plan.getOrder() == Order::weight_first)
    sum =
        emit.contractSum(emit.mixChannels(x, weight, groups), psi, accumulator);
  else
    sum = emit.mixFeatures(emit.contract(x, psi, accumulator), weight, groups);
  return {emit.epilogue(sum, op.getBias(), op.getResidual(), op.getActivation(),
                        elementOf(x))};
}

static SmallVector<Value> lowerWeightGrad(ConvWeightGradOp op,
                                          LoopEmitter &emit, const PsiTaps &psi,
                                          Type accumulator) {
  Value z = emit.contract(op.getX(), psi, accumulator);
  SmallVector<Value> grads{emit.weightGrad(op.getGy(), z, op.getGroups(),
                                           elementOf(op.getWeightGrad()))};
  if (op.getBiasGrad())
    grads.push_back(emit.biasGrad(op.getGy(), elementOf(op.getBiasGrad())));
  return grads;
}

/// What the loops can run, or an error at the op.
static LogicalResult checkPlan(ContractionOpInterface op) {
  if (failed(checkMaterialised(op)))
    return failure();
  if (op.getStorageAttr().getForm() == StorageForm::arcs &&
      op.getStorageAttr().getAdjoint())
    return op->emitOpError()
           << "expected arcs to describe the operator itself, "
              "but got its adjoint";
  auto plan = op->getAttrOfType<PlanAttr>("plan");
  if (plan &&
      (plan.getFamily() != "loops" || plan.getProvider() != Provider::codegen))
    return op->emitOpError()
           << "expected the plan to be <loops, provider = "
              "codegen>, but got <"
           << plan.getFamily()
           << ", provider = " << stringifyProvider(plan.getProvider()) << ">";
  // Loops index [B, C, points...]; nhwc would be read as that without a trace.
  if (plan && (plan.getInLayout() != Layout::nchw ||
               plan.getOutLayout() != Layout::nchw))
    return op->emitOpError() << "expected the layout of loops to be nchw -> "
                                "nchw, but got "
                             << stringifyLayout(plan.getInLayout()) << " -> "
                             << stringifyLayout(plan.getOutLayout());
  return success();
}

static SmallVector<Value> lower(OpBuilder &builder, ContractionOpInterface op) {
  Type element = op.getActivations().getType().getElementType();
  Type accumulator = getAccumulatorType(element);
  LoopEmitter emit(builder, op.getLoc(), accumulator);
  PsiTaps psi(op.getStorageAttr(), op.getPsiMutable().getAsOperandRange());
  return TypeSwitch<Operation *, SmallVector<Value>>(op)
      .Case([&](ContractOp op) {
        return SmallVector<Value>{emit.contract(op.getX(), psi, element)};
      })
      .Case([&](ContractSumOp op) {
        return SmallVector<Value>{emit.contractSum(op.getZ(), psi, element)};
      })
      .Case([&](ConvOp op) { return lowerConv(op, emit, psi, accumulator); })
      .Case([&](ConvWeightGradOp op) {
        return lowerWeightGrad(op, emit, psi, accumulator);
      });
}

namespace mlir::disco::lowerings {
extern const FamilyLowering loops;
const FamilyLowering loops = {Provider::codegen, checkPlan, lower};
} // namespace mlir::disco::lowerings

namespace {
struct LowerToLoopsPass
    : public mlir::disco::impl::LowerToLoopsPassBase<LowerToLoopsPass> {
  void runOnOperation() override {
    SmallVector<ContractionOpInterface> ops;
    getOperation()->walk([&](ContractionOpInterface op) { ops.push_back(op); });
    for (ContractionOpInterface op : ops)
      if (failed(checkPlan(op)))
        return signalPassFailure();
    replaceByLowering(ops,
                      [](ContractionOpInterface) { return &lowerings::loops; });
    numLowered += ops.size();
  }
};
} // namespace
