//===- Repack.h - between nchw and c8 ---------------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_REPACK_H
#define DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_REPACK_H

#include <cstdint>
#include <cuda_runtime_api.h>

namespace disco::toeplitz_wgmma {

/// Fields of 16-bit elements: `nchw` is [batch, channels, points], `c8` is
/// [batch, channels / 8 rounded up, points, 8], aligned to 16 bytes.
struct RepackArgs {
  void *nchw, *c8;
  int64_t batch, channels, points;
};

/// Writes c8, with zeros in the channels that nchw does not have.
cudaError_t packChannels(const RepackArgs &args, cudaStream_t stream);
/// Writes nchw.
cudaError_t unpackChannels(const RepackArgs &args, cudaStream_t stream);

} // namespace disco::toeplitz_wgmma

#endif // DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_REPACK_H
