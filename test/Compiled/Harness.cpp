//===- Harness.cpp - compile, run, compare --------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "disco/ABI/DeviceKernel.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

using namespace disco;
using namespace disco::compiled;

static Error lastError(const char *what) {
  return Error{std::string(what) + ": " + disco_last_error()};
}

Result<Program> Program::open(const std::string &path, disco_device device) {
  Program program;
  program.device = device;
  disco_artifact *artifact = nullptr;
  if (disco_artifact_open(path.c_str(), &artifact) != DISCO_OK)
    return lastError("open");
  program.artifact.reset(artifact);
  disco_context *context = nullptr;
  disco_context_options options = {};
  options.struct_size = sizeof options;
  options.device = device;
  if (disco_context_create(&options, &context) != DISCO_OK)
    return lastError("context");
  program.context.reset(context);
  return Result<Program>(std::move(program));
}

namespace {

/// A tensor in memory of its own: a gap, and then the elements of a dense
/// tensor, each `spread` elements apart.
class Placed {
public:
  Placed(DType dtype, std::vector<int64_t> shape, int64_t spread,
         uint8_t rubbish)
      : dtype(dtype), shape(std::move(shape)), spread(spread),
        rubbish(rubbish) {
    strides.resize(this->shape.size());
    int64_t stride = spread;
    for (size_t i = strides.size(); i-- > 0;) {
      strides[i] = stride;
      stride *= this->shape[i];
    }
    count = stride / spread;
    size = sizeOf(dtype);
    gap = spread > 1 ? 4 : 0;
    memory.assign((gap + count * spread) * size, rubbish);
  }

  void fill(const Array &array) {
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(at(i), array.bytes.data() + i * size, size);
  }
  Array read() const {
    Array array{dtype, shape, std::vector<uint8_t>(count * size)};
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(array.bytes.data() + i * size, at(i), size);
    return array;
  }
  /// Whether only elements were written.
  bool isIntact() const {
    size_t first = gap * size, step = spread * size;
    for (size_t i = 0; i < memory.size(); ++i)
      if ((i < first || (i - first) % step >= size) && memory[i] != rubbish)
        return false;
    return true;
  }
  std::vector<uint8_t> &bytes() { return memory; }
  disco_tensor view() {
    return {memory.data(),
            {DISCO_CPU, 0},
            static_cast<int32_t>(shape.size()),
            static_cast<disco_dtype>(dtype),
            shape.data(),
            strides.data(),
            gap * size};
  }

private:
  uint8_t *at(int64_t i) { return memory.data() + (gap + i * spread) * size; }
  const uint8_t *at(int64_t i) const {
    return memory.data() + (gap + i * spread) * size;
  }

  DType dtype;
  std::vector<int64_t> shape, strides;
  int64_t spread, count = 0;
  size_t size = 0, gap = 0;
  uint8_t rubbish;
  std::vector<uint8_t> memory;
};

/// Copies of host memory on a device; on the CPU the memory itself.
class Moved {
public:
  Moved(disco_device device, disco_context *context)
      : device(device), context(context) {
    copies.struct_size = sizeof copies;
    copies.device = device.id;
  }
  ~Moved() {
    for (const Block &block : blocks)
      disco_release(context, block.memory, block.host->size());
  }
  Moved(const Moved &) = delete;

  bool add(std::vector<uint8_t> &host, void *&data) {
    data = host.data();
    if (device.kind == DISCO_CPU)
      return true;
    Block &block = blocks.emplace_back(Block{&host, nullptr});
    if (disco_allocate(context, host.size(), &block.memory) != DISCO_OK)
      return false;
    data = block.memory;
    return disco_device_copy(&copies, block.memory, host.data(), host.size()) ==
           DISCO_OK;
  }
  /// Waits for the work, and copies back.
  bool finish() {
    if (device.kind == DISCO_CPU)
      return true;
    if (disco_device_synchronize(&copies) != DISCO_OK)
      return false;
    for (const Block &block : blocks)
      if (disco_device_copy(&copies, block.host->data(), block.memory,
                            block.host->size()) != DISCO_OK)
        return false;
    return true;
  }

private:
  struct Block {
    std::vector<uint8_t> *host;
    void *memory;
  };
  disco_device device;
  disco_context *context;
  disco_device_context copies = {};
  std::vector<Block> blocks;
};

} // namespace

