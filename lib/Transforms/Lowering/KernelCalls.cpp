//===- KernelCalls.cpp - contractions as calls of kernels -----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelCalls.h"

#include "../Materialize/HostTensor.h"
#include "PsiTaps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::disco;

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}
static Type elementOf(Value tensor) { return typeOf(tensor).getElementType(); }

/// `tensor` with its elements converted: floats rounded once, or integers.
static Value convertElements(OpBuilder &builder, Location loc, Value tensor,
                             Type element) {
  RankedTensorType type = typeOf(tensor);
  if (type.getElementType() == element)
    return tensor;
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, tensor), element);
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange{empty.getType()}, ValueRange{tensor},
      ValueRange{empty}, ArrayRef<AffineMap>{identity, identity}, iterators,
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        Value value =
            isa<FloatType>(element)
                ? convertFloat(inner, loc, args[0], element)
                : arith::ExtSIOp::create(inner, loc, element, args[0]);
        linalg::YieldOp::create(inner, loc, value);
      });
  return generic.getResult(0);
}

/// The weight [C, O/G, K] of which `weight`, [O, C/G, K], is the transpose
/// within each group:
///
///   G = 1:  linalg.transpose [1, 0, 2]
///   else:   expand [G, C/G, O/G, K], transpose [0, 2, 1, 3], collapse
static Value getTransposed(Value weight, int64_t groups) {
  auto getInput = [](Value value, ArrayRef<int64_t> permutation) -> Value {
    auto op = value.getDefiningOp<linalg::TransposeOp>();
    return op && op.getPermutation() == permutation ? op.getInput() : Value();
  };
  if (groups == 1)
    return getInput(weight, {1, 0, 2});
  auto collapse = weight.getDefiningOp<tensor::CollapseShapeOp>();
  if (!collapse || collapse.getSrcType().getRank() != 4 ||
      collapse.getSrcType().getDimSize(0) != groups ||
      typeOf(weight).getDimSize(1) != collapse.getSrcType().getDimSize(2))
    return {};
  Value input = getInput(collapse.getSrc(), {0, 2, 1, 3});
  auto expand = input ? input.getDefiningOp<tensor::ExpandShapeOp>() : nullptr;
  if (!expand || expand.getSrcType().getRank() != 3 ||
      expand.getSrcType().getDimSize(1) != expand.getResultType().getDimSize(2))
    return {};
  return expand.getSrc();
}

namespace {

class CallBuilder {
public:
  CallBuilder(OpBuilder &builder, ContractionOpInterface op)
      : builder(builder), op(op), loc(op.getLoc()),
        plan(op->getAttrOfType<PlanAttr>("plan")),
        storage(op.getStorageAttr()) {}

  SmallVector<Value> emit();

private:
  void readOperands();
  void readConv(ConvOp conv);
  void readWeightGrad(ConvWeightGradOp grad);
  void readPsi();
  KernelCallAttr makeCall();
  Value emptyResult(Value result, Type element);
  Value batchSize();

  /// The type in which a kernel reads or writes a weight and maybe a bias, each
  /// of which has the type of x or f32: kernels know one for both.
  Type getParameterType(Value weight, Value bias) {
    Type type = elementOf(x);
    if (type.isF64() ||
        (elementOf(weight) == type && (!bias || elementOf(bias) == type)))
      return type;
    return builder.getF32Type();
  }

  UnitAttr flag(bool value) {
    return value ? builder.getUnitAttr() : UnitAttr();
  }

  OpBuilder &builder;
  ContractionOpInterface op;
  Location loc;
  PlanAttr plan;
  StorageAttr storage; // of the operator that the kernel applies

  KernelKind kind = KernelKind::contract;
  Value x, gy, weight, bias, residual;
  SmallVector<Value> psi;
  Type parameters; // null without
  int64_t channels = 0, outChannels = 0, groups = 1;
  Activation activation = Activation::none;
  bool hasBias = false, isTransposed = false;
  int64_t numArcs = 0, numTaps = 0;
};

} // namespace

void CallBuilder::readConv(ConvOp conv) {
  kind = KernelKind::conv;
  x = conv.getX();
  weight = conv.getWeight();
  bias = conv.getBias();
  residual = conv.getResidual();
  groups = conv.getGroups();
  activation = conv.getActivation();
  channels = typeOf(weight).getDimSize(1) * groups;
  outChannels = typeOf(weight).getDimSize(0);
  hasBias = static_cast<bool>(bias);
  if (Value original = getTransposed(weight, groups)) {
    weight = original;
    isTransposed = true;
  }
  parameters = getParameterType(weight, bias);
  weight = convertElements(builder, loc, weight, parameters);
  if (bias)
    bias = convertElements(builder, loc, bias, parameters);
}

void CallBuilder::readWeightGrad(ConvWeightGradOp grad) {
  kind = KernelKind::conv_weight_grad;
  x = grad.getX();
  gy = grad.getGy();
  groups = grad.getGroups();
  channels = typeOf(grad.getWeightGrad()).getDimSize(1) * groups;
  outChannels = typeOf(grad.getWeightGrad()).getDimSize(0);
  hasBias = static_cast<bool>(grad.getBiasGrad());
  parameters = getParameterType(grad.getWeightGrad(), grad.getBiasGrad());
  // With the weight first the kernel filters gy with the adjoint.
  if (plan.getOrder() == Order::weight_first)
    storage =
        StorageAttr::get(storage.getContext(), storage.getForm(),
                         storage.getPsi().getAdjoint(), !storage.getAdjoint());
}

