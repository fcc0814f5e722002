//===- FuseEinsum.cpp - a contraction and an einsum become a conv ---------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both directions are one matching problem. The filter's K-expanded tensor
// (result of a contract, operand of a contract_sum) names the logical axes;
// they are followed through reshapes to the einsum, whose loops so get factors
// of axes. What the loops do then decides:
//
//   axis        contract + einsum              einsum + contract_sum
//   batch, n    parallel, not in the weight    the same
//   channels    summed: C; parallel: a group   in the weight; in x too: a group
//   K           summed                         in the weight only
//   free loops  output channels                summed: input channels
//
//===----------------------------------------------------------------------===//

#include "AxisFactors.h"
#include "disco/Dialect/Disco/Disco.h"
#include "disco/Dialect/Disco/Matchers.h"
#include "disco/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::disco {
#define GEN_PASS_DEF_FUSEEINSUMPASS
#include "disco/Transforms/Passes.h.inc"
} // namespace mlir::disco

using namespace mlir;
using namespace mlir::disco;

namespace {

constexpr int64_t kBatchAxis = 0, kChannelAxis = 1, kBasisAxis = 2;
constexpr int64_t kFirstPointAxis = 3;
/// Axis of a loop that the K-expanded tensor does not have: this plus loop.
constexpr int64_t kFirstFreeAxis = 1000;

bool isField(const AxisFactor &factor) {
  return factor.axis == kBatchAxis ||
         (factor.axis >= kFirstPointAxis && factor.axis < kFirstFreeAxis);
}
StringRef nameField(const AxisFactor &factor) {
  return factor.axis == kBatchAxis ? "batch" : "points";
}

/// Why a contraction stays as it is.
struct Miss {
  StringRef rule;
  std::string reason;
};

std::string toText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// out[loops] += in0[loops] * in1[loops], operands extended to the
/// accumulator's type or of it.
struct Einsum {
  linalg::LinalgOp op;
  SmallVector<AffineMap> maps;
  /// What each loop ranges over.
  SmallVector<FactorList> loops;

  Value input(unsigned index) { return op.getDpsInputs()[index]; }
  Value init() { return op.getDpsInits()[0]; }
  Type accumulator() {
    return cast<RankedTensorType>(init().getType()).getElementType();
  }
  bool isParallel(unsigned loop) {
    return op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel;
  }
  bool uses(unsigned operand, unsigned loop) {
    return maps[operand].isFunctionOfDim(loop);
  }
  AxisLayout layout(unsigned operand) {
    AxisLayout layout;
    for (AffineExpr expr : maps[operand].getResults())
      layout.push_back(loops[cast<AffineDimExpr>(expr).getPosition()]);
    return layout;
  }
  /// Gives the loops of an operand the factors of its dimensions.
  void setLoops(unsigned operand, const AxisLayout &layout) {
    for (auto [expr, factors] :
         llvm::zip_equal(maps[operand].getResults(), layout))
      loops[cast<AffineDimExpr>(expr).getPosition()] = factors;
  }
};

constexpr unsigned kOut = 2;

/// Major factors first.
FactorList sorted(FactorList factors) {
  llvm::sort(factors, [](const AxisFactor &a, const AxisFactor &b) {
    return a.stride > b.stride;
  });
  return factors;
}

FactorList concat(FactorList a, const FactorList &b) {
  llvm::append_range(a, b);
  return a;
}

/// Whether the body yields acc + a * b over the three block arguments.
bool isMultiplyAdd(Block &body) {
  auto add = body.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add || body.getNumArguments() != 3)
    return false;
  auto strip = [](Value value) {
    while (auto ext = value.getDefiningOp<arith::ExtFOp>())
      value = ext.getIn();
    return value;
  };
  for (auto [sum, product] : {std::pair(add.getLhs(), add.getRhs()),
                              std::pair(add.getRhs(), add.getLhs())}) {
    auto mul = product.getDefiningOp<arith::MulFOp>();
    if (sum != body.getArgument(2) || !mul)
      continue;
    Value lhs = strip(mul.getLhs()), rhs = strip(mul.getRhs());
    Value a = body.getArgument(0), b = body.getArgument(1);
    return (lhs == a && rhs == b) || (lhs == b && rhs == a);
  }
  return false;
}

