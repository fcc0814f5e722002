//===- LayoutOps.cpp - physical layouts of activations --------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutOps.h"
#include "disco/Dialect/Disco/Matchers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::disco;

bool mlir::disco::isActivation(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() >= 3 &&
         llvm::none_of(tensor.getShape().drop_front(), ShapedType::isDynamic);
}

RankedTensorType mlir::disco::getPhysicalType(RankedTensorType logical,
                                              Layout layout) {
  return RankedTensorType::get(
      getPhysicalShape(layout, logical.getDimSize(0), logical.getDimSize(1),
                       logical.getShape().drop_front(2)),
      logical.getElementType());
}

//===----------------------------------------------------------------------===//
// Changes of layout
//===----------------------------------------------------------------------===//

/// tensor.empty of `type`, whose only dynamic dimension is the batch, dimension
/// 0 in every layout.
static Value createEmpty(OpBuilder &builder, Location loc, Value batchOf,
                         RankedTensorType type) {
  SmallVector<Value> dynamic;
  if (type.isDynamicDim(0))
    dynamic.push_back(tensor::DimOp::create(builder, loc, batchOf, 0));
  return tensor::EmptyOp::create(builder, loc, type, dynamic);
}

/// How c8 tiles what is in `layout`:
///
///   nchw [B, C, H, W]  position of C 1   outer order B C H W
///   nhwc [B, H, W, C]  position of C 3   outer order B C H W
static std::pair<int64_t, SmallVector<int64_t>> getTiling(Layout layout,
                                                          int64_t rank) {
  if (layout == Layout::nchw)
    return {1, {}};
  SmallVector<int64_t> order{0, rank - 1};
  for (int64_t i = 1; i < rank - 1; ++i)
    order.push_back(i);
  return {rank - 1, order};
}

Value mlir::disco::convertLayout(OpBuilder &builder, Location loc, Value value,
                                 RankedTensorType logical, Layout from,
                                 Layout to) {
  Value dest = createEmpty(builder, loc, value, getPhysicalType(logical, to));
  int64_t rank = logical.getRank();
  if (from != Layout::c8 && to != Layout::c8) {
    SmallVector<int64_t> order{0};
    for (int64_t i = 1; i < rank - 1; ++i)
      order.push_back(from == Layout::nchw ? i + 1 : i);
    order.insert(from == Layout::nchw ? order.end() : order.begin() + 1,
                 from == Layout::nchw ? 1 : rank - 1);
    return linalg::TransposeOp::create(builder, loc, value, dest, order)
        ->getResult(0);
  }
  auto [position, order] = getTiling(to == Layout::c8 ? from : to, rank);
  SmallVector<OpFoldResult> tiles{builder.getIndexAttr(8)};
  if (to != Layout::c8)
    return linalg::UnPackOp::create(builder, loc, value, dest,
                                    ArrayRef(position), tiles, order)
        .getResult();
  std::optional<Value> zero;
  if (logical.getDimSize(1) % 8 != 0)
    zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(logical.getElementType()));
  return linalg::PackOp::create(builder, loc, value, dest, ArrayRef(position),
                                tiles, zero, order)
      .getResult();
}

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

static bool isSplatConstant(Value value) {
  return isa_and_nonnull<SplatElementsAttr>(getConstant(value));
}

/// Parallel loops over one result at the place of the loops, a pure body that
/// reads neither an index nor the init, and operands at projections of the
/// place.
static bool isPointwise(linalg::LinalgOp op) {
  if (op.getNumLoops() != op.getNumParallelLoops() ||
      op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics() ||
      op.hasIndexSemantics() ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return false;
  Block &body = *op.getBlock();
  unsigned numInputs = op.getNumDpsInputs();
  return llvm::all_of(body.getArguments().drop_front(numInputs),
                      [](BlockArgument init) { return init.use_empty(); }) &&
         llvm::all_of(body.without_terminator(),
                      [](Operation &inner) { return isPure(&inner); });
}

/// What an input of a pointwise op on [B, C, points...] is: an activation at
/// the place of the loops, a vector of channels or a scalar.
enum class InputKind { activation, channels, scalar, other };

static InputKind getInputKind(linalg::LinalgOp op, OpOperand &input) {
  AffineMap map = op.getMatchingIndexingMap(&input);
  if (map.isIdentity())
    return InputKind::activation;
  if (map.getNumResults() == 0)
    return InputKind::scalar;
  return map.getNumResults() == 1 && map.getDimPosition(0) == 1
             ? InputKind::channels
             : InputKind::other;
}

/// Something must say how large the batch is: an activation, or a tensor.empty.
static bool isCarriableLinalg(linalg::LinalgOp op) {
  if (!isPointwise(op))
    return false;
  bool hasActivation =
      op.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>() != nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    InputKind kind = getInputKind(op, *input);
    if (kind == InputKind::other)
      return false;
    hasActivation |=
        kind == InputKind::activation && !isSplatConstant(input->get());
  }
  return hasActivation;
}

