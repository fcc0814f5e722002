//===- Kernels.h - blobs of kernels, loading and launching them -*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are compiled to fat binaries, which the build embeds: nothing is
// registered by global constructors. A blob is loaded into the process when it
// is first prepared; each of its kernels is then checked once on each device.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_CORE_KERNELS_H
#define DISCO_LIB_RUNTIME_CUDA_CORE_KERNELS_H

#include "Device.h"

#include <functional>
#include <string>
#include <vector>

namespace disco::cuda {

/// Embedded kernels, as DiscoCuda.cmake defines them.
struct Blob {
  const char *name;
  /// "sm_80,sm_90a,compute_80": machine code for the former, PTX for the last.
  const char *archs;
  const void *data;
};

/// Fails, naming the device's architecture and the blob's, unless one of these
/// runs on that: sm_X on the same major and no smaller minor number, sm_Xa on
/// exactly X, compute_X on X and later.
disco_status checkArch(const Blob &blob, int32_t major, int32_t minor);

/// A kernel on one device.
struct Kernel {
  cudaKernel_t handle = nullptr;
  /// Kept for the life of the process.
  const char *name = nullptr;
  /// Dynamic shared memory that it may use.
  int32_t smemLimit = 0;
};

/// Finds a kernel that may use `smemBytes` of dynamic shared memory. Loads the
/// blob and checks its architecture.
disco_status findKernel(const Device &device, const Blob &blob,
                        const std::string &name, int64_t smemBytes,
                        Kernel &kernel);

struct Launch {
  unsigned blocks = 0, threads = 0;
  unsigned smemBytes = 0;
  cudaStream_t stream = nullptr;
};

/// Puts kernel(params) on a stream; nothing when there are no blocks.
disco_status launch(const Kernel &kernel, const Launch &launch,
                    const void *params);

/// Runs `body` the first time that this is called for the kernel and device;
/// later calls return OK when that succeeded, and run it again when it failed.
disco_status checkOnce(const Device &device, const std::string &kernel,
                       const std::function<disco_status()> &body);

/// "f32" for DISCO_F32 and so on.
const char *nameOfFloat(int32_t dtype);

/// Ones, of a type.
std::vector<char> onesOf(int32_t dtype, int64_t count);

/// Element `i` of floating-point numbers in host memory.
double elementAt(const void *data, int32_t dtype, int64_t i);

/// A launch that is known to write every element of `bytes` bytes of floating
/// point numbers. Fills them with NaN, calls run(memory), and fails when an
/// element is NaN afterwards. Copies the result to `result` unless null.
disco_status canary(const Device &device, const char *kernel, int32_t dtype,
                    int64_t elements,
                    const std::function<disco_status(void *)> &run,
                    void *result = nullptr);

} // namespace disco::cuda

#endif // DISCO_LIB_RUNTIME_CUDA_CORE_KERNELS_H
