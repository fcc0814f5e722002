//===- EmitTables.cpp - the artifact's table in LLVM IR -------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArtifactTable.h"

#include "disco/ABI/Artifact.h"
#include "disco/Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"

#include <numeric>

using namespace disco::compile;
using namespace llvm;

int64_t EntryInfo::numOutputDims() const {
  return std::accumulate(outputs.begin(), outputs.end(), int64_t(0),
                         [](int64_t sum, const TensorInfo &tensor) {
                           return sum + tensor.dims.size();
                         });
}

namespace {

/// Emits constants laid out as the structs of Artifact.h.
class TableEmitter {
public:
  explicit TableEmitter(Module &module)
      : module(module), context(module.getContext()),
        pointer(PointerType::getUnqual(context)),
        i32(Type::getInt32Ty(context)), i64(Type::getInt64Ty(context)) {}

  void emit(const ArtifactInfo &info);

private:
  Constant *number32(int64_t value) { return ConstantInt::get(i32, value); }
  Constant *number64(int64_t value) { return ConstantInt::get(i64, value); }
  Constant *global(Constant *value);
  Constant *text(StringRef value);
  Constant *array(ArrayRef<Constant *> elements);
  Constant *tensors(ArrayRef<TensorInfo> tensors);
  Constant *bytes(ArrayRef<char> data, Align alignment);
  Constant *buffer(const mlir::disco::StepBuffer &buffer);
  Constant *step(const mlir::disco::Step &step, int64_t probe);
  Constant *entry(const EntryInfo &info);
  Constant *probe(const ProbeInfo &info);

  Function *declare(const Twine &name, Type *result, unsigned numArguments);
  Function *define(const Twine &name, Type *result, unsigned numArguments);
  SmallVector<Value *> loadPointers(IRBuilder<> &builder, Value *array,
                                    unsigned count);
  Value *rankOneDescriptor(IRBuilder<> &builder, Value *data, int64_t size);
  void emitChecks(IRBuilder<> &builder, const EntryInfo &info,
                  Function *function);
  Function *runFunction(const EntryInfo &info);
  Function *workspaceFunction(const EntryInfo &info);
  Function *shapesFunction(const EntryInfo &info);

  Module &module;
  LLVMContext &context;
  PointerType *pointer;
  Type *i32, *i64;
};

} // namespace

Constant *TableEmitter::global(Constant *value) {
  auto *variable = new GlobalVariable(module, value->getType(),
                                      /*isConstant=*/true,
                                      GlobalValue::PrivateLinkage, value);
  return variable;
}

Constant *TableEmitter::text(StringRef value) {
  return global(ConstantDataArray::getString(context, value));
}

Constant *TableEmitter::array(ArrayRef<Constant *> elements) {
  if (elements.empty())
    return ConstantPointerNull::get(pointer);
  auto *type = ArrayType::get(elements.front()->getType(), elements.size());
  return global(ConstantArray::get(type, elements));
}

Constant *TableEmitter::tensors(ArrayRef<TensorInfo> tensors) {
  SmallVector<Constant *> elements;
  for (const TensorInfo &tensor : tensors) {
    SmallVector<Constant *> dims;
    for (int64_t dim : tensor.dims)
      dims.push_back(number64(dim));
    elements.push_back(ConstantStruct::getAnon(
        {ConstantPointerNull::get(pointer), number32(tensor.dtype),
         number32(tensor.dims.size()), array(dims)}));
  }
  return array(elements);
}

Function *TableEmitter::declare(const Twine &name, Type *result,
                                unsigned numArguments) {
  SmallVector<Type *> arguments(numArguments, pointer);
  auto *type = FunctionType::get(result, arguments, /*isVarArg=*/false);
  return cast<Function>(
      module.getOrInsertFunction(name.str(), type).getCallee());
}

Function *TableEmitter::define(const Twine &name, Type *result,
                               unsigned numArguments) {
  SmallVector<Type *> arguments(numArguments, pointer);
  auto *function =
      Function::Create(FunctionType::get(result, arguments, /*isVarArg=*/false),
                       GlobalValue::InternalLinkage, name, module);
  BasicBlock::Create(context, "entry", function);
  return function;
}

SmallVector<Value *> TableEmitter::loadPointers(IRBuilder<> &builder,
                                                Value *array, unsigned count) {
  SmallVector<Value *> loaded;
  for (unsigned i = 0; i < count; ++i)
    loaded.push_back(builder.CreateLoad(
        pointer, builder.CreateConstInBoundsGEP1_64(pointer, array, i)));
  return loaded;
}

