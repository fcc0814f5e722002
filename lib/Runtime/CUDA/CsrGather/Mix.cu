//===- Mix.cu - the channel mix -------------------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrix products on plain cores, each element by one thread in a fixed order.
//
//===----------------------------------------------------------------------===//

#include "Mix.h"

namespace disco::cuda::csr {

using T = types::DISCO_DTYPE;
using A = SumOf<T>::type;

/// A block does BM x BN elements, a thread TM x TN of them, BK of r at a time:
///
///   shared memory   a [BK][BM + 4], b [BK][BN]; the next ones in registers
/// B is the type of b, D that of d.
template <typename B, typename D, int BM, int BN, int TM, int TN> struct Mix {
  static constexpr int BK = 8;
  static_assert((BM / TM) * (BN / TN) == mixThreads, "threads cover the tile");
  static constexpr int aLoads =
      BM * BK / mixThreads < 1 ? 1 : BM * BK / mixThreads;
  static constexpr int bLoads = BN * BK / mixThreads;
  using Shared = A[BK * (BM + 4) + BK * BN];

  const MixParams &p;
  A *aTile, *bTile;
  int firstM, firstN;
  const A *a;
  const B *b;
  A aNext[aLoads], bNext[bLoads];

  __device__ Mix(const MixParams &p, A *shared, int group, int blockM,
                 int blockN)
      : p(p), aTile(shared), bTile(shared + BK * (BM + 4)), firstM(blockM * BM),
        firstN(blockN * BN), a(static_cast<const A *>(p.a) + group * p.aGroup),
        b(static_cast<const B *>(p.b) + group * p.bGroup) {}

  __device__ void load(int r) {
#pragma unroll
    for (int i = 0; i < aLoads; ++i) {
      const int index = threadIdx.x + i * mixThreads;
      const int row = firstM + index / BK, column = r + index % BK;
      aNext[i] = index < BM * BK && row < p.m && column < p.r
                     ? a[static_cast<int64_t>(row) * p.aPitch + column]
                     : A(0);
    }
#pragma unroll
    for (int i = 0; i < bLoads; ++i) {
      const int index = threadIdx.x + i * mixThreads;
      const int row = r + index / BN, column = firstN + index % BN;
      bNext[i] = row < p.r && column < p.n
                     ? convert<A>(b[row * p.bPitch + column])
                     : A(0);
    }
  }

  __device__ void stage() {
#pragma unroll
    for (int i = 0; i < aLoads; ++i) {
      const int index = threadIdx.x + i * mixThreads;
      if (index < BM * BK)
        aTile[index % BK * (BM + 4) + index / BK] = aNext[i];
    }
#pragma unroll
    for (int i = 0; i < bLoads; ++i)
      bTile[threadIdx.x + i * mixThreads] = bNext[i];
  }

  __device__ void run(int group) {
    constexpr int across = BN / TN;
    const int row = threadIdx.x / across * TM;
    // Columns in parts of `width` that neighbouring threads interleave.
    constexpr int width = packWidth<A> < TN ? packWidth<A> : TN;
    const int column = threadIdx.x % across * width;
    A sums[TM][TN] = {};
    load(0);
    for (int r = 0; r < p.r; r += BK) {
      __syncthreads();
      stage();
      __syncthreads();
      load(r + BK);
#pragma unroll
      for (int k = 0; k < BK; ++k) {
        A left[TM], right[TN];
#pragma unroll
        for (int i = 0; i < TM; i += width)
          *reinterpret_cast<Pack<A, width> *>(left + i) =
              *reinterpret_cast<const Pack<A, width> *>(aTile + k * (BM + 4) +
                                                        row + i);
#pragma unroll
        for (int i = 0; i < TN; i += width)
          *reinterpret_cast<Pack<A, width> *>(right + i) =
              *reinterpret_cast<const Pack<A, width> *>(bTile + k * BN +
                                                        i * across + column);
#pragma unroll
        for (int i = 0; i < TM; ++i)
#pragma unroll
          for (int j = 0; j < TN; ++j)
            sums[i][j] += left[i] * right[j];
      }
    }
    D *d = static_cast<D *>(p.d);
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
      for (int j = 0; j < TN; ++j) {
        const int m = firstM + row + i;
        const int n = firstN + j / width * width * across + column + j % width;
        if (m >= p.m || n >= p.n)
          continue;
        const int64_t at = group * p.dGroup + m * p.dPitch + n;
        d[at] =
            convert<D>(finish<D>(p.epilogue, sums[i][j], group * p.m + m, at));
      }
  }
};

template <typename B, typename D, int BM, int BN, int TM, int TN>
__device__ void mix(const MixParams &p) {
  using M = Mix<B, D, BM, BN, TM, TN>;
  __shared__ alignas(16) typename M::Shared shared;
  const unsigned block = blockIdx.x;
  const int blockN = block % p.blocksN;
  const int blockM = block / p.blocksN % p.blocksM;
  const int group = block / p.blocksN / p.blocksM;
  M(p, shared, group, blockM, blockN).run(group);
}

/// A block does a tile of a part, a thread 4 x 4 elements, 16 of r at a time.
template <typename L, typename R> __device__ void outer(const OuterParams &p) {
  constexpr int BK = 16, pitch = outerTile + 4;
  __shared__ alignas(16) A aTile[BK * pitch], bTile[BK * pitch];
  unsigned block = blockIdx.x;
  const int firstN = block % p.blocksN * outerTile;
  block /= p.blocksN;
  const int firstM = block % p.blocksM * outerTile;
  block /= p.blocksM;
  const int group = block % p.groups, split = block / p.groups;
  const L *a = static_cast<const L *>(p.a) + group * p.aGroup;
  const R *b = static_cast<const R *>(p.b) + group * p.bGroup;
  const int64_t end = min(p.r, (split + 1) * p.step);
  const int row = threadIdx.x / 16 * 4, column = threadIdx.x % 16 * 4;
  A sums[4][4] = {};
  for (int64_t r = split * p.step; r < end; r += BK) {
    __syncthreads();
    for (int i = threadIdx.x; i < outerTile * BK; i += mixThreads) {
      const int k = i % BK, line = i / BK;
      const bool isIn = r + k < end;
      aTile[k * pitch + line] =
          isIn && firstM + line < p.m
              ? convert<A>(a[(firstM + line) * p.aPitch + r + k])
              : A(0);
      bTile[k * pitch + line] =
          isIn && firstN + line < p.n
              ? convert<A>(b[(firstN + line) * p.bPitch + r + k])
              : A(0);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k)
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          sums[i][j] +=
              aTile[k * pitch + row + i] * bTile[k * pitch + column + j];
  }
  A *to = static_cast<A *>(p.partial) +
          (static_cast<int64_t>(split) * p.groups + group) * p.m * p.n;
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int m = firstM + row + i, n = firstN + column + j;
      if (m >= p.m || n >= p.n)
        continue;
      A *at = to + static_cast<int64_t>(m) * p.n + n;
      *at = p.adds ? *at + sums[i][j] : sums[i][j];
    }
}

