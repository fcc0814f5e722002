/*===- Instrumented.c - an artifact with probes ---------------------*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * z = contract(x, psi), y = contract_sum(z, adjoint psi), on 4 points, for one
 * field of f32. Entry "net" is right; in "wrong" and "nan" an element of y is
 * not; "silent" reports nothing; "short" leaves out a result.
 *
 *===------------------------------------------------------------------------===*/

#include "Memref.h"

#include <math.h>

enum { IN = 4, OUT = 3, K = 2, NNZ = 5 };
static int32_t offsets[OUT + 1] = {0, 2, 2, NNZ};
static int32_t cols[NNZ] = {0, 3, 1, 1, 2};
static float values[NNZ * K] = {1, 2, 3, 4, 5, 6, 0.5F, 0.25F, -1, -2};

static void describe(memref *m, void *data, int32_t rank,
                     const int64_t *sizes) {
  m->allocated = m->aligned = data;
  m->offset = 0;
  int64_t stride = 1;
  for (int32_t d = rank - 1; d >= 0; --d) {
    m->sizes[d] = sizes[d];
    m->sizes[rank + d] = stride;
    stride *= sizes[d];
  }
}

static void report(int64_t id, int32_t index, int32_t dtype, int64_t rank,
                   void *data, const int64_t *sizes) {
  memref m;
  describe(&m, data, (int32_t)rank, sizes);
  disco_probe_operand(id, index, dtype, rank, &m);
}

static void report_psi(int64_t id) {
  report(id, 1, DISCO_I32, 1, offsets, (const int64_t[]){OUT + 1});
  report(id, 2, DISCO_I32, 1, cols, (const int64_t[]){NNZ});
  report(id, 3, DISCO_F32, 2, values, (const int64_t[]){NNZ, K});
}

static void compute(float *x, float *y, float fault, int parts) {
  float z[K * OUT] = {0};
  const int64_t z_sizes[] = {1, 1, K, OUT};
  const int64_t x_sizes[] = {1, 1, IN};
  disco_probe_begin(0);
  report(0, 0, DISCO_F32, 3, x, x_sizes);
  report_psi(0);
  for (int n = 0; n < OUT; ++n)
    for (int32_t i = offsets[n]; i < offsets[n + 1]; ++i)
      for (int k = 0; k < K; ++k)
        z[k * OUT + n] += values[i * K + k] * x[cols[i]];
  report(0, 4, DISCO_F32, 4, z, z_sizes);
  disco_probe_end(0);

  disco_probe_begin(1);
  report(1, 0, DISCO_F32, 4, z, z_sizes);
  report_psi(1);
  for (int m = 0; m < IN; ++m)
    y[m] = 0;
  for (int n = 0; n < OUT; ++n)
    for (int32_t i = offsets[n]; i < offsets[n + 1]; ++i)
      for (int k = 0; k < K; ++k)
        y[cols[i]] += values[i * K + k] * z[k * OUT + n];
  y[2] += fault;
  if (parts > 1)
    report(1, 4, DISCO_F32, 3, y, x_sizes);
  disco_probe_end(1);
}

static float *data_of(void *const *args, int index) {
  return memref_of(args, index)->aligned;
}
static int32_t net(void *const *args) {
  compute(data_of(args, 0), data_of(args, 1), 0, 2);
  return DISCO_OK;
}
static int32_t wrong(void *const *args) {
  compute(data_of(args, 0), data_of(args, 1), 0.5F, 2);
  return DISCO_OK;
}
static int32_t not_a_number(void *const *args) {
  compute(data_of(args, 0), data_of(args, 1), NAN, 2);
  return DISCO_OK;
}
static int32_t silent(void *const *args) {
  for (int i = 0; i < IN; ++i)
    data_of(args, 1)[i] = data_of(args, 0)[i];
  return DISCO_OK;
}
static int32_t incomplete(void *const *args) {
  compute(data_of(args, 0), data_of(args, 1), 0, 1);
  return DISCO_OK;
}

static const int64_t dims[] = {1, 1, IN};
static const disco_tensor_type inputs[] = {{"x", DISCO_F32, 3, dims}};
static const disco_tensor_type outputs[] = {{"y", DISCO_F32, 3, dims}};
#define ENTRY(NAME, CODE) {NAME, "", 1, 1, inputs, outputs, CODE, NULL, NULL, 0}
static const disco_abi_entry entries[] = {
    ENTRY("net", net), ENTRY("wrong", wrong), ENTRY("nan", not_a_number),
    ENTRY("silent", silent), ENTRY("short", incomplete)};

static const disco_abi_probe probes[] = {
    {"disco.contract", "net.mlir:3:8", "kind=contract form=csr k=2 in=4 out=3",
     4, 1},
    {"disco.contract_sum", "net.mlir:4:8",
     "kind=contract_sum form=csr k=2 in=4 out=3 adjoint=1", 4, 1}};

const disco_abi_artifact disco_artifact_root = {
    ROOT_HEADER,
    .target = "cpu",
    .cpu = "x86-64",
    .cpu_features = "",
    .producer = "by hand",
    .num_entries = COUNT(entries),
    .num_probes = COUNT(probes),
    .entries = entries,
    .probes = probes,
};
