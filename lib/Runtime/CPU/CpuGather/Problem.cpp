//===- Problem.cpp - checks of a call -------------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Problem.h"

#include "../../Core/Internal.h"
#include "../ThreadPool.h"
#include "Kernels.h"

#include <cinttypes>

using disco::runtime::DTypeName;
using disco::runtime::fail;

namespace disco::cpu_gather {

static disco_status checkRange(const char *what, int64_t low, int64_t high,
                               int64_t got) {
  if (got >= low && got <= high)
    return DISCO_OK;
  return fail(DISCO_INVALID_ARGUMENT,
              "expected %s to be in [%" PRId64 ", %" PRId64
              "], but got %" PRId64,
              what, low, high, got);
}

static disco_status checkFloat(const char *what, disco_dtype dtype) {
  if (dtype >= DISCO_F64 && dtype <= DISCO_BF16)
    return DISCO_OK;
  return fail(DISCO_INVALID_ARGUMENT,
              "expected %s to be a floating-point type, but got %s", what,
              DTypeName(dtype).text);
}

/// Sizes beyond this would overflow somewhere; no memory holds them.
static constexpr int64_t maxCount = int64_t(1) << 40;

static disco_status checkProduct(const char *what, int64_t a, int64_t b,
                                 int64_t c, int64_t &product) {
  if (__builtin_mul_overflow(a, b, &product) ||
      __builtin_mul_overflow(product, c, &product) || product > maxCount)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected %s to have at most 2^40 elements, but got %" PRId64
                " x %" PRId64 " x %" PRId64,
                what, a, b, c);
  return DISCO_OK;
}

static disco_status checkPsiNumbers(const disco_kernel_psi &psi,
                                    Problem &problem) {
  const bool isArcs = psi.form == DISCO_FORM_ARCS;
  const struct {
    const char *what;
    int64_t low, high, got;
  } ranges[] = {
      {"psi's form", DISCO_FORM_ARCS, DISCO_FORM_ONEHOT, psi.form},
      {"psi's adjoint flag", 0, isArcs ? 0 : 1, psi.adjoint},
      {"psi's number of basis functions", 1, 4096, psi.num_basis},
      {"psi's nlat of the in-points", isArcs ? 0 : 1, isArcs ? INT32_MAX : 1,
       psi.nlat_in},
      {"psi's nlon of the in-points", isArcs ? 1 : 0, INT32_MAX, psi.nlon_in},
      {"psi's nlat of the out-points", isArcs ? 0 : 1, isArcs ? INT32_MAX : 1,
       psi.nlat_out},
      {"psi's nlon of the out-points", isArcs ? 1 : 0, INT32_MAX, psi.nlon_out},
      {"psi's number of arcs", 0, isArcs ? INT32_MAX : 0, psi.num_arcs},
      {"psi's number of taps", 0, psi.form <= DISCO_FORM_CSR ? INT32_MAX : 0,
       psi.num_taps},
      {"psi's degree", 0, psi.form <= DISCO_FORM_CSR ? 0 : INT32_MAX,
       psi.degree}};
  for (const auto &range : ranges)
    if (disco_status s =
            checkRange(range.what, range.low, range.high, range.got))
      return s;
  if (psi.index_dtype != DISCO_I32 && psi.index_dtype != DISCO_I64)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected psi's index type to be i32 or i64, but got %s",
                DTypeName(psi.index_dtype).text);
  if (psi.form != DISCO_FORM_ONEHOT)
    if (disco_status s = checkFloat("psi's value type", psi.value_dtype))
      return s;
  if (isArcs) {
    if (psi.nlon_in % psi.nlon_out != 0 && psi.nlon_out % psi.nlon_in != 0)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected one nlon of psi to divide the other, but got "
                  "%" PRId64 " and %" PRId64,
                  psi.nlon_in, psi.nlon_out);
    problem.lattice = lesser(psi.nlon_in, psi.nlon_out);
    problem.stride = psi.nlon_in / problem.lattice;
    problem.phases = psi.nlon_out / problem.lattice;
  }
  problem.numBasis = psi.num_basis;
  problem.numIn = psi.nlat_in * psi.nlon_in;
  problem.numOut = psi.nlat_out * psi.nlon_out;
  int64_t taps;
  if (disco_status s =
          checkProduct("psi's values", psi.num_taps, psi.num_basis, 1, taps))
    return s;
  return checkProduct("psi's table", psi.degree,
                      psi.adjoint ? problem.numIn : problem.numOut,
                      psi.num_basis, taps);
}

