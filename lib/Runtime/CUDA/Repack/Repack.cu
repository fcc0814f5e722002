//===- Repack.cu - changes of layout and of type --------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   nchw   [B, C, points]
//   nhwc   [B, points, C]
//   c8     [B, C / 8 rounded up, points, 8], zeros in channels beyond C
//
// Elements are moved as bits. Only nchw and c8 of 16 bits need care to be as
// fast as memory: a warp moves 32 points of 8 channels at a time. In nchw, lane
// l has 16 bytes, points 8 (l % 4) ... 8 (l % 4) + 7 of channel l / 4. Word i
// of all lanes is a matrix of 8 channels and 8 points,
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
#include "../device/Types.h"

using namespace disco::cuda;
using namespace disco::cuda::device;
using namespace disco::repack;

namespace {

/// The tile of a CTA.
struct Tile {
  int64_t sample, firstChannel, firstPoint;

  __device__ Tile(const Args &a, int channels, int points) {
    const int64_t row = blockIdx.x / a.pointTiles;
    sample = row / a.channelTiles;
    firstChannel = (row - sample * a.channelTiles) * channels;
    firstPoint = (blockIdx.x - row * a.pointTiles) * points;
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// nchw and c8, 16 bits
//===----------------------------------------------------------------------===//

static constexpr int partPoints = 32;
static constexpr int parts = matrixPoints / (threads / 32 * partPoints);

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
static __device__ __forceinline__ void moveMatrices(const Args &a) {
  const Tile tile(a, blockChannels, matrixPoints);
  const int lane = threadIdx.x % 32;
  const int64_t channel = tile.firstChannel + lane / 4;
  const int64_t first = tile.firstPoint + threadIdx.x / 32 * parts * partPoints;
  void *planes = Pack ? const_cast<void *>(a.from) : a.to;
  void *blocks = Pack ? a.to : const_cast<void *>(a.from);
  auto *nchw = static_cast<uint16_t *>(planes) +
               (tile.sample * a.channels + channel) * a.points + first +
               8 * (lane % 4);
  const int64_t field =
      tile.sample * a.channelTiles + tile.firstChannel / blockChannels;
  auto *c8 = static_cast<uint32_t *>(blocks) + (field * a.points + first) * 4 +
             lane % 4;
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

//===----------------------------------------------------------------------===//
// Vectors of channels
//===----------------------------------------------------------------------===//

/// Elements of a type, in 16 bytes.
template <typename T> using Vector = Pack<T, packWidth<T>>;

/// Channels that are `stride` elements apart; zeros from `count` on.
template <typename T>
static __device__ Vector<T> gather(const T *from, int64_t stride,
                                   int64_t count) {
  Vector<T> all;
#pragma unroll
  for (int i = 0; i < packWidth<T>; ++i)
    all.v[i] = i < count ? from[i * stride] : T(0);
  return all;
}

template <typename T>
static __device__ void scatter(T *to, int64_t stride, int64_t count,
                               const Vector<T> &all) {
#pragma unroll
  for (int i = 0; i < packWidth<T>; ++i)
    if (i < count)
      to[i * stride] = all.v[i];
}

/// nchw and c8: neighbouring lanes have the vectors of a block of a point.
template <bool Pack, typename T>
static __device__ __forceinline__ void moveBlocks(const Args &a) {
  constexpr int width = packWidth<T>, vectors = vectorsOfBlock(sizeof(T));
  constexpr int step = threads / vectors;
  const Tile tile(a, blockChannels, blockTilePoints(sizeof(T)));
  const int part = threadIdx.x % vectors;
  const int64_t channel = tile.firstChannel + part * width;
  const int64_t first = tile.firstPoint + threadIdx.x / vectors;
  const int64_t count = a.channels - channel;
  const int64_t plane = (tile.sample * a.channels + channel) * a.points + first;
  const int64_t field =
      tile.sample * a.channelTiles + tile.firstChannel / blockChannels;
  const int64_t block = (field * a.points + first) * vectors + part;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (first + i * step >= a.points)
      break;
    const int64_t vector = block + int64_t(i) * step * vectors;
    if constexpr (Pack)
      static_cast<Vector<T> *>(a.to)[vector] = gather(
          static_cast<const T *>(a.from) + plane + i * step, a.points, count);
    else
      scatter(static_cast<T *>(a.to) + plane + i * step, a.points, count,
              static_cast<const Vector<T> *>(a.from)[vector]);
  }
}

/// nhwc and c8: four neighbouring lanes have the vectors of a point, the
/// neighbouring points follow.
template <bool Pack, typename T>
static __device__ __forceinline__ void moveVectors(const Args &a) {
  constexpr int width = packWidth<T>, vectors = vectorsOfBlock(sizeof(T));
  constexpr int step = threads / vectorsOfPoint;
  const Tile tile(a, vectorsOfPoint * width, vectorPoints);
  const int part = threadIdx.x % vectorsOfPoint;
  const int64_t channel = tile.firstChannel + part * width;
  const int64_t blocks = (a.channels + blockChannels - 1) / blockChannels;
  const int64_t first = tile.firstPoint + threadIdx.x / vectorsOfPoint;
  const int64_t count = a.channels - channel;
  if (channel >= blocks * blockChannels)
    return;
  const int64_t field = tile.sample * blocks + channel / blockChannels;
  const int64_t block = (field * a.points + first) * vectors + part % vectors;
  const int64_t row = (tile.sample * a.points + first) * a.channels + channel;
  const void *nhwc = Pack ? a.from : a.to;
  const bool whole = a.channels % width == 0 &&
                     reinterpret_cast<uintptr_t>(nhwc) % vectorBytes == 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (first + i * step >= a.points)
      break;
    const int64_t vector = block + int64_t(i) * step * vectors;
    const int64_t element = row + int64_t(i) * step * a.channels;
    if constexpr (Pack) {
      const T *from = static_cast<const T *>(a.from) + element;
      static_cast<Vector<T> *>(a.to)[vector] =
          whole && count > 0 ? *reinterpret_cast<const Vector<T> *>(from)
                             : gather(from, 1, count);
    } else {
      const Vector<T> all = static_cast<const Vector<T> *>(a.from)[vector];
      T *to = static_cast<T *>(a.to) + element;
      if (whole && count > 0)
        *reinterpret_cast<Vector<T> *>(to) = all;
      else
        scatter(to, 1, count, all);
    }
  }
}

//===----------------------------------------------------------------------===//
// nchw and nhwc
//===----------------------------------------------------------------------===//

/// [channels, points] to [points, channels], through shared memory whose rows
/// are one bank apart.
template <typename T>
static __device__ __forceinline__ void moveTile(const Args &a) {
  constexpr int pitch = tile + (sizeof(T) < 4 ? 4 / sizeof(T) : 1);
  constexpr int rows = threads / 32;
  __shared__ T shared[tile][pitch];
  const Tile place(a, tile, tile);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t sample = place.sample * a.channels * a.points;
  const T *from = static_cast<const T *>(a.from) + sample +
                  place.firstChannel * a.points + place.firstPoint;
  T *to = static_cast<T *>(a.to) + sample + place.firstPoint * a.channels +
          place.firstChannel;
  const int64_t channels = a.channels - place.firstChannel;
  const int64_t points = a.points - place.firstPoint;
#pragma unroll
  for (int i = 0; i < tile / rows; ++i)
#pragma unroll
    for (int half = 0; half < tile; half += 32) {
      const int channel = i * rows + warp, point = half + lane;
      if (channel < channels && point < points)
        shared[channel][point] = from[channel * a.points + point];
    }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < tile / rows; ++i)
#pragma unroll
    for (int half = 0; half < tile; half += 32) {
      const int point = i * rows + warp, channel = half + lane;
      if (channel < channels && point < points)
        to[point * a.channels + channel] = shared[channel][point];
    }
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

template <typename From, typename To>
static __device__ __forceinline__ void convertAll(const Args &a) {
  const auto *from = static_cast<const From *>(a.from);
  auto *to = static_cast<To *>(a.to);
  const int64_t first = int64_t(blockIdx.x) * convertPoints + threadIdx.x;
#pragma unroll
  for (int i = 0; i < convertPoints / threads; ++i) {
    const int64_t point = first + i * threads;
    if (point < a.points)
      to[point] = convert<To>(from[point]);
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

#define DISCO_REPACK(name, body)                                               \
  extern "C" __global__ void __launch_bounds__(threads)                        \
      name(const __grid_constant__ Args a) {                                   \
    body(a);                                                                   \
  }

DISCO_REPACK(nchw_to_c8_b16, (moveMatrices<true, false>))
DISCO_REPACK(nchw_to_c8_b16_vectors, (moveMatrices<true, true>))
DISCO_REPACK(c8_to_nchw_b16, (moveMatrices<false, false>))
DISCO_REPACK(c8_to_nchw_b16_vectors, (moveMatrices<false, true>))
DISCO_REPACK(nchw_to_c8_b32, (moveBlocks<true, uint32_t>))
DISCO_REPACK(nchw_to_c8_b64, (moveBlocks<true, uint64_t>))
DISCO_REPACK(c8_to_nchw_b32, (moveBlocks<false, uint32_t>))
DISCO_REPACK(c8_to_nchw_b64, (moveBlocks<false, uint64_t>))
DISCO_REPACK(nhwc_to_c8_b16, (moveVectors<true, uint16_t>))
DISCO_REPACK(nhwc_to_c8_b32, (moveVectors<true, uint32_t>))
DISCO_REPACK(nhwc_to_c8_b64, (moveVectors<true, uint64_t>))
DISCO_REPACK(c8_to_nhwc_b16, (moveVectors<false, uint16_t>))
DISCO_REPACK(c8_to_nhwc_b32, (moveVectors<false, uint32_t>))
DISCO_REPACK(c8_to_nhwc_b64, (moveVectors<false, uint64_t>))
DISCO_REPACK(repack_transpose_b16, moveTile<uint16_t>)
DISCO_REPACK(repack_transpose_b32, moveTile<uint32_t>)
DISCO_REPACK(repack_transpose_b64, moveTile<uint64_t>)

#define DISCO_CONVERT(from, to)                                                \
  DISCO_REPACK(convert_##from##_to_##to, (convertAll<types::from, types::to>))
DISCO_CONVERT(f64, f32)
DISCO_CONVERT(f32, f64)
DISCO_CONVERT(f16, f32)
DISCO_CONVERT(f32, f16)
DISCO_CONVERT(bf16, f32)
DISCO_CONVERT(f32, bf16)
