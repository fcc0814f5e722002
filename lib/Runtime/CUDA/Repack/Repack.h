//===- Repack.h - between nchw, nhwc and c8 ------------------- -*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_REPACK_REPACK_H
#define DISCO_LIB_RUNTIME_CUDA_REPACK_REPACK_H

#include "../Core/Kernels.h"
#include "Params.h"

namespace disco::repack {

/// One change of layout on one device.
class Repack {
public:
  /// Finds the kernels and checks them the first time that a device uses them.
  /// The numbers of `what` have been checked.
  disco_status make(const cuda::Device &device, const disco_repack &what);

  /// Bytes of `batch` samples in a layout.
  int64_t bytes(int32_t layout, int64_t batch) const;

  /// c8 is aligned to 16 bytes; the rest need not be, but is faster if it is.
  disco_status launch(int64_t batch, const void *from, void *to,
                      cudaStream_t stream) const;

  const disco_repack &repack() const { return what; }

private:
  disco_status checkKernel(const cuda::Device &device, int64_t points) const;

  disco_repack what = {};
  /// For any points, and for whole and aligned vectors of them; the same kernel
  /// where one does both.
  cuda::Kernel any, vectors;
  int64_t channelTile = 0, pointTile = 0;
};

} // namespace disco::repack

#endif // DISCO_LIB_RUNTIME_CUDA_REPACK_REPACK_H