/// Outputs of the shapes that the entry wants for these inputs.
static Result<std::vector<Placed>>
placeOutputs(const disco_entry *entry, const std::vector<disco_tensor> &inputs,
             int64_t spread, uint8_t rubbish) {
  std::vector<int64_t> dims(DISCO_MAX_TENSORS * DISCO_MAX_RANK);
  int32_t count = 0;
  if (disco_entry_output_shapes(entry, inputs.data(), inputs.size(),
                                dims.data(), dims.size(), &count) != DISCO_OK)
    return lastError("output shapes");
  std::vector<Placed> outputs;
  const int64_t *next = dims.data();
  for (int32_t i = 0; i < disco_entry_num_outputs(entry); ++i) {
    disco_tensor_type type;
    if (disco_entry_output(entry, i, &type) != DISCO_OK)
      return lastError("output type");
    outputs.emplace_back(static_cast<DType>(type.dtype),
                         std::vector<int64_t>(next, next + type.rank), spread,
                         rubbish);
    next += type.rank;
  }
  return Result<std::vector<Placed>>(std::move(outputs));
}

Result<std::vector<Array>> Program::runOnce(const std::string &name,
                                            const std::vector<Array> &inputs,
                                            int64_t spread,
                                            uint8_t rubbish) const {
  const disco_entry *entry = nullptr;
  if (disco_artifact_find_entry(artifact.get(), name.c_str(), &entry) !=
      DISCO_OK)
    return lastError("entry");
  if (disco_prepare(context.get(), entry) != DISCO_OK)
    return lastError("prepare");
  std::vector<Placed> placedInputs;
  std::vector<disco_tensor> inputViews, outputViews;
  placedInputs.reserve(inputs.size());
  for (const Array &input : inputs) {
    placedInputs.emplace_back(input.dtype, input.shape, spread, rubbish);
    placedInputs.back().fill(input);
    inputViews.push_back(placedInputs.back().view());
  }
  Result<std::vector<Placed>> outputs =
      placeOutputs(entry, inputViews, spread, rubbish);
  if (!outputs)
    return outputs.error();
  for (Placed &output : *outputs)
    outputViews.push_back(output.view());
  Moved moved(device, context.get());
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputViews[i].device = device;
    if (!moved.add(placedInputs[i].bytes(), inputViews[i].data))
      return lastError("moving an input");
  }
  for (size_t i = 0; i < outputs->size(); ++i) {
    outputViews[i].device = device;
    if (!moved.add((*outputs)[i].bytes(), outputViews[i].data))
      return lastError("moving an output");
  }
  uint64_t bytes = 0;
  if (disco_workspace_bytes(context.get(), entry, inputViews.data(),
                            inputViews.size(), &bytes) != DISCO_OK)
    return lastError("workspace");
  // On the CPU in the context's memory, which is aligned.
  std::vector<uint8_t> content(bytes, rubbish);
  void *allocated = nullptr, *workspace = nullptr;
  if (device.kind == DISCO_CPU) {
    if (disco_allocate(context.get(), bytes, &allocated) != DISCO_OK)
      return lastError("allocate");
    if (bytes)
      std::memset(allocated, rubbish, bytes);
    workspace = allocated;
  } else if (!moved.add(content, workspace)) {
    return lastError("allocate");
  }
  disco_status status =
      disco_run(context.get(), entry, inputViews.data(), inputViews.size(),
                outputViews.data(), outputViews.size(), workspace, bytes);
  disco_release(context.get(), allocated, bytes);
  if (status != DISCO_OK)
    return lastError("run");
  if (!moved.finish())
    return lastError("the end of the work");
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!same(placedInputs[i].read(), inputs[i]) || !placedInputs[i].isIntact())
      return Error{"input " + std::to_string(i) + " was written to"};
  std::vector<Array> results;
  for (const Placed &output : *outputs) {
    if (!output.isIntact())
      return Error{"memory between the elements of an output was written to"};
    results.push_back(output.read());
  }
  return results;
}

Result<std::vector<Array>>
Program::run(const std::string &entry, const std::vector<Array> &inputs) const {
  // All bits set is NaN in every float type.
  Result<std::vector<Array>> first = runOnce(entry, inputs, 1, 0xff);
  if (!first)
    return first;
  Result<std::vector<Array>> second = runOnce(entry, inputs, 1, 0x3c);
  if (!second)
    return second;
  for (size_t i = 0; i < first->size(); ++i)
    if (!same((*first)[i], (*second)[i]))
      return Error{"two runs differ in output " + std::to_string(i)};
  return first;
}

