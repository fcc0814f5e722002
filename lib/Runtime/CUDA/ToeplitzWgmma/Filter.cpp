//===- Filter.cpp - psi on a device, and its kernel -----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Filter.h"

#include "Blobs.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <string>
#include <vector>

using namespace disco;
using namespace disco::cuda;
using namespace disco::toeplitz_wgmma;

disco_status Filter::upload(const Device &device, const Bands &packed) {
  shape = packed.shape;
  multiprocessors = device.traits().multiprocessors;
  if (disco_status s = bands.upload(device, packed.bands))
    return s;
  if (disco_status s = pieces.upload(device, packed.pieces))
    return s;
  if (disco_status s = windows.upload(device, packed.windows))
    return s;
  if (disco_status s = blockPieces.upload(device, packed.blockPieces))
    return s;
  return order.upload(device, packed.order);
}

disco_status Filter::make(const Device &device, const disco_kernel_psi &psi,
                          bool sum, DType type, const Choice &choice) {
  disco_prepare_pool *const pool = device.pool();
  if (!pool)
    return makeNew(device, psi, sum, type, choice);
  const auto key = keyOf("toeplitz_wgmma", psi,
                         {sum, static_cast<int64_t>(type), choice.rows,
                          choice.groups, choice.stages});
  if (const auto *made = pool->find<Filter>(key)) {
    *this = *made;
    return DISCO_OK;
  }
  if (disco_status s = makeNew(device, psi, sum, type, choice))
    return s;
  pool->add(key, *this);
  return DISCO_OK;
}

disco_status Filter::makeNew(const Device &device, const disco_kernel_psi &psi,
                             bool sum, DType type, const Choice &choice) {
  // Before the packing, which takes longer.
  const bool isBf16 = type == DType::bf16;
  const Blob &blob =
      isBf16 ? disco_blob_toeplitz_bf16 : disco_blob_toeplitz_f16;
  if (disco_status s =
          checkArch(blob, device.traits().major, device.traits().minor))
    return s;
  const Result<Bands> packed = buildBands(psi, sum, type, choice);
  if (!packed)
    return fail(DISCO_INVALID_ARGUMENT, "%s", packed.message().c_str());
  if (disco_status s = upload(device, *packed))
    return s;
  const std::string name = std::string("toeplitz_") +
                           (isBf16 ? "bf16" : "f16") + "_g" +
                           std::to_string(shape.groups);
  if (disco_status s = findKernel(device, blob, name, smemBytes(shape), kernel))
    return s;
  return checkOnce(device, name + (sum ? " for contract_sum" : ""),
                   [&] { return checkKernel(device, type); });
}

disco_status Filter::launch(const Operands &operands,
                            cudaStream_t stream) const {
  Params params;
  if (!makeParams(shape, operands, params))
    return fail(DISCO_INVALID_ARGUMENT,
                "expected the tiles of all rows, channels and samples to be "
                "fewer than 2^31, but got batch %" PRId64
                " and channels %" PRId64,
                operands.batch, operands.channels);
  params.bands = bands.as<uint8_t>();
  params.pieces = pieces.as<Piece>();
  params.windows = windows.as<Window>();
  params.blockPieces = blockPieces.as<uint32_t>();
  params.order = order.as<uint32_t>();
  Launch config;
  config.blocks =
      static_cast<unsigned>(std::min<int64_t>(params.items, multiprocessors));
  config.threads = ctaThreads;
  config.smemBytes = static_cast<unsigned>(smemBytes(shape));
  config.stream = stream;
  return cuda::launch(kernel, config, &params);
}

//===----------------------------------------------------------------------===//
// Canary
//===----------------------------------------------------------------------===//

namespace {

/// A psi of ones, with an empty row, a whole ring and arcs that cross longitude
/// 0. An out-point is the number of its row's taps, times K in contract_sum.
struct Ones {
  static constexpr int64_t numBasis = 9, nlat = 3, nlon = 72;
  std::vector<int32_t> offsets, arcs, taps;
  std::vector<float> values;
  disco_kernel_psi psi = {};

