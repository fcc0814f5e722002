//===- Filter.h - psi on a device, and its kernel ---------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_FILTER_H
#define DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_FILTER_H

#include "Bands.h"
#include "Launch.h"

#include "../Core/Kernels.h"

namespace disco::toeplitz_wgmma {

/// contract or contract_sum with one psi, f16 or bf16.
class Filter {
public:
  /// Packs and uploads psi, or takes it from the device's pool, and checks the
  /// kernel the first time that a device uses it. Errors: those of buildBands,
  /// of the device and of the check.
  disco_status make(const cuda::Device &device, const disco_kernel_psi &psi,
                    bool sum, DType type, const Choice &choice);

  /// The operands are aligned to 16 bytes.
  disco_status launch(const Operands &operands, cudaStream_t stream) const;

private:
  disco_status makeNew(const cuda::Device &device, const disco_kernel_psi &psi,
                       bool sum, DType type, const Choice &choice);
  disco_status upload(const cuda::Device &device, const Bands &packed);
  disco_status checkKernel(const cuda::Device &device, DType type) const;
  disco_status checkLayout(const cuda::Device &device, DType type,
                           int32_t layout) const;

  Shape shape = {};
  cuda::DeviceMemory bands, pieces, windows, blockPieces, order;
  cuda::Kernel kernel;
  int64_t multiprocessors = 0;
};

} // namespace disco::toeplitz_wgmma

#endif // DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_FILTER_H
