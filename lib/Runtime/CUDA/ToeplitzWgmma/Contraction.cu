//===- Contraction.cu - the Toeplitz contraction on tensor cores ----------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A persistent CTA per multiprocessor. Its items are (block of rows, three
// units); a unit is a tile of longitudes of one block of 8 channels of one
// sample. Three warpgroups compute a unit each from the same bands of A, and
// four warps bring what they need:
//
//   warp 12, 13, 14   the slab of unit 0, 1, 2       .-> full[stage]
//   warp 15           the band (header and A)        |
//   warps 0-3, 4-7, 8-11   units 0, 1, 2             '-- empty[stage]
//
//   shared memory   [stages] { band | slab 0 | slab 1 | slab 2 }
//                   results 0 | results 1 | results 2
//
// The sums of a unit are rounded and laid out as [plane][point][8 channels] in
// its results, from where each plane is one bulk store (c8), or is transposed
// to 8 rows of points (nchw). The results of a unit are stored while the next
// one is computed.
//
// Units do not share sums, so the result does not depend on how items are
// distributed.
//
//===----------------------------------------------------------------------===//

#include "Params.h"

#include "../device/Barrier.cuh"
#include "../device/BulkCopy.cuh"
#include "../device/Matrix.cuh"
#include "../device/Memory.cuh"
#include "../device/Types.h"
#include "../device/Wgmma.cuh"

#include <type_traits>

using namespace disco::toeplitz_wgmma;
using namespace disco::cuda::device;

namespace {

/// The barriers of the pipeline. Three threads announce the slabs of a stage, a
/// warp writes its header, and all threads that compute release it.
struct Barriers {
  uint64_t full[maxStages], empty[maxStages];
};
constexpr int computeWarps = mathGroups * 4;
constexpr int fullCount = mathGroups + 1 + 32, emptyCount = computeWarps * 32;

/// A place in the ring of stages.
struct Position {
  int stage = 0;
  uint32_t parity = 0;

