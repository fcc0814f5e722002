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
#include <string.h>

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

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Drops the low bits, rounding to nearest, ties to even. */
static uint32_t shift_rounding(uint32_t bits, int shift) {
  return (bits + (1u << (shift - 1)) - 1 + (bits >> shift & 1)) >> shift;
}

/* f16 of what a ramp has: 0, or from 1/16 up; infinite where f16 ends. */
static uint16_t half_of_ramp(float value) {
  if (value == 0)
    return 0;
  const uint32_t half = shift_rounding(bits_of(value) - (112u << 23), 13);
  return half < 0x7c00 ? (uint16_t)half : 0x7c00;
}

static float float_of_half(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31;
  const uint32_t mantissa = half & 1023;
  if (exponent == 0) /* zero or subnormal: a multiple of 2^-24 */
    return (sign ? -1.0f : 1.0f) * (float)mantissa / 16777216.0f;
  const uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return float_of(sign | wide << 23 | mantissa << 13);
}

/* Floating-point elements; integers, which may be indices, stay zero. */
static void set(array *a, int64_t i, double value) {
  switch (a->tensor.dtype) {
  case DISCO_F64:
    ((double *)a->tensor.data)[i] = value;
    break;
  case DISCO_F32:
    ((float *)a->tensor.data)[i] = (float)value;
    break;
  case DISCO_F16:
    ((uint16_t *)a->tensor.data)[i] = half_of_ramp((float)value);
    break;
  case DISCO_BF16:
    ((uint16_t *)a->tensor.data)[i] =
        (uint16_t)shift_rounding(bits_of((float)value), 16);
    break;
  default:
    break;
  }
}

static void print_element(const array *a, int64_t i) {
  switch (a->tensor.dtype) {
  case DISCO_F64:
    printf(" %g", ((const double *)a->tensor.data)[i]);
    break;
  case DISCO_F32:
    printf(" %g", ((const float *)a->tensor.data)[i]);
    break;
  case DISCO_F16:
    printf(" %g", float_of_half(((const uint16_t *)a->tensor.data)[i]));
    break;
  case DISCO_BF16:
    printf(" %g",
           float_of((uint32_t)((const uint16_t *)a->tensor.data)[i] << 16));
    break;
  case DISCO_I32:
    printf(" %" PRId32, ((const int32_t *)a->tensor.data)[i]);
    break;
  default:
    printf(" %" PRId64, ((const int64_t *)a->tensor.data)[i]);
    break;
  }
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
      print_element(&outputs[i], e);
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
