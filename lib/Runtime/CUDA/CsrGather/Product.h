//===- Product.h - matrix products of a block of threads --------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// d[m, n] = sum over r of a[m, r] b[r, n]. A block has a tile of d in the
// registers of its threads, and copies tiles of a and b, `k` of r at a time,
// while it multiplies those before:
//
//   shared memory, each stage   a [m][k + padding]
//                               b [k][n (+ padding)], or where b is given as
//                                 [n, r] b [n][k + padding]
//
// f64 and f32 multiply on plain cores, a thread TM x TN elements, where the
// padding keeps neighbouring lines in different banks; f16 and bf16 on tensor
// cores (m16n8k16), a warp WM x WN elements, with sums in f32. Each element is
// summed in the order of r.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_CSRGATHER_PRODUCT_H
#define DISCO_LIB_RUNTIME_CUDA_CSRGATHER_PRODUCT_H

#include "../device/Types.h"
#include "Copy.h"
#include "Mix.h"

#include <type_traits>

namespace disco::cuda::csr {

/// What the tiles of a product of elements of E are.
template <typename E, bool isFlat, bool isOuter> struct Tiles {
  static constexpr ProductTile tile = productTile(sizeof(E), isFlat);
  static constexpr int M = tile.m, N = tile.n, K = tile.k;
  static constexpr int stages = tile.stages;
  static constexpr int aPitch = paddedDepth(tile, sizeof(E));
  static constexpr int bPitch =
      isOuter ? aPitch : paddedColumns(tile, sizeof(E));
  static constexpr int aSize = M * aPitch;
  static constexpr int size = aSize + (isOuter ? N : K) * bPitch;
};

/// Plain cores.
template <typename E, bool isFlat, bool isOuter>
struct FmaProduct : Tiles<E, isFlat, isOuter> {
  using Base = Tiles<E, isFlat, isOuter>;
  static constexpr int V = packWidth<E>;
  static constexpr int TN = sizeof(E) == 8 || isFlat ? 4 : 8;
  static constexpr int across = Base::N / TN, down = mixThreads / across;
  static constexpr int TM = Base::M / down;
  static_assert(TM * down == Base::M && TN % V == 0, "threads cover the tile");
  using Word = Pack<E, V>;

  E sums[TM][TN] = {};

  /// Where element i, j of a thread is in the tile.
  static __device__ __forceinline__ int rowOf(int i) {
    return i * down + static_cast<int>(threadIdx.x) / across;
  }
  static __device__ __forceinline__ int columnOf(int j) {
    const int x = static_cast<int>(threadIdx.x) % across;
    return isOuter ? j * across + x : j / V * V * across + x * V + j % V;
  }

  __device__ __forceinline__ void multiply(const E *a, const E *b) {
    a += rowOf(0) * Base::aPitch;
    b += isOuter ? columnOf(0) * Base::bPitch : columnOf(0);
    static_assert(Base::K % V == 0, "whole words");
    // Unrolled, the words of several steps of b [n, r] would not fit the
    // registers.
#pragma unroll 1
    for (int k = 0; k < Base::K; k += V) {
      Word right[isOuter ? TN : TN / V];
      if constexpr (isOuter) {
#pragma unroll
        for (int j = 0; j < TN; ++j)
          right[j] = *reinterpret_cast<const Word *>(
              b + j * across * Base::bPitch + k);
#pragma unroll
        for (int i = 0; i < TM; ++i) {
          const Word left =
              *reinterpret_cast<const Word *>(a + i * down * Base::aPitch + k);
#pragma unroll
          for (int e = 0; e < V; ++e)
#pragma unroll
            for (int j = 0; j < TN; ++j)
              sums[i][j] += left.v[e] * right[j].v[e];
        }
      } else {
        Word left[TM];
#pragma unroll
        for (int i = 0; i < TM; ++i)
          left[i] =
              *reinterpret_cast<const Word *>(a + i * down * Base::aPitch + k);
#pragma unroll
        for (int e = 0; e < V; ++e) {
#pragma unroll
          for (int j = 0; j < TN / V; ++j)
            right[j] = *reinterpret_cast<const Word *>(
                b + (k + e) * Base::bPitch + j * V * across);
#pragma unroll
          for (int i = 0; i < TM; ++i)
#pragma unroll
            for (int j = 0; j < TN; ++j)
              sums[i][j] += left[i].v[e] * right[j / V].v[j % V];
        }
      }
    }
  }

  /// visit(row, column, sum) for each element of the thread.
  template <typename Visit> __device__ void forEach(Visit &&visit) const {
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
      for (int j = 0; j < TN; ++j)
        visit(rowOf(i), columnOf(j), sums[i][j]);
  }
};

/// Four 8 x 8 matrices, whose lines lanes 0-7, 8-15, 16-23 and 24-31 name.
template <bool isTransposed>
__device__ __forceinline__ void loadMatrices(unsigned (&to)[4],
                                             const void *shared) {
  const unsigned from = sharedAddress(shared);
  if constexpr (isTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
                 "{%0, %1, %2, %3}, [%4];\n"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
                 "{%0, %1, %2, %3}, [%4];\n"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
}

template <typename E>
__device__ __forceinline__ void multiplyMatrices(float (&d)[4],
                                                 const unsigned (&a)[4],
                                                 unsigned b0, unsigned b1) {
  if constexpr (std::is_same_v<E, __half>)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0),
                   "r"(b1));
  else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0),
                   "r"(b1));
}

