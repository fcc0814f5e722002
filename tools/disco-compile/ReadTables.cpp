//===- ReadTables.cpp - what the passes recorded for the table ------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArtifactTable.h"

#include "disco/ABI/disco.h"
#include "disco/Transforms/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace disco::compile;
using namespace mlir;

static int32_t getDType(Type type) {
  if (type.isF64())
    return DISCO_F64;
  if (type.isF32())
    return DISCO_F32;
  if (type.isF16())
    return DISCO_F16;
  if (type.isBF16())
    return DISCO_BF16;
  return type.isInteger(32) ? DISCO_I32 : DISCO_I64;
}

static std::vector<TensorInfo> readTensors(DictionaryAttr entry,
                                           StringRef types, StringRef dims) {
  std::vector<TensorInfo> tensors;
  for (auto [type, list] : llvm::zip_equal(entry.getAs<ArrayAttr>(types),
                                           entry.getAs<ArrayAttr>(dims))) {
    auto tensor = cast<RankedTensorType>(cast<TypeAttr>(type).getValue());
    ArrayRef<int64_t> sizes = cast<DenseI64ArrayAttr>(list).asArrayRef();
    tensors.push_back({getDType(tensor.getElementType()),
                       std::vector<int64_t>(sizes.begin(), sizes.end())});
  }
  return tensors;
}

static void readEntry(StringRef name, DictionaryAttr entry, EntryInfo &info) {
  info.name = name.str();
  info.plan = entry.getAs<StringAttr>("plan").str();
  info.isStrided = entry.contains("strided");
  info.inputs = readTensors(entry, "inputs", "input_dims");
  info.outputs = readTensors(entry, "outputs", "output_dims");
}

/// One a step, in order.
static void addProbes(const mlir::disco::StepProgram &program,
                      ArtifactInfo &info) {
  for (const mlir::disco::Step &step : program.steps) {
    bool converts = step.repack.from_layout == step.repack.to_layout;
    std::string op =
        step.call  ? "disco." + stringifyKernelKind(step.call.getKind()).str()
        : converts ? "convert"
                   : "repack";
    int32_t numOperands = 0, numResults = 0;
    for (auto [operand, buffer] : llvm::enumerate(step.operands)) {
      bool isWritten =
          operand == DISCO_OPERAND_Y || operand == DISCO_OPERAND_GRAD_BIAS;
      if (buffer >= 0)
        ++(isWritten ? numResults : numOperands);
    }
    info.probes.push_back({op, step.location, mlir::disco::getProbeText(step),
                           numOperands, numResults});
  }
}

auto ::disco::compile::readSteps(ModuleOp module, ArtifactInfo &info)
    -> LogicalResult {
  for (auto function : module.getOps<func::FuncOp>()) {
    auto entry =
        function->getAttrOfType<DictionaryAttr>(mlir::disco::kEntryAttr);
    if (!entry)
      continue;
    FailureOr<mlir::disco::StepProgram> program =
        mlir::disco::readSteps(function);
    if (failed(program))
      return failure();
    EntryInfo &added = info.entries.emplace_back();
    readEntry(function.getName(), entry, added);
    added.firstProbe = static_cast<int32_t>(info.probes.size());
    addProbes(*program, info);
    added.program = std::move(*program);
  }
  return success();
}

void ::disco::compile::readTables(ModuleOp module, ArtifactInfo &info) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    auto entry =
        function->getAttrOfType<DictionaryAttr>(mlir::disco::kEntryAttr);
    // Conversion gives the C wrappers the attributes of what they call.
    if (!entry ||
        !module.lookupSymbol(("_mlir_ciface_" + function.getName()).str()))
      continue;
    EntryInfo &added = info.entries.emplace_back();
    readEntry(function.getName(), entry, added);
    if (auto checks = entry.getAs<ArrayAttr>("checks"))
      for (auto message : checks.getAsRange<StringAttr>())
        added.checks.push_back(message.str());
  }
  auto probes = module->getAttrOfType<ArrayAttr>(mlir::disco::kProbesAttr);
  if (!probes)
    return;
  for (Attribute attr : probes) {
    auto probe = cast<DictionaryAttr>(attr);
    auto number = [&](StringRef name) {
      return static_cast<int32_t>(probe.getAs<IntegerAttr>(name).getInt());
    };
    info.probes.push_back({probe.getAs<StringAttr>("op").str(),
                           probe.getAs<StringAttr>("location").str(),
                           probe.getAs<StringAttr>("attributes").str(),
                           number("operands"), number("results")});
  }
}
