//===- Repack.cu - between nchw and c8 ------------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp moves 32 points of 8 channels at a time. In nchw, lane l has 16 bytes,
// points 8 (l % 4) ... 8 (l % 4) + 7 of channel l / 4. Word i of all lanes is a
// matrix of 8 channels and 8 points,
//
//   points 2 i, 2 i + 1, 8 + 2 i, 9 + 2 i, 16 + 2 i, ...
//
// whose transpose has, in lane l, two channels of one point: 4 of 16 bytes of
// c8.
//
//===----------------------------------------------------------------------===//

#include "Repack.h"

#include "../device/Matrix.cuh"
#include "../device/Memory.cuh"

using namespace disco::toeplitz_wgmma;
using namespace disco::cuda::device;

static constexpr int threads = 256, parts = 4, partPoints = 32;
static constexpr int ctaPoints = threads / 32 * parts * partPoints;

namespace {

/// What a warp moves.
struct Place {
  int64_t field; ///< sample and block of channels
  int64_t sample;
  int32_t firstChannel;
  int64_t firstPoint;

  __device__ Place(const RepackArgs &a, int64_t ctasOfField) {
    field = blockIdx.x / ctasOfField;
    const int64_t blocks = (a.channels + 7) / 8;
    sample = field / blocks;
    firstChannel = static_cast<int32_t>(field - sample * blocks) * 8;
    firstPoint = (blockIdx.x - field * ctasOfField) * ctaPoints +
                 threadIdx.x / 32 * parts * partPoints;
  }
};

} // namespace

/// The 8 points of a lane in nchw; zeros where there are none.
template <bool Vectors>
static __device__ void loadPoints(const uint16_t *from, int64_t left,
                                  uint32_t (&words)[4]) {
  if (Vectors) {
    const uint4 all = left > 0 ? *reinterpret_cast<const uint4 *>(from)
                               : make_uint4(0, 0, 0, 0);
    words[0] = all.x;
    words[1] = all.y;
    words[2] = all.z;
    words[3] = all.w;
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const uint32_t low = 2 * i < left ? from[2 * i] : 0;
    const uint32_t high = 2 * i + 1 < left ? from[2 * i + 1] : 0;
    words[i] = high << 16 | low;
  }
}

template <bool Vectors>
static __device__ void storePoints(uint16_t *to, int64_t left,
                                   const uint32_t (&words)[4]) {
  if (Vectors) {
    if (left > 0)
      storeGlobal(to, words);
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
    if (i < left)
      to[i] = static_cast<uint16_t>(words[i / 2] >> 16 * (i % 2));
}

template <bool Pack, bool Vectors>
static __global__ void __launch_bounds__(threads)
    repack(const RepackArgs a, int64_t ctasOfField) {
  const Place place(a, ctasOfField);
  const int lane = threadIdx.x % 32, channel = place.firstChannel + lane / 4;
  const int64_t first = place.firstPoint;
  auto *nchw = static_cast<uint16_t *>(a.nchw) +
               (place.sample * a.channels + channel) * a.points + first +
               8 * (lane % 4);
  auto *c8 = static_cast<uint32_t *>(a.c8) +
             (place.field * a.points + first) * 4 + lane % 4;
  // The point of c8 of word i is pair + 2 i.
  const int pair = lane / 8 * 8 + lane / 4 % 2;
  const int64_t left = channel < a.channels ? a.points - first : 0;
  uint32_t words[parts][4];
#pragma unroll
  for (int p = 0; p < parts; ++p) {
    const int64_t rest = left - p * partPoints - 8 * (lane % 4);
    if (Pack) {
      loadPoints<Vectors>(nchw + p * partPoints, rest, words[p]);
      continue;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int64_t point = p * partPoints + pair + 2 * i;
      words[p][i] = point < a.points - first ? c8[point * 4] : 0;
    }
  }
#pragma unroll
  for (int p = 0; p < parts; ++p) {
    const int64_t rest = left - p * partPoints - 8 * (lane % 4);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      words[p][i] = transpose(words[p][i]);
      const int64_t point = p * partPoints + pair + 2 * i;
      if (Pack && point < a.points - first)
        c8[point * 4] = words[p][i];
    }
    if (!Pack)
      storePoints<Vectors>(nchw + p * partPoints, rest, words[p]);
  }
}

template <bool Pack>
static cudaError_t launch(const RepackArgs &a, cudaStream_t stream) {
  const int64_t ctas = (a.points + ctaPoints - 1) / ctaPoints;
  const int64_t fields = a.batch * ((a.channels + 7) / 8);
  if (ctas * fields == 0)
    return cudaSuccess;
  if (ctas * fields > INT32_MAX)
    return cudaErrorInvalidConfiguration;
  const auto grid = static_cast<unsigned>(ctas * fields);
  if (a.points % 8 == 0 && reinterpret_cast<uintptr_t>(a.nchw) % 16 == 0)
    repack<Pack, true><<<grid, threads, 0, stream>>>(a, ctas);
  else
    repack<Pack, false><<<grid, threads, 0, stream>>>(a, ctas);
  return cudaGetLastError();
}

cudaError_t disco::toeplitz_wgmma::packChannels(const RepackArgs &args,
                                                cudaStream_t stream) {
  return launch<true>(args, stream);
}

cudaError_t disco::toeplitz_wgmma::unpackChannels(const RepackArgs &args,
                                                  cudaStream_t stream) {
  return launch<false>(args, stream);
}