bool mlir::disco::isCarriable(Operation *op) {
  if (op->getNumResults() != 1 || !isActivation(op->getResult(0).getType()))
    return false;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return isCarriableLinalg(linalgOp);
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  auto hasShape = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getShape() == shape;
  };
  return OpTrait::hasElementwiseMappableTraits(op) && isPure(op) &&
         op->getNumOperands() > 0 &&
         llvm::all_of(op->getOperands(), hasShape) &&
         !llvm::all_of(op->getOperands(), isSplatConstant);
}

static bool isZero(Attribute attr) {
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(attr))
    attr = splat.getSplatValue<Attribute>();
  if (auto value = dyn_cast_or_null<FloatAttr>(attr))
    return value.getValue().isZero();
  auto value = dyn_cast_or_null<IntegerAttr>(attr);
  return value && value.getValue().isZero();
}

/// What upstream folds only in f32 and f64: functions of zero.
static TypedAttr foldAtZero(Operation *op) {
  if (isa<math::ErfOp, math::TanhOp, math::SinOp, math::SqrtOp, math::AbsFOp,
          math::ExpM1Op, math::Log1pOp, math::SinhOp, math::AtanOp,
          math::AsinhOp>(op))
    return Builder(op->getContext()).getZeroAttr(op->getResult(0).getType());
  auto scalar = dyn_cast<FloatType>(op->getResult(0).getType());
  if (scalar && isa<math::ExpOp, math::CosOp, math::CoshOp>(op))
    return FloatAttr::get(scalar, 1.0);
  return {};
}

/// The constant that `op` gives for these constants, or null.
static TypedAttr foldOne(Operation *op, ArrayRef<Attribute> operands) {
  if (operands.size() == 1 && isZero(operands.front()))
    if (TypedAttr attr = foldAtZero(op))
      return attr;
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.size() != 1)
    return {};
  if (auto attr = dyn_cast<Attribute>(results.front()))
    return dyn_cast<TypedAttr>(attr);
  // The op folds to one of its operands.
  auto value = cast<Value>(results.front());
  for (auto [operand, attr] : llvm::zip_equal(op->getOperands(), operands))
    if (operand == value)
      return dyn_cast_or_null<TypedAttr>(attr);
  return {};
}

/// What an input holds in padding channels: zeros, or its value where it is the
/// same everywhere; null when that is not known.
static Attribute getPadding(linalg::LinalgOp op, OpOperand &input) {
  Attribute value = getConstant(input.get());
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(value))
    value = splat.getSplatValue<Attribute>();
  switch (getInputKind(op, input)) {
  case InputKind::scalar:
    return value;
  case InputKind::activation:
    if (isSplatConstant(input.get()))
      return value;
    [[fallthrough]];
  default:
    return Builder(op.getContext())
        .getZeroAttr(getElementTypeOrSelf(input.get()));
  }
}

/// The body of a linalg op, evaluated in padding channels.
static bool bodyMapsZerosToZero(linalg::LinalgOp op) {
  DenseMap<Value, Attribute> known;
  Block &body = *op.getBlock();
  for (OpOperand *input : op.getDpsInputOperands())
    known[op.getMatchingBlockArgument(input)] = getPadding(op, *input);
  auto get = [&](Value value) {
    Attribute attr = known.lookup(value);
    return attr ? attr : getConstant(value);
  };
  for (Operation &inner : body.without_terminator()) {
    SmallVector<Attribute> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(get(operand));
    if (inner.getNumResults() == 1)
      known[inner.getResult(0)] = foldOne(&inner, operands);
  }
  return isZero(get(body.getTerminator()->getOperand(0)));
}

bool mlir::disco::mapsZerosToZero(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return bodyMapsZerosToZero(linalgOp);
  Builder builder(op->getContext());
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    Attribute attr = getConstant(operand);
    operands.push_back(attr ? attr : builder.getZeroAttr(operand.getType()));
  }
  return isZero(foldOne(op, operands));
}

/// [C] as [ceil(C/8), 8] with zeros in the padding.
static Value packChannels(OpBuilder &builder, Location loc, Value vector) {
  auto type = cast<RankedTensorType>(vector.getType());
  int64_t channels = type.getDimSize(0);
  Value dest = tensor::EmptyOp::create(
      builder, loc,
      RankedTensorType::get({(channels + 7) / 8, 8}, type.getElementType()),
      ValueRange{});
  std::optional<Value> zero;
  if (channels % 8 != 0)
    zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(type.getElementType()));
  SmallVector<OpFoldResult> tiles{builder.getIndexAttr(8)};
  return linalg::PackOp::create(builder, loc, vector, dest,
                                ArrayRef<int64_t>{0}, tiles, zero)
      .getResult();
}

/// Where the channels of `layout` are among the loops of a result of that rank:
///
///   nhwc (b, h, w, c)       c
///   c8   (b, c0, h, w, c1)  c0, c1
static SmallVector<int64_t> getChannelLoops(Layout layout, int64_t rank) {
  if (layout == Layout::c8)
    return {1, rank - 1};
  return {layout == Layout::nhwc ? rank - 1 : 1};
}

