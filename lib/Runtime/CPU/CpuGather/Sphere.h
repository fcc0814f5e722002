//===- Sphere.h - features from arcs ----------------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chunk of a row is a list of pieces of arcs whose taps fit into a thread's
// buffers; most rows are one chunk. For some columns of one channel, the part
// of the ring that a piece needs is copied to a buffer, where longitudes follow
// each other without wrap and each residue modulo the stride is contiguous:
//
//   ring           . . a b c d e f g h . .        (piece of 4 taps, stride 2,
//   buffer  phase 0    a c e g                     3 columns)
//           phase 1    b d f h
//
// Tap u of the piece then reads column j at phase u % stride, u / stride + j.
//
// Where taps mirror each other (Mirror.h), a chunk has two lists: one of the
// maps that are even, in which such a pair is one element, the sum of two
// longitudes, and one of the maps that are odd, with their difference. On a
// piece on which a map is not what it is on most, no taps are paired.
//
// What one row after the other reads in tiles (contract) is copied once for the
// whole row of a channel, if it fits into the first cache.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CPU_CPUGATHER_SPHERE_H
#define DISCO_LIB_RUNTIME_CPU_CPUGATHER_SPHERE_H

#include "Mirror.h"
#include "Source.h"

namespace disco::cpu_gather {

struct Arc {
  int64_t lat, lonStart, length, valueOffset;
};

/// psi's tables, which have been checked.
class SphereTables {
public:
  explicit SphereTables(const Problem &problem)
      : psi(problem.call->psi), numRows(psi.nlat_out * problem.phases) {}

  int64_t firstArc(int64_t row) const {
    return indexAt(psi.offsets, psi.index_dtype, row);
  }
  Arc arc(int64_t a) const {
    return {indexAt(psi.indices, psi.index_dtype, 4 * a),
            indexAt(psi.indices, psi.index_dtype, 4 * a + 1),
            indexAt(psi.indices, psi.index_dtype, 4 * a + 2),
            indexAt(psi.indices, psi.index_dtype, 4 * a + 3)};
  }
  int64_t tapsOfRow(int64_t row) const {
    int64_t taps = 0;
    for (int64_t a = firstArc(row); a < firstArc(row + 1); ++a)
      taps += indexAt(psi.indices, psi.index_dtype, 4 * a + 2);
    return taps;
  }

  const disco_kernel_psi &psi;
  int64_t numRows;
};

/// Writes to `order` the numbers 0 .. count - 1 by descending cost; equal costs
/// keep their order.
void orderByCost(const int64_t *cost, int32_t *order, int64_t count);

template <typename T> class SphereSource final : public Source<T> {
public:
  SphereSource(const Problem &problem, const Kernels<T> &kernels,
               const Field &field)
      : problem(problem), kernels(kernels), field(field), tables(problem) {}

  void layout(Arena &arena, int64_t tile, bool byChannel) override;
  int64_t numRows() const override { return tables.numRows; }
  RowPlace place(int64_t row) const override {
    const int64_t arcRow = order[row];
    return {arcRow / problem.phases * tables.psi.nlon_out +
                arcRow % problem.phases,
            problem.phases, problem.lattice};
  }
  int64_t maxColumns() const override { return problem.lattice; }
  int64_t batchesPerPass() const override { return greater(problem.batch, 1); }
  void prepare(int64_t firstBatch) override;
  void fill(int thread, int64_t row, int64_t batch, int64_t channel,
            int64_t count, int64_t firstColumn, int64_t columns,
            const Features<T> &z, int64_t channelStride) override;

private:
  struct Piece {
    int32_t lat, lonStart, length;
    int32_t firstTap; ///< of the chunk
    bool isRing, isMirrored;
  };
  /// A chunk of a row, in a thread's buffers.
  struct Chunk {
    int64_t arcRow = -1;      ///< -1: none
    int64_t arc = 0, tap = 0; ///< where it starts: tap of arc
    int64_t nextArc = 0, nextTap = 0;
    bool isLast = true;
    int64_t numPieces = 0;
    TapList<T> lists[2]; ///< of even and of odd maps
    Piece *pieces = nullptr;
    uint8_t *parity = nullptr; ///< [piece][k]
    /// As psi has them: [tap] and [tap][k].
    int32_t *offsets = nullptr;
    T *values = nullptr;
    /// Of the lists.
    int32_t *features = nullptr, *listOffsets[2] = {};
    T *listValues = nullptr;
    T *staged = nullptr, *ring = nullptr;
    int64_t width = 0; ///< columns that a piece has room for
    /// Of which channel all columns are staged; -1: of none.
    int64_t stagedBatch = -1, stagedChannel = -1;
  };

  bool fitsWhole(int64_t arcRow) const;
  void load(Chunk &chunk, int64_t arcRow, int64_t arc, int64_t tap) const;
  void loadValues(Chunk &chunk, int64_t first, int64_t count, int64_t at) const;
  void chooseMirrored(Chunk &chunk) const;
  void makeList(Chunk &chunk, bool isOdd, int32_t *offsets, T *values) const;
  void stage(Chunk &chunk, int64_t batch, int64_t channel, int64_t firstColumn,
             int64_t columns) const;
  const T *stageColumns(Chunk &chunk, int64_t batch, int64_t channel,
                        int64_t firstColumn, int64_t columns) const;
  void loadRing(const char *ring, int64_t first, int64_t count, T *to) const;
  /// What a piece needs of one phase for some columns.
  int64_t phaseSize(int64_t length, int64_t columns) const {
    return divideUp(length, problem.stride) + columns - 1;
  }

  const Problem &problem;
  const Kernels<T> &kernels;
  const Field field;
  const SphereTables tables;
  Chunk *chunks = nullptr;
  int64_t *cost = nullptr;
  int32_t *order = nullptr;
  int64_t maxTaps = 0, maxPieces = 0, tile = 0;
  bool byChannel = false;
};

} // namespace disco::cpu_gather

#endif // DISCO_LIB_RUNTIME_CPU_CPUGATHER_SPHERE_H
