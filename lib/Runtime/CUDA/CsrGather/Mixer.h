//===- Mixer.h - launching the channel mix ----------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_CSRGATHER_MIXER_H
#define DISCO_LIB_RUNTIME_CUDA_CSRGATHER_MIXER_H

#include "../Core/Kernels.h"
#include "Mix.h"

namespace disco::cuda::csr {

/// The kernels of Mix.cu for an element type. What the caller leaves out of the
/// parameters, numbers of blocks and alignments, is filled in here.
class Mixer {
public:
  static disco_status make(const Device &device, int32_t dtype, Mixer &mixer);

  disco_status mix(const MixParams &params, cudaStream_t stream) const;
  disco_status outer(const OuterParams &params, cudaStream_t stream) const;
  disco_status collect(const CollectParams &params, cudaStream_t stream) const;
  disco_status pack(const PackParams &params, cudaStream_t stream) const;
  disco_status sumBias(const BiasParams &params, cudaStream_t stream) const;

private:
  disco_status check(const Device &device) const;
  disco_status checkMix(const Device &device, bool isFlat) const;
  disco_status checkOuter(const Device &device) const;
  disco_status launchMix(bool isFlat, MixParams params,
                         cudaStream_t stream) const;

  int32_t dtype = DISCO_F32;
  Kernel square, flat, outerKernel, collectKernel, packKernel, biasKernel;
};

} // namespace disco::cuda::csr

#endif // DISCO_LIB_RUNTIME_CUDA_CSRGATHER_MIXER_H
