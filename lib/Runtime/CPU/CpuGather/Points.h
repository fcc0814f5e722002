//===- Points.h - features from tables and csr ------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Points in no order have no longitude to put into vectors, so channels take
// its place: x is transposed to [point][channel], and the "columns" of the
// kernel that applies taps are channels. What comes out, [point][k][channel],
// is transposed to where the caller wants it.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CPU_CPUGATHER_POINTS_H
#define DISCO_LIB_RUNTIME_CPU_CPUGATHER_POINTS_H

#include "Source.h"

namespace disco::cpu_gather {

/// Points that are computed together; a multiple of every panel.
constexpr int64_t pointBlock = DISCO_CPU_GATHER_POINT_BLOCK;

/// The taps of csr, table or onehot as lists of an out-point, whichever way
/// they are stored. Taps keep the order (stored row, stored tap).
class PointTables {
public:
  explicit PointTables(const Problem &problem);

  void layout(Arena &arena);
  /// Builds the lists from tables that have been checked.
  void build();

  int64_t first(int64_t point) const { return offsets[point]; }
  int64_t end(int64_t point) const { return offsets[point + 1]; }

  /// Taps that a list gets at once.
  int64_t listTaps() const {
    return greater(DISCO_CPU_GATHER_LIST_VALUES / numBasis, 1);
  }
  /// The values of taps [first, first + count), [count, K]: in place, or in
  /// `buffer`.
  template <typename T>
  const T *values(const Kernels<T> &kernels, int64_t first, int64_t count,
                  T *buffer) const;

  const int32_t *columns() const { return cols; }

private:
  template <typename Visit> void forEachStored(Visit &&visit) const;

  const Problem &problem;
  const disco_kernel_psi &psi;
  const int64_t numBasis, storedRows, maxTaps;
  int32_t *offsets = nullptr, *cols = nullptr, *rows = nullptr;
};

template <typename T> class PointSource final : public Source<T> {
public:
  PointSource(const Problem &problem, const Kernels<T> &kernels,
              const Field &field)
      : problem(problem), kernels(kernels), field(field), tables(problem),
        width(roundUp(field.channels, kernels.lanes)) {}

  void layout(Arena &arena, int64_t tile, bool byChannel) override;
  int64_t numRows() const override {
    return divideUp(problem.numOut, pointBlock);
  }
  RowPlace place(int64_t row) const override {
    return {row * pointBlock, 1,
            lesser(pointBlock, problem.numOut - row * pointBlock)};
  }
  int64_t maxColumns() const override { return pointBlock; }
  int64_t batchesPerPass() const override { return 1; }
  void prepare(int64_t firstBatch) override;
  void fill(int thread, int64_t row, int64_t batch, int64_t channel,
            int64_t count, int64_t firstColumn, int64_t columns,
            const Features<T> &z, int64_t channelStride) override;

private:
  static constexpr int64_t fillChannels = DISCO_CPU_GATHER_FILL_CHANNELS;

  struct Scratch {
    T *rows = nullptr;     ///< [fillChannels][pointBlock], before transposing
    T *features = nullptr; ///< [pointBlock][K][fillChannels]
    T *values = nullptr;
    int32_t *offsets = nullptr;
  };

  void fillChannelBlock(Scratch &s, int64_t point, int64_t channel,
                        int64_t count, int64_t columns, const Features<T> &z,
                        int64_t channelStride);

  const Problem &problem;
  const Kernels<T> &kernels;
  const Field field;
  PointTables tables;
  const int64_t width;
  T *transposed = nullptr; ///< [in-point][width]
  Scratch *scratches = nullptr;
};

} // namespace disco::cpu_gather

#endif // DISCO_LIB_RUNTIME_CPU_CPUGATHER_POINTS_H
