//===- Program.cpp - running an artifact ----------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "Options.h"

#include "disco/Runtime/RunEntry.h"
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

/// One artifact with its data, from opening to writing the outputs.
class Program {
public:
  explicit Program(const Options &options) : options(options) {}

  Status open(const std::string &path);
  Status load();
  Status execute();
  Status verify();
  Status write();

private:
  Status checkDevice() const;
  Status findEntry();
  Status checkCounts() const;
  void print(double milliseconds) const;
  const disco_entry *entry() const { return call->entry(); }
  Place place() const;

  const Options &options;
  std::unique_ptr<EntryCall> call;
};

Status Program::open(const std::string &path) {
  Result<EntryRunner> runner = EntryRunner::create(options.device);
  if (!runner)
    return runner.error();
  call = runner->call();
  if (Status s = call->open(path); !s)
    return s;
  if (Status s = checkDevice(); !s)
    return s;
  if ((options.verify || options.profile) &&
      disco_artifact_num_probes(call->artifact()) == 0) {
    // Compiled with --instrument just now; one for a GPU always has all.
    if (path != options.program || !call->isOnCpu())
      return Error{
          "expected '" + options.program + "' to have an operation to " +
          (options.verify ? "verify" : "profile") + ", but it has none"};
    return Error{"expected '" + path + "' to be instrumented, as " +
                 (options.verify ? "--verify" : "--profile") +
                 " needs (disco-compile --instrument), but it is not"};
  }
  return findEntry();
}

/// That the artifact is for a kind of device is said with what to do.
Status Program::checkDevice() const {
  const std::string target = disco_artifact_target(call->artifact());
  if ((target == "cpu") == call->isOnCpu())
    return {};
  if (call->isOnCpu())
    return Error{"expected --device cuda:N for '" + options.program +
                 "', which is built for " + target + ", but got cpu"};
  const std::string device = "cuda:" + std::to_string(options.device.id);
  const Result<std::string> chip = findTarget(options.device);
  return Error{"expected '" + options.program + "' to be built for " + device +
               (chip ? " (disco-compile --target=" + *chip + ")" : "") +
               ", but got target " + target + ", which runs without --device " +
               device};
}

Status Program::findEntry() {
  if (!options.entry.empty())
    return call->find(options.entry);
  const int32_t count = disco_artifact_num_entries(call->artifact());
  std::string names;
  for (int32_t i = 0; i < count; ++i) {
    const disco_entry *other = nullptr;
    if (Status s = check(disco_artifact_entry(call->artifact(), i, &other)); !s)
      return s;
    if (count == 1)
      return call->find(disco_entry_name(other));
    names += (i ? ", " : "") + std::string(disco_entry_name(other));
  }
  return Error{"expected --entry to name one of " + std::to_string(count) +
               " entries" + (count ? " (" + names + ")" : "") +
               ", but got none"};
}

Status Program::checkCounts() const {
  const int32_t numInputs = disco_entry_num_inputs(entry());
  const auto given = static_cast<int32_t>(options.inputs.size());
  if (given != numInputs) {
    std::string types;
    for (int32_t i = 0; i < numInputs; ++i) {
      disco_tensor_type type;
      if (Status s = check(disco_entry_input(entry(), i, &type)); !s)
        return s;
      types += (i ? ", " : "") + describeType(type);
    }
    return Error{std::string("expected entry '") + disco_entry_name(entry()) +
                 "' to get " + std::to_string(numInputs) + " --input" +
                 (numInputs ? " (" + types + ")" : "") + ", but got " +
                 std::to_string(given)};
  }
  const int32_t numOutputs = disco_entry_num_outputs(entry());
  const auto wanted = static_cast<int32_t>(options.outputs.size());
  if (wanted != 0 && wanted != numOutputs)
    return Error{std::string("expected entry '") + disco_entry_name(entry()) +
                 "' to get " + std::to_string(numOutputs) +
                 " --output or none, but got " + std::to_string(wanted)};
  return {};
}

Status Program::load() {
  if (Status s = checkCounts(); !s)
    return s;
  std::vector<Array> inputs;
  for (const std::string &path : options.inputs) {
    Result<Array> array = readNpy(path);
    if (!array)
      return array.error();
    inputs.push_back(std::move(*array));
  }
  return call->load(std::move(inputs));
}

void Program::print(double milliseconds) const {
  std::printf("entry %s: target %s (%s), workspace %llu bytes\n",
              disco_entry_name(entry()),
              disco_artifact_target(call->artifact()),
              disco_artifact_cpu(call->artifact()),
              static_cast<unsigned long long>(call->workspaceBytes()));
  disco_device_properties properties = {};
  properties.struct_size = sizeof properties;
  if (!call->isOnCpu() &&
      disco_device_query(options.device.id, &properties) == DISCO_OK)
    std::printf("device cuda:%d: %s (sm_%d%d)\n", options.device.id,
                properties.name, properties.major, properties.minor);
  if (const char *plan = disco_entry_plan(entry()); *plan)
    std::printf("plan: %s\n", plan);
  const std::vector<Array> &inputs = call->inputs(), &outputs = call->outputs();
  for (size_t i = 0; i < inputs.size(); ++i)
    std::printf("input %zu: %s\n", i,
                describe(inputs[i].dtype, inputs[i].shape).c_str());
  for (size_t i = 0; i < outputs.size(); ++i)
    std::printf("output %zu: %s\n", i,
                describe(outputs[i].dtype, outputs[i].shape).c_str());
  if (!call->isOnCpu())
    std::printf("prepare: %.1f ms\n", call->prepareMilliseconds());
  std::printf("time: %.3f ms (median of %lld)\n", milliseconds,
              static_cast<long long>(options.repeat));
}

Place Program::place() const {
  if (call->isOnCpu())
    return {};
  disco_device_context device = {};
  device.struct_size = sizeof device;
  device.device = options.device.id;
  return {[device] { disco_device_synchronize(&device); },
          [device](void *to, const void *from, uint64_t bytes) {
            return disco_device_copy(&device, to, from, bytes);
          }};
}

Status Program::execute() {
  std::optional<Profiler> profiler;
  std::optional<HookScope> scope;
  if (options.profile) {
    profiler.emplace(call->artifact(), place());
    scope.emplace(profiler->hooks());
  }
  std::vector<double> times;
  {
    Progress progress("running", options.repeat);
    for (int64_t i = 0; i < options.repeat; ++i) {
      const auto start = std::chrono::steady_clock::now();
      if (Status s = call->run(); !s)
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
  if (profiler) {
    profiler->print(milliseconds);
    if (Status s = profiler->result(); !s)
      return s;
  }
  return call->fetch();
}

Status Program::verify() {
  Verifier verifier(call->artifact(), place());
  {
    const Progress progress("verifying");
    const HookScope scope(verifier.hooks());
    if (Status s = call->run(); !s)
      return s;
  }
  verifier.print();
  return verifier.result();
}

Status Program::write() {
  // Nothing appears before everything has been written.
  std::vector<AtomicFile> files;
  for (size_t i = 0; i < options.outputs.size(); ++i) {
    Result<AtomicFile> file = stageNpy(options.outputs[i], call->outputs()[i]);
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

/// What the user called `path`, where a message says it.
std::string withName(std::string message, const std::string &path,
                     const std::string &name) {
  for (size_t at = message.find(path); at != std::string::npos;
       at = message.find(path, at + name.size()))
    message.replace(at, path.size(), name);
  return message;
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
  return status
             ? exitOk
             : reportError(withName(status.message(), path, options.program));
}

} // namespace disco::run