static disco_status checkChannels(const disco_kernel_call &call,
                                  Problem &problem) {
  const bool mixes =
      call.op == DISCO_OP_CONV || call.op == DISCO_OP_CONV_WEIGHT_GRAD;
  problem.batch = call.batch;
  problem.channels = call.channels;
  problem.outChannels = mixes ? call.out_channels : call.channels;
  problem.groups = mixes ? call.groups : 1;
  const int64_t groups = problem.groups;
  if (groups < 1 || problem.channels % groups != 0 ||
      problem.outChannels % groups != 0)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected groups to divide the %" PRId64 " input and %" PRId64
                " output channels, but got %" PRId64,
                problem.channels, problem.outChannels, groups);
  problem.groupIn = problem.channels / groups;
  problem.groupOut = problem.outChannels / groups;
  int64_t fields, ignored;
  if (disco_status s = checkProduct("the batch", call.batch, call.channels,
                                    problem.numBasis, fields))
    return s;
  if (disco_status s = checkProduct("the weight", problem.outChannels,
                                    problem.groupIn, problem.numBasis, ignored))
    return s;
  const int64_t points = greater(problem.numIn, problem.numOut);
  if (disco_status s = checkProduct("a tensor", fields, points, 1, ignored))
    return s;
  return checkProduct("a tensor", call.batch * problem.outChannels, points, 1,
                      ignored);
}

static disco_status checkOrder(const disco_kernel_call &call) {
  const disco_schedule &schedule = call.schedule;
  if (disco_status s =
          checkRange("the order",
                     call.op == DISCO_OP_CONTRACT_SUM ? DISCO_WEIGHT_FIRST : 0,
                     call.op == DISCO_OP_CONTRACT ? DISCO_FILTER_FIRST
                                                  : DISCO_WEIGHT_FIRST,
                     schedule.order))
    return s;
  if (disco_status s = checkRange("the provider", DISCO_RUNTIME, DISCO_RUNTIME,
                                  schedule.provider))
    return s;
  return checkRange("the schedule's reserved field", 0, 0, schedule.reserved);
}

static disco_status readSchedule(const disco_kernel_call &call,
                                 Problem &problem) {
  const disco_schedule &schedule = call.schedule;
  const struct {
    const char *what;
    int64_t low, high, got;
  } ranges[] = {
      {"the layout of x", DISCO_NCHW, DISCO_NCHW, schedule.in_layout},
      {"the layout of y", DISCO_NCHW, DISCO_NCHW, schedule.out_layout}};
  for (const auto &range : ranges)
    if (disco_status s =
            checkRange(range.what, range.low, range.high, range.got))
      return s;
  if (schedule.num_fields == 0)
    return DISCO_OK;
  if (schedule.num_fields != DISCO_CPU_GATHER_NUM_FIELDS)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected the schedule to have 0 or %d fields, but got %d",
                DISCO_CPU_GATHER_NUM_FIELDS, schedule.num_fields);
  const struct {
    const char *what;
    int64_t &to;
  } fields[DISCO_CPU_GATHER_NUM_FIELDS] = {
      {"the schedule's tile", problem.tile},
      {"the schedule's channel block", problem.channelBlock}};
  for (int i = 0; i < DISCO_CPU_GATHER_NUM_FIELDS; ++i) {
    if (schedule.fields[i].id != i)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected field %d of the schedule to have id %d, but got "
                  "%" PRId64,
                  i, i, schedule.fields[i].id);
    if (disco_status s =
            checkRange(fields[i].what, 0, INT32_MAX, schedule.fields[i].value))
      return s;
    fields[i].to = schedule.fields[i].value;
  }
  return DISCO_OK;
}

