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
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/EquivalenceClasses.h"

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
  void cloneBody(ArrayRef<Type> types);
  std::optional<InputDim> asInputDim(Value size);

  func::FuncOp entry;
  SmallVector<Value> results; // of the cloned body

  SmallVector<memref::StoreOp> stores;
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
    builder.clone(op, mapping);
  for (Value result : entry.front().getTerminator()->getOperands())
    results.push_back(mapping.lookup(result));

  int64_t next = 0;
  for (Value result : results) {
    int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
    for (int64_t dim = 0; dim < rank; ++dim, ++next) {
      Value size = tensor::DimOp::create(builder, loc, result, dim);
      size =
          arith::IndexCastOp::create(builder, loc, builder.getI64Type(), size);
      Value at = arith::ConstantIndexOp::create(builder, loc, next);
      stores.push_back(memref::StoreOp::create(
          builder, loc, size, function.getArguments().back(), at));
    }
  }
  func::ReturnOp::create(builder, loc);
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

LogicalResult ShapeFunction::readResults(EntryShapes &shapes) {
  for (Type type : entry.getArgumentTypes()) {
    SmallVector<int64_t> &dims = shapes.inputDims.emplace_back();
    for (int64_t size : cast<RankedTensorType>(type).getShape())
      dims.push_back(ShapedType::isDynamic(size) ? -1 : size);
  }
  int64_t lastName = -1;
  size_t next = 0;
  for (Type type : entry.getResultTypes()) {
    SmallVector<int64_t> &dims = shapes.outputDims.emplace_back();
    for (int64_t size : cast<RankedTensorType>(type).getShape()) {
      Value stored = stores[next++].getValue();
      if (!ShapedType::isDynamic(size)) {
        dims.push_back(size);
        continue;
      }
      int64_t dim = -1;
      if (std::optional<InputDim> source = asInputDim(stored)) {
        int64_t &name = shapes.inputDims[source->first][source->second];
        if (name == -1)
          name = --lastName;
        dim = name;
      }
      dims.push_back(dim);
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