/// Whether the sizes of the layout are those of the tensor's type: a linalg op
/// may use a dimension that is static in one operand and dynamic in another.
bool fits(const LaidOutValue &value) {
  auto type = cast<RankedTensorType>(value.value.getType());
  return llvm::all_of(
      llvm::zip_equal(type.getShape(), value.layout),
      [](auto pair) { return std::get<0>(pair) == sizeOf(std::get<1>(pair)); });
}

class EinsumFuser {
public:
  explicit EinsumFuser(Operation *op) : builder(op) {}

  /// The conv, or nothing and the reason in `miss`.
  std::optional<ConvOp> fuse(ContractOp op);
  std::optional<ConvOp> fuse(ContractSumOp op);
  Miss miss;

private:
  std::nullopt_t fail(StringRef rule, const Twine &reason) {
    miss = {rule, reason.str()};
    return std::nullopt;
  }
  std::nullopt_t failBatch() {
    return fail("batch", "the batch is static in one place and dynamic in "
                         "another");
  }
  bool reject(StringRef rule, const Twine &reason) {
    (void)fail(rule, reason);
    return false;
  }

  std::optional<Einsum> matchEinsum(Operation *op);
  std::optional<Einsum> findEinsumBefore(ContractSumOp op);
  bool checkTypes(Einsum &einsum, Type element, Value weight);
  bool matchInit(Einsum &einsum, const FactorList &channels, bool mayBeBias,
                 Value &bias);
  ConvOp build(Operation *op, OperandRange psi, StorageAttr storage, Value x,
               Value weight, Value bias, int64_t groups);

  OpBuilder builder;
};

/// Gives the loops of `operand` that operand `known` lacks axes of their own.
void setFreeLoops(Einsum &einsum, unsigned known, unsigned operand) {
  auto type = cast<RankedTensorType>(einsum.op->getOperand(operand).getType());
  for (auto [dim, expr] : llvm::enumerate(einsum.maps[operand].getResults())) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (!einsum.uses(known, loop))
      einsum.loops[loop] =
          wholeAxis(kFirstFreeAxis + loop, type.getDimSize(dim));
  }
}

/// Whether a dimension of `layout` holds the factor, or a part of it.
bool holds(const AxisLayout &layout, const AxisFactor &factor) {
  for (const FactorList &factors : layout)
    for (const AxisFactor &part : factors)
      if (part == factor ||
          (part.axis == factor.axis && !ShapedType::isDynamic(factor.size) &&
           part.stride >= factor.stride &&
           part.stride < factor.stride * factor.size))
        return true;
  return false;
}

bool isZero(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getInputs()[0];
  else if (auto generic = value.getDefiningOp<linalg::GenericOp>())
    value = linalg::isaFillOpInterface(generic).value_or(value);
  std::optional<APFloat> constant = getConstantFloat(value);
  return constant && constant->isZero();
}

} // namespace

//===----------------------------------------------------------------------===//
// The einsum and its operands
//===----------------------------------------------------------------------===//

std::optional<Einsum> EinsumFuser::matchEinsum(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || linalgOp.getNumDpsInputs() != 2 ||
      linalgOp.getNumDpsInits() != 1 || linalgOp.getNumReductionLoops() == 0 ||
      !linalgOp.hasPureTensorSemantics())
    return fail("einsum", "the op next to it is " +
                              op->getName().getStringRef() +
                              ", not an einsum of two operands");
  Einsum einsum{linalgOp, linalgOp.getIndexingMapsArray(),
                SmallVector<FactorList>(linalgOp.getNumLoops())};
  for (AffineMap map : einsum.maps)
    if (!map.isProjectedPermutation())
      return fail("indexing-map", "an operand of the einsum is not indexed by "
                                  "distinct loops");
  for (unsigned loop = 0; loop < linalgOp.getNumLoops(); ++loop)
    if (einsum.isParallel(loop) != einsum.uses(kOut, loop))
      return fail("indexing-map", "the result of the einsum is not indexed by "
                                  "exactly the parallel loops");
  if (!isMultiplyAdd(*linalgOp.getBlock()))
    return fail("body", "the body of the einsum is not a multiply and add");
  return einsum;
}