static disco_status checkNumbers(const disco_kernel_call &call,
                                 Problem &problem) {
  const bool isConv = call.op == DISCO_OP_CONV;
  const bool mixes = isConv || call.op == DISCO_OP_CONV_WEIGHT_GRAD;
  const struct {
    const char *what;
    int64_t low, high, got;
  } ranges[] = {
      {"the operation", DISCO_OP_CONTRACT, DISCO_OP_CONV_WEIGHT_GRAD, call.op},
      {"activation", 0, isConv ? DISCO_ACTIVATION_SILU : 0, call.activation},
      {"transpose_weight", 0, isConv, call.transpose_weight},
      {"has_bias", 0, mixes, call.has_bias},
      {"has_residual", 0, isConv, call.has_residual},
      {"batch", 0, INT32_MAX, call.batch},
      {"channels", 0, INT32_MAX, call.channels},
      {"out_channels", 0, mixes ? INT32_MAX : 0, call.out_channels}};
  for (const auto &range : ranges)
    if (disco_status s =
            checkRange(range.what, range.low, range.high, range.got))
      return s;
  if (disco_status s = checkFloat("the element type", call.dtype))
    return s;
  const bool orF32 = call.dtype == DISCO_F16 || call.dtype == DISCO_BF16;
  if (mixes && call.weight_dtype != call.dtype &&
      (call.weight_dtype != DISCO_F32 || !orF32))
    return fail(DISCO_INVALID_ARGUMENT,
                "expected the weight's type to be that of the fields (%s)%s, "
                "but got %s",
                DTypeName(call.dtype).text, orF32 ? " or f32" : "",
                DTypeName(call.weight_dtype).text);
  problem.elementSize = runtime::sizeOfDType(call.dtype);
  if (disco_status s = checkOrder(call))
    return s;
  if (disco_status s = checkPsiNumbers(call.psi, problem))
    return s;
  return checkChannels(call, problem);
}

disco_status readNumbers(const disco_kernel_call *call, Problem &problem) {
  if (!call)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected the call to be a pointer, but got null");
  if (call->struct_size != sizeof *call)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected the call to have %zu bytes, but got %" PRIu64,
                sizeof *call, call->struct_size);
  problem.call = call;
  return checkNumbers(*call, problem);
}

disco_status readProblem(const disco_kernel_call *call, Problem &problem) {
  if (disco_status s = readNumbers(call, problem))
    return s;
  if (disco_status s =
          runtime::resolveThreads(call->num_threads, problem.numThreads))
    return s;
  if (disco_status s = checkIsa())
    return s;
  return readSchedule(*call, problem);
}

//===----------------------------------------------------------------------===//
// Pointers and tables
//===----------------------------------------------------------------------===//

static disco_status checkOffsets(const disco_kernel_psi &psi, int64_t rows,
                                 int64_t total) {
  int64_t last = 0;
  for (int64_t i = 0; i <= rows; ++i) {
    const int64_t offset = indexAt(psi.offsets, psi.index_dtype, i);
    if (offset < last || offset > (i == 0 ? 0 : total))
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected psi's offset %" PRId64 " to be in [%" PRId64
                  ", %" PRId64 "], but got %" PRId64,
                  i, last, i == 0 ? 0 : total, offset);
    last = offset;
  }
  if (last != total)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected psi's last offset to be %" PRId64
                ", but got %" PRId64,
                total, last);
  return DISCO_OK;
}

