//===- Options.cpp - command line of disco-compile ------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include <string_view>

using namespace disco;
using namespace disco::compile;

const char compile::kUsage[] =
    R"(usage: disco-compile IN.mlir -o OUT.so [options]

Compiles every public function of tensors in IN.mlir ("-": the standard input)
into an entry of OUT.so, an artifact that disco-run and libdisco_runtime run.

  -o FILE          the output; written whole, or not at all ("-": the standard
                   output)
  --target=NAME    what to compile for: cpu (default), or a GPU by its name or
                   architecture, also after "cuda:" (h200, cuda:sm_90a;
                   disco-opt --list-targets). Kernels for GPUs are in the
                   runtime, so that this needs no CUDA
  --mcpu=NAME      the processor, as LLVM names it (default: native, this one)
  --family=NAME    run every operation by this kernel family, "loops" for the
                   scalar reference (default: the fastest that is applicable)
  --no-fusion      leave einsums, biases, activations and residuals beside the
                   operations that they could join
  --strided        entries take tensors of any strides, not dense ones only
  --instrument     report every operation to the runtime (disco-run --verify)
  -O0 -O1 -O2 -O3  how much to optimise (default: -O3)
  --emit=KIND      so (default), obj, llvm (LLVM IR), mlir-llvm (MLIR in the LLVM
                   dialect; for the CPU) or steps (calls of kernels as text; for
                   a GPU)
  --help           prints this

An entry for a GPU has filter contractions with their epilogues, whose filters
are constant, and changes of type from or to f32; --mcpu, --strided, --instrument
(its steps can always be watched) and -O are errors.

Linking takes lld or a C compiler. The exit code is 0 on success, 1 on an error
and 2 on wrong usage.
)";

/// Takes the value of `name=value` or of `name value`.
static bool takeValue(std::string_view name, int argc, char **argv, int &i,
                      std::string &value) {
  std::string_view argument = argv[i];
  if (argument == name) {
    if (i + 1 == argc)
      return false;
    value = argv[++i];
    return true;
  }
  if (argument.substr(0, name.size()) != name ||
      argument.size() <= name.size() || argument[name.size()] != '=')
    return false;
  value = argument.substr(name.size() + 1);
  return true;
}

static Status parseEmit(const std::string &value, EmitKind &kind) {
  if (value == "so")
    kind = EmitKind::so;
  else if (value == "obj")
    kind = EmitKind::obj;
  else if (value == "llvm")
    kind = EmitKind::llvm;
  else if (value == "mlir-llvm")
    kind = EmitKind::mlirLLVM;
  else if (value == "steps")
    kind = EmitKind::steps;
  else
    return Error{"expected --emit to be so, obj, llvm, mlir-llvm or steps, but "
                 "got '" +
                 value + "'"};
  return {};
}

static Status parseTarget(const std::string &value, Options &options) {
  options.gpu.reset();
  if (value == "cpu")
    return {};
  Result<planning::Target> target = planning::lookupTarget(value);
  if (target && target->kind == planning::TargetKind::cuda) {
    options.gpu = *target;
    return {};
  }
  std::string names;
  for (const planning::Target &known : planning::knownTargets())
    if (known.kind == planning::TargetKind::cuda)
      names += ", " + known.name + " (" + known.arch + ")";
  return Error{"expected --target to be cpu" + names + ", but got '" + value +
               "'"};
}

/// What does not go with the target.
static Status checkTarget(const Options &options) {
  if (!options.gpu)
    return options.emit == EmitKind::steps
               ? Status(Error{"--emit=steps goes only with a GPU as --target"})
               : Status();
  const char *wrong = !options.cpu.empty()                 ? "--mcpu"
                      : options.strided                    ? "--strided"
                      : options.instrument                 ? "--instrument"
                      : options.optLevel                   ? "-O"
                      : options.emit == EmitKind::mlirLLVM ? "--emit=mlir-llvm"
                                                           : nullptr;
  if (wrong)
    return Error{std::string(wrong) + " goes only with --target=cpu"};
  return {};
}

static Status parseOption(int argc, char **argv, int &i, Options &options) {
  std::string_view argument = argv[i];
  std::string value;
  if (argument == "--help" || argument == "-h") {
    options.help = true;
  } else if (argument == "--instrument") {
    options.instrument = true;
  } else if (argument == "--no-fusion") {
    options.fuse = false;
  } else if (argument == "--strided") {
    options.strided = true;
  } else if (argument.size() == 3 && argument.substr(0, 2) == "-O" &&
             argument[2] >= '0' && argument[2] <= '3') {
    options.optLevel = argument[2] - '0';
  } else if (takeValue("-o", argc, argv, i, value)) {
    options.output = value;
  } else if (takeValue("--mcpu", argc, argv, i, value)) {
    options.cpu = value;
  } else if (takeValue("--family", argc, argv, i, value)) {
    options.family = value;
  } else if (takeValue("--emit", argc, argv, i, value)) {
    return parseEmit(value, options.emit);
  } else if (takeValue("--target", argc, argv, i, value)) {
    return parseTarget(value, options);
  } else if (argument == "-o" || argument == "--mcpu" ||
             argument == "--family" || argument == "--emit" ||
             argument == "--target") {
    return Error{"expected a value after " + std::string(argument) +
                 ", but got none"};
  } else if (argument.size() > 1 && argument[0] == '-') {
    return Error{"unknown option '" + std::string(argument) + "'"};
  } else if (!options.input.empty()) {
    return Error{"expected one input, but got '" + options.input + "' and '" +
                 std::string(argument) + "'"};
  } else {
    options.input = argument;
  }
  return {};
}

Result<Options> compile::parseOptions(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i)
    if (Status status = parseOption(argc, argv, i, options); !status)
      return status.error();
  if (options.help)
    return options;
  if (options.input.empty())
    return Error{"expected an input, but got none"};
  if (options.output.empty())
    return Error{"expected an output (-o), but got none"};
  if (Status status = checkTarget(options); !status)
    return status.error();
  return options;
}
