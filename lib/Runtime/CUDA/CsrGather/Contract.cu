//===- Contract.cu - contract on a sphere ---------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block computes one row's features, for BC fields, `tile` out-points (one a
// thread) and KT features at a time:
//
//   shared memory   x  [plane][column] of packs: the windows of a stage, each
//                      column holding the BC fields of a point
//                   records [tap] of the stage
//   registers       sums [KT][BC]
//
// For a tap a thread loads the record (a broadcast) and one column, and does
// KT * BC multiply-adds: for 9 features and 8 fields 72, with 5 loads.
//
//===----------------------------------------------------------------------===//

#include "../device/Types.h"
#include "Params.h"

namespace disco::cuda::csr {

using T = types::DISCO_DTYPE;
using A = SumOf<T>::type;

/// Splits the index of a block: tile fastest, then fields, then row.
struct Place {
  int row, field, firstPoint;
  __device__ Place(const Sphere &s, int bc) {
    const unsigned block = blockIdx.x;
    const unsigned tile = block % s.tiles, rest = block / s.tiles;
    firstPoint = static_cast<int>(tile) * s.tile;
    field = static_cast<int>(rest % s.fieldBlocks) * bc;
    row = static_cast<int>(rest / s.fieldBlocks);
  }
};

template <int BC, int KT> struct Contract {
  static constexpr int width = BC == 1 ? 1 : packWidth<A>;
  static constexpr int planes = BC / width;
  static constexpr int record = recordSize(KT, sizeof(A));
  static_assert(BC % width == 0, "fields fill packs");
  using Column = Pack<A, width>;
  using Word = Pack<A, packWidth<A>>;

  const ContractParams &p;
  Column *columns;
  A *records;
  int warp, lane, warps;

  __device__ Contract(const ContractParams &p, char *shared)
      : p(p), columns(reinterpret_cast<Column *>(shared)),
        records(reinterpret_cast<A *>(columns + planes * p.columns)),
        warp(threadIdx.x / 32), lane(threadIdx.x % 32), warps(blockDim.x / 32) {
  }

  /// Copies the windows of a stage; a warp takes 32 columns of a window at a
  /// time.
  __device__ void stageColumns(const Int4 &stage, const T *x, int fields,
                               int firstPoint, int points) {
    const Sphere &s = p.sphere;
    int chunk = warp;
    for (int i = 0; i < stage.y; ++i) {
      const Int4 window = s.windows[stage.x + i];
      const int size = points + window.z - 1;
      const int chunks = (size + 31) / 32;
      int first = window.y + firstPoint;
      if (first >= s.lattice)
        first -= s.lattice;
      for (; chunk < chunks; chunk += warps) {
        const int c = chunk * 32 + lane;
        if (c < size)
          loadColumn(x + window.x, first + c, window.w + c, fields);
      }
      chunk -= chunks;
    }
  }

  __device__ void loadColumn(const T *x, int point, int column, int fields) {
    const Sphere &s = p.sphere;
    while (point >= s.lattice)
      point -= s.lattice;
    const T *from = x + point * s.stride;
#pragma unroll
    for (int plane = 0; plane < planes; ++plane) {
      Column c;
#pragma unroll
      for (int i = 0; i < width; ++i) {
        const int field = plane * width + i;
        c.v[i] = BC == 1 || field < fields
                     ? convert<A>(from[field * p.fields.xField])
                     : A(0);
      }
      columns[plane * p.columns + column] = c;
    }
  }

  __device__ void stageRecords(const Int4 &stage, int kTile) {
    const Word *from = reinterpret_cast<const Word *>(
        static_cast<const A *>(p.sphere.values) +
        (static_cast<int64_t>(kTile) * p.numTaps + stage.z) * record);
    Word *to = reinterpret_cast<Word *>(records);
    const int words = stage.w * (record / packWidth<A>);
    for (int i = threadIdx.x; i < words; i += blockDim.x)
      to[i] = from[i];
  }

  /// Threads without a point do what the last one does.
  __device__ void accumulate(A (&sums)[KT][BC], int taps, int points) const {
    const A *from = records;
    const Column *x = columns + min(static_cast<int>(threadIdx.x), points - 1);
#pragma unroll 2
    for (int tap = 0; tap < taps; ++tap, from += record) {
      A values[record];
#pragma unroll
      for (int i = 0; i < record; i += packWidth<A>)
        *reinterpret_cast<Word *>(values + i) =
            *reinterpret_cast<const Word *>(from + i);
      const int column = columnOf(values[KT]);
#pragma unroll
      for (int plane = 0; plane < planes; ++plane) {
        const Column c = x[plane * p.columns + column];
#pragma unroll
        for (int k = 0; k < KT; ++k)
#pragma unroll
          for (int i = 0; i < width; ++i)
            sums[k][plane * width + i] += values[k] * c.v[i];
      }
    }
  }

  static __device__ __forceinline__ int columnOf(float v) {
    return __float_as_int(v);
  }
  static __device__ __forceinline__ int columnOf(double v) {
    return __double2loint(v);
  }

  __device__ void store(const A (&sums)[KT][BC], T *y, int fields,
                        int basis) const {
#pragma unroll
    for (int k = 0; k < KT; ++k) {
      if (k >= basis)
        return;
      T *to = y + k * p.fields.yBasis;
#pragma unroll
      for (int i = 0; i < BC; ++i)
        if (BC == 1 || i < fields) {
          const T high = convert<T>(sums[k][i]);
          to[i * p.fields.yField] = high;
          if constexpr (sizeof(T) == 2)
            if (p.fields.low)
              to[i * p.fields.yField + p.fields.low] =
                  convert<T>(sums[k][i] - convert<A>(high));
        }
    }
  }

  __device__ void run() {
    const Sphere &s = p.sphere;
    const Place place(s, BC);
    const Int4 row = s.rows[place.row];
    const int fields = min(BC, p.fields.numFields - place.field);
    const int points = min(s.tile, s.lattice - place.firstPoint);
    const T *x =
        static_cast<const T *>(p.fields.x) + place.field * p.fields.xField;
    T *y = static_cast<T *>(p.fields.y) + place.field * p.fields.yField +
           row.z +
           (place.firstPoint + static_cast<int>(threadIdx.x)) * s.phases;
    // Warps without points help to stage.
    const bool isActive = warp * 32 < points;
    for (int kTile = 0; kTile < p.kTiles; ++kTile) {
      A sums[KT][BC] = {};
      for (int i = 0; i < row.y; ++i) {
        const Int4 stage = s.stages[row.x + i];
        __syncthreads();
        if (row.y > 1 || kTile == 0)
          stageColumns(stage, x, fields, place.firstPoint, points);
        stageRecords(stage, kTile);
        __syncthreads();
        if (isActive)
          accumulate(sums, stage.w, points);
      }
      if (static_cast<int>(threadIdx.x) < points)
        store(sums, y + kTile * KT * p.fields.yBasis, fields,
              p.fields.numBasis - kTile * KT);
    }
  }
};

} // namespace disco::cuda::csr

extern __shared__ __align__(16) char sharedMemory[];

/// Blocks of a multiprocessor, by the registers that a thread's sums take.
constexpr int blocksOf(int sums) {
  const int words = sums * static_cast<int>(sizeof(disco::cuda::csr::A) / 4);
  return words > 80 ? 3 : words > 60 ? 4 : 5;
}

#define DISCO_CONTRACT(BC, KT)                                                 \
  extern "C" __global__ void __launch_bounds__(                                \
      disco::cuda::csr::contractThreads, blocksOf(BC *KT))                     \
      DISCO_KERNEL(csr_contract, _bc##BC##_k##KT)(                             \
          const __grid_constant__ disco::cuda::csr::ContractParams params) {   \
    disco::cuda::csr::Contract<BC, KT>(params, sharedMemory).run();            \
  }

#if DISCO_IS_F64
DISCO_CONTRACT(4, 4)
DISCO_CONTRACT(4, 9)
DISCO_CONTRACT(1, 9)
#else
DISCO_CONTRACT(8, 4)
DISCO_CONTRACT(8, 9)
DISCO_CONTRACT(8, 11)
DISCO_CONTRACT(4, 9)
DISCO_CONTRACT(1, 9)
#endif
