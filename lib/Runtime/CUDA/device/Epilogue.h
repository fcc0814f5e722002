//===- Epilogue.h - what follows the sums of a conv -------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   y = activation(sum + bias) + residual
//
// The struct is for host and kernels, the arithmetic for kernels only.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_DEVICE_EPILOGUE_H
#define DISCO_LIB_RUNTIME_CUDA_DEVICE_EPILOGUE_H

#include "disco/ABI/Kernel.h"

namespace disco::cuda {

struct Epilogue {
  const void *bias;     ///< of the first channel of y; null: none
  const void *residual; ///< beside y; null: none
  int32_t biasIsF32;    ///< else it has the type of y
  int32_t activation;
  int32_t channels; ///< of y: field f has the bias f % channels
};

} // namespace disco::cuda

#ifdef __CUDACC__
#include "Types.h"

namespace disco::cuda {

__device__ __forceinline__ float erfcOf(float v) { return erfcf(v); }
__device__ __forceinline__ double erfcOf(double v) { return erfc(v); }
__device__ __forceinline__ float tanhOf(float v) { return tanhf(v); }
__device__ __forceinline__ double tanhOf(double v) { return tanh(v); }
__device__ __forceinline__ float expOf(float v) { return expf(v); }
__device__ __forceinline__ double expOf(double v) { return exp(v); }

template <typename A> __device__ A activate(A v, int activation) {
  switch (activation) {
  case DISCO_ACTIVATION_RELU:
    return v < 0 ? A(0) : v; // keeps NaN
  case DISCO_ACTIVATION_GELU:
    return A(0.5) * v * erfcOf(-v * A(0.70710678118654752440));
  case DISCO_ACTIVATION_GELU_TANH: {
    const A inner = A(0.79788456080286535588) * (v + A(0.044715) * v * v * v);
    return A(0.5) * v * (1 + tanhOf(inner));
  }
  case DISCO_ACTIVATION_SILU:
    return v / (1 + expOf(-v));
  default:
    return v;
  }
}

/// Finishes a sum of a field of y; `at` is its place after y's pointer.
template <typename T, typename A>
__device__ __forceinline__ A finish(const Epilogue &e, A v, int field,
                                    int64_t at) {
  if (e.bias) {
    const int channel = field % e.channels;
    v += e.biasIsF32 ? A(static_cast<const float *>(e.bias)[channel])
                     : convert<A>(static_cast<const T *>(e.bias)[channel]);
  }
  if (e.activation)
    v = activate(v, e.activation);
  if (e.residual)
    v += convert<A>(static_cast<const T *>(e.residual)[at]);
  return v;
}

} // namespace disco::cuda
#endif // __CUDACC__

#endif // DISCO_LIB_RUNTIME_CUDA_DEVICE_EPILOGUE_H
