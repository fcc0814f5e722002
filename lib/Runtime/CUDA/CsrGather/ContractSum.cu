//===- ContractSum.cu - contract_sum on a sphere --------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block sums over k and taps for some neighbouring rows, BC fields and `tile`
// out-points. Each feature's windows are staged for all rows of the block,
// those of the next stage while this one is summed. A warp works on one row, a
// thread on 8 neighbouring out-points of it, so that a column, once loaded, is
// used for up to 8 taps:
//
//   out-points       0 1 2 3 4 5 6 7
//   tap u reads      u ... u+7           7 of them are there from tap u-1
//
// Shared memory holds groups of 8 columns; in each, chunks of 16 bytes of one
// field, those of all fields next to each other, and 16 bytes of padding, so
// that neighbouring threads, a group apart, read different banks:
//
//   f32, BC = 4     f0 0-3 | f1 0-3 | f2 0-3 | f3 0-3 | f0 4-7 | ... | padding
//
// Chunks of a plane of f32 or f64 are copied by the hardware where they are
// aligned; else, and with narrow types, they go through registers.
//
//===----------------------------------------------------------------------===//

#include "../device/Types.h"
#include "Params.h"

namespace disco::cuda::csr {

__device__ __forceinline__ void copyAsync(void *shared, const void *global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(global)
               : "memory");
}
__device__ __forceinline__ void waitForCopies() {
  asm volatile("cp.async.wait_all;\n" ::: "memory");
}

