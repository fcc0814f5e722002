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

#include "Params.h"

#include "../device/Matrix.cuh"
#include "../device/Memory.cuh"

using namespace disco::toeplitz_wgmma;
using namespace disco::cuda::device;

static constexpr int partPoints = 32;
static constexpr int parts = repackPoints / (repackThreads / 32 * partPoints);

namespace {

/// What a warp moves.
struct Place {
  int64_t field; ///< sample and block of channels
  int64_t sample;
  int32_t firstChannel;
  int64_t firstPoint;

  __device__ explicit Place(const RepackArgs &a) {
    field = blockIdx.x / a.ctasOfField;
    const int64_t blocks = (a.channels + 7) / 8;
    sample = field / blocks;
    firstChannel = static_cast<int32_t>(field - sample * blocks) * 8;
    firstPoint = (blockIdx.x - field * a.ctasOfField) * repackPoints +
                 threadIdx.x / 32 * parts * partPoints;
  }
};

} // namespace

/// The 8 points of a lane in nchw; zeros where there are none.
template <bool Vectors>
static __device__ void loadPoints(const uint16_t *from, int64_t left,
                                  uint32_t (&words)[4]) {
  if constexpr (Vectors) {
    const uint4 all = left > 0 ? *reinterpret_cast<const uint4 *>(from)
                               : make_uint4(0, 0, 0, 0);
    words[0] = all.x;
    words[1] = all.y;
    words[2] = all.z;
    words[3] = all.w;
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint32_t low = 2 * i < left ? from[2 * i] : 0;
      const uint32_t high = 2 * i + 1 < left ? from[2 * i + 1] : 0;
      words[i] = high << 16 | low;
    }
  }
}

template <bool Vectors>
static __device__ void storePoints(uint16_t *to, int64_t left,
                                   const uint32_t (&words)[4]) {
  if constexpr (Vectors) {
    if (left > 0)
      storeGlobal(to, words);
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (i < left)
        to[i] = static_cast<uint16_t>(words[i / 2] >> 16 * (i % 2));
  }
}

template <bool Pack, bool Vectors>
static __device__ __forceinline__ void repack(const RepackArgs &a) {
  const Place place(a);
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
    if constexpr (Pack) {
      loadPoints<Vectors>(nchw + p * partPoints, rest, words[p]);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int64_t point = p * partPoints + pair + 2 * i;
        words[p][i] = point < a.points - first ? c8[point * 4] : 0;
      }
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
    if constexpr (!Pack)
      storePoints<Vectors>(nchw + p * partPoints, rest, words[p]);
  }
}

#define DISCO_REPACK(name, pack, vectors)                                      \
  extern "C" __global__ void __launch_bounds__(repackThreads)                  \
      name(const __grid_constant__ RepackArgs a) {                             \
    repack<pack, vectors>(a);                                                  \
  }

DISCO_REPACK(c8_pack_vectors, true, true)
DISCO_REPACK(c8_pack_points, true, false)
DISCO_REPACK(c8_unpack_vectors, false, true)
DISCO_REPACK(c8_unpack_points, false, false)
