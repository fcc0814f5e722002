//===- Internal.h - the runtime's objects -----------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is behind the handles of disco.h. This code makes no exception leave a
// function of the C interface, and formats errors without allocating.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CORE_INTERNAL_H
#define DISCO_LIB_RUNTIME_CORE_INTERNAL_H

#include "disco/ABI/Artifact.h"

#include <cstdint>
#include <new>
#include <shared_mutex>
#include <string>
#include <vector>

struct disco_context {
  disco_context_options options;
  std::shared_mutex mutex;
  /// Serial numbers of prepared entries, sorted.
  std::vector<uint64_t> prepared;
};

struct disco_entry {
  const disco_abi_entry *abi;
  const disco_artifact *artifact;
  /// Never used twice in a process, so that a context does not take the entry
  /// of a later artifact at the same address for one that it prepared.
  uint64_t serial;
};

struct disco_artifact {
  std::string path;
  void *library = nullptr;
  const disco_abi_artifact *root = nullptr;
  std::vector<disco_entry> entries;

  ~disco_artifact();
};

namespace disco::runtime {

/// Sets the thread's error text and returns `status`.
[[gnu::format(printf, 2, 3)]] disco_status fail(disco_status status,
                                                const char *format, ...);

/// What disco_raise left behind for this thread ("" when nothing); clears it.
const char *takeRaised();
void clearRaised();

/// Runs `body`, turning exceptions into a status.
template <typename Body> disco_status guarded(Body &&body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return fail(DISCO_OUT_OF_MEMORY, "out of memory in the runtime");
  } catch (...) {
    return fail(DISCO_INTERNAL, "unexpected exception in the runtime");
  }
}

/// 0 for an unknown type.
int64_t sizeOfDType(disco_dtype dtype);

/// "f32", or "element type 99" for an unknown one.
struct DTypeName {
  explicit DTypeName(disco_dtype dtype);
  char text[32];
};

/// "cpu", "cuda:1", or "device 7:0" for an unknown kind.
struct DeviceName {
  explicit DeviceName(disco_device device);
  char text[48];
};

/// Fails unless `path` is a shared library of this machine with all its
/// segments in the file: the loader itself would crash on a truncated one.
disco_status checkSharedLibrary(const char *path);

/// Fails unless the processor has all of the comma separated features.
disco_status checkCpuFeatures(const disco_artifact &artifact);

/// Fails unless the tables are well formed.
disco_status checkArtifactTables(const char *path,
                                 const disco_abi_artifact *root);

} // namespace disco::runtime

#endif // DISCO_LIB_RUNTIME_CORE_INTERNAL_H
