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
/// parameters, numbers of blocks, is filled in here.
class Mixer {
public:
  static disco_status make(const Device &device, int32_t dtype, Mixer &mixer);

  /// After a filter: b is of the type of sums, d of the fields'.
  disco_status mixLast(const MixParams &params, cudaStream_t stream) const;
  /// Before one: the other way round.
  disco_status mixFirst(const MixParams &params, cudaStream_t stream) const;
  /// a is a field, b of the type of sums.
  disco_status outerLast(const OuterParams &params, cudaStream_t stream) const;
  /// The other way round.
  disco_status outerFirst(const OuterParams &params, cudaStream_t stream) const;
  disco_status collect(const CollectParams &params, cudaStream_t stream) const;
  disco_status pack(const PackParams &params, cudaStream_t stream) const;
  disco_status sumBias(const BiasParams &params, cudaStream_t stream) const;

private:
  struct Pair {
    Kernel square, flat;
  };

  disco_status check(const Device &device) const;
  disco_status checkMix(const Device &device, bool isLast, bool isFlat) const;
  disco_status checkOuter(const Device &device, bool isLast) const;
  disco_status launchMix(const Pair &kernels, bool isFlat, MixParams params,
                         cudaStream_t stream) const;
  disco_status launchOuter(const Kernel &kernel, OuterParams params,
                           cudaStream_t stream) const;

  int32_t dtype = DISCO_F32;
  Pair last, first;
  Kernel outerLastKernel, outerFirstKernel, collectKernel, packKernel,
      biasKernel;
};

} // namespace disco::cuda::csr

#endif // DISCO_LIB_RUNTIME_CUDA_CSRGATHER_MIXER_H
