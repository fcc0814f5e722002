//===- Context.cpp - devices, memory and prepared entries -----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Internal.h"
#include "Steps.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
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

static disco_status checkOptions(const disco_context_options &options) {
  const DeviceName device(options.device);
  if (options.device.kind != DISCO_CUDA &&
      (options.device.kind != DISCO_CPU || options.device.id != 0))
    return fail(DISCO_INVALID_ARGUMENT,
                "expected device to be cpu or cuda, but got %s", device.text);
  if (options.device.kind == DISCO_CPU && options.stream)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected stream to be null on the cpu, but got %p",
                options.stream);
  if (!options.allocate != !options.release)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected both or neither of allocate and release to be "
                "given, but got only %s",
                options.allocate ? "allocate" : "release");
  return DISCO_OK;
}

/// Fails, saying what is missing, where the device cannot be used.
static disco_status openDevice(const disco_context_options &options,
                               disco_context &context) {
  context.properties.struct_size = sizeof context.properties;
  if (disco_status s =
          disco_device_query(options.device.id, &context.properties)) {
    const std::string reason = disco_last_error();
    return fail(s, "cannot use %s: %s", DeviceName(options.device).text,
                reason.c_str());
  }
  context.device = {sizeof context.device, options.device.id, 0,
                    options.stream,        options.allocate,  options.release,
                    options.user};
  return DISCO_OK;
}

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
    if (disco_status s = checkOptions(chosen))
      return s;
    auto made = std::make_unique<disco_context>();
    const disco_status status =
        chosen.device.kind == DISCO_CUDA ? openDevice(chosen, *made) : DISCO_OK;
    if (status != DISCO_OK)
      return status;
    if (chosen.device.kind == DISCO_CPU && !chosen.allocate) {
      chosen.allocate = allocateDefault;
      chosen.release = releaseDefault;
    }
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
  if (!context->isOnCpu())
    return disco_device_allocate(&context->device, bytes, memory);
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
  if (!context || !memory)
    return;
  if (context->isOnCpu())
    context->options.release(context->options.user, memory,
                             static_cast<size_t>(bytes));
  else
    disco_device_release(&context->device, memory, bytes);
}

//===----------------------------------------------------------------------===//
// Preparing
//===----------------------------------------------------------------------===//

/// Whether code for a target runs on a device: that of a suffix on exactly this
/// architecture, others on later ones too, as the kernels come with PTX.
static bool runsOn(const char *target, int device) {
  const DeviceArch arch(target);
  return arch.number > 0 &&
         (arch.isExact ? arch.number == device : arch.number <= device);
}

disco_status disco::runtime::checkTarget(const disco_context &context,
                                         const disco_artifact &artifact) {
  const char *target = artifact.root->target;
  if (context.isOnCpu()) {
    if (std::string_view(target) != "cpu")
      return fail(
          DISCO_UNSUPPORTED_TARGET,
          "expected '%s' to be built for cpu, the context's device, but "
          "got target %s",
          artifact.path.c_str(), target);
    return checkCpuFeatures(artifact);
  }
  const DeviceName device(context.options.device);
  const disco_device_properties &properties = context.properties;
  const int arch = 10 * properties.major + properties.minor;
  if (!isDeviceTarget(target) || !runsOn(target, arch))
    return fail(DISCO_UNSUPPORTED_TARGET,
                "expected '%s' to be built for sm_%d, the architecture of %s "
                "(%s), but got target %s",
                artifact.path.c_str(), arch, device.text, properties.name,
                target);
  return DISCO_OK;
}

/// The entry's kernels and constants, brought to the device.
static disco_status prepareOnDevice(disco_context &context,
                                    const disco_entry &entry,
                                    std::shared_ptr<PreparedEntry> &prepared) {
  auto made = std::make_shared<PreparedEntry>(context.device);
  if (disco_status s = made->prepare(*entry.abi))
    return s;
  const std::lock_guard<std::mutex> lock(entry.artifact->mutex);
  auto &all = entry.artifact->prepared;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](const auto &weak) { return weak.expired(); }),
            all.end());
  all.push_back(made);
  prepared = std::move(made);
  return DISCO_OK;
}

disco_status disco_prepare(disco_context *context, const disco_entry *entry) {
  return guarded([&]() -> disco_status {
    if (!context || !entry)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected %s to be a pointer, but got null",
                  context ? "entry" : "context");
    if (disco_status s = checkTarget(*context, *entry->artifact))
      return s;
    {
      const std::shared_lock<std::shared_mutex> lock(context->mutex);
      if (context->prepared.count(entry->serial))
        return DISCO_OK;
    }
    // Not under the lock: entries that are prepared may run meanwhile. If
    // another thread prepares this one, too, the first stays.
    std::shared_ptr<PreparedEntry> prepared;
    if (!context->isOnCpu())
      if (disco_status s = prepareOnDevice(*context, *entry, prepared))
        return s;
    const std::unique_lock<std::shared_mutex> lock(context->mutex);
    context->prepared.emplace(entry->serial, std::move(prepared));
    return DISCO_OK;
  });
}