bool EinsumFuser::checkTypes(Einsum &einsum, Type element, Value weight) {
  Type accumulator = einsum.accumulator();
  if (accumulator != element && accumulator != getAccumulatorType(element))
    return reject("dtype", "the einsum accumulates in " + toText(accumulator) +
                               ", but a conv of " + toText(element) + " in " +
                               toText(getAccumulatorType(element)));
  auto type = cast<RankedTensorType>(weight.getType());
  if (type.getElementType() != element && !type.getElementType().isF32())
    return reject("dtype", "the elements of the weight are " +
                               toText(type.getElementType()) +
                               ", but a conv of " + toText(element) +
                               " takes its own type or f32");
  if (!type.hasStaticShape())
    return reject("weight-shape",
                  "the shape of the weight is dynamic: " + toText(type));
  return true;
}

/// Groups are the major part of their channels.
static std::optional<Miss> checkGroups(const FactorList &groups,
                                       const FactorList &rest) {
  for (const AxisFactor &group : groups)
    for (const AxisFactor &other : rest)
      if (group.stride < other.stride)
        return Miss{"groups",
                    "the groups are not the major part of the channels"};
  return std::nullopt;
}

bool EinsumFuser::matchInit(Einsum &einsum, const FactorList &channels,
                            bool mayBeBias, Value &bias) {
  // The zeros may be reshaped or broadcast.
  auto [init, layout] = followToSource({einsum.init(), einsum.layout(kOut)},
                                       einsum.accumulator());
  if (isZero(init))
    return true;
  if (!mayBeBias)
    return reject("init", "the init of the einsum is not zeros");
  AxisLayout wanted{channels};
  if (!fits({init, layout}))
    return reject("init", "the init of the einsum is neither zeros nor a bias "
                          "broadcast from the output channels");
  refine(layout, wanted);
  refine(wanted, layout);
  int64_t covered = 1;
  for (const FactorList &factors : layout)
    for (const AxisFactor &factor : factors) {
      if (!llvm::is_contained(wanted.front(), factor))
        return reject("init", "the init of the einsum is neither zeros nor a "
                              "bias broadcast from the output channels");
      covered *= factor.size;
    }
  if (covered != sizeOf(channels))
    return reject("init", "the init of the einsum is neither zeros nor a bias "
                          "broadcast from the output channels");
  bias = rearrange(builder, einsum.op.getLoc(), init, layout, wanted);
  return true;
}

//===----------------------------------------------------------------------===//
// The conv
//===----------------------------------------------------------------------===//

static AxisLayout activationLayout(int64_t batch, const FactorList &channels,
                                   ArrayRef<int64_t> points) {
  AxisLayout layout{wholeAxis(kBatchAxis, batch), channels};
  for (auto [i, size] : llvm::enumerate(points))
    layout.push_back(wholeAxis(kFirstPointAxis + i, size));
  return layout;
}

ConvOp EinsumFuser::build(Operation *op, OperandRange psi, StorageAttr storage,
                          Value x, Value weight, Value bias, int64_t groups) {
  auto xType = cast<RankedTensorType>(x.getType());
  PsiType psiType = mlir::disco::detail::getPsiType(storage, psi);
  SmallVector<int64_t> shape{
      xType.getDimSize(0),
      cast<RankedTensorType>(weight.getType()).getDimSize(0)};
  llvm::append_range(shape, psiType.getOutShape());
  auto type = RankedTensorType::get(shape, xType.getElementType());
  return ConvOp::create(builder, op->getLoc(), type, x, psi, weight, bias,
                        /*residual=*/Value(), groups, Activation::none,
                        Precision::ieee, storage,
                        /*plan=*/PlanAttr());
}

//===----------------------------------------------------------------------===//
// contract, then einsum
//===----------------------------------------------------------------------===//

/// Where the conv's result goes: the first value behind the einsum that has
/// its layout and type, or else the first of its type.
static std::optional<LaidOutValue> findTarget(Value result, AxisLayout layout,
                                              const AxisLayout &wanted,
                                              Type element) {
  std::optional<LaidOutValue> target;
  while (true) {
    bool hasType =
        cast<RankedTensorType>(result.getType()).getElementType() == element;
    AxisLayout have = layout, want = wanted;
    refine(have, want);
    refine(want, have);
    if (hasType && have == want)
      return LaidOutValue{result, layout};
    if (hasType && !target)
      target = LaidOutValue{result, layout};
    if (!result.hasOneUse())
      return target;
    Operation *user = *result.user_begin();
    ViewKind kind = getViewKind(user);
    if (kind == ViewKind::None || getViewSource(user) != result ||
        kind == ViewKind::Extend || (kind == ViewKind::Truncate && hasType))
      return target;
    std::optional<AxisLayout> next = followForward(user, layout);
    if (!next)
      return target;
    result = user->getResult(0);
    layout = *next;
  }
}

