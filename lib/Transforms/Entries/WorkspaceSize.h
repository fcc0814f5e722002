//===- WorkspaceSize.h - sizes of buffers as arithmetic ---------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_TRANSFORMS_ENTRIES_WORKSPACESIZE_H
#define DISCO_LIB_TRANSFORMS_ENTRIES_WORKSPACESIZE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::disco {

/// Bytes of a buffer: a constant times the product of some values of the entry,
/// each a function of the inputs' dimensions.
struct BufferSize {
  int64_t staticBytes = 0;
  SmallVector<Value> dims;

  bool hasSameDims(const BufferSize &other) const { return dims == other.dims; }
  /// Whether it is what a kernel of the runtime asks for.
  bool isKernelWorkspace() const;

  /// Emits an error at `alloc` when its size is not such a product.
  static FailureOr<BufferSize> compute(memref::AllocOp alloc,
                                       func::FuncOp entry);
};

/// Emits sizes at the insertion point of a builder, in the entry or in a
/// function with the same inputs; keeps track of overflow.
class SizeEmitter {
public:
  SizeEmitter(OpBuilder &builder, Location loc, func::FuncOp entry,
              Block &target);

  /// All values are i64, except dims, which are of index type.
  Value constant(int64_t value);
  SmallVector<Value> emitDims(const BufferSize &size);
  /// Rounded up to the alignment.
  Value emitSize(const BufferSize &size);
  Value max(Value a, Value b);
  Value add(Value a, Value b);
  /// `value`; -1 when something has overflowed; -2 when a kernel of the runtime
  /// has refused its call, and said why.
  Value orFailure(Value value);

private:
  Value multiply(Value a, Value b);
  Value cloneIndex(Value value);
  void noteOverflow(Value flag);

  OpBuilder &builder;
  Location loc;
  IRMapping mapping;
  Value overflow, refusal;
};

} // namespace mlir::disco

#endif // DISCO_LIB_TRANSFORMS_ENTRIES_WORKSPACESIZE_H
