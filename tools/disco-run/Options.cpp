//===- Options.cpp - the command line of disco-run ------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <map>

namespace disco::run {

namespace {

enum class Form { both, program, layer };

using Set = std::function<Status(Options &, const std::string &)>;

struct Flag {
  const char *name;
  const char *value; // how the help names it; null: takes none
  Form form;
  bool repeatable;
  Set set;
  const char *help;
};

Set text(std::string Options::*member) {
  return [member](Options &options, const std::string &value) -> Status {
    if (value.empty())
      return Error{"expected a value, but got an empty one"};
    options.*member = value;
    return {};
  };
}

Set texts(std::vector<std::string> Options::*member) {
  return [member](Options &options, const std::string &value) -> Status {
    if (value.empty())
      return Error{"expected a value, but got an empty one"};
    (options.*member).push_back(value);
    return {};
  };
}

Set count(int64_t Options::*member) {
  return [member](Options &options, const std::string &value) -> Status {
    int64_t number = 0;
    const char *last = value.data() + value.size();
    const auto [end, code] = std::from_chars(value.data(), last, number);
    if (code != std::errc() || end != last || number < 1)
      return Error{"expected a positive integer, but got '" + value + "'"};
    options.*member = number;
    return {};
  };
}

Set boolean(bool Options::*member) {
  return [member](Options &options, const std::string &) -> Status {
    options.*member = true;
    return {};
  };
}

Status setDType(Options &options, const std::string &value) {
  options.dtype = parseDType(value);
  if (!options.dtype || !isFloat(*options.dtype))
    return Error{"expected one of f64, f32, f16, bf16, but got '" + value +
                 "'"};
  return {};
}

/// A layer is computed by the kernels of a family that the runtime has for the
/// device, or, on the host, by the reference where code is generated for each
/// op.
Status checkFamily(Options &options) {
  // The words of the columns that matter here: the operations of a layer and
  // others, and where code runs.
  [[maybe_unused]] constexpr uint32_t NO_OPS = 0, ALL_OPS = 3, CONTRACT = 2,
                                      CONTRACT_SUM = 2, CONV = 1,
                                      CONV_WEIGHT_GRAD = 1;
  [[maybe_unused]] constexpr uint32_t CODEGEN = 1, LOWERING = 0, CPU_KERNEL = 1,
                                      CUDA_KERNEL = 2;
  const bool isOnCpu = options.device.kind == DISCO_CPU;
  if (options.family.empty())
    options.family = isOnCpu ? "loops" : "csr_gather";
  const uint32_t wanted = isOnCpu ? CPU_KERNEL | CODEGEN : CUDA_KERNEL;
  const char *place = isOnCpu ? "the host" : "a GPU";
  std::string known;
#define DISCO_KERNEL_FAMILY(NAME, AVAILABLE, OPS, DTYPES, STRUCTURES, PARTS,   \
                            SUMMARY)                                           \
  {                                                                            \
    const bool fits = (PARTS) & wanted;                                        \
    const bool isMeant = options.family == #NAME;                              \
    if (isMeant && !(AVAILABLE))                                               \
      return Error{"kernel family '" + options.family +                        \
                   "' is planned: it has no kernels yet"};                     \
    if (isMeant && !fits)                                                      \
      return Error{"expected a kernel family of " + std::string(place) +       \
                   ", but got '" + options.family + "'"};                      \
    if (isMeant && !((AVAILABLE) & CONV))                                      \
      return Error{"expected a kernel family with layers, but got '" +         \
                   options.family + "'"};                                      \
    if (isMeant)                                                               \
      return {};                                                               \
    if (fits && ((AVAILABLE) & CONV))                                          \
      known += (known.empty() ? "" : ", ") + std::string(#NAME);               \
  }
#include "disco/KernelFamilies.def"
  return Error{"unknown kernel family '" + options.family +
               "', known are: " + known};
}

/// "BxCINxCOUT"; the batch is dynamic in the module, so B may be "?".
Status setShape(Options &options, const std::string &text) {
  const Error bad{"expected BxCINxCOUT, but got '" + text + "'"};
  int64_t numbers[3];
  const char *next = text.data(), *end = text.data() + text.size();
  for (int i = 0; i < 3; ++i) {
    if (i > 0) {
      if (next == end || *next != 'x')
        return bad;
      ++next;
    }
    if (i == 0 && next != end && *next == '?') {
      ++next;
      continue;
    }
    const auto [stop, code] = std::from_chars(next, end, numbers[i]);
    if (code != std::errc() || numbers[i] < 1)
      return bad;
    next = stop;
  }
  if (next != end)
    return bad;
  options.shape = Channels{numbers[1], numbers[2]};
  return {};
}

/// "cpu" or "cuda:N".
Status setDevice(Options &options, const std::string &text) {
  options.device = {DISCO_CPU, 0};
  if (text == "cpu")
    return {};
  int32_t id = 0;
  const char *end = text.data() + text.size();
  if (text.rfind("cuda:", 0) == 0) {
    const auto [stop, code] = std::from_chars(text.data() + 5, end, id);
    options.device = {DISCO_CUDA, id};
    if (code == std::errc() && stop == end && id >= 0)
      return {};
  }
  return Error{"expected cpu or cuda:N, but got '" + text + "'"};
}

const std::vector<Flag> &flags() {
  static const std::vector<Flag> table = {
      {"--input", "X.npy", Form::both, true, texts(&Options::inputs),
       "an input, in the order of the entry's arguments"},
      {"--output", "Y.npy", Form::both, true, texts(&Options::outputs),
       "where to write an output; all of them or none"},
      {"--entry", "NAME", Form::program, false, text(&Options::entry),
       "the function to run; may be left out where there is one"},
      {"--device", "cpu|cuda:N", Form::both, false, setDevice,
       "where to run (default cpu); arrays are moved there and back"},
      {"--repeat", "N", Form::program, false, count(&Options::repeat),
       "run N times and print the median time (default 1)"},
      {"--verify", nullptr, Form::program, false, boolean(&Options::verify),
       "compare every operation with the float64 reference, on the host"},
      {"--profile", nullptr, Form::program, false, boolean(&Options::profile),
       "print the time of every operation; on a GPU to the end of its work"},
      {"--layer", "FILTER", Form::layer, false, text(&Options::layer),
       "'#disco.sphere_filter<...>', as the attribute is spelled"},
      {"--weight", "W.npy", Form::layer, false, text(&Options::weight),
       "[O, C/groups, K]"},
      {"--bias", "B.npy", Form::layer, false, text(&Options::bias), "[O]"},
      {"--groups", "G", Form::layer, false, count(&Options::groups),
       "channel groups (default 1)"},
      {"--grad-output", "GY.npy", Form::layer, false,
       text(&Options::gradOutput),
       "the gradient of the output, from which the others follow"},
      {"--grad-input", "GX.npy", Form::layer, false, text(&Options::gradInput),
       "where to write the gradient of the input"},
      {"--grad-weight", "GW.npy", Form::layer, false,
       text(&Options::gradWeight), "where to write the gradient of the weight"},
      {"--grad-bias", "GB.npy", Form::layer, false, text(&Options::gradBias),
       "where to write the gradient of the bias"},
      {"--family", "NAME", Form::layer, false, text(&Options::family),
       "the kernel family (default: loops, the float64 reference; on a GPU "
       "csr_gather)"},
      {"--dtype", "T", Form::layer, false, setDType,
       "round the inputs to f64, f32, f16 or bf16; results have it too"},
      {"--emit-mlir", "L.mlir", Form::layer, false, text(&Options::emitMlir),
       "write the layer as a module with a function @layer(x, w[, b])"},
      {"--shape", "BxCINxCOUT", Form::layer, false, setShape,
       "with --emit-mlir and --dtype, in place of data"},
      {"--help", nullptr, Form::both, false, boolean(&Options::help),
       "print this text"},
      {"--version", nullptr, Form::both, false, boolean(&Options::version),
       "print the version"},
  };
  return table;
}

const Flag *findFlag(const std::string &name) {
  for (const Flag &flag : flags())
    if (name == flag.name || (name == "-h" && flag.name[2] == 'h'))
      return &flag;
  return nullptr;
}

/// One spelling for each file, whether it exists or not.
std::filesystem::path canonical(const std::string &path) {
  std::error_code code;
  const std::filesystem::path absolute = std::filesystem::absolute(path, code);
  if (code)
    return path;
  const std::filesystem::path result =
      std::filesystem::weakly_canonical(absolute, code);
  return code ? absolute.lexically_normal() : result;
}

/// Results must not overwrite each other.
Status checkOutputs(const Options &options) {
  std::vector<std::pair<const char *, std::string>> files = {
      {"--grad-input", options.gradInput},
      {"--grad-weight", options.gradWeight},
      {"--grad-bias", options.gradBias},
      {"--emit-mlir", options.emitMlir}};
  for (const std::string &path : options.outputs)
    files.insert(files.end() - 4, {"--output", path});
  std::map<std::filesystem::path, size_t> seen;
  for (size_t i = 0; i < files.size(); ++i) {
    const auto &[flag, path] = files[i];
    if (path.empty())
      continue;
    const auto [first, isNew] = seen.emplace(canonical(path), i);
    if (!isNew)
      return Error{std::string("expected ") + files[first->second].first +
                   " and " + flag + " to name different files, but got '" +
                   files[first->second].second + "' and '" + path + "'"};
  }
  return {};
}

/// What the flags may be used with each other.
Status checkForm(Options &options, const std::vector<const Flag *> &seen) {
  const bool layer = !options.layer.empty();
  if (layer && !options.program.empty())
    return Error{"expected --layer or a program, but got both (program '" +
                 options.program + "')"};
  if (!layer && options.program.empty())
    return Error{"expected an artifact, a module or --layer, but got none"};
  for (const Flag *flag : seen)
    if (flag->form == (layer ? Form::program : Form::layer))
      return Error{std::string(flag->name) + (layer
                                                  ? " does not go with --layer"
                                                  : " goes only with --layer")};
  if (!layer)
    return {};
  if (Status s = checkFamily(options); !s)
    return Error{"option '--family': " + s.message()};
  const bool data = !options.inputs.empty() || !options.weight.empty();
  if (options.shape && (data || options.emitMlir.empty()))
    return Error{data ? "--shape does not go with --input and --weight"
                      : "--shape goes only with --emit-mlir"};
  if (options.shape && !options.dtype)
    return Error{"--shape goes only with --dtype"};
  if (!options.shape && (options.inputs.size() != 1 || options.weight.empty()))
    return Error{
        "expected --layer to get one --input and a --weight, but got " +
        std::to_string(options.inputs.size()) + " and " +
        std::to_string(options.weight.empty() ? 0 : 1)};
  if (options.outputs.size() > 1)
    return Error{"expected --layer to get at most one --output, but got " +
                 std::to_string(options.outputs.size())};
  const bool gradients = !options.gradInput.empty() ||
                         !options.gradWeight.empty() ||
                         !options.gradBias.empty();
  if (gradients != !options.gradOutput.empty())
    return Error{gradients ? "gradients go only with --grad-output"
                           : "--grad-output goes only with --grad-input, "
                             "--grad-weight or --grad-bias"};
  if (options.shape &&
      (!options.outputs.empty() || gradients || !options.bias.empty()))
    return Error{"--shape goes only with --emit-mlir, --groups and --dtype"};
  if (options.outputs.empty() && !gradients && options.emitMlir.empty())
    return Error{"expected --layer to get --output, a gradient or --emit-mlir, "
                 "but got none"};
  // A module is for any device and any family.
  if (options.outputs.empty() && !gradients)
    for (const Flag *flag : seen)
      for (const char *name : {"--device", "--family"})
        if (std::string(flag->name) == name)
          return Error{std::string(name) +
                       " goes only with --output or a gradient"};
  return {};
}

} // namespace

Result<Options> parseOptions(const std::vector<std::string> &arguments) {
  Options options;
  std::vector<const Flag *> seen;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    if (argument.empty() || argument[0] != '-') {
      if (!options.program.empty() || argument.empty())
        return Error{"expected one program, but got '" + options.program +
                     "' and '" + argument + "'"};
      options.program = argument;
      continue;
    }
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const Flag *flag = findFlag(name);
    if (!flag)
      return Error{"unknown option '" + name + "'"};
    for (const Flag *other : seen)
      if (other == flag && !flag->repeatable)
        return Error{"option '" + name + "' is repeated"};
    seen.push_back(flag);
    std::string value;
    if (flag->value && equals != std::string::npos)
      value = argument.substr(equals + 1);
    else if (flag->value && i + 1 < arguments.size())
      value = arguments[++i];
    else if (flag->value)
      return Error{"expected option '" + name + "' to have a value (" +
                   flag->value + "), but got none"};
    else if (equals != std::string::npos)
      return Error{"expected option '" + name +
                   "' to have no value, but got '" +
                   argument.substr(equals + 1) + "'"};
    if (Status s = flag->set(options, value); !s)
      return Error{"option '" + name + "': " + s.message()};
  }
  if (options.help || options.version)
    return options;
  if (Status s = checkForm(options, seen); !s)
    return s.error();
  if (Status s = checkOutputs(options); !s)
    return s.error();
  return options;
}

std::string helpText() {
  std::string text =
      "Runs compiled artifacts, and single layers.\n\n"
      "usage: disco-run ARTIFACT.so [--entry NAME] --input A.npy ... "
      "[--output Y.npy ...]\n"
      "       disco-run MODULE ...         (calls disco-compile first)\n"
      "       disco-run --layer FILTER --weight W.npy --input X.npy "
      "--output Y.npy\n";
  const struct {
    Form form;
    const char *title;
  } sections[] = {{Form::both, "Always:"},
                  {Form::program, "Artifacts and modules:"},
                  {Form::layer, "One layer, without MLIR:"}};
  for (const auto &section : sections) {
    text += "\n" + std::string(section.title) + "\n";
    for (const Flag &flag : flags()) {
      if (flag.form != section.form)
        continue;
      std::string left = std::string("  ") + flag.name;
      if (flag.value)
        left += std::string(" ") + flag.value;
      left.resize(std::max<size_t>(left.size() + 1, 26), ' ');
      text += left + flag.help + "\n";
    }
  }
  return text + "\nExit code: 0 when all is well, 1 after an error, 2 for a "
                "wrong command line;\nthat of disco-compile when it fails.\n";
}

} // namespace disco::run
