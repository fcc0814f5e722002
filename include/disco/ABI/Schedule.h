/*===- Schedule.h - how one op is run, as plain data ----------------*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * The choices within one kernel family: what the cost model scored is what the
 * lowering emits and what the runtime launches. The fields are those of the
 * family's field table (disco/Planning/Family.h), by index, all of them and in
 * that order.
 *
 *===------------------------------------------------------------------------===*/

#ifndef DISCO_ABI_SCHEDULE_H
#define DISCO_ABI_SCHEDULE_H

#include "disco/ABI/Problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The association order of filter and channel mix. filter_first filters x
 * (C fields), weight_first mixes channels first and filters O fields. For
 * conv_weight_grad: filter_first filters x, weight_first filters gy with the
 * adjoint. contract is filter_first, contract_sum weight_first. */
enum { DISCO_FILTER_FIRST = 0, DISCO_WEIGHT_FIRST = 1, DISCO_NUM_ORDERS = 2 };

/** Where the kernel's code comes from. */
enum { DISCO_CODEGEN = 0, DISCO_RUNTIME = 1, DISCO_NUM_PROVIDERS = 2 };

/** Largest number of fields of a family. */
#define DISCO_MAX_SCHEDULE_FIELDS 16

typedef struct disco_schedule_field {
  int64_t id; /**< index in the family's field table */
  int64_t value;
} disco_schedule_field;

typedef struct disco_schedule {
  int32_t order;    /**< DISCO_FILTER_FIRST or DISCO_WEIGHT_FIRST */
  int32_t provider; /**< DISCO_CODEGEN or DISCO_RUNTIME */
  /** The layouts that the kernel reads x and writes y in. */
  int32_t in_layout, out_layout;
  int32_t num_fields;
  int32_t reserved; /**< 0 */
  disco_schedule_field fields[DISCO_MAX_SCHEDULE_FIELDS];
} disco_schedule;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DISCO_ABI_SCHEDULE_H */
