//===- Pipelines.h - what pipelines have in common --------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_TRANSFORMS_PIPELINES_PIPELINES_H
#define DISCO_LIB_TRANSFORMS_PIPELINES_PIPELINES_H

#include "disco/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"

namespace mlir::disco {

/// One function an entry, operations fused and planned.
void addGraphPasses(OpPassManager &manager, StringRef target, StringRef family,
                    bool fuse);

/// Registers one pipeline each.
void registerCpuPipeline();
void registerCudaPipeline();

} // namespace mlir::disco

#endif // DISCO_LIB_TRANSFORMS_PIPELINES_PIPELINES_H
