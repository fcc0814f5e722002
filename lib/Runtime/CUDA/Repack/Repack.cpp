//===- Repack.cpp - changes of layout and of type ------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Repack.h"

#include "Blobs.h"

#include <cinttypes>
#include <cmath>
#include <string>
#include <vector>

using namespace disco::cuda;
using namespace disco::repack;

static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Names of layouts in those of kernels.
static const char *nameOf(int32_t layout) {
  return layout == DISCO_NCHW ? "nchw" : layout == DISCO_NHWC ? "nhwc" : "c8";
}

std::string Repack::chooseKernel() {
  if (converts()) {
    // All elements are those of one channel.
    channelTile = 1;
    pointTile = convertPoints;
    return std::string("convert_") + nameOfFloat(what.from_dtype) + "_to_" +
           nameOfFloat(what.to_dtype);
  }
  const int32_t size = sizeOf(what.from_dtype);
  const bool blocked =
      what.from_layout == DISCO_C8 || what.to_layout == DISCO_C8;
  const bool planar =
      what.from_layout == DISCO_NCHW || what.to_layout == DISCO_NCHW;
  const std::string suffix = "_b" + std::to_string(8 * size);
  if (!blocked) {
    // The same for either direction, with channels and points exchanged.
    channelTile = pointTile = tile;
    return "repack_transpose" + suffix;
  }
  if (!planar) {
    channelTile = blockChannels * vectorsOfPoint / vectorsOfBlock(size);
    pointTile = vectorPoints;
  } else {
    channelTile = blockChannels;
    pointTile = size == 2 ? matrixPoints : blockTilePoints(size);
  }
  return std::string(nameOf(what.from_layout)) + "_to_" +
         nameOf(what.to_layout) + suffix;
}

disco_status Repack::make(const Device &device, const disco_repack &repack) {
  what = repack;
  const std::string name = chooseKernel();
  if (disco_status s = findKernel(device, disco_blob_repack, name, 0, any))
    return s;
  vectors = any;
  if (channelTile == blockChannels && pointTile == matrixPoints)
    if (disco_status s = findKernel(device, disco_blob_repack,
                                    name + "_vectors", 0, vectors))
      return s;
  return checkOnce(device, name, [&]() -> disco_status {
    if (disco_status s = checkKernel(device, 37))
      return s;
    return checkKernel(device, 40);
  });
}

int64_t Repack::bytes(int32_t layout, int32_t dtype, int64_t batch) const {
  const int64_t stored =
      layout == DISCO_C8 ? divideUp(what.channels, 8) * 8 : what.channels;
  return batch * stored * what.points * sizeOf(dtype);
}

disco_status Repack::launch(int64_t batch, const void *from, void *to,
                            cudaStream_t stream) const {
  Args args = {from, to, what.channels, what.points, 0, 0};
  if (what.from_layout == DISCO_NHWC && what.to_layout == DISCO_NCHW)
    std::swap(args.channels, args.points);
  if (converts()) {
    args.points = toBytes(batch) / sizeOf(what.to_dtype);
    args.channels = 1;
    batch = 1;
  }
  args.channelTiles = divideUp(args.channels, channelTile);
  args.pointTiles = divideUp(args.points, pointTile);
  int64_t tiles = 0, ctas = 0;
  if (__builtin_mul_overflow(args.channelTiles, args.pointTiles, &tiles) ||
      __builtin_mul_overflow(tiles, batch, &ctas) || ctas > INT32_MAX)
    return fail(
        DISCO_INVALID_ARGUMENT,
        "expected a tensor to repack to have at most %d tiles of "
        "%" PRId64 " channels and %" PRId64 " points, but got batch %" PRId64
        ", %" PRId64 " channels and %" PRId64 " points",
        INT32_MAX, channelTile, pointTile, batch, what.channels, what.points);
  const bool aligned = reinterpret_cast<uintptr_t>(from) % vectorBytes == 0 &&
                       reinterpret_cast<uintptr_t>(to) % vectorBytes == 0;
  return cuda::launch(what.points % 8 == 0 && aligned ? vectors : any,
                      {static_cast<unsigned>(ctas), threads, 0, stream}, &args);
}

/// Repacks ones, in 11 channels.
disco_status Repack::checkKernel(const Device &device, int64_t points) const {
  Repack small = *this;
  small.what.channels = 11;
  small.what.points = points;
  constexpr int64_t batch = 2;
  // Layouts change as bits, whatever they mean.
  const auto asFloat = [&](int32_t dtype) -> int32_t {
    const int32_t size = sizeOf(dtype);
    return converts()  ? dtype
           : size == 8 ? DISCO_F64
           : size == 4 ? DISCO_F32
                       : DISCO_F16;
  };
  DeviceMemory from;
  if (disco_status s = from.upload(
          device, onesOf(asFloat(what.from_dtype),
                         small.fromBytes(batch) / sizeOf(what.from_dtype))))
    return s;
  const int32_t dtype = asFloat(what.to_dtype);
  std::vector<char> result(small.toBytes(batch));
  const int64_t count = small.toBytes(batch) / sizeOf(dtype);
  const auto run = [&](void *to) {
    return small.launch(batch, from.as<void>(), to, device.stream());
  };
  if (disco_status s =
          canary(device, any.name, dtype, count, run, result.data()))
    return s;
  for (int64_t i = 0; i < count; ++i) {
    // c8: [2, 2, points, 8].
    const int64_t channel = i / (points * 8) % 2 * 8 + i % 8;
    const double expected =
        what.to_layout == DISCO_C8 && channel >= small.what.channels ? 0 : 1;
    const double got = elementAt(result.data(), dtype, i);
    if (got != expected)
      return fail(DISCO_EXECUTION_FAILED,
                  "expected kernel %s to write %g as element %" PRId64
                  " on cuda:%d (%s), but got %g",
                  any.name, expected, i, device.index(), device.traits().name,
                  got);
  }
  return DISCO_OK;
}
