//===- Root.cpp - the functions that libdisco_runtime calls ---------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../Core/CudaLibrary.h"
#include "../Repack/Repack.h"
#include "Family.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <string>

using namespace disco::cuda;

namespace {

disco_status count(int32_t *result) {
  return guarded([&] { return countDevices(*result); });
}

disco_status query(int32_t device, disco_device_properties *properties) {
  return guarded([&] { return queryDevice(device, *properties); });
}

/// Calls body(device) with the context's device current.
template <typename Body>
disco_status onDevice(const disco_device_context &context, Body &&body) {
  return guarded([&]() -> disco_status {
    Device device;
    if (disco_status s = Device::open(context, device))
      return s;
    DeviceScope scope;
    if (disco_status s = scope.enter(device.index()))
      return s;
    return body(device);
  });
}

disco_status allocate(const disco_device_context *context, uint64_t bytes,
                      void **memory) {
  return onDevice(*context, [&](const Device &device) {
    void *result = nullptr;
    const disco_status s = device.allocate(bytes, result);
    if (s == DISCO_OK)
      *memory = result;
    return s;
  });
}

void release(const disco_device_context *context, void *memory,
             uint64_t bytes) {
  onDevice(*context, [&](const Device &device) {
    device.release(memory, bytes);
    return disco_status(DISCO_OK);
  });
}

disco_status copy(const disco_device_context *context, void *to,
                  const void *from, uint64_t bytes) {
  return onDevice(*context, [&](const Device &device) {
    return device.copy(to, from, bytes);
  });
}

disco_status synchronize(const disco_device_context *context) {
  return onDevice(*context, [&](const Device &device) {
    return check(cudaStreamSynchronize(device.stream()),
                 "the work of the stream");
  });
}

disco_status checkMemory(const disco_device_context *context, const char *what,
                         const void *pointer, uint64_t bytes,
                         uint64_t alignment) {
  return onDevice(*context, [&](const Device &device) {
    return checkPointer(device, what, pointer, bytes, alignment);
  });
}

const char *family(int32_t index) {
  const Family *found = familyAt(index);
  return found ? found->name : nullptr;
}

//===----------------------------------------------------------------------===//
// Prepared calls
//===----------------------------------------------------------------------===//

disco_status findFamily(const char *name, const Family *&found) {
  std::string known;
  for (int32_t i = 0; (found = familyAt(i)); ++i) {
    if (std::strcmp(found->name, name) == 0)
      return DISCO_OK;
    known += (i ? ", " : "") + std::string(found->name);
  }
  return fail(DISCO_NOT_FOUND,
              "expected the family to be one of %s, but got '%s'",
              known.c_str(), name);
}

/// Fails while the stream is captured, naming what is to be prepared.
disco_status checkNotCaptured(const Device &device, const char *name) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (disco_status s = check(cudaStreamIsCapturing(device.stream(), &capture),
                             "asking whether the stream is captured"))
    return s;
  if (capture == cudaStreamCaptureStatusNone)
    return DISCO_OK;
  return fail(DISCO_NOT_PREPARED,
              "expected %s to be prepared before its stream is captured, but a "
              "capture is under way",
              name);
}

disco_status makePool(disco_prepare_pool **pool) {
  return guarded([&] {
    *pool = new disco_prepare_pool;
    return disco_status(DISCO_OK);
  });
}

void destroyPool(disco_prepare_pool *pool) { delete pool; }

disco_status prepare(const char *name, const disco_device_context *context,
                     const disco_kernel_call *call, disco_prepare_pool *pool,
                     disco_prepared **prepared) {
  return onDevice(*context, [&](const Device &device) -> disco_status {
    const Family *found = nullptr;
    if (disco_status s = findFamily(name, found))
      return s;
    if (disco_status s = checkNotCaptured(device, name))
      return s;
    std::unique_ptr<disco_prepared> made;
    if (disco_status s = found->prepare(device.withPool(pool), *call, made))
      return s;
    made->device = device;
    made->call = *call;
    made->hasWeight = call->weight != nullptr;
    made->hasBias = call->bias != nullptr;
    *prepared = made.release();
    return DISCO_OK;
  });
}

void destroy(disco_prepared *prepared) {
  DeviceScope scope;
  scope.enter(prepared->device.index());
  delete prepared;
}

