//===- Tables.cpp - are an artifact's tables well formed ------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TableChecks.h"

#include <cstdio>
#include <cstring>
#include <utility>

namespace disco::runtime {

disco_status TableChecker::number(const char *what, int64_t expected,
                                  int64_t got) const {
  if (expected == got)
    return DISCO_OK;
  return fail(DISCO_ABI_MISMATCH,
              "expected artifact '%s' to have %s %lld, but got %lld", path,
              what, static_cast<long long>(expected),
              static_cast<long long>(got));
}

disco_status TableChecker::range(const char *what, int64_t low, int64_t high,
                                 int64_t got) const {
  if (got >= low && got <= high)
    return DISCO_OK;
  return fail(DISCO_ABI_MISMATCH,
              "expected artifact '%s' to have %s in [%lld, %lld], but got "
              "%lld",
              path, what, static_cast<long long>(low),
              static_cast<long long>(high), static_cast<long long>(got));
}

disco_status TableChecker::present(const char *what,
                                   const void *pointer) const {
  if (pointer)
    return DISCO_OK;
  return fail(DISCO_ABI_MISMATCH,
              "expected artifact '%s' to have %s, but got null", path, what);
}

disco_status TableChecker::absent(const char *what, const void *pointer) const {
  if (!pointer)
    return DISCO_OK;
  return fail(DISCO_ABI_MISMATCH,
              "expected artifact '%s' to have no %s, but got one", path, what);
}

disco_status TableChecker::table(const char *what, const void *pointer,
                                 uint64_t bytes) const {
  if (disco_status s = present(what, pointer))
    return s;
  if (library.hold(pointer, bytes))
    return DISCO_OK;
  return fail(DISCO_ABI_MISMATCH,
              "expected artifact '%s' to hold all of %s, but got %llu bytes at "
              "%p, which are not all in it",
              path, what, static_cast<unsigned long long>(bytes), pointer);
}

namespace {

constexpr int32_t maxEntries = 4096;
constexpr int32_t maxProbes = 1 << 20;

struct Checker : TableChecker {
  disco_status type(const disco_abi_entry &entry, const char *kind,
                    int32_t index, const disco_tensor_type &type) const {
    char what[256];
    std::snprintf(what, sizeof what, "a rank of %s %d of entry '%s'", kind,
                  index, entry.name);
    if (disco_status s = range(what, 0, DISCO_MAX_RANK, type.rank))
      return s;
    std::snprintf(what, sizeof what, "an element type of %s %d of entry '%s'",
                  kind, index, entry.name);
    if (disco_status s = range(what, DISCO_F64, DISCO_I64, type.dtype))
      return s;
    std::snprintf(what, sizeof what, "dimensions of %s %d of entry '%s'", kind,
                  index, entry.name);
    return type.rank == 0 ? DISCO_OK : present(what, type.dims);
  }

  disco_status types(const disco_abi_entry &entry, const char *kind,
                     int32_t count, const disco_tensor_type *table) const {
    char what[256];
    std::snprintf(what, sizeof what, "a number of %ss of entry '%s'", kind,
                  entry.name);
    if (disco_status s = range(what, 0, DISCO_MAX_TENSORS, count))
      return s;
    std::snprintf(what, sizeof what, "%ss of entry '%s'", kind, entry.name);
    if (count > 0)
      if (disco_status s = this->table(what, table, count * sizeof *table))
        return s;
    for (int32_t i = 0; i < count; ++i)
      if (disco_status s = type(entry, kind, i, table[i]))
        return s;
    return DISCO_OK;
  }

