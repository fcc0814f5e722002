//===- AssignLayout.cpp - disco-assign-layout -----------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contractions read and write what their kernels want; elementwise operations
// are free to be carried in any layout; all else sees nchw. The layouts of the
// free operations are those for which the fewest bytes change their layout:
//
//   cost = sum over values of bytes * |layouts of its uses - its own layout|
//
//===----------------------------------------------------------------------===//

#include "LayoutOps.h"
#include "PlanChecks.h"
#include "disco/Dialect/Disco/Matchers.h"
#include "disco/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::disco {
#define GEN_PASS_DEF_ASSIGNLAYOUTPASS
#include "disco/Transforms/Passes.h.inc"
} // namespace mlir::disco

using namespace mlir;
using namespace mlir::disco;

//===----------------------------------------------------------------------===//
// What kernels want
//===----------------------------------------------------------------------===//

static PlanAttr getMovablePlan(Operation *op) {
  if (!isa<ContractionOpInterface>(op))
    return {};
  auto plan = op->getAttrOfType<PlanAttr>("plan");
  // Shapes of a plan with another layout are physical already.
  if (!plan || plan.getInLayout() != Layout::nchw ||
      plan.getOutLayout() != Layout::nchw)
    return {};
  return plan;
}

/// The layouts of x (or z) and y (or z, or gy) that an op gets from its plan.
/// Features z are nchw: they have a layout of their own.
static std::pair<Layout, Layout> getTargetLayouts(Operation *op,
                                                  PlanAttr plan) {
  return {isa<ContractSumOp>(op) ? Layout::nchw : plan.getKernelInLayout(),
          isa<ContractOp>(op) ? Layout::nchw : plan.getKernelOutLayout()};
}

