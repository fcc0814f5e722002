//===- Launch.h - what the kernel is launched with -------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_LAUNCH_H
#define DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_LAUNCH_H

#include "Params.h"

namespace disco::toeplitz_wgmma {

/// Device tensors of one call. x is c8: [B, C/8, H, W, 8], and for contract_sum
/// [B, C/8, K, H, W, 8]; y is c8, for contract with K, or nchw.
struct Operands {
  const void *x;
  void *y;
  int64_t batch, channels;
  int32_t yLayout; ///< DISCO_C8 or DISCO_NCHW
};

/// All but psi's tables, which the caller fills in. False when there are more
/// tiles than 31 bits can number.
bool makeParams(const Shape &shape, const Operands &operands, Params &params);

} // namespace disco::toeplitz_wgmma

#endif // DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_LAUNCH_H
