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

/// The kernels pack what is nchw.
static LogicalResult checkPlan(ContractionOpInterface op) {
  auto plan = op->getAttrOfType<PlanAttr>("plan");
  return checkLayouts(op, {plan.getInLayout(), plan.getOutLayout()},
                      {Layout::nchw, Layout::c8});
}

static SmallVector<Value> lower(OpBuilder &builder, ContractionOpInterface op) {
  return emitKernelCall(builder, op);
}

namespace mlir::disco::lowerings {
extern const FamilyLowering toeplitz_wgmma;
const FamilyLowering toeplitz_wgmma = {Provider::runtime, checkPlan, lower};
} // namespace mlir::disco::lowerings
