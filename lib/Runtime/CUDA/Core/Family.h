//===- Family.h - what a family of CUDA kernels provides --------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// To add a family: a folder beside this one with a `const Family` named
// <name>Family, and a row in Families.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_CORE_FAMILY_H
#define DISCO_LIB_RUNTIME_CUDA_CORE_FAMILY_H

#include "Kernels.h"

#include <memory>

/// A call that was prepared for one device.
struct disco_prepared {
  virtual ~disco_prepared() = default;

  /// Bytes of workspace for the call, whose numbers are those of the prepared
  /// one but for the batch.
  virtual disco_status workspaceBytes(const disco_kernel_call &call,
                                      uint64_t &bytes) const = 0;
  /// Launches on `stream`; the operands and the workspace have been checked,
  /// the device is current.
  virtual disco_status run(const disco_kernel_call &call, cudaStream_t stream,
                           void *workspace) const = 0;

  disco::cuda::Device device;
  /// What was prepared; its pointers may have become invalid.
  disco_kernel_call call = {};
  bool hasWeight = false, hasBias = false;
};

namespace disco::cuda {

struct Family {
  const char *name;
  /// Makes an object that can run `call`; the device is current and no stream
  /// is captured. Of the call's schedule, only the order has been checked. The
  /// caller fills in the members of disco_prepared.
  disco_status (*prepare)(const Device &device, const disco_kernel_call &call,
                          std::unique_ptr<disco_prepared> &prepared);
};

/// Null beyond the last.
const Family *familyAt(int32_t index);

extern const Family csrGatherFamily, toeplitzWgmmaFamily;

/// Bytes of a floating-point element.
inline int64_t sizeOf(int32_t dtype) {
  return dtype == DISCO_F64 ? 8 : dtype == DISCO_F32 ? 4 : 2;
}

} // namespace disco::cuda

#endif // DISCO_LIB_RUNTIME_CUDA_CORE_FAMILY_H
