//===- Device.cpp - loading and calling the CUDA library ------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../CPU/CpuGather/Problem.h"
#include "Internal.h"

#include <algorithm>
#include <cinttypes>
#include <dlfcn.h>

using namespace disco::runtime;

namespace {

/// The library, or why there is none.
struct Loaded {
  const disco_cuda_library *library = nullptr;
  std::string error;
};

/// The folder that holds this library, with a slash; "" when unknown.
std::string ownFolder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&disco_device_count), &info) ||
      !info.dli_fname)
    return "";
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

Loaded load() {
  const std::string path = ownFolder() + "libdisco_runtime_cuda.so";
  Loaded loaded;
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *why = dlerror();
    loaded.error =
        "cannot load the CUDA kernels: " + std::string(why ? why : path);
    return loaded;
  }
  const auto *root = static_cast<const disco_cuda_library *>(
      dlsym(handle, DISCO_CUDA_LIBRARY_SYMBOL));
  if (!root || root->struct_size != sizeof *root)
    loaded.error =
        "expected '" + path + "' to be of the same build as libdisco_runtime";
  else
    loaded.library = root;
  return loaded;
}

/// Calls body(library). It is never unloaded: driver threads may be in it.
template <typename Body> disco_status withLibrary(Body &&body) {
  return guarded([&]() -> disco_status {
    static const Loaded loaded = load();
    if (!loaded.library)
      return fail(DISCO_UNSUPPORTED_TARGET, "%s", loaded.error.c_str());
    const disco_status status = body(*loaded.library);
    if (status != DISCO_OK)
      return fail(status, "%s", loaded.library->last_error());
    return DISCO_OK;
  });
}

disco_status failNull(const char *what) {
  return fail(DISCO_INVALID_ARGUMENT,
              "expected %s to be a pointer, but got null", what);
}

disco_status checkContext(const disco_device_context *context) {
  if (!context)
    return failNull("context");
  if (context->struct_size != sizeof *context)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected struct_size of the device context to be %zu, but got "
                "%" PRIu64,
                sizeof *context, context->struct_size);
  if (!context->allocate != !context->release)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected both or neither of allocate and release to be given, "
                "but got only %s",
                context->allocate ? "allocate" : "release");
  return DISCO_OK;
}

disco_status checkRange(const char *what, int64_t high, int64_t got) {
  if (got >= 0 && got <= high)
    return DISCO_OK;
  return fail(DISCO_INVALID_ARGUMENT,
              "expected %s to be in [0, %" PRId64 "], but got %" PRId64, what,
              high, got);
}

/// Numbers, but not what only a family knows of its schedules.
disco_status checkCall(const disco_kernel_call *call,
                       disco::cpu_gather::Problem &problem) {
  if (disco_status s = disco::cpu_gather::readNumbers(call, problem))
    return s;
  const disco_schedule &schedule = call->schedule;
  if (disco_status s = checkRange("the layout of x", DISCO_NUM_LAYOUTS - 1,
                                  schedule.in_layout))
    return s;
  if (disco_status s = checkRange("the layout of y", DISCO_NUM_LAYOUTS - 1,
                                  schedule.out_layout))
    return s;
  return checkRange("the schedule's number of fields",
                    DISCO_MAX_SCHEDULE_FIELDS, schedule.num_fields);
}

disco_status checkCall(const disco_kernel_call *call) {
  disco::cpu_gather::Problem problem;
  return checkCall(call, problem);
}

} // namespace

disco_status disco_device_count(int32_t *count) {
  if (!count)
    return failNull("count");
  return withLibrary([&](const auto &cuda) { return cuda.count(count); });
}

disco_status disco_device_query(int32_t device,
                                disco_device_properties *properties) {
  if (!properties)
    return failNull("properties");
  if (properties->struct_size != sizeof *properties)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected struct_size of the properties to be %zu, but got "
                "%" PRIu64,
                sizeof *properties, properties->struct_size);
  return withLibrary(
      [&](const auto &cuda) { return cuda.query(device, properties); });
}

