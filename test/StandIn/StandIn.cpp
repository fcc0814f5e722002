//===- StandIn.cpp - a CUDA library that computes on the host -------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Takes the place of libdisco_runtime_cuda in tests of what surrounds the
// kernels: compiled steps, slots, prepared state and tools run on any machine.
// Its device is named "stand-in" and is of architecture sm_90; its memory is
// the host's; its kernels are those of cpu_gather, whatever family is asked
// for. What prepare gets is copied, and memory is full of NaN when it is
// allocated.
//
//===----------------------------------------------------------------------===//

#include "../../lib/Runtime/Core/CudaLibrary.h"

#include "disco/Support/DType.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

/// A call with its tables and constants.
struct disco_prepared {
  disco_kernel_call call = {};
  std::vector<char> offsets, indices, values, weight, bias;
};

struct disco_prepared_repack {
  disco_repack repack;
};

namespace {

std::string &lastErrorText() {
  static thread_local std::string text;
  return text;
}
const char *lastError() { return lastErrorText().c_str(); }

disco_status fail(disco_status status, const std::string &message) {
  lastErrorText() = message;
  return status;
}
/// What the host's runtime said.
disco_status passOn(disco_status status) {
  return status == DISCO_OK ? DISCO_OK : fail(status, disco_last_error());
}

int64_t sizeOf(int32_t dtype) {
  constexpr int64_t sizes[] = {8, 4, 2, 2, 4, 8};
  return sizes[dtype];
}

disco_status count(int32_t *result) {
  *result = 1;
  return DISCO_OK;
}

disco_status query(int32_t device, disco_device_properties *properties) {
  if (device != 0)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected the device to be in [0, 0], but got " +
                    std::to_string(device));
  std::snprintf(properties->name, sizeof properties->name, "stand-in");
  properties->major = 9;
  properties->minor = 0;
  return DISCO_OK;
}

disco_status allocate(const disco_device_context *context, uint64_t bytes,
                      void **memory) {
  *memory = nullptr;
  if (bytes == 0)
    return DISCO_OK;
  const uint64_t rounded = (bytes + 255) / 256 * 256;
  *memory = context->allocate ? context->allocate(context->user, bytes, 256)
                              : std::aligned_alloc(256, rounded);
  if (!*memory)
    return fail(DISCO_OUT_OF_MEMORY, "out of memory");
  std::memset(*memory, 0xff, bytes);
  return DISCO_OK;
}

void release(const disco_device_context *context, void *memory,
             uint64_t bytes) {
  if (context->release)
    context->release(context->user, memory, bytes);
  else
    std::free(memory);
}

disco_status copy(const disco_device_context *, void *to, const void *from,
                  uint64_t bytes) {
  std::memcpy(to, from, bytes);
  return DISCO_OK;
}

disco_status synchronize(const disco_device_context *) { return DISCO_OK; }

disco_status checkMemory(const disco_device_context *, const char *what,
                         const void *pointer, uint64_t bytes, uint64_t) {
  return bytes == 0 || pointer ? DISCO_OK
                               : fail(DISCO_INVALID_ARGUMENT,
                                      std::string("expected ") + what +
                                          " to be a pointer, but got null");
}

const char *family(int32_t index) {
  constexpr const char *names[] = {"csr_gather", "toeplitz_wgmma"};
  return index >= 0 && index < 2 ? names[index] : nullptr;
}

std::vector<char> copyOf(const void *data, int64_t bytes) {
  const auto *begin = static_cast<const char *>(data);
  return data ? std::vector<char>(begin, begin + bytes) : std::vector<char>();
}

disco_status makePool(disco_prepare_pool **) { return DISCO_OK; }
void destroyPool(disco_prepare_pool *) {}

disco_status prepare(const char *, const disco_device_context *,
                     const disco_kernel_call *call, disco_prepare_pool *,
                     disco_prepared **prepared) {
  auto *made = new disco_prepared;
  made->call = *call;
  const disco_kernel_psi &psi = call->psi;
  const int64_t phases =
      psi.nlon_out > psi.nlon_in ? psi.nlon_out / psi.nlon_in : 1;
  const int64_t rows = psi.form == DISCO_FORM_ARCS ? psi.nlat_out * phases
                       : psi.adjoint               ? psi.nlon_in
                                                   : psi.nlon_out;
  const int64_t taps =
      psi.form <= DISCO_FORM_CSR ? psi.num_taps : rows * psi.degree;
  const int64_t index = sizeOf(psi.index_dtype);
  made->offsets = copyOf(psi.offsets, (rows + 1) * index);
  made->indices =
      copyOf(psi.indices,
             (psi.form == DISCO_FORM_ARCS ? 4 * psi.num_arcs : taps) * index);
  made->values =
      copyOf(psi.values, psi.form == DISCO_FORM_ONEHOT
                             ? taps * index
                             : taps * psi.num_basis * sizeOf(psi.value_dtype));
  if (call->op == DISCO_OP_CONV) {
    const int64_t size = sizeOf(call->weight_dtype);
    made->weight = copyOf(call->weight, call->out_channels *
                                            (call->channels / call->groups) *
                                            psi.num_basis * size);
    made->bias = copyOf(call->bias, call->out_channels * size);
  }
  *prepared = made;
  return DISCO_OK;
}

void destroy(disco_prepared *prepared) { delete prepared; }

