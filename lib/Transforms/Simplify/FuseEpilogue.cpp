//===- FuseEpilogue.cpp - bias, activation and residual into a conv -------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EpilogueExpression.h"
#include "disco/Transforms/Passes.h"

#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::disco {
#define GEN_PASS_DEF_FUSEEPILOGUEPASS
#include "disco/Transforms/Passes.h.inc"
} // namespace mlir::disco

using namespace mlir;
using namespace mlir::disco;

namespace {

/// Why an epilogue stays behind its conv.
struct Miss {
  StringRef rule;
  std::string reason;
};

} // namespace

/// y = activation(conv + bias) + residual: what may follow what the conv has.
static std::optional<Miss> checkOrder(ConvOp conv, const Epilogue &epilogue) {
  bool hasActivation = conv.getActivation() != Activation::none;
  if (conv.getPlanAttr())
    return Miss{"planned", "the conv has a plan already"};
  if (epilogue.bias && conv.getBias())
    return Miss{"order", "a second bias is added"};
  if (epilogue.bias && (hasActivation || conv.getResidual()))
    return Miss{"order", hasActivation ? "a bias is added after the activation"
                                       : "a bias is added after the residual"};
  if (epilogue.activation != Activation::none && conv.getResidual())
    return Miss{"order", "an activation follows the residual"};
  if (epilogue.activation != Activation::none && hasActivation)
    return Miss{"order", "a second activation follows"};
  if (epilogue.residual && conv.getResidual())
    return Miss{"order", "a second residual is added"};
  return std::nullopt;
}

/// Nothing but the epilogue reads the conv or what lies between.
static std::optional<Miss>
checkUses(ConvOp conv, Operation *root,
          const llvm::SetVector<Operation *> &absorbed) {
  auto isInside = [&](Operation *user) { return absorbed.contains(user); };
  if (!llvm::all_of(conv->getUsers(), isInside))
    return Miss{"single-use", "the conv's result is used outside of the "
                              "epilogue as well"};
  for (Operation *op : absorbed)
    if (op != root && !llvm::all_of(op->getUsers(), isInside))
      return Miss{"single-use", "an intermediate value of the epilogue is used "
                                "outside of it as well"};
  return std::nullopt;
}

static std::optional<Miss> checkTypes(ConvOp conv, const Epilogue &epilogue) {
  if (!epilogue.bias)
    return std::nullopt;
  Type own = conv.getY().getType().getElementType();
  Type bias = cast<RankedTensorType>(epilogue.bias->value.value.getType())
                  .getElementType();
  if (bias == own || bias.isF32())
    return std::nullopt;
  std::string reason;
  llvm::raw_string_ostream(reason)
      << "the elements of the bias are " << bias << ", but a conv of " << own
      << " takes its own type or f32";
  return Miss{"dtype", reason};
}

/// The conv with the epilogue, in the place of `root`.
static ConvOp rebuild(ConvOp conv, Operation *root, const Epilogue &epilogue) {
  OpBuilder builder(root);
  Value bias = conv.getBias(), residual = conv.getResidual();
  if (epilogue.bias) {
    const LaidOutValue &value = epilogue.bias->value;
    bias = rearrange(builder, root->getLoc(), value.value, value.layout,
                     {wholeAxis(1, conv.getY().getType().getDimSize(1))});
  }
  if (epilogue.residual)
    residual = epilogue.residual->value.value;
  Activation activation = epilogue.activation != Activation::none
                              ? epilogue.activation
                              : conv.getActivation();
  auto fused = ConvOp::create(
      builder, conv.getLoc(), conv.getY().getType(), conv.getX(), conv.getPsi(),
      conv.getWeight(), bias, residual, conv.getGroups(), activation,
      conv.getPrecision(), conv.getStorageAttr(), conv.getPlanAttr());
  fused->setDiscardableAttrs(conv->getDiscardableAttrDictionary());
  return fused;
}

/// Fuses the nearest epilogue of `conv`; the new conv, or nothing and the first
/// reason.
static std::optional<ConvOp> fuseNearest(ConvOp conv, std::string &what,
                                         std::optional<Miss> &miss) {
  ExpressionReader reader(conv);
  Type type = conv.getY().getType();
  std::optional<Miss> unread;
  for (Operation *root : reader.getCandidates()) {
    if (root->getResult(0).getType() != type)
      continue;
    const Expression *expression = reader.read(root);
    if (!expression) {
      if (!unread)
        unread = Miss{"form", reader.getReason().str()};
      continue;
    }
    std::optional<Epilogue> epilogue = matchEpilogue(expression);
    if (!epilogue)
      continue;
    std::optional<Miss> found = checkOrder(conv, *epilogue);
    if (!found)
      found = checkUses(conv, root, reader.getAbsorbed());
    if (!found)
      found = checkTypes(conv, *epilogue);
    if (found) {
      if (!miss)
        miss = found;
      continue;
    }
    ConvOp fused = rebuild(conv, root, *epilogue);
    what = epilogue->bias ? "bias" : "";
    if (epilogue->activation != Activation::none)
      what += (what.empty() ? "" : ", ") +
              stringifyActivation(epilogue->activation).str();
    if (epilogue->residual)
      what += what.empty() ? "residual" : ", residual";
    root->getResult(0).replaceAllUsesWith(fused.getY());
    // Users before their operands.
    SmallVector<Operation *> dead(reader.getAbsorbed().begin(),
                                  reader.getAbsorbed().end());
    llvm::sort(
        dead, [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
    for (Operation *op : dead)
      op->erase();
    conv->erase();
    return fused;
  }
  if (!miss && !reader.getCandidates().empty())
    miss = unread ? unread
                  : Miss{"form", "the elementwise op behind the conv is not a "
                                 "bias, an activation or a residual in its "
                                 "type"};
  return std::nullopt;
}

namespace {

struct FuseEpilogue
    : public mlir::disco::impl::FuseEpiloguePassBase<FuseEpilogue> {
  void runOnOperation() override {
    // A dimension of a conv's result is no use of it.
    RewritePatternSet dims(&getContext());
    memref::populateResolveRankedShapedTypeResultDimsPatterns(dims);
    if (failed(applyPatternsGreedily(getOperation(), std::move(dims))))
      return signalPassFailure();
    SmallVector<ConvOp> convs;
    getOperation()->walk([&](ConvOp conv) { convs.push_back(conv); });
    for (ConvOp conv : convs)
      fuse(conv);
    // Erases the constants and broadcasts that nothing reads any more.
    (void)applyPatternsGreedily(getOperation(),
                                RewritePatternSet(&getContext()));
  }

  void fuse(ConvOp conv) {
    StringRef function;
    if (auto func = conv->getParentOfType<FunctionOpInterface>())
      function = func.getName();
    auto options = remark::RemarkOpts::name("disco.conv")
                       .category("disco-fuse-epilogue")
                       .function(function);
    while (true) {
      Location loc = conv.getLoc();
      std::string what;
      std::optional<Miss> miss;
      std::optional<ConvOp> fused = fuseNearest(conv, what, miss);
      if (fused) {
        ++numFused;
        remark::passed(loc, options) << remark::add("fused {0}", what);
        conv = *fused;
        continue;
      }
      if (miss) {
        ++numMissed;
        remark::missed(loc, options) << remark::metric("Rule", miss->rule.str())
                                     << remark::reason("{0}", miss->reason);
      }
      return;
    }
  }
};

} // namespace
