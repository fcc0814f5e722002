//===- CudaPipeline.cpp - disco-cuda-pipeline -----------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Transforms/CudaPipeline.h"

#include "Pipelines.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::disco;

void mlir::disco::buildCudaPipeline(OpPassManager &manager,
                                    const CudaPipelineOptions &options) {
  addGraphPasses(manager, options.target, options.family, options.fuse);
  manager.addPass(createAssignLayoutPass());
  manager.addPass(createVerifyPlanPass());
  manager.addPass(createPrepareEntriesPass());
  manager.addPass(createMaterializeFiltersPass());
  manager.addPass(createCSEPass());
  manager.addPass(createLowerToRuntimePass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

void mlir::disco::registerCudaPipeline() {
  PassPipelineRegistration<CudaPipelineOptions>(
      "disco-cuda-pipeline",
      "From disco operations on tensors to calls of kernels on a GPU",
      buildCudaPipeline);
}
