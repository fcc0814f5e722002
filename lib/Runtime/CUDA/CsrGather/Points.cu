//===- Points.cu - both operations on point sets --------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread does one out-point, for BC fields at a time; neighbouring threads
// read the taps of neighbouring points, whose in-points are anywhere.
//
//===----------------------------------------------------------------------===//

#include "../device/Types.h"
#include "Params.h"

namespace disco::cuda::csr {

using T = types::DISCO_DTYPE;
using A = SumOf<T>::type;

/// Calls body(point, field, fields of the block) if the thread has a point.
template <int BC, typename Body>
__device__ void withPoint(const PointParams &p, Body &&body) {
  const unsigned pointBlock = blockIdx.x % p.pointBlocks;
  const int field = static_cast<int>(blockIdx.x / p.pointBlocks) * BC;
  const int64_t point =
      static_cast<int64_t>(pointBlock) * blockDim.x + threadIdx.x;
  if (point < p.numPoints)
    body(point, field, min(BC, p.fields.numFields - field));
}

template <int BC, int KT> __device__ void contractPoints(const PointParams &p) {
  withPoint<BC>(p, [&](int64_t point, int field, int fields) {
    const T *x = static_cast<const T *>(p.fields.x) + field * p.fields.xField;
    const int K = p.fields.numBasis;
    const int begin = p.offsets[point], end = p.offsets[point + 1];
    for (int first = 0; first < K; first += KT) {
      A sums[KT][BC] = {};
      for (int tap = begin; tap < end; ++tap) {
        const T *from = x + p.columns[tap];
        const A *value = static_cast<const A *>(p.values) +
                         static_cast<int64_t>(tap) * K + first;
        A column[BC];
#pragma unroll
        for (int i = 0; i < BC; ++i)
          column[i] = i < fields ? convert<A>(from[i * p.fields.xField]) : A(0);
#pragma unroll
        for (int k = 0; k < KT; ++k) {
          const A v = first + k < K ? value[k] : A(0);
#pragma unroll
          for (int i = 0; i < BC; ++i)
            sums[k][i] += v * column[i];
        }
      }
      T *y = static_cast<T *>(p.fields.y) + field * p.fields.yField +
             first * p.fields.yBasis + point;
#pragma unroll
      for (int k = 0; k < KT; ++k)
#pragma unroll
        for (int i = 0; i < BC; ++i)
          if (first + k < K && i < fields) {
            T *to = y + k * p.fields.yBasis + i * p.fields.yField;
            *to = convert<T>(sums[k][i]);
            if (p.fields.low)
              to[p.fields.low] = convert<T>(sums[k][i] - convert<A>(*to));
          }
    }
  });
}

template <int BC> __device__ void contractSumPoints(const PointParams &p) {
  withPoint<BC>(p, [&](int64_t point, int field, int fields) {
    const T *x = static_cast<const T *>(p.fields.x) + field * p.fields.xField;
    const int K = p.fields.numBasis;
    const int begin = p.offsets[point], end = p.offsets[point + 1];
    A sums[BC] = {};
    for (int tap = begin; tap < end; ++tap) {
      const T *from = x + p.columns[tap];
      const A *value =
          static_cast<const A *>(p.values) + static_cast<int64_t>(tap) * K;
      for (int k = 0; k < K; ++k, from += p.fields.xBasis) {
        const A v = value[k];
#pragma unroll
        for (int i = 0; i < BC; ++i)
          if (i < fields) {
            const T *element = from + i * p.fields.xField;
            A high = convert<A>(*element);
            if (p.fields.low)
              high += convert<A>(element[p.fields.low]);
            sums[i] += v * high;
          }
      }
    }
    T *y = static_cast<T *>(p.fields.y);
#pragma unroll
    for (int i = 0; i < BC; ++i)
      if (i < fields) {
        const int64_t at = (field + i) * p.fields.yField + point;
        y[at] = convert<T>(finish<T>(p.epilogue, sums[i], field + i, at));
      }
  });
}

} // namespace disco::cuda::csr

#define DISCO_POINTS(BC)                                                       \
  extern "C" __global__ void __launch_bounds__(disco::cuda::csr::pointThreads) \
      DISCO_KERNEL(csr_contract_points, _bc##BC)(                              \
          const __grid_constant__ disco::cuda::csr::PointParams params) {      \
    disco::cuda::csr::contractPoints<BC, 8>(params);                           \
  }                                                                            \
  extern "C" __global__ void __launch_bounds__(disco::cuda::csr::pointThreads) \
      DISCO_KERNEL(csr_contract_sum_points, _bc##BC)(                          \
          const __grid_constant__ disco::cuda::csr::PointParams params) {      \
    disco::cuda::csr::contractSumPoints<BC>(params);                           \
  }

DISCO_POINTS(4)
DISCO_POINTS(1)
