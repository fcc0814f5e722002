/*===- Good.c - an artifact written by hand -------------------------*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * Entries that do, and refuse to do, what a compiled artifact might.
 *
 *===------------------------------------------------------------------------===*/

#include "Memref.h"

/* scale: y = 2 x through the workspace; [n, 3] f32, dense */
static const int64_t scale_dims[] = {-2, 3};
static const disco_tensor_type scale_in[] = {{"x", DISCO_F32, 2, scale_dims}};
static const disco_tensor_type scale_out[] = {{"y", DISCO_F32, 2, scale_dims}};
static int64_t scale_workspace(void *const *inputs) {
  return memref_of(inputs, 0)->sizes[0] * 12;
}
static int32_t scale_run(void *const *args) {
  const float *x = memref_of(args, 0)->aligned;
  float *y = memref_of(args, 1)->aligned;
  float *work = memref_of(args, 2)->aligned;
  const int64_t count = memref_of(args, 0)->sizes[0] * 3;
  if (memref_of(args, 2)->sizes[0] != count * 4) {
    disco_raise("the workspace has the wrong size");
    return DISCO_INTERNAL;
  }
  for (int64_t i = 0; i < count; ++i)
    work[i] = 2 * x[i];
  for (int64_t i = 0; i < count; ++i)
    y[i] = work[i];
  return DISCO_OK;
}

/* add: c = a + b; [n, 4] f64 with any strides */
static const int64_t add_dims[] = {-2, 4};
static const disco_tensor_type add_in[] = {{"a", DISCO_F64, 2, add_dims},
                                           {NULL, DISCO_F64, 2, add_dims}};
static const disco_tensor_type add_out[] = {{NULL, DISCO_F64, 2, add_dims}};
static double *add_at(memref *m, int64_t i, int64_t j) {
  return (double *)m->aligned + m->offset + i * m->sizes[2] + j * m->sizes[3];
}
static int32_t add_run(void *const *args) {
  for (int64_t i = 0; i < memref_of(args, 0)->sizes[0]; ++i)
    for (int64_t j = 0; j < 4; ++j)
      *add_at(memref_of(args, 2), i, j) =
          *add_at(memref_of(args, 0), i, j) + *add_at(memref_of(args, 1), i, j);
  return DISCO_OK;
}

/* halve: every second element; [n] i64 -> [n / 2] i64 and their number, a
   scalar */
static const int64_t any_dims[] = {-1};
static const disco_tensor_type halve_in[] = {{"x", DISCO_I64, 1, any_dims}};
static const disco_tensor_type halve_out[] = {{"y", DISCO_I64, 1, any_dims},
                                              {"count", DISCO_I32, 0, NULL}};
static int32_t halve_shapes(void *const *inputs, int64_t *dims) {
  if (memref_of(inputs, 0)->sizes[0] % 2 != 0) {
    disco_raise("expected an even number of elements");
    return DISCO_INVALID_ARGUMENT;
  }
  dims[0] = memref_of(inputs, 0)->sizes[0] / 2;
  return DISCO_OK;
}
static int32_t halve_run(void *const *args) {
  const int64_t *x = memref_of(args, 0)->aligned;
  int64_t *y = memref_of(args, 1)->aligned;
  const int64_t count = memref_of(args, 1)->sizes[0];
  for (int64_t i = 0; i < count; ++i)
    y[i] = x[2 * i];
  *(int32_t *)memref_of(args, 2)->aligned = (int32_t)count;
  return DISCO_OK;
}

/* Failures. */
static int32_t fail_run(void *const *args) {
  (void)args;
  disco_raise("index 7 of psi is out of range");
  return DISCO_INVALID_ARGUMENT;
}
static int32_t fail_quietly_run(void *const *args) {
  (void)args;
  return DISCO_EXECUTION_FAILED;
}
static int32_t fail_oddly_run(void *const *args) {
  (void)args;
  return 12345;
}
static int64_t no_workspace(void *const *inputs) {
  (void)inputs;
  disco_raise("the sizes do not fit");
  return -1;
}
static int64_t greedy_workspace(void *const *inputs) {
  (void)inputs;
  return INT64_MAX;
}
static int32_t wrong_shapes(void *const *inputs, int64_t *dims) {
  (void)inputs;
  dims[0] = 5;
  dims[1] = 7; /* the type says 3 */
  return DISCO_OK;
}

#define NOTHING 0, 0, NULL, NULL
static const disco_abi_entry entries[] = {
    {"scale", "doubles x", 1, 1, scale_in, scale_out, scale_run,
     scale_workspace, NULL, 0},
    {"add", "", 2, 1, add_in, add_out, add_run, NULL, NULL,
     DISCO_ENTRY_STRIDED},
    {"halve", "", 1, 2, halve_in, halve_out, halve_run, NULL, halve_shapes, 0},
    {"fail", "", NOTHING, fail_run, NULL, NULL, 0},
    {"fail_quietly", "", NOTHING, fail_quietly_run, NULL, NULL, 0},
    {"fail_oddly", "", NOTHING, fail_oddly_run, NULL, NULL, 0},
    {"no_workspace", "", NOTHING, fail_run, no_workspace, NULL, 0},
    {"greedy", "", NOTHING, fail_run, greedy_workspace, NULL, 0},
    {"wrong_shapes", "", 1, 1, scale_in, scale_out, fail_run, NULL,
     wrong_shapes, 0},
};

const disco_abi_artifact disco_artifact_root = {
    ROOT_HEADER,        .target = "cpu",       .cpu = "x86-64",
    .cpu_features = "", .producer = "by hand", .num_entries = COUNT(entries),
    .entries = entries,
};
