//===- CudaPipeline.h - disco-cuda-pipeline ---------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TRANSFORMS_CUDAPIPELINE_H
#define DISCO_TRANSFORMS_CUDAPIPELINE_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::disco {

struct CudaPipelineOptions : public PassPipelineOptions<CudaPipelineOptions> {
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("The chip, by name or architecture (disco-opt "
                     "--list-targets)"),
      llvm::cl::init("h200")};
  Option<std::string> family{
      *this, "family",
      llvm::cl::desc(
          "Run every operation by this kernel family, or fail naming "
          "the rule that refuses it; empty: the fastest"),
      llvm::cl::init("")};
  Option<bool> fuse{
      *this, "fuse",
      llvm::cl::desc("Fuse einsums and epilogues into the operations first"),
      llvm::cl::init(true)};
};

/// From disco operations on tensors to a straight line of kernel calls on
/// tensors, which readSteps (disco/Transforms/Steps.h) makes an entry of.
void buildCudaPipeline(OpPassManager &manager,
                       const CudaPipelineOptions &options);

} // namespace mlir::disco

#endif // DISCO_TRANSFORMS_CUDAPIPELINE_H
