//===- Options.h - the command line of disco-run ----------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table of flags, from which the command line is parsed and the help made.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TOOLS_DISCORUN_OPTIONS_H
#define DISCO_TOOLS_DISCORUN_OPTIONS_H

#include "disco/ABI/DeviceKernel.h"
#include "disco/Support/DType.h"
#include "disco/Support/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace disco::run {

/// The channels of a layer, for --emit-mlir.
struct Channels {
  int64_t in, out;
};

struct Options {
  bool help = false, version = false;

  // Both forms.
  std::vector<std::string> inputs, outputs;

  // An artifact, or a module to compile.
  std::string program, entry;
  disco_device device = {DISCO_CPU, 0};
  int64_t repeat = 1;
  bool verify = false, profile = false;

  // One layer.
  std::string layer, weight, bias, gradOutput, gradInput, gradWeight, gradBias,
      family, emitMlir;
  int64_t groups = 1;
  std::optional<DType> dtype;
  std::optional<Channels> shape;
};

/// Parses the arguments behind the program's name. The message of an error is
/// about the usage.
Result<Options> parseOptions(const std::vector<std::string> &arguments);

/// The text of --help.
std::string helpText();

/// Exit codes.
constexpr int exitOk = 0, exitError = 1, exitUsage = 2;

/// Prints "disco-run: error: message" and returns exitError.
int reportError(const std::string &message);

/// The two forms of the tool; each returns the exit code.
int runProgram(const Options &options);
int runLayer(const Options &options);

/// What a GPU is; the error says why it cannot be used.
Result<disco_device_properties> queryDevice(disco_device device);

/// What disco-compile calls the device: "cpu", or the chip of the table that it
/// is, or is like.
Result<std::string> findTarget(disco_device device);

/// Compiles a module into an artifact for the device, with its operations
/// instrumented if asked for. Diagnostics of the compiler go to standard error.
/// `exitCode` is that of the compiler when it failed.
Status compileModule(const std::string &module, const std::string &artifact,
                     disco_device device, bool instrument, int &exitCode);

} // namespace disco::run

#endif // DISCO_TOOLS_DISCORUN_OPTIONS_H
