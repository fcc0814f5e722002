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
// each k, it copies the window and the values to its part of shared memory, one
// ahead of the one that is summed. Warps work alone, or the four of a block
// share the windows of a group with many taps, and add up their sums. A thread
// has 8 neighbouring out-points of every row of the group. In a step it loads
// what 4 neighbouring taps of those read, which serves up to 4 taps of every
// row:
//
//   out-points       0 1 2 3 4 5 6 7
//   tap u reads      u ... u+7           11 words for 32 multiply-adds a row
//
// Shared memory has the chunks (V elements) of a field in their order, lines of
// 128 bytes where those of x are, so that a copy is a few requests to the L2.
// Threads read chunks P / V apart, so that every other line has its chunks
// exchanged pairwise, to be in other banks:
//
//   f32, line 0      0 1 2 3 4 5 6 7
//   line 1           9 8 11 10 13 12 15 14
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
  static constexpr int chunks = P / V; ///< of a thread's out-points
  static constexpr int slots = chunks + 1;
  /// Chunks of a window that a thread copies, of each field, at most.
  static constexpr int copies = (32 * chunks + sumMaxSteps + 31) / 32;
  using Chunk = Pack<T, V>;
  using Values = Pack<A, V>;
  using Sums = A[R][P][F];
  static constexpr int lineChunks = 128 / sizeof(Chunk);
  static constexpr int fieldBytes =
      sumFieldChunks(sizeof(T), sizeof(A)) * sizeof(Chunk);
  static constexpr int columnBytes = F * fieldBytes;

  const ContractSumParams &p;
  char *shared; ///< of the warp
  int lane;
  int points, fields;
  int firstField, firstPoint; ///< the latter of the tile
  int firstOfLane;            ///< lattice point of the lane's first chunk
  int isLow;                  ///< the low part of x is read

  /// What is copied next: a stage of the group, for a k.
  struct Cursor {
    int stage, k;
    int values; ///< 16 bytes each
    int count;  ///< chunks of a field, and from bit 16 those of values
    int to;     ///< where the lane's first chunk goes in a buffer
    int point;  ///< of that chunk
    const T *x;
  };

  /// What the windows of a stage have in common.
  struct Window {
    int masks; ///< of the lane's step
    int all, steps;
    int first; ///< chunk of the lane's first out-point
    int left;  ///< windows
  };

  __device__ ContractSum(const ContractSumParams &p, char *shared)
      : p(p), shared(shared), lane(threadIdx.x % 32) {}

  /// Of a chunk, or of a word of one.
  template <int line, int size>
  static __device__ __forceinline__ int placeOf(unsigned chunk) {
    return static_cast<int>((chunk ^ (chunk / line & (chunks - 1))) * size);
  }
  static __device__ __forceinline__ int placeOf(unsigned chunk) {
    return placeOf<lineChunks, sizeof(Chunk)>(chunk);
  }
  /// In sums that are to be stored.
  static __device__ __forceinline__ int sumPlaceOf(unsigned chunk) {
    return placeOf<8, sizeof(Values)>(chunk);
  }

  /// A point below twice the lattice, brought back.
  __device__ __forceinline__ int wrapped(int point) const {
    return static_cast<int>(
        min(static_cast<unsigned>(point),
            static_cast<unsigned>(point - p.sphere.lattice)));
  }

  /// Where a window of the tile begins in a line, if the ring does not end.
  __device__ __forceinline__ int phaseOf(int chunk) const {
    return (chunk + firstPoint / V) & (lineChunks - 1);
  }

  __device__ __forceinline__ void begin(Cursor &at) const {
    const Int4 stage = p.sphere.stages[at.stage];
    at.count = (points - 1) / V + 1 + stage.z + (stage.w << 16);
    at.x = static_cast<const T *>(p.fields.x) + firstField * p.fields.xField +
           at.k * p.fields.xBasis + stage.x;
    if constexpr (sizeof(T) == 2)
      at.x += isLow ? p.fields.low : 0;
    at.to = placeOf(lane + phaseOf((stage.x + stage.y) / V));
    at.point = wrapped(stage.y + firstOfLane);
  }

  /// Copies a window and its values, and goes on to the next.
  __device__ __forceinline__ void copy(Cursor &at, char *buffer) const {
    const int count = at.count & 0xffff, valueChunks = at.count >> 16;
    if (p.isAligned)
      copyAligned(at, count, buffer + at.to);
    else
      copyElements(at, count, buffer + at.to);
    const Values *values =
        static_cast<const Values *>(p.sphere.values) + at.values;
    auto *to = reinterpret_cast<Values *>(buffer + columnBytes);
#pragma unroll 1
    for (int i = lane; i < valueChunks; i += 32)
      copyAsync<16>(to + i, values + i);
    at.values += valueChunks;
    at.x += p.fields.xBasis;
    if (++at.k == p.fields.numBasis) {
      at.k = 0;
      ++at.stage; // one more than there are can be read
      begin(at);
    }
  }

  /// 32 chunks are whole lines, pairs of them.
  static_assert(32 % (chunks * lineChunks) == 0, "the same exchange");

  __device__ __forceinline__ void copyAligned(const Cursor &at, int count,
                                              char *to) const {
    int point[copies];
    point[0] = at.point;
#pragma unroll
    for (int i = 1; i < copies; ++i) // a ring has at least 32 chunks
      point[i] = wrapped(point[i - 1] + 32 * V);
    const T *from = at.x;
#pragma unroll
    for (int f = 0; f < F; ++f) {
#pragma unroll
      for (int i = 0; i < copies; ++i)
        if (lane + 32 * i < count)
          copyAsync<sizeof(Chunk)>(to + f * fieldBytes + 32 * i * sizeof(Chunk),
                                   from + point[i]);
      // A field that is not there is another one again.
      from += f + 1 < fields ? p.fields.xField : 0;
    }
  }

  __device__ __forceinline__ void copyElements(const Cursor &at, int count,
                                               char *to) const {
    const int lattice = p.sphere.lattice;
    int point = at.point;
#pragma unroll 1
    for (int chunk = lane; chunk < count; chunk += 32) {
#pragma unroll 1
      for (int i = 0; i < V; ++i, ++point) {
        while (point >= lattice)
          point -= lattice;
        const T *from = at.x + point * p.sphere.stride;
#pragma unroll
        for (int f = 0; f < F; ++f)
          if (f < fields) {
            T *place = reinterpret_cast<T *>(to + f * fieldBytes) + i;
            if constexpr (sizeof(T) >= 4)
              copyAsync<sizeof(T)>(place, from + f * p.fields.xField);
            else
              *place = from[f * p.fields.xField];
          }
      }
      to += 32 * sizeof(Chunk);
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

  /// The header of a window that is there: the number of steps and its place in
  /// a line, the taps of rows that have any in the window, the taps of rows in
  /// each step.
  __device__ __forceinline__ void read(Window &w, const char *buffer) const {
    w.masks = reinterpret_cast<const int *>(buffer + columnBytes)[lane];
    const int counts = __shfl_sync(0xffffffffu, w.masks, 0);
    w.all = __shfl_sync(0xffffffffu, w.masks, 1);
    w.steps = counts & 255;
    // Threads without points do what the last one does.
    w.first = min(lane, (points - 1) / P) * chunks + phaseOf(counts >> 8);
  }

  __device__ __forceinline__ void accumulate(Sums &sums, const Window &w,
                                             const char *buffer) const {
    const auto *values = reinterpret_cast<const Values *>(buffer + columnBytes +
                                                          headerBytes(w.steps));
    const char *from[slots];
#pragma unroll
    for (int slot = 0; slot < slots; ++slot)
      from[slot] = buffer + placeOf(w.first + slot);
    int has = __shfl_sync(0xffffffffu, w.masks, 2);
#pragma unroll 1
    for (int step = 0; step < w.steps; ++step, values += R) {
      A window[slots][F][V];
#pragma unroll
      for (int slot = 0; slot < slots; ++slot)
#pragma unroll
        for (int f = 0; f < F; ++f) {
          const Chunk c =
              *reinterpret_cast<const Chunk *>(from[slot] + f * fieldBytes);
#pragma unroll
          for (int i = 0; i < V; ++i)
            window[slot][f][i] = convert<A>(c.v[i]);
        }
#pragma unroll
      for (int slot = 0; slot < chunks; ++slot)
        from[slot] = from[slot + 1];
      from[chunks] = buffer + placeOf(w.first + step + slots);
      const int now = has;
      has = __shfl_sync(0xffffffffu, w.masks, step + 3);
      if (now == w.all) {
        int rows = now;
        // Else rows are found in `all`, by slower instructions.
        asm volatile("" : "+r"(rows));
#pragma unroll
        for (int r = 0; r < R; ++r)
          if (rows & 1 << 4 * r) {
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
        if (now & 15 << 4 * r) {
          const Values value = values[r];
#pragma unroll
          for (int i = 0; i < V; ++i)
            if (now & 1 << (4 * r + i))
              add(sums[r], window, value, i);
        }
    }
  }

  /// Adds the taps of all features that the part has.
  __device__ __forceinline__ void sum(Sums &sums, int index) {
    const Int4 part = p.parts[index];
    const int count = uniform(part.w), firstK = uniform(part.z);
    Cursor next;
    next.stage = uniform(part.y);
    next.k = firstK;
    next.values = uniform(p.partValues[index]);
    begin(next);
    Window w = {0, 0, 0, 0, 0};
    // The windows of the first stage may be fewer.
    int windows = p.fields.numBasis - firstK;
    // The window that is copied goes to buffer `to`, and the one that was
    // copied sumStages - 1 before is in the buffer after that, round the end.
    int to = 0;
#pragma unroll 1
    for (int left = count + sumStages - 1; left > 0; --left) {
      waitForCopies<sumStages - 2>();
      __syncwarp();
      if (left >= sumStages)
        copy(next, shared + to * p.bufferBytes);
      commitCopies();
      to = to + 1 == sumStages ? 0 : to + 1;
      if (left > count)
        continue;
      const char *from = shared + to * p.bufferBytes;
      if (w.left == 0) {
        read(w, from);
        w.left = windows;
        windows = p.fields.numBasis;
      }
      --w.left;
      accumulate(sums, w, from);
    }
    waitForCopies<0>();
    __syncwarp();
  }

  /// The sums of all rows go through shared memory, so that neighbouring
  /// threads store neighbours. Those of the warps of a block are added there,
  /// in their order.
  __device__ void run(int item, int numParts) {
    const Sphere &s = p.sphere;
    const int rest = item / s.tiles;
    const int index = rest / s.fieldBlocks;
    const int warp = uniform(threadIdx.x / 32);
    const int part = numParts > 1 ? index * sumWarps + warp
                                  : p.numSplit * (sumWarps - 1) + index;
    firstField = rest % s.fieldBlocks * F;
    firstPoint = item % s.tiles * s.tile;
    fields = uniform(min(F, p.fields.numFields - firstField));
    points = min(s.tile, s.lattice - firstPoint);
    firstOfLane = (firstPoint + lane * V) % s.lattice;
    // Loaded now, so that nothing waits for it at the end.
    int *places = reinterpret_cast<int *>(shared + p.warpBytes - sumGroupBytes);
    const Int4 group = s.rows[p.parts[part].x];
    if (lane < group.y)
      places[lane] = p.rowPlaces[group.x + lane];
    if (lane == R)
      places[R] = group.y;
    if (lane == R + 1)
      places[R + 1] = group.z;
    Sums sums = {};
    // High and low parts have the same values.
#pragma unroll 1
    for (isLow = 0; isLow < (sizeof(T) == 2 && p.fields.low ? 2 : 1); ++isLow)
      sum(sums, part);
    put(sums);
    if (numParts > 1)
      __syncthreads();
    else
      __syncwarp();
    const char *from = shared - (numParts > 1 ? warp * p.warpBytes : 0);
#pragma unroll 1
    for (int r = numParts > 1 ? warp : 0; r < places[R];
         r += numParts > 1 ? sumWarps : 1)
      storeRow(from + r * F * sumBytes, numParts, places[r], places[R + 1]);
  }

  /// Of a row and field.
  static constexpr int sumBytes = 32 * P * sizeof(A);

  __device__ void put(const Sums &sums) const {
#pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk) {
      char *to = shared + sumPlaceOf(lane * chunks + chunk);
#pragma unroll
      for (int r = 0; r < R; ++r)
#pragma unroll
        for (int f = 0; f < F; ++f) {
          Values c;
#pragma unroll
          for (int i = 0; i < V; ++i)
            c.v[i] = sums[r][chunk * V + i][f];
          *reinterpret_cast<Values *>(to + (r * F + f) * sumBytes) = c;
        }
    }
  }

  __device__ void storeRow(const char *from, int numParts, int place,
                           int shift) const {
    const Sphere &s = p.sphere;
    const bool isPlain =
        !p.epilogue.bias && !p.epilogue.activation && !p.epilogue.residual;
    const int64_t first = firstField * p.fields.yField + place;
#pragma unroll 1
    for (int j = lane; j < points; j += 32) {
      const char *word = from + sumPlaceOf(j / V) + j % V * sizeof(A);
      int64_t at = first + wrapped(firstPoint + shift + j) * s.phases;
#pragma unroll
      for (int f = 0; f < F; ++f, at += p.fields.yField) {
        if (f >= fields)
          break;
        A sum = *reinterpret_cast<const A *>(word + f * sumBytes);
        for (int part = 1; part < numParts; ++part)
          sum += *reinterpret_cast<const A *>(word + f * sumBytes +
                                              part * p.warpBytes);
        if (!isPlain)
          sum = finish<T>(p.epilogue, sum, firstField + f, at);
        static_cast<T *>(p.fields.y)[at] = convert<T>(sum);
      }
    }
  }
};

/// Blocks of groups that their warps share come first, then those whose warps
/// work alone.
template <int F>
__device__ void contractSum(const ContractSumParams &p, char *shared) {
  const int warp = uniform(threadIdx.x / 32);
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

/// Blocks of a multiprocessor. The sums in f64, and addresses of sm_80, take
/// more registers than four have.
#if DISCO_IS_F64 || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900)
constexpr int sumBlocks = 3;
#else
constexpr int sumBlocks = 4;
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