/// Fails unless the numbers of the call are those that were prepared.
disco_status checkSame(const disco_kernel_call &prepared,
                       const disco_kernel_call &call) {
  const struct {
    const char *what;
    int64_t expected, got;
  } numbers[] = {
      {"the operation", prepared.op, call.op},
      {"the element type", prepared.dtype, call.dtype},
      {"the weight's type", prepared.weight_dtype, call.weight_dtype},
      {"the activation", prepared.activation, call.activation},
      {"transpose_weight", prepared.transpose_weight, call.transpose_weight},
      {"has_bias", prepared.has_bias, call.has_bias},
      {"has_residual", prepared.has_residual, call.has_residual},
      {"the number of channels", prepared.channels, call.channels},
      {"the number of output channels", prepared.out_channels,
       call.out_channels},
      {"the number of groups", prepared.groups, call.groups},
      {"the order", prepared.schedule.order, call.schedule.order},
      {"the layout of x", prepared.schedule.in_layout, call.schedule.in_layout},
      {"the layout of y", prepared.schedule.out_layout,
       call.schedule.out_layout},
      {"psi's form", prepared.psi.form, call.psi.form},
      {"psi's number of basis functions", prepared.psi.num_basis,
       call.psi.num_basis},
      {"psi's nlat of the in-points", prepared.psi.nlat_in, call.psi.nlat_in},
      {"psi's nlon of the in-points", prepared.psi.nlon_in, call.psi.nlon_in},
      {"psi's nlat of the out-points", prepared.psi.nlat_out,
       call.psi.nlat_out},
      {"psi's nlon of the out-points", prepared.psi.nlon_out,
       call.psi.nlon_out}};
  for (const auto &number : numbers)
    if (number.expected != number.got)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected %s to be %" PRId64
                  ", as prepared, but got %" PRId64,
                  number.what, number.expected, number.got);
  return DISCO_OK;
}

disco_status checkOperands(const disco_prepared &prepared,
                           const disco_kernel_call &call) {
  const disco_kernel_psi &psi = call.psi;
  const int64_t K = psi.num_basis, size = sizeOf(call.dtype);
  const int64_t weightSize = sizeOf(call.weight_dtype);
  // c8 has whole blocks of channels.
  const auto stored = [&](int32_t layout) {
    return layout == DISCO_C8 ? (call.channels + 7) / 8 * 8 : call.channels;
  };
  const int64_t in =
      psi.nlat_in * psi.nlon_in * call.batch * stored(call.schedule.in_layout);
  const int64_t outChannels = stored(call.schedule.out_layout);
  const int64_t out = psi.nlat_out * psi.nlon_out * call.batch;
  const bool isConv = call.op == DISCO_OP_CONV;
  const bool isGradient = call.op == DISCO_OP_CONV_WEIGHT_GRAD;
  // With the weight first, a weight gradient's psi goes from gy to x.
  const bool reversed = isGradient && call.schedule.order == DISCO_WEIGHT_FIRST;
  const int64_t pointsIn = psi.nlat_in * psi.nlon_in * call.batch;
  const int64_t x = reversed                           ? out * call.channels
                    : call.op == DISCO_OP_CONTRACT_SUM ? in * K
                                                       : in;
  const int64_t weights =
      isConv || isGradient
          ? call.out_channels * (call.channels / call.groups) * K
          : 0;
  const int64_t y = isGradient                     ? weights
                    : isConv                       ? out * call.out_channels
                    : call.op == DISCO_OP_CONTRACT ? out * outChannels * K
                                                   : out * outChannels;
  const struct {
    const char *what;
    const void *pointer;
    int64_t count, size;
  } operands[] = {
      {"x", call.x, x, size},
      {"gy", call.gy,
       isGradient ? (reversed ? pointsIn : out) * call.out_channels : 0, size},
      {"weight", call.weight,
       isConv && (call.weight || !prepared.hasWeight) ? weights : 0,
       weightSize},
      {"bias", call.bias,
       isConv && call.has_bias && (call.bias || !prepared.hasBias)
           ? call.out_channels
           : 0,
       weightSize},
      {"residual", call.residual,
       call.has_residual ? out * call.out_channels : 0, size},
      {"y", call.y, y, isGradient ? weightSize : size},
      {"grad_bias", call.grad_bias,
       isGradient && call.has_bias ? call.out_channels : 0, weightSize}};
  for (const auto &o : operands)
    if (disco_status s = checkPointer(prepared.device, o.what, o.pointer,
                                      static_cast<uint64_t>(o.count * o.size),
                                      static_cast<uint64_t>(o.size)))
      return s;
  return DISCO_OK;
}

