//===- Blobs.h - the embedded kernels of repacks -------------- -*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_REPACK_BLOBS_H
#define DISCO_LIB_RUNTIME_CUDA_REPACK_BLOBS_H

#include "../Core/Kernels.h"

extern "C" const disco::cuda::Blob disco_blob_repack;

#endif // DISCO_LIB_RUNTIME_CUDA_REPACK_BLOBS_H
