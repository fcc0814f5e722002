//===- Instrument.cpp - disco-instrument ----------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"

#include "disco/Dialect/Disco/Disco.h"
#include "disco/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::disco {
#define GEN_PASS_DEF_INSTRUMENTPASS
#include "disco/Transforms/Passes.h.inc"
} // namespace mlir::disco

using namespace mlir;
using namespace mlir::disco;

std::string mlir::disco::getLocationText(Location loc) {
  std::string text;
  loc->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    text = (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
               .str();
    return WalkResult::interrupt();
  });
  return text;
}

/// What the op computes, in the grammar of Probe.h.
static std::string getAttributesText(ContractionOpInterface op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "kind=" << op->getName().stripDialect();
  if (auto conv = dyn_cast<ConvOp>(op.getOperation())) {
    PlanAttr plan = conv.getPlanAttr();
    os << " groups=" << conv.getGroups()
       << " activation=" << stringifyActivation(conv.getActivation())
       << " order="
       << stringifyOrder(plan ? plan.getOrder() : Order::filter_first)
       << " bias=" << (conv.getBias() ? 1 : 0)
       << " residual=" << (conv.getResidual() ? 1 : 0);
  } else if (auto grad = dyn_cast<ConvWeightGradOp>(op.getOperation())) {
    os << " groups=" << grad.getGroups()
       << " bias=" << (grad.getBiasGrad() ? 1 : 0);
  }
  StorageAttr storage = op.getStorageAttr();
  // The runtime's text describes the operator that is stored.
  PsiType psi = storage.getStoredPsi();
  os << " form=" << stringifyStorageForm(storage.getForm())
     << " k=" << psi.getNumBasis()
     << " in=" << PsiType::formatShape(psi.getInShape())
     << " out=" << PsiType::formatShape(psi.getOutShape());
  if (psi.getStructure() == Structure::table)
    os << " degree=" << psi.getDegree();
  if (storage.getAdjoint())
    os << " adjoint=1";
  auto plan = op->getAttrOfType<PlanAttr>("plan");
  os << " family=" << (plan ? plan.getFamily() : "loops");
  return text;
}

static DictionaryAttr describe(Builder &builder, ContractionOpInterface op) {
  return builder.getDictionaryAttr({
      {builder.getStringAttr("op"),
       builder.getStringAttr(op->getName().getStringRef())},
      {builder.getStringAttr("location"),
       builder.getStringAttr(getLocationText(op.getLoc()))},
      {builder.getStringAttr("attributes"),
       builder.getStringAttr(getAttributesText(op))},
      {builder.getStringAttr("operands"),
       builder.getI32IntegerAttr(op->getNumOperands())},
      {builder.getStringAttr("results"),
       builder.getI32IntegerAttr(op->getNumResults())},
  });
}

static void surround(ContractionOpInterface op, int64_t id) {
  OpBuilder builder(op);
  int32_t next = 0;
  auto report = [&](ValueRange values) {
    for (Value value : values)
      ProbeOperandOp::create(builder, op.getLoc(), id, next++, value);
  };
  ProbeBeginOp::create(builder, op.getLoc(), id);
  report(op->getOperands());
  builder.setInsertionPointAfter(op);
  report(op->getResults());
  ProbeEndOp::create(builder, op.getLoc(), id);
}

namespace {
struct InstrumentPass
    : public mlir::disco::impl::InstrumentPassBase<InstrumentPass> {
  void runOnOperation() override {
    Builder builder(&getContext());
    SmallVector<ContractionOpInterface> ops;
    getOperation().walk([&](ContractionOpInterface op) { ops.push_back(op); });
    SmallVector<Attribute> probes;
    for (ContractionOpInterface op : ops) {
      if (!op.getStorageAttr()) {
        op->emitOpError() << "expected psi to be the tensors of a storage "
                             "before probes are added: run "
                             "disco-materialize-filters first";
        return signalPassFailure();
      }
      probes.push_back(describe(builder, op));
    }
    for (auto [id, op] : llvm::enumerate(ops))
      surround(op, id);
    getOperation()->setAttr(kProbesAttr, builder.getArrayAttr(probes));
  }
};
} // namespace