/// X is the type of x, Y that of y, sums are in A.
template <typename X, typename Y, int BC> struct ContractSum {
  using A = typename SumOf<Y>::type;
  static constexpr int P = sumPoints;
  static constexpr int V = packWidth<A>;
  static constexpr int chunks = P / V; ///< of a group, for each field
  static constexpr int slots = chunks + 1;
  static constexpr int groupUnits = chunks * BC + 1; ///< of 16 bytes
  static_assert(groupUnits == sumGroupUnits(BC, sizeof(A)), "as the host has");
  using Chunk = Pack<A, V>;

  const ContractSumParams &p;
  char *shared;
  int warp, lane;
  int firstPoint, points, fields;

  /// What a stage needs, and where one of the two halves of shared memory has
  /// it: pieces, then values, then columns.
  struct Step {
    Int4 stage;
    const int32_t *offsets; ///< of each row's pieces
    int firstPiece, numPieces;
    Int4 *pieces;
    A *values;
    Chunk *columns;
  };

  __device__ ContractSum(const ContractSumParams &p, char *shared)
      : p(p), shared(shared), warp(threadIdx.x / 32), lane(threadIdx.x % 32),
        firstPoint(0), points(0), fields(0) {}

  __device__ Step stepOf(int index, int half) const {
    Step step;
    step.stage = p.sphere.stages[index];
    step.offsets = p.sphere.pieceOffsets + index * sumRows;
    step.firstPiece = step.offsets[0];
    step.numPieces = step.offsets[sumRows] - step.firstPiece;
    step.pieces = reinterpret_cast<Int4 *>(shared + half * p.bufferBytes);
    step.values = reinterpret_cast<A *>(step.pieces + step.numPieces);
    step.columns = reinterpret_cast<Chunk *>(step.values + step.stage.w);
    return step;
  }

  static __device__ __forceinline__ int unitOf(int chunk) {
    return chunk / chunks * groupUnits + chunk % chunks * BC;
  }

  /// Copies the windows of a stage; a warp takes 32 neighbouring chunks of a
  /// field at a time, and the warps of a field take turns.
  __device__ void stageColumns(const Int4 &stage, const X *x, Chunk *to) {
    constexpr int turn = contractSumThreads / BC; // chunks of a field at once
    constexpr int skip = turn / chunks * groupUnits;
    const Sphere &s = p.sphere;
    const int field = warp % BC;
    if (field >= fields)
      return;
    const int begin = warp / BC * 32 + lane;
    x += field * p.fields.xField;
    to += unitOf(begin) + field;
    for (int i = 0; i < stage.y; ++i) {
      const Int4 window = s.windows[stage.x + i];
      const int count = (points + window.z - 1 + V - 1) / V;
      const X *from = x + window.x;
      Chunk *at = to + window.w * groupUnits;
      int point = window.y + firstPoint + begin * V;
      for (int chunk = begin; chunk < count; chunk += turn, at += skip) {
        while (point >= s.lattice)
          point -= s.lattice;
        stageChunk(from, point, at);
        point += turn * V;
      }
    }
  }

  __device__ __forceinline__ void stageChunk(const X *x, int point,
                                             Chunk *to) const {
    const Sphere &s = p.sphere;
    if (p.isAligned) {
      if constexpr (sizeof(X) == sizeof(A)) {
        copyAsync(to, x + point);
      } else {
        const auto from = *reinterpret_cast<const Pack<X, V> *>(x + point);
        Chunk c;
#pragma unroll
        for (int i = 0; i < V; ++i)
          c.v[i] = convert<A>(from.v[i]);
        *to = c;
      }
      return;
    }
    Chunk c;
#pragma unroll
    for (int i = 0; i < V; ++i) {
      int at = point + i;
      while (at >= s.lattice)
        at -= s.lattice;
      c.v[i] = convert<A>(x[at * s.stride]);
    }
    *to = c;
  }

  __device__ void stage(const Step &to, int k, const X *x) {
    const Sphere &s = p.sphere;
    stageColumns(to.stage, x + k * p.fields.xBasis, to.columns);
    const Chunk *from = reinterpret_cast<const Chunk *>(
        static_cast<const A *>(s.values) + to.stage.z +
        static_cast<int64_t>(k) * to.stage.w);
    for (int i = threadIdx.x; i < to.stage.w / V; i += blockDim.x)
      copyAsync(reinterpret_cast<Chunk *>(to.values) + i, from + i);
    for (int i = threadIdx.x; i < to.numPieces; i += blockDim.x)
      copyAsync(to.pieces + i, s.pieces + to.firstPiece + i);
  }

  /// Adds the taps [begin, end) of a piece, whose values and columns begin at
  /// tap 0. `chunk` is where the thread's first out-point reads tap 0, counted
  /// from `x`.
  __device__ __forceinline__ void accumulate(A (&sums)[P][BC], const Chunk *x,
                                             int chunk, unsigned begin,
                                             unsigned taps,
                                             const Chunk *values) const {
    Chunk ring[slots][BC];
    const auto load = [&](int slot) {
      const Chunk *from = x + unitOf(chunk++);
#pragma unroll
      for (int f = 0; f < BC; ++f)
        ring[slot][f] = from[f];
    };
#pragma unroll
    for (int slot = 0; slot < slots - 1; ++slot)
      load(slot);
    const int end = begin + taps;
    for (int first = 0; first < end; first += slots * V) {
#pragma unroll
      for (int slot = 0; slot < slots; ++slot) {
        const int u = first + slot * V;
        if (u >= end)
          break;
        load((slot + slots - 1) % slots);
        const Chunk value = *values++;
        // Not multiplied by a zero: what a piece does not have may be NaN.
        const unsigned from = 1u << (u == 0 ? begin : 0);
        const unsigned has = (1u << min(end - u, V)) - from;
#pragma unroll
        for (int i = 0; i < V; ++i)
          if (has & 1u << i)
#pragma unroll
            for (int j = 0; j < P; ++j)
#pragma unroll
              for (int f = 0; f < BC; ++f)
                sums[j][f] +=
                    value.v[i] *
                    ring[(slot + (i + j) / V) % slots][f].v[(i + j) % V];
      }
    }
  }

  __device__ void run() {
    const Sphere &s = p.sphere;
    const unsigned rest = blockIdx.x / s.tiles;
    firstPoint = static_cast<int>(blockIdx.x % s.tiles) * s.tile;
    const int firstField = static_cast<int>(rest % s.fieldBlocks) * BC;
    const Int4 group = s.rows[rest / s.fieldBlocks];
    fields = min(BC, p.fields.numFields - firstField);
    points = min(s.tile, s.lattice - firstPoint);
    const X *x =
        static_cast<const X *>(p.fields.x) + firstField * p.fields.xField;
    const int row = warp, myLane = lane;
    // Threads without points, and those of missing rows, help to stage.
    const bool isActive = row < group.w && myLane * P < points;
    A sums[P][BC] = {};
    const int steps = group.y == 0 ? 0 : p.fields.numBasis * group.y;
    int k = 0, index = 0;
    if (steps > 0)
      stage(stepOf(group.x, 0), 0, x);
    for (int i = 0; i < steps; ++i) {
      waitForCopies();
      __syncthreads();
      const Step now = stepOf(group.x + index, i % 2);
      if (++index == group.y) {
        index = 0;
        ++k;
      }
      if (i + 1 < steps)
        stage(stepOf(group.x + index, (i + 1) % 2), k, x);
      if (!isActive)
        continue;
      const int end = now.offsets[row + 1] - now.firstPiece;
      for (int j = now.offsets[row] - now.firstPiece; j < end; ++j) {
        const Int4 piece = now.pieces[j];
        accumulate(sums, now.columns + (piece.x + myLane) * groupUnits,
                   piece.y / V, piece.y % V, piece.z,
                   reinterpret_cast<const Chunk *>(now.values + piece.w));
      }
    }
    store(sums, group, firstField, row, myLane, isActive);
  }

  /// Through shared memory, so that neighbouring threads store neighbours.
  __device__ void store(const A (&sums)[P][BC], const Int4 &group,
                        int firstField, int row, int myLane, bool isActive) {
    __syncthreads();
    Chunk *all = reinterpret_cast<Chunk *>(shared);
    if (isActive)
#pragma unroll
      for (int chunk = 0; chunk < chunks; ++chunk)
#pragma unroll
        for (int f = 0; f < BC; ++f) {
          Chunk c;
#pragma unroll
          for (int i = 0; i < V; ++i)
            c.v[i] = sums[chunk * V + i][f];
          all[(threadIdx.x) * groupUnits + chunk * BC + f] = c;
        }
    __syncthreads();
    const Sphere &s = p.sphere;
    for (int r = 0; r < group.w; ++r) {
      Y *y = static_cast<Y *>(p.fields.y);
      const int64_t first = firstField * p.fields.yField +
                            p.rowPlaces[group.z + r] + firstPoint * s.phases;
      const Chunk *from = all + r * 32 * groupUnits;
      for (int j = threadIdx.x; j < points; j += blockDim.x) {
        const Chunk *chunk = from + unitOf(j / V);
#pragma unroll
        for (int f = 0; f < BC; ++f)
          if (BC == 1 || f < fields) {
            const int64_t at = first + f * p.fields.yField + j * s.phases;
            const A sum = reinterpret_cast<const A *>(chunk + f)[j % V];
            y[at] = convert<Y>(finish<Y>(p.epilogue, sum, firstField + f, at));
          }
      }
    }
  }
};

} // namespace disco::cuda::csr

extern __shared__ __align__(16) char sharedMemory[];

#define DISCO_CONTRACT_SUM(BC, X, suffix)                                      \
  extern "C" __global__ void __launch_bounds__(                                \
      disco::cuda::csr::contractSumThreads,                                    \
      3) DISCO_KERNEL(csr_contract_sum##suffix,                                \
                      _bc##BC)(                                                \
      const __grid_constant__ disco::cuda::csr::ContractSumParams params) {    \
    disco::cuda::csr::ContractSum<X, disco::cuda::types::DISCO_DTYPE, BC>(     \
        params, sharedMemory)                                                  \
        .run();                                                                \
  }

#if DISCO_IS_F64
DISCO_CONTRACT_SUM(2, double, )
DISCO_CONTRACT_SUM(1, double, )
#else
DISCO_CONTRACT_SUM(4, disco::cuda::types::DISCO_DTYPE, )
DISCO_CONTRACT_SUM(1, disco::cuda::types::DISCO_DTYPE, )
#endif
#if DISCO_IS_NARROW
// From sums that are not rounded.
DISCO_CONTRACT_SUM(4, float, _wide)
DISCO_CONTRACT_SUM(1, float, _wide)
#endif
