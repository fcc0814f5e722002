//===- Interfaces.cpp - how upstream passes treat disco ops ---------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Dialect/Disco/Interfaces.h"

#include "Interfaces.h"
#include "disco/Dialect/Disco/Disco.h"

#include "mlir/Conversion/ConvertToLLVM/ToLLVMInterface.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::disco;

namespace {
/// A dialect has one of these for all of its ops.
struct DiscoToLLVM : public ConvertToLLVMPatternInterface {
  using ConvertToLLVMPatternInterface::ConvertToLLVMPatternInterface;
  void loadDependentDialects(MLIRContext *context) const final {
    context->loadDialect<LLVM::LLVMDialect>();
  }
  void populateConvertToLLVMConversionPatterns(
      ConversionTarget &target, LLVMTypeConverter &converter,
      RewritePatternSet &patterns) const final {
    populateKernelToLLVM(converter, patterns);
    populateProbeToLLVM(converter, patterns);
  }
};
} // namespace

void mlir::disco::registerInterfaces(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DiscoDialect *dialect) {
    attachKernelInterfaces(*context);
    attachProbeInterfaces(*context);
    dialect->addInterfaces<DiscoToLLVM>();
  });
}