Result<std::vector<Array>> Program::runSpread(const std::string &entry,
                                              const std::vector<Array> &inputs,
                                              int64_t spread) const {
  return runOnce(entry, inputs, spread, 0xff);
}

Result<uint64_t>
Program::workspaceBytes(const std::string &name,
                        const std::vector<std::vector<int64_t>> &shapes) const {
  const disco_entry *entry = nullptr;
  if (disco_artifact_find_entry(artifact.get(), name.c_str(), &entry) !=
      DISCO_OK)
    return lastError("entry");
  std::vector<disco_tensor> views;
  for (size_t i = 0; i < shapes.size(); ++i) {
    disco_tensor_type type;
    if (disco_entry_input(entry, i, &type) != DISCO_OK)
      return lastError("input type");
    views.push_back({nullptr,
                     {DISCO_CPU, 0},
                     static_cast<int32_t>(shapes[i].size()),
                     type.dtype,
                     shapes[i].data(),
                     nullptr,
                     0});
  }
  uint64_t bytes = 0;
  if (disco_workspace_bytes(context.get(), entry, views.data(), views.size(),
                            &bytes) != DISCO_OK)
    return lastError("workspace");
  return bytes;
}

std::unique_ptr<Program> Checker::compile(const std::string &name,
                                          const std::string &mlir,
                                          const std::string &options) {
  std::string source = work + "/" + name + ".mlir";
  std::string library = work + "/" + name + ".so";
  std::ofstream(source) << mlir;
  std::string command = tools + "/disco-compile " + source + " -o " + library +
                        " --target=" + place.target + " --family=" + kernels +
                        " " + options;
  if (place.compiles) {
    int code = std::system(command.c_str());
    if (code != 0 || !place.runs)
      check(name + ": disco-compile", code == 0,
            "exit code " + std::to_string(code));
    if (code != 0 || !place.runs)
      return nullptr;
  }
  Result<Program> program = Program::open(library, place.device);
  if (!program) {
    check(name + ": open", false, program.message());
    return nullptr;
  }
  return std::make_unique<Program>(std::move(*program));
}

void Checker::check(const std::string &name, bool ok,
                    const std::string &detail) {
  ++(ok ? passed : failed);
  if (!ok)
    std::printf("FAIL %s: %s\n", name.c_str(), detail.c_str());
}

void Checker::compare(const std::string &name, DType dtype,
                      const Tensor &expected, const Array &actual,
                      const Tensor *naive) {
  if (expected.shape != actual.shape)
    return check(name, false,
                 "expected the shape " +
                     describe(actual.dtype, expected.shape) + ", but got " +
                     describe(actual.dtype, actual.shape));
  double naiveError =
      naive ? reference::compare(expected, naive->rounded(actual.dtype))
                  .relativeL2
            : 0;
  double bound = reference::errorBound(dtype, naiveError);
  reference::Difference difference =
      reference::compare(expected, Tensor::from(actual));
  check(name, difference.within(bound),
        "expected the error to be at most " + std::to_string(bound) +
            ", but got " + std::to_string(difference.relativeL2) +
            (difference.finite ? "" : " and values that are not finite"));
}

bool Checker::finish() const {
  std::printf("%d passed, %d failed\n", passed, failed);
  return passed > 0 && failed == 0;
}

Array Random::array(DType dtype, const std::vector<int64_t> &shape) {
  return makeArray(dtype, shape, [&](int64_t) { return next(); });
}

std::string compiled::tensorType(DType dtype,
                                 const std::vector<int64_t> &shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += (size < 0 ? "?" : std::to_string(size)) + "x";
  return text + std::string(nameOf(dtype)) + ">";
}

Array compiled::makeArray(DType dtype, const std::vector<int64_t> &shape,
                          const std::function<double(int64_t)> &value) {
  Result<Array> array = Array::create(dtype, shape);
  if (!array) {
    std::printf("%s\n", array.message().c_str());
    std::exit(1);
  }
  for (int64_t i = 0, n = array->numElements(); i < n; ++i)
    array->set(i, value(i));
  return std::move(*array);
}

bool compiled::same(const Array &a, const Array &b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.bytes == b.bytes;
}
