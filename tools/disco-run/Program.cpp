//===- Program.cpp - running an artifact ----------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "Options.h"

#include "disco/ABI/DeviceKernel.h"
#include "disco/Support/Progress.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace disco::run {

namespace {

/// A folder that is removed, with the one file in it, at the end.
struct TemporaryArtifact {
  std::string folder, path;

  Status create() {
    const char *base = std::getenv("TMPDIR");
    const std::string pattern =
        std::string(base && *base ? base : "/tmp") + "/disco-run-XXXXXX";
    std::string made = pattern;
    if (!::mkdtemp(made.data()))
      return Error{"cannot create '" + pattern + "': " + std::strerror(errno)};
    folder = made;
    path = folder + "/artifact.so";
    return {};
  }
  ~TemporaryArtifact() {
    if (folder.empty())
      return;
    ::unlink(path.c_str());
    ::rmdir(folder.c_str());
  }
};

struct CloseArtifact {
  void operator()(disco_artifact *artifact) const {
    disco_artifact_close(artifact);
  }
};
struct DestroyContext {
  void operator()(disco_context *context) const {
    disco_context_destroy(context);
  }
};

Status check(disco_status status) {
  return status == DISCO_OK ? Status() : Status(Error{disco_last_error()});
}

/// "x: 1x4x16x32xf32", with ? for what is known only when run.
std::string describeType(const disco_tensor_type &type) {
  std::string text = type.name ? std::string(type.name) + ": " : "";
  for (int32_t d = 0; d < type.rank; ++d)
    text += (type.dims[d] < 0 ? "?" : std::to_string(type.dims[d])) + "x";
  return text + std::string(nameOf(static_cast<DType>(type.dtype)));
}

disco_tensor viewOf(Array &array, disco_device device) {
  disco_tensor tensor{};
  tensor.data = array.bytes.data();
  tensor.device = device;
  tensor.rank = static_cast<int32_t>(array.shape.size());
  tensor.dtype = static_cast<disco_dtype>(array.dtype);
  tensor.shape = array.shape.data();
  return tensor;
}

/// One artifact with its data, from opening to writing the outputs.
class Program {
public:
  explicit Program(const Options &options) : options(options) {}
  ~Program() {
    disco_release(context.get(), workspace, workspaceBytes);
    for (const Moved &moved : onDevice)
      disco_release(context.get(), moved.memory, moved.bytes);
  }

  Status open(const std::string &path);
  Status load();
  Status execute();
  Status verify();
  Status write();

private:
  Status findEntry();
  Status checkCounts() const;
  Status moveToDevice();
  Status moveBack();
  Status runOnce();
  bool isOnCpu() const { return options.device.kind == DISCO_CPU; }
  void print(double milliseconds) const;

