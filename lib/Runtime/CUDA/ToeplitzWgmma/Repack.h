//===- Repack.h - between nchw and c8 ---------------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_REPACK_H
#define DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_REPACK_H

#include "../Core/Kernels.h"

namespace disco::toeplitz_wgmma {

/// The kernels of both directions on one device.
class Repack {
public:
  disco_status make(const cuda::Device &device);

  /// Fields of 16-bit elements: `nchw` is [batch, channels, points], `c8` is
  /// [batch, channels / 8 rounded up, points, 8], aligned to 16 bytes. pack
  /// writes c8, with zeros in the channels that nchw does not have; unpack
  /// writes nchw.
  disco_status pack(const void *nchw, void *c8, int64_t batch, int64_t channels,
                    int64_t points, cudaStream_t stream) const;
  disco_status unpack(void *nchw, const void *c8, int64_t batch,
                      int64_t channels, int64_t points,
                      cudaStream_t stream) const;

private:
  cuda::Kernel kernels[2][2]; ///< [unpack][vectors]
};

} // namespace disco::toeplitz_wgmma

#endif // DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_REPACK_H
