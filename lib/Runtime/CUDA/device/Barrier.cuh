//===- Barrier.cuh - mbarriers and barriers of a warpgroup ------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An mbarrier counts arrivals and bytes that bulk copies bring. Its phase ends
// when `count` threads have arrived and all announced bytes are there. A ring
// of stages has two of them a stage:
//
//   producer   wait(empty, parity ^ 1) -> arriveExpect(full, bytes), copies
//   consumer   wait(full, parity) -> reads -> arrive(empty)
//
// with parity 0 in the first round of the ring, 1 in the second, and so on.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_DEVICE_BARRIER_CUH
#define DISCO_LIB_RUNTIME_CUDA_DEVICE_BARRIER_CUH

#include <cstdint>

namespace disco::cuda::device {

/// The address of shared memory as instructions take it.
__device__ __forceinline__ uint32_t sharedAddress(const void *pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void initBarrier(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier),
               "r"(count)
               : "memory");
}

/// Makes initialised barriers visible to bulk copies. All threads of the CTA
/// synchronise after it.
__device__ __forceinline__ void fenceBarrierInit() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier)
               : "memory");
}

/// Arrives, and lets the phase wait for `bytes` more bytes.
__device__ __forceinline__ void arriveExpect(uint32_t barrier, uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
      "r"(bytes)
      : "memory");
}

/// Waits for the end of the phase of that parity.
__device__ __forceinline__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "retry:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@done bra finished;\n"
               "bra retry;\n"
               "finished:\n"
               "}" ::"r"(barrier),
               "r"(parity)
               : "memory");
}

/// Synchronises the `threads` threads that use named barrier `id` (1 to 15).
__device__ __forceinline__ void syncNamed(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

} // namespace disco::cuda::device

#endif // DISCO_LIB_RUNTIME_CUDA_DEVICE_BARRIER_CUH
