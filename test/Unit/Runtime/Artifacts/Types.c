/*===- Types.c - an artifact with every element type ----------------*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * Entries whose elements need to be converted to be read.
 *
 *===------------------------------------------------------------------------===*/

#include "Memref.h"

#include <string.h>

static const int64_t six[] = {6};

/* copy: y = x, v = u; in f16 and bf16 */
static const disco_tensor_type copy_in[] = {{"x", DISCO_F16, 1, six},
                                            {"u", DISCO_BF16, 1, six}};
static const disco_tensor_type copy_out[] = {{"y", DISCO_F16, 1, six},
                                             {"v", DISCO_BF16, 1, six}};
static int32_t copy_run(void *const *args) {
  for (int i = 0; i < 2; ++i)
    memcpy(memref_of(args, 2 + i)->aligned, memref_of(args, i)->aligned, 12);
  return DISCO_OK;
}

/* values: some of each type, those at the ends of the range among them */
static const disco_tensor_type values_out[] = {{"f16", DISCO_F16, 1, six},
                                               {"bf16", DISCO_BF16, 1, six},
                                               {"i32", DISCO_I32, 1, six},
                                               {"i64", DISCO_I64, 1, six}};
static int32_t values_run(void *const *args) {
  static const uint16_t f16[] = {0x3c00, 0xc100, 0x0001,
                                 0x7bff, 0xfc00, 0x7e00};
  static const uint16_t bf16[] = {0x3f80, 0xc020, 0x0080,
                                  0x7f7f, 0xff80, 0x7fc0};
  static const int32_t i32[] = {0, 1, -1, INT32_MAX, INT32_MIN, 7};
  static const int64_t i64[] = {0, 1, -1, INT64_MAX, INT64_MIN, 7};
  memcpy(memref_of(args, 0)->aligned, f16, sizeof f16);
  memcpy(memref_of(args, 1)->aligned, bf16, sizeof bf16);
  memcpy(memref_of(args, 2)->aligned, i32, sizeof i32);
  memcpy(memref_of(args, 3)->aligned, i64, sizeof i64);
  return DISCO_OK;
}

static const disco_abi_entry entries[] = {
    {"copy", "", 2, 2, copy_in, copy_out, copy_run, NULL, NULL, 0},
    {"values", "", 0, 4, NULL, values_out, values_run, NULL, NULL, 0},
};

const disco_abi_artifact disco_artifact_root = {
    ROOT_HEADER,        .target = "cpu",       .cpu = "x86-64",
    .cpu_features = "", .producer = "by hand", .num_entries = COUNT(entries),
    .entries = entries,
};
