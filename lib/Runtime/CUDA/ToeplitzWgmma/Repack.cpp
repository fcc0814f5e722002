//===- Repack.cpp - between nchw and c8 -----------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Repack.h"

#include "Blobs.h"
#include "Params.h"

#include <cinttypes>

using namespace disco::cuda;
using namespace disco::toeplitz_wgmma;

disco_status Repack::make(const Device &device) {
  static constexpr const char *names[2][2] = {
      {"c8_pack_points", "c8_pack_vectors"},
      {"c8_unpack_points", "c8_unpack_vectors"}};
  for (int unpack = 0; unpack < 2; ++unpack)
    for (int vectors = 0; vectors < 2; ++vectors)
      if (disco_status s =
              findKernel(device, disco_blob_repack, names[unpack][vectors], 0,
                         kernels[unpack][vectors]))
        return s;
  return DISCO_OK;
}

static disco_status run(const Kernel (&kernels)[2], const RepackArgs &fields,
                        int64_t batch, cudaStream_t stream) {
  RepackArgs args = fields;
  args.ctasOfField = (args.points + repackPoints - 1) / repackPoints;
  int64_t ctas = 0;
  if (__builtin_mul_overflow(batch * ((args.channels + 7) / 8),
                             args.ctasOfField, &ctas) ||
      ctas > INT32_MAX)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected a field to repack to have at most %d parts of %d "
                "points of 8 channels, but got batch %" PRId64
                ", channels %" PRId64 " and %" PRId64 " points",
                INT32_MAX, repackPoints, batch, args.channels, args.points);
  // 16 bytes of nchw at a time, if all planes are aligned to that.
  const bool vectors =
      args.points % 8 == 0 && reinterpret_cast<uintptr_t>(args.nchw) % 16 == 0;
  return launch(kernels[vectors],
                {static_cast<unsigned>(ctas), repackThreads, 0, stream}, &args);
}

disco_status Repack::pack(const void *nchw, void *c8, int64_t batch,
                          int64_t channels, int64_t points,
                          cudaStream_t stream) const {
  return run(kernels[0], {const_cast<void *>(nchw), c8, channels, points, 0},
             batch, stream);
}

disco_status Repack::unpack(void *nchw, const void *c8, int64_t batch,
                            int64_t channels, int64_t points,
                            cudaStream_t stream) const {
  return run(kernels[1], {nchw, const_cast<void *>(c8), channels, points, 0},
             batch, stream);
}
