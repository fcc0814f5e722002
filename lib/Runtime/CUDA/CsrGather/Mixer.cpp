//===- Mixer.cpp - launching the channel mix ------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mixer.h"

#include "../Core/Family.h"
#include "Blobs.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>

namespace disco::cuda::csr {

disco_status Mixer::make(const Device &device, int32_t dtype, Mixer &mixer) {
  mixer.dtype = dtype;
  const auto size = static_cast<int>(sizeOf(dtype));
  const struct {
    const char *stem;
    Kernel &kernel;
    int64_t smem;
  } kernels[] = {{"csr_mix", mixer.square, mixSharedBytes(size, false)},
                 {"csr_mix_flat", mixer.flat, mixSharedBytes(size, true)},
                 {"csr_outer", mixer.outerKernel, outerSharedBytes(size)},
                 {"csr_collect", mixer.collectKernel, 0},
                 {"csr_pack", mixer.packKernel, 0},
                 {"csr_bias", mixer.biasKernel, 0}};
  for (const auto &k : kernels)
    if (disco_status s = findKernel(
            device, mixBlob(dtype),
            k.stem + std::string("_") + nameOfFloat(dtype), k.smem, k.kernel))
      return s;
  return mixer.check(device);
}

/// A grid of that many blocks.
static disco_status launchBlocks(const Kernel &kernel, int64_t blocks,
                                 const void *params, cudaStream_t stream) {
  if (blocks > INT32_MAX)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected kernel %s to take fewer than 2^31 blocks of threads, "
                "but got %" PRId64,
                kernel.name, blocks);
  Launch how;
  how.blocks = static_cast<unsigned>(blocks);
  how.threads = mixThreads;
  how.smemBytes = static_cast<unsigned>(kernel.smemLimit);
  how.stream = stream;
  return launch(kernel, how, params);
}

static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Whether lines of an operand begin at multiples of 16 bytes.
static bool isAligned(const void *first, int64_t pitch, int64_t group,
                      int64_t size) {
  return reinterpret_cast<uintptr_t>(first) % 16 == 0 &&
         pitch * size % 16 == 0 && group * size % 16 == 0;
}

disco_status Mixer::launchMix(bool isFlat, MixParams params,
                              cudaStream_t stream) const {
  const int64_t size = sizeOf(dtype);
  const ProductTile tile = productTile(static_cast<int>(size), isFlat);
  params.blocksM = static_cast<int32_t>(divideUp(params.m, tile.m));
  params.blocksN = static_cast<int32_t>(divideUp(params.n, tile.n));
  params.aIsAligned = isAligned(params.a, params.aPitch, params.aGroup, size);
  params.bIsAligned = isAligned(params.b, params.bPitch, params.bGroup, size);
  return launchBlocks(isFlat ? flat : square,
                      int64_t(params.groups) * params.blocksM * params.blocksN,
                      &params, stream);
}

disco_status Mixer::mix(const MixParams &params, cudaStream_t stream) const {
  return launchMix(mixIsFlat(params.m), params, stream);
}

disco_status Mixer::outer(const OuterParams &p, cudaStream_t stream) const {
  OuterParams params = p;
  const int64_t size = sizeOf(dtype);
  const ProductTile tile = productTile(static_cast<int>(size), false);
  params.blocksM = static_cast<int32_t>(divideUp(params.m, tile.m));
  params.blocksN = static_cast<int32_t>(divideUp(params.n, tile.n));
  // Parts of r begin at multiples of step.
  params.aIsAligned = params.step * size % 16 == 0 &&
                      isAligned(params.a, params.aPitch, params.aGroup, size);
  params.bIsAligned = params.step * size % 16 == 0 &&
                      isAligned(params.b, params.bPitch, params.bGroup, size);
  return launchBlocks(outerKernel,
                      int64_t(params.splits) * params.groups * params.blocksM *
                          params.blocksN,
                      &params, stream);
}

disco_status Mixer::collect(const CollectParams &params,
                            cudaStream_t stream) const {
  return launchBlocks(collectKernel, divideUp(params.size, mixThreads), &params,
                      stream);
}

