//===- MaterializeFilters.cpp - disco-materialize-filters -----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"
#include "disco/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace mlir::disco {
#define GEN_PASS_DEF_MATERIALIZEFILTERSPASS
#include "disco/Transforms/Passes.h.inc"
} // namespace mlir::disco

using namespace mlir;
using namespace mlir::disco;
namespace filter = ::disco::filter;

namespace {

/// The operator behind a chain of adjoints.
struct PsiSource {
  Operation *definition = nullptr;
  bool adjoint = false;

  /// Equal filters are one source, whichever op holds them.
  const void *getKey() const {
    if (auto op = dyn_cast<FilterOp>(definition))
      return op.getFilter().getAsOpaquePointer();
    return definition;
  }
};

class Materializer {
public:
  /// Replaces the psi of `op` by tensors.
  LogicalResult materialize(ContractionOpInterface op);

  uint64_t numEvaluated = 0, numBytes = 0;

private:
  FailureOr<const StoredPsi *> getStored(const PsiSource &source);
  FailureOr<filter::SphereOperator> evaluate(Operation *definition);
  Value getTensor(const StoredTensor &tensor, Type element, Operation *user);
  Value castValues(Value values, Type element);

  std::map<std::pair<const void *, bool>, StoredPsi> stored;
  std::map<const void *, filter::SphereOperator> spheres;
  /// Constants by what they hold, where they are, and their element type.
  std::map<std::tuple<const void *, Region *, const void *>, Value> constants;
  /// Rounded run-time values by (values, element type).
  std::map<std::pair<const void *, const void *>, Value> casts;
};

} // namespace

static FailureOr<PsiSource> findSource(ContractionOpInterface op) {
  PsiSource source;
  Value psi = op.getPsiMutable().getAsOperandRange().front();
  while (auto adjoint = psi.getDefiningOp<AdjointOp>()) {
    source.adjoint = !source.adjoint;
    psi = adjoint.getPsi();
  }
  source.definition = psi.getDefiningOp();
  if (source.definition && isa<FilterOp, AssembleOp>(source.definition))
    return source;
  InFlightDiagnostic diag = op->emitOpError()
                            << "expected psi to be the result of disco.filter, "
                               "disco.assemble or disco.adjoint, but got ";
  if (source.definition)
    diag << "a result of '" << source.definition->getName() << "'";
  else
    diag << "a block argument";
  return failure();
}

FailureOr<filter::SphereOperator>
Materializer::evaluate(Operation *definition) {
  ++numEvaluated;
  if (auto op = dyn_cast<AssembleOp>(definition))
    return assembleSphere(op);
  auto op = cast<FilterOp>(definition);
  ::disco::Result<filter::SphereOperator> sphere =
      filter::buildOperator(op.getFilter().getFilter());
  if (!sphere)
    return op.emitOpError() << sphere.message();
  return std::move(*sphere);
}

FailureOr<const StoredPsi *> Materializer::getStored(const PsiSource &source) {
  std::pair key(source.getKey(), source.adjoint);
  auto found = stored.find(key);
  if (found != stored.end())
    return &found->second;
  auto assemble = dyn_cast<AssembleOp>(source.definition);
  if (assemble && assemble.getType().getStructure() != Structure::sphere) {
    FailureOr<StoredPsi> tables = assembleTables(assemble);
    if (failed(tables))
      return failure();
    return &(stored[key] = std::move(*tables));
  }
  auto sphere = spheres.find(key.first);
  if (sphere == spheres.end()) {
    FailureOr<filter::SphereOperator> op = evaluate(source.definition);
    if (failed(op))
      return failure();
    sphere = spheres.emplace(key.first, std::move(*op)).first;
  }
  return &(stored[key] =
               storeSphere(source.adjoint ? filter::adjoint(sphere->second)
                                          : sphere->second));
}

/// `values` rounded to `element` when run.
Value Materializer::castValues(Value values, Type element) {
  auto type = cast<RankedTensorType>(values.getType());
  if (type.getElementType() == element)
    return values;
  Value &result =
      casts[{values.getAsOpaquePointer(), element.getAsOpaquePointer()}];
  if (result)
    return result;
  OpBuilder builder(values.getContext());
  builder.setInsertionPointAfterValue(values);
  Location loc = values.getLoc();
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, values), element);
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange{empty.getType()}, ValueRange{values},
      ValueRange{empty}, ArrayRef<AffineMap>{identity, identity}, iterators,
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        unsigned from = args[0].getType().getIntOrFloatBitWidth();
        unsigned to = element.getIntOrFloatBitWidth();
        Value value = args[0];
        if (from == to) { // f16 and bf16
          value = arith::ExtFOp::create(inner, loc, inner.getF32Type(), value);
          from = 32;
        }
        if (from < to)
          value = arith::ExtFOp::create(inner, loc, element, value);
        else
          value = arith::TruncFOp::create(inner, loc, element, value);
        linalg::YieldOp::create(inner, loc, value);
      });
  return result = generic.getResult(0);
}

