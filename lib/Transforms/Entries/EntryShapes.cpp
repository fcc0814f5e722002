//===- EntryShapes.cpp - shapes of an entry's tensors ---------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The body of an entry is cloned into a function that stores the dimensions of
// the results, and of all values whose dimensions have to agree. Dimension
// queries are then resolved towards the arguments; what computes data is dead
// and goes away. What is left says what each dimension is: a constant, a
// dimension of an input (such sizes get names, which the runtime compares), or
// arithmetic on these.
//
//===----------------------------------------------------------------------===//

#include "EntryShapes.h"

#include "disco/Dialect/Disco/Disco.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::disco;

namespace {

/// Dimension `dim` of input `input`.
using InputDim = std::pair<unsigned, int64_t>;

class ShapeFunction {
public:
  ShapeFunction(func::FuncOp entry, StringRef name, ArrayRef<Type> types);
  LogicalResult simplify();
  LogicalResult readResults(EntryShapes &shapes);

  func::FuncOp function;

private:
  /// Two sizes that an op needs to be equal.
  struct Equality {
    Operation *op; // in the entry
    std::string text;
    memref::StoreOp first, second;
  };

  void cloneBody(ArrayRef<Type> types);
  memref::StoreOp storeDim(OpBuilder &builder, Value tensor, int64_t dim,
                           int64_t at);
  void collectEqualities(OpBuilder &builder, Operation &op, Operation &clone);
  LogicalResult unify(EntryShapes &shapes, const Equality &equality);
  std::optional<InputDim> asInputDim(Value size);

  func::FuncOp entry;
  SmallVector<Value> results; // of the cloned body

  SmallVector<memref::StoreOp> stores;
  SmallVector<Equality> equalities;
};

} // namespace

ShapeFunction::ShapeFunction(func::FuncOp entry, StringRef name,
                             ArrayRef<Type> types)
    : entry(entry) {
  OpBuilder builder(entry.getContext());
  int64_t count = 0;
  for (Type type : entry.getResultTypes())
    count += cast<RankedTensorType>(type).getRank();
  SmallVector<Type> arguments(types);
  arguments.push_back(MemRefType::get({count}, builder.getI64Type()));
  function = func::FuncOp::create(
      entry.getLoc(), name, builder.getFunctionType(arguments, TypeRange()));
  function.addEntryBlock();
  cloneBody(types);
}

void ShapeFunction::cloneBody(ArrayRef<Type> types) {
  Location loc = entry.getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  IRMapping mapping;
  for (auto [argument, memref] :
       llvm::zip(entry.getArguments(), function.getArguments()))
    mapping.map(argument, bufferization::ToTensorOp::create(
                              builder, loc, argument.getType(), memref,
                              /*restrict=*/true)
                              .getResult());
  for (Operation &op : entry.front().without_terminator())
    collectEqualities(builder, op, *builder.clone(op, mapping));
  for (Value result : entry.front().getTerminator()->getOperands())
    results.push_back(mapping.lookup(result));

  int64_t next = 0;
  for (Value result : results) {
    int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
    for (int64_t dim = 0; dim < rank; ++dim)
      stores.push_back(storeDim(builder, result, dim, next++));
  }
  func::ReturnOp::create(builder, loc);
}

memref::StoreOp ShapeFunction::storeDim(OpBuilder &builder, Value tensor,
                                        int64_t dim, int64_t at) {
  Location loc = entry.getLoc();
  Value size = tensor::DimOp::create(builder, loc, tensor, dim);
  size = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), size);
  Value index = arith::ConstantIndexOp::create(builder, loc, at);
  return memref::StoreOp::create(builder, loc, size,
                                 function.getArguments().back(), index);
}

/// Loops over two tensors trust that both have the size of one of them, and a
/// dynamic size may be anything when run. The stores only keep the sizes alive.
void ShapeFunction::collectEqualities(OpBuilder &builder, Operation &op,
                                      Operation &clone) {
  auto require = [&](StringRef text, Value first, int64_t firstDim,
                     Value second, int64_t secondDim) {
    auto isDynamic = [](Value tensor, int64_t dim) {
      auto type = dyn_cast<RankedTensorType>(tensor.getType());
      return type && type.isDynamicDim(dim);
    };
    if (isDynamic(first, firstDim) || isDynamic(second, secondDim))
      equalities.push_back({&op, text.str(),
                            storeDim(builder, first, firstDim, 0),
                            storeDim(builder, second, secondDim, 0)});
  };
  if (auto conv = dyn_cast<ConvOp>(clone)) {
    if (conv.getResidual())
      require("the batches of x and residual", conv.getX(), 0,
              conv.getResidual(), 0);
    return;
  }
  if (auto grad = dyn_cast<ConvWeightGradOp>(clone))
    return require("the batches of x and gy", grad.getX(), 0, grad.getGy(), 0);
  if (auto assemble = dyn_cast<AssembleOp>(clone)) {
    if (assemble.getFormat() == TableFormat::csr)
      require("the taps of columns and values", assemble.getTables()[1], 0,
              assemble.getTables()[2], 0);
    return;
  }
  auto linalgOp = dyn_cast<linalg::LinalgOp>(clone);
  if (!linalgOp)
    return;
  DenseMap<unsigned, std::pair<Value, int64_t>> loops;
  for (OpOperand &operand : clone.getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      auto [found, isNew] = loops.try_emplace(loop.getPosition(), operand.get(),
                                              static_cast<int64_t>(dim));
      if (!isNew)
        require("the sizes of a loop", found->second.first,
                found->second.second, operand.get(), dim);
    }
  }
}

