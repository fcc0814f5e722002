//===- PrepareEntries.cpp - disco-prepare-entries -------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryShapes.h"
#include "disco/Transforms/Passes.h"

#include "disco/ABI/disco.h"
#include "disco/Dialect/Disco/Disco.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::disco {
#define GEN_PASS_DEF_PREPAREENTRIESPASS
#include "disco/Transforms/Passes.h.inc"
} // namespace mlir::disco

using namespace mlir;
using namespace mlir::disco;

/// Whether an artifact can pass a tensor of `type`.
static LogicalResult checkTensor(func::FuncOp function, StringRef kind,
                                 unsigned index, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return function.emitOpError() << "expected " << kind << " " << index
                                  << " to be a ranked tensor, but got " << type;
  Type element = tensor.getElementType();
  bool isKnown =
      isa<Float64Type, Float32Type, Float16Type, BFloat16Type>(element) ||
      element.isSignlessInteger(32) || element.isSignlessInteger(64);
  if (!isKnown)
    return function.emitOpError()
           << "expected the elements of " << kind << " " << index
           << " to be f64, f32, f16, bf16, i32 or i64, but got " << element;
  if (tensor.getRank() > DISCO_MAX_RANK)
    return function.emitOpError()
           << "expected " << kind << " " << index << " to have rank at most "
           << DISCO_MAX_RANK << ", but got " << tensor.getRank();
  return success();
}

static LogicalResult checkEntry(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError()
           << "expected the body of an entry to be one block, but got "
           << function.getBody().getBlocks().size();
  struct Side {
    StringRef kind;
    ArrayRef<Type> types;
  };
  for (const Side &side : {Side{"argument", function.getArgumentTypes()},
                           Side{"result", function.getResultTypes()}}) {
    if (side.types.size() > DISCO_MAX_TENSORS)
      return function.emitOpError()
             << "expected at most " << DISCO_MAX_TENSORS << " " << side.kind
             << "s, but got " << side.types.size();
    for (auto [index, type] : llvm::enumerate(side.types))
      if (failed(checkTensor(function, side.kind, index, type)))
        return failure();
  }
  WalkResult calls = function.walk([](CallOpInterface call) {
    call->emitOpError() << "expected calls to be inlined, but got a call that "
                           "cannot be (recursive, or of a declaration)";
    return WalkResult::interrupt();
  });
  return failure(calls.wasInterrupted());
}

/// How the operations of `function` are run, for people.
static std::string describePlan(func::FuncOp function) {
  std::string text;
  llvm::raw_string_ostream os(text);
  function.walk([&](ContractionOpInterface op) {
    auto plan = op->getAttrOfType<PlanAttr>("plan");
    os << (text.empty() ? "" : "; ") << op->getName().stripDialect() << ": "
       << (plan ? plan.getFamily() : "loops");
    if (isa<ConvOp>(op))
      os << ", "
         << stringifyOrder(plan ? plan.getOrder() : Order::filter_first);
  });
  return text;
}

static MemRefType getBufferType(RankedTensorType type, bool strided) {
  if (!strided)
    return MemRefType::get(type.getShape(), type.getElementType());
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  return MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides));
}

static SmallVector<Type> getBufferTypes(TypeRange types, bool strided) {
  return llvm::map_to_vector(types, [&](Type type) -> Type {
    return getBufferType(cast<RankedTensorType>(type), strided);
  });
}

/// Arguments become memrefs, `numInputs` of them, read through to_tensor.
static void convertInputs(func::FuncOp function, bool strided) {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  for (BlockArgument argument : function.getArguments()) {
    Type tensorType = argument.getType();
    argument.setType(
        getBufferType(cast<RankedTensorType>(tensorType), strided));
    auto tensor = bufferization::ToTensorOp::create(
        builder, argument.getLoc(), tensorType, argument, /*restrict=*/true);
    argument.replaceAllUsesExcept(tensor, tensor);
  }
}

