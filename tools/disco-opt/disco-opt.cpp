//===- disco-opt.cpp - run passes and pipelines on MLIR files ------*- C++
//-*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/InitAll.h"
#include "disco/Planning/Target.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/raw_ostream.h"

/// Prints the table that a lone --list-... asks for.
static bool printTable(llvm::StringRef option) {
  if (option == "--list-kernel-families")
    mlir::disco::printKernelFamilies(llvm::outs());
  else if (option == "--list-targets")
    llvm::outs() << disco::planning::listTargets();
  else
    return false;
  return true;
}

int main(int argc, char **argv) {
  if (argc == 2 && printTable(argv[1]))
    return 0;
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  disco::registerAllDialects(registry);
  disco::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Disco optimizer driver\n", registry));
}
