//===- Emit.h - from LLVM IR to an object file ------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TOOLS_DISCO_COMPILE_EMIT_H
#define DISCO_TOOLS_DISCO_COMPILE_EMIT_H

#include "disco/Support/Result.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace disco::compile {

struct Target {
  std::unique_ptr<llvm::TargetMachine> machine;
  std::string cpu;      // the name it was asked for, "native" resolved
  std::string features; // that code may use, and that the runtime checks
};

/// The host's instruction set as the processor `cpu` has it ("native": this
/// machine's), as far as the runtime can check it.
Result<Target> createTarget(const std::string &cpu, unsigned optLevel);

/// Sets triple and layout; adds conversions of half and bfloat16 where used.
Status prepareModule(llvm::Module &module, Target &target);

/// Runs LLVM's pipeline of that level. No fast-math, no contraction.
void optimize(llvm::Module &module, Target &target, unsigned optLevel);

Result<llvm::SmallVector<char, 0>> emitObject(llvm::Module &module,
                                              Target &target);

/// Links `object` into a shared library and returns its bytes.
Result<std::string> linkSharedLibrary(llvm::ArrayRef<char> object,
                                      const char *argv0);

} // namespace disco::compile

#endif // DISCO_TOOLS_DISCO_COMPILE_EMIT_H
