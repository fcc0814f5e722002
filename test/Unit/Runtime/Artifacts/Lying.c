/*===- Lying.c - malformed artifacts --------------------------------*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * Compiled once for each lie, with the macro LIE_<name> defined. What is not
 * the lie is well formed.
 *
 *===------------------------------------------------------------------------===*/

#include "Memref.h"

static const int64_t dims[] = {-1, 3};
static const disco_tensor_type inputs[] = {{"x",
#ifdef LIE_dtype
                                            6,
#else
                                            DISCO_F32,
#endif
#ifdef LIE_rank
                                            9,
#else
                                            2,
#endif
#ifdef LIE_no_dims
                                            NULL
#else
                                            dims
#endif
}};

static int32_t run(void *const *args) {
  (void)args;
  return DISCO_OK;
}

#ifndef LIE_no_output_shapes
static int32_t output_shapes(void *const *in, int64_t *out) {
  out[0] = memref_of(in, 0)->sizes[0];
  out[1] = 3;
  return DISCO_OK;
}
#endif

static const disco_tensor_type outputs[] = {{"y", DISCO_F32, 2, dims}};
static const disco_abi_entry entries[] = {
    {
#ifdef LIE_no_name
        NULL,
#else
        "main",
#endif
#ifdef LIE_no_plan
        NULL,
#else
        "",
#endif
#ifdef LIE_num_inputs
        65,
#else
        1,
#endif
#ifdef LIE_num_outputs
        -1,
#else
        1,
#endif
#ifdef LIE_no_inputs
        NULL,
#else
        inputs,
#endif
        outputs,
#ifdef LIE_no_code
        NULL,
#else
        run,
#endif
        NULL,
#ifdef LIE_no_output_shapes
        NULL,
#else
        output_shapes,
#endif
#ifdef LIE_flags
        2
#else
        0
#endif
    },
#ifdef LIE_same_names
    {"main", "", 0, 0, NULL, NULL, run, NULL, NULL, 0},
#endif
};

static const disco_abi_probe probes[] = {{
    "disco.conv",
#ifdef LIE_probe_text
    NULL,
#else
    "",
#endif
    "",
#ifdef LIE_probe_operands
    65,
#else
    1,
#endif
    1,
}};

#ifdef LIE_no_symbol
#define disco_artifact_root another_name
extern DISCO_API const disco_abi_artifact another_name;
#endif
const disco_abi_artifact disco_artifact_root = {
#ifdef LIE_magic
    .magic = 0x46464f43,
#else
    .magic = DISCO_ARTIFACT_MAGIC,
#endif
#ifdef LIE_version
    .abi_version = 2,
#else
    .abi_version = DISCO_ABI_VERSION,
#endif
#ifdef LIE_struct_size
    .struct_size = 80,
#else
    .struct_size = sizeof(disco_abi_artifact),
#endif
#ifdef LIE_entry_size
    .entry_size = 64,
#else
    .entry_size = sizeof(disco_abi_entry),
#endif
#ifdef LIE_probe_size
    .probe_size = 40,
#else
    .probe_size = sizeof(disco_abi_probe),
#endif
#ifdef LIE_no_target
    .target = NULL,
#elif defined(LIE_target)
    .target = "tpu",
#else
    .target = "cpu",
#endif
    .cpu = "x86-64",
#ifdef LIE_feature
    .cpu_features = "sse2,warp-drive",
#else
    .cpu_features = "",
#endif
    .producer = "by hand",
#ifdef LIE_num_entries
    .num_entries = -1,
#else
    .num_entries = COUNT(entries),
#endif
#ifdef LIE_num_probes
    .num_probes = 1 << 21,
#else
    .num_probes = COUNT(probes),
#endif
#ifdef LIE_no_entries
    .entries = NULL,
#else
    .entries = entries,
#endif
#ifdef LIE_no_probes
    .probes = NULL,
#else
    .probes = probes,
#endif
};
#ifdef LIE_no_library
/* The loader cannot resolve this, and says so. */
extern int a_function_that_is_nowhere(void);
int call_it(void) { return a_function_that_is_nowhere(); }
#endif