  disco_status entry(int32_t index, const std::vector<disco_abi_entry> &entries,
                     bool isDevice) const {
    const disco_abi_entry &e = entries[index];
    char what[256];
    std::snprintf(what, sizeof what, "a name of entry %d", index);
    if (disco_status s = present(what, e.name))
      return s;
    for (int32_t other = 0; other < index; ++other)
      if (std::strcmp(entries[other].name, e.name) == 0)
        return fail(DISCO_ABI_MISMATCH,
                    "expected entries of artifact '%s' to have different "
                    "names, but entries %d and %d are both '%s'",
                    path, other, index, e.name);
    std::snprintf(what, sizeof what, "a plan of entry '%s'", e.name);
    if (disco_status s = present(what, e.plan))
      return s;
    std::snprintf(what, sizeof what, "flags of entry '%s'", e.name);
    if (disco_status s =
            range(what, 0, DISCO_ENTRY_STRIDED, static_cast<int64_t>(e.flags)))
      return s;
    if (disco_status s = types(e, "input", e.num_inputs, e.inputs))
      return s;
    if (disco_status s = types(e, "output", e.num_outputs, e.outputs))
      return s;
    return isDevice ? steps(e) : code(e);
  }

  /// An entry of functions.
  disco_status code(const disco_abi_entry &e) const {
    char what[256];
    std::snprintf(what, sizeof what, "code of entry '%s'", e.name);
    if (disco_status s = present(what, reinterpret_cast<const void *>(e.run)))
      return s;
    std::snprintf(what, sizeof what, "a number of steps of entry '%s'", e.name);
    if (disco_status s = range(what, 0, 0, e.num_steps))
      return s;
    std::snprintf(what, sizeof what, "an output_shapes function of entry '%s'",
                  e.name);
    return needsOutputShapes(e)
               ? present(what, reinterpret_cast<const void *>(e.output_shapes))
               : DISCO_OK;
  }

  /// An entry of data.
  disco_status steps(const disco_abi_entry &e) const {
    char what[256];
    for (const auto &[name, function] :
         {std::pair("code", reinterpret_cast<const void *>(e.run)),
          std::pair("workspace_bytes function",
                    reinterpret_cast<const void *>(e.workspace_bytes)),
          std::pair("output_shapes function",
                    reinterpret_cast<const void *>(e.output_shapes))}) {
      std::snprintf(what, sizeof what, "%s of entry '%s'", name, e.name);
      if (disco_status s = absent(what, function))
        return s;
    }
    std::snprintf(what, sizeof what, "flags of entry '%s'", e.name);
    if (disco_status s = range(what, 0, 0, static_cast<int64_t>(e.flags)))
      return s;
    if (needsOutputShapes(e))
      return fail(DISCO_ABI_MISMATCH,
                  "expected every dimension of the outputs of entry '%s' of "
                  "artifact '%s' to be a number or the name of one of an "
                  "input, but got another",
                  e.name, path);
    return checkSteps(*this, e);
  }

  /// Whether an output has a dimension that the inputs' types do not give.
  static bool needsOutputShapes(const disco_abi_entry &e) {
    const auto isNamedByInput = [&](int64_t name) {
      for (int32_t i = 0; i < e.num_inputs; ++i)
        for (int32_t d = 0; d < e.inputs[i].rank; ++d)
          if (e.inputs[i].dims[d] == name)
            return true;
      return false;
    };
    for (int32_t i = 0; i < e.num_outputs; ++i)
      for (int32_t d = 0; d < e.outputs[i].rank; ++d) {
        const int64_t dim = e.outputs[i].dims[d];
        if (dim == -1 || (dim < -1 && !isNamedByInput(dim)))
          return true;
      }
    return false;
  }

