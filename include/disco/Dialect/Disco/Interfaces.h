//===- Interfaces.h - how upstream passes treat disco ops -------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_DIALECT_DISCO_INTERFACES_H
#define DISCO_DIALECT_DISCO_INTERFACES_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::disco {

/// Probes and calls of kernels can be bufferized, and converted by
/// convert-to-llvm.
void registerInterfaces(DialectRegistry &registry);

} // namespace mlir::disco

#endif // DISCO_DIALECT_DISCO_INTERFACES_H
