//===- ProblemBuilder.cpp - planning problems of operations ---------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemBuilder.h"
#include "TableCounts.h"
#include "disco/Dialect/Disco/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::disco;
namespace planning = ::disco::planning;
using planning::FilterCounts;
using planning::Problem;

PsiOrigin mlir::disco::getPsiOrigin(Value psi) {
  PsiOrigin origin;
  while (auto adjoint = psi.getDefiningOp<AdjointOp>()) {
    origin.adjoint = !origin.adjoint;
    psi = adjoint.getPsi();
  }
  origin.definition = psi.getDefiningOp();
  return origin;
}

static disco_dtype getDType(Type type) {
  return type.isF64()   ? DISCO_F64
         : type.isF32() ? DISCO_F32
         : type.isF16() ? DISCO_F16
                        : DISCO_BF16;
}

static void setShape(int64_t (&result)[2], ArrayRef<int64_t> points) {
  result[0] = points[0];
  result[1] = points.size() > 1 ? points[1] : 1;
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

/// Adds the constants that `tables` are; false when one is none.
template <typename Range>
static bool addConstants(Range tables, std::vector<const void *> &identity) {
  for (Value table : tables) {
    Attribute constant = getConstant(table);
    if (!constant)
      return false;
    identity.push_back(constant.getAsOpaquePointer());
  }
  return true;
}

/// What identifies the entries of an operator; empty when only a run knows.
static std::vector<const void *> getIdentity(Operation *definition) {
  if (auto filter = dyn_cast_or_null<FilterOp>(definition))
    return {filter.getFilter().getAsOpaquePointer()};
  auto assemble = dyn_cast_or_null<AssembleOp>(definition);
  if (!assemble)
    return {};
  std::vector<const void *> identity{
      assemble.getFormatAttr().getAsOpaquePointer(),
      assemble.getType().getAsOpaquePointer()};
  if (!addConstants(assemble.getTables(), identity))
    return {};
  return identity;
}

/// The number of taps that the types of tables tell: those of csr, and the
/// entries of each feature of those lists that hold the features one by one.
static std::optional<int64_t> countTaps(AssembleOp op) {
  TableFormat format = op.getFormat();
  if (format != TableFormat::csr && format != TableFormat::coo &&
      format != TableFormat::harmonics_csr)
    return std::nullopt;
  // All lists have the same length, but for the offsets.
  auto type = cast<RankedTensorType>(op.getTables()[1].getType());
  if (type.isDynamicDim(0))
    return std::nullopt;
  int64_t perTap = format == TableFormat::csr ? 1 : op.getType().getNumBasis();
  return llvm::divideCeil(type.getDimSize(0), perTap);
}

/// The same of what is stored: values are [taps, K] in csr and in arcs.
static std::optional<int64_t> countTaps(ContractionOpInterface op) {
  StorageForm form = op.getStorageAttr().getForm();
  if (form != StorageForm::csr && form != StorageForm::arcs)
    return std::nullopt;
  auto type = cast<RankedTensorType>(
      op.getPsiMutable().getAsOperandRange().back().getType());
  if (type.isDynamicDim(0))
    return std::nullopt;
  return type.getDimSize(0);
}

/// What is assumed about an operator known only at run time, of which `taps`
/// may be known. `built` is the operator that its tables describe; the adjoint
/// has as many taps in all.
static FilterCounts assumeCounts(PsiType built, std::optional<int64_t> taps,
                                 bool adjoint) {
  int64_t rows = built.getNumOutputPoints();
  if (built.getStructure() == Structure::sphere) {
    // Longitudes share their taps, in phases where the operator upsamples.
    int64_t nlonIn = built.getInShape()[1], nlonOut = built.getOutShape()[1];
    rows = built.getOutShape()[0] * std::max<int64_t>(nlonOut / nlonIn, 1);
  }
  int64_t degree = built.getDegree()
                       ? built.getDegree()
                       : static_cast<int64_t>(planning::defaultDegree);
  PsiType type = adjoint ? built.getAdjoint() : built;
  int64_t in[2], out[2];
  setShape(in, type.getInShape());
  setShape(out, type.getOutShape());
  return planning::spreadCounts(static_cast<int32_t>(type.getStructure()),
                                type.getNumBasis(), in, out,
                                taps.value_or(degree * rows));
}

FailureOr<FilterCounts> ProblemBuilder::countDefined(Operation *op,
                                                     Operation *definition,
                                                     PsiType built,
                                                     bool adjoint) {
  Key key(getIdentity(definition), adjoint);
  if (key.first.empty()) {
    auto tables = dyn_cast_or_null<AssembleOp>(definition);
    return assumeCounts(built, tables ? countTaps(tables) : std::nullopt,
                        adjoint);
  }
  if (auto found = counts.find(key); found != counts.end())
    return found->second;
  ++numCounted;
  if (auto assemble = dyn_cast<AssembleOp>(definition)) {
    FailureOr<FilterCounts> result = countTables(assemble, adjoint);
    if (failed(result))
      return failure();
    return counts[key] = *result;
  }
  auto filter = cast<FilterOp>(definition);
  ::disco::Result<Problem> problem = planning::makeSphereProblem(
      DISCO_OP_CONTRACT, filter.getFilter().getFilter(), adjoint);
  if (!problem)
    return op->emitOpError() << problem.message();
  return counts[key] = problem->filter;
}

FailureOr<FilterCounts> ProblemBuilder::countStored(ContractionOpInterface op,
                                                    bool adjoint) {
  StorageAttr storage = op.getStorageAttr();
  std::vector<const void *> identity{storage.getAsOpaquePointer()};
  if (!addConstants(op.getPsiMutable().getAsOperandRange(), identity))
    return assumeCounts(storage.getStoredPsi(), countTaps(op),
                        adjoint != storage.getAdjoint());
  Key key(std::move(identity), adjoint);
  if (auto found = counts.find(key); found != counts.end())
    return found->second;
  ++numCounted;
  FailureOr<FilterCounts> result = countStorage(op, adjoint);
  if (failed(result))
    return failure();
  return counts[key] = *result;
}

FailureOr<FilterCounts> ProblemBuilder::count(ContractionOpInterface op,
                                              bool adjoint) {
  if (op.getStorageAttr())
    return countStored(op, adjoint);
  PsiOrigin origin =
      getPsiOrigin(op.getPsiMutable().getAsOperandRange().front());
  PsiType type = op.getPsiType();
  PsiType built = origin.adjoint ? type.getAdjoint() : type;
  return countDefined(op, origin.definition, built, origin.adjoint != adjoint);
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

int32_t mlir::disco::getOpKind(ContractionOpInterface op) {
  return TypeSwitch<Operation *, int32_t>(op)
      .Case([](ContractOp) { return DISCO_OP_CONTRACT; })
      .Case([](ContractSumOp) { return DISCO_OP_CONTRACT_SUM; })
      .Case([](ConvOp) { return DISCO_OP_CONV; })
      .Case([](ConvWeightGradOp) { return DISCO_OP_CONV_WEIGHT_GRAD; });
}

/// Channels, groups, the parameters' type, the epilogue, and what the op
/// permits a kernel to do.
static void readChannels(Problem &problem, ContractionOpInterface op) {
  auto readWeight = [&](RankedTensorType weight, int64_t groups) {
    problem.out_channels = weight.getDimSize(0);
    problem.channels = weight.getDimSize(1) * groups;
    problem.groups = groups;
    problem.parameter_dtype = getDType(weight.getElementType());
  };
  if (auto conv = dyn_cast<ConvOp>(op.getOperation())) {
    readWeight(conv.getWeight().getType(), conv.getGroups());
    if (conv.getBias())
      problem.epilogue |= DISCO_EPILOGUE_BIAS;
    if (conv.getActivation() != Activation::none)
      problem.epilogue |= DISCO_EPILOGUE_ACTIVATION;
    if (conv.getResidual())
      problem.epilogue |= DISCO_EPILOGUE_RESIDUAL;
    problem.precision = static_cast<int32_t>(conv.getPrecision());
    return;
  }
  if (auto grad = dyn_cast<ConvWeightGradOp>(op.getOperation())) {
    readWeight(grad.getWeightGrad().getType(), grad.getGroups());
    problem.precision = static_cast<int32_t>(grad.getPrecision());
    problem.deterministic = grad.getDeterministic();
    if (grad.getBiasGrad())
      problem.epilogue |= DISCO_EPILOGUE_BIAS;
    return;
  }
  // z is nchw, whatever x is packed in.
  auto contract = dyn_cast<ContractOp>(op.getOperation());
  RankedTensorType z =
      contract ? contract.getZ().getType() : op.getActivations().getType();
  problem.channels = problem.out_channels = z.getDimSize(1);
}

FailureOr<Problem> ProblemBuilder::build(ContractionOpInterface op,
                                         int64_t assumedBatch) {
  PsiType type = op.getPsiType();
  Problem problem = planning::makeProblem(getOpKind(op));
  PsiOrigin origin;
  if (!op.getStorageAttr())
    origin = getPsiOrigin(op.getPsiMutable().getAsOperandRange().front());
  if (origin.adjoint && problem.op != DISCO_OP_CONV_WEIGHT_GRAD)
    problem.direction = DISCO_INPUT_GRADIENT;
  problem.structure = static_cast<int32_t>(type.getStructure());
  problem.num_basis = type.getNumBasis();
  setShape(problem.in_shape, type.getInShape());
  setShape(problem.out_shape, type.getOutShape());
  RankedTensorType x = op.getActivations().getType();
  problem.dtype = problem.parameter_dtype = getDType(x.getElementType());
  problem.batch_assumed = x.isDynamicDim(0);
  problem.batch = x.isDynamicDim(0) ? assumedBatch : x.getDimSize(0);
  readChannels(problem, op);
  if (auto plan = op->getAttrOfType<PlanAttr>("plan")) {
    problem.in_layout = static_cast<int32_t>(plan.getInLayout());
    problem.out_layout = static_cast<int32_t>(plan.getOutLayout());
  }
  FailureOr<FilterCounts> filter = count(op, /*adjoint=*/false);
  if (failed(filter))
    return failure();
  problem.filter = *filter;
  if (problem.op == DISCO_OP_CONV_WEIGHT_GRAD) {
    // In the order weight_first it is gy that is filtered.
    filter = count(op, /*adjoint=*/true);
    if (failed(filter))
      return failure();
    problem.adjoint = *filter;
  }
  return problem;
}
