//===- CpuGather.cpp - cpu_gather as calls of the host's runtime --------===//
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

/// The kernels see [batch, channels, points...].
static LogicalResult checkPlan(ContractionOpInterface op) {
  auto plan = op->getAttrOfType<PlanAttr>("plan");
  return checkLayouts(op,
                      {plan.getInLayout(), plan.getOutLayout(),
                       plan.getKernelInLayout(), plan.getKernelOutLayout()},
                      Layout::nchw);
}

static SmallVector<Value> lower(OpBuilder &builder, ContractionOpInterface op) {
  return emitKernelCall(builder, op);
}

namespace mlir::disco::lowerings {
extern const FamilyLowering cpu_gather;
const FamilyLowering cpu_gather = {Provider::runtime, checkPlan, lower};
} // namespace mlir::disco::lowerings
