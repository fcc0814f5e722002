//===- CpuGather.cpp - the entry points of the family ---------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../Core/Internal.h"
#include "../ThreadPool.h"
#include "Kernels.h"
#include "Operations.h"
#include "Points.h"
#include "Sphere.h"

#include <cinttypes>
#include <new>

using disco::runtime::fail;

namespace disco::cpu_gather {

template <typename T>
Source<T> *makeSource(const Problem &problem, const Kernels<T> &kernels,
                      const Field &field, Slot &slot) {
  static_assert(sizeof(SphereSource<T>) <= sizeof(Slot) &&
                sizeof(PointSource<T>) <= sizeof(Slot));
  if (problem.isSphere())
    return new (slot.bytes) SphereSource<T>(problem, kernels, field);
  return new (slot.bytes) PointSource<T>(problem, kernels, field);
}

namespace {

/// The field that is filtered.
Field filteredField(const Problem &problem) {
  const disco_kernel_call &call = *problem.call;
  const bool isGradient = call.op == DISCO_OP_CONV_WEIGHT_GRAD &&
                          call.schedule.order == DISCO_WEIGHT_FIRST;
  return {isGradient ? call.gy : call.x, call.dtype, problem.elementSize,
          isGradient ? problem.outChannels : problem.channels, problem.numIn};
}

/// The operation of a call, in its own storage.
template <typename T> class Plan {
public:
  Plan(const Problem &problem, const Kernels<T> &kernels) {
    const disco_kernel_call &call = *problem.call;
    const bool sums =
        call.op == DISCO_OP_CONTRACT_SUM ||
        (call.op == DISCO_OP_CONV && call.schedule.order == DISCO_WEIGHT_FIRST);
    if (sums) {
      operation = problem.isSphere()
                      ? makeSphereSum(problem, kernels, operationSlot)
                      : makePointSum(problem, kernels, operationSlot);
      return;
    }
    source = makeSource(problem, kernels, filteredField(problem), sourceSlot);
    operation = call.op == DISCO_OP_CONTRACT
                    ? makeContract(problem, kernels, *source, operationSlot)
                : call.op == DISCO_OP_CONV
                    ? makeFilterFirst(problem, kernels, *source, operationSlot)
                    : makeWeightGrad(problem, kernels, *source, operationSlot);
  }
  ~Plan() {
    operation->~Operation();
    if (source)
      source->~Source<T>();
  }
  Plan(const Plan &) = delete;

  void layout(Arena &arena) { operation->layout(arena); }
  void run() { operation->run(); }

private:
  Slot operationSlot, sourceSlot;
  Operation *operation = nullptr;
  Source<T> *source = nullptr;
};

/// Calls body(plan) with sums of the right type.
template <typename Body>
disco_status withPlan(const Problem &problem, Body &&body) {
  const KernelSet &set = selectKernels();
  if (problem.call->dtype == DISCO_F64) {
    Plan<double> plan(problem, set.f64);
    return body(plan);
  }
  Plan<float> plan(problem, set.f32);
  return body(plan);
}

template <typename P> disco_status measure(P &plan, uint64_t &bytes) {
  Arena arena(nullptr);
  plan.layout(arena);
  if (arena.overflowed())
    return fail(DISCO_INVALID_ARGUMENT,
                "expected the workspace to have fewer than 2^64 bytes, but it "
                "needs more");
  bytes = arena.size();
  return DISCO_OK;
}

template <typename P>
disco_status runIn(const Problem &problem, P &plan, void *workspace,
                   uint64_t given) {
  uint64_t needed = 0;
  if (disco_status s = measure(plan, needed))
    return s;
  if (given < needed)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected workspace to have at least %" PRIu64
                " bytes, but got %" PRIu64,
                needed, given);
  if (!workspace && needed > 0)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected workspace to have %" PRIu64 " bytes, but got null",
                needed);
  if (reinterpret_cast<uintptr_t>(workspace) % DISCO_ALIGNMENT != 0)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected workspace to be aligned to %d bytes, but got address "
                "%p",
                DISCO_ALIGNMENT, workspace);
  if (disco_status s = checkWorkspace(problem, workspace, needed))
    return s;
  Arena arena(workspace);
  plan.layout(arena);
  plan.run();
  return DISCO_OK;
}

} // namespace

} // namespace disco::cpu_gather

using namespace disco::cpu_gather;

disco_status disco_cpu_gather_workspace_bytes(const disco_kernel_call *call,
                                              uint64_t *bytes) {
  return disco::runtime::guarded([&]() -> disco_status {
    if (!bytes)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected bytes to be a pointer, but got null");
    Problem problem;
    if (disco_status s = readProblem(call, problem))
      return s;
    return withPlan(problem, [&](auto &plan) { return measure(plan, *bytes); });
  });
}

disco_status disco_cpu_gather_run(const disco_kernel_call *call,
                                  void *workspace, uint64_t workspace_bytes) {
  return disco::runtime::guarded([&]() -> disco_status {
    Problem problem;
    if (disco_status s = readProblem(call, problem))
      return s;
    if (disco_status s = checkOperands(problem))
      return s;
    return withPlan(problem, [&](auto &plan) {
      return runIn(problem, plan, workspace, workspace_bytes);
    });
  });
}

disco_status disco_cpu_gather_threads(int32_t num_threads, int32_t *count) {
  return disco::runtime::guarded([&]() -> disco_status {
    if (!count)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected count to be a pointer, but got null");
    if (disco_status s = checkIsa())
      return s;
    return disco::runtime::resolveThreads(num_threads, *count);
  });
}

const char *disco_cpu_gather_isa(void) { return selectKernels().name; }
