//===- BulkCopy.cuh - copies of contiguous memory ---------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp.async.bulk: the copy engine moves contiguous bytes, a multiple of 16 and
// aligned to 16, between global and shared memory. One thread issues a copy.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_DEVICE_BULKCOPY_CUH
#define DISCO_LIB_RUNTIME_CUDA_DEVICE_BULKCOPY_CUH

#include <cstdint>

namespace disco::cuda::device {

/// Global to shared memory; completes on an mbarrier that expects the bytes.
__device__ __forceinline__ void bulkLoad(uint32_t shared, const void *global,
                                         uint32_t bytes, uint32_t barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
               "bytes [%0], [%1], %2, [%3];" ::"r"(shared),
               "l"(global), "r"(bytes), "r"(barrier)
               : "memory");
}

/// Shared to global memory, in the bulk group of the thread.
__device__ __forceinline__ void bulkStore(void *global, uint32_t shared,
                                          uint32_t bytes) {
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
          global),
      "r"(shared), "r"(bytes)
      : "memory");
}

__device__ __forceinline__ void commitStores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until all of the thread's bulk stores have read shared memory.
__device__ __forceinline__ void waitStoresRead() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

/// Makes the thread's writes to shared memory visible to the copy engine and
/// the tensor cores; a barrier follows.
__device__ __forceinline__ void fenceAsyncProxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

} // namespace disco::cuda::device

#endif // DISCO_LIB_RUNTIME_CUDA_DEVICE_BULKCOPY_CUH
