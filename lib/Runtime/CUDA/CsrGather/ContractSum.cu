//===- ContractSum.cu - contract_sum on a sphere --------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block sums over k and taps for some neighbouring rows, BC fields and `tile`
// out-points. Each feature's windows are staged for all rows of the block; a
// warp works on one row, a thread on 8 neighbouring out-points of it, so that a
// column, once loaded, is used for up to 8 taps:
//
//   out-points       0 1 2 3 4 5 6 7
//   tap u reads      u ... u+7           7 of them are there from tap u-1
//
//===----------------------------------------------------------------------===//

#include "../device/Types.h"
#include "Params.h"

namespace disco::cuda::csr {

using T = types::DISCO_DTYPE;
using A = SumOf<T>::type;

template <int BC> struct ContractSum {
  static_assert(BC == 1 || BC == packWidth<A>, "a column is one pack");
  using Column = Pack<A, BC>;
  static constexpr int P = sumPoints;

  const ContractSumParams &p;
  Column *columns;
  A *values;
  Int4 *pieces;
  int warp, lane, warps;

  __device__ ContractSum(const ContractSumParams &p, char *shared)
      : p(p), columns(reinterpret_cast<Column *>(shared)),
        values(reinterpret_cast<A *>(
            shared + (p.columns * sizeof(Column) + 15) / 16 * 16)),
        pieces(reinterpret_cast<Int4 *>(values + p.maxWords)),
        warp(threadIdx.x / 32), lane(threadIdx.x % 32), warps(blockDim.x / 32) {
  }

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
    Column c;
#pragma unroll
    for (int i = 0; i < BC; ++i)
      c.v[i] =
          BC == 1 || i < fields ? convert<A>(from[i * p.fields.xField]) : A(0);
    columns[paddedColumn(column)] = c;
  }

  __device__ void stageValues(const Int4 &stage, int k) {
    const A *from = static_cast<const A *>(p.sphere.values) + stage.z +
                    static_cast<int64_t>(k) * stage.w;
    for (int i = threadIdx.x; i < stage.w; i += blockDim.x)
      values[i] = from[i];
  }

  /// Adds the taps of a piece. `x` is where the thread's first out-point is in
  /// the window, `offset` where the piece begins.
  __device__ __forceinline__ void accumulate(A (&sums)[P][BC], const Column *x,
                                             int offset, int taps,
                                             const A *v) const {
    Column ring[P];
#pragma unroll
    for (int i = 0; i < P - 1; ++i)
      ring[i] = x[paddedColumn(offset + i)];
    for (int u = 0; u < taps; u += P) {
      A value[P];
#pragma unroll
      for (int i = 0; i < P; i += packWidth<A>)
        *reinterpret_cast<Pack<A, packWidth<A>> *>(value + i) =
            *reinterpret_cast<const Pack<A, packWidth<A>> *>(v + u + i);
#pragma unroll
      for (int i = 0; i < P; ++i) {
        // Not multiplied by a zero: what is beyond the piece may be NaN.
        if (u + i >= taps)
          return;
        ring[(i + P - 1) % P] = x[paddedColumn(offset + u + i + P - 1)];
#pragma unroll
        for (int j = 0; j < P; ++j)
#pragma unroll
          for (int f = 0; f < BC; ++f)
            sums[j][f] += value[i] * ring[(i + j) % P].v[f];
      }
    }
  }

  __device__ void run() {
    const Sphere &s = p.sphere;
    const unsigned rest = blockIdx.x / s.tiles;
    const int firstPoint = static_cast<int>(blockIdx.x % s.tiles) * s.tile;
    const int firstField = static_cast<int>(rest % s.fieldBlocks) * BC;
    const Int4 group = s.rows[rest / s.fieldBlocks];
    const int fields = min(BC, p.fields.numFields - firstField);
    const int points = min(s.tile, s.lattice - firstPoint);
    const T *x =
        static_cast<const T *>(p.fields.x) + firstField * p.fields.xField;
    const int row = threadIdx.x / p.lanes;
    const int myLane = threadIdx.x - row * p.lanes;
    // Threads without points, and those of missing rows, help to stage.
    const bool isActive = row < group.w && myLane * P < points;
    A sums[P][BC] = {};
    for (int k = 0; k < p.fields.numBasis; ++k, x += p.fields.xBasis)
      for (int i = 0; i < group.y; ++i) {
        const int index = group.x + i;
        const Int4 stage = s.stages[index];
        const int32_t *offsets = s.pieceOffsets + index * p.rowsPerBlock;
        const int firstPiece = offsets[0];
        __syncthreads();
        stageColumns(stage, x, fields, firstPoint, points);
        stageValues(stage, k);
        const int numPieces = offsets[p.rowsPerBlock] - firstPiece;
        for (int j = threadIdx.x; j < numPieces; j += blockDim.x)
          pieces[j] = s.pieces[firstPiece + j];
        __syncthreads();
        if (!isActive)
          continue;
        const int end = offsets[row + 1] - firstPiece;
        for (int j = offsets[row] - firstPiece; j < end; ++j) {
          const Int4 piece = pieces[j];
          accumulate(sums, columns + piece.x + myLane * (P + 1), piece.y,
                     piece.z, values + piece.w);
        }
      }
    store(sums, group, firstField, firstPoint, fields, points, row, myLane,
          isActive);
  }

  /// Through shared memory, so that neighbouring threads store neighbours.
  __device__ void store(const A (&sums)[P][BC], const Int4 &group,
                        int firstField, int firstPoint, int fields, int points,
                        int row, int myLane, bool isActive) {
    __syncthreads();
    const int pitch = p.lanes * (P + 1);
    if (isActive)
#pragma unroll
      for (int j = 0; j < P; ++j) {
        Column c;
#pragma unroll
        for (int f = 0; f < BC; ++f)
          c.v[f] = sums[j][f];
        columns[row * pitch + myLane * (P + 1) + j] = c;
      }
    __syncthreads();
    const Sphere &s = p.sphere;
    for (int r = 0; r < group.w; ++r) {
      T *y = static_cast<T *>(p.fields.y) + firstField * p.fields.yField +
             p.rowPlaces[group.z + r] + firstPoint * s.phases;
      for (int j = threadIdx.x; j < points; j += blockDim.x) {
        const Column c = columns[r * pitch + paddedColumn(j)];
#pragma unroll
        for (int f = 0; f < BC; ++f)
          if (BC == 1 || f < fields)
            y[f * p.fields.yField + j * s.phases] = convert<T>(c.v[f]);
      }
    }
  }
};

} // namespace disco::cuda::csr

extern __shared__ __align__(16) char sharedMemory[];

#define DISCO_CONTRACT_SUM(BC)                                                 \
  extern "C" __global__ void __launch_bounds__(                                \
      disco::cuda::csr::contractSumThreads, 3) DISCO_KERNEL(csr_contract_sum,  \
                                                            _bc##BC)(          \
      const __grid_constant__ disco::cuda::csr::ContractSumParams params) {    \
    disco::cuda::csr::ContractSum<BC>(params, sharedMemory).run();             \
  }

#if DISCO_IS_F64
DISCO_CONTRACT_SUM(2)
#else
DISCO_CONTRACT_SUM(4)
#endif
DISCO_CONTRACT_SUM(1)