  const Options &options;
  std::unique_ptr<disco_artifact, CloseArtifact> artifact;
  std::unique_ptr<disco_context, DestroyContext> context;
  const disco_entry *entry = nullptr;
  std::vector<Array> inputs, outputs;
  std::vector<disco_tensor> inputViews, outputViews;
  /// On a GPU: memory of inputs, then of outputs.
  struct Moved {
    void *memory;
    uint64_t bytes;
  };
  std::vector<Moved> onDevice;
  disco_device_context device = {};
  void *workspace = nullptr;
  uint64_t workspaceBytes = 0;
};

Status Program::open(const std::string &path) {
  disco_context_options contextOptions{};
  contextOptions.struct_size = sizeof contextOptions;
  contextOptions.device = options.device;
  disco_context *created = nullptr;
  if (Status s = check(disco_context_create(&contextOptions, &created)); !s)
    return s;
  context.reset(created);
  device.struct_size = sizeof device;
  device.device = options.device.id;
  disco_artifact *opened = nullptr;
  if (Status s = check(disco_artifact_open(path.c_str(), &opened)); !s)
    return s;
  artifact.reset(opened);
  if ((options.verify || options.profile) &&
      disco_artifact_num_probes(opened) == 0) {
    if (path != options.program) // compiled with --instrument just now
      return Error{
          "expected '" + options.program + "' to have an operation to " +
          (options.verify ? "verify" : "profile") + ", but it has none"};
    return Error{"expected '" + path + "' to be instrumented, as " +
                 (options.verify ? "--verify" : "--profile") +
                 " needs (disco-compile --instrument), but it is not"};
  }
  return findEntry();
}

Status Program::findEntry() {
  if (!options.entry.empty())
    return check(disco_artifact_find_entry(artifact.get(),
                                           options.entry.c_str(), &entry));
  const int32_t count = disco_artifact_num_entries(artifact.get());
  if (count == 1)
    return check(disco_artifact_entry(artifact.get(), 0, &entry));
  std::string names;
  for (int32_t i = 0; i < count; ++i) {
    const disco_entry *other = nullptr;
    if (Status s = check(disco_artifact_entry(artifact.get(), i, &other)); !s)
      return s;
    names += (i ? ", " : "") + std::string(disco_entry_name(other));
  }
  return Error{"expected --entry to name one of " + std::to_string(count) +
               " entries" + (count ? " (" + names + ")" : "") +
               ", but got none"};
}

Status Program::checkCounts() const {
  const int32_t numInputs = disco_entry_num_inputs(entry);
  const auto given = static_cast<int32_t>(options.inputs.size());
  if (given != numInputs) {
    std::string types;
    for (int32_t i = 0; i < numInputs; ++i) {
      disco_tensor_type type;
      if (Status s = check(disco_entry_input(entry, i, &type)); !s)
        return s;
      types += (i ? ", " : "") + describeType(type);
    }
    return Error{std::string("expected entry '") + disco_entry_name(entry) +
                 "' to get " + std::to_string(numInputs) + " --input" +
                 (numInputs ? " (" + types + ")" : "") + ", but got " +
                 std::to_string(given)};
  }
  const int32_t numOutputs = disco_entry_num_outputs(entry);
  const auto wanted = static_cast<int32_t>(options.outputs.size());
  if (wanted != 0 && wanted != numOutputs)
    return Error{std::string("expected entry '") + disco_entry_name(entry) +
                 "' to get " + std::to_string(numOutputs) +
                 " --output or none, but got " + std::to_string(wanted)};
  return {};
}

Status Program::load() {
  if (Status s = checkCounts(); !s)
    return s;
  for (const std::string &path : options.inputs) {
    Result<Array> array = readNpy(path);
    if (!array)
      return array.error();
    inputs.push_back(std::move(*array));
  }
  for (Array &array : inputs) {
    if (array.shape.size() > DISCO_MAX_RANK)
      return Error{"expected inputs to have rank at most " +
                   std::to_string(DISCO_MAX_RANK) + ", but got " +
                   std::to_string(array.shape.size())};
    inputViews.push_back(viewOf(array, options.device));
  }
  const auto numInputs = static_cast<int32_t>(inputViews.size());
  int64_t dims[DISCO_MAX_TENSORS * DISCO_MAX_RANK];
  if (Status s = check(disco_entry_output_shapes(
          entry, inputViews.data(), numInputs, dims,
          DISCO_MAX_TENSORS * DISCO_MAX_RANK, nullptr));
      !s)
    return s;
  const int64_t *next = dims;
  for (int32_t i = 0; i < disco_entry_num_outputs(entry); ++i) {
    disco_tensor_type type;
    if (Status s = check(disco_entry_output(entry, i, &type)); !s)
      return s;
    Result<Array> array =
        Array::create(static_cast<DType>(type.dtype),
                      std::vector<int64_t>(next, next + type.rank));
    if (!array)
      return array.error();
    next += type.rank;
    outputs.push_back(std::move(*array));
  }
  for (Array &array : outputs)
    outputViews.push_back(viewOf(array, options.device));
  if (Status s = check(disco_prepare(context.get(), entry)); !s)
    return s;
  if (Status s = check(disco_workspace_bytes(
          context.get(), entry, inputViews.data(), numInputs, &workspaceBytes));
      !s)
    return s;
  if (Status s = moveToDevice(); !s)
    return s;
  return check(disco_allocate(context.get(), workspaceBytes, &workspace));
}

/// Memory of the device for all tensors, and the inputs in it.
Status Program::moveToDevice() {
  if (isOnCpu())
    return {};
  const auto move = [&](Array &array, disco_tensor &view,
                        bool isInput) -> Status {
    Moved &moved = onDevice.emplace_back(Moved{nullptr, array.bytes.size()});
    if (Status s =
            check(disco_allocate(context.get(), moved.bytes, &moved.memory));
        !s)
      return s;
    view.data = moved.memory;
    return isInput ? check(disco_device_copy(&device, moved.memory,
                                             array.bytes.data(), moved.bytes))
                   : Status();
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    if (Status s = move(inputs[i], inputViews[i], true); !s)
      return s;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (Status s = move(outputs[i], outputViews[i], false); !s)
      return s;
  return {};
}

Status Program::moveBack() {
  if (isOnCpu())
    return {};
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Moved &moved = onDevice[inputs.size() + i];
    if (Status s = check(disco_device_copy(&device, outputs[i].bytes.data(),
                                           moved.memory, moved.bytes));
        !s)
      return s;
  }
  return {};
}

/// On a GPU also waits for the end.
Status Program::runOnce() {
  if (Status s = check(disco_run(
          context.get(), entry, inputViews.data(),
          static_cast<int32_t>(inputViews.size()), outputViews.data(),
          static_cast<int32_t>(outputViews.size()), workspace, workspaceBytes));
      !s || isOnCpu())
    return s;
  return check(disco_device_synchronize(&device));
}

void Program::print(double milliseconds) const {
  std::printf("entry %s: target %s (%s), workspace %llu bytes\n",
              disco_entry_name(entry), disco_artifact_target(artifact.get()),
              disco_artifact_cpu(artifact.get()),
              static_cast<unsigned long long>(workspaceBytes));
  disco_device_properties properties = {};
  properties.struct_size = sizeof properties;
  if (!isOnCpu() &&
      disco_device_query(options.device.id, &properties) == DISCO_OK)
    std::printf("device cuda:%d: %s (sm_%d%d)\n", options.device.id,
                properties.name, properties.major, properties.minor);
  if (const char *plan = disco_entry_plan(entry); *plan)
    std::printf("plan: %s\n", plan);
  for (size_t i = 0; i < inputs.size(); ++i)
    std::printf("input %zu: %s\n", i,
                describe(inputs[i].dtype, inputs[i].shape).c_str());
  for (size_t i = 0; i < outputs.size(); ++i)
    std::printf("output %zu: %s\n", i,
                describe(outputs[i].dtype, outputs[i].shape).c_str());
  std::printf("time: %.3f ms (median of %lld)\n", milliseconds,
              static_cast<long long>(options.repeat));
}

Status Program::execute() {
  std::optional<Profiler> profiler;
  std::optional<HookScope> scope;
  if (options.profile) {
    profiler.emplace(artifact.get());
    scope.emplace(profiler->hooks());
  }
  std::vector<double> times;
  {
    Progress progress("running", options.repeat);
    for (int64_t i = 0; i < options.repeat; ++i) {
      const auto start = std::chrono::steady_clock::now();
      if (Status s = runOnce(); !s)
        return s;
      const std::chrono::duration<double, std::milli> elapsed =
          std::chrono::steady_clock::now() - start;
      times.push_back(elapsed.count());
      if (profiler)
        profiler->finishRun();
      progress.step();
    }
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  const double milliseconds = times[times.size() / 2];
  print(milliseconds);
  if (profiler)
    profiler->print(milliseconds);
  return moveBack();
}

Status Program::verify() {
  Verifier verifier(artifact.get());
  {
    const Progress progress("verifying");
    const HookScope scope(verifier.hooks());
    if (Status s = runOnce(); !s)
      return s;
  }
  verifier.print();
  return verifier.result();
}

Status Program::write() {
  // Nothing appears before everything has been written.
  std::vector<AtomicFile> files;
  for (size_t i = 0; i < options.outputs.size(); ++i) {
    Result<AtomicFile> file = stageNpy(options.outputs[i], outputs[i]);
    if (!file)
      return file.error();
    files.push_back(std::move(*file));
  }
  for (AtomicFile &file : files)
    if (Status s = file.commit(); !s)
      return s;
  return {};
}

/// Artifacts are shared libraries; anything else is a module to compile. What
/// is not a plain file can be read only once, so it is left to the compiler.
Result<bool> isArtifact(const std::string &path) {
  const auto failure = [&](const char *what) {
    return Error{std::string("cannot ") + what + " '" + path +
                 "': " + std::strerror(errno)};
  };
  struct stat status;
  if (::stat(path.c_str(), &status) != 0)
    return failure("open");
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    return false;
  const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(
      std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file)
    return failure("open");
  char magic[4] = {};
  const size_t size = std::fread(magic, 1, sizeof magic, file.get());
  if (std::ferror(file.get()))
    return failure("read");
  return size == sizeof magic && std::memcmp(magic, "\177ELF", size) == 0;
}

} // namespace

int runProgram(const Options &options) {
  TemporaryArtifact temporary;
  std::string path = options.program;
  const Result<bool> artifact = isArtifact(path);
  if (!artifact)
    return reportError(artifact.message());
  if (!*artifact) {
    if (Status s = temporary.create(); !s)
      return reportError(s.message());
    path = temporary.path;
    int exitCode;
    if (Status s = compileModule(options.program, path, options.device,
                                 options.verify || options.profile, exitCode);
        !s) {
      reportError(s.message());
      return exitCode;
    }
  }
  Program program(options);
  Status status = program.open(path);
  if (status)
    status = program.load();
  if (status)
    status = program.execute();
  if (status && options.verify)
    status = program.verify();
  if (status)
    status = program.write();
  return status ? exitOk : reportError(status.message());
}

} // namespace disco::run
