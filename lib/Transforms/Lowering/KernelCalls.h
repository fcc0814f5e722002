//===- KernelCalls.h - contractions as calls of kernels ---------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_TRANSFORMS_LOWERING_KERNELCALLS_H
#define DISCO_LIB_TRANSFORMS_LOWERING_KERNELCALLS_H

#include "disco/Dialect/Disco/Disco.h"

#include "mlir/IR/Builders.h"

namespace mlir::disco {

/// Emits disco.kernel_call for a materialised contraction whose plan is
/// complete, by the conventions of disco/ABI/Kernel.h that all families share.
/// Returns y, or the gradients.
///
/// Parameters of two types are converted to f32, and gradients from it, which
/// rounds nothing twice. A weight that is transposed within its groups just
/// before is taken as it was.
SmallVector<Value> emitKernelCall(OpBuilder &builder,
                                  ContractionOpInterface op);

/// That all `layouts` of the plan of `op` are among those that its family's
/// kernels know; an error at the op.
LogicalResult checkLayouts(ContractionOpInterface op, ArrayRef<Layout> layouts,
                           ArrayRef<Layout> known);

} // namespace mlir::disco

#endif // DISCO_LIB_TRANSFORMS_LOWERING_KERNELCALLS_H