/// Follows the only use of `z` through views to the op that is not one.
static OpOperand *followToUser(Value &z, AxisLayout &layout, Miss &miss) {
  while (true) {
    if (!z.hasOneUse()) {
      miss = {"single-use", "the filtered features have " +
                                std::to_string(llvm::range_size(z.getUses())) +
                                " uses, but an einsum must be the only one"};
      return nullptr;
    }
    Operation *user = *z.user_begin();
    ViewKind kind = getViewKind(user);
    if (user->getBlock() != z.getParentBlock()) {
      miss = {"block", "the einsum is in another block"};
      return nullptr;
    }
    if (kind == ViewKind::None || kind == ViewKind::Broadcast ||
        kind == ViewKind::Truncate || getViewSource(user) != z)
      return &*z.use_begin();
    std::optional<AxisLayout> next = followForward(user, layout);
    if (!next) {
      miss = {"reshape", "a reshape before the einsum splits an axis unevenly"};
      return nullptr;
    }
    z = user->getResult(0);
    layout = *next;
  }
}

/// What the loops of an einsum behind a contract must be; the channel factors
/// that are a group and those that are summed.
static std::optional<Miss> checkContractLoops(Einsum &einsum, unsigned z,
                                              const LaidOutValue &weight,
                                              FactorList &groups,
                                              FactorList &summed) {
  for (auto [loop, factors] : llvm::enumerate(einsum.loops)) {
    bool isParallel = einsum.isParallel(loop);
    for (const AxisFactor &factor : factors) {
      bool inWeight = holds(weight.layout, factor);
      if (!einsum.uses(z, loop) && !isParallel)
        return Miss{"free-sum", "the einsum sums the weight over an axis that "
                                "the filtered features do not have"};
      if (isField(factor)) {
        if (!isParallel)
          return Miss{"field-sum",
                      ("the einsum sums over the " + nameField(factor)).str()};
        if (inWeight)
          return Miss{"weight-varies",
                      ("the weight depends on the " + nameField(factor)).str()};
        continue;
      }
      if (factor.axis == kBasisAxis && isParallel)
        return Miss{"basis-sum", "the einsum does not sum over K"};
      if (!inWeight)
        return Miss{"weight-axes",
                    factor.axis == kBasisAxis
                        ? "the weight does not depend on K"
                    : factor.axis == kChannelAxis
                        ? "the weight does not depend on the input channels"
                        : "the weight does not depend on the output channels"};
      if (factor.axis == kChannelAxis)
        (isParallel ? groups : summed).push_back(factor);
    }
  }
  groups = sorted(groups);
  summed = sorted(summed);
  return checkGroups(groups, summed);
}

std::optional<ConvOp> EinsumFuser::fuse(ContractOp op) {
  if (op.getPlanAttr())
    return fail("planned", "the op has a plan already");
  Value z = op.getZ();
  AxisLayout layout = identityLayout(op.getZ().getType());
  OpOperand *use = followToUser(z, layout, miss);
  if (!use)
    return std::nullopt;
  std::optional<Einsum> einsum = matchEinsum(use->getOwner());
  if (!einsum)
    return std::nullopt;
  unsigned zIndex = use->getOperandNumber(), weightIndex = 1 - zIndex;
  if (zIndex == kOut)
    return fail("init", "the filtered features are the init of the einsum");
  einsum->setLoops(zIndex, layout);
  setFreeLoops(*einsum, zIndex, weightIndex);
  RankedTensorType xType = op.getX().getType();
  LaidOutValue weight =
      followToSource({einsum->input(weightIndex), einsum->layout(weightIndex)},
                     xType.getElementType());
  FactorList groups, summed;
  if (std::optional<Miss> found =
          checkContractLoops(*einsum, zIndex, weight, groups, summed))
    return fail(found->rule, found->reason);
  if (!checkTypes(*einsum, xType.getElementType(), weight.value))
    return std::nullopt;

  // The output channels, in the order of the einsum's result.
  FactorList channels = groups;
  for (const FactorList &factors : einsum->layout(kOut))
    for (const AxisFactor &factor : factors)
      if (factor.axis >= kFirstFreeAxis)
        channels.push_back(factor);
  PsiType psi = op.getPsiType();
  AxisLayout yLayout =
      activationLayout(xType.getDimSize(0), channels, psi.getOutShape());
  if (xType.getDimSize(0) != op.getZ().getType().getDimSize(0))
    return failBatch();
  std::optional<LaidOutValue> target =
      findTarget(einsum->op->getResult(0), einsum->layout(kOut), yLayout,
                 xType.getElementType());
  if (!target)
    return fail("dtype", "the result of the einsum stays " +
                             toText(einsum->accumulator()) +
                             ", but that of a conv is " +
                             toText(xType.getElementType()));
  if (!fits(*target) || !fits(weight))
    return failBatch();
  builder.setInsertionPoint(einsum->op);
  Value bias;
  if (!matchInit(*einsum, channels, /*mayBeBias=*/true, bias))
    return std::nullopt;
  AxisLayout weightLayout{channels, summed,
                          wholeAxis(kBasisAxis, psi.getNumBasis())};
  Value w = rearrange(builder, op.getLoc(), weight.value, weight.layout,
                      weightLayout);
  ConvOp conv = build(op, op.getPsi(), op.getStorageAttr(), op.getX(), w, bias,
                      sizeOf(groups));
  target->value.replaceAllUsesWith(
      rearrange(builder, op.getLoc(), conv.getY(), yLayout, target->layout));
  return conv;
}

