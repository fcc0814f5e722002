/*===- Steps.c - an artifact for a GPU written by hand --------------*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * Its tables are variables: tests change a field through the symbol, and open
 * the artifact again.
 *
 *   chain   x [n,1,4] -> contract -> [n,1,2,3] (slot 0)
 *             -> contract_sum, adjoint -> [n,1,4] (slot 1)
 *             -> contract -> y [n,1,2,3]
 *   mix     x [n,1,4] -> conv with a constant weight and bias, relu
 *             -> y [n,2,3]
 *   repack  x [n,1,4] -> c8 [n,1,4,8] (slot 0) -> y [n,1,4]
 *
 *===------------------------------------------------------------------------===*/

#include "disco/ABI/Artifact.h"

_Static_assert(sizeof(disco_abi_buffer) == 32, "buffer");
_Static_assert(sizeof(disco_abi_step) == 72, "step");
_Static_assert(sizeof(disco_abi_entry) == 96, "entry");
_Static_assert(offsetof(disco_abi_entry, num_steps) == DISCO_ENTRY_SIZE_CPU,
               "the fields of the first version");

enum { IN = 4, OUT = 3, K = 2, TAPS = 5 };

/* psi [K, OUT, IN] with two taps a point, one at the last. */
static int32_t offsets[OUT + 1] = {0, 2, 4, TAPS};
static int32_t columns[TAPS] = {0, 1, 1, 3, 2};
static float values[TAPS * K] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
static float weight[2 * K] = {1, -1, 2, 0.5F};
static float bias[2] = {0.25F, -100};

static int64_t x_dims[] = {-2, 1, IN};
static int64_t features_dims[] = {-2, 1, K, OUT};
static int64_t c8_dims[] = {-2, 1, IN, 8};
static int64_t mixed_dims[] = {-2, 2, OUT};
static int64_t offsets_dims[] = {OUT + 1};
static int64_t columns_dims[] = {TAPS};
static int64_t values_dims[] = {TAPS, K};
static int64_t weight_dims[] = {2, 1, K};
static int64_t bias_dims[] = {2};

static disco_tensor_type x_type[] = {{"x", DISCO_F32, 3, x_dims}};
static disco_tensor_type features_type[] = {{"y", DISCO_F32, 4, features_dims}};
static disco_tensor_type mixed_type[] = {{"y", DISCO_F32, 3, mixed_dims}};

#define PSI_BUFFERS                                                            \
  {DISCO_I32, 1, offsets_dims, DISCO_BUFFER_CONSTANT, 0, offsets},             \
      {DISCO_I32, 1, columns_dims, DISCO_BUFFER_CONSTANT, 0, columns}, {       \
    DISCO_F32, 2, values_dims, DISCO_BUFFER_CONSTANT, 0, values                \
  }
static disco_abi_buffer chain_buffers[] = {
    {DISCO_F32, 3, x_dims, DISCO_BUFFER_INPUT, 0, NULL},
    PSI_BUFFERS,
    {DISCO_F32, 4, features_dims, DISCO_BUFFER_TEMPORARY, 0, NULL},
    {DISCO_F32, 3, x_dims, DISCO_BUFFER_TEMPORARY, 1, NULL},
    {DISCO_F32, 4, features_dims, DISCO_BUFFER_OUTPUT, 0, NULL},
};
static disco_abi_buffer longer_buffers[] = {
    {DISCO_F32, 3, x_dims, DISCO_BUFFER_INPUT, 0, NULL},
    PSI_BUFFERS,
    {DISCO_F32, 4, features_dims, DISCO_BUFFER_TEMPORARY, 0, NULL},
    {DISCO_F32, 3, x_dims, DISCO_BUFFER_TEMPORARY, 1, NULL},
    {DISCO_F32, 4, features_dims, DISCO_BUFFER_OUTPUT, 0, NULL},
    {DISCO_F32, 4, features_dims, DISCO_BUFFER_TEMPORARY, 2, NULL},
    {DISCO_F32, 3, x_dims, DISCO_BUFFER_TEMPORARY, 3, NULL},
};
static disco_abi_buffer mix_buffers[] = {
    {DISCO_F32, 3, x_dims, DISCO_BUFFER_INPUT, 0, NULL},
    PSI_BUFFERS,
    {DISCO_F32, 3, weight_dims, DISCO_BUFFER_CONSTANT, 0, weight},
    {DISCO_F32, 1, bias_dims, DISCO_BUFFER_CONSTANT, 0, bias},
    {DISCO_F32, 3, mixed_dims, DISCO_BUFFER_OUTPUT, 0, NULL},
};

static disco_abi_buffer repack_buffers[] = {
    {DISCO_F32, 3, x_dims, DISCO_BUFFER_INPUT, 0, NULL},
    {DISCO_F32, 4, c8_dims, DISCO_BUFFER_TEMPORARY, 0, NULL},
    {DISCO_F32, 3, x_dims, DISCO_BUFFER_OUTPUT, 0, NULL},
};

