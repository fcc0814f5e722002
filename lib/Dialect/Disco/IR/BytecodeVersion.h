//===- BytecodeVersion.h - versions of the dialect's bytecode ---*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   1  the first
//   2  conv and conv_weight_grad have a precision, conv_weight_grad says
//      whether it is deterministic
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_DIALECT_DISCO_IR_BYTECODEVERSION_H
#define DISCO_LIB_DIALECT_DISCO_IR_BYTECODEVERSION_H

#include "disco/Dialect/Disco/Disco.h"

#include "mlir/Bytecode/BytecodeImplementation.h"

namespace mlir::disco {

/// The version that a bytecode file was written with.
struct DiscoDialectVersion : public DialectVersion {
  explicit DiscoDialectVersion(int64_t version) : version(version) {}
  int64_t version;
};

/// The version that is being read; the current one where the file has none.
inline int64_t getVersion(DialectBytecodeReader &reader) {
  FailureOr<const DialectVersion *> version =
      reader.getDialectVersion<DiscoDialect>();
  return succeeded(version)
             ? static_cast<const DiscoDialectVersion *>(*version)->version
             : kBytecodeVersion;
}

} // namespace mlir::disco

#endif // DISCO_LIB_DIALECT_DISCO_IR_BYTECODEVERSION_H
