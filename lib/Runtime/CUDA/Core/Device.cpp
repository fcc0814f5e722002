//===- Device.cpp - a device, its memory and its stream -------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include <cinttypes>
#include <cstdio>
#include <mutex>
#include <vector>

namespace disco::cuda {

disco_status countDevices(int32_t &count) {
  int found = 0;
  const cudaError_t error = cudaGetDeviceCount(&found);
  if (error == cudaErrorInsufficientDriver) {
    cudaGetLastError();
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0)
      return fail(DISCO_UNSUPPORTED_TARGET,
                  "no CUDA driver on this machine (libcuda.so.1 was not "
                  "found)");
    return fail(DISCO_UNSUPPORTED_TARGET,
                "expected the CUDA driver to serve CUDA %d.%d or later, but it "
                "serves %d.%d",
                runtime / 1000, runtime % 1000 / 10, driver / 1000,
                driver % 1000 / 10);
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && found == 0)) {
    cudaGetLastError();
    return fail(DISCO_UNSUPPORTED_TARGET, "no CUDA device on this machine");
  }
  if (disco_status s = check(error, "counting the CUDA devices"))
    return s;
  count = found;
  return DISCO_OK;
}

static disco_status checkIndex(int32_t device) {
  int32_t count = 0;
  if (disco_status s = countDevices(count))
    return s;
  if (device < 0 || device >= count)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected the device to be in [0, %d], but got %d", count - 1,
                device);
  return DISCO_OK;
}

disco_status queryDevice(int32_t device, disco_device_properties &properties) {
  if (disco_status s = checkIndex(device))
    return s;
  cudaDeviceProp found;
  if (disco_status s = check(cudaGetDeviceProperties(&found, device),
                             "reading the device's properties"))
    return s;
  int driver = 0, clock = 0, memoryClock = 0;
  cudaDriverGetVersion(&driver);
  cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, device);
  cudaDeviceGetAttribute(&memoryClock, cudaDevAttrMemoryClockRate, device);
  std::snprintf(properties.name, sizeof properties.name, "%.127s", found.name);
  properties.major = found.major;
  properties.minor = found.minor;
  properties.multiprocessors = found.multiProcessorCount;
  properties.driver_version = driver;
  properties.clock_khz = clock;
  properties.memory_clock_khz = memoryClock;
  properties.memory_bytes = static_cast<int64_t>(found.totalGlobalMem);
  properties.l2_bytes = found.l2CacheSize;
  properties.smem_cta_bytes =
      static_cast<int64_t>(found.sharedMemPerBlockOptin);
  return DISCO_OK;
}

DeviceScope::~DeviceScope() {
  if (previous >= 0)
    cudaSetDevice(previous);
}

disco_status DeviceScope::enter(int32_t device) {
  int current = -1;
  if (disco_status s =
          check(cudaGetDevice(&current), "asking for the current device"))
    return s;
  if (current == device)
    return DISCO_OK;
  if (disco_status s = check(cudaSetDevice(device), "choosing the device"))
    return s;
  previous = current;
  return DISCO_OK;
}

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

/// Traits of a device, kept for the life of the process.
static disco_status traitsOf(int32_t device, const DeviceTraits *&traits) {
  static std::mutex mutex;
  static std::vector<DeviceTraits *> all;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto index = static_cast<size_t>(device);
  if (index < all.size() && all[index]) {
    traits = all[index];
    return DISCO_OK;
  }
  disco_device_properties properties = {};
  if (disco_status s = queryDevice(device, properties))
    return s;
  if (index >= all.size())
    all.resize(index + 1);
  auto *made = new DeviceTraits;
  made->major = properties.major;
  made->minor = properties.minor;
  made->multiprocessors = properties.multiprocessors;
  made->smemCta = static_cast<int32_t>(properties.smem_cta_bytes);
  std::snprintf(made->name, sizeof made->name, "%s", properties.name);
  traits = all[index] = made;
  return DISCO_OK;
}

disco_status Device::open(const disco_device_context &context, Device &device) {
  device.options = context;
  if (disco_status s = checkIndex(context.device))
    return s;
  return traitsOf(context.device, device.known);
}

disco_status Device::allocate(uint64_t bytes, void *&memory) const {
  memory = nullptr;
  if (bytes == 0)
    return DISCO_OK;
  if (options.allocate) {
    memory = options.allocate(options.user, static_cast<size_t>(bytes), 256);
  } else if (cudaMalloc(&memory, static_cast<size_t>(bytes)) != cudaSuccess) {
    cudaGetLastError();
    memory = nullptr;
  }
  if (!memory)
    return fail(DISCO_OUT_OF_MEMORY,
                "out of memory: cannot allocate %" PRIu64 " bytes on cuda:%d",
                bytes, options.device);
  if (reinterpret_cast<uintptr_t>(memory) % 256 != 0) {
    const void *address = memory;
    release(memory, bytes);
    memory = nullptr;
    return fail(DISCO_INVALID_ARGUMENT,
                "expected the context's allocator to align memory to 256 "
                "bytes, but got address %p",
                address);
  }
  return DISCO_OK;
}

void Device::release(void *memory, uint64_t bytes) const {
  if (!memory)
    return;
  if (options.release)
    options.release(options.user, memory, static_cast<size_t>(bytes));
  else
    cudaFree(memory);
}

disco_status Device::copy(void *to, const void *from, uint64_t bytes) const {
  if (bytes == 0)
    return DISCO_OK;
  if (disco_status s =
          check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream()),
                "copying between host and device"))
    return s;
  return check(cudaStreamSynchronize(stream()),
               "copying between host and device");
}

disco_status DeviceMemory::allocate(const Device &device, uint64_t size) {
  block = std::make_shared<Block>();
  block->owner = device.withPool(nullptr);
  block->bytes = size;
  return device.allocate(size, block->memory);
}

disco_status DeviceMemory::upload(const Device &device, const void *from,
                                  uint64_t size) {
  if (disco_status s = allocate(device, size))
    return s;
  return device.copy(block->memory, from, size);
}

DeviceMemory::Block::~Block() {
  if (!memory)
    return;
  DeviceScope scope;
  if (scope.enter(owner.index()) == DISCO_OK)
    owner.release(memory, bytes);
}

disco_status checkPointer(const Device &device, const char *what,
                          const void *pointer, uint64_t bytes,
                          uint64_t alignment) {
  if (bytes == 0)
    return DISCO_OK;
  if (!pointer)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected %s to be a pointer, but got null", what);
  cudaPointerAttributes attributes;
  if (disco_status s = check(cudaPointerGetAttributes(&attributes, pointer),
                             "asking what a pointer points to"))
    return s;
  if (attributes.type != cudaMemoryTypeDevice &&
      attributes.type != cudaMemoryTypeManaged)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected %s to be memory of cuda:%d, but got host memory at "
                "%p",
                what, device.index(), pointer);
  if (attributes.type == cudaMemoryTypeDevice &&
      attributes.device != device.index())
    return fail(DISCO_INVALID_ARGUMENT,
                "expected %s to be memory of cuda:%d, but got memory of "
                "cuda:%d",
                what, device.index(), attributes.device);
  if (reinterpret_cast<uintptr_t>(pointer) % alignment != 0)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected %s to be aligned to %" PRIu64
                " bytes, but got address %p",
                what, alignment, pointer);
  return DISCO_OK;
}

} // namespace disco::cuda