/// A pointer to the descriptor of `size` dense elements at `data`.
Value *TableEmitter::rankOneDescriptor(IRBuilder<> &builder, Value *data,
                                       int64_t size) {
  auto *type =
      StructType::get(context, {pointer, pointer, i64, ArrayType::get(i64, 1),
                                ArrayType::get(i64, 1)});
  Value *descriptor = builder.CreateAlloca(type);
  Value *fields[] = {data, data, number64(0), number64(size), number64(1)};
  for (auto [index, field] : llvm::enumerate(fields))
    builder.CreateStore(field,
                        builder.CreateStructGEP(type, descriptor, index));
  return descriptor;
}

/// Checks tables; returns from `function` with a message when one is wrong.
void TableEmitter::emitChecks(IRBuilder<> &builder, const EntryInfo &info,
                              Function *function) {
  if (info.checks.empty())
    return;
  Value *result = builder.CreateAlloca(ArrayType::get(i64, 3));
  SmallVector<Value *> arguments =
      loadPointers(builder, function->getArg(0), info.inputs.size());
  arguments.push_back(rankOneDescriptor(builder, result, 3));
  builder.CreateCall(
      declare("_mlir_ciface_" + info.name + mlir::disco::kCheckTablesSuffix,
              Type::getVoidTy(context), arguments.size()),
      arguments);
  auto load = [&](unsigned field) -> Value * {
    return builder.CreateLoad(
        i64, builder.CreateConstInBoundsGEP1_64(i64, result, field));
  };
  Value *failed = load(0);
  auto *fine = BasicBlock::Create(context, "fine", function);
  SwitchInst *choice = builder.CreateSwitch(failed, fine, info.checks.size());
  constexpr int64_t size = 256;
  auto *snprintfType =
      FunctionType::get(i32, {pointer, i64, pointer}, /*isVarArg=*/true);
  for (auto [number, message] : llvm::enumerate(info.checks)) {
    auto *wrong = BasicBlock::Create(context, "wrong", function);
    choice->addCase(cast<ConstantInt>(number64(number)), wrong);
    builder.SetInsertPoint(wrong);
    Value *buffer =
        builder.CreateAlloca(ArrayType::get(Type::getInt8Ty(context), size));
    builder.CreateCall(
        module.getOrInsertFunction("snprintf", snprintfType),
        {buffer, number64(size), text(message), load(1), load(2)});
    builder.CreateCall(declare("disco_raise", Type::getVoidTy(context), 1),
                       {buffer});
    builder.CreateRet(number32(DISCO_INVALID_ARGUMENT));
  }
  builder.SetInsertPoint(fine);
}

/// int32_t run(void *const *args)
Function *TableEmitter::runFunction(const EntryInfo &info) {
  unsigned count = info.inputs.size() + info.outputs.size() + 1;
  Function *function = define("disco_run." + info.name, i32, 1);
  IRBuilder<> builder(&function->getEntryBlock());
  emitChecks(builder, info, function);
  Function *callee = declare("_mlir_ciface_" + info.name, i32, count);
  builder.CreateRet(builder.CreateCall(
      callee, loadPointers(builder, function->getArg(0), count)));
  return function;
}

/// int64_t workspace_bytes(void *const *inputs)
Function *TableEmitter::workspaceFunction(const EntryInfo &info) {
  unsigned count = info.inputs.size();
  Function *function = define("disco_workspace_bytes." + info.name, i64, 1);
  IRBuilder<> builder(&function->getEntryBlock());
  Function *callee =
      declare("_mlir_ciface_" + info.name + mlir::disco::kWorkspaceBytesSuffix,
              i64, count);
  Value *bytes = builder.CreateCall(
      callee, loadPointers(builder, function->getArg(0), count));
  auto *tooLarge = BasicBlock::Create(context, "too_large", function);
  auto *fits = BasicBlock::Create(context, "fits", function);
  // Other negative numbers: a kernel has said why.
  builder.CreateCondBr(builder.CreateICmpEQ(bytes, number64(-1)), tooLarge,
                       fits);
  builder.SetInsertPoint(tooLarge);
  builder.CreateCall(declare("disco_raise", Type::getVoidTy(context), 1),
                     {text("expected the workspace for these input shapes to "
                           "be smaller than 2^63 bytes, but it is not")});
  builder.CreateBr(fits);
  builder.SetInsertPoint(fits);
  builder.CreateRet(bytes);
  return function;
}

/// int32_t output_shapes(void *const *inputs, int64_t *dims)
Function *TableEmitter::shapesFunction(const EntryInfo &info) {
  unsigned count = info.inputs.size();
  Function *function = define("disco_output_shapes." + info.name, i32, 2);
  IRBuilder<> builder(&function->getEntryBlock());
  Value *descriptor =
      rankOneDescriptor(builder, function->getArg(1), info.numOutputDims());
  Function *callee =
      declare("_mlir_ciface_" + info.name + mlir::disco::kOutputShapesSuffix,
              Type::getVoidTy(context), count + 1);
  SmallVector<Value *> arguments =
      loadPointers(builder, function->getArg(0), count);
  arguments.push_back(descriptor);
  builder.CreateCall(callee, arguments);
  builder.CreateRet(number32(DISCO_OK));
  return function;
}