#define CALL(OP, ORDER, IN_POINTS, OUT_POINTS, ADJOINT)                        \
  .struct_size = sizeof(disco_kernel_call), .op = (OP), .dtype = DISCO_F32,    \
  .weight_dtype = DISCO_F32, .channels = 1, .groups = 1,                       \
  .schedule = {.order = (ORDER), .provider = DISCO_RUNTIME},                   \
  .psi = {.form = DISCO_FORM_CSR,                                              \
          .adjoint = (ADJOINT),                                                \
          .index_dtype = DISCO_I32,                                            \
          .value_dtype = DISCO_F32,                                            \
          .num_basis = K,                                                      \
          .nlat_in = 1,                                                        \
          .nlon_in = (IN_POINTS),                                              \
          .nlat_out = 1,                                                       \
          .nlon_out = (OUT_POINTS),                                            \
          .num_taps = TAPS}
static disco_kernel_call contract = {
    CALL(DISCO_OP_CONTRACT, DISCO_FILTER_FIRST, IN, OUT, 0)};
static disco_kernel_call contract_sum = {
    CALL(DISCO_OP_CONTRACT_SUM, DISCO_WEIGHT_FIRST, OUT, IN, 1)};
static disco_kernel_call conv = {
    CALL(DISCO_OP_CONV, DISCO_FILTER_FIRST, IN, OUT, 0), .out_channels = 2,
    .has_bias = 1, .activation = DISCO_ACTIVATION_RELU};

/* x, gy, offsets, indices, values, weight, bias, residual, y, grad_bias */
static disco_abi_step chain_steps[] = {
    {DISCO_STEP_KERNEL,
     -1,
     "csr_gather",
     &contract,
     NULL,
     {0, -1, 1, 2, 3, -1, -1, -1, 4, -1}},
    {DISCO_STEP_KERNEL,
     -1,
     "csr_gather",
     &contract_sum,
     NULL,
     {4, -1, 1, 2, 3, -1, -1, -1, 5, -1}},
    {DISCO_STEP_KERNEL,
     -1,
     "csr_gather",
     &contract,
     NULL,
     {5, -1, 1, 2, 3, -1, -1, -1, 6, -1}},
};
/* The chain, and the adjoint and the filter once more. */
#define STEP(CALL, X, Y)                                                       \
  {DISCO_STEP_KERNEL, -1,   "csr_gather",                                      \
   &(CALL),           NULL, {X, -1, 1, 2, 3, -1, -1, -1, Y, -1}}
static disco_abi_step longer_steps[] = {
    STEP(contract, 0, 4), STEP(contract_sum, 4, 5), STEP(contract, 5, 7),
    STEP(contract_sum, 7, 8), STEP(contract, 8, 6)};
static disco_abi_step mix_steps[] = {{DISCO_STEP_KERNEL,
                                      -1,
                                      "csr_gather",
                                      &conv,
                                      NULL,
                                      {0, -1, 1, 2, 3, 4, 5, -1, 6, -1}}};

static disco_repack to_c8 = {
    sizeof(disco_repack), DISCO_NCHW, DISCO_C8, DISCO_F32, DISCO_F32, 1, IN};
static disco_repack to_nchw = {
    sizeof(disco_repack), DISCO_C8, DISCO_NCHW, DISCO_F32, DISCO_F32, 1, IN};
static disco_abi_step repack_steps[] = {
    {DISCO_STEP_REPACK,
     -1,
     NULL,
     NULL,
     &to_c8,
     {0, -1, -1, -1, -1, -1, -1, -1, 1, -1}},
    {DISCO_STEP_REPACK,
     -1,
     NULL,
     NULL,
     &to_nchw,
     {1, -1, -1, -1, -1, -1, -1, -1, 2, -1}}};

static disco_abi_entry entries[] = {
    {"chain", "csr_gather", 1, 1, x_type, features_type, NULL, NULL, NULL, 0, 3,
     7, chain_steps, chain_buffers},
    {"mix", "csr_gather", 1, 1, x_type, mixed_type, NULL, NULL, NULL, 0, 1, 7,
     mix_steps, mix_buffers},
    {"repack", "", 1, 1, x_type, x_type, NULL, NULL, NULL, 0, 2, 3,
     repack_steps, repack_buffers},
    {"longer", "csr_gather", 1, 1, x_type, features_type, NULL, NULL, NULL, 0,
     5, 9, longer_steps, longer_buffers},
};

extern DISCO_API disco_abi_artifact disco_artifact_root;
disco_abi_artifact disco_artifact_root = {
    .magic = DISCO_ARTIFACT_MAGIC,
    .abi_version = DISCO_ABI_VERSION,
    .struct_size = sizeof(disco_abi_artifact),
    .entry_size = sizeof(disco_abi_entry),
    .probe_size = sizeof(disco_abi_probe),
    .target = "cuda:sm_80",
    .cpu = "a100",
    .cpu_features = "",
    .producer = "by hand",
    .num_entries = 4,
    .entries = entries,
};
