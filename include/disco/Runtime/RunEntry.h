//===- RunEntry.h - running entries of artifacts on arrays ------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests: arrays of the host are moved to the device and back.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_RUNTIME_RUNENTRY_H
#define DISCO_RUNTIME_RUNENTRY_H

#include "disco/ABI/DeviceKernel.h"
#include "disco/Support/Npy.h"

#include <memory>
#include <string>
#include <vector>

namespace disco {

/// A call of an entry, with its tensors on a device: from opening the artifact
/// to the outputs.
class EntryCall {
public:
  EntryCall(std::shared_ptr<disco_context> context, disco_device device);
  ~EntryCall();
  EntryCall(const EntryCall &) = delete;

  Status open(const std::string &path);
  /// The entry of that name.
  Status find(const std::string &name);
  /// Prepares the entry, and brings the inputs to the device. Outputs are full
  /// of NaN.
  Status load(std::vector<Array> arrays);
  /// Runs once, to the end of the work. Any number of times.
  Status run();
  /// Brings the outputs back from the device.
  Status fetch();

  const disco_artifact *artifact() const { return opened.get(); }
  /// Null before one was found.
  const disco_entry *entry() const { return found; }
  const std::vector<Array> &inputs() const { return in; }
  std::vector<Array> &outputs() { return out; }
  uint64_t workspaceBytes() const { return workspace.bytes; }
  /// What preparing the entry took.
  double prepareMilliseconds() const { return prepareTime; }
  bool isOnCpu() const { return device.kind == DISCO_CPU; }

private:
  /// Memory of the context; none for what lies in an array of the host.
  struct Block {
    void *memory = nullptr;
    uint64_t bytes = 0;
  };
  struct Close {
    void operator()(disco_artifact *artifact) const {
      disco_artifact_close(artifact);
    }
  };

  Status allocate(uint64_t bytes, Block &block);
  Status place(Array &array, std::vector<disco_tensor> &views);
  Status makeOutputs();

  std::shared_ptr<disco_context> context;
  disco_device device;
  disco_device_context copies = {};
  std::unique_ptr<disco_artifact, Close> opened;
  const disco_entry *found = nullptr;
  std::vector<Array> in, out;
  /// On a GPU: of inputs, then of outputs.
  std::vector<Block> blocks;
  Block workspace;
  double prepareTime = 0;
  std::vector<disco_tensor> inputViews, outputViews;
};

/// A device, on which entries run one after the other.
class EntryRunner {
public:
  static Result<EntryRunner> create(disco_device device);

  /// Opens, prepares, runs and closes. The outputs are full of NaN before.
  Result<std::vector<Array>> run(const std::string &artifact,
                                 const std::string &entry,
                                 std::vector<Array> inputs) const;

  /// A call on the device, which may outlive the runner.
  std::unique_ptr<EntryCall> call() const {
    return std::make_unique<EntryCall>(context, device);
  }

private:
  disco_device device = {DISCO_CPU, 0};
  std::shared_ptr<disco_context> context;
};

} // namespace disco

#endif // DISCO_RUNTIME_RUNENTRY_H
