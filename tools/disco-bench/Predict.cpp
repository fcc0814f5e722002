//===- Predict.cpp - what planning's cost model says ----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure.h"

#include "disco/Planning/Selection.h"

namespace disco::bench {

using planning::Target;
using planning::TargetField;

/// The known processor with these instructions, with the rates that were
/// measured.
static Result<Target> targetOf(const Machine &machine, DType dtype) {
  Result<Target> target =
      planning::lookupTarget(machine.isa == "avx512" ? "avx512" : "avx2");
  if (!target)
    return target;
  const auto set = [&](TargetField field, double value) {
    target->values[static_cast<size_t>(field)] = value;
  };
  if (machine.isa == "baseline")
    set(TargetField::vector_bytes, 16);
  const double cores = machine.threads;
  set(TargetField::l2_gbps,
      (*target)[TargetField::l2_gbps] * cores / (*target)[TargetField::cores]);
  set(TargetField::cores, cores);
  set(TargetField::dram_gbps, machine.copyGbs);
  const double flops = machine.fmaGflops * (dtype == DType::f64 ? 2 : 1);
  set(TargetField::fma_f32_tflops, flops / 1e3);
  set(TargetField::fma_f64_tflops, flops / 2e3);
  // Two units that each multiply and add a vector a clock.
  set(TargetField::clock_ghz,
      flops / cores / (*target)[TargetField::vector_bytes]);
  return target;
}

Result<double> predictMs(const KernelFamily &family, const LayerPsi &psi,
                         const Work &work, const Settings &settings,
                         const Machine &machine) {
  Result<Target> target = targetOf(machine, settings.dtype);
  if (!target)
    return target.error();
  // Planning describes a weight gradient by the filter of its layer, whichever
  // side is filtered.
  const bool isLayers =
      work.op == DISCO_OP_CONV_WEIGHT_GRAD || work.tables == &psi.tables;
  planning::Problem problem = isLayers ? psi.problem : psi.adjointProblem;
  problem.op = work.op;
  problem.direction = work.op == DISCO_OP_CONV_WEIGHT_GRAD
                          ? DISCO_WEIGHT_GRADIENT
                          : DISCO_FORWARD;
  if (work.op == DISCO_OP_CONV_WEIGHT_GRAD)
    problem.adjoint = psi.adjointProblem.filter;
  problem.dtype = problem.parameter_dtype =
      static_cast<disco_dtype>(settings.dtype);
  problem.batch = work.batch;
  problem.channels = work.channels;
  problem.out_channels = work.outChannels;
  problem.groups = work.groups;
  planning::SelectionOptions options;
  options.family = family.name;
  options.provider = DISCO_RUNTIME;
  options.includePlanned = true;
  options.order =
      work.op == DISCO_OP_CONTRACT_SUM ? DISCO_WEIGHT_FIRST : work.order;
  Result<planning::Selection> selection =
      planning::select(problem, *target, options);
  if (!selection)
    return selection.error();
  return selection->winner.microseconds() / 1e3;
}

} // namespace disco::bench
