//===- Contraction.h - launching the Toeplitz contraction -------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_CONTRACTION_H
#define DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_CONTRACTION_H

#include "Params.h"

#include "disco/ABI/Problem.h"
#include "disco/Support/DType.h"

namespace disco::toeplitz_wgmma {

/// Device tensors of one call. x is c8: [B, C/8, H, W, 8], and for contract_sum
/// [B, C/8, K, H, W, 8]; y is c8, for contract with K, or nchw.
struct Operands {
  const void *x;
  void *y;
  int64_t batch, channels;
  int32_t yLayout; ///< DISCO_C8 or DISCO_NCHW
};

/// The kernel, which takes Params, for bf16 or f16 and a number of groups.
const void *contractionKernel(DType type, int groups);

/// All but psi's tables, which the caller fills in.
Params makeParams(const Shape &shape, const Operands &operands);

} // namespace disco::toeplitz_wgmma

#endif // DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_CONTRACTION_H
