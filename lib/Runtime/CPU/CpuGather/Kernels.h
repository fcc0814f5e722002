//===- Kernels.h - the inner loops, by instruction set ----------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inner loops of cpu_gather as tables of functions, one for each type of
// sums (f32, f64) and instruction set. KernelsImpl.h is their only source; it
// is compiled once for each instruction set.
//
// A *panel* is `panel` = 2 vectors of columns (longitudes or points). The
// operand of the matrix product is stored by panels:
//
//   z[column / panel][d][column % panel],   d = 0 .. depth - 1
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CPU_CPUGATHER_KERNELS_H
#define DISCO_LIB_RUNTIME_CPU_CPUGATHER_KERNELS_H

#include "disco/ABI/Families/CpuGather.h"
#include "disco/ABI/disco.h"

#include <cstdint>

namespace disco::cpu_gather {

/// Rows of the matrix product that are computed together. The packed weight
/// has the layout [row / rowBlock][d][row % rowBlock], where the last block is
/// as narrow as the rows that remain.
constexpr int64_t rowBlock = DISCO_CPU_GATHER_PRODUCT_ROWS;

/// The width of the next block of basis indices when `left` are to do: the sums
/// of a block stay in registers. 9 = 3+3+3, 4 = 2+2, 7 = 3+2+2.
constexpr int64_t basisBlock(int64_t left) {
  return left == 1 ? 1 : left == 2 || left == 4 ? 2 : 3;
}

/// Bytes of a cache line.
constexpr int64_t lineBytes = 64;

/// Rows that `add` adds to at once.
constexpr int64_t maxGroup = DISCO_CPU_GATHER_SUM_ROWS;

/// Memory that is read next: some runs of bytes. A few lines of it are asked
/// for at a time between computations; many at once would stop the processor
/// until they have come.
struct Ahead {
  const char *run = nullptr;
  int64_t runs = 0, runStride = 0, runBytes = 0;
  int64_t linesPerStep = 0;
  int64_t at = 0;

