//===- Context.cpp - devices, memory and prepared entries -----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Internal.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string_view>

using namespace disco::runtime;

static void *allocateDefault(void *, size_t bytes, size_t alignment) {
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  // No object can be larger, and some allocators end the process when asked.
  if (rounded < bytes || rounded > static_cast<size_t>(PTRDIFF_MAX))
    return nullptr;
  return std::aligned_alloc(alignment, rounded);
}

static void releaseDefault(void *, void *memory, size_t) { std::free(memory); }

disco_status disco_context_create(const disco_context_options *options,
                                  disco_context **context) {
  return guarded([&]() -> disco_status {
    if (!context)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected context to be a pointer, but got null");
    disco_context_options chosen{};
    chosen.device = {DISCO_CPU, 0};
    if (options) {
      if (options->struct_size < sizeof chosen)
        return fail(DISCO_INVALID_ARGUMENT,
                    "expected struct_size of the context options to be at "
                    "least %zu, but got %llu",
                    sizeof chosen,
                    static_cast<unsigned long long>(options->struct_size));
      chosen = *options;
    }
    const DeviceName device(chosen.device);
    if (chosen.device.kind == DISCO_CUDA)
      return fail(DISCO_UNSUPPORTED_TARGET,
                  "expected device to be cpu, as this runtime has no CUDA "
                  "part, but got %s",
                  device.text);
    if (chosen.device.kind != DISCO_CPU || chosen.device.id != 0)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected device to be cpu or cuda, but got %s", device.text);
    if (chosen.stream)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected stream to be null on the cpu, but got %p",
                  chosen.stream);
    if (!chosen.allocate != !chosen.release)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected both or neither of allocate and release to be "
                  "given, but got only %s",
                  chosen.allocate ? "allocate" : "release");
    if (!chosen.allocate) {
      chosen.allocate = allocateDefault;
      chosen.release = releaseDefault;
    }
    auto made = std::make_unique<disco_context>();
    made->options = chosen;
    *context = made.release();
    return DISCO_OK;
  });
}

void disco_context_destroy(disco_context *context) { delete context; }

disco_status disco_allocate(disco_context *context, uint64_t bytes,
                            void **memory) {
  if (!context || !memory)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected %s to be a pointer, but got null",
                context ? "memory" : "context");
  if (bytes == 0) {
    *memory = nullptr;
    return DISCO_OK;
  }
  void *result = context->options.allocate(
      context->options.user, static_cast<size_t>(bytes), DISCO_ALIGNMENT);
  if (!result)
    return fail(DISCO_OUT_OF_MEMORY,
                "out of memory: cannot allocate %llu bytes on %s",
                static_cast<unsigned long long>(bytes),
                DeviceName(context->options.device).text);
  if (reinterpret_cast<uintptr_t>(result) % DISCO_ALIGNMENT != 0) {
    context->options.release(context->options.user, result,
                             static_cast<size_t>(bytes));
    return fail(DISCO_INVALID_ARGUMENT,
                "expected the context's allocator to align memory to %d bytes, "
                "but got address %p",
                DISCO_ALIGNMENT, result);
  }
  *memory = result;
  return DISCO_OK;
}

void disco_release(disco_context *context, void *memory, uint64_t bytes) {
  if (context && memory)
    context->options.release(context->options.user, memory,
                             static_cast<size_t>(bytes));
}

disco_status disco_prepare(disco_context *context, const disco_entry *entry) {
  return guarded([&]() -> disco_status {
    if (!context || !entry)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected %s to be a pointer, but got null",
                  context ? "entry" : "context");
    const disco_artifact &artifact = *entry->artifact;
    if (std::string_view(artifact.root->target) != "cpu")
      return fail(
          DISCO_UNSUPPORTED_TARGET,
          "expected '%s' to be built for cpu, the context's device, but "
          "got target %s",
          artifact.path.c_str(), artifact.root->target);
    if (disco_status status = checkCpuFeatures(artifact); status != DISCO_OK)
      return status;
    std::unique_lock<std::shared_mutex> lock(context->mutex);
    auto &prepared = context->prepared;
    auto place =
        std::lower_bound(prepared.begin(), prepared.end(), entry->serial);
    if (place == prepared.end() || *place != entry->serial)
      prepared.insert(place, entry->serial);
    return DISCO_OK;
  });
}
