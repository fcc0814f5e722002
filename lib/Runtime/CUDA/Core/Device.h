//===- Device.h - a device, its memory and its stream -----------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_CORE_DEVICE_H
#define DISCO_LIB_RUNTIME_CUDA_CORE_DEVICE_H

#include "Error.h"
#include "Pool.h"

#include "disco/ABI/DeviceKernel.h"

#include <cstddef>
#include <memory>

namespace disco::cuda {

/// The number of devices; unsupported_target when there is no driver or none.
disco_status countDevices(int32_t &count);
disco_status queryDevice(int32_t device, disco_device_properties &properties);

/// What a device is for kernels: read once for each device.
struct DeviceTraits {
  int32_t major = 0, minor = 0;
  int32_t multiprocessors = 0;
  int32_t smemCta = 0; ///< bytes that a block may opt in to
  char name[128] = {};
};

/// Makes a context's device current for the calling thread, and the one that
/// was current again at the end.
class DeviceScope {
public:
  DeviceScope() = default;
  ~DeviceScope();
  DeviceScope(const DeviceScope &) = delete;
  disco_status enter(int32_t device);

private:
  int previous = -1;
};

/// A context and its device's traits.
class Device {
public:
  /// Fails without a driver or such a device.
  static disco_status open(const disco_device_context &context, Device &device);

  const disco_device_context &context() const { return options; }
  const DeviceTraits &traits() const { return *known; }
  int32_t index() const { return options.device; }
  cudaStream_t stream() const {
    return static_cast<cudaStream_t>(options.stream);
  }

  /// What is shared while calls are prepared; null: nothing.
  disco_prepare_pool *pool() const { return shared; }
  Device withPool(disco_prepare_pool *pool) const {
    Device device = *this;
    device.shared = pool;
    return device;
  }

  /// From the caller's allocator; null for 0 bytes. The device is current.
  disco_status allocate(uint64_t bytes, void *&memory) const;
  void release(void *memory, uint64_t bytes) const;

  /// On the context's stream, and waits.
  disco_status copy(void *to, const void *from, uint64_t bytes) const;

private:
  disco_device_context options = {};
  const DeviceTraits *known = nullptr;
  disco_prepare_pool *shared = nullptr;
};

/// Device memory that goes back to the allocator it came from with the last
/// copy of this.
class DeviceMemory {
public:
  disco_status allocate(const Device &device, uint64_t bytes);
  /// Allocates, and copies from the host.
  disco_status upload(const Device &device, const void *from, uint64_t bytes);
  template <typename Container>
  disco_status upload(const Device &device, const Container &values) {
    return upload(device, values.data(),
                  values.size() * sizeof(*values.data()));
  }

  template <typename T> T *as() const {
    return block ? static_cast<T *>(block->memory) : nullptr;
  }
  uint64_t size() const { return block ? block->bytes : 0; }

private:
  struct Block {
    Device owner;
    void *memory = nullptr;
    uint64_t bytes = 0;
    Block() = default;
    Block(const Block &) = delete;
    ~Block();
  };
  std::shared_ptr<Block> block;
};

/// Fails unless `pointer` is memory that kernels on `device` can use, aligned
/// to `alignment`. Null is allowed when `bytes` is 0.
disco_status checkPointer(const Device &device, const char *what,
                          const void *pointer, uint64_t bytes,
                          uint64_t alignment);

} // namespace disco::cuda

#endif // DISCO_LIB_RUNTIME_CUDA_CORE_DEVICE_H
