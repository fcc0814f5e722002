//===- Choices.cpp - what a schedule of csr_gather says -------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Choices.h"

#include "../Core/Family.h"
#include "disco/ABI/Families/CsrGather.h"

#include <cinttypes>

namespace disco::cuda::csr {

/// Fields that a schedule does not have are 0.
static disco_status readFields(const disco_schedule &schedule,
                               int64_t (&values)[DISCO_CSR_GATHER_NUM_FIELDS]) {
  for (int32_t i = 0; i < schedule.num_fields; ++i) {
    const disco_schedule_field &field = schedule.fields[i];
    if (field.id < 0 || field.id >= DISCO_CSR_GATHER_NUM_FIELDS)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected the fields of a schedule of csr_gather to have ids "
                  "from 0 to %d, but got %" PRId64,
                  DISCO_CSR_GATHER_NUM_FIELDS - 1, field.id);
    values[field.id] = field.value;
  }
  return DISCO_OK;
}

disco_status readChoices(const disco_kernel_call &call, Choices &choices) {
  int64_t values[DISCO_CSR_GATHER_NUM_FIELDS] = {};
  if (disco_status s = readFields(call.schedule, values))
    return s;
  int64_t fields = values[DISCO_CSR_GATHER_FIELDS];
  const int64_t features = values[DISCO_CSR_GATHER_FEATURES];
  const int64_t block = values[DISCO_CSR_GATHER_BLOCK_MIB];
  const bool mixes =
      call.op == DISCO_OP_CONV || call.op == DISCO_OP_CONV_WEIGHT_GRAD;
  const bool isSum =
      call.op == DISCO_OP_CONTRACT_SUM ||
      (call.op == DISCO_OP_CONV && call.schedule.order == DISCO_WEIGHT_FIRST);
  const bool isSphere = call.psi.form == DISCO_FORM_ARCS;
  const bool isF64 = call.dtype == DISCO_F64;
  if (fields != 0 &&
      !disco_csr_gather_has_fields(isSphere, isSum, isF64, fields))
    return fail(
        DISCO_INVALID_ARGUMENT,
        "expected the schedule's fields to be a number that csr_gather has a "
        "kernel for, at most %" PRId64 ", but got %" PRId64,
        disco_csr_gather_max_fields(isSphere, isSum, isF64), fields);
  if (features != 0) {
    if (!isSphere || isSum)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected the schedule's features to be 0 where csr_gather "
                  "does not contract on a sphere, but got %" PRId64,
                  features);
    if (fields == 0 && features != 9)
      fields = disco_csr_gather_max_fields(isSphere, isSum, isF64);
    if (!disco_csr_gather_has_features(isF64, fields, features))
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected the schedule's features to be a number that "
                  "csr_gather has a kernel for with %" PRId64
                  " fields, but got %" PRId64,
                  fields, features);
  }
  if (block < 0 || block > DISCO_CSR_GATHER_MAX_BLOCK_MIB ||
      (block != 0 && !mixes))
    return fail(DISCO_INVALID_ARGUMENT,
                "expected the schedule's block_mib to be from 0 to %d, but got "
                "%" PRId64,
                mixes ? DISCO_CSR_GATHER_MAX_BLOCK_MIB : 0, block);
  choices.fields = static_cast<int32_t>(fields);
  choices.features = static_cast<int32_t>(features);
  choices.blockBytes =
      (block ? block : int64_t(DISCO_CSR_GATHER_DEFAULT_BLOCK_MIB)) << 20;
  return DISCO_OK;
}

} // namespace disco::cuda::csr