/// The layout that a contraction wants an operand in, if it is an activation.
static std::optional<Layout> getWanted(OpOperand &use) {
  PlanAttr plan = getMovablePlan(use.getOwner());
  if (!plan)
    return std::nullopt;
  if (auto conv = dyn_cast<ConvOp>(use.getOwner())) {
    if (use.getOperandNumber() == conv.getXMutable().getOperandNumber())
      return plan.getKernelInLayout();
    MutableOperandRange residual = conv.getResidualMutable();
    if (!residual.empty() &&
        use.getOperandNumber() == residual[0].getOperandNumber())
      return plan.getKernelOutLayout();
    return std::nullopt;
  }
  auto grad = dyn_cast<ConvWeightGradOp>(use.getOwner());
  if (!grad) {
    // The first operand of contract and contract_sum.
    if (use.getOperandNumber() == 0)
      return getTargetLayouts(use.getOwner(), plan).first;
    return std::nullopt;
  }
  if (use.getOperandNumber() == grad.getXMutable().getOperandNumber())
    return plan.getKernelInLayout();
  if (use.getOperandNumber() == grad.getGyMutable().getOperandNumber())
    return plan.getKernelOutLayout();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Plans whose tensors are in a layout already
//===----------------------------------------------------------------------===//

namespace {

/// The activations of an op whose layouts its plan names.
struct Sides {
  SmallVector<OpOperand *> in, out; ///< x or z; gy and the residual
  Value result;                     ///< y or z; null: none with points
  int64_t inChannels = 0, outChannels = 0;
};

} // namespace

static Sides getSides(ContractionOpInterface op) {
  Sides sides;
  auto setWeight = [&](RankedTensorType weight, int64_t groups) {
    sides.inChannels = weight.getDimSize(1) * groups;
    sides.outChannels = weight.getDimSize(0);
  };
  sides.in.push_back(&op->getOpOperand(0));
  if (auto conv = dyn_cast<ConvOp>(op.getOperation())) {
    setWeight(conv.getWeight().getType(), conv.getGroups());
    if (conv.getResidual())
      sides.out.push_back(&conv.getResidualMutable()[0]);
    sides.result = conv.getY();
  } else if (auto grad = dyn_cast<ConvWeightGradOp>(op.getOperation())) {
    setWeight(grad.getWeightGrad().getType(), grad.getGroups());
    sides.out.push_back(&grad.getGyMutable());
  } else if (auto contract = dyn_cast<ContractOp>(op.getOperation())) {
    sides.inChannels = contract.getZ().getType().getDimSize(1);
  } else {
    auto sum = cast<ContractSumOp>(op.getOperation());
    sides.in.clear();
    sides.outChannels = sum.getZ().getType().getDimSize(1);
    sides.result = sum.getY();
  }
  return sides;
}

/// Gives the kernel of a plan whose tensors are written in a layout the layout
/// that it wants: changes it at the op, from the one to the other. Returns how
/// often.
static unsigned convertWritten(ContractionOpInterface op) {
  auto plan = op->getAttrOfType<PlanAttr>("plan");
  if (!plan || getMovablePlan(op))
    return 0;
  std::pair from{plan.getInLayout(), plan.getOutLayout()};
  std::pair to{plan.getKernelInLayout(), plan.getKernelOutLayout()};
  // Features are nchw, whatever the plan says.
  if (isa<ContractSumOp>(op.getOperation()))
    to.first = from.first;
  if (isa<ContractOp>(op.getOperation()))
    to.second = from.second;
  if (from == to)
    return 0;
  unsigned numChanges = 0;
  OpBuilder builder(op);
  PsiType psi = op.getPsiType();
  auto getLogical = [&](Value value, int64_t channels,
                        ArrayRef<int64_t> points) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape{type.getDimSize(0), channels};
    llvm::append_range(shape, points);
    return RankedTensorType::get(shape, type.getElementType());
  };
  auto convert = [&](OpOperand *use, RankedTensorType logical, Layout from,
                     Layout to) {
    if (from == to)
      return;
    use->set(
        convertLayout(builder, op.getLoc(), use->get(), logical, from, to));
    ++numChanges;
  };
  Sides sides = getSides(op);
  for (OpOperand *use : sides.in)
    convert(use, getLogical(use->get(), sides.inChannels, psi.getInShape()),
            from.first, to.first);
  for (OpOperand *use : sides.out)
    convert(use, getLogical(use->get(), sides.outChannels, psi.getOutShape()),
            from.second, to.second);
  if (sides.result && from.second != to.second) {
    RankedTensorType logical =
        getLogical(sides.result, sides.outChannels, psi.getOutShape());
    sides.result.setType(getPhysicalType(logical, to.second));
    builder.setInsertionPointAfter(op);
    auto uses = llvm::map_to_vector(sides.result.getUses(),
                                    [](OpOperand &use) { return &use; });
    Value written = convertLayout(builder, op.getLoc(), sides.result, logical,
                                  to.second, from.second);
    for (OpOperand *use : uses)
      use->set(written);
    ++numChanges;
  }
  op->setAttr("plan", plan.withLayout(to.first, to.second));
  return numChanges;
}

//===----------------------------------------------------------------------===//
// Choosing the layouts of elementwise operations
//===----------------------------------------------------------------------===//

namespace {

class LayoutChooser {
public:
  explicit LayoutChooser(ModuleOp module);

  /// The layout that `value` is produced in.
  Layout getLayout(Value value) const;
  /// The layout that `use` needs.
  Layout getNeeded(OpOperand &use) const;
  const llvm::MapVector<Operation *, Layout> &getCarried() const {
    return labels;
  }

private:
  bool isLegal(Operation *op, Layout layout) const;
  uint64_t getCost(ArrayRef<Operation *> component) const;
  void solve(ArrayRef<Operation *> component);
  void enumerate(ArrayRef<Operation *> component);
  void descend(ArrayRef<Operation *> component);
  SmallVector<SmallVector<Operation *>> getComponents() const;

  llvm::MapVector<Operation *, Layout> labels;
  DenseMap<Operation *, bool> keepsZeros;
};

} // namespace

static bool isInit(OpOperand &use) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(use.getOwner());
  return linalgOp && linalgOp.isDpsInit(&use);
}

/// Splats are made anew in any layout.
static bool isConstant(Value value) {
  return isa_and_nonnull<SplatElementsAttr>(getConstant(value));
}

