//===- ToeplitzWgmma.cpp - toeplitz_wgmma as calls of the CUDA runtime --===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../FamilyLowering.h"
#include "../KernelCalls.h"

using namespace mlir;
using namespace mlir::disco;

/// Operands are nchw, whatever the kernels read and write: they pack.
static LogicalResult checkPlan(ContractionOpInterface op) {
  auto plan = op->getAttrOfType<PlanAttr>("plan");
  return checkNchw(op, {plan.getInLayout(), plan.getOutLayout()});
}

static SmallVector<Value> lower(OpBuilder &builder, ContractionOpInterface op) {
  return emitKernelCall(builder, op);
}

namespace mlir::disco::lowerings {
extern const FamilyLowering toeplitz_wgmma;
const FamilyLowering toeplitz_wgmma = {Provider::runtime, checkPlan, lower};
} // namespace mlir::disco::lowerings
