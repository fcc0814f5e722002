//===- Memory.cuh - loads and stores as spelled -----------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler may split vectors into words and merge branches that store
// differently; these stay as they are.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_DEVICE_MEMORY_CUH
#define DISCO_LIB_RUNTIME_CUDA_DEVICE_MEMORY_CUH

#include <cstdint>

namespace disco::cuda::device {

/// 16 bytes; `to` is aligned to that.
__device__ __forceinline__ void storeGlobal(void *to,
                                            const uint32_t (&words)[4]) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to),
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

__device__ __forceinline__ uint32_t loadWord(uint32_t shared) {
  uint32_t value;
  asm volatile("ld.shared.b32 %0, [%1];"
               : "=r"(value)
               : "r"(shared)
               : "memory");
  return value;
}
/// As many bytes as a V has: 4, 8 or 16, aligned to that.
template <typename V> __device__ __forceinline__ V loadShared(uint32_t shared) {
  static_assert(sizeof(V) == 4 || sizeof(V) == 8 || sizeof(V) == 16, "words");
  union {
    uint32_t words[sizeof(V) / 4];
    V value;
  } to;
  if constexpr (sizeof(V) == 4)
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(to.words[0]) : "r"(shared));
  else if constexpr (sizeof(V) == 8)
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
                 : "=r"(to.words[0]), "=r"(to.words[1])
                 : "r"(shared));
  else
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to.words[0]), "=r"(to.words[1]), "=r"(to.words[2]),
                   "=r"(to.words[3])
                 : "r"(shared));
  return to.value;
}
/// An element of 16 bits.
template <typename T>
__device__ __forceinline__ void storeShared(uint32_t shared, T element) {
  static_assert(sizeof(T) == 2, "16 bits");
  union {
    T element;
    uint16_t bits;
  } from = {element};
  asm volatile("st.shared.b16 [%0], %1;" ::"r"(shared), "h"(from.bits)
               : "memory");
}
__device__ __forceinline__ void storeWord(uint32_t shared, uint32_t value) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(shared), "r"(value) : "memory");
}

} // namespace disco::cuda::device

#endif // DISCO_LIB_RUNTIME_CUDA_DEVICE_MEMORY_CUH
