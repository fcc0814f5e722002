//===- Choices.h - what a schedule of csr_gather says -----------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_CSRGATHER_CHOICES_H
#define DISCO_LIB_RUNTIME_CUDA_CSRGATHER_CHOICES_H

#include "disco/ABI/Kernel.h"

namespace disco::cuda::csr {

/// The fields of disco/ABI/Families/CsrGather.h; 0: the family's choice.
struct Choices {
  int32_t fields = 0, features = 0;
  int64_t blockBytes = 0; ///< never 0
};

/// Reads the schedule of a call, and refuses what there is no kernel for.
disco_status readChoices(const disco_kernel_call &call, Choices &choices);

} // namespace disco::cuda::csr

#endif // DISCO_LIB_RUNTIME_CUDA_CSRGATHER_CHOICES_H
