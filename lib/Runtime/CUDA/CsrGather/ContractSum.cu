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
// ahead of the one that is summed. Warps work alone, or the four of a block
// share the windows of a group with many taps, and add up their sums. A thread
// has 8 neighbouring out-points of every row of the group. In a step it loads
// what 4 neighbouring taps of those read, which serves up to 4 taps of every
// row:
//
//   out-points       0 1 2 3 4 5 6 7
//   tap u reads      u ... u+7           11 words for 32 multiply-adds a row
//
// Where taps mirror each other (Params.h draws it), a step loads 11 words of
// each side, adds or subtracts them, 32 sums of pairs, and multiplies those for
// every row: 32 multiply-adds a row for 8 taps.
//
// The limit is issue: half of the instructions are multiply-adds
// (docs/Families/csr_gather.md).
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

#include "../device/Memory.cuh"
#include "../device/Types.h"
#include "Copy.h"
#include "Params.h"

extern __shared__ __align__(16) char sharedMemory[];

namespace disco::cuda::csr {

/// Tells the compiler that all threads of a warp have the same value: branches
/// on it need no reconvergence.
template <typename N> __device__ __forceinline__ N uniform(N value) {
  return __shfl_sync(0xffffffffu, value, 0);
}

using device::loadShared;

using T = types::DISCO_DTYPE;
using A = SumOf<T>::type;

template <int F> struct ContractSum {
  static constexpr int P = sumPoints, R = sumRows;
  static constexpr int V = packWidth<A>;
  static constexpr int chunks = P / V; ///< of a thread's out-points
  static constexpr int slots = chunks + 1;
  using Chunk = Pack<T, V>;
  using Values = Pack<A, V>;
  using Sums = A[R][P][F];
  static constexpr int lineChunks = 128 / sizeof(Chunk);
  static constexpr int fieldBytes =
      sumFieldChunks(sizeof(T), sizeof(A)) * sizeof(Chunk);
  static constexpr int columnBytes = F * fieldBytes;

  const ContractSumParams &p;
  unsigned shared; ///< of the warp, an address of shared memory
  int lane;
  int points, fields;
  int64_t fieldBytesApart; ///< in x; a field that is not there is another again
  int firstField, firstPoint; ///< the latter of the tile
  int firstOfLane;            ///< lattice point of the lane's first chunk
  int isLow;                  ///< the low part of x is read

  /// What is copied next: a stage of the group, for a k.
  struct Cursor {
    int stage;
    int left;   ///< windows of it
    int count;  ///< chunks of a field from the lane's first on
    int chunks; ///< of values, 16 bytes each
    int to;     ///< where the lane's first chunk goes in a buffer
    int point;  ///< of that chunk
    const T *x;
    const char *values; ///< the lane's first chunk
  };

  /// What the windows of a stage have in common.
  struct Window {
    int masks; ///< of the lane's step
    int steps;
    int tables; ///< bytes from a window's columns to what follows the header
    int first;  ///< chunk of the lane's first out-point
    int low;    ///< of the window of the low side
    int left;   ///< windows
    SumForm form;
  };

  __device__ ContractSum(const ContractSumParams &p, unsigned shared)
      : p(p), shared(uniform(shared)) {
    // Kept in a register, not read again wherever it is used.
    lane = __shfl_sync(0xffffffffu, threadIdx.x % 32, threadIdx.x % 32);
  }

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

  /// At a stage, without its first `skipped` windows.
  __device__ __forceinline__ void begin(Cursor &at, int skipped) const {
    const Int4 stage = p.sphere.stages[at.stage];
    at.left = (stage.z >> 8) - skipped;
    at.count = (points - 1) / V + 1 + (stage.z & 255) - lane;
    at.chunks = stage.w & 255;
    at.x = static_cast<const T *>(p.fields.x) + firstField * p.fields.xField +
           ((stage.w >> 8) + skipped) * p.fields.xBasis + stage.x;
    if constexpr (sizeof(T) == 2)
      at.x += isLow ? p.fields.low : 0;
    at.to = placeOf(lane + phaseOf((stage.x + stage.y) / V));
    at.point = wrapped(stage.y + firstOfLane);
  }

  /// Copies a window and its values, and goes on to the next.
  __device__ __forceinline__ void copy(Cursor &at, unsigned buffer) const {
    if (__builtin_expect(!p.isAligned, 0))
      copyElements(at, buffer + at.to);
    copyChunks(at, p.isAligned ? at.count : 0, buffer);
    at.values += at.chunks * sizeof(Values);
    at.x += p.fields.xBasis;
    if (--at.left == 0) {
      ++at.stage; // one more than there are can be read
      begin(at, 0);
    }
  }

  /// 32 chunks are whole lines, pairs of them.
  static_assert(32 % (chunks * lineChunks) == 0, "the same exchange");

  /// Chunks of x, and of values.
  __device__ __forceinline__ void copyChunks(const Cursor &at, int count,
                                             unsigned buffer) const {
    const unsigned to = buffer + at.to;
    const unsigned values = buffer + columnBytes + lane * sizeof(Values);
    const int left = at.chunks - lane;
    int point = at.point;
#pragma unroll
    for (int i = 0; i < chunks; ++i) {
      if (32 * i < count)
        copyFields(to + 32 * i * sizeof(Chunk), at.x + point);
      point = wrapped(point + 32 * V); // a ring has at least 32 chunks
    }
    if (left > 0)
      copyAsync<16>(values, at.values);
    // What few windows have, in a branch of all lanes.
    if (!__any_sync(0xffffffffu, count > 32 * chunks || left > 32))
      return;
#pragma unroll 1
    for (int i = chunks; 32 * i < count; ++i) {
      copyFields(to + 32 * i * sizeof(Chunk), at.x + point);
      point = wrapped(point + 32 * V);
    }
#pragma unroll 1
    for (int i = 32; i < left; i += 32)
      copyAsync<16>(values + i * sizeof(Values),
                    at.values + i * sizeof(Values));
  }

  /// A chunk of every field.
  __device__ __forceinline__ void copyFields(unsigned to, const T *from) const {
    const char *source = reinterpret_cast<const char *>(from);
#pragma unroll
    for (int f = 0; f < F; ++f) {
      copyAsync<sizeof(Chunk)>(to + f * fieldBytes, source);
      source += fieldBytesApart;
    }
  }

  __device__ __forceinline__ void copyElements(const Cursor &at,
                                               unsigned to) const {
    const int lattice = p.sphere.lattice;
    int point = at.point;
#pragma unroll 1
    for (int chunk = 0; chunk < at.count; chunk += 32) {
#pragma unroll 1
      for (int i = 0; i < V; ++i, ++point) {
        while (point >= lattice)
          point -= lattice;
        const T *from = at.x + point * p.sphere.stride;
#pragma unroll
        for (int f = 0; f < F; ++f)
          if (f < fields) {
            const unsigned place = to + f * fieldBytes + i * sizeof(T);
            if constexpr (sizeof(T) >= 4)
              copyAsync<sizeof(T)>(place, from + f * p.fields.xField);
            else
              device::storeShared(place, from[f * p.fields.xField]);
          }
      }
      to += 32 * sizeof(Chunk);
      point += 31 * V;
    }
  }

  /// Adds tap i of a step to the sums of a row.
  static __device__ __forceinline__ void add(A (&sums)[P][F],
                                             const A (&window)[F][slots * V],
                                             const Values &values, int i) {
#pragma unroll
    for (int j = 0; j < P; ++j)
#pragma unroll
      for (int f = 0; f < F; ++f)
        sums[j][f] += values.v[i] * window[f][i + j];
  }

  /// The header of a window that is there, and of those like it that follow.
  __device__ __forceinline__ void read(Window &w, unsigned buffer) const {
    w.masks = loadShared<int>(buffer + columnBytes + lane * 4);
    const int counts = __shfl_sync(0xffffffffu, w.masks, 0);
    w.left = __shfl_sync(0xffffffffu, w.masks, 1) >> 16;
    w.steps = counts & 255;
    w.form = static_cast<SumForm>(counts >> 16);
    w.tables = columnBytes + headerBytes(w.steps);
    w.low = w.first;
    // Threads without points do what the last one does.
    w.first = min(lane, (points - 1) / P) * chunks + phaseOf(counts >> 8 & 255);
    if (w.form != SumForm::high)
      w.low = w.first;
  }

  /// The words of a field in a chunk.
  static __device__ __forceinline__ void load(A *words, unsigned from) {
    const auto c = loadShared<Chunk>(from);
#pragma unroll
    for (int i = 0; i < V; ++i)
      words[i] = convert<A>(c.v[i]);
  }

  __device__ __forceinline__ void accumulate(Sums &sums, const Window &w,
                                             unsigned buffer) const {
    unsigned values = buffer + w.tables;
    unsigned from[slots];
#pragma unroll
    for (int slot = 0; slot < slots; ++slot)
      from[slot] = buffer + placeOf(w.first + slot);
    int has = __shfl_sync(0xffffffffu, w.masks, 2);
#pragma unroll 1
    for (int step = 0; step < w.steps; ++step, values += R * sizeof(Values)) {
      A window[F][slots * V];
#pragma unroll
      for (int slot = 0; slot < slots; ++slot)
#pragma unroll
        for (int f = 0; f < F; ++f)
          load(window[f] + slot * V, from[slot] + f * fieldBytes);
#pragma unroll
      for (int slot = 0; slot < chunks; ++slot)
        from[slot] = from[slot + 1];
      from[chunks] = buffer + placeOf(w.first + step + slots);
      const int now = has;
      has = __shfl_sync(0xffffffffu, w.masks, step + 3);
      // Not multiplied by a zero: what a row does not have may be NaN.
#pragma unroll
      for (int r = 0; r < R; ++r)
        if (now & 15 << 4 * r) {
          const auto value = loadShared<Values>(values + r * sizeof(Values));
#pragma unroll
          for (int i = 0; i < V; ++i)
            if (now & 1 << (4 * r + i))
              add(sums[r], window, value, i);
        }
    }
  }

  /// The pairs of a step, and the middle before the first one.
  static __device__ __forceinline__ void
  addPairs(Sums &sums, const A (&low)[slots * V], const A (&high)[slots * V],
           int f, int now, A sign, unsigned middle, unsigned values) {
    if (now >> 16) {
#pragma unroll
      for (int r = 0; r < R; ++r)
        if (now & 1 << (16 + r)) {
          const A value = loadShared<A>(middle + r * sizeof(A));
#pragma unroll
          for (int j = 0; j < P; ++j)
            sums[r][j][f] += value * high[j];
        }
    }
    A both[V][P];
#pragma unroll
    for (int i = 0; i < V; ++i)
#pragma unroll
      for (int j = 0; j < P; ++j)
        both[i][j] = fma(sign, low[V - 1 - i + j], high[i + 1 + j]);
    constexpr int full = (1 << V) - 1;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const int has = now >> 4 * r & full;
      if (!has)
        continue;
      const auto value = loadShared<Values>(values + r * sizeof(Values));
#pragma unroll
      for (int i = 0; i < V; ++i)
        if (has & 1 << i)
#pragma unroll
          for (int j = 0; j < P; ++j)
            sums[r][j][f] += value.v[i] * both[i][j];
    }
  }

