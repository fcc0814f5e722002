//===- Types.h - element types and vectors of kernels -----------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are compiled once for each element type, which DISCO_DTYPE names:
// f64, f32, f16 or bf16.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_DEVICE_TYPES_H
#define DISCO_LIB_RUNTIME_CUDA_DEVICE_TYPES_H

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace disco::cuda::types {
using f64 = double;
using f32 = float;
using f16 = __half;
using bf16 = __nv_bfloat16;
} // namespace disco::cuda::types

namespace disco::cuda {

/// What sums of T are in.
template <typename T> struct SumOf {
  using type = float;
};
template <> struct SumOf<double> {
  using type = double;
};

/// Rounds once, or converts exactly.
template <typename To> __device__ __forceinline__ To convert(double v) {
  return static_cast<To>(v);
}
template <typename To> __device__ __forceinline__ To convert(float v) {
  return static_cast<To>(v);
}
template <> __device__ __forceinline__ __half convert<__half>(float v) {
  return __float2half_rn(v);
}
template <>
__device__ __forceinline__ __nv_bfloat16 convert<__nv_bfloat16>(float v) {
  return __float2bfloat16_rn(v);
}
template <typename To> __device__ __forceinline__ To convert(__half v) {
  return static_cast<To>(__half2float(v));
}
template <typename To> __device__ __forceinline__ To convert(__nv_bfloat16 v) {
  return static_cast<To>(__bfloat162float(v));
}

/// N numbers that are loaded and stored at once.
template <typename A, int N> struct alignas(sizeof(A) * N) Pack {
  A v[N];
};

/// The numbers of A in 16 bytes.
template <typename A> constexpr int packWidth = 16 / sizeof(A);

/// The name of a kernel: DISCO_KERNEL(csr_contract, _bc8) is
/// csr_contract_f32_bc8.
#define DISCO_JOIN4(a, b, c, d) a##b##c##d
#define DISCO_KERNEL_NAME(stem, dtype, rest) DISCO_JOIN4(stem, _, dtype, rest)
#define DISCO_KERNEL(stem, rest) DISCO_KERNEL_NAME(stem, DISCO_DTYPE, rest)

} // namespace disco::cuda

#endif // DISCO_LIB_RUNTIME_CUDA_DEVICE_TYPES_H
