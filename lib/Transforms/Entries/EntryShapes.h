//===- EntryShapes.h - shapes of an entry's tensors -------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_TRANSFORMS_ENTRIES_ENTRYSHAPES_H
#define DISCO_LIB_TRANSFORMS_ENTRIES_ENTRYSHAPES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::disco {

/// What is known about the shapes of an entry's inputs and outputs. Negative
/// dimensions are dynamic; those below -1 are names of sizes.
struct EntryShapes {
  SmallVector<SmallVector<int64_t>> inputDims, outputDims;
  /// (inputs as `memrefTypes`, memref<nxi64>) -> (): writes the dimensions of
  /// all outputs. Not yet in a module.
  func::FuncOp function;

  /// Emits errors where shapes depend on data, or may not agree.
  static FailureOr<EntryShapes> compute(func::FuncOp entry, StringRef name,
                                        ArrayRef<Type> memrefTypes);
};

} // namespace mlir::disco

#endif // DISCO_LIB_TRANSFORMS_ENTRIES_ENTRYSHAPES_H
