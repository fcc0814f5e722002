//===- RunEntry.cpp - running entries of artifacts on arrays --------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Runtime/RunEntry.h"

#include <algorithm>
#include <chrono>

namespace disco {

static Status check(disco_status status) {
  return status == DISCO_OK ? Status() : Status(Error{disco_last_error()});
}

static int32_t countOf(const std::vector<disco_tensor> &tensors) {
  return static_cast<int32_t>(tensors.size());
}

//===----------------------------------------------------------------------===//
// EntryCall
//===----------------------------------------------------------------------===//

EntryCall::EntryCall(std::shared_ptr<disco_context> context,
                     disco_device device)
    : context(std::move(context)), device(device) {
  copies.struct_size = sizeof copies;
  copies.device = device.id;
}

EntryCall::~EntryCall() {
  disco_release(context.get(), workspace.memory, workspace.bytes);
  for (const Block &block : blocks)
    disco_release(context.get(), block.memory, block.bytes);
}

Status EntryCall::open(const std::string &path) {
  disco_artifact *artifact = nullptr;
  if (Status s = check(disco_artifact_open(path.c_str(), &artifact)); !s)
    return s;
  opened.reset(artifact);
  return {};
}

Status EntryCall::find(const std::string &name) {
  return check(disco_artifact_find_entry(opened.get(), name.c_str(), &found));
}

Status EntryCall::allocate(uint64_t bytes, Block &block) {
  block.bytes = bytes;
  return check(disco_allocate(context.get(), bytes, &block.memory));
}

/// The array's memory, or a copy of it on the device.
Status EntryCall::place(Array &array, std::vector<disco_tensor> &views) {
  disco_tensor view = {};
  view.data = array.bytes.data();
  view.device = device;
  view.rank = static_cast<int32_t>(array.shape.size());
  view.dtype = static_cast<disco_dtype>(array.dtype);
  view.shape = array.shape.data();
  if (!isOnCpu()) {
    Block &block = blocks.emplace_back();
    if (Status s = allocate(array.bytes.size(), block); !s)
      return s;
    if (Status s = check(disco_device_copy(
            &copies, block.memory, array.bytes.data(), array.bytes.size()));
        !s)
      return s;
    view.data = block.memory;
  }
  views.push_back(view);
  return {};
}

Status EntryCall::makeOutputs() {
  int64_t dims[DISCO_MAX_TENSORS * DISCO_MAX_RANK];
  if (Status s = check(disco_entry_output_shapes(
          found, inputViews.data(), countOf(inputViews), dims,
          DISCO_MAX_TENSORS * DISCO_MAX_RANK, nullptr));
      !s)
    return s;
  const int64_t *next = dims;
  for (int32_t i = 0; i < disco_entry_num_outputs(found); ++i) {
    disco_tensor_type type;
    if (Status s = check(disco_entry_output(found, i, &type)); !s)
      return s;
    Result<Array> array =
        Array::create(static_cast<DType>(type.dtype),
                      std::vector<int64_t>(next, next + type.rank));
    if (!array)
      return array.error();
    next += type.rank;
    std::fill(array->bytes.begin(), array->bytes.end(), 0xff);
    out.push_back(std::move(*array));
  }
  for (Array &array : out)
    if (Status s = place(array, outputViews); !s)
      return s;
  return {};
}

Status EntryCall::load(std::vector<Array> arrays) {
  in = std::move(arrays);
  for (Array &array : in) {
    if (array.shape.size() > DISCO_MAX_RANK)
      return Error{"expected inputs to have rank at most " +
                   std::to_string(DISCO_MAX_RANK) + ", but got " +
                   std::to_string(array.shape.size())};
    if (Status s = place(array, inputViews); !s)
      return s;
  }
  if (Status s = makeOutputs(); !s)
    return s;
  const auto start = std::chrono::steady_clock::now();
  if (Status s = check(disco_prepare(context.get(), found)); !s)
    return s;
  prepareTime = std::chrono::duration<double, std::milli>(
                    std::chrono::steady_clock::now() - start)
                    .count();
  uint64_t bytes = 0;
  if (Status s =
          check(disco_workspace_bytes(context.get(), found, inputViews.data(),
                                      countOf(inputViews), &bytes));
      !s)
    return s;
  return allocate(bytes, workspace);
}

Status EntryCall::run() {
  if (Status s = check(disco_run(context.get(), found, inputViews.data(),
                                 countOf(inputViews), outputViews.data(),
                                 countOf(outputViews), workspace.memory,
                                 workspace.bytes));
      !s)
    return s;
  return isOnCpu() ? Status() : check(disco_device_synchronize(&copies));
}

Status EntryCall::fetch() {
  for (size_t i = 0; i < out.size() && !isOnCpu(); ++i)
    if (Status s = check(disco_device_copy(&copies, out[i].bytes.data(),
                                           blocks[in.size() + i].memory,
                                           out[i].bytes.size()));
        !s)
      return s;
  return {};
}

//===----------------------------------------------------------------------===//
// EntryRunner
//===----------------------------------------------------------------------===//

Result<EntryRunner> EntryRunner::create(disco_device device) {
  disco_context_options options = {};
  options.struct_size = sizeof options;
  options.device = device;
  disco_context *context = nullptr;
  if (Status s = check(disco_context_create(&options, &context)); !s)
    return s.error();
  EntryRunner runner;
  runner.device = device;
  runner.context.reset(context, disco_context_destroy);
  return Result<EntryRunner>(std::move(runner));
}

Result<std::vector<Array>> EntryRunner::run(const std::string &artifact,
                                            const std::string &entry,
                                            std::vector<Array> inputs) const {
  EntryCall call(context, device);
  if (Status s = call.open(artifact); !s)
    return s.error();
  if (Status s = call.find(entry); !s)
    return s.error();
  if (Status s = call.load(std::move(inputs)); !s)
    return s.error();
  if (Status s = call.run(); !s)
    return s.error();
  if (Status s = call.fetch(); !s)
    return s.error();
  return std::move(call.outputs());
}

} // namespace disco
