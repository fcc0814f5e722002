//===- ContractSum.cu - contract_sum on a sphere --------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Warps work alone: one sums over k and taps for a group of neighbouring rows,
// F fields and `tile` out-points. For each k, and each window of a ring that
// rows of the group read, it copies the window and the values to its part of
// shared memory, two windows ahead of the one that is summed. There is no
// barrier between warps. A thread has 8 neighbouring out-points of every row of
// the group, and slides over the window, so that a word, once loaded, is used
// for up to 8 taps of every row:
//
//   out-points       0 1 2 3 4 5 6 7
//   tap u reads      u ... u+7           7 of them are there from tap u-1
//
// Shared memory holds groups of 8 columns; in each, chunks of V elements of one
// field, those of all fields next to each other, and a chunk of padding, so
// that neighbouring threads, a group apart, read different banks:
//
//   f32, F = 2       f0 0-3 | f1 0-3 | f0 4-7 | f1 4-7 | padding
//
// Elements are as they are in x, and converted when they are loaded.
//
//===----------------------------------------------------------------------===//

#include "../device/Types.h"
#include "Copy.h"
#include "Params.h"

namespace disco::cuda::csr {

/// Tells the compiler that all threads of a warp have the same value: branches
/// on it need no reconvergence.
__device__ __forceinline__ int uniform(int value) {
  return __shfl_sync(0xffffffffu, value, 0);
}

using T = types::DISCO_DTYPE;
using A = SumOf<T>::type;

template <int F> struct ContractSum {
  static constexpr int P = sumPoints, R = sumRows;
  static constexpr int V = packWidth<A>;
  static constexpr int chunks = P / V; ///< of a group, for each field
  static constexpr int slots = chunks + 1;
  static constexpr int groupChunks = chunks * F + 1;
  static_assert(groupChunks == sumGroupChunks(F, sizeof(A)), "as the host has");
  using Chunk = Pack<T, V>;
  using Values = Pack<A, V>;
  using Sums = A[R][P][F];

  const ContractSumParams &p;
  char *shared; ///< of the warp
  int lane;
  int points, fields;
  int firstOfLane; ///< out-point of the lane's first chunk, in the ring

  /// What is copied next: a stage of the group, the plane of x, the values.
  struct Cursor {
    int index, values;
    const T *x;
  };

  __device__ ContractSum(const ContractSumParams &p, char *shared)
      : p(p), shared(shared), lane(threadIdx.x % 32), points(0), fields(0),
        firstOfLane(0) {}

  static __device__ __forceinline__ int placeOf(int chunk) {
    return chunk / chunks * groupChunks + chunk % chunks * F;
  }

  /// Copies chunks of a window, 32 neighbouring ones of each field at a time.
  __device__ __forceinline__ void copyColumns(const Int4 &stage, const T *x,
                                              Chunk *to) const {
    const int count = (points - 1) / V + 1 + stage.z;
    x += stage.x;
    to += placeOf(lane);
    if (p.isAligned)
      copyAligned(x, stage.y, count, to);
    else
      copyElements(x, stage.y + firstOfLane, count, to);
  }

  /// A ring has at least 32 chunks: one subtraction brings a point back.
  __device__ __forceinline__ void copyAligned(const T *x, int point, int count,
                                              Chunk *to) const {
    constexpr int step = 32 / chunks * groupChunks;
    const auto wrapped = [&](int at) {
      return static_cast<int>(
          min(static_cast<unsigned>(at),
              static_cast<unsigned>(at - p.sphere.lattice)));
    };
    // A field that is not there is another one again.
    const int64_t field = fields < F ? 0 : p.fields.xField;
    int first = wrapped(point + firstOfLane);
#pragma unroll 1
    for (int chunk = lane; chunk < count; chunk += 64) {
      const int second = wrapped(first + 32 * V);
      const T *a = x + first, *b = x + second;
#pragma unroll
      for (int f = 0; f < F; ++f)
        copyAsync<sizeof(Chunk)>(to + f, a + f * field);
      if (chunk + 32 < count)
#pragma unroll
        for (int f = 0; f < F; ++f)
          copyAsync<sizeof(Chunk)>(to + step + f, b + f * field);
      first = wrapped(second + 32 * V);
      to += 2 * step;
    }
  }

  __device__ __forceinline__ void copyElements(const T *x, int point, int count,
                                               Chunk *to) const {
    const int lattice = p.sphere.lattice;
#pragma unroll 1
    for (int chunk = lane; chunk < count; chunk += 32) {
#pragma unroll 1
      for (int i = 0; i < V; ++i, ++point) {
        while (point >= lattice)
          point -= lattice;
        const T *from = x + point * p.sphere.stride;
#pragma unroll
        for (int f = 0; f < F; ++f)
          if (f < fields) {
            if constexpr (sizeof(T) >= 4)
              copyAsync<sizeof(T)>(to[f].v + i, from + f * p.fields.xField);
            else
              to[f].v[i] = from[f * p.fields.xField];
          }
      }
      to += 32 / chunks * groupChunks;
      point += 31 * V;
    }
  }

  /// Copies a window and its values, and goes on to the next.
  __device__ __forceinline__ void copy(Cursor &at, const Int4 &stage,
                                       int numStages, char *buffer) const {
    copyColumns(stage, at.x, reinterpret_cast<Chunk *>(buffer));
    const A *values = static_cast<const A *>(p.sphere.values) + at.values;
    char *to = buffer + p.columnBytes;
#pragma unroll 1
    for (int i = lane; i < stage.w; i += 32)
      copyAsync<16>(to + i * 16, values + i * V);
    at.values += stage.w * V;
    if (++at.index == numStages) {
      at.index = 0;
      at.x += p.fields.xBasis;
    }
  }

  /// Adds the taps of a step that `has` names.
  template <int slot>
  static __device__ __forceinline__ void addTaps(A (&sums)[P][F],
                                                 const A (&window)[slots][F][V],
                                                 const Values &value, int has) {
    const auto add = [&](int i) {
#pragma unroll
      for (int j = 0; j < P; ++j)
#pragma unroll
        for (int f = 0; f < F; ++f)
          sums[j][f] +=
              value.v[i] * window[(slot + (i + j) / V) % slots][f][(i + j) % V];
    };
    if (has == (1 << V) - 1) {
#pragma unroll
      for (int i = 0; i < V; ++i)
        add(i);
      return;
    }
    // Not multiplied by a zero: what a row does not have may be NaN.
#pragma unroll
    for (int i = 0; i < V; ++i)
      if (has & 1 << i)
        add(i);
  }

  /// What a thread knows of a window while it slides over it. Masks are loaded
  /// one ahead.
  struct Slide {
    const Chunk *x;
    int chunk, left, mask;
    const int *masks;
    const Values *values;
    A window[slots][F][V];
  };

  static __device__ __forceinline__ void load(Slide &s, int slot) {
#pragma unroll
    for (int f = 0; f < F; ++f) {
      const Chunk c = s.x[f];
#pragma unroll
      for (int i = 0; i < V; ++i)
        s.window[slot][f][i] = convert<A>(c.v[i]);
    }
    s.x += ++s.chunk % chunks ? F : F + 1;
  }

  /// As many steps as bring the slots back in their order.
  template <int slot>
  static __device__ __forceinline__ void slide(Sums &sums, Slide &s) {
    if constexpr (slot < slots) {
      load(s, (slot + slots - 1) % slots);
      const int mask = s.mask;
      s.mask = uniform(*++s.masks);
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const int has = mask >> 4 * r & 15;
        if (has) {
          addTaps<slot>(sums[r], s.window, *s.values++, has);
        }
      }
      if (--s.left > 0)
        slide<slot + 1>(sums, s);
    }
  }

