//===- CheckTables.cpp - disco-check-tables -------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An index out of range reads or writes memory that belongs to others, and
// tables that are arguments may hold anything.
//
//===----------------------------------------------------------------------===//

#include "disco/Dialect/Disco/Disco.h"
#include "disco/Dialect/Disco/Matchers.h"
#include "disco/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::disco {
#define GEN_PASS_DEF_CHECKTABLESPASS
#include "disco/Transforms/Passes.h.inc"
} // namespace mlir::disco

using namespace mlir;
using namespace mlir::disco;

namespace {

/// A table that is an argument, and what has to hold for its elements: they are
/// in [0, bound), or, for offsets, ascend from 0 to the number of `columns`.
/// Where the element of `index` is `none`, anything goes.
struct Check {
  unsigned input;
  int64_t bound = 0;
  std::optional<unsigned> columns, index;
  int64_t none = 0;
  std::string message; // with two %lld, for position and element
};

/// The first element that is wrong: its position, or -1, and its value; and the
/// element before the one that is looked at (offsets).
using State = SmallVector<Value>;

class CheckEmitter {
public:
  CheckEmitter(OpBuilder &builder, func::FuncOp function)
      : builder(builder), loc(function.getLoc()), function(function) {}
  /// Emits all checks and stores (number of the check or -1, position,
  /// element).
  void emit(ArrayRef<Check> checks);

private:
  State emitCheck(const Check &check);
  Value isWrong(const Check &check, ValueRange at, Value position,
                Value element, Value previous);
  Value load(unsigned input, ValueRange at);
  Value number(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 64);
  }
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  Value dim(unsigned input, int64_t dim) {
    return memref::DimOp::create(builder, loc, function.getArgument(input),
                                 dim);
  }
  Value toNumber(Value index) {
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                      index);
  }

  OpBuilder &builder;
  Location loc;
  func::FuncOp function;
};

} // namespace

Value CheckEmitter::load(unsigned input, ValueRange at) {
  Value element =
      memref::LoadOp::create(builder, loc, function.getArgument(input), at);
  if (element.getType().isInteger(64))
    return element;
  return arith::ExtSIOp::create(builder, loc, builder.getI64Type(), element);
}

Value CheckEmitter::isWrong(const Check &check, ValueRange at, Value position,
                            Value element, Value previous) {
  using Predicate = arith::CmpIPredicate;
  auto either = [&](Value a, Value b) -> Value {
    return arith::OrIOp::create(builder, loc, a, b);
  };
  if (!check.columns) {
    // Negative elements are large as unsigned ones.
    Value wrong = compare(Predicate::uge, element, number(check.bound));
    if (!check.index)
      return wrong;
    Value used =
        compare(Predicate::ne, load(*check.index, at), number(check.none));
    return arith::AndIOp::create(builder, loc, wrong, used);
  }
  Value taps = toNumber(dim(*check.columns, 0));
  Value last = arith::SubIOp::create(builder, loc,
                                     toNumber(dim(check.input, 0)), number(1));
  Value isFirst = compare(Predicate::eq, position, number(0));
  Value isLast = compare(Predicate::eq, position, last);
  Value notZero = compare(Predicate::ne, element, number(0));
  Value notTaps = compare(Predicate::ne, element, taps);
  Value descends = compare(Predicate::slt, element, previous);
  Value beyond = compare(Predicate::sgt, element, taps);
  Value ends = either(arith::AndIOp::create(builder, loc, isFirst, notZero),
                      arith::AndIOp::create(builder, loc, isLast, notTaps));
  return either(ends, either(descends, beyond));
}

State CheckEmitter::emitCheck(const Check &check) {
  auto type = cast<MemRefType>(function.getArgument(check.input).getType());
  SmallVector<Value> at;
  std::function<State(State)> loops = [&](State state) -> State {
    if (static_cast<int64_t>(at.size()) == type.getRank()) {
      Value position = number(0);
      for (auto [i, one] : llvm::enumerate(at)) {
        position = arith::MulIOp::create(builder, loc, position,
                                         toNumber(dim(check.input, i)));
        position = arith::AddIOp::create(builder, loc, position, toNumber(one));
      }
      Value element = load(check.input, at);
      Value wrong = isWrong(check, at, position, element, state[2]);
      Value isFirst = compare(arith::CmpIPredicate::slt, state[0], number(0));
      Value found = arith::AndIOp::create(builder, loc, wrong, isFirst);
      return {select(found, position, state[0]),
              select(found, element, state[1]), element};
    }
    Value upper = dim(check.input, at.size());
    auto loop = scf::ForOp::create(
        builder, loc, index(0), upper, index(1), state,
        [&](OpBuilder &inner, Location, Value i, ValueRange arguments) {
          OpBuilder::InsertionGuard guard(builder);
          builder.restoreInsertionPoint(inner.saveInsertionPoint());
          at.push_back(i);
          State next = loops(State(arguments));
          scf::YieldOp::create(builder, loc, next);
          inner.restoreInsertionPoint(builder.saveInsertionPoint());
          at.pop_back();
        });
    return State(loop.getResults());
  };
  return loops({number(-1), number(0), number(0)});
}

void CheckEmitter::emit(ArrayRef<Check> checks) {
  Value failed = number(-1), position = number(-1), element = number(0);
  for (auto [i, check] : llvm::enumerate(checks)) {
    State state = emitCheck(check);
    Value isFirst = compare(arith::CmpIPredicate::slt, failed, number(0));
    Value isWrong = compare(arith::CmpIPredicate::sge, state[0], number(0));
    Value found = arith::AndIOp::create(builder, loc, isFirst, isWrong);
    failed = select(found, number(i), failed);
    position = select(found, state[0], position);
    element = select(found, state[1], element);
  }
  Value result = function.getArguments().back();
  const Value values[] = {failed, position, element};
  for (auto [i, value] : llvm::enumerate(values))
    memref::StoreOp::create(builder, loc, value, result,
                            index(static_cast<int64_t>(i)));
}

