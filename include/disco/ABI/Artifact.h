/*===- Artifact.h - what a compiled artifact exports ----------------*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * The contract between compiler and runtime. An artifact is a shared library
 * that links against libdisco_runtime only and exports one data symbol,
 * DISCO_ARTIFACT_SYMBOL, a disco_abi_artifact. On a 64-bit machine:
 *
 *   disco_abi_artifact                       disco_abi_entry [num_entries]
 *    0 magic        u32                       0 name            char *
 *    4 abi_version  u32                       8 plan            char *
 *    8 struct_size  u64                      16 num_inputs      i32
 *   16 entry_size   u64                      20 num_outputs     i32
 *   24 probe_size   u64                      24 inputs          type *  --.
 *   32 target       char *                   32 outputs         type *  --|
 *   40 cpu          char *                   40 run             function  |
 *   48 cpu_features char *                   48 workspace_bytes function  |
 *   56 producer     char *                   56 output_shapes   function  |
 *   64 num_entries  i32                      64 flags           u64       |
 *   68 num_probes   i32                      72 num_steps       i32       |
 *   72 entries      entry * ---------^       76 num_buffers     i32       |
 *   80 probes       probe * ---.             80 steps           step *    |
 *   (88 bytes)                 |             88 buffers         buffer *  |
 *                              v             (96 bytes)                   |
 *   disco_abi_probe [num_probes]                                          |
 *    0 op           char *                   disco_tensor_type [n]  <-----'
 *    8 location     char *                    0 name  char *  (or null)
 *   16 attributes   char *                    8 dtype i32
 *   24 num_operands i32                      12 rank  i32
 *   28 num_results  i32                      16 dims  i64 *   (null if rank 0)
 *   (32 bytes)                               (24 bytes)
 *
 * Entries of 72 bytes, without the last four fields, are those of artifacts for
 * the CPU that were compiled before there were others.
 *
 * Strings end in NUL and are not null unless said so. Everything is constant.
 *
 * Functions get arrays of pointers to memref descriptors, as MLIR lowers them:
 *
 *   void *args[] = { &input 0, ..., &output 0, ..., &workspace }
 *   descriptor   = { T *allocated; T *aligned; int64_t offset;
 *                    int64_t sizes[rank]; int64_t strides[rank]; }
 *
 * `offset` is 0 and sizes agree with the entry's types. Strides are those of a
 * dense row-major array, unless the entry has DISCO_ENTRY_STRIDED: then they
 * are any that disco_tensor allows. The workspace is a descriptor of rank 1 and
 * type i8.
 *
 * On a GPU ("cuda:sm_90a") an entry is data: calls of the runtime's kernels and
 * changes of layout or type, one after the other, on numbered buffers. It has
 * no functions.
 *
 *   disco_abi_step [num_steps]               disco_abi_buffer [num_buffers]
 *    0 kind         i32                       0 dtype i32
 *    4 probe        i32                       4 rank  i32
 *    8 family       char *                    8 dims  i64 *   (null if rank 0)
 *   16 call         disco_kernel_call *      16 kind  i32
 *   24 repack       disco_repack *           20 index i32
 *   32 operands     i32 [10] ------------->  24 data  void *
 *   (72 bytes)                               (32 bytes)
 *
 *   input i, output i: a tensor of the call
 *   constant: `data` in the artifact, which prepare brings to the device
 *   temporary in slot i: in the workspace
 *
 *   workspace   | slot 0 | slot 1 | ... | workspace of one kernel at a time |
 *               each aligned to 256 bytes, as large as the largest buffer in it
 *
 * Buffers are dense and row-major. A temporary lives from the step that writes
 * it to the last one that reads it; in that time no other is written to its
 * slot. Every output is written by one step.
 *
 *===------------------------------------------------------------------------===*/

#ifndef DISCO_ABI_ARTIFACT_H
#define DISCO_ABI_ARTIFACT_H

#include "disco/ABI/DeviceKernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The bytes "DSCO" in memory order. */
#define DISCO_ARTIFACT_MAGIC 0x4f435344u
#define DISCO_ARTIFACT_SYMBOL "disco_artifact_root"

/** A flag of an entry: its code honours the strides of its arguments. Without
 * it the runtime refuses tensors that are not dense and row-major. */
#define DISCO_ENTRY_STRIDED 1u

/** Largest number of slots of an entry. */
#define DISCO_MAX_SLOTS 256

/** Where a buffer of an entry is. */
enum {
  DISCO_BUFFER_INPUT = 0,
  DISCO_BUFFER_OUTPUT = 1,
  DISCO_BUFFER_CONSTANT = 2,
  DISCO_BUFFER_TEMPORARY = 3
};

