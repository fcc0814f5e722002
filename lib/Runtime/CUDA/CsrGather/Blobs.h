//===- Blobs.h - the embedded kernels of csr_gather -------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_CSRGATHER_BLOBS_H
#define DISCO_LIB_RUNTIME_CUDA_CSRGATHER_BLOBS_H

#include "../Core/Kernels.h"

#define DISCO_DECLARE_BLOBS(kind)                                              \
  extern "C" const disco::cuda::Blob disco_blob_csr_##kind##_f64,              \
      disco_blob_csr_##kind##_f32, disco_blob_csr_##kind##_f16,                \
      disco_blob_csr_##kind##_bf16;
DISCO_DECLARE_BLOBS(contract)
DISCO_DECLARE_BLOBS(contract_sum)
DISCO_DECLARE_BLOBS(mix)
DISCO_DECLARE_BLOBS(points)
#undef DISCO_DECLARE_BLOBS

namespace disco::cuda::csr {

#define DISCO_FIND_BLOB(function, kind)                                        \
  inline const Blob &function(int32_t dtype) {                                 \
    const Blob *const blobs[] = {                                              \
        &disco_blob_csr_##kind##_f64, &disco_blob_csr_##kind##_f32,            \
        &disco_blob_csr_##kind##_f16, &disco_blob_csr_##kind##_bf16};          \
    return *blobs[dtype];                                                      \
  }
DISCO_FIND_BLOB(contractBlob, contract)
DISCO_FIND_BLOB(contractSumBlob, contract_sum)
DISCO_FIND_BLOB(mixBlob, mix)
DISCO_FIND_BLOB(pointsBlob, points)
#undef DISCO_FIND_BLOB

} // namespace disco::cuda::csr

#endif // DISCO_LIB_RUNTIME_CUDA_CSRGATHER_BLOBS_H
