//===- Interfaces.h - parts of registerInterfaces ---------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_DIALECT_DISCO_INTERFACES_INTERFACES_H
#define DISCO_LIB_DIALECT_DISCO_INTERFACES_INTERFACES_H

namespace mlir {
class LLVMTypeConverter;
class MLIRContext;
class RewritePatternSet;
} // namespace mlir

namespace mlir::disco {

/// Bufferization.
void attachKernelInterfaces(MLIRContext &context);
void attachProbeInterfaces(MLIRContext &context);

/// Conversion to the LLVM dialect.
void populateKernelToLLVM(const LLVMTypeConverter &converter,
                          RewritePatternSet &patterns);
void populateProbeToLLVM(const LLVMTypeConverter &converter,
                         RewritePatternSet &patterns);

} // namespace mlir::disco

#endif // DISCO_LIB_DIALECT_DISCO_INTERFACES_INTERFACES_H
