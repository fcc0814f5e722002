//===- SphereFourier.cpp - rows near the poles by transforms --------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ThreadPool.h"
#include "SphereSum.h"

#include <algorithm>
#include <cmath>

namespace disco::cpu_gather {

/// Taps of an arc, on the average of a row's arcs, from which on a transform of
/// its ring costs less, if there are channels for all lanes.
constexpr int64_t leastTaps = DISCO_CPU_GATHER_FOURIER_TAPS;
/// Bytes of the spectra of filters.
constexpr int64_t tableBytes = DISCO_CPU_GATHER_FOURIER_BYTES;
/// Rows of a task.
constexpr int64_t maxRun = DISCO_CPU_GATHER_FOURIER_ROWS;

/// Whether a transform of `size` points is made of small ones.
template <typename T> static bool factorize(int64_t size, Fourier<T> &fourier) {
  fourier.size = size;
  fourier.numFactors = 0;
  for (const int radix : {3, 4, 2, 5})
    for (; size % radix == 0 && fourier.numFactors < Fourier<T>::maxFactors;
         size /= radix)
      fourier.factors[fourier.numFactors++] = static_cast<uint8_t>(radix);
  return size == 1;
}

template <typename T> int64_t SphereSum<T>::leastTapsOfArcs() const {
  return divideUp(leastTaps * kernels.lanes,
                  greater(lesser(kernels.lanes, numFields()), 1));
}

template <typename T> void SphereSum<T>::layoutFourier(Arena &arena) {
  const disco_kernel_psi &psi = call.psi;
  maxTables = 0;
  if (!isPlain() || !factorize(lattice, fourier))
    return;
  maxTables = lesser(lesser(psi.num_arcs, psi.num_taps / leastTapsOfArcs()),
                     tableBytes / (tableSize() * int64_t(sizeof(T))));
  if (maxTables == 0)
    return;
  firstTable = arena.take<int32_t>(tables.numRows);
  runs = arena.take<Run>(tables.numRows);
  roots = arena.take<T>(2 * lattice);
  filters = arena.take<T>(maxTables * tableSize());
}

template <typename T>
void SphereSum<T>::layoutFourier(Arena &arena, Scratch &s) const {
  if (maxTables == 0)
    return;
  const int64_t point = 2 * kernels.lanes;
  s.ringMaps = arena.take<T>(numPairs() * lattice * point);
  s.work = arena.take<T>(lattice * point);
  s.spectra = arena.take<T>(maxRun * spectrumSize());
  s.results = arena.take<T>(2 * kernels.lanes * padded);
}

/// From both poles on, rows whose arcs are long, as far as there is room.
template <typename T> void SphereSum<T>::chooseFourierRows() {
  numRuns = 0;
  if (maxTables == 0)
    return;
  std::fill_n(firstTable, tables.numRows, -1);
  if (!readsDirectly())
    return;
  const int64_t least = leastTapsOfArcs();
  int64_t used = 0;
  for (int64_t i = 0; i < tables.numRows; ++i) {
    const int64_t row = i % 2 ? tables.numRows - 1 - i / 2 : i / 2;
    const int64_t arcs = tables.firstArc(row + 1) - tables.firstArc(row);
    if (arcs == 0 || tables.tapsOfRow(row) < least * arcs ||
        used + arcs > maxTables)
      continue;
    firstTable[row] = static_cast<int32_t>(used);
    used += arcs;
  }
  for (int64_t row = 0; row < tables.numRows; ++row) {
    if (firstTable[row] < 0)
      continue;
    Run *last = runs + numRuns - 1;
    if (numRuns == 0 || last->firstRow + last->numRows != row ||
        last->numRows == maxRun)
      runs[numRuns++] = {static_cast<int32_t>(row), 1};
    else
      ++last->numRows;
  }
  const double angle = -2 * std::acos(-1.0) / static_cast<double>(lattice);
  for (int64_t j = 0; numRuns > 0 && j < lattice; ++j) {
    roots[2 * j] = static_cast<T>(std::cos(angle * static_cast<double>(j)));
    roots[2 * j + 1] = static_cast<T>(std::sin(angle * static_cast<double>(j)));
  }
  fourier.roots = roots;
}

/// The spectra of a row's arcs, as addSpectrum reads them: maps 2 p and 2 p + 1
/// are the real and the imaginary part of pair p.
template <typename T>
void SphereSum<T>::transformFilters(int64_t row, Scratch &s) const {
  const int64_t numBasis = problem.numBasis, pairs = numPairs();
  const int64_t lanes = kernels.lanes, point = 2 * lanes;
  const T scale = T(0.5) / static_cast<T>(lattice);
  Ahead nothing;
  T *table = filters + firstTable[row] * tableSize();
  for (int64_t a = tables.firstArc(row); a < tables.firstArc(row + 1);
       ++a, table += tableSize()) {
    const Arc arc = tables.arc(a);
    loadValues(arc, 0, arc.length, s.groupValues);
    for (int64_t first = 0; first < pairs; first += lanes) {
      std::fill_n(s.ringMaps, lattice * point, T(0));
      for (int64_t u = 0; u < arc.length; ++u) {
        const int64_t at = (arc.lonStart + u) % lattice;
        T *to = s.ringMaps + (at == 0 ? 0 : lattice - at) * point;
        const T *from = s.groupValues + u * numBasis + 2 * first;
        const int64_t count = lesser(numBasis - 2 * first, point);
        for (int64_t k = 0; k < count; ++k)
          to[k % 2 * lanes + k / 2] = from[k];
      }
      kernels.transform(fourier, s.ringMaps, s.work, nothing);
      const T *result = fourier.numFactors % 2 ? s.work : s.ringMaps;
      for (int64_t m = 0; m <= lattice / 2; ++m) {
        const T *near = result + m * point;
        const T *far = result + (m == 0 ? 0 : lattice - m) * point;
        for (int64_t p = 0; p < lesser(pairs - first, lanes); ++p) {
          T *to = table + (m * pairs + first + p) * 4;
          to[0] = scale * near[p];
          to[1] = scale * near[p + lanes];
          to[2] = scale * far[p];
          to[3] = scale * far[p + lanes];
        }
      }
    }
  }
}

/// Transforms a ring of the fields [first, first + count).
template <typename T>
void SphereSum<T>::transformRing(int64_t first, int64_t count, int64_t lat,
                                 Scratch &s, Ahead &ahead) const {
  const int64_t lanes = kernels.lanes, point = 2 * lanes;
  const bool isSwapped = fourier.numFactors % 2;
  const T *rows[maxLanes];
  for (int64_t p = 0; p < numPairs(); ++p) {
    T *map = s.ringMaps + p * lattice * point;
    T *from = isSwapped ? s.work : map, *to = isSwapped ? map : s.work;
    for (const int64_t part : {0, 1}) {
      const int64_t k = 2 * p + part;
      for (int64_t l = 0; l < lanes; ++l)
        rows[l] = l < count && k < problem.numBasis
                      ? ringOfField(first + l, k, lat)
                      : s.row; // zeros
      kernels.toLanes(rows, lattice, from + part * lanes);
    }
    kernels.transform(fourier, from, to, ahead);
  }
}

template <typename T>
void SphereSum<T>::computeRun(const Run &run, int64_t first, Scratch &s) {
  const int64_t count = lesser(kernels.lanes, numFields() - first);
  const int64_t end = run.firstRow + run.numRows;
  std::fill_n(s.spectra, run.numRows * spectrumSize(), T(0));
  std::fill_n(s.row, lattice, T(0));
  int64_t firstRing = call.psi.nlat_in, endRing = 0, steps = 0;
  for (int64_t row = run.firstRow; row < end; ++row) {
    firstRing = lesser(firstRing, tables.arc(tables.firstArc(row)).lat);
    endRing =
        greater(endRing, tables.arc(tables.firstArc(row + 1) - 1).lat + 1);
  }
  for (int64_t i = 0, left = lattice; i < fourier.numFactors; ++i)
    steps += left /= fourier.factors[i];
  SpectrumSum<T> sum;
  sum.size = lattice;
  sum.pairs = numPairs();
  sum.maps = s.ringMaps;
  for (int64_t lat = firstRing; lat < endRing; ++lat) {
    bool isTransformed = false;
    for (int64_t i = firstReader[lat]; i < firstReader[lat + 1]; ++i) {
      const int64_t row = readers[i].row;
      if (row < run.firstRow || row >= end)
        continue;
      if (!isTransformed) {
        Ahead ahead;
        if (lat + 1 < endRing) {
          ahead.run =
              reinterpret_cast<const char *>(ringOfField(first, 0, lat + 1));
          ahead.runs = count * problem.numBasis;
          ahead.runStride = problem.numIn * int64_t(sizeof(T));
          ahead.runBytes = lattice * int64_t(sizeof(T));
          ahead.linesPerStep =
              divideUp(ahead.runs * divideUp(ahead.runBytes, lineBytes),
                       steps * numPairs());
        }
        transformRing(first, count, lat, s, ahead);
        isTransformed = true;
      }
      sum.filter =
          filters + (firstTable[row] + readers[i].arc - tables.firstArc(row)) *
                        tableSize();
      sum.sums = s.spectra + (row - run.firstRow) * spectrumSize();
      kernels.addSpectrum(sum);
    }
  }
  for (int64_t row = run.firstRow; row < end; row += 2)
    storeRows(run, row, first, count, s);
}

/// Transforms the spectra of a row and the next one of a run back.
template <typename T>
void SphereSum<T>::storeRows(const Run &run, int64_t row, int64_t first,
                             int64_t count, Scratch &s) {
  const int64_t lanes = kernels.lanes;
  const T *spectrum = s.spectra + (row - run.firstRow) * spectrumSize();
  const bool isLast = row + 1 == run.firstRow + run.numRows;
  Ahead nothing;
  kernels.joinSpectra(spectrum, spectrum + (isLast ? 0 : spectrumSize()),
                      lattice, s.ringMaps);
  kernels.transform(fourier, s.ringMaps, s.work, nothing);
  const T *result = fourier.numFactors % 2 ? s.work : s.ringMaps;
  for (int64_t i = 0; i < (isLast ? 1 : 2); ++i) {
    T *rows = s.results + i * lanes * padded;
    T flaws[maxLanes];
    kernels.fromLanes(result + (i == 0 ? lanes : 0), lattice, rows, padded,
                      flaws);
    for (int64_t l = 0; l < count; ++l) {
      Task task = taskOfRow(row + i, first + l, s);
      if (flaws[l] == 0) {
        storeRow(task, row + i, 0, rows + l * padded);
        continue;
      }
      // What is not finite is to reach the points that have a tap for it, and
      // no others.
      makeLists(task);
      addRound(task);
      s.listedRow = -1;
    }
  }
}

template <typename T>
typename SphereSum<T>::Task SphereSum<T>::taskOfRow(int64_t row, int64_t field,
                                                    Scratch &s) const {
  Task task;
  task.batch = field / problem.channels;
  task.group = field % problem.channels / problem.groupOut;
  task.firstChannel = field % problem.channels % problem.groupOut;
  task.count = task.numRows = 1;
  task.firstRow = row;
  task.firstTable = firstTable;
  task.isFourier = true;
  task.scratch = &s;
  return task;
}

template <typename T> void SphereSum<T>::transformFilters() {
  if (numRuns == 0)
    return;
  runtime::parallelTasks(
      problem.numThreads, numRuns * maxRun, [&](int64_t i, int thread) {
        const Run &run = runs[i / maxRun];
        if (i % maxRun < run.numRows)
          transformFilters(run.firstRow + i % maxRun, scratches[thread]);
      });
}

template class SphereSum<float>;
template class SphereSum<double>;

} // namespace disco::cpu_gather
