//===- Params.h - what host and kernels of csr_gather share -----*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operator on a sphere is brought to lattice form first. With
// nlonIn = stride * lattice and nlonOut = phases * lattice (one of stride and
// phases is 1), in-longitude phi + stride * j belongs to ring (lat, phi) of
// `lattice` points j, and out-longitude phase + phases * j to row (t, phase).
// Then every tap is a shift: out-point j of a row reads point
// (first + u + j) mod lattice of a ring for tap u of an arc, and an arc of a
// stride of 2 has become two arcs, of the even and of the odd longitudes.
//
//   in, nlon 8, stride 2     a0 b0 a1 b1 a2 b2 a3 b3
//   rings of lattice 4       a: a0 a1 a2 a3    b: b0 b1 b2 b3
//
// A window is a part of a ring that a block of threads holds in shared memory:
// what `tile` neighbouring out-points read through an arc of `length` taps,
// tile + length - 1 points, which may go round the ring.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_CSRGATHER_PARAMS_H
#define DISCO_LIB_RUNTIME_CUDA_CSRGATHER_PARAMS_H

#include "../device/Epilogue.h"
#include "disco/ABI/Families/CsrGather.h"

#include <cstdint>

namespace disco::cuda::csr {

struct alignas(16) Int4 {
  int32_t x, y, z, w;
};

/// Where the fields of x are and those of y go. A field is a sample and
/// channel; all strides are in elements.
struct Fields {
  const void *x;
  void *y;
  int64_t xField, xBasis; ///< from field to field; from k to k (contract_sum)
  int64_t yField, yBasis; ///< likewise; yBasis for contract
  /// f16 and bf16: from the K-expanded elements to what is missing from them,
  /// rounded in turn, so that both together are twice as precise; 0: nowhere.
  int64_t low;
  int32_t numFields, numBasis;
};

/// A grid has rows * fieldBlocks * tiles blocks, those of a row together.
struct Sphere {
  int32_t lattice, stride, phases;
  int32_t tile, tiles; ///< out-points of a block, blocks of a row
  int32_t fieldBlocks;
  const Int4 *rows;
  const Int4 *stages;
  const Int4 *windows;
  const void *values;
};

/// contract on a sphere. A block has `tile` <= its number of threads.
///
///   rows     {first stage, number of stages, place in a plane of y, taps}
///   stages   {first window, number of windows, first tap, number of taps}
///   windows  {place in a plane of x, first lattice point, taps, column in
///            shared memory}
///   values   records [kTile][tap][recordSize], which hold the tap's values for
///            the features of the tile and then its column in shared memory
struct ContractParams {
  Fields fields;
  Sphere sphere;
  int32_t kTiles, numTaps;
  int32_t columns; ///< of shared memory; records of stages follow
};

/// Threads of a block of contract, at most.
constexpr int contractThreads = DISCO_CSR_GATHER_LONGITUDES;

/// Elements of a record of contract: K values and the column, in units of 16
/// bytes.
constexpr int recordSize(int kTile, int elementSize) {
  const int unit = 16 / elementSize;
  return (kTile + 1 + unit - 1) / unit * unit;
}

/// contract_sum on a sphere. A warp, or the warps of a block together, do a
/// group of up to sumRows rows, some fields and `tile` out-points: a thread
/// sums sumPoints neighbouring ones of every row of the group.
///
///   rows        [groups] {first row of the group in rowPlaces, number of rows,
///               lattice point of the first tile's first out-point, 0}; the
///               first numSplit are shared by the warps of a block
///   parts       [numSplit][sumWarps], then one for each other group: {group,
///               first stage, windows of it that are not the part's, number of
///               windows}; windows are those of all stages, for their k each
///   partValues  where the values of the part begin, in 16 bytes
///   stages      {place in a plane of x, first lattice point (a multiple of 4
///               on such lattices), chunks of 16 bytes of sums that windows
///               have more than a tile | number of k << 8, 16 bytes of values |
///               first k << 8}: a window of a ring that rows of the group read
///   values      for each stage [its k]: the number of steps, from bit 8 the
///               chunk at which the window begins in a plane of x for a tile
///               that begins at 0, from bit 16 the form; the taps that the rows
///               with any have where they have all of a step, from bit 16 how
///               many windows have this header, up to 2^15 - 1; the taps that
///               rows have in each step (bit 4 row + tap, bit 16 + row: the
///               middle); as 32-bit integers padded to 16 bytes (headerBytes).
///               Then [step][row] the values of the taps, 16 bytes
///
/// A step is of 16 bytes of neighbouring taps. Where all maps are even or odd
/// about a longitude, taps of both sides are added, or subtracted, before they
/// are multiplied, once for all rows. A step is then of pairs, which go
/// outwards from the middle m, at a multiple of a chunk. Before the values of
/// such steps are 16 bytes with the sign of the map, 1 or -1, and the rows'
/// values of the middle. What is further from m than a window is has a stage
/// for each side and k: a low one, that has no steps, and a high one.
///
///   near   u ... 3 2 1 0 m 0 1 2 3 ...       one window, step 0 has 0 to 3
///   low    u+7 ... u+1 u       u u+1 ... u+7    high
enum class SumForm : int32_t { plain, near, low, high };

struct ContractSumParams {
  Fields fields;
  Sphere sphere;
  int32_t numGroups, numSplit;
  const Int4 *parts;
  const int32_t *partValues;
  const int32_t *rowPlaces; ///< in a plane of y
  Epilogue epilogue;
  int32_t bufferBytes; ///< of shared memory for a window and its values
  int32_t warpBytes;   ///< of all buffers of a warp, or its sums, and the group
  int32_t isAligned;   ///< chunks of x begin at addresses of their size
};

constexpr int sumPoints = DISCO_CSR_GATHER_SUM_LONGITUDES;
constexpr int sumRows = DISCO_CSR_GATHER_SUM_ROWS;
/// Windows in shared memory for each warp: one is summed, others on their way.
constexpr int sumStages = 3;
/// And for its group: places of rows, their number, the first tile's point.
constexpr int sumGroupBytes = 32;
static_assert((DISCO_CSR_GATHER_SUM_ROWS + 2) * 4 <= sumGroupBytes, "fits");
constexpr int sumWarps = DISCO_CSR_GATHER_SUM_WARPS;
/// Threads of a block of contract_sum.
constexpr int contractSumThreads = sumWarps * 32;
/// Steps of a window.
constexpr int sumMaxSteps = DISCO_CSR_GATHER_SUM_PIECE_TAPS / 4;

constexpr int headerBytes(int steps) { return (steps + 2 + 3) / 4 * 16; }

/// Chunks (as many elements as 16 bytes of sums) of a field that shared memory
/// holds of a window: those of a tile and of the steps, a line of 128 bytes
/// more, in whole lines.
constexpr int sumFieldChunks(int elementSize, int sumSize) {
  const int line = 128 * sumSize / 16 / elementSize;
  const int chunks = 32 * sumPoints * sumSize / 16 + sumMaxSteps + line;
  return (chunks + line - 1) / line * line;
}

/// Both operations on point sets: taps of out-point n are
/// [offsets[n], offsets[n + 1]).
struct PointParams {
  Fields fields;
  int32_t numPoints, pointBlocks;
  int32_t fieldBlocks;
  const int32_t *offsets;
  const int32_t *columns;
  const void *values; ///< [taps, K]
  Epilogue epilogue;  ///< contract_sum
};

constexpr int pointThreads = DISCO_CSR_GATHER_POINTS;

} // namespace disco::cuda::csr

#endif // DISCO_LIB_RUNTIME_CUDA_CSRGATHER_PARAMS_H
