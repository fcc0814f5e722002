//===- DiscoKernels.cpp - calls of the runtime's kernels ------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Dialect/Disco/Disco.h"

using namespace mlir;
using namespace mlir::disco;

std::optional<disco_dtype> mlir::disco::getRuntimeDType(Type type) {
  if (type.isF64())
    return DISCO_F64;
  if (type.isF32())
    return DISCO_F32;
  if (type.isF16())
    return DISCO_F16;
  if (type.isBF16())
    return DISCO_BF16;
  if (type.isInteger(32))
    return DISCO_I32;
  if (type.isInteger(64))
    return DISCO_I64;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The call
//===----------------------------------------------------------------------===//

LogicalResult
KernelCallAttr::verify(function_ref<InFlightDiagnostic()> emitError, KernelKind,
                       Type dtype, Type parameterType, int64_t, int64_t,
                       int64_t, Activation, UnitAttr, UnitAttr, UnitAttr,
                       StorageAttr, Type indexType, Type valueType, int64_t,
                       int64_t, PlanAttr plan) {
  // C1
  if (plan.getProvider() != Provider::runtime)
    return emitError() << "expected the provider of the plan to be runtime, "
                          "but got "
                       << stringifyProvider(plan.getProvider());
  if (!plan.isComplete())
    return emitError() << "expected the plan to have the fields "
                       << plan.getKernelFamily().fields().names() << " of "
                       << plan.getFamily() << ", but got "
                       << (plan.getSchedule().empty() ? "none"
                                                      : plan.getFieldsText());
  // C2
  for (Type type : {dtype, parameterType, valueType})
    if (type && (!isa<FloatType>(type) || !getRuntimeDType(type)))
      return emitError() << "expected element types to be f64, f32, f16 or "
                            "bf16, but got "
                         << type;
  if (!isa<IntegerType>(indexType) || !getRuntimeDType(indexType))
    return emitError() << "expected the type of indices to be i32 or i64, but "
                          "got "
                       << indexType;
  return success();
}

/// [nlat, nlon] of a sphere, [1, points] else.
static void setPoints(ArrayRef<int64_t> points, int64_t &nlat, int64_t &nlon) {
  nlat = points.size() > 1 ? points.front() : 1;
  nlon = points.back();
}

disco_kernel_call KernelCallAttr::getCall() const {
  disco_kernel_call call = {};
  call.struct_size = sizeof call;
  call.op = static_cast<int32_t>(getKind());
  call.dtype = *getRuntimeDType(getDtype());
  call.weight_dtype =
      getParameterType() ? *getRuntimeDType(getParameterType()) : call.dtype;
  call.activation = static_cast<int32_t>(getActivation());
  call.transpose_weight = getTransposeWeight() ? 1 : 0;
  call.has_bias = getBias() ? 1 : 0;
  call.has_residual = getResidual() ? 1 : 0;
  call.channels = getChannels();
  call.out_channels = getOutChannels();
  call.groups = getGroups();
  call.schedule = getPlan().toSchedule();
  // The kernel is told what it gets: it packs where it wants another layout.
  call.schedule.in_layout = static_cast<int32_t>(getPlan().getInLayout());
  call.schedule.out_layout = static_cast<int32_t>(getPlan().getOutLayout());
  StorageAttr storage = getStorage();
  PsiType type = storage.getPsi();
  disco_kernel_psi &psi = call.psi;
  psi.form = static_cast<int32_t>(storage.getForm());
  psi.adjoint = storage.getAdjoint() ? 1 : 0;
  psi.index_dtype = *getRuntimeDType(getIndexType());
  psi.value_dtype = getValueType() ? *getRuntimeDType(getValueType()) : 0;
  psi.num_basis = type.getNumBasis();
  setPoints(type.getInShape(), psi.nlat_in, psi.nlon_in);
  setPoints(type.getOutShape(), psi.nlat_out, psi.nlon_out);
  psi.num_arcs = getNumArcs();
  psi.num_taps = hasDynamicTaps() ? 0 : getNumTaps();
  bool isTable = storage.getForm() == StorageForm::table ||
                 storage.getForm() == StorageForm::onehot;
  psi.degree = isTable ? type.getDegree() : 0;
  return call;
}

std::string KernelCallAttr::getSymbol(StringRef function) const {
  return ("disco_" + getPlan().getFamily() + "_" + function).str();
}

//===----------------------------------------------------------------------===//
// The ops
//===----------------------------------------------------------------------===//

LogicalResult KernelWorkspaceOp::verify() {
  // C1
  if (getCall().hasDynamicTaps() == static_cast<bool>(getTaps()))
    return success();
  return emitOpError() << "expected the number of taps of the call to be "
                       << (getTaps() ? "dynamic" : "constant") << ", but got a "
                       << (getTaps() ? "constant" : "dynamic") << " one";
}

void KernelCallOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    if (isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand,
                           SideEffects::DefaultResource::get());
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand,
                           SideEffects::DefaultResource::get());
  }
}

/// C1
static LogicalResult verifyOperands(KernelCallOp op) {
  KernelCallAttr call = op.getCall();
  bool isConv = call.getKind() == KernelKind::conv;
  bool isGradient = call.getKind() == KernelKind::conv_weight_grad;
  bool hasBias = static_cast<bool>(call.getBias());
  struct Part {
    StringRef name;
    bool isWanted, isThere;
  };
  const Part parts[] = {
      {"gy", isGradient, static_cast<bool>(op.getGy())},
      {"weight", isConv, static_cast<bool>(op.getWeight())},
      {"bias", isConv && hasBias, static_cast<bool>(op.getBias())},
      {"residual", static_cast<bool>(call.getResidual()),
       static_cast<bool>(op.getResidual())}};
  for (const Part &part : parts)
    if (part.isWanted != part.isThere)
      return op.emitOpError()
             << "expected " << (part.isWanted ? "" : "no ") << part.name
             << " for this call, but got " << (part.isThere ? "one" : "none");
  unsigned numTensors = call.getStorage().getNumTensors();
  if (op.getPsi().size() != numTensors)
    return op.emitOpError() << "expected psi to be " << numTensors
                            << " operands, but got " << op.getPsi().size();
  size_t numOuts = isGradient && hasBias ? 3 : 2;
  if (op.getOuts().size() != numOuts)
    return op.emitOpError()
           << "expected " << numOuts << " outs with the workspace, but got "
           << op.getOuts().size();
  return success();
}

LogicalResult KernelCallOp::verify() {
  if (failed(verifyOperands(*this)))
    return failure();
  // C2
  bool isTensor = isa<TensorType>(getX().getType());
  for (Type type : getOperandTypes()) {
    if (isa<TensorType>(type) != isTensor)
      return emitOpError() << "expected all operands to be "
                           << (isTensor ? "tensors" : "memrefs") << ", but got "
                           << type;
    auto memref = dyn_cast<MemRefType>(type);
    if (!isTensor && (!memref || !memref.getLayout().isIdentity()))
      return emitOpError() << "expected a memref to have the identity layout, "
                              "but got "
                           << type;
  }
  // C3
  auto workspace = cast<ShapedType>(getWorkspace().getType());
  if (workspace.getRank() != 1 || !workspace.getElementType().isInteger(8))
    return emitOpError() << "expected the workspace to have rank 1 and type "
                            "i8, but got "
                         << workspace;
  return success();
}