/// tensor.empty of a carried result.
static Value createResult(OpBuilder &builder, linalg::LinalgOp op,
                          Value activation, RankedTensorType result) {
  if (activation)
    return createEmpty(builder, op.getLoc(), activation, result);
  auto empty = op.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>();
  return tensor::EmptyOp::create(builder, op.getLoc(), result,
                                 empty.getDynamicSizes());
}

/// The op as a linalg.generic on physical tensors.
static Value carryLinalg(OpBuilder &builder, linalg::LinalgOp op,
                         ValueRange operands, RankedTensorType result,
                         Layout layout) {
  int64_t rank = result.getRank();
  SmallVector<Value> inputs(operands);
  SmallVector<AffineMap> maps;
  Value activation;
  for (auto [input, value] :
       llvm::zip_equal(op.getDpsInputOperands(), inputs)) {
    switch (getInputKind(op, *input)) {
    case InputKind::activation:
      maps.push_back(builder.getMultiDimIdentityMap(rank));
      if (!isSplatConstant(value))
        activation = value;
      break;
    case InputKind::channels: {
      if (layout == Layout::c8)
        value = packChannels(builder, op.getLoc(), value);
      SmallVector<AffineExpr> loops;
      for (int64_t loop : getChannelLoops(layout, rank))
        loops.push_back(builder.getAffineDimExpr(loop));
      maps.push_back(AffineMap::get(rank, 0, loops, builder.getContext()));
      break;
    }
    default:
      maps.push_back(AffineMap::get(rank, 0, builder.getContext()));
    }
  }
  maps.push_back(builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  Value init = createResult(builder, op, activation, result);
  auto copy =
      linalg::GenericOp::create(builder, op.getLoc(), TypeRange{result}, inputs,
                                ValueRange{init}, maps, iterators);
  IRMapping mapping;
  op->getRegion(0).cloneInto(&copy.getRegion(), mapping);
  // The body of linalg.map need not have an argument for the init.
  Block &body = copy.getRegion().front();
  if (body.getNumArguments() == inputs.size())
    body.addArgument(result.getElementType(), op.getLoc());
  return copy.getResult(0);
}

Value mlir::disco::carry(OpBuilder &builder, Operation *op, ValueRange operands,
                         RankedTensorType result, Layout layout) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return carryLinalg(builder, linalgOp, operands, result, layout);
  Operation *copy = builder.clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(result);
  return copy->getResult(0);
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

bool mlir::disco::hasZeroPadding(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  // Every producer of disco writes zeros into padding channels.
  if (isa<ConvOp, ContractSumOp>(op)) {
    auto plan = op->getAttrOfType<PlanAttr>("plan");
    return plan && plan.getOutLayout() == Layout::c8;
  }
  if (auto pack = dyn_cast<linalg::PackOp>(op))
    return !pack.getPaddingValue() ||
           isZero(getConstant(pack.getPaddingValue()));
  if (isSplatConstant(value))
    return isZero(getConstant(value));
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!(linalgOp ? isPointwise(linalgOp) : isCarriable(op)) ||
      !mapsZerosToZero(op))
    return false;
  SmallVector<Value> inputs = linalgOp ? linalgOp.getDpsInputs()
                                       : SmallVector<Value>(op->getOperands());
  return llvm::all_of(inputs, [](Value input) {
    // Scalars are not read as zeros.
    return isSplatConstant(input) || !isa<RankedTensorType>(input.getType()) ||
           cast<RankedTensorType>(input.getType()).getRank() == 0 ||
           hasZeroPadding(input);
  });
}

namespace {
/// Upstream folds this only where nothing is padded.
struct FoldPackOfUnpack : OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::PackOp pack,
                                PatternRewriter &rewriter) const override {
    auto unpack = pack.getSource().getDefiningOp<linalg::UnPackOp>();
    if (!unpack)
      return rewriter.notifyMatchFailure(pack, "the source is no unpack");
    if (unpack.getSource().getType() != pack.getResult().getType() ||
        pack.getInnerDimsPos() != unpack.getInnerDimsPos() ||
        pack.getOuterDimsPerm() != unpack.getOuterDimsPerm() ||
        pack.getStaticInnerTiles() != unpack.getStaticInnerTiles())
      return rewriter.notifyMatchFailure(pack, "the layouts differ");
    if (pack.getPaddingValue() &&
        (!isZero(getConstant(pack.getPaddingValue())) ||
         !hasZeroPadding(unpack.getSource())))
      return rewriter.notifyMatchFailure(pack, "the padding may differ");
    rewriter.replaceOp(pack, unpack.getSource());
    return success();
  }
};
} // namespace

void mlir::disco::populateLayoutFoldPatterns(RewritePatternSet &patterns) {
  patterns.add<FoldPackOfUnpack>(patterns.getContext());
}