  __device__ __forceinline__ void accumulate(Sums &sums,
                                             const char *buffer) const {
    const char *values = buffer + p.columnBytes;
    Slide s;
    s.masks = reinterpret_cast<const int *>(values) + 1;
    s.left = uniform(s.masks[-1]);
    s.mask = uniform(s.masks[0]);
    // Threads without points do what the last one does.
    s.x = reinterpret_cast<const Chunk *>(buffer) +
          min(lane, (points - 1) / P) * groupChunks;
    s.chunk = 0;
#pragma unroll
    for (int slot = 0; slot < slots - 1; ++slot)
      load(s, slot);
    s.values = reinterpret_cast<const Values *>(values + headerBytes(s.left));
    while (s.left > 0)
      slide<0>(sums, s);
  }

  __device__ void run(int item) {
    const Sphere &s = p.sphere;
    const int rest = item / s.tiles;
    const int firstPoint = item % s.tiles * s.tile;
    const int firstField = rest % s.fieldBlocks * F;
    fields = min(F, p.fields.numFields - firstField);
    points = min(s.tile, s.lattice - firstPoint);
    firstOfLane = (firstPoint + lane * V) % s.lattice;
    Sums sums = {};
    // High and low parts have the same values.
#pragma unroll 1
    for (int part = 0; part < (sizeof(T) == 2 && p.fields.low ? 2 : 1); ++part)
      sum(sums, item, part * p.fields.low);
    store(sums, item);
  }