  Ones();
};

} // namespace

Ones::Ones() {
  int32_t count = 0;
  for (int32_t row = 0; row < nlat; ++row) {
    offsets.push_back(static_cast<int32_t>(arcs.size() / 4));
    const int32_t before = count;
    for (int32_t lat = 0; lat < nlat && row != 1; ++lat) {
      const int32_t length = lat == row ? 7 : static_cast<int32_t>(nlon);
      arcs.insert(arcs.end(), {lat, lat == row ? 70 : 0, length, count});
      count += length;
    }
    taps.push_back(count - before);
  }
  offsets.push_back(static_cast<int32_t>(arcs.size() / 4));
  values.assign(count * numBasis, 1);
  psi.form = DISCO_FORM_ARCS;
  psi.index_dtype = DISCO_I32;
  psi.value_dtype = DISCO_F32;
  psi.num_basis = numBasis;
  psi.nlat_in = psi.nlat_out = nlat;
  psi.nlon_in = psi.nlon_out = nlon;
  psi.num_arcs = static_cast<int64_t>(arcs.size() / 4);
  psi.num_taps = count;
  psi.offsets = offsets.data();
  psi.indices = arcs.data();
  psi.values = values.data();
}

disco_status Filter::checkKernel(const Device &device, DType type) const {
  if (disco_status s = checkLayout(device, type, DISCO_C8))
    return s;
  return checkLayout(device, type, DISCO_NCHW);
}

/// Filters fields of ones with a psi of ones by the kernel that this filter
/// uses.
disco_status Filter::checkLayout(const Device &device, DType type,
                                 int32_t layout) const {
  const Ones ones;
  const bool sum = shape.sum;
  Choice choice;
  choice.groups = shape.groups;
  const Result<Bands> packed = buildBands(ones.psi, sum, type, choice);
  if (!packed)
    return fail(DISCO_INTERNAL, "%s", packed.message().c_str());
  Filter filter;
  if (disco_status s = filter.upload(device, *packed))
    return s;
  if (disco_status s =
          findKernel(device,
                     type == DType::bf16 ? disco_blob_toeplitz_bf16
                                         : disco_blob_toeplitz_f16,
                     kernel.name, smemBytes(filter.shape), filter.kernel))
    return s;
  const auto dtype = static_cast<int32_t>(type);
  constexpr int64_t batch = 2, channels = 11, padded = 16;
  constexpr int64_t points = Ones::nlat * Ones::nlon;
  const int64_t factor = sum ? Ones::numBasis : 1;
  DeviceMemory x;
  if (disco_status s =
          x.upload(device, onesOf(dtype, batch * padded * factor * points)))
    return s;
  const int64_t stored = layout == DISCO_C8 ? padded : channels;
  const int64_t elements = batch * stored * points * (sum ? 1 : Ones::numBasis);
  std::vector<uint16_t> y(elements);
  const auto run = [&](void *memory) {
    return filter.launch({x.as<void>(), memory, batch, channels, layout},
                         device.stream());
  };
  if (disco_status s =
          canary(device, kernel.name, dtype, elements, run, y.data()))
    return s;
  for (int64_t i = 0; i < elements; ++i) {
    // c8: [.., C / 8, planes, points, 8]; nchw: [.., points].
    const bool blocked = layout == DISCO_C8;
    const int64_t point = (blocked ? i / blockChannels : i) % points;
    const int64_t block = i / (elements / (batch * padded / blockChannels));
    const bool exists =
        !blocked || block % 2 * blockChannels + i % blockChannels < channels;
    const auto expected = static_cast<double>(
        exists ? ones.taps[point / Ones::nlon] * factor : 0);
    const double got = elementAt(y.data(), dtype, i);
    // Sums are exact, and rounded once.
    if (std::abs(got - expected) > expected / 128)
      return fail(DISCO_EXECUTION_FAILED,
                  "expected kernel %s to sum %g taps of one at element %" PRId64
                  " on cuda:%d (%s), but got %g",
                  kernel.name, expected, i, device.index(),
                  device.traits().name, got);
  }
  return DISCO_OK;
}