void CallBuilder::readPsi() {
  llvm::append_range(psi, op.getPsiMutable().getAsOperandRange());
  bool hasOffsets = storage.getNumTensors() == 3;
  // Offsets, or bins, have the type of the indices.
  Value &other =
      storage.getForm() == StorageForm::onehot ? psi.back() : psi.front();
  Value &indices = psi[hasOffsets ? 1 : 0];
  Type wide =
      elementOf(indices).isInteger(64) ? elementOf(indices) : elementOf(other);
  if (isa<FloatType>(wide))
    wide = elementOf(indices);
  indices = convertElements(builder, loc, indices, wide);
  if (isa<IntegerType>(elementOf(other)))
    other = convertElements(builder, loc, other, wide);
  if (!hasOffsets)
    return;
  // An operator without taps has tables of one element, which none refers to.
  std::optional<HostTensor> offsets = readConstant(psi.front());
  int64_t last = offsets ? offsets->indices.back() : -1;
  if (storage.getForm() == StorageForm::arcs) {
    numArcs = last >= 0 ? last : typeOf(indices).getDimSize(0);
    numTaps = typeOf(psi.back()).getDimSize(0);
    return;
  }
  int64_t size = typeOf(indices).getDimSize(0);
  numTaps = last >= 0 ? last : ShapedType::isDynamic(size) ? -1 : size;
}

void CallBuilder::readOperands() {
  TypeSwitch<Operation *>(op)
      .Case([&](ContractOp contract) {
        kind = KernelKind::contract;
        x = contract.getX();
        // x may be packed, z never is.
        channels = typeOf(contract.getResult()).getDimSize(1);
      })
      .Case([&](ContractSumOp sum) {
        kind = KernelKind::contract_sum;
        x = sum.getZ();
        channels = typeOf(x).getDimSize(1);
      })
      .Case([&](ConvOp conv) { readConv(conv); })
      .Case([&](ConvWeightGradOp grad) { readWeightGrad(grad); });
  readPsi();
}

KernelCallAttr CallBuilder::makeCall() {
  bool hasOffsets = storage.getNumTensors() == 3;
  Type values =
      storage.getForm() == StorageForm::onehot ? Type() : elementOf(psi.back());
  return KernelCallAttr::get(
      builder.getContext(), kind, elementOf(x), parameters, channels,
      outChannels, groups, activation, flag(hasBias),
      flag(static_cast<bool>(residual)), flag(isTransposed), storage,
      elementOf(psi[hasOffsets ? 1 : 0]), values, numArcs, numTaps, plan);
}

/// A tensor of the shape of `result`, with the batch of x where that is static
/// or the result's is not.
Value CallBuilder::emptyResult(Value result, Type element) {
  RankedTensorType type = typeOf(result);
  SmallVector<OpFoldResult> sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(ShapedType::isDynamic(size)
                        ? tensor::getMixedSize(builder, loc, x, 0)
                        : OpFoldResult(builder.getIndexAttr(size)));
  return tensor::EmptyOp::create(builder, loc, sizes, element);
}

Value CallBuilder::batchSize() {
  return getValueOrCreateConstantIndexOp(
      builder, loc, tensor::getMixedSize(builder, loc, x, 0));
}

SmallVector<Value> CallBuilder::emit() {
  readOperands();
  KernelCallAttr call = makeCall();
  bool isGradient = kind == KernelKind::conv_weight_grad;
  SmallVector<Value> outs;
  for (Value result : op->getResults())
    outs.push_back(
        emptyResult(result, isGradient ? parameters : elementOf(result)));
  Value taps;
  if (call.hasDynamicTaps())
    taps = tensor::DimOp::create(builder, loc, psi[1], 0);
  Value bytes =
      KernelWorkspaceOp::create(builder, loc, call, batchSize(), taps);
  outs.push_back(tensor::EmptyOp::create(
      builder, loc, ArrayRef<OpFoldResult>{bytes}, builder.getI8Type()));
  SmallVector<Type> types = llvm::map_to_vector(
      outs, [](Value out) -> Type { return out.getType(); });
  auto created = KernelCallOp::create(builder, loc, types, call, x, gy, psi,
                                      weight, bias, residual, outs);
  SmallVector<Value> results;
  for (auto [old, value] : llvm::zip(op->getResults(), created.getResults()))
    results.push_back(convertElements(builder, loc, value, elementOf(old)));
  return results;
}

LogicalResult mlir::disco::checkLayouts(ContractionOpInterface op,
                                        ArrayRef<Layout> layouts,
                                        ArrayRef<Layout> known) {
  for (Layout layout : layouts)
    if (!llvm::is_contained(known, layout))
      return op->emitOpError()
             << "expected the layouts of a plan for "
             << op->getAttrOfType<PlanAttr>("plan").getFamily() << " to be "
             << llvm::join(llvm::map_range(known, stringifyLayout), " or ")
             << ", but got " << stringifyLayout(layout);
  return success();
}

SmallVector<Value> mlir::disco::emitKernelCall(OpBuilder &builder,
                                               ContractionOpInterface op) {
  return CallBuilder(builder, op).emit();
}
