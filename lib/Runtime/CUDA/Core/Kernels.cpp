//===- Kernels.cpp - blobs of kernels, loading and launching them ---------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "../../CPU/CpuGather/Values.h"

#include <cinttypes>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <vector>

namespace disco::cuda {

/// Whether code for `arch` runs on a device of compute capability major.minor.
static bool runsOn(std::string_view arch, int32_t major, int32_t minor) {
  const bool isPtx = arch.substr(0, 8) == "compute_";
  int number = 0;
  bool isExact = false;
  for (const char c : arch.substr(isPtx ? 8 : 3))
    if (c >= '0' && c <= '9')
      number = 10 * number + (c - '0');
    else
      isExact = true; // the a of sm_90a
  const int device = 10 * major + minor;
  if (isExact)
    return number == device;
  return isPtx ? number <= device
               : number / 10 == major && number % 10 <= minor;
}

disco_status checkArch(const Blob &blob, int32_t major, int32_t minor) {
  const std::string_view archs = blob.archs;
  for (size_t begin = 0; begin <= archs.size();) {
    const size_t end = std::min(archs.find(',', begin), archs.size());
    if (runsOn(archs.substr(begin, end - begin), major, minor))
      return DISCO_OK;
    begin = end + 1;
  }
  return fail(DISCO_UNSUPPORTED_TARGET,
              "expected the kernels of %s to be built for sm_%d%d, the "
              "device's architecture, but got %s",
              blob.name, major, minor, blob.archs);
}

static disco_status load(const Blob &blob, cudaLibrary_t &library) {
  static std::mutex mutex;
  static std::map<const void *, cudaLibrary_t> loaded;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto known = loaded.find(blob.data);
  if (known != loaded.end()) {
    library = known->second;
    return DISCO_OK;
  }
  const std::string what = "loading the kernels of " + std::string(blob.name);
  if (disco_status s =
          check(cudaLibraryLoadData(&library, blob.data, nullptr, nullptr, 0,
                                    nullptr, nullptr, 0),
                what.c_str()))
    return s;
  loaded[blob.data] = library;
  return DISCO_OK;
}

disco_status findKernel(const Device &device, const Blob &blob,
                        const std::string &name, int64_t smemBytes,
                        Kernel &kernel) {
  const DeviceTraits &traits = device.traits();
  if (disco_status s = checkArch(blob, traits.major, traits.minor))
    return s;
  if (smemBytes > traits.smemCta)
    return fail(DISCO_UNSUPPORTED_TARGET,
                "expected kernel %s to need at most the %d bytes of shared "
                "memory of a block of cuda:%d, but it needs %" PRId64,
                name.c_str(), traits.smemCta, device.index(), smemBytes);
  cudaLibrary_t library;
  if (disco_status s = load(blob, library))
    return s;
  const std::string what = "finding kernel " + name;
  if (disco_status s =
          check(cudaLibraryGetKernel(&kernel.handle, library, name.c_str()),
                what.c_str()))
    return s;
  kernel.smemLimit = static_cast<int32_t>(smemBytes);
  // More than 48 KiB needs to be asked for; what one prepared call asks for
  // must not take from what another has.
  static std::mutex mutex;
  static std::map<std::pair<cudaKernel_t, int32_t>, int64_t> granted;
  static std::set<std::string> names;
  const std::lock_guard<std::mutex> lock(mutex);
  kernel.name = names.insert(name).first->c_str();
  int64_t &limit =
      granted.try_emplace({kernel.handle, device.index()}, 48 << 10)
          .first->second;
  if (smemBytes <= limit)
    return DISCO_OK;
  if (disco_status s = check(
          cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel.handle),
                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(smemBytes)),
          "asking for shared memory"))
    return s;
  limit = smemBytes;
  return DISCO_OK;
}

disco_status launch(const Kernel &kernel, const Launch &launch,
                    const void *params) {
  if (launch.blocks == 0)
    return DISCO_OK;
  if (launch.smemBytes > static_cast<unsigned>(kernel.smemLimit))
    return fail(DISCO_INTERNAL,
                "expected kernel %s to use at most %d bytes of shared memory, "
                "but got %u",
                kernel.name, kernel.smemLimit, launch.smemBytes);
  void *arguments[] = {const_cast<void *>(params)};
  const cudaError_t error = cudaLaunchKernel(
      reinterpret_cast<const void *>(kernel.handle), dim3(launch.blocks),
      dim3(launch.threads), arguments, launch.smemBytes, launch.stream);
  if (error == cudaSuccess)
    return DISCO_OK;
  const std::string what = "launching kernel " + std::string(kernel.name);
  return check(error, what.c_str());
}

disco_status checkOnce(const Device &device, const std::string &kernel,
                       const std::function<disco_status()> &body) {
  static std::mutex mutex;
  static std::set<std::pair<int32_t, std::string>> passed;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto key = std::pair(device.index(), kernel);
  if (passed.count(key))
    return DISCO_OK;
  if (disco_status s = body())
    return s;
  passed.insert(key);
  return DISCO_OK;
}

//===----------------------------------------------------------------------===//
// Canary
//===----------------------------------------------------------------------===//

const char *nameOfFloat(int32_t dtype) {
  static constexpr const char *names[] = {"f64", "f32", "f16", "bf16"};
  return names[dtype];
}

std::vector<char> onesOf(int32_t dtype, int64_t count) {
  const uint64_t bits[] = {0x3ff0000000000000, 0x3f800000, 0x3c00, 0x3f80};
  const int64_t size = cpu_gather::sizeOfFloat(dtype);
  std::vector<char> memory(count * size);
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(memory.data() + i * size, &bits[dtype], size);
  return memory;
}

double elementAt(const void *data, int32_t dtype, int64_t i) {
  return cpu_gather::valueAt(data, dtype, i);
}

disco_status canary(const Device &device, const char *kernel, int32_t dtype,
                    int64_t elements,
                    const std::function<disco_status(void *)> &run,
                    void *result) {
  const int64_t size = cpu_gather::sizeOfFloat(dtype);
  const auto bytes = static_cast<uint64_t>(elements * size);
  DeviceMemory memory;
  if (disco_status s = memory.allocate(device, bytes))
    return s;
  if (disco_status s = check(
          cudaMemsetAsync(memory.as<void>(), 0xff, bytes, device.stream()),
          "filling the canary"))
    return s;
  if (disco_status s = run(memory.as<void>()))
    return s;
  std::vector<unsigned char> host(bytes);
  if (disco_status s = device.copy(host.data(), memory.as<void>(), bytes))
    return s;
  int64_t missing = 0;
  for (int64_t i = 0; i < elements; ++i)
    missing += std::isnan(elementAt(host.data(), dtype, i));
  if (missing > 0)
    return fail(DISCO_EXECUTION_FAILED,
                "expected kernel %s to write all %" PRId64
                " elements on cuda:%d (%s), but it left out %" PRId64,
                kernel, elements, device.index(), device.traits().name,
                missing);
  if (result)
    std::memcpy(result, host.data(), bytes);
  return DISCO_OK;
}

} // namespace disco::cuda