disco_status disco_device_allocate(const disco_device_context *context,
                                   uint64_t bytes, void **memory) {
  if (disco_status s = checkContext(context))
    return s;
  if (!memory)
    return failNull("memory");
  return withLibrary(
      [&](const auto &cuda) { return cuda.allocate(context, bytes, memory); });
}

void disco_device_release(const disco_device_context *context, void *memory,
                          uint64_t bytes) {
  if (memory && checkContext(context) == DISCO_OK)
    withLibrary([&](const auto &cuda) {
      cuda.release(context, memory, bytes);
      return disco_status(DISCO_OK);
    });
}

disco_status disco_device_copy(const disco_device_context *context, void *to,
                               const void *from, uint64_t bytes) {
  if (disco_status s = checkContext(context))
    return s;
  if (bytes == 0)
    return DISCO_OK;
  if (!to || !from)
    return failNull(to ? "from" : "to");
  return withLibrary(
      [&](const auto &cuda) { return cuda.copy(context, to, from, bytes); });
}

disco_status disco_device_synchronize(const disco_device_context *context) {
  if (disco_status s = checkContext(context))
    return s;
  return withLibrary(
      [&](const auto &cuda) { return cuda.synchronize(context); });
}

disco_status
disco::runtime::checkDeviceMemory(const disco_device_context &context,
                                  const char *what, const void *pointer,
                                  uint64_t bytes, uint64_t alignment) {
  return withLibrary([&](const auto &cuda) {
    return cuda.check_memory(&context, what, pointer, bytes, alignment);
  });
}

const char *disco_device_family(int32_t index) {
  const char *name = nullptr;
  const auto find = [&](const auto &cuda) {
    name = cuda.family(index);
    return disco_status(DISCO_OK);
  };
  return withLibrary(find) == DISCO_OK ? name : nullptr;
}

disco_status disco_device_prepare(const char *family,
                                  const disco_device_context *context,
                                  const disco_kernel_call *call,
                                  disco_prepared **prepared) {
  if (!family || !prepared)
    return failNull(family ? "prepared" : "family");
  if (disco_status s = checkContext(context))
    return s;
  disco::cpu_gather::Problem problem;
  if (disco_status s = checkCall(call, problem))
    return s;
  if (disco_status s = disco::cpu_gather::checkPsi(problem))
    return s;
  return withLibrary([&](const auto &cuda) {
    return cuda.prepare(family, context, call, nullptr, prepared);
  });
}

static bool isSame(const disco_kernel_psi &a, const disco_kernel_psi &b) {
  return a.offsets == b.offsets && a.indices == b.indices &&
         a.values == b.values && a.form == b.form && a.adjoint == b.adjoint &&
         a.index_dtype == b.index_dtype && a.value_dtype == b.value_dtype &&
         a.num_basis == b.num_basis && a.nlat_in == b.nlat_in &&
         a.nlon_in == b.nlon_in && a.nlat_out == b.nlat_out &&
         a.nlon_out == b.nlon_out && a.num_arcs == b.num_arcs &&
         a.num_taps == b.num_taps && a.degree == b.degree;
}

disco_status CallPreparer::prepare(const char *family,
                                   const disco_kernel_call &call,
                                   disco_prepared **prepared) {
  disco::cpu_gather::Problem problem;
  if (disco_status s = checkCall(&call, problem))
    return s;
  if (std::none_of(checked.begin(), checked.end(),
                   [&](const auto &psi) { return isSame(psi, call.psi); })) {
    if (disco_status s = disco::cpu_gather::checkPsi(problem))
      return s;
    checked.push_back(call.psi);
  }
  return withLibrary([&](const auto &cuda) -> disco_status {
    if (!pool)
      if (disco_status s = cuda.make_pool(&pool))
        return s;
    return cuda.prepare(family, &device, &call, pool, prepared);
  });
}

CallPreparer::~CallPreparer() {
  if (pool)
    withLibrary([&](const auto &cuda) {
      cuda.destroy_pool(pool);
      return disco_status(DISCO_OK);
    });
}

