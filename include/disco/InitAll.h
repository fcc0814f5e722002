//===- InitAll.h - registration of everything in the project -------*- C++
//-*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_INITALL_H
#define DISCO_INITALL_H

#include "disco/Dialect/Disco/Disco.h"
#include "disco/Dialect/Disco/Interfaces.h"
#include "disco/Transforms/Passes.h"

namespace disco {

inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::disco::DiscoDialect>();
  mlir::disco::registerInterfaces(registry);
}

inline void registerAllPasses() {
  mlir::disco::registerDiscoPasses();
  mlir::disco::registerDiscoPipelines();
}

} // namespace disco

#endif // DISCO_INITALL_H
