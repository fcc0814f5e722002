//===- Passes.h - the passes and pipelines -------------------------*- C++
//-*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TRANSFORMS_PASSES_H
#define DISCO_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::disco {

#define GEN_PASS_DECL
#include "disco/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "disco/Transforms/Passes.h.inc"

} // namespace mlir::disco

#endif // DISCO_TRANSFORMS_PASSES_H
