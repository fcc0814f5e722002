//===- DeviceCall.cpp - calls with host memory on a device ----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/ABI/DeviceKernel.h"
#include "disco/Runtime/KernelCall.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace disco {

namespace {

/// The element counts of a call's operands.
struct Counts {
  int64_t x, gy, weight, bias, residual, y, gradBias;

  explicit Counts(const disco_kernel_call &call) : Counts() {
    const disco_kernel_psi &psi = call.psi;
    const int64_t in = call.batch * psi.nlat_in * psi.nlon_in;
    const int64_t out = call.batch * psi.nlat_out * psi.nlon_out;
    const int64_t K = psi.num_basis, C = call.channels, O = call.out_channels;
    const int64_t parameters = O * (C / call.groups) * K;
    // c8 has whole blocks of channels.
    const auto stored = [&](int32_t layout) {
      return layout == DISCO_C8 ? (C + 7) / 8 * 8 : C;
    };
    switch (call.op) {
    case DISCO_OP_CONTRACT:
      x = in * stored(call.schedule.in_layout);
      y = out * stored(call.schedule.out_layout) * K;
      return;
    case DISCO_OP_CONTRACT_SUM:
      x = in * stored(call.schedule.in_layout) * K;
      y = out * stored(call.schedule.out_layout);
      return;
    case DISCO_OP_CONV:
      x = in * C;
      y = out * O;
      weight = parameters;
      bias = call.has_bias ? O : 0;
      residual = call.has_residual ? out * O : 0;
      return;
    default: {
      const bool reversed = call.schedule.order == DISCO_WEIGHT_FIRST;
      x = (reversed ? out : in) * C;
      gy = (reversed ? in : out) * O;
      y = parameters;
      gradBias = call.has_bias ? O : 0;
    }
    }
  }

private:
  Counts() : x(0), gy(0), weight(0), bias(0), residual(0), y(0), gradBias(0) {}
};

Status statusOf(disco_status status) {
  return status == DISCO_OK ? Status() : Status(Error{disco_last_error()});
}

/// Memory of a device.
class Block {
public:
  Block() = default;
  ~Block() {
    if (context)
      disco_device_release(context, memory, bytes);
  }
  Block(const Block &) = delete;

  Status allocate(const disco_device_context &from, uint64_t size) {
    if (disco_device_allocate(&from, size, &memory) != DISCO_OK)
      return Error{disco_last_error()};
    context = &from;
    bytes = size;
    return {};
  }
  void *get() const { return memory; }

private:
  const disco_device_context *context = nullptr;
  void *memory = nullptr;
  uint64_t bytes = 0;
};

struct Prepared {
  disco_prepared *handle = nullptr;
  ~Prepared() { disco_device_destroy(handle); }
};

/// Operands on the device; `call` is changed to point to them.
class Operands {
public:
  Operands(const disco_device_context &context, disco_kernel_call &call)
      : context(context), call(call) {}

  Status upload() {
    const Counts counts(call);
    const DType type = static_cast<DType>(call.dtype);
    const DType parameters = static_cast<DType>(call.weight_dtype);
    const bool isGradient = call.op == DISCO_OP_CONV_WEIGHT_GRAD;
    for (const auto &[pointer, count, dtype] :
         {std::tuple(&call.x, counts.x, type),
          std::tuple(&call.gy, counts.gy, type),
          std::tuple(&call.weight, counts.weight, parameters),
          std::tuple(&call.bias, counts.bias, parameters),
          std::tuple(&call.residual, counts.residual, type)})
      if (Status s = uploadOne(*pointer, count * sizeOf(dtype)); !s)
        return s;
    if (Status s = makeOutput(
            call.y, counts.y * sizeOf(isGradient ? parameters : type));
        !s)
      return s;
    return makeOutput(call.grad_bias, counts.gradBias * sizeOf(parameters));
  }

  Status download() {
    for (const Output &output : outputs)
      if (Status s = statusOf(disco_device_copy(&context, output.host,
                                                output.device, output.bytes));
          !s)
        return s;
    return {};
  }

private:
  struct Output {
    void *host, *device;
    uint64_t bytes;
  };

  Status uploadOne(const void *&pointer, uint64_t bytes) {
    const void *host = pointer;
    Block &block = blocks[numBlocks++];
    if (Status s = block.allocate(context, bytes); !s)
      return s;
    pointer = block.get();
    return statusOf(disco_device_copy(&context, block.get(), host, bytes));
  }

  Status makeOutput(void *&pointer, uint64_t bytes) {
    void *host = pointer;
    const void *device = host;
    if (bytes > 0)
      std::fill_n(static_cast<unsigned char *>(host), bytes, 0xff);
    if (Status s = uploadOne(device, bytes); !s)
      return s;
    pointer = const_cast<void *>(device);
    outputs.push_back({host, pointer, bytes});
    return {};
  }

  const disco_device_context &context;
  disco_kernel_call &call;
  std::array<Block, 7> blocks;
  size_t numBlocks = 0;
  std::vector<Output> outputs;
};

} // namespace

Status runKernelOnDevice(std::string_view family, int32_t device,
                         const disco_kernel_call &hostCall) {
  disco_device_context context = {};
  context.struct_size = sizeof context;
  context.device = device;
  disco_kernel_call call = hostCall;
  call.weight = call.bias = nullptr;
  Prepared prepared;
  if (Status s = statusOf(disco_device_prepare(
          std::string(family).c_str(), &context, &call, &prepared.handle));
      !s)
    return s;
  call = hostCall;
  Operands operands(context, call);
  if (Status s = operands.upload(); !s)
    return s;
  uint64_t bytes = 0;
  if (Status s = statusOf(
          disco_device_workspace_bytes(prepared.handle, &call, &bytes));
      !s)
    return s;
  Block workspace;
  if (Status s = workspace.allocate(context, bytes); !s)
    return s;
  if (Status s = statusOf(disco_device_run(
          prepared.handle, &call, context.stream, workspace.get(), bytes));
      !s)
    return s;
  if (Status s = statusOf(disco_device_synchronize(&context)); !s)
    return s;
  return operands.download();
}

} // namespace disco
