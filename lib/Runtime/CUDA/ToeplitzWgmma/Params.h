//===- Params.h - what the kernel is launched with --------------*- C++ -*-===//
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

#ifndef DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_PARAMS_H
#define DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_PARAMS_H

#include <cstdint>

namespace disco::toeplitz_wgmma {

/// Rows of A, columns of a step and of a block.
constexpr int tileRows = 64, stepColumns = 16, blockColumns = 8;
/// Channels that are neighbours in memory, and bytes of a point of those.
constexpr int blockChannels = 8, pointBytes = 16;
constexpr int stepBytes = tileRows * stepColumns * 2;
constexpr int headerBytes = 128, headerWords = 4;
/// Steps whose points fit into a header.
constexpr int maxSteps = headerBytes / 4 - headerWords;
/// Windows of a piece: one for each lane of a warp.
constexpr int maxWindows = 32;
/// Warpgroups that compute, each a tile of its own from the same band, and the
/// threads of a CTA: those and four warps that load.
constexpr int mathGroups = 3, groupThreads = 128;
constexpr int ctaThreads = (mathGroups + 1) * groupThreads;
constexpr int maxStages = 8;
/// Groups of T longitudes of a tile that there are kernels for.
constexpr int groupChoices[] = {18, 9, 4, 2, 1};
/// Shared memory of a CTA on sm_90, less what the barriers take.
constexpr int smemLimit = 232448 - 1024;

enum PieceFlag : uint32_t {
  pieceLast = 1,  ///< the last of its block
  pieceEmpty = 2, ///< the block has no taps: its results are zero
};

/// A part of the reduction of a block of rows.
struct alignas(16) Piece {
  uint32_t band;        ///< in `bands`, in units of headerBytes
  uint32_t steps;       ///< at least 1
  uint32_t firstWindow; ///< in `windows`
  uint32_t numWindows;
};

/// A run of points of a ring that is brought into the slab.
struct alignas(16) Window {
  int32_t plane; ///< of x: the latitude, plus k nlat (contract_sum)
  int32_t start; ///< longitude for the first tile
  int32_t points;
  int32_t slabPoint; ///< where it begins in the slab
};

/// Sizes that psi and the schedule determine.
struct Shape {
  int32_t numBasis;
  int32_t sum;    ///< 0: contract, 1: contract_sum
  int32_t stride; ///< points of x between neighbouring longitudes of a phase
  int32_t phases;
  int32_t planes;      ///< K, or latitudes of a block
  int32_t longitudes;  ///< T
  int32_t groups;      ///< G
  int32_t groupPoints; ///< Te = T phases
  int32_t nlatIn, nlonIn, nlatOut, nlonOut;
  int32_t blocks; ///< blocks of rows
  int32_t stages;
  int32_t bandBytes, slabBytes; ///< of a stage; slabBytes for one tile
  int32_t resultBytes;          ///< of the results of one tile
  int64_t steps;                ///< of all blocks
  int64_t windowPoints;         ///< of all pieces
};

struct Params {
  const void *x;
  void *y;
  const uint8_t *bands;
  const Piece *pieces;
  const Window *windows;
  const uint32_t *blockPieces;
  const uint32_t *order;
  Shape shape;
  /// Bytes of x, for 8 channels.
  int64_t xBlockBytes;
  /// Elements of y: from a block of 8 channels to the next (c8) or from a
  /// channel to the next (nchw), from a plane to the next, from a latitude to
  /// the next, and from a longitude to the next.
  int64_t yChannel, yPlane, yRow;
  int32_t yPoint;
  int32_t pitch;         ///< points of a plane of results in shared memory
  int32_t advance;       ///< longitudes of a phase from one tile to the next
  int32_t rowLongitudes; ///< longitudes of a phase
  int32_t tiles;         ///< of a row
  int32_t channels, channelBlocks;
  int32_t units;       ///< tiles of a block of rows, all channels and batches
  uint32_t unitGroups; ///< mathGroups units each
  uint32_t items;      ///< unitGroups of all blocks
};

/// Points of shared memory for a plane of results. c8 (`blocked`): 8 rows of A
/// are in different banks, also if they belong to two planes.
inline int32_t pitchOf(const Shape &s, bool blocked) {
  const int32_t points = s.groups * s.groupPoints;
  const int32_t residue = blocked ? s.groupPoints % 8 : 0;
  return points + (residue - points % 8 + 8) % 8;
}

/// Bytes of dynamic shared memory.
inline int32_t smemBytes(const Shape &s) {
  return s.stages * (s.bandBytes + mathGroups * s.slabBytes) +
         mathGroups * s.resultBytes;
}

} // namespace disco::toeplitz_wgmma

#endif // DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_PARAMS_H
