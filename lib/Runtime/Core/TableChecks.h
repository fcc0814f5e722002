//===- TableChecks.h - checks of an artifact's tables -----------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CORE_TABLECHECKS_H
#define DISCO_LIB_RUNTIME_CORE_TABLECHECKS_H

#include "Internal.h"

namespace disco::runtime {

/// The checks share the path that goes into every message.
struct TableChecker {
  const char *path;
  LoadedSegments library = {};
  int32_t numProbes = 0;

  disco_status number(const char *what, int64_t expected, int64_t got) const;
  disco_status range(const char *what, int64_t low, int64_t high,
                     int64_t got) const;
  disco_status present(const char *what, const void *pointer) const;
  disco_status absent(const char *what, const void *pointer) const;
  /// Fails unless all of `bytes` bytes at `pointer` are the library's.
  disco_status table(const char *what, const void *pointer,
                     uint64_t bytes) const;
};

/// Fails unless the buffers and steps of an entry, whose types are well formed,
/// are: numbers in range, operands of the sizes that the kernels read, nothing
/// read before it is written.
disco_status checkSteps(const TableChecker &check,
                        const disco_abi_entry &entry);

} // namespace disco::runtime

#endif // DISCO_LIB_RUNTIME_CORE_TABLECHECKS_H
