//===- Instrument.h - --profile and --verify --------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What --profile and --verify do while an instrumented artifact runs. Both are
// hooks of the running thread (disco/ABI/Probe.h).
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TOOLS_DISCORUN_INSTRUMENT_H
#define DISCO_TOOLS_DISCORUN_INSTRUMENT_H

#include "disco/ABI/Probe.h"
#include "disco/Runtime/Reference.h"
#include "disco/Support/Npy.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace disco::run {

/// Installs hooks for the calling thread while it lives.
class HookScope {
public:
  explicit HookScope(const disco_probe_hooks &hooks) {
    disco_set_probe_hooks(&hooks);
  }
  ~HookScope() { disco_set_probe_hooks(nullptr); }
  HookScope(const HookScope &) = delete;
  HookScope &operator=(const HookScope &) = delete;
};

/// Where operations run, as hooks need it.
struct Place {
  /// Waits for the work of the device; nothing on the CPU.
  std::function<void()> wait;
  /// Copies from memory of the device to the host.
  std::function<disco_status(void *to, const void *from, uint64_t bytes)> copy;
};

/// Takes the time between begin and end of every operation. On a GPU waits for
/// the end of the work at both.
class Profiler {
public:
  Profiler(const disco_artifact *artifact, Place place);

  disco_probe_hooks hooks();
  /// To be called after each run.
  void finishRun();
  /// One line an operation: the median over the runs, in the order of the
  /// first, numbered from 0.
  void print(double totalMilliseconds) const;
  /// An error when there was no operation.
  Status result() const;

private:
  using Clock = std::chrono::steady_clock;
  struct Row {
    disco_abi_probe probe{};
    std::string family;
    int64_t calls = 0;
    Clock::time_point start;
    double current = 0; // milliseconds in this run
    std::vector<double> runs;
  };

  void begin(int64_t id);
  void end(int64_t id);

  Place place;
  std::vector<Row> rows;
  std::vector<int64_t> order; // ids by their first call
  int64_t runs = 0;
};

/// Recomputes every operation in float64 from the operands that it had.
class Verifier {
public:
  Verifier(const disco_artifact *artifact, Place place)
      : artifact(artifact), place(std::move(place)) {}

  disco_probe_hooks hooks();
  /// One line each time that an operation ran, with the number that Profiler
  /// gives it.
  void print() const;
  /// An error that names the first operation that is wrong, or when nothing was
  /// compared.
  Status result() const;

private:
  struct Row {
    size_t number = 0; // of the operation
    std::string op, location;
    std::string dtype = "-";
    double error = 0, bound = 0, worstRow = 0;
    std::string failure; // "": it is right
    bool compared = false;
  };

  void begin(int64_t id);
  void operand(int64_t id, int32_t index, const disco_tensor &tensor);
  void end(int64_t id);
  void check(Row &row);
  /// `naive`: computed in the type of the fields, where the accuracy rule asks
  /// for it. `dtype`: that of the result.
  void compareResult(Row &row, size_t index, const reference::Tensor &got,
                     const reference::Tensor &want,
                     const reference::Tensor *naive, DType dtype) const;

  Result<Array> copyOf(const disco_tensor &tensor) const;

  const disco_artifact *artifact;
  Place place;
  std::vector<Row> rows;
  std::vector<int64_t> order; // ids by their first call
  /// The operation between begin and end: its probe, operands and results.
  int64_t current = -1;
  disco_abi_probe probe{};
  std::vector<Array> recorded;
  std::string recordingFailure;
};

} // namespace disco::run

#endif // DISCO_TOOLS_DISCORUN_INSTRUMENT_H