disco_status Mixer::pack(const PackParams &params, cudaStream_t stream) const {
  return launchBlocks(packKernel, divideUp(params.size, mixThreads), &params,
                      stream);
}

disco_status Mixer::sumBias(const BiasParams &params,
                            cudaStream_t stream) const {
  return launchBlocks(biasKernel, params.channels, &params, stream);
}

//===----------------------------------------------------------------------===//
// Canary
//===----------------------------------------------------------------------===//

disco_status Mixer::check(const Device &device) const {
  for (const bool isFlat : {false, true})
    if (disco_status s = checkOnce(device, (isFlat ? flat : square).name,
                                   [&] { return checkMix(device, isFlat); }))
      return s;
  return checkOnce(device, outerKernel.name,
                   [&] { return checkOuter(device); });
}

/// Products of ones, which are the number of terms.
static disco_status expectAll(const char *kernel, const std::vector<char> &y,
                              int32_t dtype, int64_t elements,
                              double expected) {
  for (int64_t i = 0; i < elements; ++i)
    if (elementAt(y.data(), dtype, i) != expected)
      return fail(DISCO_EXECUTION_FAILED,
                  "expected kernel %s to compute %g for element %" PRId64
                  ", but got %g",
                  kernel, expected, i, elementAt(y.data(), dtype, i));
  return DISCO_OK;
}

/// Lines that are whole chunks of 16 bytes, and such that are not.
disco_status Mixer::checkMix(const Device &device, bool isFlat) const {
  const Kernel &kernel = isFlat ? flat : square;
  const ProductTile tile = productTile(static_cast<int>(sizeOf(dtype)), isFlat);
  for (const int32_t more : {5, 8}) {
    MixParams params = {};
    params.m = tile.m + 3;
    params.n = tile.n + more;
    params.r = 21 + tile.k;
    params.aPitch = params.r + (21 + more) % 8;
    params.bPitch = params.dPitch = params.n;
    params.groups = 1;
    params.epilogue.channels = params.m;
    DeviceMemory a, b;
    if (disco_status s =
            a.upload(device, onesOf(dtype, int64_t(params.m) * params.aPitch)))
      return s;
    if (disco_status s =
            b.upload(device, onesOf(dtype, int64_t(params.n) * params.r)))
      return s;
    params.a = a.as<void>();
    params.b = b.as<void>();
    const int64_t elements = int64_t(params.m) * params.n;
    std::vector<char> y(elements * sizeOf(dtype));
    const auto run = [&](void *memory) {
      params.d = memory;
      return launchMix(isFlat, params, device.stream());
    };
    if (disco_status s =
            canary(device, kernel.name, dtype, elements, run, y.data()))
      return s;
    if (disco_status s = expectAll(kernel.name, y, dtype, elements, params.r))
      return s;
  }
  return DISCO_OK;
}

disco_status Mixer::checkOuter(const Device &device) const {
  const int32_t sum = dtype == DISCO_F64 ? DISCO_F64 : DISCO_F32;
  const ProductTile tile = productTile(static_cast<int>(sizeOf(dtype)), false);
  for (const int32_t half : {25, 40}) {
    OuterParams params = {};
    params.m = tile.m + 3;
    params.n = tile.n + 5;
    params.r = params.aPitch = params.bPitch = 2 * half;
    params.groups = 1;
    params.splits = 2;
    params.step = half;
    DeviceMemory a, b;
    if (disco_status s =
            a.upload(device, onesOf(dtype, params.m * params.aPitch)))
      return s;
    if (disco_status s =
            b.upload(device, onesOf(dtype, params.n * params.bPitch)))
      return s;
    params.a = a.as<void>();
    params.b = b.as<void>();
    const int64_t elements = int64_t(2) * params.m * params.n;
    std::vector<char> y(elements * sizeOf(sum));
    const auto run = [&](void *memory) {
      params.partial = memory;
      return outer(params, device.stream());
    };
    if (disco_status s =
            canary(device, outerKernel.name, sum, elements, run, y.data()))
      return s;
    if (disco_status s = expectAll(outerKernel.name, y, sum, elements, half))
      return s;
  }
  return DISCO_OK;
}

} // namespace disco::cuda::csr