//===----------------------------------------------------------------------===//
// einsum, then contract_sum
//===----------------------------------------------------------------------===//

/// What the loops of an einsum before a contract_sum must be.
static std::optional<Miss> checkSumLoops(Einsum &einsum, const LaidOutValue &x,
                                         const LaidOutValue &weight,
                                         FactorList &groups, FactorList &rest) {
  for (auto [loop, factors] : llvm::enumerate(einsum.loops))
    for (const AxisFactor &factor : factors) {
      bool inWeight = holds(weight.layout, factor);
      bool inX = holds(x.layout, factor);
      if (isField(factor)) {
        if (inWeight)
          return Miss{"weight-varies",
                      ("the weight depends on the " + nameField(factor)).str()};
        if (!inX)
          return Miss{"input-axes", ("the input of the einsum does not depend "
                                     "on the " +
                                     nameField(factor))
                                        .str()};
        continue;
      }
      if (!inWeight)
        return Miss{"weight-axes",
                    factor.axis == kBasisAxis
                        ? "the weight does not depend on K"
                    : factor.axis == kChannelAxis
                        ? "the weight does not depend on the output channels"
                        : "the weight does not depend on the input channels"};
      if (factor.axis == kBasisAxis && inX)
        return Miss{"input-axes", "the input of the einsum depends on K"};
      if (factor.axis >= kFirstFreeAxis && !inX)
        return Miss{"free-sum", "the einsum sums the weight over an axis that "
                                "its input does not have"};
      if (factor.axis == kChannelAxis)
        (inX ? groups : rest).push_back(factor);
    }
  groups = sorted(groups);
  rest = sorted(rest);
  return checkGroups(groups, rest);
}

/// Back through the views to the einsum whose result `op` sums, with its loops.
std::optional<Einsum> EinsumFuser::findEinsumBefore(ContractSumOp op) {
  Value z = op.getZ();
  AxisLayout layout = identityLayout(op.getZ().getType());
  Operation *producer = z.getDefiningOp();
  while (producer) {
    if (!z.hasOneUse())
      return fail("single-use",
                  "the mixed features have " +
                      Twine(llvm::range_size(z.getUses())) +
                      " uses, but disco.contract_sum must be the only one");
    if (producer->getBlock() != op->getBlock())
      return fail("block", "the einsum is in another block");
    ViewKind kind = getViewKind(producer);
    if (kind == ViewKind::None || kind == ViewKind::Broadcast ||
        kind == ViewKind::Extend)
      break;
    std::optional<AxisLayout> source = followBackward(producer, layout);
    if (!source)
      return fail("reshape",
                  "a reshape after the einsum splits an axis unevenly");
    layout = *source;
    z = getViewSource(producer);
    producer = z.getDefiningOp();
  }
  if (!producer)
    return fail("einsum", "the features are a function argument, not the "
                          "result of an einsum");
  std::optional<Einsum> einsum = matchEinsum(producer);
  if (!einsum)
    return std::nullopt;
  einsum->setLoops(kOut, layout);
  setFreeLoops(*einsum, kOut, 0);
  setFreeLoops(*einsum, kOut, 1);
  return einsum;
}

