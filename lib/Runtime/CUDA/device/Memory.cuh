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
__device__ __forceinline__ void storeWord(uint32_t shared, uint32_t value) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(shared), "r"(value) : "memory");
}

} // namespace disco::cuda::device

#endif // DISCO_LIB_RUNTIME_CUDA_DEVICE_MEMORY_CUH
