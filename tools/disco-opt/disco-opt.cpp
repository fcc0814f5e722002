//===- disco-opt.cpp - run passes and pipelines on MLIR files -------------===//
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
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  llvm::cl::opt<bool> listKernelFamilies(
      "list-kernel-families",
      llvm::cl::desc("Print the kernel families: what they serve, their rules, "
                     "fields and sources; do nothing else"));
  llvm::cl::opt<bool> listTargets(
      "list-targets",
      llvm::cl::desc("Print the chips with every number and its source; do "
                     "nothing else"));
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  disco::registerAllDialects(registry);
  disco::registerAllPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Disco optimizer driver\n", registry);
  if (listKernelFamilies)
    mlir::disco::printKernelFamilies(llvm::outs());
  if (listTargets)
    llvm::outs() << disco::planning::listTargets();
  if (listKernelFamilies || listTargets)
    return 0;
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry));
}