  /// A window of pairs; `low` and `high` are the buffers of its sides.
  __device__ __forceinline__ void accumulatePairs(Sums &sums, const Window &w,
                                                  unsigned low,
                                                  unsigned high) const {
    const unsigned tables = high + w.tables;
    const auto sign = loadShared<A>(tables);
    unsigned values = tables + 16 + R * sizeof(A);
    const int nearest = w.low + w.steps - 1;
    const int farthest = w.first + (w.form == SumForm::near ? w.steps : 0);
    unsigned lows[slots], highs[slots];
#pragma unroll
    for (int slot = 0; slot < slots; ++slot) {
      lows[slot] = low + placeOf(nearest + slot);
      highs[slot] = high + placeOf(farthest + slot);
    }
#pragma unroll 1
    for (int step = 0; step < w.steps; ++step, values += R * sizeof(Values)) {
      const int now = __shfl_sync(0xffffffffu, w.masks, step + 2);
#pragma unroll
      for (int f = 0; f < F; ++f) {
        A lowWords[slots * V], highWords[slots * V];
#pragma unroll
        for (int slot = 0; slot < slots; ++slot) {
          load(lowWords + slot * V, lows[slot] + f * fieldBytes);
          load(highWords + slot * V, highs[slot] + f * fieldBytes);
        }
        addPairs(sums, lowWords, highWords, f, now, sign, tables + 16, values);
      }
#pragma unroll
      for (int slot = 0; slot < chunks; ++slot) {
        lows[chunks - slot] = lows[chunks - slot - 1];
        highs[slot] = highs[slot + 1];
      }
      lows[0] = low + placeOf(nearest - step - 1);
      highs[chunks] = high + placeOf(farthest + step + slots);
    }
  }