Constant *TableEmitter::bytes(ArrayRef<char> data, Align alignment) {
  auto *variable = cast<GlobalVariable>(
      global(ConstantDataArray::getRaw(StringRef(data.data(), data.size()),
                                       data.size(), Type::getInt8Ty(context))));
  variable->setAlignment(alignment);
  return variable;
}

Constant *TableEmitter::buffer(const mlir::disco::StepBuffer &buffer) {
  SmallVector<Constant *> dims;
  for (int64_t dim : buffer.dims)
    dims.push_back(number64(dim));
  bool isConstant = buffer.kind == DISCO_BUFFER_CONSTANT;
  Constant *data = isConstant ? bytes(buffer.data, Align(DISCO_ALIGNMENT))
                              : ConstantPointerNull::get(pointer);
  return ConstantStruct::getAnon(
      {number32(*mlir::disco::getRuntimeDType(buffer.element)),
       number32(dims.size()), array(dims), number32(buffer.kind),
       number32(buffer.index), data});
}

Constant *TableEmitter::step(const mlir::disco::Step &step, int64_t probe) {
  auto data = [&](const auto &value) {
    return bytes(
        ArrayRef<char>(reinterpret_cast<const char *>(&value), sizeof value),
        Align(alignof(int64_t)));
  };
  Constant *null = ConstantPointerNull::get(pointer);
  Constant *family = null, *call = null, *repack = null;
  if (step.call) {
    family = text(step.call.getPlan().getFamily());
    call = data(step.call.getCall());
  } else {
    repack = data(step.repack);
  }
  SmallVector<Constant *> operands;
  for (int32_t operand : step.operands)
    operands.push_back(number32(operand));
  return ConstantStruct::getAnon(
      {number32(step.call ? DISCO_STEP_KERNEL : DISCO_STEP_REPACK),
       number32(probe), family, call, repack,
       ConstantArray::get(ArrayType::get(i32, operands.size()), operands)});
}

Constant *TableEmitter::entry(const EntryInfo &info) {
  Constant *null = ConstantPointerNull::get(pointer);
  SmallVector<Constant *> steps, buffers;
  bool isProgram = info.program.has_value();
  if (isProgram) {
    for (const mlir::disco::StepBuffer &b : info.program->buffers)
      buffers.push_back(buffer(b));
    for (auto [index, s] : llvm::enumerate(info.program->steps))
      steps.push_back(step(s, info.firstProbe + static_cast<int64_t>(index)));
  }
  return ConstantStruct::getAnon(
      {text(info.name), text(info.plan), number32(info.inputs.size()),
       number32(info.outputs.size()), tensors(info.inputs),
       tensors(info.outputs), isProgram ? null : runFunction(info),
       isProgram ? null : workspaceFunction(info),
       isProgram ? null : shapesFunction(info),
       number64(info.isStrided ? DISCO_ENTRY_STRIDED : 0),
       number32(steps.size()), number32(buffers.size()), array(steps),
       array(buffers)});
}

Constant *TableEmitter::probe(const ProbeInfo &info) {
  return ConstantStruct::getAnon(
      {text(info.op), text(info.location), text(info.attributes),
       number32(info.numOperands), number32(info.numResults)});
}

void TableEmitter::emit(const ArtifactInfo &info) {
  SmallVector<Constant *> entries, probes;
  for (const EntryInfo &entryInfo : info.entries)
    entries.push_back(entry(entryInfo));
  for (const ProbeInfo &probeInfo : info.probes)
    probes.push_back(probe(probeInfo));
  Constant *root = ConstantStruct::getAnon(
      {number32(DISCO_ARTIFACT_MAGIC), number32(DISCO_ABI_VERSION),
       number64(sizeof(disco_abi_artifact)), number64(sizeof(disco_abi_entry)),
       number64(sizeof(disco_abi_probe)), text(info.target), text(info.cpu),
       text(info.features), text("disco-compile " DISCO_VERSION),
       number32(entries.size()), number32(probes.size()), array(entries),
       array(probes)});
  for (Function &function : module)
    if (!function.isDeclaration())
      function.setLinkage(GlobalValue::InternalLinkage);
  for (GlobalVariable &variable : module.globals())
    if (!variable.isDeclaration() && !variable.hasLocalLinkage())
      variable.setLinkage(GlobalValue::InternalLinkage);
  new GlobalVariable(module, root->getType(), /*isConstant=*/true,
                     GlobalValue::ExternalLinkage, root, DISCO_ARTIFACT_SYMBOL);
}

void disco::compile::emitTables(const ArtifactInfo &info, Module &module) {
  TableEmitter(module).emit(info);
}