  /// Adds the taps of all features; those of x begin `offset` further.
  __device__ __forceinline__ void sum(Sums &sums, int item,
                                      int64_t offset) const {
    const Sphere &s = p.sphere;
    const int rest = item / s.tiles;
    const int firstField = rest % s.fieldBlocks * F;
    const int group = rest / s.fieldBlocks;
    const int firstStage = s.rows[group].x, numStages = s.rows[group].y;
    int left = numStages * p.fields.numBasis;
    if (left == 0)
      return;
    Cursor next = {0, p.groupValues[group],
                   static_cast<const T *>(p.fields.x) +
                       firstField * p.fields.xField + offset};
    const Int4 *stages = s.stages + firstStage;
#pragma unroll 1
    for (int i = 0; i < sumStages - 1; ++i) {
      if (i < left)
        copy(next, stages[next.index], numStages, shared + i * p.bufferBytes);
      commitCopies();
    }
    // The buffer before `from`, round the end, is free.
    for (int from = 0; left > 0; --left) {
      const Int4 stage = stages[next.index];
      waitForCopies<sumStages - 2>();
      __syncwarp();
      if (left >= sumStages) {
        const int to = from == 0 ? sumStages - 1 : from - 1;
        copy(next, stage, numStages, shared + to * p.bufferBytes);
      }
      commitCopies();
      accumulate(sums, shared + from * p.bufferBytes);
      from = from + 1 == sumStages ? 0 : from + 1;
    }
    waitForCopies<0>();
    __syncwarp();
  }

  /// Through shared memory, so that neighbouring threads store neighbours.
  __device__ void store(const Sums &sums, int item) const {
    const Sphere &s = p.sphere;
    const int rest = item / s.tiles;
    const Int4 group = s.rows[rest / s.fieldBlocks];
    const int firstPoint = item % s.tiles * s.tile;
    const int firstField = rest % s.fieldBlocks * F;
    Values *all = reinterpret_cast<Values *>(shared);
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (r >= group.w)
        return;
      __syncwarp();
#pragma unroll
      for (int chunk = 0; chunk < chunks; ++chunk)
#pragma unroll
        for (int f = 0; f < F; ++f) {
          Values c;
#pragma unroll
          for (int i = 0; i < V; ++i)
            c.v[i] = sums[r][chunk * V + i][f];
          all[lane * groupChunks + chunk * F + f] = c;
        }
      __syncwarp();
      storeRow(p.rowPlaces[group.z + r] + firstPoint * s.phases, firstField);
    }
  }

  __device__ void storeRow(int place, int firstField) const {
    const Sphere &s = p.sphere;
    const Values *all = reinterpret_cast<const Values *>(shared);
    T *y = static_cast<T *>(p.fields.y);
    const int64_t first = firstField * p.fields.yField + place;
    for (int j = lane; j < points; j += 32) {
      const Values *chunk = all + placeOf(j / V);
#pragma unroll
      for (int f = 0; f < F; ++f)
        if (f < fields) {
          const int64_t at = first + f * p.fields.yField + j * s.phases;
          const A sum = reinterpret_cast<const A *>(chunk + f)[j % V];
          y[at] = convert<T>(finish<T>(p.epilogue, sum, firstField + f, at));
        }
    }
  }
};

template <int F>
__device__ void contractSum(const ContractSumParams &p, char *shared) {
  const int warp = threadIdx.x / 32;
  const int item = blockIdx.x * sumWarps + warp;
  if (item < p.numGroups * p.sphere.fieldBlocks * p.sphere.tiles)
    ContractSum<F>(p, shared + warp * sumStages * p.bufferBytes).run(item);
}

} // namespace disco::cuda::csr

extern __shared__ __align__(16) char sharedMemory[];

#define DISCO_CONTRACT_SUM(F)                                                  \
  extern "C" __global__ void __launch_bounds__(                                \
      disco::cuda::csr::contractSumThreads, 4) DISCO_KERNEL(csr_contract_sum,  \
                                                            _bc##F)(           \
      const __grid_constant__ disco::cuda::csr::ContractSumParams params) {    \
    disco::cuda::csr::contractSum<F>(params, sharedMemory);                    \
  }

DISCO_CONTRACT_SUM(1)
#if !DISCO_IS_F64
DISCO_CONTRACT_SUM(2)
#endif
