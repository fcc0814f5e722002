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

/// A box of a tensor of five dimensions, from dense shared memory that is
/// aligned to 128 bytes, at these coordinates (innermost first). What lies
/// outside of the tensor is left out.
__device__ __forceinline__ void tensorStore(const void *map, uint32_t shared,
                                            int32_t c0, int32_t c1, int32_t c2,
                                            int32_t c3, int32_t c4) {
  asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group "
               "[%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
               "r"(shared), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
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