LogicalResult ShapeFunction::simplify() {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  memref::populateResolveShapedTypeResultDimsPatterns(patterns);
  for (StringRef name : {"tensor", "memref", "arith", "bufferization", "linalg",
                         "scf", "affine"})
    if (Dialect *dialect = context->getLoadedDialect(name)) {
      dialect->getCanonicalizationPatterns(patterns);
      for (RegisteredOperationName op : context->getRegisteredOperations())
        if (op.getDialectNamespace() == name)
          op.getCanonicalizationPatterns(patterns, context);
    }
  if (failed(applyPatternsGreedily(function, std::move(patterns))))
    return failure();
  // What still has a tensor or a region reads data.
  WalkResult result = function.walk([&](Operation *op) {
    bool isData = llvm::any_of(op->getOperandTypes(),
                               [](Type type) { return isa<TensorType>(type); });
    if (op == function || (!isData && op->getNumRegions() == 0))
      return WalkResult::advance();
    InFlightDiagnostic diag =
        entry.emitOpError()
        << "expected the shapes of the results to be functions of the shapes "
           "of the arguments, but got '"
        << op->getName() << "' among what decides them";
    diag.attachNote(op->getLoc()) << "which is here";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// The dimension of an input that `size`, an index or its cast, is.
std::optional<InputDim> ShapeFunction::asInputDim(Value size) {
  if (auto cast = size.getDefiningOp<arith::IndexCastOp>())
    size = cast.getIn();
  auto dim = size.getDefiningOp<memref::DimOp>();
  if (!dim || !dim.getConstantIndex())
    return std::nullopt;
  auto argument = dyn_cast<BlockArgument>(dim.getSource());
  if (!argument || argument.getOwner() != &function.front())
    return std::nullopt;
  return InputDim(argument.getArgNumber(), *dim.getConstantIndex());
}

/// A size as it is known so far: non-negative, or the name of a dynamic one.
static int64_t &getDim(EntryShapes &shapes, InputDim dim) {
  return shapes.inputDims[dim.first][dim.second];
}

/// Whether two values are computed in the same way from the same values.
static bool isSameExpression(Value a, Value b) {
  if (a == b)
    return true;
  auto first = dyn_cast<OpResult>(a), second = dyn_cast<OpResult>(b);
  if (!first || !second || first.getResultNumber() != second.getResultNumber())
    return false;
  Operation *left = first.getOwner(), *right = second.getOwner();
  return left->getName() == right->getName() && isPure(left) &&
         left->getNumRegions() == 0 &&
         left->getAttrDictionary() == right->getAttrDictionary() &&
         llvm::equal(left->getOperands(), right->getOperands(),
                     isSameExpression);
}

/// Makes two sizes equal: those of inputs get one name, or the constant.
LogicalResult ShapeFunction::unify(EntryShapes &shapes,
                                   const Equality &equality) {
  memref::StoreOp firstStore = equality.first, secondStore = equality.second;
  Value first = firstStore.getValue(), second = secondStore.getValue();
  if (isSameExpression(first, second))
    return success();
  std::optional<InputDim> firstDim = asInputDim(first),
                          secondDim = asInputDim(second);
  auto toSize = [&](Value value,
                    std::optional<InputDim> dim) -> std::optional<int64_t> {
    if (dim)
      return getDim(shapes, *dim);
    return getConstantIntValue(value);
  };
  std::optional<int64_t> a = toSize(first, firstDim),
                         b = toSize(second, secondDim);
  if (!a || !b || (*a != *b && *a >= 0 && *b >= 0))
    return equality.op->emitOpError()
           << "expected " << equality.text
           << " to be the same dimension of the arguments, or constants, but "
              "got sizes that may differ";
  if (*a == *b)
    return success();
  int64_t kept = std::max(*a, *b), gone = std::min(*a, *b);
  for (SmallVector<int64_t> &dims : shapes.inputDims)
    llvm::replace(dims, gone, kept);
  return success();
}

LogicalResult ShapeFunction::readResults(EntryShapes &shapes) {
  // Every dynamic dimension starts with a name of its own.
  int64_t lastName = -1;
  for (Type type : entry.getArgumentTypes()) {
    SmallVector<int64_t> &dims = shapes.inputDims.emplace_back();
    for (int64_t size : cast<RankedTensorType>(type).getShape())
      dims.push_back(ShapedType::isDynamic(size) ? --lastName : size);
  }
  for (Equality &equality : equalities) {
    if (failed(unify(shapes, equality)))
      return failure();
    equality.first.erase();
    equality.second.erase();
  }
  size_t next = 0;
  for (Type type : entry.getResultTypes()) {
    SmallVector<int64_t> &dims = shapes.outputDims.emplace_back();
    for (int64_t size : cast<RankedTensorType>(type).getShape()) {
      Value stored = stores[next++].getValue();
      std::optional<InputDim> source = asInputDim(stored);
      std::optional<int64_t> constant = getConstantIntValue(stored);
      dims.push_back(!ShapedType::isDynamic(size) ? size
                     : source                     ? getDim(shapes, *source)
                     : constant                   ? *constant
                                                  : -1);
    }
  }
  return success();
}

FailureOr<EntryShapes> EntryShapes::compute(func::FuncOp entry, StringRef name,
                                            ArrayRef<Type> memrefTypes) {
  ShapeFunction shape(entry, name, memrefTypes);
  EntryShapes shapes;
  if (failed(shape.simplify()) || failed(shape.readResults(shapes))) {
    shape.function.erase();
    return failure();
  }
  shapes.function = shape.function;
  return shapes;
}