__device__ void storeParameter(void *to, int64_t at, A value, int isF32) {
  if (isF32)
    static_cast<float *>(to)[at] = static_cast<float>(value);
  else
    static_cast<T *>(to)[at] = convert<T>(value);
}

__device__ void collect(const CollectParams &p) {
  const int64_t at =
      static_cast<int64_t>(blockIdx.x) * mixThreads + threadIdx.x;
  if (at >= p.size)
    return;
  // Element [o, c, k] of y.
  int64_t from = at;
  if (p.isWeightFirst) {
    const int k = at % p.numBasis;
    const int64_t rest = at / p.numBasis;
    const int c = rest % p.groupIn;
    const int64_t o = rest / p.groupIn;
    from = (o * p.numBasis + k) * p.groupIn + c;
  }
  A sum = 0;
  for (int s = 0; s < p.splits; ++s)
    sum += static_cast<const A *>(p.partial)[s * p.size + from];
  storeParameter(p.y, at, sum, p.yIsF32);
}

__device__ void pack(const PackParams &p) {
  const int64_t at =
      static_cast<int64_t>(blockIdx.x) * mixThreads + threadIdx.x;
  if (at >= p.size)
    return;
  const int column = at % p.pitch;
  int64_t row = at / p.pitch;
  const int rows = p.isWeightFirst ? p.groupOut * p.numBasis : p.groupOut;
  const int group = row / rows;
  row %= rows;
  const int c = p.isWeightFirst ? column : column / p.numBasis;
  const int k = p.isWeightFirst ? row % p.numBasis : column % p.numBasis;
  const int o = p.isWeightFirst ? row / p.numBasis : row;
  A value = 0;
  if (c < p.groupIn) {
    const int64_t line =
        p.isTransposed
            ? (static_cast<int64_t>(group) * p.groupIn + c) * p.groupOut + o
            : (static_cast<int64_t>(group) * p.groupOut + o) * p.groupIn + c;
    const int64_t from = line * p.numBasis + k;
    value = p.weightIsF32 ? A(static_cast<const float *>(p.weight)[from])
                          : convert<A>(static_cast<const T *>(p.weight)[from]);
  }
  static_cast<A *>(p.packed)[at] = value;
}