  disco_status probe(int32_t index, const disco_abi_probe &p) const {
    char what[64];
    std::snprintf(what, sizeof what, "texts of probe %d", index);
    if (disco_status s =
            present(what, p.op && p.location && p.attributes ? p.op : nullptr))
      return s;
    std::snprintf(what, sizeof what, "a number of operands of probe %d", index);
    if (disco_status s = range(what, 0, DISCO_MAX_TENSORS, p.num_operands))
      return s;
    std::snprintf(what, sizeof what, "a number of results of probe %d", index);
    return range(what, 0, DISCO_MAX_TENSORS, p.num_results);
  }
};

} // namespace

bool isDeviceTarget(const char *target) {
  return std::strncmp(target, "cuda:", 5) == 0;
}

DeviceArch::DeviceArch(const char *target) {
  if (std::strncmp(target, "cuda:sm_", 8) != 0)
    return;
  const char *text = target + 8;
  int parsed = 0;
  for (int i = 0; i < 4 && *text >= '0' && *text <= '9'; ++i)
    parsed = 10 * parsed + (*text++ - '0');
  isExact = *text == 'a';
  if (parsed >= 10 && text[isExact] == '\0')
    number = parsed;
}

/// What comes before anything that depends on it.
static disco_status checkTarget(const char *path,
                                const disco_abi_artifact &root) {
  const char *target = root.target;
  if (std::strcmp(target, "cpu") == 0)
    return DISCO_OK;
  if (DeviceArch(target).number < firstDeviceArch)
    return fail(DISCO_UNSUPPORTED_TARGET,
                "expected artifact '%s' to have target cpu or cuda:sm_N, N at "
                "least %d (cuda:sm_90a), but got '%.100s'",
                path, firstDeviceArch, target);
  // One without steps is for the CPU.
  return root.entry_size == sizeof(disco_abi_entry)
             ? DISCO_OK
             : fail(DISCO_ABI_MISMATCH,
                    "expected artifact '%s' to have entry_size %zu, as target "
                    "%s needs, but got %llu",
                    path, sizeof(disco_abi_entry), target,
                    static_cast<unsigned long long>(root.entry_size));
}

disco_status checkArtifactTables(const char *path,
                                 const disco_abi_artifact *root,
                                 std::vector<disco_abi_entry> &entries) {
  Checker check{{path, LoadedSegments(root)}};
  // Magic and version come first: the rest has no meaning without them.
  if (root->magic != DISCO_ARTIFACT_MAGIC)
    return fail(DISCO_ABI_MISMATCH,
                "expected artifact '%s' to have magic 0x%08x, but got 0x%08x",
                path, DISCO_ARTIFACT_MAGIC, root->magic);
  if (disco_status s =
          check.number("ABI version", DISCO_ABI_VERSION, root->abi_version))
    return s;
  if (disco_status s = check.number("struct_size", sizeof *root,
                                    static_cast<int64_t>(root->struct_size)))
    return s;
  if (root->entry_size != DISCO_ENTRY_SIZE_CPU)
    if (disco_status s = check.number("entry_size", sizeof(disco_abi_entry),
                                      static_cast<int64_t>(root->entry_size)))
      return s;
  if (disco_status s = check.number("probe_size", sizeof(disco_abi_probe),
                                    static_cast<int64_t>(root->probe_size)))
    return s;
  const bool texts =
      root->target && root->cpu && root->cpu_features && root->producer;
  if (disco_status s = check.present("texts", texts ? root : nullptr))
    return s;
  if (disco_status s = checkTarget(path, *root))
    return s;
  if (disco_status s =
          check.range("a number of entries", 0, maxEntries, root->num_entries))
    return s;
  if (disco_status s =
          check.range("a number of probes", 0, maxProbes, root->num_probes))
    return s;
  check.numProbes = root->num_probes;
  if (root->num_entries > 0)
    if (disco_status s = check.table("entries", root->entries,
                                     root->num_entries * root->entry_size))
      return s;
  if (root->num_probes > 0)
    if (disco_status s = check.table("probes", root->probes,
                                     root->num_probes * root->probe_size))
      return s;
  for (int32_t i = 0; i < root->num_entries; ++i) {
    disco_abi_entry entry = {};
    std::memcpy(&entry,
                reinterpret_cast<const char *>(root->entries) +
                    i * root->entry_size,
                root->entry_size);
    entries.push_back(entry);
    if (disco_status s = check.entry(i, entries, isDeviceTarget(root->target)))
      return s;
  }
  for (int32_t i = 0; i < root->num_probes; ++i)
    if (disco_status s = check.probe(i, root->probes[i]))
      return s;
  return DISCO_OK;
}

} // namespace disco::runtime
