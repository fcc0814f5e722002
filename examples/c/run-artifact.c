/*===- run-artifact.c - running an artifact from C ------------------*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * Opens an artifact, prints what an entry expects, runs it on a ramp (element i
 * of an input is i / 16; sizes that are known only when run are 1), and prints
 * the first elements of each output.
 *
 *   run-artifact ARTIFACT.so ENTRY
 *
 *===------------------------------------------------------------------------===*/

#include "disco/ABI/disco.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A tensor, and the memory that it describes. */
typedef struct {
  disco_tensor tensor;
  int64_t shape[DISCO_MAX_RANK];
  uint64_t bytes;
} array;

static array inputs[DISCO_MAX_TENSORS], outputs[DISCO_MAX_TENSORS];

/* Prints why the last call failed. */
static int fail(const char *what) {
  fprintf(stderr, "run-artifact: error: %s: %s\n", what, disco_last_error());
  return 1;
}

static int64_t num_elements(const array *a) {
  int64_t count = 1;
  for (int32_t d = 0; d < a->tensor.rank; ++d)
    count *= a->shape[d];
  return count;
}

/* Allocates a dense tensor of this type and shape. */
static disco_status allocate(disco_context *context, array *a,
                             const disco_tensor_type *type,
                             const int64_t *shape) {
  static const uint64_t sizes[] = {8, 4, 2, 2, 4, 8}; /* by disco_dtype */
  for (int32_t d = 0; d < type->rank; ++d)
    a->shape[d] = shape[d];
  a->tensor.device.kind = DISCO_CPU;
  a->tensor.rank = type->rank;
  a->tensor.dtype = type->dtype;
  a->tensor.shape = a->shape;
  a->bytes = (uint64_t)num_elements(a) * sizes[type->dtype];
  return disco_allocate(context, a->bytes, &a->tensor.data);
}

static void print_type(const char *kind, int32_t index,
                       const disco_tensor_type *type) {
  static const char *const names[] = {"f64",  "f32", "f16",
                                      "bf16", "i32", "i64"};
  printf("%s %" PRId32 ": %s, ", kind, index, type->name ? type->name : "-");
  for (int32_t d = 0; d < type->rank; ++d)
    if (type->dims[d] < 0)
      printf("?x");
    else
      printf("%" PRId64 "x", type->dims[d]);
  printf("%s\n", names[type->dtype]);
}

/* Floating-point elements of 4 and 8 bytes; others stay zero. */
static void set(array *a, int64_t i, double value) {
  if (a->tensor.dtype == DISCO_F64)
    ((double *)a->tensor.data)[i] = value;
  else if (a->tensor.dtype == DISCO_F32)
    ((float *)a->tensor.data)[i] = (float)value;
}

static double get(const array *a, int64_t i) {
  if (a->tensor.dtype == DISCO_F64)
    return ((const double *)a->tensor.data)[i];
  if (a->tensor.dtype == DISCO_F32)
    return ((const float *)a->tensor.data)[i];
  return 0;
}

static int make_inputs(disco_context *context, const disco_entry *entry,
                       disco_tensor *views) {
  for (int32_t i = 0; i < disco_entry_num_inputs(entry); ++i) {
    disco_tensor_type type;
    if (disco_entry_input(entry, i, &type) != DISCO_OK)
      return fail("input");
    print_type("input", i, &type);
    int64_t shape[DISCO_MAX_RANK];
    for (int32_t d = 0; d < type.rank; ++d)
      shape[d] = type.dims[d] < 0 ? 1 : type.dims[d];
    if (allocate(context, &inputs[i], &type, shape) != DISCO_OK)
      return fail("input");
    for (uint64_t byte = 0; byte < inputs[i].bytes; ++byte)
      ((unsigned char *)inputs[i].tensor.data)[byte] = 0;
    for (int64_t e = 0; e < num_elements(&inputs[i]); ++e)
      set(&inputs[i], e, (double)e / 16);
    views[i] = inputs[i].tensor;
  }
  return 0;
}

/* The outputs' shapes follow from those of the inputs. */
static int make_outputs(disco_context *context, const disco_entry *entry,
                        const disco_tensor *input_views, disco_tensor *views) {
  int64_t dims[DISCO_MAX_TENSORS * DISCO_MAX_RANK];
  if (disco_entry_output_shapes(
          entry, input_views, disco_entry_num_inputs(entry), dims,
          DISCO_MAX_TENSORS * DISCO_MAX_RANK, NULL) != DISCO_OK)
    return fail("output shapes");
  const int64_t *shape = dims;
  for (int32_t i = 0; i < disco_entry_num_outputs(entry); ++i) {
    disco_tensor_type type;
    if (disco_entry_output(entry, i, &type) != DISCO_OK)
      return fail("output");
    print_type("output", i, &type);
    if (allocate(context, &outputs[i], &type, shape) != DISCO_OK)
      return fail("output");
    shape += type.rank;
    views[i] = outputs[i].tensor;
  }
  return 0;
}

static int run(disco_context *context, const disco_entry *entry) {
  disco_tensor input_views[DISCO_MAX_TENSORS], output_views[DISCO_MAX_TENSORS];
  const int32_t num_inputs = disco_entry_num_inputs(entry);
  const int32_t num_outputs = disco_entry_num_outputs(entry);
  if (make_inputs(context, entry, input_views) != 0 ||
      make_outputs(context, entry, input_views, output_views) != 0)
    return 1;

  uint64_t bytes = 0;
  void *workspace = NULL;
  if (disco_prepare(context, entry) != DISCO_OK)
    return fail("prepare");
  if (disco_workspace_bytes(context, entry, input_views, num_inputs, &bytes) !=
          DISCO_OK ||
      disco_allocate(context, bytes, &workspace) != DISCO_OK)
    return fail("workspace");
  printf("workspace: %" PRIu64 " bytes\n", bytes);
  const disco_status status =
      disco_run(context, entry, input_views, num_inputs, output_views,
                num_outputs, workspace, bytes);
  disco_release(context, workspace, bytes);
  if (status != DISCO_OK)
    return fail("run");

  for (int32_t i = 0; i < num_outputs; ++i) {
    printf("output %" PRId32 ":", i);
    for (int64_t e = 0; e < num_elements(&outputs[i]) && e < 6; ++e)
      printf(" %g", get(&outputs[i], e));
    printf("\n");
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: run-artifact ARTIFACT.so ENTRY\n");
    return 2;
  }
  if (disco_abi_version() != DISCO_ABI_VERSION) {
    fprintf(stderr,
            "run-artifact: error: expected ABI version %d, but got %" PRIu32
            "\n",
            DISCO_ABI_VERSION, disco_abi_version());
    return 1;
  }
  disco_artifact *artifact = NULL;
  disco_context *context = NULL;
  const disco_entry *entry = NULL;
  int code = 0;
  if (disco_artifact_open(argv[1], &artifact) != DISCO_OK)
    code = fail("open");
  else if (disco_artifact_find_entry(artifact, argv[2], &entry) != DISCO_OK)
    code = fail("find");
  else if (disco_context_create(NULL, &context) != DISCO_OK)
    code = fail("context");
  else
    code = run(context, entry);
  for (int i = 0; i < DISCO_MAX_TENSORS && context; ++i) {
    disco_release(context, inputs[i].tensor.data, inputs[i].bytes);
    disco_release(context, outputs[i].tensor.data, outputs[i].bytes);
  }
  disco_context_destroy(context);
  disco_artifact_close(artifact);
  return code;
}