LayoutChooser::LayoutChooser(ModuleOp module) {
  module.walk([&](Operation *op) {
    if (isCarriable(op)) {
      labels[op] = Layout::nchw;
      keepsZeros[op] = mapsZerosToZero(op);
    }
  });
  for (ArrayRef<Operation *> component : getComponents())
    solve(component);
}

Layout LayoutChooser::getLayout(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op)
    return Layout::nchw;
  if (auto found = labels.find(op); found != labels.end())
    return found->second;
  PlanAttr plan = isa<ConvWeightGradOp>(op) ? PlanAttr() : getMovablePlan(op);
  return plan ? getTargetLayouts(op, plan).second : Layout::nchw;
}

Layout LayoutChooser::getNeeded(OpOperand &use) const {
  if (auto found = labels.find(use.getOwner()); found != labels.end()) {
    // Inits are replaced.
    return isInit(use) ? getLayout(use.get()) : found->second;
  }
  return getWanted(use).value_or(Layout::nchw);
}

/// In c8 an op must keep the zeros of padding channels.
bool LayoutChooser::isLegal(Operation *op, Layout layout) const {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  return layout != Layout::c8 || type.getDimSize(1) % 8 == 0 ||
         keepsZeros.lookup(op);
}

/// Elementwise operations that are joined by values. The order is that of the
/// module, so that the choice is the same in every run.
SmallVector<SmallVector<Operation *>> LayoutChooser::getComponents() const {
  SmallVector<SmallVector<Operation *>> components;
  DenseSet<Operation *> seen;
  for (auto &[root, label] : labels) {
    if (!seen.insert(root).second)
      continue;
    SmallVector<Operation *> &component = components.emplace_back();
    component.push_back(root);
    for (size_t i = 0; i < component.size(); ++i) {
      Operation *op = component[i];
      SmallVector<Operation *> neighbours(op->getUsers());
      for (Value operand : op->getOperands()) {
        // Users of one value are coupled: they can share one copy of it.
        if (isConstant(operand))
          continue;
        neighbours.push_back(operand.getDefiningOp());
        llvm::append_range(neighbours, operand.getUsers());
      }
      for (Operation *neighbour : neighbours)
        if (labels.contains(neighbour) && seen.insert(neighbour).second)
          component.push_back(neighbour);
    }
  }
  return components;
}

/// Bytes that change their layout around a component.
uint64_t LayoutChooser::getCost(ArrayRef<Operation *> component) const {
  llvm::SmallSetVector<Value, 16> values;
  for (Operation *op : component) {
    values.insert(op->getResult(0));
    for (Value operand : op->getOperands())
      if (isActivation(operand.getType()) && !isConstant(operand))
        values.insert(operand);
  }
  uint64_t cost = 0;
  for (Value value : values) {
    bool needed[numLayouts] = {};
    for (OpOperand &use : value.getUses())
      needed[static_cast<unsigned>(getNeeded(use))] = true;
    needed[static_cast<unsigned>(getLayout(value))] = false;
    auto type = cast<RankedTensorType>(value.getType());
    uint64_t bytes = type.getElementType().getIntOrFloatBitWidth();
    for (int64_t size : type.getShape())
      bytes *= ShapedType::isDynamic(size) ? 1 : size;
    cost += bytes * llvm::count(needed, true);
  }
  return cost;
}

/// All combinations; the first of the best, nchw before nhwc before c8.
void LayoutChooser::enumerate(ArrayRef<Operation *> component) {
  uint64_t combinations = 1;
  for (size_t i = 0; i < component.size(); ++i)
    combinations *= numLayouts;
  std::optional<uint64_t> best;
  SmallVector<Layout> bestLabels;
  for (uint64_t code = 0; code < combinations; ++code) {
    uint64_t digits = code;
    bool legal = true;
    for (Operation *op : component) {
      auto layout = static_cast<Layout>(digits % numLayouts);
      legal &= isLegal(op, layout);
      labels[op] = layout;
      digits /= numLayouts;
    }
    if (!legal)
      continue;
    uint64_t cost = getCost(component);
    if (best && cost >= *best)
      continue;
    best = cost;
    bestLabels.clear();
    for (Operation *op : component)
      bestLabels.push_back(labels[op]);
  }
  for (auto [op, layout] : llvm::zip_equal(component, bestLabels))
    labels[op] = layout;
}

