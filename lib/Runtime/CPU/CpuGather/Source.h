//===- Source.h - where features come from ----------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// contract, conv (filter first) and conv_weight_grad all start with features:
// z[c, k, column] of some channels, at the out-points of one row. What a row is
// depends on the structure of psi:
//
//   sphere  the longitudes of one latitude that share their taps (one of
//           `phases`)
//   points  some consecutive points
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CPU_CPUGATHER_SOURCE_H
#define DISCO_LIB_RUNTIME_CPU_CPUGATHER_SOURCE_H

#include "Kernels.h"
#include "Problem.h"

namespace disco::cpu_gather {

/// A field that is filtered, [batch, channels, in-points] of `dtype`.
struct Field {
  const void *data = nullptr;
  disco_dtype dtype = DISCO_F32;
  int64_t elementSize = 4;
  int64_t channels = 0, numPoints = 0;
};

/// Where a row's results go: column j is element first + j * stride of a
/// channel of the result.
struct RowPlace {
  int64_t first = 0, stride = 1, columns = 0;
};

template <typename T> class Source {
public:
  virtual ~Source() = default;

  /// Takes its part of the workspace; `tile` is the largest number of columns
  /// that fill will get. `byChannel`: it gets the tiles of a channel's row one
  /// after the other.
  virtual void layout(Arena &arena, int64_t tile, bool byChannel) = 0;

  /// Rows, in the order in which they are best started: the longest first.
  virtual int64_t numRows() const = 0;
  virtual RowPlace place(int64_t row) const = 0;
  /// The columns of the widest row.
  virtual int64_t maxColumns() const = 0;

  /// Batches that one pass handles, and what is to be done before each pass by
  /// all threads.
  virtual int64_t batchesPerPass() const = 0;
  virtual void prepare(int64_t firstBatch) = 0;

  /// Writes z[i, k, column], i < count, k < K, column < columns, of channels
  /// channel + i, to
  ///   z + i * channelStride + (column / panel) * panelStride + column % panel
  ///     + k * basisStride.
  /// `columns` is a multiple of the panel; those beyond the row hold anything
  /// finite where x is. Each thread has its own `thread`.
  virtual void fill(int thread, int64_t row, int64_t batch, int64_t channel,
                    int64_t count, int64_t firstColumn, int64_t columns,
                    const Features<T> &z, int64_t channelStride) = 0;
};

} // namespace disco::cpu_gather

#endif // DISCO_LIB_RUNTIME_CPU_CPUGATHER_SOURCE_H