  __device__ void next(int stages) {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

/// The items of a CTA: one of each round of gridDim.x, from both ends in turns,
/// so that no CTA always gets the longer ones.
class Items {
public:
  __device__ explicit Items(const Params &p) : p(p) {}

  /// Goes to the next item; false when there is none.
  __device__ bool advance() {
    const uint32_t place = round % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    const uint32_t index = round * gridDim.x + place;
    if (index >= p.items)
      return false; // rounds after one that is not full are empty
    ++round;
    const uint32_t rank = index / p.unitGroups;
    block = p.order[rank];
    firstUnit = static_cast<int32_t>(index - rank * p.unitGroups) * mathGroups;
    return true;
  }

  uint32_t block = 0;    ///< of rows
  int32_t firstUnit = 0; ///< counted from the first of the block

private:
  const Params &p;
  uint32_t round = 0;
};

} // namespace

static __device__ uint32_t stageAddress(const Params &p, uint32_t smem,
                                        int stage) {
  return smem + stage * (p.shape.bandBytes + mathGroups * p.shape.slabBytes);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Copies `window` for a tile that begins at point `shift`, wrapping around the
/// ring.
static __device__ void loadWindow(const Params &p, const Window &window,
                                  const char *x, int32_t shift, uint32_t slab,
                                  uint32_t barrier) {
  const int32_t nlon = p.shape.nlonIn;
  const char *ring = x + int64_t(window.plane) * nlon * pointBytes;
  uint32_t target = slab + window.slabPoint * pointBytes;
  int32_t lon = window.start + shift;
  if (lon >= nlon)
    lon -= nlon;
  for (int32_t left = window.points; left > 0;) {
    const int32_t points = min(left, nlon - lon);
    bulkLoad(target, ring + int64_t(lon) * pointBytes, points * pointBytes,
             barrier);
    target += points * pointBytes;
    left -= points;
    lon = 0;
  }
}

/// One warp: the slabs of unit `unit` of every item.
static __device__ void loadSlabs(const Params &p, uint32_t smem,
                                 const Barriers &barriers, int unit, int lane) {
  Position position;
  for (Items item(p); item.advance();) {
    const int32_t own = item.firstUnit + unit;
    const bool used = own < p.units;
    const int32_t field = own / p.tiles; // batch and block of channels
    const char *x =
        static_cast<const char *>(p.x) + int64_t(field) * p.xBlockBytes;
    const int32_t shift = (own - field * p.tiles) * p.advance * p.shape.stride;
    const uint32_t end = p.blockPieces[item.block + 1];
    for (uint32_t i = p.blockPieces[item.block]; i < end; ++i) {
      const Piece piece = p.pieces[i];
      const bool loads = used && lane < piece.numWindows;
      Window window = {};
      if (loads)
        window = p.windows[piece.firstWindow + lane];
      const uint32_t bytes =
          __reduce_add_sync(~0u, static_cast<uint32_t>(window.points)) *
          pointBytes;
      const uint32_t full = sharedAddress(&barriers.full[position.stage]);
      wait(sharedAddress(&barriers.empty[position.stage]), position.parity ^ 1);
      if (lane == 0)
        arriveExpect(full, bytes);
      __syncwarp();
      const uint32_t slab = stageAddress(p, smem, position.stage) +
                            p.shape.bandBytes + unit * p.shape.slabBytes;
      if (loads)
        loadWindow(p, window, x, shift, slab, full);
      __syncwarp();
      position.next(p.shape.stages);
    }
  }
}

/// One warp: the bands of every item. The headers, which are read as ordinary
/// memory, are written as such.
static __device__ void loadBands(const Params &p, uint32_t smem,
                                 const Barriers &barriers, int lane) {
  Position position;
  for (Items item(p); item.advance();) {
    const uint32_t end = p.blockPieces[item.block + 1];
    for (uint32_t i = p.blockPieces[item.block]; i < end; ++i) {
      const Piece piece = p.pieces[i];
      const uint8_t *band = p.bands + int64_t(piece.band) * headerBytes;
      const uint32_t word = reinterpret_cast<const uint32_t *>(band)[lane];
      const uint32_t bytes = piece.steps * stepBytes;
      const uint32_t full = sharedAddress(&barriers.full[position.stage]);
      const uint32_t stage = stageAddress(p, smem, position.stage);
      wait(sharedAddress(&barriers.empty[position.stage]), position.parity ^ 1);
      storeWord(stage + 4 * lane, word);
      arrive(full);
      if (lane == 0) {
        arriveExpect(full, bytes);
        bulkLoad(stage + headerBytes, band + headerBytes, bytes, full);
      }
      __syncwarp();
      position.next(p.shape.stages);
    }
  }
}

//===----------------------------------------------------------------------===//
// Storing
//===----------------------------------------------------------------------===//

/// Two numbers, rounded.
template <typename T> static __device__ uint32_t pack(float low, float high) {
  if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return reinterpret_cast<const uint32_t &>(pair);
  } else {
    const __half2 pair = __floats2half2_rn(low, high);
    return reinterpret_cast<const uint32_t &>(pair);
  }
}

namespace {

/// Where the results of a unit go.
struct Target {
  int64_t offset;   ///< elements of y, of the first point of plane 0
  int32_t planes;   ///< that exist
  int32_t points;   ///< of a plane
  int32_t channels; ///< of 8 that exist
};

} // namespace

static __device__ Target targetOf(const Params &p, int32_t unit,
                                  int32_t firstRow, int32_t planes) {
  const int32_t field = unit / p.tiles, tile = unit - field * p.tiles;
  const int32_t sample = field / p.channelBlocks;
  const int32_t block = field - sample * p.channelBlocks;
  const int32_t first = tile * p.advance;
  Target target;
  target.planes = planes;
  target.points = min(p.advance, p.rowLongitudes - first) * p.shape.phases;
  target.channels = min(blockChannels, p.channels - block * blockChannels);
  // c8 counts blocks of channels, nchw channels.
  const int64_t channel = p.yPoint == 1 ? int64_t(sample) * p.channels +
                                              int64_t(block) * blockChannels
                                        : field;
  target.offset = channel * p.yChannel + firstRow * p.yRow +
                  int64_t(first) * p.shape.phases * p.yPoint;
  return target;
}

/// The bits of a thread's pair of channels that exist (of `channels`).
static __device__ uint32_t channelMask(int channels, int lane) {
  const int channel = 2 * (lane % 4);
  return (channel < channels ? 0xffffu : 0) |
         (channel + 1 < channels ? 0xffff0000u : 0);
}

/// The place of a point of a plane. For nchw, pairs of points change places so
/// that the transposing loads of storeChannels have no bank conflicts.
static __device__ int placeOf(int point, bool blocked) {
  return blocked ? point : point ^ (point >> 2 & 6);
}

/// Rounds the sums and writes them to [plane][place][8 channels], zero outside
/// of `mask`.
template <typename T, int G>
static __device__ void roundSums(const Params &p, const float (&sums)[4 * G],
                                 uint32_t mask, uint32_t results, int warp,
                                 int lane) {
  const auto rounded = [&](int i) {
    return pack<T>(sums[i], sums[i + 1]) & mask;
  };
  // Lane l addresses row l % 8 of matrix l / 8; matrices 0 and 1 are rows 0-7
  // and 8-15 of the warp for one group, 2 and 3 those of the next group.
  const int points = p.shape.groupPoints;
  const int row = 16 * warp + lane % 16, plane = row / points;
  const uint32_t base = results + plane * p.pitch * pointBytes;
  int point = row - plane * points + lane / 16 * points;
  const bool blocked = p.yPoint > 1;
#pragma unroll
  for (int g = 0; g + 1 < G; g += 2, point += 2 * points)
    storeMatrices(base + placeOf(point, blocked) * pointBytes, rounded(4 * g),
                  rounded(4 * g + 2), rounded(4 * g + 4), rounded(4 * g + 6));
  if (G % 2)
    storeMatrices(base + placeOf(point, blocked) * pointBytes,
                  rounded(4 * G - 4), rounded(4 * G - 2));
}

/// One warp of four: planes of c8.
static __device__ void storeBlocks(const Params &p, const Target &target,
                                   uint32_t results, int warp, int lane) {
  if (lane == 0) {
    auto *y = static_cast<char *>(p.y) + 2 * target.offset;
    for (int q = warp; q < target.planes; q += 4)
      bulkStore(y + 2 * q * p.yPlane, results + q * p.pitch * pointBytes,
                target.points * pointBytes);
    commitStores();
  }
}

/// One warp of four: planes of nchw, 32 points at a time, of which lane l
/// stores points 8 (l % 4) ... 8 (l % 4) + 7 of channel l / 4. Row r of matrix
/// i is point 8 (r / 2) + 2 i + r % 2, so that the transposed pairs of a lane
/// in the four matrices are neighbours. Where tiles begin at 16 bytes
/// (`Vectors`), the 32 points begin where a sector of 32 bytes does.
template <bool Vectors>
static __device__ void storeChannels(const Params &p, const Target &target,
                                     uint32_t results, int warp, int lane) {
  auto *y = static_cast<uint16_t *>(p.y) + target.offset;
  const int lead = Vectors ? reinterpret_cast<uintptr_t>(y) / 2 % 16 : 0;
  const int own = 8 * (lane % 4) - lead;
  y += lane / 4 * p.yChannel + own;
  // Places repeat every 32 points. Before the first point, anything is read.
  const int row = 8 * (lane % 8 / 2) + lane / 8 * 2 + lane % 2 - lead;
  const int place = (row & ~31) + placeOf(row & 31, false);
  const int end = lane / 4 < target.channels ? target.points : 0;
  const int last = (target.points + lead - 1) & ~31;
  constexpr int unroll = Vectors ? 4 : 1;
  for (int q = warp; q < target.planes; q += 4) {
    const uint32_t plane = results + q * p.pitch * pointBytes;
    uint16_t *to = y + q * p.yPlane;
    for (int first = 0; first <= last; first += 32 * unroll) {
      uint32_t words[unroll][4];
#pragma unroll
      for (int i = 0; i < unroll; ++i)
        loadMatricesTransposed(
            plane + max(min(first + 32 * i, last) + place, 0) * pointBytes,
            words[i]);
#pragma unroll
      for (int i = 0; i < unroll; ++i) {
        const int at = first + 32 * i, point = at + own;
        if (point < 0 || point >= end)
          continue;
        if constexpr (Vectors) {
          storeGlobal(to + at, words[i]);
        } else {
#pragma unroll
          for (int j = 0; j < 8; ++j)
            if (point + j < end)
              to[at + j] =
                  static_cast<uint16_t>(words[i][j / 2] >> 16 * (j % 2));
        }
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

/// The products of a stage; returns its header.
template <typename T, int G>
static __device__ uint4 computeStage(const Shape &s, float (&sums)[4 * G],
                                     uint32_t stage, int group, uint32_t add) {
  const uint4 header = {loadWord(stage), loadWord(stage + 4),
                        loadWord(stage + 8), loadWord(stage + 12)};
  const uint32_t slab =
      (stage + s.bandBytes + group * s.slabBytes) / pointBytes;
  // A: core matrices of the same columns follow each other.
  uint32_t a = descriptorLow((stage + headerBytes) / 16, stepBytes / 2 / 16);
  const uint32_t highA = descriptorHigh(128 / 16);
  const uint32_t highB = descriptorHigh(s.longitudes * s.stride);
  uint32_t points = stage + 4 * headerWords;
  const uint32_t end = points + 4 * header.x;
  do {
    fenceProducts();
    Product<T, 8 * G>::issue(sums, descriptor(highA, a),
                             descriptor(highB, slab + loadWord(points)), add);
    add = 1;
    a += stepBytes / 16;
    points += 4;
  } while (points < end);
  commitProducts();
  waitProducts();
  return header;
}

/// A warpgroup: unit `group` of every item.
template <typename T, int G>
static __device__ void compute(const Params &p, uint32_t smem,
                               const Barriers &barriers, int group, int warp,
                               int lane) {
  const Shape &s = p.shape;
  const uint32_t results =
      stageAddress(p, smem, s.stages) + group * s.resultBytes;
  Position position;
  for (Items item(p); item.advance();) {
    const int32_t unit = item.firstUnit + group;
    float sums[4 * G]; // set by the first product
    uint4 header;
    uint32_t add = 0;
    do {
      wait(sharedAddress(&barriers.full[position.stage]), position.parity);
      header = computeStage<T, G>(
          s, sums, stageAddress(p, smem, position.stage), group, add);
      arrive(sharedAddress(&barriers.empty[position.stage]));
      position.next(s.stages);
      add = 1;
    } while (!(header.y & pieceLast));
    if (unit >= p.units)
      continue;

    const Target target = targetOf(p, unit, header.z, header.w);
    const uint32_t mask =
        header.y & pieceEmpty ? 0 : channelMask(target.channels, lane);
    // The stores of the previous unit have read the results.
    if (lane == 0)
      waitStoresRead();
    syncNamed(1 + group, groupThreads);
    roundSums<T, G>(p, sums, mask, results, warp, lane);
    fenceAsyncProxy();
    syncNamed(1 + group, groupThreads);
    if (p.yPoint != 1)
      storeBlocks(p, target, results, warp, lane);
    else if (p.shape.nlonOut % 8 == 0 && p.advance * s.phases % 8 == 0)
      storeChannels<true>(p, target, results, warp, lane);
    else
      storeChannels<false>(p, target, results, warp, lane);
  }
  if (lane == 0)
    waitStoresRead();
}

template <typename T, int G>
static __device__ __forceinline__ void contraction(const Params &p) {
  extern __shared__ __align__(128) uint8_t dynamic[];
  __shared__ Barriers barriers;
  const uint32_t smem = sharedAddress(dynamic);
  const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < p.shape.stages; ++i) {
      initBarrier(sharedAddress(&barriers.full[i]), fullCount);
      initBarrier(sharedAddress(&barriers.empty[i]), emptyCount);
    }
    fenceBarrierInit();
  }
  __syncthreads();
  if (warp < computeWarps)
    compute<T, G>(p, smem, barriers, warp / 4, warp % 4, lane);
  else if (warp < computeWarps + mathGroups)
    loadSlabs(p, smem, barriers, warp - computeWarps, lane);
  else
    loadBands(p, smem, barriers, lane);
}

#define DISCO_CONTRACTION(groups)                                              \
  extern "C" __global__ void __launch_bounds__(ctaThreads, 1)                  \
      DISCO_KERNEL(toeplitz, _g##groups)(const __grid_constant__ Params p) {   \
    contraction<disco::cuda::types::DISCO_DTYPE, groups>(p);                   \
  }

// As groupChoices (Params.h) says.
DISCO_CONTRACTION(18)
DISCO_CONTRACTION(9)
DISCO_CONTRACTION(4)
DISCO_CONTRACTION(2)
DISCO_CONTRACTION(1)
