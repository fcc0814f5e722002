//===- disco-compile.cpp - from MLIR to artifacts -------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArtifactTable.h"
#include "Emit.h"
#include "Options.h"

#include "disco/InitAll.h"
#include "disco/Support/AtomicFile.h"
#include "disco/Transforms/CudaPipeline.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Support/SourceMgr.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace disco;
using namespace disco::compile;

namespace {
enum ExitCode { success = 0, failure = 1, wrongUsage = 2 };

/// What is being done, on a terminal only.
class Progress {
public:
  Progress() : shown(isatty(STDERR_FILENO)) {}
  ~Progress() { clear(); }
  void show(const char *what) {
    clear();
    if (shown)
      std::fprintf(stderr, "%s ...", what);
  }
  void clear() {
    if (shown)
      std::fputs("\r\033[K", stderr);
  }

private:
  bool shown;
};

/// One compilation; every step returns an exit code and reports its errors.
class Compilation {
public:
  Compilation(const Options &options, const char *argv0)
      : options(options), argv0(argv0) {}
  int run();

private:
  int fail(const std::string &message);
  int lower();
  int lowerModule();
  int generate();
  int emit(llvm::Module &code, Target &target);
  int write(llvm::StringRef content);
  unsigned optLevel() const { return options.optLevel.value_or(3); }

  const Options &options;
  const char *argv0;
  Progress progress;
  mlir::MLIRContext context{makeRegistry()};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ArtifactInfo info;

  static const mlir::DialectRegistry &makeRegistry();
};
} // namespace

const mlir::DialectRegistry &Compilation::makeRegistry() {
  static mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
  disco::registerAllDialects(registry);
  return registry;
}

int Compilation::fail(const std::string &message) {
  progress.clear();
  std::fprintf(stderr, "disco-compile: error: %s\n", message.c_str());
  return failure;
}

int Compilation::lower() {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file =
      mlir::openInputFile(options.input, &message);
  if (!file)
    return fail(message);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  progress.show("parsing");
  module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    return failure;
  progress.show("evaluating filters and lowering");
  if (int code = lowerModule())
    return code;
  if (info.entries.empty())
    return fail("expected '" + options.input +
                "' to have a public function, but got none");
  return success;
}

/// Runs the pipeline of the target and reads the entries.
int Compilation::lowerModule() {
  mlir::PassManager manager(&context);
  if (options.gpu) {
    mlir::disco::CudaPipelineOptions pipelineOptions;
    pipelineOptions.target = options.gpu->name;
    pipelineOptions.family = options.family;
    pipelineOptions.fuse = options.fuse;
    mlir::disco::buildCudaPipeline(manager, pipelineOptions);
    if (mlir::failed(manager.run(*module)) ||
        mlir::failed(readSteps(*module, info)))
      return failure;
    info.target = "cuda:" + options.gpu->arch;
    info.cpu = options.gpu->name;
    return success;
  }
  mlir::disco::CpuPipelineOptions pipelineOptions;
  // A module that was planned for a CPU of the table is compiled with its
  // plans.
  if (auto attr = (*module)->getAttrOfType<mlir::disco::TargetAttr>(
          mlir::disco::kTargetAttr)) {
    const planning::Target planned = attr.getTarget();
    if (planned.kind != planning::TargetKind::cpu)
      return fail("expected '" + options.input +
                  "' to be planned for a CPU, but got " + planned.name +
                  ": compile it with --target=" + planned.name);
    pipelineOptions.target = planned.name;
  }
  pipelineOptions.family = options.family;
  pipelineOptions.fuse = options.fuse;
  pipelineOptions.strided = options.strided;
  pipelineOptions.instrument = options.instrument;
  mlir::disco::buildCpuPipeline(manager, pipelineOptions);
  if (mlir::failed(manager.run(*module)))
    return failure;
  readTables(*module, info);
  return success;
}

int Compilation::generate() {
  // An entry for a GPU is data, which any processor can read.
  const char *anyCpu = options.gpu ? "generic" : "native";
  Result<Target> target =
      createTarget(options.cpu.empty() ? anyCpu : options.cpu, optLevel());
  if (!target)
    return fail(target.message());
  llvm::LLVMContext llvmContext;
  if (options.gpu) {
    llvm::Module data(options.input, llvmContext);
    return emit(data, *target);
  }
  info.cpu = target->cpu;
  info.features = target->features;
  progress.show("translating");
  std::unique_ptr<llvm::Module> code =
      mlir::translateModuleToLLVMIR(*module, llvmContext, options.input);
  if (!code)
    return fail("cannot translate '" + options.input + "' to LLVM IR");
  return emit(*code, *target);
}

/// From the module in LLVM IR, without tables, to the output.
int Compilation::emit(llvm::Module &code, Target &target) {
  emitTables(info, code);
  if (Status status = prepareModule(code, target); !status)
    return fail(status.message());
  progress.show("optimising");
  if (!options.gpu)
    optimize(code, target, optLevel());
  if (options.emit == EmitKind::llvm) {
    std::string text;
    llvm::raw_string_ostream os(text);
    code.print(os, nullptr);
    return write(text);
  }
  progress.show("generating code");
  Result<llvm::SmallVector<char, 0>> object = emitObject(code, target);
  if (!object)
    return fail(object.message());
  if (options.emit == EmitKind::obj)
    return write(llvm::StringRef(object->data(), object->size()));
  progress.show("linking");
  Result<std::string> library = linkSharedLibrary(*object, argv0);
  if (!library)
    return fail(library.message());
  return write(*library);
}

int Compilation::write(llvm::StringRef content) {
  if (options.output == "-") {
    progress.clear();
    if (std::fwrite(content.data(), 1, content.size(), stdout) !=
            content.size() ||
        std::fflush(stdout) != 0)
      return fail("cannot write to the standard output: " +
                  std::string(std::strerror(errno)));
    return success;
  }
  Result<AtomicFile> file = AtomicFile::create(options.output);
  if (!file)
    return fail(file.message());
  Status status = file->write(std::string_view(content.data(), content.size()));
  if (status)
    status = file->commit();
  return status ? static_cast<int>(success) : fail(status.message());
}

int Compilation::run() {
  if (int code = lower())
    return code;
  std::string text;
  llvm::raw_string_ostream os(text);
  if (options.emit == EmitKind::mlirLLVM) {
    module->print(os);
    return write(text);
  }
  if (options.emit != EmitKind::steps)
    return generate();
  for (const EntryInfo &entry : info.entries)
    mlir::disco::printSteps(os, entry.name, *entry.program);
  return write(text);
}

int main(int argc, char **argv) {
  Result<Options> options = parseOptions(argc, argv);
  if (!options) {
    std::fprintf(stderr, "disco-compile: error: %s (see --help)\n",
                 options.message().c_str());
    return wrongUsage;
  }
  if (options->help) {
    std::fputs(kUsage, stdout);
    return success;
  }
  return Compilation(*options, argv[0]).run();
}
