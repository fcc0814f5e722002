//===- Blobs.h - the embedded kernels of toeplitz_wgmma ---------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_BLOBS_H
#define DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_BLOBS_H

#include "../Core/Kernels.h"

extern "C" const disco::cuda::Blob disco_blob_toeplitz_f16,
    disco_blob_toeplitz_bf16;

#endif // DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_BLOBS_H