Value Materializer::getTensor(const StoredTensor &tensor, Type element,
                              Operation *user) {
  if (!tensor.constant)
    return isa<FloatType>(
               cast<RankedTensorType>(tensor.value.getType()).getElementType())
               ? castValues(tensor.value, element)
               : tensor.value;
  // The outermost region: constants dominate everything in the function.
  Region *region = user->getParentRegion();
  while (!isa<FunctionOpInterface, ModuleOp>(region->getParentOp()))
    region = region->getParentRegion();
  if (!tensor.constant->isFloat)
    element = IntegerType::get(user->getContext(), 32);
  Value &constant = constants[{&tensor, region, element.getAsOpaquePointer()}];
  if (!constant) {
    OpBuilder builder(region);
    builder.setInsertionPointToStart(&region->front());
    constant = arith::ConstantOp::create(
        builder, user->getLoc(),
        makeConstant(*tensor.constant, element, numBytes));
  }
  return constant;
}

LogicalResult Materializer::materialize(ContractionOpInterface op) {
  FailureOr<PsiSource> source = findSource(op);
  if (failed(source))
    return failure();
  // A weight gradient with the weight first filters gy with the adjoint.
  auto plan = op->getAttrOfType<PlanAttr>("plan");
  bool filtersGradient = isa<ConvWeightGradOp>(op) && plan &&
                         plan.getOrder() == Order::weight_first;
  bool isSphere = op.getPsiType().getStructure() == Structure::sphere;
  if (filtersGradient && isSphere)
    source->adjoint = !source->adjoint;
  FailureOr<const StoredPsi *> psi = getStored(*source);
  if (failed(psi))
    return failure();
  PsiType type = op.getPsiType();
  Type element = op.getActivations().getType().getElementType();
  bool adjoint = isSphere ? filtersGradient : source->adjoint;
  SmallVector<Value> tensors;
  for (const StoredTensor &tensor : (*psi)->tensors)
    tensors.push_back(getTensor(tensor, element, op));
  op.setStorageAttr(
      StorageAttr::get(op.getContext(), (*psi)->form, type, adjoint));
  op.getPsiMutable().assign(tensors);
  return success();
}

static bool isPsi(Type type) { return isa<PsiType>(type); }

/// Erases operators that nothing uses any more, then looks for psi that is
/// left, which no later pass can handle.
static LogicalResult checkNothingLeft(ModuleOp module) {
  SmallVector<Operation *> dead;
  module.walk<WalkOrder::PostOrder>([&](Operation *op) {
    if (isa<FilterOp, AssembleOp, AdjointOp>(op))
      dead.push_back(op);
  });
  for (Operation *op : llvm::reverse(dead))
    if (op->use_empty())
      op->erase();
  WalkResult result = module.walk([](Operation *op) {
    if (auto function = dyn_cast<FunctionOpInterface>(op)) {
      for (ArrayRef<Type> types :
           {function.getArgumentTypes(), function.getResultTypes()})
        for (Type type : types)
          if (isPsi(type)) {
            op->emitOpError()
                << "expected a function to have no psi among its arguments "
                   "and results, but got "
                << type;
            return WalkResult::interrupt();
          }
      return WalkResult::advance();
    }
    auto found = llvm::find_if(op->getOperandTypes(), isPsi);
    if (found != op->operand_type_end() && !isa<AdjointOp>(op)) {
      op->emitOpError() << "expected psi to be used by disco operations only, "
                           "but got an operand "
                        << *found;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct MaterializeFiltersPass
    : public mlir::disco::impl::MaterializeFiltersPassBase<
          MaterializeFiltersPass> {
  void runOnOperation() override {
    Materializer materializer;
    SmallVector<ContractionOpInterface> ops;
    getOperation().walk([&](ContractionOpInterface op) {
      if (!op.getStorageAttr())
        ops.push_back(op);
    });
    for (ContractionOpInterface op : ops)
      if (failed(materializer.materialize(op)))
        return signalPassFailure();
    numEvaluated += materializer.numEvaluated;
    numBytes += materializer.numBytes;
    if (failed(checkNothingLeft(getOperation())))
      signalPassFailure();
  }
};
} // namespace