/// Where channel c of point p of a sample is.
int64_t placeOf(const disco_repack &r, int32_t layout, int64_t c, int64_t p) {
  switch (layout) {
  case DISCO_NCHW:
    return c * r.points + p;
  case DISCO_NHWC:
    return p * r.channels + c;
  default:
    return (c / 8 * r.points + p) * 8 + c % 8;
  }
}

int64_t sampleOf(const disco_repack &r, int32_t layout) {
  return (layout == DISCO_C8 ? (r.channels + 7) / 8 * 8 : r.channels) *
         r.points;
}

void repack(const disco_repack &r, int64_t batch, const void *from, void *to) {
  const int64_t size = sizeOf(r.from_dtype);
  const int64_t in = sampleOf(r, r.from_layout), out = sampleOf(r, r.to_layout);
  if (r.from_dtype != r.to_dtype) {
    for (int64_t i = 0; i < batch * in; ++i)
      disco::storeFromDouble(
          to, static_cast<disco::DType>(r.to_dtype), i,
          disco::loadAsDouble(from, static_cast<disco::DType>(r.from_dtype),
                              i));
    return;
  }
  std::memset(to, 0, batch * out * size);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t c = 0; c < r.channels; ++c)
      for (int64_t p = 0; p < r.points; ++p)
        std::memcpy(static_cast<char *>(to) +
                        (b * out + placeOf(r, r.to_layout, c, p)) * size,
                    static_cast<const char *>(from) +
                        (b * in + placeOf(r, r.from_layout, c, p)) * size,
                    size);
}

/// The call as the host's kernels take it.
disco_kernel_call hostCall(const disco_prepared &prepared,
                           const disco_kernel_call &call) {
  disco_kernel_call host = call;
  host.schedule.num_fields = 0;
  host.schedule.in_layout = host.schedule.out_layout = DISCO_NCHW;
  host.psi.offsets = prepared.offsets.data();
  host.psi.indices = prepared.indices.data();
  host.psi.values = prepared.values.data();
  if (!host.weight)
    host.weight = prepared.weight.data();
  if (!host.bias)
    host.bias = prepared.bias.data();
  return host;
}

disco_status workspaceBytes(const disco_prepared *prepared,
                            const disco_kernel_call *call, uint64_t *bytes) {
  const disco_kernel_call host = hostCall(*prepared, *call);
  return passOn(disco_cpu_gather_workspace_bytes(&host, bytes));
}

/// A change of layout of x or y of a contraction.
disco_repack repackOf(const disco_kernel_call &call, bool isY, int32_t from,
                      int32_t to) {
  const disco_kernel_psi &psi = call.psi;
  const bool hasFeatures =
      call.op == (isY ? DISCO_OP_CONTRACT : DISCO_OP_CONTRACT_SUM);
  const int64_t points =
      isY ? psi.nlat_out * psi.nlon_out : psi.nlat_in * psi.nlon_in;
  return {sizeof(disco_repack),
          from,
          to,
          call.dtype,
          call.dtype,
          call.channels,
          points * (hasFeatures ? psi.num_basis : 1)};
}

disco_status run(const disco_prepared *prepared, const disco_kernel_call *call,
                 void *, void *workspace, uint64_t bytes) {
  disco_kernel_call host = hostCall(*prepared, *call);
  std::vector<char> x, y;
  const auto room = [&](const disco_repack &r) {
    return std::vector<char>(call->batch * r.channels * r.points *
                             sizeOf(r.from_dtype));
  };
  if (call->schedule.in_layout == DISCO_C8) {
    const disco_repack r = repackOf(*call, false, DISCO_C8, DISCO_NCHW);
    x = room(r);
    repack(r, call->batch, call->x, x.data());
    host.x = x.data();
  }
  const disco_repack back = repackOf(*call, true, DISCO_NCHW, DISCO_C8);
  if (call->schedule.out_layout == DISCO_C8) {
    y = room(back);
    host.y = y.data();
  }
  if (disco_status s = disco_cpu_gather_run(&host, workspace, bytes))
    return passOn(s);
  if (call->schedule.out_layout == DISCO_C8)
    repack(back, call->batch, y.data(), call->y);
  return DISCO_OK;
}

disco_status prepareRepack(const disco_device_context *,
                           const disco_repack *repack,
                           disco_prepared_repack **prepared) {
  *prepared = new disco_prepared_repack{*repack};
  return DISCO_OK;
}

void destroyRepack(disco_prepared_repack *prepared) { delete prepared; }

disco_status runRepack(const disco_prepared_repack *prepared, int64_t batch,
                       const void *from, void *to, void *) {
  repack(prepared->repack, batch, from, to);
  return DISCO_OK;
}

} // namespace

extern "C" DISCO_API const disco_cuda_library disco_cuda_library_root;
const disco_cuda_library disco_cuda_library_root = {sizeof(disco_cuda_library),
                                                    lastError,
                                                    count,
                                                    query,
                                                    allocate,
                                                    release,
                                                    copy,
                                                    synchronize,
                                                    checkMemory,
                                                    family,
                                                    makePool,
                                                    destroyPool,
                                                    prepare,
                                                    destroy,
                                                    workspaceBytes,
                                                    run,
                                                    prepareRepack,
                                                    destroyRepack,
                                                    runRepack};
