//===- CudaPipeline.h - disco-cuda-pipeline ---------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TRANSFORMS_CUDAPIPELINE_H
#define DISCO_TRANSFORMS_CUDAPIPELINE_H

#include "disco/Transforms/Passes.h"

namespace mlir::disco {

struct CudaPipelineOptions
    : public PlannedPipelineOptions<CudaPipelineOptions> {
  static constexpr char defaultTarget[] = "h200";
};

/// From disco operations on tensors to a straight line of kernel calls on
/// tensors, which readSteps (disco/Transforms/Steps.h) makes an entry of.
void buildCudaPipeline(OpPassManager &manager,
                       const CudaPipelineOptions &options);

} // namespace mlir::disco

#endif // DISCO_TRANSFORMS_CUDAPIPELINE_H