static disco_status checkArcs(const Problem &problem) {
  const disco_kernel_psi &psi = problem.call->psi;
  const int64_t rows = psi.nlat_out * problem.phases;
  if (disco_status s = checkOffsets(psi, rows, psi.num_arcs))
    return s;
  int64_t a = 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t lastLat = 0;
    const int64_t end = indexAt(psi.offsets, psi.index_dtype, row + 1);
    for (; a < end; ++a) {
      int64_t arc[4];
      for (int i = 0; i < 4; ++i)
        arc[i] = indexAt(psi.indices, psi.index_dtype, 4 * a + i);
      const struct {
        const char *what;
        int64_t low, high;
      } ranges[] = {{"latitude", lastLat, psi.nlat_in - 1},
                    {"start", 0, psi.nlon_in - 1},
                    {"length", 0, psi.nlon_in},
                    {"value offset", 0, psi.num_taps - arc[2]}};
      for (int i = 0; i < 4; ++i)
        if (arc[i] < ranges[i].low || arc[i] > ranges[i].high)
          return fail(DISCO_INVALID_ARGUMENT,
                      "expected the %s of psi's arc %" PRId64
                      " to be in [%" PRId64 ", %" PRId64 "], but got %" PRId64,
                      ranges[i].what, a, ranges[i].low, ranges[i].high, arc[i]);
      lastLat = arc[0];
    }
  }
  return DISCO_OK;
}

static disco_status checkPointIndices(const Problem &problem) {
  const disco_kernel_psi &psi = problem.call->psi;
  const bool isCsr = psi.form == DISCO_FORM_CSR;
  const int64_t rows = psi.adjoint ? problem.numIn : problem.numOut;
  const int64_t points = psi.adjoint ? problem.numOut : problem.numIn;
  const int64_t count = isCsr ? psi.num_taps : rows * psi.degree;
  if (isCsr)
    if (disco_status s = checkOffsets(psi, rows, psi.num_taps))
      return s;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = indexAt(psi.indices, psi.index_dtype, i);
    // In a table, the number of points itself marks padding.
    const int64_t high = isCsr ? points - 1 : points;
    if (index < 0 || index > high)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected psi's index %" PRId64 " to be in [0, %" PRId64
                  "], but got %" PRId64,
                  i, high, index);
    if (psi.form != DISCO_FORM_ONEHOT || index == points)
      continue;
    const int64_t bin = indexAt(psi.values, psi.index_dtype, i);
    if (bin < 0 || bin >= psi.num_basis)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected psi's bin %" PRId64 " to be in [0, %" PRId64
                  "], but got %" PRId64,
                  i, psi.num_basis - 1, bin);
  }
  return DISCO_OK;
}

/// An operand of some elements.
struct Operand {
  const char *what;
  const void *pointer;
  int64_t count;
  int64_t elementSize;

  uintptr_t begin() const { return reinterpret_cast<uintptr_t>(pointer); }
  uintptr_t end() const { return begin() + uintptr_t(count * elementSize); }
};

static disco_status checkPointer(const Operand &operand) {
  if (operand.count == 0)
    return DISCO_OK;
  if (!operand.pointer)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected %s to be a pointer, but got null", operand.what);
  if (operand.begin() % uintptr_t(operand.elementSize) != 0)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected %s to be aligned to its elements of %" PRId64
                " bytes, but got address %p",
                operand.what, operand.elementSize, operand.pointer);
  return DISCO_OK;
}

/// What is written must not be what is read.
static disco_status checkOverlap(const Operand &result, const Operand &other) {
  if (result.count == 0 || other.count == 0 || result.begin() >= other.end() ||
      other.begin() >= result.end())
    return DISCO_OK;
  return fail(DISCO_INVALID_ARGUMENT,
              "expected %s not to overlap %s, but got addresses %p and %p",
              result.what, other.what, result.pointer, other.pointer);
}

/// psi's offsets, indices and values.
struct PsiOperands {
  Operand all[3];
};
static PsiOperands psiOperands(const Problem &problem) {
  const disco_kernel_psi &psi = problem.call->psi;
  const bool isTable = psi.form >= DISCO_FORM_TABLE;
  const int64_t tableRows = psi.adjoint ? problem.numIn : problem.numOut;
  const int64_t rows =
      problem.isSphere() ? psi.nlat_out * problem.phases : tableRows;
  const int64_t entries = isTable ? tableRows * psi.degree : psi.num_taps;
  const bool isOneHot = psi.form == DISCO_FORM_ONEHOT;
  const int64_t indexSize = runtime::sizeOfDType(psi.index_dtype);
  return {{{"psi's offsets", psi.offsets, isTable ? 0 : rows + 1, indexSize},
           {"psi's indices", psi.indices,
            problem.isSphere() ? psi.num_arcs * 4 : entries, indexSize},
           {"psi's values", psi.values,
            isOneHot ? entries : entries * psi.num_basis,
            isOneHot ? indexSize : runtime::sizeOfDType(psi.value_dtype)}}};
}

