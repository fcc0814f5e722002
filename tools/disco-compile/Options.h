//===- Options.h - command line of disco-compile ----------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TOOLS_DISCO_COMPILE_OPTIONS_H
#define DISCO_TOOLS_DISCO_COMPILE_OPTIONS_H

#include "disco/Planning/Target.h"
#include "disco/Support/Result.h"

#include <optional>
#include <string>

namespace disco::compile {

enum class EmitKind { so, obj, llvm, mlirLLVM, steps };

struct Options {
  std::string input, output;
  /// The GPU; nothing: the CPU.
  std::optional<planning::Target> gpu;
  std::string cpu;    // "": this one
  std::string family; // "": the fastest
  bool instrument = false;
  bool strided = false;
  bool fuse = true;
  std::optional<unsigned> optLevel; // nothing: 3
  EmitKind emit = EmitKind::so;
  bool help = false;
};

extern const char kUsage[];

Result<Options> parseOptions(int argc, char **argv);

} // namespace disco::compile

#endif // DISCO_TOOLS_DISCO_COMPILE_OPTIONS_H