/// Results become memref arguments, written at the end; the status is the only
/// result.
static void convertOutputs(func::FuncOp function, bool strided) {
  Operation *terminator = function.front().getTerminator();
  OpBuilder builder(terminator);
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    auto type = cast<RankedTensorType>(value.getType());
    BlockArgument out = function.front().addArgument(
        getBufferType(type, strided), value.getLoc());
    bufferization::MaterializeInDestinationOp::create(
        builder, terminator->getLoc(), TypeRange(), value, out,
        /*restrict=*/true, /*writable=*/true);
  }
  Value status =
      arith::ConstantIntOp::create(builder, terminator->getLoc(), DISCO_OK, 32);
  terminator->setOperands(status);
}

/// An array of types, or of arrays of dimensions.
static ArrayAttr toAttr(Builder &builder, ArrayRef<SmallVector<int64_t>> dims) {
  return builder.getArrayAttr(
      llvm::map_to_vector(dims, [&](ArrayRef<int64_t> list) -> Attribute {
        return builder.getDenseI64ArrayAttr(list);
      }));
}

static LogicalResult prepare(func::FuncOp function, SymbolTable &symbols,
                             bool strided) {
  if (function.getName().contains('\0'))
    return function.emitOpError()
           << "expected the name of an entry to have no NUL character, but got "
              "one at "
           << function.getName().find('\0');
  std::string shapesName = (function.getName() + kOutputShapesSuffix).str();
  for (StringRef suffix :
       {kOutputShapesSuffix, kWorkspaceBytesSuffix, kCheckTablesSuffix}) {
    std::string name = (function.getName() + suffix).str();
    if (Operation *other = symbols.lookup(name)) {
      InFlightDiagnostic diag = function.emitOpError()
                                << "expected the name @" << name
                                << " to be free for this entry, but got "
                                   "another symbol of that name";
      diag.attachNote(other->getLoc()) << "which is here";
      return failure();
    }
  }
  FailureOr<EntryShapes> shapes = EntryShapes::compute(
      function, shapesName,
      getBufferTypes(function.getArgumentTypes(), strided));
  if (failed(shapes))
    return failure();
  symbols.insert(shapes->function);

  Builder builder(function.getContext());
  SmallVector<NamedAttribute> entry{
      {builder.getStringAttr("inputs"),
       builder.getTypeArrayAttr(function.getArgumentTypes())},
      {builder.getStringAttr("outputs"),
       builder.getTypeArrayAttr(function.getResultTypes())},
      {builder.getStringAttr("input_dims"), toAttr(builder, shapes->inputDims)},
      {builder.getStringAttr("output_dims"),
       toAttr(builder, shapes->outputDims)},
      {builder.getStringAttr("plan"),
       builder.getStringAttr(describePlan(function))},
  };
  if (strided)
    entry.emplace_back(builder.getStringAttr("strided"), builder.getUnitAttr());
  convertInputs(function, strided);
  convertOutputs(function, strided);
  function.setType(builder.getFunctionType(function.front().getArgumentTypes(),
                                           builder.getI32Type()));
  function.setAllResultAttrs(ArrayRef<DictionaryAttr>());
  function.setAllArgAttrs(SmallVector<DictionaryAttr>(
      function.getNumArguments(), builder.getDictionaryAttr({})));
  function->setAttr(kEntryAttr, builder.getDictionaryAttr(entry));
  return success();
}

namespace {
struct PrepareEntriesPass
    : public mlir::disco::impl::PrepareEntriesPassBase<PrepareEntriesPass> {
  using PrepareEntriesPassBase::PrepareEntriesPassBase;
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic() && !function.isDeclaration())
        functions.push_back(function);
    for (func::FuncOp function : functions)
      if (failed(checkEntry(function)) ||
          failed(prepare(function, symbols, strided)))
        return signalPassFailure();
  }
};
} // namespace
