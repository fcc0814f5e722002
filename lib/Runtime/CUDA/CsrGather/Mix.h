//===- Mix.h - what host and kernels of the channel mix share ---*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each is done for `groups` problems at once, which are group strides apart.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_CSRGATHER_MIX_H
#define DISCO_LIB_RUNTIME_CUDA_CSRGATHER_MIX_H

#include "../device/Epilogue.h"

#include <cstdint>

namespace disco::cuda::csr {

/// d[m, n] = sum over r of a[m, r] b[r, n], for the packed weight a and fields
/// b and d, in the order of r.
struct MixParams {
  const void *a; ///< type of sums, rows aPitch apart
  const void *b;
  void *d;
  int64_t aGroup, bGroup, dGroup, bPitch, dPitch;
  int32_t m, n, r, aPitch;
  int32_t groups, blocksM, blocksN;
  Epilogue epilogue; ///< rows of all groups are channels
};

/// p[s][m, n] (+)= sum over part s of r of a[m, r] b[n, r].
struct OuterParams {
  const void *a, *b;
  void *partial; ///< [splits][groups][m, n] of the type of sums
  int64_t aGroup, bGroup, aPitch, bPitch;
  int64_t r, step; ///< of a part
  int32_t m, n, groups, splits, blocksM, blocksN;
  int32_t adds; ///< 0: overwrites
};

/// y of conv_weight_grad from parts, summed in order. filter_first: part[o,
/// (c, k)]; weight_first: part[(o, k), c].
struct CollectParams {
  const void *partial;
  void *y;
  int64_t size; ///< of a part with all groups
  int32_t splits, groupIn, groupOut, numBasis;
  int32_t isWeightFirst, yIsF32;
};

/// The weight for a mix, per group. filter_first: [o][(c, k)], weight_first:
/// [(o, k)][c], rows padded with zeros to `pitch`.
struct PackParams {
  const void *weight;
  void *packed;
  int64_t size; ///< of all that is written
  int32_t groups, groupIn, groupOut, numBasis, pitch;
  int32_t isWeightFirst, isTransposed, weightIsF32;
};

/// grad_bias[o] = sum over samples and points of gy.
struct BiasParams {
  const void *gy;
  void *bias;
  int64_t batch, points;
  int32_t channels, biasIsF32;
};

/// Threads of a block of each, and rows and columns of its tile.
constexpr int mixThreads = 256;
constexpr int mixRows(bool isDouble, bool isFlat) {
  return isFlat ? 16 : isDouble ? 64 : 128;
}
constexpr int mixColumns(bool isDouble, bool isFlat) {
  return isFlat ? 256 : isDouble ? 64 : 128;
}
constexpr int outerTile = 64;

} // namespace disco::cuda::csr

#endif // DISCO_LIB_RUNTIME_CUDA_CSRGATHER_MIX_H
