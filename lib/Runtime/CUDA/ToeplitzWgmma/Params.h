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

#include "disco/ABI/Families/ToeplitzWgmma.h"

#include <cstdint>

namespace disco::toeplitz_wgmma {

/// Rows of A, columns of a step and of a block.
constexpr int tileRows = DISCO_TOEPLITZ_WGMMA_TILE_ROWS,
              stepColumns = DISCO_TOEPLITZ_WGMMA_STEP_COLUMNS,
              blockColumns = DISCO_TOEPLITZ_WGMMA_BLOCK_COLUMNS;
/// Channels that are neighbours in memory, and bytes of a point of those.
constexpr int blockChannels = DISCO_TOEPLITZ_WGMMA_CHANNELS,
              pointBytes = DISCO_TOEPLITZ_WGMMA_POINT_BYTES;
constexpr int stepBytes = DISCO_TOEPLITZ_WGMMA_STEP_BYTES;
static_assert(stepBytes == tileRows * stepColumns * 2);
constexpr int headerBytes = DISCO_TOEPLITZ_WGMMA_HEADER_BYTES, headerWords = 4;
/// Steps whose points fit into a header.
constexpr int maxSteps = headerBytes / 4 - headerWords;
static_assert(DISCO_TOEPLITZ_WGMMA_BAND_STEPS <= maxSteps);
/// Windows of a piece: one for each lane of a warp.
constexpr int maxWindows = 32;
/// Warpgroups that compute, each a tile of its own from the same band, and the
/// threads of a CTA: those and four warps that load.
constexpr int mathGroups = DISCO_TOEPLITZ_WGMMA_MATH_GROUPS, groupThreads = 128;
constexpr int ctaThreads = (mathGroups + 1) * groupThreads;
static_assert(ctaThreads == DISCO_TOEPLITZ_WGMMA_THREADS);
constexpr int maxStages = DISCO_TOEPLITZ_WGMMA_MAX_STAGES;
/// Groups of T longitudes of a tile that there are kernels for, and output
/// latitudes in the rows of A.
constexpr int groupChoices[] = DISCO_TOEPLITZ_WGMMA_GROUP_CHOICES;
constexpr int rowChoices[] = DISCO_TOEPLITZ_WGMMA_ROW_CHOICES;

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

/// Bytes of dynamic shared memory.
inline int32_t smemBytes(const Shape &s) {
  return s.stages * (s.bandBytes + mathGroups * s.slabBytes) +
         mathGroups * s.resultBytes;
}

} // namespace disco::toeplitz_wgmma

#endif // DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_PARAMS_H