/// Tensor cores.
template <typename E, bool isFlat, bool isOuter>
struct MmaProduct : Tiles<E, isFlat, isOuter> {
  using Base = Tiles<E, isFlat, isOuter>;
  static constexpr int WM = isFlat ? 16 : 64, WN = 32;
  static constexpr int across = Base::N / WN;
  static_assert(across * (Base::M / WM) * 32 == mixThreads, "warps cover it");
  static constexpr int TM = WM / 16, TN = WN / 8;

  float sums[TM][TN][4] = {};

  static __device__ __forceinline__ int firstRow() {
    return static_cast<int>(threadIdx.x) / 32 / across * WM;
  }
  static __device__ __forceinline__ int firstColumn() {
    return static_cast<int>(threadIdx.x) / 32 % across * WN;
  }

  __device__ __forceinline__ void multiply(const E *a, const E *b) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    a += (firstRow() + lane % 16) * Base::aPitch + lane / 16 * 8;
    b += isOuter ? (firstColumn() + lane / 16 * 8 + lane % 8) * Base::bPitch +
                       lane / 8 % 2 * 8
                 : lane % 16 * Base::bPitch + firstColumn() + lane / 16 * 8;
#pragma unroll 1
    for (int k = 0; k < Base::K; k += 16) {
      unsigned left[TM][4], right[TN / 2][4];
#pragma unroll
      for (int i = 0; i < TM; ++i)
        loadMatrices<false>(left[i], a + i * 16 * Base::aPitch + k);
#pragma unroll
      for (int j = 0; j < TN / 2; ++j)
        loadMatrices<!isOuter>(right[j], isOuter
                                             ? b + j * 16 * Base::bPitch + k
                                             : b + k * Base::bPitch + j * 16);
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j)
          multiplyMatrices<E>(sums[i][j], left[i], right[j / 2][j % 2 * 2],
                              right[j / 2][j % 2 * 2 + 1]);
    }
  }

  template <typename Visit> __device__ void forEach(Visit &&visit) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = firstRow() + lane / 4,
              column = firstColumn() + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
      for (int j = 0; j < TN; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          visit(row + i * 16 + e / 2 * 8, column + j * 8 + e % 2,
                sums[i][j][e]);
  }
};

template <typename E, bool isFlat, bool isOuter>
using Product =
    std::conditional_t<(sizeof(E) > 2), FmaProduct<E, isFlat, isOuter>,
                       MmaProduct<E, isFlat, isOuter>>;

/// Where a block's tile of a product begins in a and b, and how much of both
/// there is from there on.
template <typename E> struct Operands {
  const E *a, *b;
  int64_t aPitch, bPitch;
  int64_t aLow, bLow; ///< as Fields::low
  int m, n;
  int64_t r;
  bool aIsAligned, bIsAligned;
};

template <typename P, typename E, bool isOuter>
__device__ __forceinline__ void multiplyTiles(P &product, E *shared,
                                              const Operands<E> &o) {
  const auto across = static_cast<int>((o.r + P::K - 1) / P::K);
  // High by high, then the low of b, then that of a.
  constexpr bool hasLow = sizeof(E) == 2;
  const int steps =
      hasLow ? across * (1 + (o.aLow != 0) + (o.bLow != 0)) : across;
  const auto copy = [&](int step) {
    if (step < steps) {
      const int pass = hasLow ? step / across : 0;
      const bool bIsLow = hasLow && pass == 1 && o.bLow != 0;
      const E *a = o.a + (pass != 0 && !bIsLow ? o.aLow : 0);
      const E *b = o.b + (bIsLow ? o.bLow : 0);
      const int64_t first = int64_t(step - pass * across) * P::K;
      const auto depth = static_cast<int>(min(int64_t(P::K), o.r - first));
      E *to = shared + step % P::stages * P::size;
      copyTile<mixThreads, P::M, P::K, P::aPitch>(to, a + first, o.aPitch, o.m,
                                                  depth, o.aIsAligned);
      if constexpr (isOuter)
        copyTile<mixThreads, P::N, P::K, P::bPitch>(
            to + P::aSize, b + first, o.bPitch, o.n, depth, o.bIsAligned);
      else
        copyTile<mixThreads, P::K, P::N, P::bPitch>(
            to + P::aSize, b + first * o.bPitch, o.bPitch, depth, o.n,
            o.bIsAligned);
    }
    commitCopies();
  };
#pragma unroll 1
  for (int i = 0; i < P::stages - 1; ++i)
    copy(i);
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    waitForCopies<P::stages - 2>();
    __syncthreads();
    copy(step + P::stages - 1);
    const E *from = shared + step % P::stages * P::size;
    product.multiply(from, from + P::aSize);
  }
  waitForCopies<0>();
}

} // namespace disco::cuda::csr

#endif // DISCO_LIB_RUNTIME_CUDA_CSRGATHER_PRODUCT_H
