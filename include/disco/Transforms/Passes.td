//===- Passes.td - the passes
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TRANSFORMS_PASSES_TD
#define DISCO_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif // DISCO_TRANSFORMS_PASSES_TD