/// One layout for all that it is legal for, then one operation at a time for
/// as long as that helps.
void LayoutChooser::descend(ArrayRef<Operation *> component) {
  auto label = [&](Operation *op, Layout layout) {
    labels[op] = isLegal(op, layout) ? layout : Layout::nchw;
  };
  std::optional<uint64_t> best;
  Layout uniform = Layout::nchw;
  for (unsigned i = 0; i < numLayouts; ++i) {
    for (Operation *op : component)
      label(op, static_cast<Layout>(i));
    uint64_t cost = getCost(component);
    if (!best || cost < *best) {
      best = cost;
      uniform = static_cast<Layout>(i);
    }
  }
  for (Operation *op : component)
    label(op, uniform);
  for (bool improved = true; improved;) {
    improved = false;
    for (Operation *op : component)
      for (unsigned i = 0; i < numLayouts; ++i) {
        Layout old = labels[op];
        label(op, static_cast<Layout>(i));
        uint64_t cost = getCost(component);
        if (cost < *best) {
          best = cost;
          improved = true;
        } else {
          labels[op] = old;
        }
      }
  }
}

void LayoutChooser::solve(ArrayRef<Operation *> component) {
  constexpr size_t maxEnumerated = 7;
  if (component.size() <= maxEnumerated)
    enumerate(component);
  else
    descend(component);
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {

/// Rebuilds operations on physical values, in the order of the module. Old
/// values stay until all is built.
class LayoutRewriter {
public:
  LayoutRewriter(ModuleOp module, const LayoutChooser &layouts)
      : module(module), layouts(layouts) {}

  void rewrite();
  ArrayRef<Operation *> getContractions() const { return contractions; }

  unsigned numRepacks = 0, numCarried = 0;

private:
  Value get(Value logical, Layout layout);
  void rebuildContraction(Operation *op);
  void rebuildElementwise(Operation *op, Layout layout);
  void replace(Operation *op, unsigned result, Value physical);

  ModuleOp module;
  const LayoutChooser &layouts;
  /// The values of a logical value by layout; the one that it is produced in
  /// first.
  DenseMap<Value, std::array<Value, numLayouts>> physical;
  SmallVector<Operation *> contractions, dead;
};

} // namespace

/// The value of `logical` in a layout, converted where it is produced if need
/// be.
Value LayoutRewriter::get(Value logical, Layout layout) {
  Layout from = layouts.getLayout(logical);
  std::array<Value, numLayouts> &values = physical[logical];
  Value &source = values[static_cast<unsigned>(from)];
  if (!source)
    source = logical;
  Value &result = values[static_cast<unsigned>(layout)];
  if (result)
    return result;
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfterValue(source);
  ++numRepacks;
  return result = convertLayout(builder, source.getLoc(), source,
                                cast<RankedTensorType>(logical.getType()), from,
                                layout);
}

void LayoutRewriter::replace(Operation *op, unsigned result, Value value) {
  Layout layout = layouts.getLayout(op->getResult(result));
  physical[op->getResult(result)][static_cast<unsigned>(layout)] = value;
}

void LayoutRewriter::rebuildContraction(Operation *op) {
  PlanAttr plan = getMovablePlan(op);
  OpBuilder builder(op);
  Operation *copy = builder.clone(*op);
  for (auto [use, newUse] :
       llvm::zip_equal(op->getOpOperands(), copy->getOpOperands()))
    if (std::optional<Layout> wanted = getWanted(use))
      newUse.set(get(use.get(), *wanted));
  auto [in, out] = getTargetLayouts(op, plan);
  copy->setAttr("plan", plan.withLayout(in, out));
  if (isa<ConvOp, ContractSumOp>(copy))
    copy->getResult(0).setType(getPhysicalType(
        cast<RankedTensorType>(copy->getResult(0).getType()), out));
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    replace(op, i, copy->getResult(i));
  contractions.push_back(copy);
  dead.push_back(op);
}

void LayoutRewriter::rebuildElementwise(Operation *op, Layout layout) {
  OpBuilder builder(op);
  SmallVector<Value> operands;
  for (OpOperand &use : op->getOpOperands()) {
    if (isInit(use))
      continue;
    if (!isActivation(use.get().getType())) {
      // Vectors of channels and scalars change their layout with the op.
      operands.push_back(use.get());
      continue;
    }
    auto type = cast<RankedTensorType>(use.get().getType());
    auto splat = dyn_cast_or_null<SplatElementsAttr>(getConstant(use.get()));
    if (!splat) {
      operands.push_back(get(use.get(), layout));
      continue;
    }
    auto constant = splat.resizeSplat(getPhysicalType(type, layout));
    operands.push_back(
        arith::ConstantOp::create(builder, op->getLoc(), constant));
  }
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  replace(op, 0,
          carry(builder, op, operands, getPhysicalType(type, layout), layout));
  dead.push_back(op);
  ++numCarried;
}

void LayoutRewriter::rewrite() {
  SmallVector<Operation *> order;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (getMovablePlan(op) || layouts.getCarried().contains(op))
      order.push_back(op);
  });
  for (Operation *op : order) {
    if (PlanAttr plan = getMovablePlan(op)) {
      if (getTargetLayouts(op, plan) != std::pair(Layout::nchw, Layout::nchw))
        rebuildContraction(op);
      else
        for (OpOperand &use : op->getOpOperands())
          if (getWanted(use))
            use.set(get(use.get(), Layout::nchw));
      continue;
    }
    Layout layout = layouts.getCarried().lookup(op);
    if (layout != Layout::nchw) {
      rebuildElementwise(op, layout);
      continue;
    }
    for (OpOperand &use : op->getOpOperands())
      use.set(isActivation(use.get().getType()) ? get(use.get(), Layout::nchw)
                                                : use.get());
  }
  // What is left reads nchw.
  DenseSet<Operation *> isDead(dead.begin(), dead.end());
  for (Operation *op : dead)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !isDead.contains(user); }))
        result.replaceUsesWithIf(
            isActivation(result.getType()) ? get(result, Layout::nchw)
                                           : physical[result][0],
            [&](OpOperand &use) { return !isDead.contains(use.getOwner()); });
  for (Operation *op : llvm::reverse(dead))
    op->erase();
}

