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
  // Only narrow types differ from their sums.
  const bool isNarrow = dtype >= DISCO_F16;
  const struct {
    const char *stem;
    Kernel &kernel;
  } kernels[] = {
      {"csr_mix_last", mixer.last.square},
      {"csr_mix_last_flat", mixer.last.flat},
      {isNarrow ? "csr_mix_first" : "csr_mix_last", mixer.first.square},
      {isNarrow ? "csr_mix_first_flat" : "csr_mix_last_flat", mixer.first.flat},
      {"csr_outer_last", mixer.outerLastKernel},
      {isNarrow ? "csr_outer_first" : "csr_outer_last", mixer.outerFirstKernel},
      {"csr_collect", mixer.collectKernel},
      {"csr_pack", mixer.packKernel},
      {"csr_bias", mixer.biasKernel}};
  for (const auto &k : kernels)
    if (disco_status s = findKernel(
            device, mixBlob(dtype),
            k.stem + std::string("_") + nameOfFloat(dtype), 0, k.kernel))
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
  how.stream = stream;
  return launch(kernel, how, params);
}

static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

disco_status Mixer::launchMix(const Pair &kernels, bool isFlat,
                              MixParams params, cudaStream_t stream) const {
  const bool isDouble = dtype == DISCO_F64;
  params.blocksM =
      static_cast<int32_t>(divideUp(params.m, mixRows(isDouble, isFlat)));
  params.blocksN =
      static_cast<int32_t>(divideUp(params.n, mixColumns(isDouble, isFlat)));
  return launchBlocks(isFlat ? kernels.flat : kernels.square,
                      int64_t(params.groups) * params.blocksM * params.blocksN,
                      &params, stream);
}

/// Groups of few channels would fill a square tile badly.
static bool isFlat(const MixParams &params) { return params.m <= 32; }

disco_status Mixer::mixLast(const MixParams &params,
                            cudaStream_t stream) const {
  return launchMix(last, isFlat(params), params, stream);
}
disco_status Mixer::mixFirst(const MixParams &params,
                             cudaStream_t stream) const {
  return launchMix(first, isFlat(params), params, stream);
}

disco_status Mixer::launchOuter(const Kernel &kernel, OuterParams params,
                                cudaStream_t stream) const {
  params.blocksM = static_cast<int32_t>(divideUp(params.m, outerTile));
  params.blocksN = static_cast<int32_t>(divideUp(params.n, outerTile));
  return launchBlocks(kernel,
                      int64_t(params.splits) * params.groups * params.blocksM *
                          params.blocksN,
                      &params, stream);
}

disco_status Mixer::outerLast(const OuterParams &params,
                              cudaStream_t stream) const {
  return launchOuter(outerLastKernel, params, stream);
}
disco_status Mixer::outerFirst(const OuterParams &params,
                               cudaStream_t stream) const {
  return launchOuter(outerFirstKernel, params, stream);
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
  for (const bool isLast : {true, false}) {
    for (const bool flat : {false, true}) {
      const Pair &kernels = isLast ? last : first;
      const Kernel &kernel = flat ? kernels.flat : kernels.square;
      if (disco_status s = checkOnce(device, kernel.name, [&] {
            return checkMix(device, isLast, flat);
          }))
        return s;
    }
    const Kernel &kernel = isLast ? outerLastKernel : outerFirstKernel;
    if (disco_status s = checkOnce(device, kernel.name,
                                   [&] { return checkOuter(device, isLast); }))
      return s;
  }
  return DISCO_OK;
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

disco_status Mixer::checkMix(const Device &device, bool isLast,
                             bool flat) const {
  const bool isDouble = dtype == DISCO_F64;
  const int32_t sum = isDouble ? DISCO_F64 : DISCO_F32;
  const int32_t from = isLast ? sum : dtype, to = isLast ? dtype : sum;
  const Pair &kernels = isLast ? last : first;
  MixParams params = {};
  params.m = mixRows(isDouble, flat) + 3;
  params.n = mixColumns(isDouble, flat) + 5;
  params.r = 21;
  params.aPitch = 24;
  params.bPitch = params.dPitch = params.n;
  params.groups = 1;
  params.epilogue.channels = params.m;
  DeviceMemory a, b;
  if (disco_status s = a.upload(device, onesOf(sum, int64_t(params.m) * 24)))
    return s;
  if (disco_status s = b.upload(device, onesOf(from, int64_t(params.n) * 21)))
    return s;
  params.a = a.as<void>();
  params.b = b.as<void>();
  const int64_t elements = int64_t(params.m) * params.n;
  std::vector<char> y(elements * sizeOf(to));
  const auto run = [&](void *memory) {
    params.d = memory;
    return launchMix(kernels, flat, params, device.stream());
  };
  const char *name = flat ? kernels.flat.name : kernels.square.name;
  if (disco_status s = canary(device, name, to, elements, run, y.data()))
    return s;
  return expectAll(name, y, to, elements, 21);
}

disco_status Mixer::checkOuter(const Device &device, bool isLast) const {
  const int32_t sum = dtype == DISCO_F64 ? DISCO_F64 : DISCO_F32;
  const Kernel &kernel = isLast ? outerLastKernel : outerFirstKernel;
  OuterParams params = {};
  params.m = outerTile + 3;
  params.n = outerTile + 5;
  params.r = params.aPitch = params.bPitch = 50;
  params.groups = 1;
  params.splits = 2;
  params.step = 25;
  DeviceMemory a, b;
  const int64_t count = int64_t(outerTile + 5) * 50;
  if (disco_status s = a.upload(device, onesOf(isLast ? dtype : sum, count)))
    return s;
  if (disco_status s = b.upload(device, onesOf(isLast ? sum : dtype, count)))
    return s;
  params.a = a.as<void>();
  params.b = b.as<void>();
  const int64_t elements = int64_t(2) * params.m * params.n;
  std::vector<char> y(elements * sizeOf(sum));
  const auto run = [&](void *memory) {
    params.partial = memory;
    return launchOuter(kernel, params, device.stream());
  };
  if (disco_status s =
          canary(device, kernel.name, sum, elements, run, y.data()))
    return s;
  return expectAll(kernel.name, y, sum, elements, 25);
}

} // namespace disco::cuda::csr
