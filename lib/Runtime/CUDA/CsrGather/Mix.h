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
#include "disco/ABI/Families/CsrGatherMix.h"

#include <cstdint>

namespace disco::cuda::csr {

/// d[m, n] = sum over r of a[m, r] b[r, n], for the packed weight a and fields
/// b and d, in the order of r. All have one type.
struct MixParams {
  const void *a; ///< rows aPitch apart
  const void *b;
  void *d;
  int64_t aGroup, bGroup, dGroup, bPitch, dPitch;
  /// As Fields::low; those of a and b are summed after the others.
  int64_t aLow, bLow, dLow;
  int32_t m, n, r, aPitch;
  int32_t groups, blocksM, blocksN;
  int32_t aIsAligned, bIsAligned; ///< lines begin at multiples of 16 bytes
  Epilogue epilogue;              ///< rows of all groups are channels
};

/// p[s][m, n] (+)= sum over part s of r of a[m, r] b[n, r].
struct OuterParams {
  const void *a, *b;
  void *partial; ///< [splits][groups][m, n] of the type of sums
  int64_t aGroup, bGroup, aPitch, bPitch;
  int64_t aLow, bLow; ///< as in MixParams
  int64_t r, step;    ///< of a part
  int32_t m, n, groups, splits, blocksM, blocksN;
  int32_t aIsAligned, bIsAligned;
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
/// [(o, k)][c], rows padded with zeros to `pitch`; of the type of fields.
struct PackParams {
  const void *weight;
  void *packed;
  int64_t size; ///< of all that is written
  int32_t groups, groupIn, groupOut, numBasis, pitch;
  int64_t low; ///< as Fields::low
  int32_t isWeightFirst, isTransposed, weightIsF32;
};

/// grad_bias[o] = sum over samples and points of gy.
struct BiasParams {
  const void *gy;
  void *bias;
  int64_t batch, points;
  int32_t channels, biasIsF32;
};

/// Threads of a block of each.
constexpr int mixThreads = 256;

/// The tile of d of a block, how much of r it has in shared memory at a time,
/// and how many of those; see Product.h. Flat tiles are for few rows.
struct ProductTile {
  int m, n, k, stages;
};
constexpr ProductTile productTile(int elementSize, bool isFlat) {
  const int depth = elementSize == 8 ? 8 : elementSize == 4 ? 16 : 32;
  const int stages = elementSize == 2 ? 3 : 2;
  return isFlat             ? ProductTile{16, 256, depth, stages}
         : elementSize == 8 ? ProductTile{128, 64, depth, stages}
                            : ProductTile{128, 128, depth, stages};
}

/// Groups of few channels would fill a square tile badly.
constexpr bool mixIsFlat(int64_t m) {
  return m <= DISCO_CSR_GATHER_FLAT_MAX_ROWS;
}
constexpr ProductTile mixTile(int64_t m, int elementSize) {
  return productTile(elementSize, mixIsFlat(m));
}
/// Blocks of a multiprocessor.
constexpr int mixBlocks = DISCO_CSR_GATHER_GRADIENT_BLOCKS;

/// Elements from line to line in shared memory, along r and along n.
constexpr int paddedDepth(const ProductTile &tile, int elementSize) {
  return tile.k + 16 / elementSize;
}
constexpr int paddedColumns(const ProductTile &tile, int elementSize) {
  return tile.n + (elementSize == 2 ? 8 : 0);
}
constexpr int mixSharedBytes(int elementSize, bool isFlat) {
  const ProductTile t = productTile(elementSize, isFlat);
  return t.stages * elementSize *
         (t.m * paddedDepth(t, elementSize) +
          t.k * paddedColumns(t, elementSize));
}
constexpr int outerSharedBytes(int elementSize) {
  const ProductTile t = productTile(elementSize, false);
  return t.stages * elementSize * (t.m + t.n) * paddedDepth(t, elementSize);
}

} // namespace disco::cuda::csr

#endif // DISCO_LIB_RUNTIME_CUDA_CSRGATHER_MIX_H