disco_status checkPsi(const Problem &problem) {
  for (const Operand &p : psiOperands(problem).all)
    if (disco_status s = checkPointer(p))
      return s;
  return problem.isSphere() ? checkArcs(problem) : checkPointIndices(problem);
}

/// All tensors of a call.
struct CallOperands {
  Operand inputs[5]; ///< the last is the residual
  Operand results[2];
};
static CallOperands callOperands(const Problem &problem) {
  const disco_kernel_call &call = *problem.call;
  // The adjoint goes from the points of gy to those of x.
  const bool isAdjoint = call.op == DISCO_OP_CONV_WEIGHT_GRAD &&
                         call.schedule.order == DISCO_WEIGHT_FIRST;
  const int64_t in = problem.batch * problem.channels *
                     (isAdjoint ? problem.numOut : problem.numIn);
  const int64_t out = problem.batch * problem.outChannels *
                      (isAdjoint ? problem.numIn : problem.numOut);
  const int64_t weights = problem.outChannels * problem.groupIn;
  const bool isConv = call.op == DISCO_OP_CONV;
  const bool isGradient = call.op == DISCO_OP_CONV_WEIGHT_GRAD;
  const int64_t basis = problem.numBasis, size = problem.elementSize;
  const int64_t weightSize = runtime::sizeOfDType(call.weight_dtype);
  const int64_t biases =
      call.has_bias && (isConv || isGradient) ? problem.outChannels : 0;
  return {
      {{"x", call.x, call.op == DISCO_OP_CONTRACT_SUM ? in * basis : in, size},
       {"gy", call.gy, isGradient ? out : 0, size},
       {"weight", call.weight, isConv ? weights * basis : 0, weightSize},
       {"bias", call.bias, isConv ? biases : 0, weightSize},
       {"residual", call.residual, call.has_residual ? out : 0, size}},
      {{"y", call.y,
        isGradient                     ? weights * basis
        : call.op == DISCO_OP_CONTRACT ? out * basis
                                       : out,
        isGradient ? weightSize : size},
       {"grad_bias", call.grad_bias, isGradient ? biases : 0, weightSize}}};
}

disco_status checkOperands(const Problem &problem) {
  if (disco_status s = checkPsi(problem))
    return s;
  const PsiOperands psi = psiOperands(problem);
  const CallOperands call = callOperands(problem);
  for (const Operand &p : call.inputs)
    if (disco_status s = checkPointer(p))
      return s;
  for (const Operand &p : call.results)
    if (disco_status s = checkPointer(p))
      return s;
  for (const Operand &result : call.results) {
    for (const Operand &operand : call.inputs)
      // An element of the residual is read before that of y is written.
      if (&operand != &call.inputs[4] || result.pointer != operand.pointer)
        if (disco_status s = checkOverlap(result, operand))
          return s;
    for (const Operand &table : psi.all)
      if (disco_status s = checkOverlap(result, table))
        return s;
  }
  return checkOverlap(call.results[0], call.results[1]);
}

disco_status checkWorkspace(const Problem &problem, const void *workspace,
                            uint64_t bytes) {
  const Operand space = {"workspace", workspace, static_cast<int64_t>(bytes),
                         1};
  const PsiOperands psi = psiOperands(problem);
  const CallOperands call = callOperands(problem);
  for (const Operand &operand : call.inputs)
    if (disco_status s = checkOverlap(space, operand))
      return s;
  for (const Operand &operand : call.results)
    if (disco_status s = checkOverlap(space, operand))
      return s;
  for (const Operand &table : psi.all)
    if (disco_status s = checkOverlap(space, table))
      return s;
  return DISCO_OK;
}

} // namespace disco::cpu_gather
