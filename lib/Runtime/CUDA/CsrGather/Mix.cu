//===- Mix.cu - the channel mix -------------------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrix products over channels, and what is round them; see Product.h.
//
//===----------------------------------------------------------------------===//

#include "Product.h"

namespace disco::cuda::csr {

using T = types::DISCO_DTYPE;
using A = SumOf<T>::type;

template <bool isFlat>
__device__ __forceinline__ void mix(const MixParams &p, char *shared) {
  using P = Product<T, isFlat, false>;
  const unsigned block = blockIdx.x;
  const int firstN = static_cast<int>(block % p.blocksN) * P::N;
  const int firstM = static_cast<int>(block / p.blocksN % p.blocksM) * P::M;
  const int group = static_cast<int>(block / p.blocksN / p.blocksM);
  Operands<T> o;
  o.a = static_cast<const T *>(p.a) + group * p.aGroup +
        static_cast<int64_t>(firstM) * p.aPitch;
  o.b = static_cast<const T *>(p.b) + group * p.bGroup + firstN;
  o.aPitch = p.aPitch;
  o.bPitch = p.bPitch;
  o.aLow = p.aLow;
  o.bLow = p.bLow;
  o.m = p.m - firstM;
  o.n = p.n - firstN;
  o.r = p.r;
  o.aIsAligned = p.aIsAligned;
  o.bIsAligned = p.bIsAligned;
  P product;
  multiplyTiles<P, T, false>(product, reinterpret_cast<T *>(shared), o);
  T *d = static_cast<T *>(p.d);
  product.forEach([&](int row, int column, A sum) {
    const int m = firstM + row, n = firstN + column;
    if (m >= p.m || n >= p.n)
      return;
    const int64_t at = group * p.dGroup + m * p.dPitch + n;
    const A value = finish<T>(p.epilogue, sum, group * p.m + m, at);
    const T high = convert<T>(value);
    d[at] = high;
    if constexpr (sizeof(T) == 2)
      if (p.dLow)
        d[at + p.dLow] = convert<T>(value - convert<A>(high));
  });
}
__device__ __forceinline__ void mixSquare(const MixParams &p, char *shared) {
  mix<false>(p, shared);
}
__device__ __forceinline__ void mixFlat(const MixParams &p, char *shared) {
  mix<true>(p, shared);
}

__device__ __forceinline__ void outer(const OuterParams &p, char *shared) {
  using P = Product<T, false, true>;
  unsigned block = blockIdx.x;
  const int firstN = static_cast<int>(block % p.blocksN) * P::N;
  block /= p.blocksN;
  const int firstM = static_cast<int>(block % p.blocksM) * P::M;
  block /= p.blocksM;
  const int group = static_cast<int>(block % p.groups);
  const int split = static_cast<int>(block / p.groups);
  const int64_t begin = split * p.step, end = min(p.r, begin + p.step);
  Operands<T> o;
  o.a = static_cast<const T *>(p.a) + group * p.aGroup + firstM * p.aPitch +
        begin;
  o.b = static_cast<const T *>(p.b) + group * p.bGroup + firstN * p.bPitch +
        begin;
  o.aPitch = p.aPitch;
  o.bPitch = p.bPitch;
  o.aLow = p.aLow;
  o.bLow = p.bLow;
  o.m = p.m - firstM;
  o.n = p.n - firstN;
  o.r = max(int64_t(0), end - begin);
  o.aIsAligned = p.aIsAligned;
  o.bIsAligned = p.bIsAligned;
  P product;
  multiplyTiles<P, T, true>(product, reinterpret_cast<T *>(shared), o);
  A *to = static_cast<A *>(p.partial) +
          (static_cast<int64_t>(split) * p.groups + group) * p.m * p.n;
  product.forEach([&](int row, int column, A sum) {
    const int m = firstM + row, n = firstN + column;
    if (m >= p.m || n >= p.n)
      return;
    A *at = to + static_cast<int64_t>(m) * p.n + n;
    *at = p.adds ? *at + sum : sum;
  });
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
  T *to = static_cast<T *>(p.packed) + at;
  *to = convert<T>(value);
  if (p.low)
    to[p.low] = convert<T>(value - convert<A>(*to));
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

extern __shared__ __align__(16) char sharedMemory[];

#define DISCO_MIX_KERNEL(name, Params, call, ...)                              \
  extern "C" __global__ void __launch_bounds__(disco::cuda::csr::mixThreads,   \
                                               disco::cuda::csr::mixBlocks)    \
      DISCO_KERNEL(name, )(                                                    \
          const __grid_constant__ disco::cuda::csr::Params params) {           \
    disco::cuda::csr::call(params __VA_OPT__(, ) __VA_ARGS__);                 \
  }

DISCO_MIX_KERNEL(csr_mix, MixParams, mixSquare, sharedMemory)
DISCO_MIX_KERNEL(csr_mix_flat, MixParams, mixFlat, sharedMemory)
DISCO_MIX_KERNEL(csr_outer, OuterParams, outer, sharedMemory)
DISCO_MIX_KERNEL(csr_collect, CollectParams, collect)
DISCO_MIX_KERNEL(csr_pack, PackParams, pack)
DISCO_MIX_KERNEL(csr_bias, BiasParams, sumBias)
