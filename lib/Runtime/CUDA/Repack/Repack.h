//===- Repack.h - changes of layout and of type --------------- -*- C++ -*-===//
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

/// Bytes of an element of any type of the ABI.
inline int32_t sizeOf(int32_t dtype) {
  return dtype == DISCO_F64 || dtype == DISCO_I64   ? 8
         : dtype == DISCO_F32 || dtype == DISCO_I32 ? 4
                                                    : 2;
}

/// One change of layout, or of the elements' type, on one device.
class Repack {
public:
  /// Finds the kernels and checks them the first time that a device uses them.
  /// The numbers of `what` have been checked.
  disco_status make(const cuda::Device &device, const disco_repack &what);

  /// Bytes of `batch` samples, before and after.
  int64_t fromBytes(int64_t batch) const {
    return bytes(what.from_layout, what.from_dtype, batch);
  }
  int64_t toBytes(int64_t batch) const {
    return bytes(what.to_layout, what.to_dtype, batch);
  }

  /// c8 is aligned to 16 bytes; the rest need not be, but is faster if it is.
  disco_status launch(int64_t batch, const void *from, void *to,
                      cudaStream_t stream) const;

  const disco_repack &repack() const { return what; }

private:
  bool converts() const { return what.from_layout == what.to_layout; }
  int64_t bytes(int32_t layout, int32_t dtype, int64_t batch) const;
  /// The kernel's name; sets the tiles.
  std::string chooseKernel();
  disco_status checkKernel(const cuda::Device &device, int64_t points) const;

  disco_repack what = {};
  /// For any points, and for whole and aligned vectors of them; the same kernel
  /// where one does both.
  cuda::Kernel any, vectors;
  int64_t channelTile = 0, pointTile = 0;
};

} // namespace disco::repack

#endif // DISCO_LIB_RUNTIME_CUDA_REPACK_REPACK_H