  /// Adds the taps of all features that the part has.
  __device__ __forceinline__ void sum(Sums &sums, int index) {
    const Int4 part = p.parts[index];
    const int count = uniform(part.w);
    Cursor next;
    next.stage = uniform(part.y);
    next.values = static_cast<const char *>(p.sphere.values) +
                  (p.partValues[index] + lane) * int64_t(sizeof(Values));
    begin(next, uniform(part.z));
    Window w = {};
    // Buffers are filled one after the other, round the end. The window that
    // is copied goes to buffer `to`, and the one that was copied sumStages - 1
    // before is in the buffer after that. What is in `to` has been summed, but
    // for a low window, that is summed with the high one after it.
    const unsigned end = shared + sumStages * p.bufferBytes;
    unsigned to = shared;
#pragma unroll 1
    for (int left = count + sumStages - 1; left > 0; --left) {
      waitForCopies<sumStages - 2>();
      __syncwarp();
      unsigned from = to + p.bufferBytes;
      from = from == end ? shared : from;
      const bool isThere = left <= count;
      if (isThere) {
        if (w.left == 0)
          read(w, from);
        --w.left;
        if (w.form == SumForm::near || w.form == SumForm::high) {
          accumulatePairs(sums, w, w.form == SumForm::near ? from : to, from);
          __syncwarp();
        }
      }
      if (left >= sumStages)
        copy(next, to);
      commitCopies();
      to = from;
      if (isThere && w.form == SumForm::plain)
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
    const int warp = uniform(static_cast<int>(threadIdx.x / 32));
    const int part = numParts > 1 ? index * sumWarps + warp
                                  : p.numSplit * (sumWarps - 1) + index;
    firstField = rest % s.fieldBlocks * F;
    firstPoint = item % s.tiles * s.tile;
    fields = uniform(min(F, p.fields.numFields - firstField));
    fieldBytesApart = uniform(
        fields > 1 ? p.fields.xField * static_cast<int64_t>(sizeof(T)) : 0);
    points = min(s.tile, s.lattice - firstPoint);
    firstOfLane = (firstPoint + lane * V) % s.lattice;
    // Loaded now, so that nothing waits for it at the end.
    char *memory = sharedMemory + warp * p.warpBytes;
    int *places = reinterpret_cast<int *>(memory + p.warpBytes - sumGroupBytes);
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
    put(memory, sums);
    if (numParts > 1)
      __syncthreads();
    else
      __syncwarp();
    const char *from = numParts > 1 ? sharedMemory : memory;
#pragma unroll 1
    for (int r = numParts > 1 ? warp : 0; r < places[R];
         r += numParts > 1 ? sumWarps : 1)
      storeRow(from + r * F * sumBytes, numParts, places[r], places[R + 1]);
  }

  /// Of a row and field.
  static constexpr int sumBytes = 32 * P * sizeof(A);

  __device__ void put(char *memory, const Sums &sums) const {
#pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk) {
      char *to = memory + sumPlaceOf(lane * chunks + chunk);
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
template <int F> __device__ void contractSum(const ContractSumParams &p) {
  const int warp = uniform(static_cast<int>(threadIdx.x / 32));
  const int each = p.sphere.fieldBlocks * p.sphere.tiles;
  ContractSum<F> work(p, sharedAddress(sharedMemory) + warp * p.warpBytes);
  const int block = static_cast<int>(blockIdx.x) - p.numSplit * each;
  const int numParts = block < 0 ? sumWarps : 1;
  const int item = block < 0 ? static_cast<int>(blockIdx.x)
                             : p.numSplit * each + block * sumWarps + warp;
  if (item < p.numGroups * each)
    work.run(item, numParts);
}

} // namespace disco::cuda::csr

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
    disco::cuda::csr::contractSum<F>(params);                                  \
  }

DISCO_CONTRACT_SUM(1)
#if !DISCO_IS_F64
DISCO_CONTRACT_SUM(2)
#endif
