//===- Emit.cpp - from LLVM IR to an object file --------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit.h"

#include "HalfConversions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

using namespace disco;
using namespace disco::compile;

/// Features that change the code and that the runtime can look for. Without
/// avx512bf16: its conversion flushes subnormals, so that results would depend
/// on the processor.
static constexpr llvm::StringLiteral kFeatures[] = {
    "cmov",     "mmx",      "popcnt",   "sse",     "sse2",  "sse3",
    "ssse3",    "sse4.1",   "sse4.2",   "avx",     "avx2",  "fma",
    "f16c",     "bmi",      "bmi2",     "lzcnt",   "movbe", "avx512f",
    "avx512vl", "avx512bw", "avx512dq", "avx512cd"};

static llvm::CodeGenOptLevel getCodeGenLevel(unsigned optLevel) {
  return *llvm::CodeGenOpt::getLevel(optLevel);
}

/// A machine of nothing but the base instruction set and `features`.
static std::unique_ptr<llvm::TargetMachine>
createMachine(const llvm::Target &target, const llvm::Triple &triple,
              llvm::StringRef cpu, llvm::StringRef features,
              unsigned optLevel) {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target.createTargetMachine(
      triple, cpu, features, options, llvm::Reloc::PIC_, std::nullopt,
      getCodeGenLevel(optLevel)));
}

Result<Target> compile::createTarget(const std::string &name,
                                     unsigned optLevel) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return Error{message};
  Target result;
  result.cpu = name;
  llvm::StringMap<bool> host;
  if (name == "native") {
    result.cpu = llvm::sys::getHostCPUName().str();
    host = llvm::sys::getHostCPUFeatures();
  }
  // Asked of a generic processor first: LLVM warns when it makes the subtarget
  // of one that it does not know.
  std::unique_ptr<llvm::MCSubtargetInfo> generic(
      target->createMCSubtargetInfo(triple, "", ""));
  if (!generic || !generic->isCPUStringValid(result.cpu))
    return Error{"expected --mcpu to be a processor that LLVM knows for " +
                 triple.str() + ", but got '" + result.cpu + "'"};
  if (!triple.isX86()) {
    result.machine = createMachine(*target, triple, result.cpu, "", optLevel);
    return result;
  }
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target->createMCSubtargetInfo(triple, result.cpu, ""));
  std::string enabled;
  for (llvm::StringRef feature : kFeatures) {
    bool has = name == "native" ? host.lookup(feature)
                                : info->checkFeatures("+" + feature.str());
    if (!has)
      continue;
    result.features += (result.features.empty() ? "" : ",") + feature.str();
    enabled += (enabled.empty() ? "+" : ",+") + feature.str();
  }
  result.machine = createMachine(*target, triple, "x86-64", enabled, optLevel);
  return result;
}

static bool usesSmallFloats(const llvm::Module &module) {
  for (const llvm::Function &function : module)
    for (const llvm::BasicBlock &block : function)
      for (const llvm::Instruction &inst : block) {
        auto isSmall = [](const llvm::Type *type) {
          return type->getScalarType()->isHalfTy() ||
                 type->getScalarType()->isBFloatTy();
        };
        if (isSmall(inst.getType()))
          return true;
        for (const llvm::Value *operand : inst.operands())
          if (isSmall(operand->getType()))
            return true;
      }
  return false;
}

Status compile::prepareModule(llvm::Module &module, Target &target) {
  module.setTargetTriple(target.machine->getTargetTriple());
  module.setDataLayout(target.machine->createDataLayout());
  if (usesSmallFloats(module)) {
    llvm::SMDiagnostic error;
    std::unique_ptr<llvm::Module> helpers =
        llvm::parseAssemblyString(kHalfConversions, error, module.getContext());
    if (!helpers)
      return Error{"internal error in the conversions of small floats: " +
                   error.getMessage().str()};
    helpers->setTargetTriple(module.getTargetTriple());
    helpers->setDataLayout(module.getDataLayout());
    if (llvm::Linker::linkModules(module, std::move(helpers)))
      return Error{"cannot link the conversions of small floats"};
  }
  std::string message;
  llvm::raw_string_ostream os(message);
  if (llvm::verifyModule(module, &os))
    return Error{"invalid LLVM IR: " + message};
  return {};
}

void compile::optimize(llvm::Module &module, Target &target,
                       unsigned optLevel) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(target.machine.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  llvm::ModulePassManager manager =
      optLevel == 0 ? builder.buildO0DefaultPipeline(levels[0])
                    : builder.buildPerModuleDefaultPipeline(levels[optLevel]);
  manager.run(module, modules);
}

Result<llvm::SmallVector<char, 0>> compile::emitObject(llvm::Module &module,
                                                       Target &target) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream os(object);
  llvm::legacy::PassManager manager;
  if (target.machine->addPassesToEmitFile(manager, os, nullptr,
                                          llvm::CodeGenFileType::ObjectFile))
    return Error{"the target cannot emit object files"};
  manager.run(module);
  return object;
}