/// The input that `table` is, as it is.
static std::optional<unsigned> getInput(func::FuncOp entry, Value table) {
  if (auto tensor = table.getDefiningOp<bufferization::ToTensorOp>())
    table = tensor.getBuffer();
  auto argument = dyn_cast<BlockArgument>(table);
  if (!argument || argument.getOwner() != &entry.front())
    return std::nullopt;
  return argument.getArgNumber();
}

static std::string describe(StringRef name, unsigned input,
                            const Twine &expected) {
  return ("expected " + name + " %lld of input " + Twine(input) + " to " +
          expected + ", but got %lld")
      .str();
}

/// Every index table is a constant, which is checked when it is materialised,
/// or an argument, which can be checked before anything is run.
static LogicalResult verifyCheckable(func::FuncOp entry, AssembleOp op) {
  unsigned numArguments = 0, numTables = 0;
  for (auto [number, table] : llvm::enumerate(op.getTables())) {
    auto type = cast<RankedTensorType>(table.getType());
    if (!isa<IntegerType>(type.getElementType()))
      continue;
    ++numTables;
    if (getInput(entry, table)) {
      ++numArguments;
      continue;
    }
    if (getConstant(table))
      continue;
    InFlightDiagnostic diag = op.emitOpError()
                              << "expected index table " << number
                              << " to be a constant or an argument of the "
                                 "entry, whose elements can be checked, but "
                                 "got ";
    if (Operation *definition = table.getDefiningOp())
      return diag << "a result of '" << definition->getName() << "'";
    return diag << "a block argument";
  }
  if (op.getFormat() == TableFormat::csr && numArguments != 0 &&
      numArguments != numTables)
    return op.emitOpError() << "expected row offsets and columns to be both "
                               "constants or both arguments of the entry, but "
                               "got one of each";
  return success();
}

static void collectChecks(func::FuncOp entry, AssembleOp op,
                          SmallVectorImpl<Check> &checks) {
  PsiType psi = op.getType();
  auto input = [&](unsigned table) {
    return getInput(entry, op.getTables()[table]);
  };
  auto addRange = [&](unsigned table, StringRef name,
                      int64_t bound) -> Check * {
    std::optional<unsigned> at = input(table);
    if (!at)
      return nullptr;
    Check &check = checks.emplace_back();
    check.input = *at;
    check.bound = bound;
    check.message = describe(name, *at, "be in [0, " + Twine(bound) + ")");
    return &check;
  };
  switch (op.getFormat()) {
  case TableFormat::csr: {
    std::optional<unsigned> offsets = input(0), columns = input(1);
    if (offsets && columns) {
      Check &check = checks.emplace_back();
      check.input = *offsets;
      check.columns = columns;
      check.message = describe("row offset", *offsets,
                               "ascend from 0 to the number of taps");
    }
    addRange(1, "column", psi.getNumInputPoints());
    return;
  }
  case TableFormat::knn:
    addRange(0, "index", psi.getNumInputPoints() + 1);
    return;
  case TableFormat::knn_onehot:
    addRange(0, "index", psi.getNumInputPoints() + 1);
    if (Check *check = addRange(1, "bin", psi.getNumBasis())) {
      check->index = input(0);
      check->none = psi.getNumInputPoints();
    }
    return;
  case TableFormat::harmonics_csr:
  case TableFormat::coo:
  case TableFormat::kpacked:
    return; // constants, checked when they are evaluated
  }
}

static LogicalResult addChecks(func::FuncOp entry) {
  SmallVector<Check> checks;
  WalkResult walked = entry.walk([&](AssembleOp op) {
    if (op.getType().getStructure() == Structure::sphere)
      return WalkResult::advance(); // constants only
    if (failed(verifyCheckable(entry, op)))
      return WalkResult::interrupt();
    collectChecks(entry, op, checks);
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  if (checks.empty())
    return success();
  OpBuilder builder(entry.getContext());
  auto info = entry->getAttrOfType<DictionaryAttr>(kEntryAttr);
  size_t numInputs = info.getAs<ArrayAttr>("inputs").size();
  SmallVector<Type> arguments(entry.getArgumentTypes().take_front(numInputs));
  arguments.push_back(MemRefType::get({3}, builder.getI64Type()));
  builder.setInsertionPointAfter(entry);
  auto function = func::FuncOp::create(
      builder, entry.getLoc(), (entry.getName() + kCheckTablesSuffix).str(),
      builder.getFunctionType(arguments, TypeRange()));
  builder.setInsertionPointToStart(function.addEntryBlock());
  CheckEmitter(builder, function).emit(checks);
  func::ReturnOp::create(builder, entry.getLoc());

  NamedAttrList attributes(info);
  attributes.set("checks", builder.getStrArrayAttr(llvm::map_to_vector(
                               checks, [](const Check &check) -> StringRef {
                                 return check.message;
                               })));
  entry->setAttr(kEntryAttr, attributes.getDictionary(entry.getContext()));
  return success();
}

namespace {
struct CheckTablesPass
    : public mlir::disco::impl::CheckTablesPassBase<CheckTablesPass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> entries;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(kEntryAttr))
        entries.push_back(function);
    for (func::FuncOp entry : entries)
      if (failed(addChecks(entry)))
        return signalPassFailure();
  }
};
} // namespace