namespace {
struct AssignLayoutPass
    : public mlir::disco::impl::AssignLayoutPassBase<AssignLayoutPass> {
  using AssignLayoutPassBase::AssignLayoutPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> changed;
    module.walk([&](ContractionOpInterface op) {
      if (unsigned changes = convertWritten(op)) {
        numRepacks += changes;
        changed.push_back(op);
      }
    });
    LayoutChooser layouts(module);
    LayoutRewriter rewriter(module, layouts);
    rewriter.rewrite();
    numRepacks += rewriter.numRepacks;
    numCarried += rewriter.numCarried;
    llvm::append_range(changed, rewriter.getContractions());
    if (failed(updateProblems(changed)) || failed(fold(module)))
      signalPassFailure();
  }

private:
  /// The problem of a plan says how x arrives and y is delivered.
  LogicalResult updateProblems(ArrayRef<Operation *> ops) {
    auto &problems = getAnalysis<ProblemBuilder>();
    for (Operation *op : ops) {
      auto contraction = cast<ContractionOpInterface>(op);
      auto plan = op->getAttrOfType<PlanAttr>("plan");
      if (!plan.getProblem() || contraction.getStorageAttr())
        continue;
      FailureOr<::disco::planning::Problem> problem =
          problems.build(contraction, getAssumedBatch(plan));
      if (failed(problem))
        return failure();
      op->setAttr("plan",
                  plan.withProblem(::disco::planning::hashOf(*problem)));
    }
    return success();
  }

  LogicalResult fold(ModuleOp module) {
    RewritePatternSet patterns(&getContext());
    populateLayoutFoldPatterns(patterns);
    linalg::PackOp::getCanonicalizationPatterns(patterns, &getContext());
    linalg::UnPackOp::getCanonicalizationPatterns(patterns, &getContext());
    linalg::TransposeOp::getCanonicalizationPatterns(patterns, &getContext());
    return applyPatternsGreedily(module, std::move(patterns));
  }
};
} // namespace