typedef struct disco_abi_buffer {
  disco_dtype dtype;
  int32_t rank;
  /** [rank]. Below -1: the size that an input gives that name. Those of inputs
   * and outputs are as in the entry's types. */
  const int64_t *dims;
  int32_t kind;     /**< DISCO_BUFFER_* */
  int32_t index;    /**< of the input, output or slot; 0 for a constant */
  const void *data; /**< of a constant, on the host; else null */
} disco_abi_buffer;

/** What a step does. */
enum { DISCO_STEP_KERNEL = 0, DISCO_STEP_REPACK = 1 };

/** The operands of disco_kernel_call, as positions in a step's `operands`. The
 * bins of a onehot psi are its values. */
enum {
  DISCO_OPERAND_X = 0,
  DISCO_OPERAND_GY = 1,
  DISCO_OPERAND_OFFSETS = 2,
  DISCO_OPERAND_INDICES = 3,
  DISCO_OPERAND_VALUES = 4,
  DISCO_OPERAND_WEIGHT = 5,
  DISCO_OPERAND_BIAS = 6,
  DISCO_OPERAND_RESIDUAL = 7,
  DISCO_OPERAND_Y = 8,
  DISCO_OPERAND_GRAD_BIAS = 9,
  DISCO_NUM_OPERANDS = 10
};

typedef struct disco_abi_step {
  int32_t kind;       /**< DISCO_STEP_* */
  int32_t probe;      /**< index in the artifact's probes, or -1 */
  const char *family; /**< of kernels: "csr_gather"; else null */
  /** All but the batch, which is dimension 0 of x, and the pointers: those are
   * 0. Null for a repack. */
  const disco_kernel_call *call;
  const disco_repack *repack; /**< of x to y; null for a kernel */
  /** Buffers, or -1. Those of psi are constants. */
  int32_t operands[DISCO_NUM_OPERANDS];
} disco_abi_step;

/** An entry: a function of the source module. */
typedef struct disco_abi_entry {
  const char *name;
  const char *plan; /**< text for people, or "" */
  int32_t num_inputs;
  int32_t num_outputs;
  const disco_tensor_type *inputs;
  const disco_tensor_type *outputs;
  /** Computes the outputs. Returns 0, or a disco_status, after disco_raise.
   * Must not keep state between calls; several threads may call it at once. */
  int32_t (*run)(void *const *args);
  /** Bytes of workspace; negative after disco_raise. Gets the inputs'
   * descriptors only; their data may be null and must not be read. Null: always
   * 0. */
  int64_t (*workspace_bytes)(void *const *inputs);
  /** Writes all outputs' dimensions, one output after the other. Returns 0, or
   * a disco_status, after disco_raise. Gets the inputs' descriptors only, as
   * above. Null is allowed when no output has a dynamic dimension, or each of
   * them is named (below -1) and an input has it. */
  int32_t (*output_shapes)(void *const *inputs, int64_t *dims);
  uint64_t flags; /**< 0 or DISCO_ENTRY_STRIDED */
  /** On a GPU, where the three functions above are null. */
  int32_t num_steps;
  int32_t num_buffers;
  const disco_abi_step *steps;
  const disco_abi_buffer *buffers;
} disco_abi_entry;

/** The bytes of an entry without steps. */
#define DISCO_ENTRY_SIZE_CPU 72

/** An instrumented operation; see Probe.h. Its id is its index in the table. */
typedef struct disco_abi_probe {
  const char *op;         /**< "disco.conv" */
  const char *location;   /**< "net.mlir:12:8", or "" */
  const char *attributes; /**< in the grammar of Probe.h */
  int32_t num_operands;
  int32_t num_results;
} disco_abi_probe;

typedef struct disco_abi_artifact {
  uint32_t magic;       /**< DISCO_ARTIFACT_MAGIC */
  uint32_t abi_version; /**< DISCO_ABI_VERSION */
  uint64_t struct_size; /**< sizeof(disco_abi_artifact) */
  uint64_t entry_size;  /**< sizeof(disco_abi_entry), or as above */
  uint64_t probe_size;  /**< sizeof(disco_abi_probe) */
  const char *target;   /**< "cpu", or "cuda:sm_90a" for example */
  const char *cpu;      /**< "x86-64-v3" for example; the chip: "h200" */
  /** Names, as LLVM spells them, separated by commas, of the features that the
   * processor must have; or "". One that the runtime does not know counts as
   * missing. */
  const char *cpu_features;
  const char *producer; /**< "disco-compile 0.1.0" for example */
  int32_t num_entries;
  int32_t num_probes; /**< 0: not instrumented */
  const disco_abi_entry *entries;
  const disco_abi_probe *probes;
} disco_abi_artifact;

/** For an artifact's code: says why it is about to return a failure. The
 * runtime copies the text, and adds the entry's name. */
DISCO_API void disco_raise(const char *message);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DISCO_ABI_ARTIFACT_H */
