//===- WorkspaceTest.cpp - workspace of plans and of kernels --------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The workspace that a cost states, for as many threads as the target has
// cores, is what the kernels of the runtime ask for. Only structs that lead to
// the buffers are left out, so that the two agree to a few percent.
//
//===----------------------------------------------------------------------===//

#include "TestProblems.h"

#include "disco/ABI/Kernel.h"

#include <gtest/gtest.h>

using namespace disco;
using namespace disco::planning;
using namespace disco::planning::test;

namespace {

/// The row of the processor that this runs on; none where there are no vectors
/// that a row has.
Result<Target> hostTarget() { return lookupTarget(disco_cpu_gather_isa()); }

/// The call of a problem, without pointers.
disco_kernel_call callOf(const Problem &p, const Target &target,
                         const Schedule &s) {
  const AppliedFilter applied = appliedFilter(p, s.order);
  const Problem &a = applied.problem;
  disco_kernel_call call = {};
  call.struct_size = sizeof call;
  call.op = p.op;
  call.dtype = p.dtype;
  call.num_threads = static_cast<int32_t>(target[TargetField::cores]);
  call.batch = p.batch;
  call.channels = p.channels;
  if (p.op >= DISCO_OP_CONV) {
    call.weight_dtype = p.parameter_dtype;
    call.out_channels = p.out_channels;
    call.groups = p.groups;
  }
  call.schedule = s;
  disco_kernel_psi &psi = call.psi;
  psi.form = p.structure == DISCO_SPHERE  ? DISCO_FORM_ARCS
             : p.structure == DISCO_TABLE ? DISCO_FORM_TABLE
                                          : DISCO_FORM_CSR;
  psi.index_dtype = DISCO_I32;
  psi.value_dtype = p.dtype;
  psi.num_basis = p.num_basis;
  const bool isSphere = p.structure == DISCO_SPHERE;
  psi.nlat_in = isSphere ? a.in_shape[0] : 1;
  psi.nlon_in = a.in_shape[isSphere ? 1 : 0];
  psi.nlat_out = isSphere ? a.out_shape[0] : 1;
  psi.nlon_out = a.out_shape[isSphere ? 1 : 0];
  psi.num_arcs = isSphere ? a.filter.arcs : 0;
  psi.num_taps = p.structure == DISCO_TABLE ? 0 : a.filter.taps;
  psi.degree = p.structure == DISCO_TABLE ? a.filter.max_taps : 0;
  return call;
}

/// Compares all candidates of all orders; returns their number.
int compare(const Problem &p, const Target &target, const std::string &what) {
  const Family &family = *findFamily("cpu_gather");
  int compared = 0;
  for (int32_t order = 0; order < DISCO_NUM_ORDERS; ++order) {
    if (checkFamily(family, p, target, order))
      continue;
    std::vector<Schedule> schedules;
    family.impl->candidates(p, target, order, DISCO_RUNTIME, schedules);
    for (const Schedule &s : schedules) {
      const disco_kernel_call call = callOf(p, target, s);
      uint64_t bytes = 0;
      EXPECT_EQ(disco_cpu_gather_workspace_bytes(&call, &bytes), DISCO_OK)
          << what << ": " << disco_last_error();
      const auto needed = static_cast<double>(bytes);
      EXPECT_NEAR(family.impl->cost(p, target, s).workspaceBytes, needed,
                  0.05 * needed)
          << what << ", " << toString(p) << ", " << nameOfOrder(order) << ", "
          << fieldsToString(s, family.fields());
      ++compared;
    }
  }
  return compared;
}

} // namespace

TEST(Workspace, OfTheNamedLayersIsWhatKernelsAskFor) {
  Result<Target> target = hostTarget();
  if (!target)
    GTEST_SKIP() << target.message();
  int compared = 0;
  for (const char *name :
       {"self256", "down", "local828", "encoder", "decoder", "deg1"})
    for (DType dtype : {DType::f32, DType::f64, DType::bf16})
      for (int32_t direction :
           {DISCO_FORWARD, DISCO_INPUT_GRADIENT, DISCO_WEIGHT_GRADIENT}) {
        const Problem p = layer(name, dtype, direction);
        compared += compare(p, *target, name);
        if (direction == DISCO_WEIGHT_GRADIENT)
          continue;
        compared += compare(as(DISCO_OP_CONTRACT, p), *target, name);
        compared += compare(as(DISCO_OP_CONTRACT_SUM, p), *target, name);
      }
  EXPECT_GT(compared, 6 * 3 * 3 * 3);
}

TEST(Workspace, OfPointsIsWhatKernelsAskFor) {
  Result<Target> target = hostTarget();
  if (!target)
    GTEST_SKIP() << target.message();
  int compared = 0;
  for (int32_t structure : {DISCO_TABLE, DISCO_CSR})
    for (int32_t op = 0; op < DISCO_NUM_OPS; ++op)
      for (DType dtype : {DType::f32, DType::f64}) {
        Problem p = makeProblem(op);
        p.structure = structure;
        p.num_basis = 9;
        p.in_shape[0] = 16384;
        p.out_shape[0] = 4096;
        p.in_shape[1] = p.out_shape[1] = 1;
        p.batch = 2;
        p.channels = 40;
        p.out_channels = op >= DISCO_OP_CONV ? 24 : 40;
        p.groups = op >= DISCO_OP_CONV ? 2 : 1;
        setDType(p, dtype);
        p.filter = assumedCounts(structure, 9, p.in_shape, p.out_shape, 8);
        if (op == DISCO_OP_CONV_WEIGHT_GRAD)
          p.adjoint = spreadCounts(structure, 9, p.out_shape, p.in_shape,
                                   p.filter.taps);
        compared += compare(p, *target, "points");
      }
  EXPECT_GT(compared, 2 * 4 * 2);
}
