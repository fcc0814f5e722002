/*===- Memref.h - memref descriptors for artifacts written by hand --*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===*/

#ifndef DISCO_TEST_MEMREF_H
#define DISCO_TEST_MEMREF_H

#include "disco/ABI/Probe.h"

/** Enough for rank 4; strides start at sizes + rank. */
typedef struct {
  void *allocated, *aligned;
  int64_t offset;
  int64_t sizes[8];
} memref;

static inline memref *memref_of(void *const *args, int index) {
  return (memref *)args[index];
}

#define COUNT(ARRAY) ((int32_t)(sizeof(ARRAY) / sizeof(ARRAY)[0]))

#define ROOT_HEADER                                                            \
  .magic = DISCO_ARTIFACT_MAGIC, .abi_version = DISCO_ABI_VERSION,             \
  .struct_size = sizeof(disco_abi_artifact),                                   \
  .entry_size = sizeof(disco_abi_entry), .probe_size = sizeof(disco_abi_probe)

extern DISCO_API const disco_abi_artifact disco_artifact_root;

#endif
