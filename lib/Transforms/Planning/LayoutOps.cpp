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

/// All maps are identities, no index is read and the init is not.
static bool isCarriableGeneric(linalg::GenericOp op) {
  Block &body = op.getRegion().front();
  return op.getNumLoops() == op.getNumParallelLoops() &&
         op.getNumDpsInits() == 1 && op.hasPureTensorSemantics() &&
         body.getArguments().back().use_empty() && !op.hasIndexSemantics() &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isIdentity(); }) &&
         llvm::all_of(body.without_terminator(),
                      [](Operation &inner) { return isPure(&inner); });
}

bool mlir::disco::isCarriable(Operation *op) {
  if (op->getNumResults() != 1 || !isActivation(op->getResult(0).getType()))
    return false;
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  auto hasShape = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getShape() == shape;
  };
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return isCarriableGeneric(generic) &&
           llvm::all_of(generic.getDpsInputs(), hasShape);
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

/// The body of a generic, evaluated with zeros.
static bool bodyMapsZerosToZero(linalg::GenericOp op) {
  Builder builder(op.getContext());
  DenseMap<Value, Attribute> known;
  Block &body = op.getRegion().front();
  for (BlockArgument argument : body.getArguments())
    known[argument] = builder.getZeroAttr(argument.getType());
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
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return bodyMapsZerosToZero(generic);
  Builder builder(op->getContext());
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    Attribute attr = getConstant(operand);
    operands.push_back(attr ? attr : builder.getZeroAttr(operand.getType()));
  }
  return isZero(foldOne(op, operands));
}

static Value carryGeneric(OpBuilder &builder, linalg::GenericOp op,
                          ValueRange operands, RankedTensorType result) {
  Value empty = createEmpty(builder, op.getLoc(), operands.front(), result);
  AffineMap identity = builder.getMultiDimIdentityMap(result.getRank());
  SmallVector<AffineMap> maps(op.getNumDpsInputs() + 1, identity);
  SmallVector<utils::IteratorType> iterators(result.getRank(),
                                             utils::IteratorType::parallel);
  auto copy =
      linalg::GenericOp::create(builder, op.getLoc(), TypeRange{result},
                                operands.take_front(op.getNumDpsInputs()),
                                ValueRange{empty}, maps, iterators);
  IRMapping mapping;
  op.getRegion().cloneInto(&copy.getRegion(), mapping);
  return copy.getResult(0);
}

Value mlir::disco::carry(OpBuilder &builder, Operation *op, ValueRange operands,
                         RankedTensorType result) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return carryGeneric(builder, generic, operands, result);
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
  if (auto conv = dyn_cast<ConvOp>(op))
    return conv.getPlanAttr() &&
           conv.getPlanAttr().getOutLayout() == Layout::c8;
  if (auto pack = dyn_cast<linalg::PackOp>(op))
    return !pack.getPaddingValue() ||
           isZero(getConstant(pack.getPaddingValue()));
  if (isSplatConstant(value))
    return isZero(getConstant(value));
  if (!isCarriable(op) || !mapsZerosToZero(op))
    return false;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  OperandRange inputs =
      generic ? OperandRange(generic.getInputs()) : op->getOperands();
  return llvm::all_of(inputs, [](Value input) {
    return isSplatConstant(input) || hasZeroPadding(input);
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
