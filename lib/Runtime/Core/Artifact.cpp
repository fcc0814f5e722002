//===- Artifact.cpp - loading and querying artifacts ----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Internal.h"
#include "Steps.h"

#include "disco/ABI/Probe.h"

#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <memory>

using namespace disco::runtime;

disco_artifact::~disco_artifact() {
  for (const std::weak_ptr<PreparedEntry> &weak : prepared)
    if (const std::shared_ptr<PreparedEntry> entry = weak.lock())
      entry->release();
  if (library)
    ::dlclose(library);
}

disco_status disco_artifact_open(const char *path, disco_artifact **artifact) {
  return guarded([&]() -> disco_status {
    if (!path || !artifact)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected %s to be a pointer, but got null",
                  path ? "artifact" : "path");
    if (disco_status status = checkSharedLibrary(path); status != DISCO_OK)
      return status;
    auto opened = std::make_unique<disco_artifact>();
    opened->path = path;
    // The loader searches its own folders for a name without a slash.
    const std::string file =
        std::strchr(path, '/') ? opened->path : "./" + opened->path;
    opened->library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!opened->library)
      return fail(DISCO_IO_ERROR, "cannot load '%s': %s", path, ::dlerror());
    const void *symbol = ::dlsym(opened->library, DISCO_ARTIFACT_SYMBOL);
    if (!symbol)
      return fail(DISCO_ABI_MISMATCH,
                  "expected '%s' to export %s, but it does not", path,
                  DISCO_ARTIFACT_SYMBOL);
    opened->root = static_cast<const disco_abi_artifact *>(symbol);
    if (disco_status status =
            checkArtifactTables(path, opened->root, opened->tables);
        status != DISCO_OK)
      return status;
    static std::atomic<uint64_t> serial{0};
    for (const disco_abi_entry &entry : opened->tables)
      opened->entries.push_back({&entry, opened.get(), ++serial});
    *artifact = opened.release();
    return DISCO_OK;
  });
}

void disco_artifact_close(disco_artifact *artifact) { delete artifact; }

const char *disco_artifact_target(const disco_artifact *artifact) {
  return artifact ? artifact->root->target : "";
}
const char *disco_artifact_cpu(const disco_artifact *artifact) {
  return artifact ? artifact->root->cpu : "";
}
const char *disco_artifact_cpu_features(const disco_artifact *artifact) {
  return artifact ? artifact->root->cpu_features : "";
}
const char *disco_artifact_producer(const disco_artifact *artifact) {
  return artifact ? artifact->root->producer : "";
}

int32_t disco_artifact_num_entries(const disco_artifact *artifact) {
  return artifact ? artifact->root->num_entries : 0;
}

/// Fails unless `object` and `result` are set and 0 <= index < count.
static disco_status checkIndex(const void *object, const void *result,
                               int32_t index, int32_t count, const char *what) {
  if (!object || !result)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected %s to be a pointer, but got null",
                object ? "the result" : "the handle");
  if (index < 0 || index >= count)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected %s index to be in [0, %d), but got %d", what, count,
                index);
  return DISCO_OK;
}

disco_status disco_artifact_entry(const disco_artifact *artifact, int32_t index,
                                  const disco_entry **entry) {
  const disco_status status =
      checkIndex(artifact, static_cast<const void *>(entry), index,
                 disco_artifact_num_entries(artifact), "entry");
  if (status == DISCO_OK)
    *entry = &artifact->entries[index];
  return status;
}

disco_status disco_artifact_find_entry(const disco_artifact *artifact,
                                       const char *name,
                                       const disco_entry **entry) {
  return guarded([&]() -> disco_status {
    if (!artifact || !name || !entry)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected %s to be a pointer, but got null",
                  !artifact ? "artifact"
                  : name    ? "entry"
                            : "name");
    std::string available;
    for (const disco_entry &candidate : artifact->entries) {
      if (std::strcmp(candidate.abi->name, name) == 0) {
        *entry = &candidate;
        return DISCO_OK;
      }
      available += available.empty() ? "" : ", ";
      available += candidate.abi->name;
    }
    return fail(DISCO_NOT_FOUND,
                "expected '%s' to have an entry '%s', but it has %s",
                artifact->path.c_str(), name,
                available.empty() ? "none" : available.c_str());
  });
}

const char *disco_entry_name(const disco_entry *entry) {
  return entry ? entry->abi->name : "";
}
const char *disco_entry_plan(const disco_entry *entry) {
  return entry ? entry->abi->plan : "";
}
int32_t disco_entry_is_strided(const disco_entry *entry) {
  return entry && (entry->abi->flags & DISCO_ENTRY_STRIDED) != 0;
}
int32_t disco_entry_num_inputs(const disco_entry *entry) {
  return entry ? entry->abi->num_inputs : 0;
}
int32_t disco_entry_num_outputs(const disco_entry *entry) {
  return entry ? entry->abi->num_outputs : 0;
}

disco_status disco_entry_input(const disco_entry *entry, int32_t index,
                               disco_tensor_type *type) {
  const disco_status status =
      checkIndex(entry, type, index, disco_entry_num_inputs(entry), "input");
  if (status == DISCO_OK)
    *type = entry->abi->inputs[index];
  return status;
}

disco_status disco_entry_output(const disco_entry *entry, int32_t index,
                                disco_tensor_type *type) {
  const disco_status status =
      checkIndex(entry, type, index, disco_entry_num_outputs(entry), "output");
  if (status == DISCO_OK)
    *type = entry->abi->outputs[index];
  return status;
}

int32_t disco_artifact_num_probes(const disco_artifact *artifact) {
  return artifact ? artifact->root->num_probes : 0;
}

disco_status disco_artifact_probe(const disco_artifact *artifact, int32_t index,
                                  disco_abi_probe *probe) {
  const disco_status status = checkIndex(
      artifact, probe, index, disco_artifact_num_probes(artifact), "probe");
  if (status == DISCO_OK)
    *probe = artifact->root->probes[index];
  return status;
}
