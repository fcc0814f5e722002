//===- SkipsATile.cu - a kernel with a fault ------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel of toeplitz_wgmma, of which one CTA stores nothing.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Runtime/CUDA/device/BulkCopy.cuh"

namespace disco::cuda::device {

template <typename... Arguments>
__device__ __forceinline__ void bulkStoreOfMost(Arguments... arguments) {
  if (blockIdx.x != 1)
    bulkStore(arguments...);
}

} // namespace disco::cuda::device

#define bulkStore bulkStoreOfMost
#include "../../../lib/Runtime/CUDA/ToeplitzWgmma/Contraction.cu"
