//===- Params.h - what repacks are launched with -------------- -*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain data that host and device code share.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_REPACK_PARAMS_H
#define DISCO_LIB_RUNTIME_CUDA_REPACK_PARAMS_H

#include <cstdint>

namespace disco::repack {

/// Channels that are neighbours in c8.
constexpr int blockChannels = 8;
constexpr int threads = 256;

struct Args {
  const void *from;
  void *to;
  int64_t channels, points;
  /// CTAs of a sample: those along its channels times those along its points.
  int64_t channelTiles, pointTiles;
};

/// Between nchw and c8, 16 bits, by warps that transpose in registers: a block
/// of channels.
constexpr int matrixPoints = 1024;

/// What a vector is: 16 bytes.
constexpr int vectorBytes = 16;
/// Vectors of a block of channels of a point.
constexpr int vectorsOfBlock(int elementBytes) {
  return blockChannels * elementBytes / vectorBytes;
}

/// Between nchw and c8, any elements: a block of channels.
constexpr int blockTilePoints(int elementBytes) {
  return 4 * threads / vectorsOfBlock(elementBytes);
}

/// Between nhwc and c8: four vectors of each point, which are 4, 2 or 1 blocks.
constexpr int vectorsOfPoint = 4, vectorPoints = 4 * threads / vectorsOfPoint;

/// Between nchw and nhwc.
constexpr int tile = 64;

/// Of another type, of any shape.
constexpr int convertPoints = 4 * threads;

} // namespace disco::repack

#endif // DISCO_LIB_RUNTIME_CUDA_REPACK_PARAMS_H