disco_status workspaceBytes(const disco_prepared *prepared,
                            const disco_kernel_call *call, uint64_t *bytes) {
  return guarded([&]() -> disco_status {
    if (disco_status s = checkSame(prepared->call, *call))
      return s;
    return prepared->workspaceBytes(*call, *bytes);
  });
}

disco_status run(const disco_prepared *prepared, const disco_kernel_call *call,
                 void *stream, void *workspace, uint64_t given) {
  return guarded([&]() -> disco_status {
    if (disco_status s = checkSame(prepared->call, *call))
      return s;
    uint64_t needed = 0;
    if (disco_status s = prepared->workspaceBytes(*call, needed))
      return s;
    if (given < needed)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected workspace to have at least %" PRIu64
                  " bytes, but got %" PRIu64,
                  needed, given);
    DeviceScope scope;
    if (disco_status s = scope.enter(prepared->device.index()))
      return s;
    if (disco_status s =
            checkPointer(prepared->device, "workspace", workspace, needed, 256))
      return s;
    if (disco_status s = checkOperands(*prepared, *call))
      return s;
    return prepared->run(*call, static_cast<cudaStream_t>(stream), workspace);
  });
}

//===----------------------------------------------------------------------===//
// Repacks
//===----------------------------------------------------------------------===//

} // namespace

struct disco_prepared_repack {
  Device device;
  disco::repack::Repack repack;
};

namespace {

disco_status prepareRepack(const disco_device_context *context,
                           const disco_repack *repack,
                           disco_prepared_repack **prepared) {
  return onDevice(*context, [&](const Device &device) -> disco_status {
    if (disco_status s = checkNotCaptured(device, "a repack"))
      return s;
    auto made = std::make_unique<disco_prepared_repack>();
    made->device = device;
    if (disco_status s = made->repack.make(device, *repack))
      return s;
    *prepared = made.release();
    return DISCO_OK;
  });
}

void destroyRepack(disco_prepared_repack *prepared) { delete prepared; }

disco_status runRepack(const disco_prepared_repack *prepared, int64_t batch,
                       const void *from, void *to, void *stream) {
  return guarded([&]() -> disco_status {
    const disco_repack &what = prepared->repack.repack();
    // A sample is checked to have fewer than 2^53 elements.
    const int64_t sample =
        std::max(prepared->repack.fromBytes(1), prepared->repack.toBytes(1));
    if (batch < 0 || batch > INT64_MAX / std::max<int64_t>(sample, 1))
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected the batch of a repack to be in [0, %" PRId64
                  "], but got %" PRId64,
                  INT64_MAX / std::max<int64_t>(sample, 1), batch);
    DeviceScope scope;
    if (disco_status s = scope.enter(prepared->device.index()))
      return s;
    const auto fromBytes =
        static_cast<uint64_t>(prepared->repack.fromBytes(batch));
    const auto toBytes = static_cast<uint64_t>(prepared->repack.toBytes(batch));
    const struct {
      const char *name;
      const void *pointer;
      uint64_t bytes;
      int32_t layout, dtype;
    } operands[] = {
        {"from", from, fromBytes, what.from_layout, what.from_dtype},
        {"to", to, toBytes, what.to_layout, what.to_dtype}};
    for (const auto &o : operands)
      if (disco_status s = checkPointer(
              prepared->device, o.name, o.pointer, o.bytes,
              o.layout == DISCO_C8 ? 16 : disco::repack::sizeOf(o.dtype)))
        return s;
    const auto fromAddress = reinterpret_cast<uintptr_t>(from);
    const auto toAddress = reinterpret_cast<uintptr_t>(to);
    if (fromAddress < toAddress + toBytes &&
        toAddress < fromAddress + fromBytes)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected the operands of a repack to be apart, but got from "
                  "at %p and to at %p",
                  from, to);
    return prepared->repack.launch(batch, from, to,
                                   static_cast<cudaStream_t>(stream));
  });
}

} // namespace

extern "C" DISCO_API const disco_cuda_library disco_cuda_library_root;
const disco_cuda_library disco_cuda_library_root = {sizeof(disco_cuda_library),
                                                    lastError,
                                                    count,
                                                    query,
                                                    allocate,
                                                    release,
                                                    copy,
                                                    synchronize,
                                                    checkMemory,
                                                    family,
                                                    makePool,
                                                    destroyPool,
                                                    prepare,
                                                    destroy,
                                                    workspaceBytes,
                                                    run,
                                                    prepareRepack,
                                                    destroyRepack,
                                                    runRepack};
