//===- ContractSum.cu - contract_sum on a sphere --------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp sums over k and taps for a group of neighbouring rows, F fields and
// `tile` out-points. For each window of a ring that rows of the group read, and
// each k, it copies the window and the values to its part of shared memory, two
// windows ahead of the one that is summed. Warps work alone, or the four of a
// block share the windows of a group with many taps, and add up their sums. A
// thread has 8 neighbouring out-points of every row of the group. In a step it
// loads what 4 neighbouring taps of those read, which serves up to 4 taps of
// every row:
//
//   out-points       0 1 2 3 4 5 6 7
//   tap u reads      u ... u+7           11 words for 32 multiply-adds a row
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

using T = types::DISCO_DTYPE;
using A = SumOf<T>::type;

template <int F> struct ContractSum {
  static constexpr int P = sumPoints, R = sumRows;
  static constexpr int V = packWidth<A>;
  static constexpr int chunks = P / V; ///< of a group, for each field
  static constexpr int slots = chunks + 1;
  static constexpr int groupChunks = chunks * F + 1;
  static_assert(groupChunks == sumGroupChunks(F, sizeof(A)), "as the host has");
  /// Chunks of a window that a thread copies, of each field, at most.
  static constexpr int copies = (32 * chunks + sumMaxSteps + 31) / 32;
  using Chunk = Pack<T, V>;
  using Values = Pack<A, V>;
  using Sums = A[R][P][F];

  const ContractSumParams &p;
  char *shared; ///< of the warp
  int lane;
  int points, fields;
  int firstPoint;  ///< of the tile
  int firstOfLane; ///< lattice point of the lane's first chunk
  const T *x;      ///< of the first field

  /// What is copied next: a stage of the group, for a k.
  struct Cursor {
    const Int4 *stage;
    int k, count, valueChunks;
    const T *x;
    const char *values;
    int points[copies]; ///< of the lane's chunks
  };

  __device__ ContractSum(const ContractSumParams &p, char *shared)
      : p(p), shared(shared), lane(threadIdx.x % 32) {}

  static __device__ __forceinline__ int placeOf(int chunk) {
    return chunk / chunks * groupChunks + chunk % chunks * F;
  }

  /// A point below twice the lattice, brought back.
  __device__ __forceinline__ int wrapped(int point) const {
    return static_cast<int>(
        min(static_cast<unsigned>(point),
            static_cast<unsigned>(point - p.sphere.lattice)));
  }

  __device__ __forceinline__ void begin(Cursor &at) const {
    const Int4 stage = *at.stage;
    at.count = (points - 1) / V + 1 + stage.z;
    at.valueChunks = stage.w;
    at.x = x + stage.x + at.k * p.fields.xBasis;
    int point = wrapped(stage.y + firstOfLane);
#pragma unroll
    for (int i = 0; i < copies; ++i) {
      at.points[i] = point;
      // Where copies are aligned a ring has at least 32 chunks.
      point = wrapped(point + 32 * V);
    }
  }

  /// Copies a window and its values, and goes on to the next.
  __device__ __forceinline__ void copy(Cursor &at, char *buffer) const {
    Chunk *to = reinterpret_cast<Chunk *>(buffer) + placeOf(lane);
    if (p.isAligned)
      copyAligned(at, to);
    else
      copyElements(at, to);
    char *values = buffer + p.columnBytes;
#pragma unroll 1
    for (int i = lane; i < at.valueChunks; i += 32)
      copyAsync<16>(values + i * 16, at.values + i * 16);
    at.values += at.valueChunks * 16;
    at.x += p.fields.xBasis;
    if (++at.k == p.fields.numBasis) {
      at.k = 0;
      ++at.stage; // one more than there are can be read
      begin(at);
    }
  }

  __device__ __forceinline__ void copyAligned(const Cursor &at,
                                              Chunk *to) const {
    // A field that is not there is another one again.
    const int64_t field = fields < F ? 0 : p.fields.xField;
#pragma unroll
    for (int i = 0; i < copies; ++i)
      if (lane + 32 * i < at.count)
#pragma unroll
        for (int f = 0; f < F; ++f)
          copyAsync<sizeof(Chunk)>(to + 32 / chunks * groupChunks * i + f,
                                   at.x + f * field + at.points[i]);
  }

  __device__ __forceinline__ void copyElements(const Cursor &at,
                                               Chunk *to) const {
    const int lattice = p.sphere.lattice;
    int point = at.points[0];
#pragma unroll 1
    for (int chunk = lane; chunk < at.count; chunk += 32) {
#pragma unroll 1
      for (int i = 0; i < V; ++i, ++point) {
        while (point >= lattice)
          point -= lattice;
        const T *from = at.x + point * p.sphere.stride;
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

  /// Adds tap i of a step to the sums of a row.
  static __device__ __forceinline__ void add(A (&sums)[P][F],
                                             const A (&window)[slots][F][V],
                                             const Values &values, int i) {
#pragma unroll
    for (int j = 0; j < P; ++j)
#pragma unroll
      for (int f = 0; f < F; ++f)
        sums[j][f] += values.v[i] * window[(i + j) / V][f][(i + j) % V];
  }

  /// A window that is there: a header (the number of steps, the taps of rows
  /// that have any in the window, the taps of rows in each step) and values
  /// [step][row].
  __device__ __forceinline__ void accumulate(Sums &sums,
                                             const char *buffer) const {
    const char *header = buffer + p.columnBytes;
    const int masks = reinterpret_cast<const int *>(header)[lane];
    const int steps = __shfl_sync(0xffffffffu, masks, 0);
    const int all = __shfl_sync(0xffffffffu, masks, 1);
    const auto *values =
        reinterpret_cast<const Values *>(header + headerBytes(steps));
    // Where the chunks of a step are; threads without points do what the last
    // one does.
    const Chunk *from[chunks];
#pragma unroll
    for (int i = 0; i < chunks; ++i)
      from[i] = reinterpret_cast<const Chunk *>(buffer) +
                min(lane, (points - 1) / P) * groupChunks + i * F;
#pragma unroll 1
    for (int step = 0; step < steps; ++step, values += R) {
      const int has = __shfl_sync(0xffffffffu, masks, step + 2);
      A window[slots][F][V];
#pragma unroll
      for (int slot = 0; slot < slots; ++slot)
#pragma unroll
        for (int f = 0; f < F; ++f) {
          const Chunk c = from[slot % chunks][slot / chunks * groupChunks + f];
#pragma unroll
          for (int i = 0; i < V; ++i)
            window[slot][f][i] = convert<A>(c.v[i]);
        }
      const Chunk *next = from[0] + groupChunks;
#pragma unroll
      for (int i = 0; i + 1 < chunks; ++i)
        from[i] = from[i + 1];
      from[chunks - 1] = next;
      if (has == all) {
#pragma unroll
        for (int r = 0; r < R; ++r)
          if (all & 1 << 4 * r) {
            const Values value = values[r];
#pragma unroll
            for (int i = 0; i < V; ++i)
              add(sums[r], window, value, i);
          }
        continue;
      }
      // Not multiplied by a zero: what a row does not have may be NaN.
#pragma unroll
      for (int r = 0; r < R; ++r)
        if (has & 15 << 4 * r) {
          const Values value = values[r];
#pragma unroll
          for (int i = 0; i < V; ++i)
            if (has & 1 << (4 * r + i))
              add(sums[r], window, value, i);
        }
    }
  }

  /// Adds the taps of all features that the part has; those of x begin `offset`
  /// further.
  __device__ __forceinline__ void sum(Sums &sums, int index, int64_t offset) {
    const Int4 part = p.parts[index];
    int left = part.w;
    if (left == 0)
      return;
    x += offset;
    Cursor next;
    next.stage = p.sphere.stages + part.y;
    next.k = part.z;
    next.values =
        static_cast<const char *>(p.sphere.values) + 16ll * p.partValues[index];
    begin(next);
#pragma unroll 1
    for (int i = 0; i < sumStages - 1; ++i) {
      if (i < left)
        copy(next, shared + i * p.bufferBytes);
      commitCopies();
    }
    // The buffer before `from`, round the end, is free.
    for (int from = 0; left > 0; --left) {
      waitForCopies<sumStages - 2>();
      __syncwarp();
      if (left >= sumStages)
        copy(next,
             shared + (from == 0 ? sumStages - 1 : from - 1) * p.bufferBytes);
      commitCopies();
      accumulate(sums, shared + from * p.bufferBytes);
      from = from + 1 == sumStages ? 0 : from + 1;
    }
    waitForCopies<0>();
    __syncwarp();
    x -= offset;
  }

  /// The sums of all rows go through shared memory, so that neighbouring
  /// threads store neighbours. Those of the warps of a block are added there,
  /// in their order.
  __device__ void run(int item, int numParts) {
    const Sphere &s = p.sphere;
    const int rest = item / s.tiles;
    const int firstField = rest % s.fieldBlocks * F;
    const int index = rest / s.fieldBlocks;
    const int warp = threadIdx.x / 32;
    const int part = numParts > 1 ? index * sumWarps + warp
                                  : p.numSplit * (sumWarps - 1) + index;
    firstPoint = item % s.tiles * s.tile;
    fields = min(F, p.fields.numFields - firstField);
    points = min(s.tile, s.lattice - firstPoint);
    firstOfLane = (firstPoint + lane * V) % s.lattice;
    x = static_cast<const T *>(p.fields.x) + firstField * p.fields.xField;
    Sums sums = {};
    // High and low parts have the same values.
#pragma unroll 1
    for (int low = 0; low < (sizeof(T) == 2 && p.fields.low ? 2 : 1); ++low)
      sum(sums, part, low * p.fields.low);
    put(sums);
    if (numParts > 1)
      __syncthreads();
    else
      __syncwarp();
    const Int4 group = s.rows[p.parts[part].x];
    const char *from = shared - (numParts > 1 ? warp * p.warpBytes : 0);
    for (int r = numParts > 1 ? warp : 0; r < group.y;
         r += numParts > 1 ? sumWarps : 1)
      storeRow(from, r, numParts, p.rowPlaces[group.x + r], group.z,
               firstField);
  }

  __device__ void put(const Sums &sums) const {
    Values *to = reinterpret_cast<Values *>(shared) + lane * groupChunks;
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
      for (int chunk = 0; chunk < chunks; ++chunk)
#pragma unroll
        for (int f = 0; f < F; ++f) {
          Values c;
#pragma unroll
          for (int i = 0; i < V; ++i)
            c.v[i] = sums[r][chunk * V + i][f];
          to[r * 32 * groupChunks + chunk * F + f] = c;
        }
  }

  __device__ void storeRow(const char *from, int r, int numParts, int place,
                           int shift, int firstField) const {
    const Sphere &s = p.sphere;
    T *y = static_cast<T *>(p.fields.y);
    const int64_t first = firstField * p.fields.yField + place;
    for (int j = lane; j < points; j += 32) {
      const char *chunk =
          from + (r * 32 * groupChunks + placeOf(j / V)) * sizeof(Values);
      const int64_t point = wrapped(firstPoint + shift + j);
#pragma unroll
      for (int f = 0; f < F; ++f)
        if (f < fields) {
          A sum = 0;
          for (int part = 0; part < numParts; ++part)
            sum += reinterpret_cast<const A *>(chunk + part * p.warpBytes +
                                               f * sizeof(Values))[j % V];
          const int64_t at = first + f * p.fields.yField + point * s.phases;
          y[at] = convert<T>(finish<T>(p.epilogue, sum, firstField + f, at));
        }
    }
  }
};

/// Blocks of groups that their warps share come first, then those whose warps
/// work alone.
template <int F>
__device__ void contractSum(const ContractSumParams &p, char *shared) {
  const int warp = threadIdx.x / 32;
  const int each = p.sphere.fieldBlocks * p.sphere.tiles;
  ContractSum<F> work(p, shared + warp * p.warpBytes);
  const int block = static_cast<int>(blockIdx.x) - p.numSplit * each;
  const int numParts = block < 0 ? sumWarps : 1;
  const int item = block < 0 ? static_cast<int>(blockIdx.x)
                             : p.numSplit * each + block * sumWarps + warp;
  if (item < p.numGroups * each)
    work.run(item, numParts);
}

} // namespace disco::cuda::csr

extern __shared__ __align__(16) char sharedMemory[];

/// Blocks of a multiprocessor: converting to sums, and f64, take registers, and
/// so do the copies of sm_80.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
constexpr int sumBlocks = 3;
#else
constexpr int sumBlocks = sizeof(disco::cuda::csr::T) == 4 ? 4 : 3;
#endif

#define DISCO_CONTRACT_SUM(F)                                                  \
  extern "C" __global__ void __launch_bounds__(                                \
      disco::cuda::csr::contractSumThreads,                                    \
      sumBlocks) DISCO_KERNEL(csr_contract_sum,                                \
                              _bc##F)(                                         \
      const __grid_constant__ disco::cuda::csr::ContractSumParams params) {    \
    disco::cuda::csr::contractSum<F>(params, sharedMemory);                    \
  }

DISCO_CONTRACT_SUM(1)
#if !DISCO_IS_F64
DISCO_CONTRACT_SUM(2)
#endif
