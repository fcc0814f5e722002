//===- Conv.h - conv and conv_weight_grad from parts ------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_CSRGATHER_CONV_H
#define DISCO_LIB_RUNTIME_CUDA_CSRGATHER_CONV_H

#include "../Core/Family.h"

namespace disco::cuda::csr {

/// conv in the order of its schedule.
disco_status prepareConv(const Device &device, const disco_kernel_call &call,
                         std::unique_ptr<disco_prepared> &prepared);
disco_status prepareWeightGrad(const Device &device,
                               const disco_kernel_call &call,
                               std::unique_ptr<disco_prepared> &prepared);

} // namespace disco::cuda::csr

#endif // DISCO_LIB_RUNTIME_CUDA_CSRGATHER_CONV_H
