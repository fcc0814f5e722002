//===- Error.cpp - status, messages and names -----------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ErrorText.h"
#include "Internal.h"

static thread_local disco::runtime::ErrorText lastError;
static thread_local char raised[1024];

namespace disco::runtime {

disco_status fail(disco_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  lastError.format(format, arguments);
  va_end(arguments);
  return status;
}

void clearRaised() { raised[0] = '\0'; }

const char *takeRaised() {
  static thread_local char taken[sizeof raised];
  std::memcpy(taken, raised, sizeof raised);
  clearRaised();
  return taken;
}

static constexpr struct {
  const char *name;
  int64_t size;
} dtypes[] = {{"f64", 8},  {"f32", 4}, {"f16", 2},
              {"bf16", 2}, {"i32", 4}, {"i64", 8}};
static constexpr int32_t numDTypes = sizeof dtypes / sizeof dtypes[0];

int64_t sizeOfDType(disco_dtype dtype) {
  return dtype >= 0 && dtype < numDTypes ? dtypes[dtype].size : 0;
}

DTypeName::DTypeName(disco_dtype dtype) {
  if (dtype >= 0 && dtype < numDTypes)
    std::snprintf(text, sizeof text, "%s", dtypes[dtype].name);
  else
    std::snprintf(text, sizeof text, "element type %d", dtype);
}

DeviceName::DeviceName(disco_device device) {
  if (device.kind == DISCO_CPU && device.id == 0)
    std::snprintf(text, sizeof text, "cpu");
  else if (device.kind == DISCO_CPU || device.kind == DISCO_CUDA)
    std::snprintf(text, sizeof text, "%s:%d",
                  device.kind == DISCO_CPU ? "cpu" : "cuda", device.id);
  else
    std::snprintf(text, sizeof text, "device %d:%d", device.kind, device.id);
}

} // namespace disco::runtime

const char *disco_status_name(disco_status status) {
  static constexpr const char *names[] = {"ok",
                                          "invalid_argument",
                                          "out_of_memory",
                                          "not_found",
                                          "io_error",
                                          "abi_mismatch",
                                          "unsupported_target",
                                          "not_prepared",
                                          "execution_failed",
                                          "internal"};
  static_assert(sizeof names / sizeof names[0] == DISCO_INTERNAL + 1);
  return status >= DISCO_OK && status <= DISCO_INTERNAL ? names[status]
                                                        : "unknown";
}

const char *disco_last_error(void) { return lastError.text; }

uint32_t disco_abi_version(void) { return DISCO_ABI_VERSION; }

void disco_raise(const char *message) {
  std::snprintf(raised, sizeof raised, "%s", message ? message : "");
}
