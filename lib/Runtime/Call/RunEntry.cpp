//===- RunEntry.cpp - running entries of artifacts on arrays --------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Runtime/RunEntry.h"

#include "disco/ABI/DeviceKernel.h"

#include <algorithm>

namespace disco {

namespace {

Status check(disco_status status) {
  return status == DISCO_OK ? Status() : Status(Error{disco_last_error()});
}

/// Memory of a context, where it is not the host's that of the array.
class Block {
public:
  explicit Block(disco_context *context) : context(context) {}
  ~Block() { disco_release(context, memory, bytes); }
  Block(Block &&other) noexcept
      : context(other.context), memory(other.memory), bytes(other.bytes) {
    other.memory = nullptr;
  }

  Status allocate(uint64_t size) {
    bytes = size;
    return check(disco_allocate(context, size, &memory));
  }
  void *get() const { return memory; }
  uint64_t size() const { return bytes; }

private:
  disco_context *context;
  void *memory = nullptr;
  uint64_t bytes = 0;
};

struct Close {
  void operator()(disco_artifact *artifact) const {
    disco_artifact_close(artifact);
  }
};

/// One run of an entry.
class Run {
public:
  Run(disco_device device, disco_context *context, const disco_entry *entry,
      std::vector<Array> arrays)
      : device(device), context(context), entry(entry),
        inputs(std::move(arrays)) {
    copies.struct_size = sizeof copies;
    copies.device = device.id;
  }

  Result<std::vector<Array>> execute() {
    for (Status (Run::*step)() :
         {&Run::makeInputs, &Run::makeOutputs, &Run::call, &Run::moveBack})
      if (Status s = (this->*step)(); !s)
        return s.error();
    return std::move(outputs);
  }

private:
  bool isOnCpu() const { return device.kind == DISCO_CPU; }

  /// The array's memory, or a copy of it on the device.
  Status place(Array &array, std::vector<disco_tensor> &views) {
    disco_tensor view = {};
    view.data = array.bytes.data();
    view.device = device;
    view.rank = static_cast<int32_t>(array.shape.size());
    view.dtype = static_cast<disco_dtype>(array.dtype);
    view.shape = array.shape.data();
    if (!isOnCpu()) {
      Block &block = blocks.emplace_back(context);
      if (Status s = block.allocate(array.bytes.size()); !s)
        return s;
      if (Status s = check(disco_device_copy(
              &copies, block.get(), array.bytes.data(), array.bytes.size()));
          !s)
        return s;
      view.data = block.get();
    }
    views.push_back(view);
    return {};
  }

  Status makeInputs() {
    for (Array &array : inputs)
      if (Status s = place(array, inputViews); !s)
        return s;
    return {};
  }

  Status makeOutputs() {
    int64_t dims[DISCO_MAX_TENSORS * DISCO_MAX_RANK];
    if (Status s = check(disco_entry_output_shapes(
            entry, inputViews.data(), static_cast<int32_t>(inputViews.size()),
            dims, DISCO_MAX_TENSORS * DISCO_MAX_RANK, nullptr));
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
      std::fill(array->bytes.begin(), array->bytes.end(), 0xff);
      outputs.push_back(std::move(*array));
    }
    for (Array &array : outputs)
      if (Status s = place(array, outputViews); !s)
        return s;
    return {};
  }

  Status call() {
    const auto numInputs = static_cast<int32_t>(inputViews.size());
    if (Status s = check(disco_prepare(context, entry)); !s)
      return s;
    uint64_t bytes = 0;
    if (Status s = check(disco_workspace_bytes(
            context, entry, inputViews.data(), numInputs, &bytes));
        !s)
      return s;
    Block workspace(context);
    if (Status s = workspace.allocate(bytes); !s)
      return s;
    if (Status s = check(disco_run(
            context, entry, inputViews.data(), numInputs, outputViews.data(),
            static_cast<int32_t>(outputViews.size()), workspace.get(), bytes));
        !s)
      return s;
    return isOnCpu() ? Status() : check(disco_device_synchronize(&copies));
  }

  Status moveBack() {
    for (size_t i = 0; i < outputs.size() && !isOnCpu(); ++i)
      if (Status s = check(disco_device_copy(&copies, outputs[i].bytes.data(),
                                             blocks[inputs.size() + i].get(),
                                             outputs[i].bytes.size()));
          !s)
        return s;
    return {};
  }

  disco_device device;
  disco_context *context;
  const disco_entry *entry;
  disco_device_context copies = {};
  std::vector<Array> inputs, outputs;
  std::vector<Block> blocks;
  std::vector<disco_tensor> inputViews, outputViews;
};

} // namespace

Result<EntryRunner> EntryRunner::create(disco_device device) {
  disco_context_options options = {};
  options.struct_size = sizeof options;
  options.device = device;
  disco_context *context = nullptr;
  if (disco_context_create(&options, &context) != DISCO_OK)
    return Error{disco_last_error()};
  EntryRunner runner;
  runner.device = device;
  runner.context.reset(context);
  return Result<EntryRunner>(std::move(runner));
}

Result<std::vector<Array>> EntryRunner::run(const std::string &artifact,
                                            const std::string &entry,
                                            std::vector<Array> inputs) const {
  disco_artifact *opened = nullptr;
  if (disco_artifact_open(artifact.c_str(), &opened) != DISCO_OK)
    return Error{disco_last_error()};
  const std::unique_ptr<disco_artifact, Close> closing(opened);
  const disco_entry *found = nullptr;
  if (disco_artifact_find_entry(opened, entry.c_str(), &found) != DISCO_OK)
    return Error{disco_last_error()};
  return Run(device, context.get(), found, std::move(inputs)).execute();
}

} // namespace disco
