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
 *   68 num_probes   i32                      (72 bytes)                   |
 *   72 entries      entry * ---------^                                    |
 *   80 probes       probe * ---.             disco_tensor_type [n]  <-----'
 *   (88 bytes)                 |              0 name  char *  (or null)
 *                              v              8 dtype i32
 *   disco_abi_probe [num_probes]             12 rank  i32
 *    0 op           char *                   16 dims  i64 *   (null if rank 0)
 *    8 location     char *                   (24 bytes)
 *   16 attributes   char *
 *   24 num_operands i32
 *   28 num_results  i32
 *   (32 bytes)
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
 *===------------------------------------------------------------------------===*/

#ifndef DISCO_ABI_ARTIFACT_H
#define DISCO_ABI_ARTIFACT_H

#include "disco/ABI/disco.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The bytes "DSCO" in memory order. */
#define DISCO_ARTIFACT_MAGIC 0x4f435344u
#define DISCO_ARTIFACT_SYMBOL "disco_artifact_root"

/** A flag of an entry: its code honours the strides of its arguments. Without
 * it the runtime refuses tensors that are not dense and row-major. */
#define DISCO_ENTRY_STRIDED 1u

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
} disco_abi_entry;

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
  uint64_t entry_size;  /**< sizeof(disco_abi_entry) */
  uint64_t probe_size;  /**< sizeof(disco_abi_probe) */
  const char *target;   /**< "cpu" */
  const char *cpu;      /**< "x86-64-v3" for example */
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