void disco_device_destroy(disco_prepared *prepared) {
  if (prepared)
    withLibrary([&](const auto &cuda) {
      cuda.destroy(prepared);
      return disco_status(DISCO_OK);
    });
}

disco_status disco_device_workspace_bytes(const disco_prepared *prepared,
                                          const disco_kernel_call *call,
                                          uint64_t *bytes) {
  if (!prepared || !bytes)
    return failNull(prepared ? "bytes" : "prepared");
  if (disco_status s = checkCall(call))
    return s;
  return withLibrary([&](const auto &cuda) {
    return cuda.workspace_bytes(prepared, call, bytes);
  });
}

disco_status disco_device_run(const disco_prepared *prepared,
                              const disco_kernel_call *call, void *stream,
                              void *workspace, uint64_t workspace_bytes) {
  if (!prepared)
    return failNull("prepared");
  if (disco_status s = checkCall(call))
    return s;
  return withLibrary([&](const auto &cuda) {
    return cuda.run(prepared, call, stream, workspace, workspace_bytes);
  });
}

//===----------------------------------------------------------------------===//
// Repacks
//===----------------------------------------------------------------------===//

/// Fails unless all that can be checked without a device is right.
disco_status disco::runtime::checkRepack(const disco_repack *repack) {
  if (!repack)
    return failNull("repack");
  const disco_repack &r = *repack;
  if (r.struct_size != sizeof r)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected struct_size of the repack to be %zu, but got "
                "%" PRIu64,
                sizeof r, r.struct_size);
  if (disco_status s = checkRange("the old layout of a repack",
                                  DISCO_NUM_LAYOUTS - 1, r.from_layout))
    return s;
  if (disco_status s = checkRange("the new layout of a repack",
                                  DISCO_NUM_LAYOUTS - 1, r.to_layout))
    return s;
  if (disco_status s = checkRange("the old element type of a repack", DISCO_I64,
                                  r.from_dtype))
    return s;
  if (disco_status s =
          checkRange("the new element type of a repack", DISCO_I64, r.to_dtype))
    return s;
  const bool moves = r.from_layout != r.to_layout;
  const bool converts = r.from_dtype != r.to_dtype;
  if (moves == converts)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected a repack to change the layout or the element type, "
                "but got %s",
                moves ? "both" : "neither");
  const bool isFloat = r.from_dtype <= DISCO_BF16 && r.to_dtype <= DISCO_BF16;
  if (converts &&
      (!isFloat || (r.from_dtype != DISCO_F32 && r.to_dtype != DISCO_F32)))
    return fail(DISCO_INVALID_ARGUMENT,
                "expected the element type of a repack to change between f32 "
                "and f64, f16 or bf16, but got %s to %s",
                DTypeName(r.from_dtype).text, DTypeName(r.to_dtype).text);
  // Bytes of a sample, with the channels that c8 adds, are far below 2^63.
  constexpr int64_t most = INT64_MAX / 1024;
  if (disco_status s =
          checkRange("the number of channels of a repack", most, r.channels))
    return s;
  return checkRange("the number of points of a repack",
                    r.channels ? most / (r.channels + 8) : most, r.points);
}

disco_status disco_device_prepare_repack(const disco_device_context *context,
                                         const disco_repack *repack,
                                         disco_prepared_repack **prepared) {
  if (!prepared)
    return failNull("prepared");
  if (disco_status s = checkContext(context))
    return s;
  if (disco_status s = checkRepack(repack))
    return s;
  return withLibrary([&](const auto &cuda) {
    return cuda.prepare_repack(context, repack, prepared);
  });
}

void disco_device_destroy_repack(disco_prepared_repack *prepared) {
  if (prepared)
    withLibrary([&](const auto &cuda) {
      cuda.destroy_repack(prepared);
      return disco_status(DISCO_OK);
    });
}

disco_status disco_device_run_repack(const disco_prepared_repack *prepared,
                                     int64_t batch, const void *from, void *to,
                                     void *stream) {
  if (!prepared)
    return failNull("prepared");
  return withLibrary([&](const auto &cuda) {
    return cuda.run_repack(prepared, batch, from, to, stream);
  });
}
