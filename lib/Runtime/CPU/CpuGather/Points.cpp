//===- Points.cpp - features from tables and csr --------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Points.h"

#include "../ThreadPool.h"
#include "Values.h"

#include <algorithm>
#include <new>

namespace disco::cpu_gather {

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

PointTables::PointTables(const Problem &problem)
    : problem(problem), psi(problem.call->psi), numBasis(problem.numBasis),
      storedRows(psi.adjoint ? problem.numIn : problem.numOut),
      maxTaps(psi.form == DISCO_FORM_CSR ? psi.num_taps
                                         : storedRows * psi.degree) {}

void PointTables::layout(Arena &arena) {
  offsets = arena.take<int32_t>(problem.numOut + 2);
  cols = arena.take<int32_t>(maxTaps);
  rows = arena.take<int32_t>(maxTaps);
}

/// Calls visit(out-point, in-point, tap) in the order in which taps are stored.
template <typename Visit> void PointTables::forEachStored(Visit &&visit) const {
  const int64_t padding = psi.adjoint ? problem.numOut : problem.numIn;
  for (int64_t row = 0; row < storedRows; ++row) {
    const bool isCsr = psi.form == DISCO_FORM_CSR;
    const int64_t begin =
        isCsr ? indexAt(psi.offsets, psi.index_dtype, row) : row * psi.degree;
    const int64_t end = isCsr ? indexAt(psi.offsets, psi.index_dtype, row + 1)
                              : begin + psi.degree;
    for (int64_t tap = begin; tap < end; ++tap) {
      const int64_t col = indexAt(psi.indices, psi.index_dtype, tap);
      if (col == padding)
        continue;
      if (psi.adjoint)
        visit(col, row, tap);
      else
        visit(row, col, tap);
    }
  }
}

void PointTables::build() {
  // A counting sort; offsets[p + 1] is where point p's next tap goes.
  std::fill_n(offsets, problem.numOut + 2, 0);
  forEachStored([&](int64_t out, int64_t, int64_t) { ++offsets[out + 2]; });
  for (int64_t p = 0; p < problem.numOut; ++p)
    offsets[p + 2] += offsets[p + 1];
  forEachStored([&](int64_t out, int64_t in, int64_t tap) {
    const int32_t at = offsets[out + 1]++;
    cols[at] = static_cast<int32_t>(in);
    rows[at] = static_cast<int32_t>(tap);
  });
}

template <typename T>
const T *PointTables::values(const Kernels<T> &kernels, int64_t first,
                             int64_t count, T *buffer) const {
  if (psi.form == DISCO_FORM_ONEHOT) {
    std::fill_n(buffer, count * numBasis, T(0));
    for (int64_t i = 0; i < count; ++i)
      buffer[i * numBasis +
             indexAt(psi.values, psi.index_dtype, rows[first + i])] = T(1);
    return buffer;
  }
  const int64_t size = sizeOfFloat(psi.value_dtype);
  const bool inOrder =
      count > 0 && rows[first + count - 1] - rows[first] == count - 1;
  if (inOrder && !psi.adjoint) {
    const char *at = advance(psi.values, rows[first] * numBasis, size);
    if (psi.value_dtype == (sizeof(T) == 8 ? DISCO_F64 : DISCO_F32))
      return reinterpret_cast<const T *>(at);
    kernels.load[psi.value_dtype](at, buffer, count * numBasis);
    return buffer;
  }
  for (int64_t i = 0; i < count; ++i)
    kernels.load[psi.value_dtype](
        advance(psi.values, rows[first + i] * numBasis, size),
        buffer + i * numBasis, numBasis);
  return buffer;
}

template const float *PointTables::values(const Kernels<float> &, int64_t,
                                          int64_t, float *) const;
template const double *PointTables::values(const Kernels<double> &, int64_t,
                                           int64_t, double *) const;

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

template <typename T>
void PointSource<T>::layout(Arena &arena, int64_t tile, bool) {
  tables.layout(arena);
  transposed = arena.take<T>(field.numPoints * width);
  scratches = arena.take<Scratch>(problem.numThreads);
  const int64_t numBasis = problem.numBasis, taps = tables.listTaps();
  for (int i = 0; i < problem.numThreads; ++i) {
    Scratch s;
    s.rows = arena.take<T>(fillChannels * pointBlock);
    s.features = arena.take<T>(pointBlock * numBasis * fillChannels);
    s.values = arena.take<T>(taps * numBasis);
    s.offsets = arena.take<int32_t>(taps);
    if (scratches)
      new (scratches + i) Scratch(s);
  }
}

template <typename T> void PointSource<T>::prepare(int64_t batch) {
  if (batch == 0)
    tables.build();
  runtime::parallelTasks(
      problem.numThreads, divideUp(field.numPoints, pointBlock),
      [&](int64_t task, int thread) {
        Scratch &s = scratches[thread];
        const int64_t point = task * pointBlock;
        const int64_t points = lesser(pointBlock, field.numPoints - point);
        for (int64_t c = 0; c < field.channels; c += fillChannels) {
          const int64_t count = lesser(fillChannels, field.channels - c);
          for (int64_t i = 0; i < count; ++i)
            kernels.load[field.dtype](
                advance(field.data,
                        (batch * field.channels + c + i) * field.numPoints +
                            point,
                        field.elementSize),
                s.rows + i * pointBlock, points);
          kernels.transpose(s.rows, pointBlock, transposed + point * width + c,
                            width, points, count);
        }
      });
}

template <typename T>
void PointSource<T>::fill(int thread, int64_t row, int64_t, int64_t channel,
                          int64_t count, int64_t firstColumn, int64_t columns,
                          const Features<T> &z, int64_t channelStride) {
  for (int64_t i = 0; i < count; i += fillChannels) {
    Features<T> to = z;
    to.data += i * channelStride;
    fillChannelBlock(scratches[thread], row * pointBlock + firstColumn,
                     channel + i, lesser(fillChannels, count - i), columns, to,
                     channelStride);
  }
}

template <typename T>
void PointSource<T>::fillChannelBlock(Scratch &s, int64_t point,
                                      int64_t channel, int64_t count,
                                      int64_t columns, const Features<T> &z,
                                      int64_t channelStride) {
  const int64_t numBasis = problem.numBasis;
  const int64_t vectors = divideUp(count, kernels.lanes);
  const int64_t size = vectors * kernels.lanes;
  for (int64_t j = 0; j < columns; ++j) {
    T *to = s.features + j * numBasis * size;
    if (point + j >= problem.numOut) {
      std::fill_n(to, numBasis * size, T(0));
      continue;
    }
    const int64_t begin = tables.first(point + j), end = tables.end(point + j);
    int64_t first = begin;
    do { // once for a point without taps, to write its zeros
      const int64_t taps = lesser(end - first, tables.listTaps());
      for (int64_t t = 0; t < taps; ++t)
        s.offsets[t] =
            static_cast<int32_t>(tables.columns()[first + t] * width);
      const TapList<T> list{taps, numBasis, s.offsets,
                            tables.values(kernels, first, taps, s.values)};
      kernels.expand(list, transposed + channel, vectors,
                     {to, kernels.panel, size}, first > begin);
      first += taps;
    } while (first < end);
  }
  for (int64_t j = 0; j < columns; j += kernels.panel)
    for (int64_t k = 0; k < numBasis; ++k)
      kernels.transpose(s.features + (j * numBasis + k) * size, numBasis * size,
                        z.data + j / kernels.panel * z.panelStride +
                            k * z.basisStride,
                        channelStride, count, kernels.panel);
}

template class PointSource<float>;
template class PointSource<double>;

} // namespace disco::cpu_gather
