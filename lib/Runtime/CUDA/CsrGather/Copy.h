//===- Copy.h - asynchronous copies to shared memory ------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_CSRGATHER_COPY_H
#define DISCO_LIB_RUNTIME_CUDA_CSRGATHER_COPY_H

#include <cstdint>

namespace disco::cuda::csr {

__device__ __forceinline__ unsigned sharedAddress(const void *shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

/// Copies 4, 8 or 16 bytes, at addresses that are multiples of that.
template <int bytes>
__device__ __forceinline__ void copyAsync(unsigned to, const void *global) {
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(to),
                 "l"(global)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;\n" ::"r"(to),
                 "l"(global), "n"(bytes)
                 : "memory");
}

template <int bytes>
__device__ __forceinline__ void copyAsync(void *shared, const void *global) {
  copyAsync<bytes>(sharedAddress(shared), global);
}

/// Copies the first `valid` of so many bytes, the others become zeros.
template <int bytes>
__device__ __forceinline__ void copyAsync(void *shared, const void *global,
                                          int valid) {
  const unsigned to = sharedAddress(shared);
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to),
                 "l"(global), "r"(valid)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;\n" ::"r"(to),
                 "l"(global), "n"(bytes), "r"(valid)
                 : "memory");
}

__device__ __forceinline__ void commitCopies() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}

/// Until all but the last `pending` commits are there.
template <int pending> __device__ __forceinline__ void waitForCopies() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(pending) : "memory");
}

/// All threads of a block of `threads` copy a tile of `lines` by `width`
/// elements, of which `numLines` by `numElements` exist; the others become
/// zeros. Lines are `pitch` apart in shared memory and `fromPitch` in global
/// memory, where chunks of 16 bytes are aligned or not.
template <int threads, int lines, int width, int pitch, typename E>
__device__ __forceinline__ void copyTile(E *to, const E *from,
                                         int64_t fromPitch, int numLines,
                                         int numElements, bool isAligned) {
  constexpr int V = 16 / sizeof(E), across = width / V;
  constexpr int chunks = lines * across;
#pragma unroll
  for (int i = 0; i < (chunks + threads - 1) / threads; ++i) {
    const int chunk = static_cast<int>(threadIdx.x) + i * threads;
    if (chunks % threads != 0 && chunk >= chunks)
      return;
    const int line = chunk / across, column = chunk % across * V;
    const int valid =
        line < numLines ? max(0, min(numElements - column, V)) : 0;
    const E *source = valid > 0 ? from + line * fromPitch + column : from;
    E *target = to + line * pitch + column;
    if (isAligned) {
      copyAsync<16>(target, source, valid * static_cast<int>(sizeof(E)));
      continue;
    }
#pragma unroll
    for (int e = 0; e < V; ++e) {
      const bool isThere = e < valid;
      if constexpr (sizeof(E) >= 4)
        copyAsync<sizeof(E)>(target + e, isThere ? source + e : from,
                             isThere ? static_cast<int>(sizeof(E)) : 0);
      else
        target[e] = isThere ? source[e] : E(0.0f);
    }
  }
}

} // namespace disco::cuda::csr

#endif // DISCO_LIB_RUNTIME_CUDA_CSRGATHER_COPY_H