std::optional<ConvOp> EinsumFuser::fuse(ContractSumOp op) {
  if (op.getPlanAttr())
    return fail("planned", "the op has a plan already");
  std::optional<Einsum> einsum = findEinsumBefore(op);
  if (!einsum)
    return std::nullopt;
  Type element = op.getY().getType().getElementType();
  LaidOutValue operands[2];
  for (unsigned i : {0, 1})
    operands[i] =
        followToSource({einsum->input(i), einsum->layout(i)}, element);
  auto hasField = [](const LaidOutValue &operand) {
    return llvm::any_of(operand.layout, [](const FactorList &factors) {
      return llvm::any_of(factors, isField);
    });
  };
  const LaidOutValue &x = operands[hasField(operands[0]) ? 0 : 1];
  const LaidOutValue &weight = operands[hasField(operands[0]) ? 1 : 0];
  FactorList groups, rest;
  if (std::optional<Miss> found =
          checkSumLoops(*einsum, x, weight, groups, rest))
    return fail(found->rule, found->reason);
  Type xElement = cast<RankedTensorType>(x.value.getType()).getElementType();
  if (!fits(x) || !fits(weight) ||
      op.getY().getType().getDimSize(0) != op.getZ().getType().getDimSize(0))
    return failBatch();
  if (xElement != element)
    return fail("dtype", "the input of the einsum is " + toText(xElement) +
                             ", but the result is " + toText(element));
  Value bias;
  builder.setInsertionPoint(op);
  if (!checkTypes(*einsum, element, weight.value) ||
      !matchInit(*einsum, {}, /*mayBeBias=*/false, bias))
    return std::nullopt;

  // The input channels behind the groups, in the order of the input.
  FactorList summed;
  for (const FactorList &factors : x.layout)
    for (const AxisFactor &factor : factors)
      if (factor.axis >= kFirstFreeAxis)
        summed.push_back(factor);
  PsiType psi = op.getPsiType();
  Value input =
      rearrange(builder, op.getLoc(), x.value, x.layout,
                activationLayout(op.getZ().getType().getDimSize(0),
                                 concat(groups, summed), psi.getInShape()));
  Value w = rearrange(
      builder, op.getLoc(), weight.value, weight.layout,
      {concat(groups, rest), summed, wholeAxis(kBasisAxis, psi.getNumBasis())});
  ConvOp conv = build(op, op.getPsi(), op.getStorageAttr(), input, w,
                      /*bias=*/Value(), sizeOf(groups));
  op.getY().replaceAllUsesWith(conv.getY());
  return conv;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct FuseEinsum : public mlir::disco::impl::FuseEinsumPassBase<FuseEinsum> {
  void runOnOperation() override {
    // A dimension of a filter's result is no use of it.
    RewritePatternSet dims(&getContext());
    memref::populateResolveRankedShapedTypeResultDimsPatterns(dims);
    if (failed(applyPatternsGreedily(getOperation(), std::move(dims))))
      return signalPassFailure();

    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<ContractOp, ContractSumOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto contract = dyn_cast<ContractOp>(op))
        tryFuse(contract);
      else
        tryFuse(cast<ContractSumOp>(op));
    }
    cleanUp();
  }

  template <typename OpT> void tryFuse(OpT op) {
    EinsumFuser fuser(op);
    std::optional<ConvOp> conv = fuser.fuse(op);
    StringRef function;
    if (auto func = op->template getParentOfType<FunctionOpInterface>())
      function = func.getName();
    auto options = remark::RemarkOpts::name(OpT::getOperationName())
                       .category("disco-fuse-einsum")
                       .function(function);
    if (conv) {
      ++numConvs;
      remark::passed(op.getLoc(), options)
          << remark::add("formed a disco.conv")
          << remark::metric("Groups", conv->getGroups());
      return;
    }
    ++numMissed;
    remark::missed(op.getLoc(), options)
        << remark::metric("Rule", fuser.miss.rule.str())
        << remark::reason("{0}", fuser.miss.reason);
  }

  /// Erases what the fused ops left, joins reshapes and folds the transposes
  /// of constant weights.
  void cleanUp() {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    linalg::TransposeOp::getCanonicalizationPatterns(patterns, context);
    linalg::populateConstantFoldLinalgOperations(
        patterns, [](OpOperand *) { return true; });
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};

} // namespace