__device__ void sumBias(const BiasParams &p) {
  __shared__ A parts[mixThreads];
  const int channel = blockIdx.x;
  A sum = 0;
  for (int64_t b = 0; b < p.batch; ++b) {
    const T *gy =
        static_cast<const T *>(p.gy) + (b * p.channels + channel) * p.points;
    for (int64_t i = threadIdx.x; i < p.points; i += mixThreads)
      sum += convert<A>(gy[i]);
  }
  parts[threadIdx.x] = sum;
  for (int half = mixThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      parts[threadIdx.x] += parts[threadIdx.x + half];
  }
  if (threadIdx.x == 0)
    storeParameter(p.bias, channel, parts[0], p.biasIsF32);
}

} // namespace disco::cuda::csr

#define DISCO_MIX_KERNEL(name, Params, call)                                   \
  extern "C" __global__ void __launch_bounds__(disco::cuda::csr::mixThreads)   \
      DISCO_KERNEL(name, )(                                                    \
          const __grid_constant__ disco::cuda::csr::Params params) {           \
    using namespace disco::cuda::csr;                                          \
    call(params);                                                              \
  }

#if DISCO_IS_F64
#define DISCO_SQUARE 64, 64, 4, 4
#else
#define DISCO_SQUARE 128, 128, 8, 8
#endif
#define DISCO_FLAT 16, 256, 4, 4
// After the filter: sums to y. Before it: x to sums.
DISCO_MIX_KERNEL(csr_mix_last, MixParams, (mix<A, T, DISCO_SQUARE>))
DISCO_MIX_KERNEL(csr_mix_last_flat, MixParams, (mix<A, T, DISCO_FLAT>))
#if DISCO_IS_NARROW
DISCO_MIX_KERNEL(csr_mix_first, MixParams, (mix<T, A, DISCO_SQUARE>))
DISCO_MIX_KERNEL(csr_mix_first_flat, MixParams, (mix<T, A, DISCO_FLAT>))
DISCO_MIX_KERNEL(csr_outer_first, OuterParams, (outer<A, T>))
#endif
DISCO_MIX_KERNEL(csr_outer_last, OuterParams, (outer<T, A>))
DISCO_MIX_KERNEL(csr_collect, CollectParams, collect)
DISCO_MIX_KERNEL(csr_pack, PackParams, pack)
DISCO_MIX_KERNEL(csr_bias, BiasParams, sumBias)