  void step() {
    for (int64_t i = 0; i < linesPerStep && runs > 0; ++i) {
      __builtin_prefetch(run + at, 0, 2);
      at += lineBytes;
      if (at >= runBytes) {
        at = 0;
        run += runStride;
        --runs;
      }
    }
  }
};

/// A list of taps; x[a] is a vector that starts at column a:
///   y[i, column] = sum of value[i] * x[a + column]                   singles
///                + sum of value[i] * (x[a + column] + x[b + column]) sums
///                + sum of value[i] * (x[a + column] - x[b + column])
///                                                               differences
/// where `values` has `numBasis` values for each of these in turn, and
/// `offsets` one offset for each of the singles and then two, a and b, for each
/// of the others. Two taps with the same or opposite values are thus one
/// multiplication for each i.
template <typename T> struct TapList {
  int64_t numSingles = 0, numBasis = 0;
  const int32_t *offsets = nullptr;
  const T *values = nullptr;
  int64_t numSums = 0, numDifferences = 0;
  /// The feature that y[i] is; null: i. For `expand`.
  const int32_t *features = nullptr;
};

/// Taps of some rows in x, for `add`; a *part* of the list is added to some of
/// the rows only, so that no row multiplies what it has no tap for:
///   rows of the group   1        2                3
///   parts               {0}      {0,1} {0} {1}    {0,1,2} {0,1} {0} {1} {2}
/// An element is as in TapList, with a value for each row of its part. The list
/// has all singles, part after part, then all sums, then all differences.
struct GroupParts {
  static constexpr int maxParts = 5;
  static constexpr int numParts(int rows) { return 2 * rows - 1; }
  /// Bit r: row r.
  static constexpr int rowsOf(int rows, int part) {
    return part == 0                ? (1 << rows) - 1
           : rows == 3 && part == 1 ? 3
                                    : 1 << (part - (rows == 3 ? 2 : 1));
  }
};

template <typename T> struct GroupList {
  int64_t numRows = 0, numParts = 1; ///< of the parts, those that are used
  int32_t counts[3][GroupParts::maxParts] = {}; ///< [singles ..][part]
  const int32_t *offsets = nullptr;
  const T *values = nullptr;
  /// What is so far behind each x is asked for; 0: nothing.
  int64_t ahead = 0;
};

/// Where column j of feature k is: at (j / panel) * panelStride + j % panel
/// + k * basisStride.
template <typename T> struct Features {
  T *data = nullptr;
  int64_t panelStride = 0, basisStride = 0;
};

/// c[row, column] (+)= sum over d of a[row, d] b[d, column].
template <typename T> struct Product {
  const T *a = nullptr;     ///< packed
  int64_t aBlockStride = 0; ///< from a block of rows to the next
  int64_t aFirst = 0;       ///< the first d
  const T *b = nullptr;     ///< panels
  int64_t bPanelStride = 0;
  T *c = nullptr;
  int64_t cRowStride = 0, cPanelStride = 0;
  int64_t rows = 0, panels = 0, depth = 0;
  bool accumulate = false;
};

/// One row of results, rounded to the element type:
///   out[i * outStride] = act(sums[i] + bias) + residual[i * outStride]
template <typename T> struct StoreRow {
  const T *sums = nullptr;
  void *out = nullptr;
  const void *residual = nullptr;
  int64_t count = 0, outStride = 1;
  T bias = 0;
  int32_t activation = 0;
};

/// Some columns of rows that are written around the caches, a piece of the rows
/// after the other. Only whole cache lines go that way: what a piece leaves of
/// its last line is kept before the next piece.
///
///   sums   [ kept, less than a line | `count` new columns ]
///   out    where the new columns go
template <typename T> struct StreamRows {
  T *sums = nullptr; ///< the first new column of the first row
  T *out = nullptr;
  int64_t sumsStride = 0, outStride = 0; ///< from a row to the next
  int64_t rows = 0, count = 0;
  bool isFirst = false, isLast = false; ///< of the pieces
};

/// A transform of sequences of complex numbers, one in each lane:
///   [point][re, im][lane]
template <typename T> struct Fourier {
  static constexpr int64_t maxFactors = 32;
  int64_t size = 0;         ///< points
  const T *roots = nullptr; ///< [j][re, im]: exp(-2 pi i j / size)
  int64_t numFactors = 0;
  uint8_t factors[maxFactors] = {}; ///< of the size: 2, 3, 4 and 5
};

/// sums(m) += sum over p: filter_p(m) conj(map_p(size - m))
///                        + conj(filter_p(size - m)) map_p(m),
/// m = 0 .. size / 2. As map p is the transform of two real ones, a + i b, and
/// filter p that of their filters, f + i g, this is twice the transform of
/// f * a + g * b, where * is the circular convolution.
template <typename T> struct SpectrumSum {
  int64_t size = 0, pairs = 0;
  const T *maps = nullptr;   ///< [p][point][re, im][lane]
  const T *filter = nullptr; ///< [m][p][re, im at m, re, im at size - m]
  T *sums = nullptr;         ///< [m][re, im][lane]
};

/// Indexed by disco_dtype, f64 to bf16.
constexpr int numFloatTypes = 4;

template <typename T> struct Kernels {
  int64_t lanes, panel;
  /// z[feature of y[i], column] = y[i, column], or += it.
  void (*expand)(const TapList<T> &taps, const T *x, int64_t vectors,
                 const Features<T> &z, bool accumulate);
  /// rows[i][column] += sum of the elements of row i, for numRows <= maxGroup
  /// and columns first .. end - 1, whole vectors of them.
  void (*add)(const GroupList<T> &taps, const T *x, int64_t first, int64_t end,
              T *const *rows, Ahead &ahead);
  /// Vectors that `add` computes together, by numRows - 1.
  int64_t addVectors[maxGroup];
  void (*multiply)(const Product<T> &product);
  /// dst[i] = src[i], converted.
  void (*load[numFloatTypes])(const void *src, T *dst, int64_t count);
  void (*store[numFloatTypes])(const StoreRow<T> &row);
  void (*stream)(const StreamRows<T> &rows);
  /// dst[i % phases][i / phases] = src[i]; a phase has `phaseStride` elements.
  void (*deinterleave)(const T *src, T *dst, int64_t count, int64_t phases,
                       int64_t phaseStride);
  /// dst[i * dstStride + j] = src[j * srcStride + i], i < rows, j < columns.
  void (*transpose)(const T *src, int64_t srcStride, T *dst, int64_t dstStride,
                    int64_t rows, int64_t columns);
  /// dst[map * dstStride + i] = src[map * srcStride + i] for i in some vectors;
  /// what is `ahead` of it is asked for.
  void (*copyMaps)(const T *src, int64_t srcStride, T *dst, int64_t dstStride,
                   int64_t maps, int64_t vectors, int64_t ahead);
  /// x(m) = sum over j: x(j) exp(-2 pi i j m / size), in natural order; the
  /// result is in `a` after an even number of factors, else in `b`. Both are
  /// overwritten.
  void (*transform)(const Fourier<T> &fourier, T *a, T *b, Ahead &ahead);
  void (*addSpectrum)(const SpectrumSum<T> &sum);
  /// Of real sequences a and b, whose spectra are given for m = 0 .. size / 2:
  /// to = transform of a + i b, with re and im exchanged. Another transform of
  /// this makes b the real and a the imaginary part, times size.
  void (*joinSpectra)(const T *a, const T *b, int64_t size, T *to);
  /// to[i][re][lane] = rows[lane][i].
  void (*toLanes)(const T *const *rows, int64_t count, T *to);
  /// to[lane * rowStride + i] = from[i][re][lane]; flaws[lane] becomes 0 if all
  /// of these are finite, else NaN.
  void (*fromLanes)(const T *from, int64_t count, T *to, int64_t rowStride,
                    T *flaws);
  /// Ends a series of streaming stores.
  void (*fence)();
};

struct KernelSet {
  const char *name;
  Kernels<float> f32;
  Kernels<double> f64;
};

extern const KernelSet kernelsBaseline;
#if defined(__x86_64__)
extern const KernelSet kernelsAvx2, kernelsAvx512;
#endif

/// The best that this processor has, once DISCO_CPU_ISA is taken into account.
const KernelSet &selectKernels();

/// Whether DISCO_CPU_ISA is unset, empty or one of the names, when the kernels
/// are selected; else an error.
disco_status checkIsa();

} // namespace disco::cpu_gather

#endif // DISCO_LIB_RUNTIME_CPU_CPUGATHER_KERNELS_H
