//===- FamilyLowering.h - how families lower what is planned ----*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every family of KernelFamilies.def with available ops has a constant of this
// type in Families/<Family>.cpp, in namespace mlir::disco::lowerings, by its
// own name.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_TRANSFORMS_LOWERING_FAMILYLOWERING_H
#define DISCO_LIB_TRANSFORMS_LOWERING_FAMILYLOWERING_H

#include "disco/Dialect/Disco/Disco.h"

#include "mlir/IR/Builders.h"

namespace mlir::disco {

struct FamilyLowering {
  /// codegen: disco-lower-to-loops; runtime: disco-lower-to-runtime.
  Provider provider;
  /// What the lowering can take, or an error at the op.
  LogicalResult (*check)(ContractionOpInterface op);
  /// The results of an op that was checked. They may be more static than those
  /// of the op.
  SmallVector<Value> (*lower)(OpBuilder &builder, ContractionOpInterface op);
};

/// Null for a family without available ops.
const FamilyLowering *findLowering(StringRef family);

/// That psi is the tensors of a storage; an error at the op.
LogicalResult checkMaterialised(ContractionOpInterface op);

/// Replaces ops by what `lowering` makes of them, all of which were checked.
void replaceByLowering(
    ArrayRef<ContractionOpInterface> ops,
    function_ref<const FamilyLowering *(ContractionOpInterface op)> lowering);

} // namespace mlir::disco

#endif // DISCO_LIB_TRANSFORMS_LOWERING_FAMILYLOWERING_H
