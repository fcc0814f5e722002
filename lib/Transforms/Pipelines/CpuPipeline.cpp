//===- CpuPipeline.cpp - disco-cpu-pipeline -------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pipelines.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::disco;

void mlir::disco::addGraphPasses(OpPassManager &manager, StringRef target,
                                 StringRef family, bool fuse) {
  manager.addPass(createInlinerPass());
  manager.addPass(createSymbolDCEPass());
  if (fuse) {
    // Constants and reshapes as the patterns know them.
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createFuseEinsumPass());
    manager.addPass(createFuseEpiloguePass());
  }
  // Arithmetic on whole tensors has neither sizes nor buffers; linalg has.
  manager.addPass(createConvertElementwiseToLinalgPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  // Before filters become tensors: their taps are counted.
  SelectKernelPassOptions select;
  select.target = target.str();
  select.forceFamily = family.str();
  manager.addPass(createSelectKernelPass(select));
}

/// Graph level: one function an entry, filters as tensors, calls and loops.
static void addTensorPasses(OpPassManager &manager,
                            const CpuPipelineOptions &options) {
  addGraphPasses(manager, options.target, options.family, options.fuse);
  manager.addPass(createVerifyPlanPass());
  PrepareEntriesPassOptions prepare;
  prepare.strided = options.strided;
  manager.addPass(createPrepareEntriesPass(prepare));
  if (options.checkTables)
    manager.addPass(createCheckTablesPass());
  manager.addPass(createMaterializeFiltersPass());
  manager.addPass(createCSEPass());
  if (options.instrument)
    manager.addPass(createInstrumentPass());
  manager.addPass(createLowerToRuntimePass());
  manager.addPass(createLowerToLoopsPass());
  // Sizes in terms of arguments, as the workspace needs them.
  manager.addPass(memref::createResolveShapedTypeResultDimsPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

/// Buffers: outputs are written in place, intermediates in the workspace.
static void addBufferPasses(OpPassManager &manager) {
  manager.addPass(bufferization::createEmptyTensorEliminationPass());
  manager.addPass(bufferization::createOneShotBufferizePass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createPlanWorkspacePass());
  manager.addPass(createLowerCopiesPass());
}

/// Loops, and floats that the processor lacks.
static void addLoopPasses(OpPassManager &manager) {
  manager.addPass(createConvertLinalgToLoopsPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createLoopInvariantCodeMotionPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  math::MathExtendToSupportedTypesOptions extend;
  manager.addPass(math::createMathExtendToSupportedTypes(extend));
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16", "f16"};
  emulate.targetTypeStr = "f32";
  manager.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  manager.addPass(arith::createArithExpandOpsPass(expand));
}

static void addLLVMPasses(OpPassManager &manager) {
  manager.addPass(createSCFToControlFlowPass());
  manager.addNestedPass<func::FuncOp>(LLVM::createLLVMRequestCWrappersPass());
  manager.addPass(createConvertMathToLibmPass());
  manager.addPass(createConvertToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

void mlir::disco::buildCpuPipeline(OpPassManager &manager,
                                   const CpuPipelineOptions &options) {
  addTensorPasses(manager, options);
  addBufferPasses(manager);
  addLoopPasses(manager);
  addLLVMPasses(manager);
}

void mlir::disco::registerCpuPipeline() {
  PassPipelineRegistration<CpuPipelineOptions>(
      "disco-cpu-pipeline",
      "From disco operations on tensors to the LLVM dialect, for the host",
      buildCpuPipeline);
}

void mlir::disco::registerDiscoPipelines() {
  registerCpuPipeline();
  registerCudaPipeline();
}
