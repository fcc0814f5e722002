//===- ProbeText.cpp - what steps compute ---------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Transforms/Steps.h"

using namespace mlir;
using namespace mlir::disco;

static StringRef nameOf(int32_t layout) {
  return stringifyLayout(static_cast<Layout>(layout));
}

/// Points as tensors of the step have them: two numbers on a sphere, else one.
static std::string getPoints(const disco_kernel_psi &psi, bool out) {
  int64_t nlat = out ? psi.nlat_out : psi.nlat_in;
  int64_t nlon = out ? psi.nlon_out : psi.nlon_in;
  std::string text = std::to_string(nlon);
  return psi.form == DISCO_FORM_ARCS ? std::to_string(nlat) + "x" + text : text;
}

std::string mlir::disco::getProbeText(const Step &step) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!step.call) {
    const disco_repack &repack = step.repack;
    os << "kind=repack x=" << nameOf(repack.from_layout)
       << " y=" << nameOf(repack.to_layout) << " channels=" << repack.channels;
    return text;
  }
  disco_kernel_call call = step.call.getCall();
  const disco_kernel_psi &psi = call.psi;
  PlanAttr plan = step.call.getPlan();
  bool isGradient = call.op == DISCO_OP_CONV_WEIGHT_GRAD;
  os << "kind=" << stringifyKernelKind(step.call.getKind())
     << " groups=" << call.groups
     << " activation=" << stringifyActivation(step.call.getActivation())
     << " order=" << stringifyOrder(plan.getOrder())
     << " bias=" << call.has_bias << " residual=" << call.has_residual
     << " transpose_weight=" << call.transpose_weight
     << " form=" << stringifyStorageForm(step.call.getStorage().getForm())
     << " k=" << psi.num_basis;
  // The stored operator, whose transpose the kernel may apply; with the weight
  // first, a weight gradient's kernel applies that of psi.
  bool adjoint = psi.adjoint != 0;
  os << " in=" << getPoints(psi, /*out=*/adjoint)
     << " out=" << getPoints(psi, /*out=*/!adjoint);
  if (psi.degree)
    os << " degree=" << psi.degree;
  bool reversed = isGradient && plan.getOrder() == Order::weight_first;
  os << " adjoint=" << (adjoint != reversed ? 1 : 0)
     << " x=" << nameOf(call.schedule.in_layout)
     << " y=" << nameOf(call.schedule.out_layout)
     << " channels=" << call.channels << " family=" << plan.getFamily();
  return text;
}
