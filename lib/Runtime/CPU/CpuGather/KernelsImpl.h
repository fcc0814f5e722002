//===- KernelsImpl.h - the inner loops --------------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled once for each instruction set, by the files Kernels<Set>.cpp, which
// differ in their compiler flags only. A column's result depends on its own
// inputs alone, in one order of operations, wherever it lies in a vector.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CPU_CPUGATHER_KERNELSIMPL_H
#define DISCO_LIB_RUNTIME_CPU_CPUGATHER_KERNELSIMPL_H

#include "Kernels.h"
#include "Simd.h"

#include "FourierImpl.h"
#include "RowsImpl.h"

namespace disco::cpu_gather::DISCO_ISA {

//===----------------------------------------------------------------------===//
// Features from taps
//===----------------------------------------------------------------------===//

/// The vectors of columns that are computed together for a block of KB basis
/// indices: KB * L sums, KB values and one vector of x fit in the registers,
/// and an x that was loaded is used KB times.
#if DISCO_VECTOR_BYTES == 64
constexpr int vectorsFor(int kb) { return kb == 3 ? 6 : kb == 2 ? 6 : 8; }
#else
constexpr int vectorsFor(int kb) { return kb == 3 ? 4 : kb == 2 ? 6 : 8; }
#endif

template <typename T> static inline T *place(const Features<T> &z, int64_t v) {
  return z.data + (v >> 1) * z.panelStride + (v & 1) * lanesOf<T>;
}

/// What one element of a list multiplies.
enum class Element { single, sum, difference };

template <typename T, Element E>
__attribute__((always_inline)) static inline Vec<T>
elementAt(const T *a, const T *b, bool isReused) {
  if constexpr (E == Element::sum)
    return load(a) + load(b);
  else if constexpr (E == Element::difference)
    return load(a) - load(b);
  else
    return isReused ? loadOnce(a) : load(a);
}

/// Adds `count` elements of a list to KB x L sums. `offsets` and `values` move
/// on.
template <typename T, int KB, int L, Element E>
__attribute__((always_inline)) static inline void
addElements(int64_t count, const T *x, const int32_t *&offsets,
            const T *&values, int64_t step, Vec<T> (&sums)[KB][L]) {
  for (int64_t t = 0; t < count; ++t, values += step) {
    const T *a = x + *offsets++;
    const T *b = E == Element::single ? a : x + *offsets++;
    Vec<T> v[KB];
#pragma GCC unroll 8
    for (int k = 0; k < KB; ++k)
      v[k] = splat(values[k]);
#pragma GCC unroll 8
    for (int l = 0; l < L; ++l) {
      const Vec<T> element =
          elementAt<T, E>(a + l * lanesOf<T>, b + l * lanesOf<T>, KB > 1);
#pragma GCC unroll 8
      for (int k = 0; k < KB; ++k)
        sums[k][l] = fma(v[k], element, sums[k][l]);
    }
  }
}

template <typename T, int KB, int L>
__attribute__((always_inline)) static inline void
addList(const TapList<T> &taps, const T *x, const T *values,
        Vec<T> (&sums)[KB][L]) {
  const int32_t *offsets = taps.offsets;
  const int64_t step = taps.numBasis;
  addElements<T, KB, L, Element::single>(taps.numSingles, x, offsets, values,
                                         step, sums);
  addElements<T, KB, L, Element::sum>(taps.numSums, x, offsets, values, step,
                                      sums);
  addElements<T, KB, L, Element::difference>(taps.numDifferences, x, offsets,
                                             values, step, sums);
}

template <typename T, int KB, int L>
static void expandBlock(const TapList<T> &taps, int64_t firstBasis, const T *x,
                        int64_t first, const Features<T> &z, bool accumulate) {
  Vec<T> sums[KB][L];
  T *at[L];
  int64_t feature[KB];
#pragma GCC unroll 8
  for (int k = 0; k < KB; ++k)
    feature[k] =
        (taps.features ? taps.features[firstBasis + k] : firstBasis + k) *
        z.basisStride;
#pragma GCC unroll 8
  for (int l = 0; l < L; ++l) {
    at[l] = place(z, first + l);
#pragma GCC unroll 8
    for (int k = 0; k < KB; ++k)
      sums[k][l] = accumulate ? load(at[l] + feature[k]) : Vec<T>{};
  }
  addList<T, KB, L>(taps, x + first * lanesOf<T>, taps.values + firstBasis,
                    sums);
#pragma GCC unroll 8
  for (int l = 0; l < L; ++l)
#pragma GCC unroll 8
    for (int k = 0; k < KB; ++k)
      store(at[l] + feature[k], sums[k][l]);
}

/// `vectors` columns by blocks of L, and the rest by a narrower one.
template <typename T, int KB, int L>
static void expandRest(const TapList<T> &taps, int64_t firstBasis, const T *x,
                       int64_t first, int64_t rest, const Features<T> &z,
                       bool accumulate) {
  if constexpr (L > 0) {
    if (rest == L)
      return expandBlock<T, KB, L>(taps, firstBasis, x, first, z, accumulate);
    expandRest<T, KB, L - 1>(taps, firstBasis, x, first, rest, z, accumulate);
  }
}

template <typename T, int KB>
static void expandColumns(const TapList<T> &taps, int64_t firstBasis,
                          const T *x, int64_t vectors, const Features<T> &z,
                          bool accumulate) {
  constexpr int L = vectorsFor(KB);
  int64_t first = 0;
  for (; first + L <= vectors; first += L)
    expandBlock<T, KB, L>(taps, firstBasis, x, first, z, accumulate);
  expandRest<T, KB, L - 1>(taps, firstBasis, x, first, vectors - first, z,
                           accumulate);
}

template <typename T>
static void expand(const TapList<T> &taps, const T *x, int64_t vectors,
                   const Features<T> &z, bool accumulate) {
  for (int64_t first = 0; first < taps.numBasis;) {
    const int64_t kb = basisBlock(taps.numBasis - first);
    if (kb == 3)
      expandColumns<T, 3>(taps, first, x, vectors, z, accumulate);
    else if (kb == 2)
      expandColumns<T, 2>(taps, first, x, vectors, z, accumulate);
    else
      expandColumns<T, 1>(taps, first, x, vectors, z, accumulate);
    first += kb;
  }
}

//===----------------------------------------------------------------------===//
// Sums of taps
//===----------------------------------------------------------------------===//

/// Adds `count` elements to the rows of a part. `offsets` and `values` move on.
/// What is `ahead` of the columns comes for each map in two halves: with its
/// singles and with its pairs.
template <typename T, int Rows, int L, Element E, int Part>
__attribute__((always_inline)) static inline void
addToRows(int64_t count, const T *x, int64_t ahead, const int32_t *&offsets,
          const T *&values, Vec<T> (&sums)[Rows][L]) {
  constexpr int64_t line = lineBytes / int64_t(sizeof(T));
  constexpr int64_t lines = L * lanesOf<T> / line / 2;
  constexpr int64_t half = E == Element::single ? 0 : lines * line;
  constexpr int mask = GroupParts::rowsOf(Rows, Part);
  constexpr int used = __builtin_popcount(mask);
  for (int64_t t = 0; t < count; ++t, values += used) {
    const T *a = x + *offsets++;
    const T *b = E == Element::single ? a : x + *offsets++;
    if constexpr (Part == 0)
      for (int64_t i = 0; i < lines; ++i)
        __builtin_prefetch(b + ahead + half + i * line, 0, 2);
    Vec<T> v[Rows];
    int at = 0;
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r)
      if (mask >> r & 1)
        v[r] = splat(values[at++]);
#pragma GCC unroll 8
    for (int l = 0; l < L; ++l) {
      const Vec<T> element =
          elementAt<T, E>(a + l * lanesOf<T>, b + l * lanesOf<T>, used > 1);
#pragma GCC unroll 8
      for (int r = 0; r < Rows; ++r)
        if (mask >> r & 1)
          sums[r][l] = fma(v[r], element, sums[r][l]);
    }
  }
}

/// The parts of one kind of elements.
template <typename T, int Rows, int L, Element E, int Parts, int Part = 0>
__attribute__((always_inline)) static inline void
addParts(const int32_t *counts, const T *x, int64_t ahead,
         const int32_t *&offsets, const T *&values, Vec<T> (&sums)[Rows][L]) {
  if constexpr (Part < Parts) {
    addToRows<T, Rows, L, E, Part>(counts[Part], x, ahead, offsets, values,
                                   sums);
    addParts<T, Rows, L, E, Parts, Part + 1>(counts, x, ahead, offsets, values,
                                             sums);
  }
}

/// Of all parts the first `Parts`.
template <typename T, int Rows, int L, int Parts>
static void addBlocks(const GroupList<T> &taps, const T *x, int64_t first,
                      int64_t end, T *const *rows, Ahead &ahead) {
  constexpr int64_t lanes = lanesOf<T>;
  T *at[Rows];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
    at[r] = rows[r];
  for (; first + L * lanes <= end; first += L * lanes) {
    ahead.step();
    Vec<T> sums[Rows][L];
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
      for (int l = 0; l < L; ++l)
        sums[r][l] = load(at[r] + first + l * lanes);
    const int32_t *offsets = taps.offsets;
    const T *values = taps.values, *from = x + first;
    addParts<T, Rows, L, Element::single, Parts>(
        taps.counts[0], from, taps.ahead, offsets, values, sums);
    addParts<T, Rows, L, Element::sum, Parts>(taps.counts[1], from, taps.ahead,
                                              offsets, values, sums);
    addParts<T, Rows, L, Element::difference, Parts>(
        taps.counts[2], from, taps.ahead, offsets, values, sums);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
      for (int l = 0; l < L; ++l)
        store(at[r] + first + l * lanes, sums[r][l]);
  }
}

/// Blocks of L vectors, and the rest by narrower ones.
template <typename T, int Rows, int L, int Parts>
static void addColumns(const GroupList<T> &taps, const T *x, int64_t first,
                       int64_t end, T *const *rows, Ahead &ahead) {
  if constexpr (L > 0) {
    constexpr int64_t width = L * lanesOf<T>;
    addBlocks<T, Rows, L, Parts>(taps, x, first, end, rows, ahead);
    first += (end - first) / width * width;
    // What is left is little: one loop for all lists, and not all widths.
    addColumns<T, Rows, (L > 4 ? L / 2 : L - 1), GroupParts::numParts(Rows)>(
        taps, x, first, end, rows, ahead);
  }
}

template <typename T, int Rows>
static void addRows(const GroupList<T> &taps, const T *x, int64_t first,
                    int64_t end, T *const *rows, Ahead &ahead) {
  constexpr int L = vectorsFor(Rows), parts = GroupParts::numParts(Rows);
  if (taps.numParts == 1)
    addColumns<T, Rows, L, 1>(taps, x, first, end, rows, ahead);
  else if (parts > 3 &&
           taps.numParts <= 3) // the longer arc has all taps of a shorter
    addColumns<T, Rows, L, 3>(taps, x, first, end, rows, ahead);
  else
    addColumns<T, Rows, L, parts>(taps, x, first, end, rows, ahead);
}

template <typename T>
static void add(const GroupList<T> &taps, const T *x, int64_t first,
                int64_t end, T *const *rows, Ahead &ahead) {
  if (taps.numRows == 3)
    addRows<T, 3>(taps, x, first, end, rows, ahead);
  else if (taps.numRows == 2)
    addRows<T, 2>(taps, x, first, end, rows, ahead);
  else
    addRows<T, 1>(taps, x, first, end, rows, ahead);
}

//===----------------------------------------------------------------------===//
// The matrix product
//===----------------------------------------------------------------------===//

template <typename T, int Rows>
static void multiplyBlock(const T *a, const T *b, int64_t depth, T *c,
                          int64_t cRowStride, bool accumulate) {
  constexpr int64_t lanes = lanesOf<T>;
  Vec<T> sums[Rows][2];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
    sums[r][0] = accumulate ? load(c + r * cRowStride) : Vec<T>{};
    sums[r][1] = accumulate ? load(c + r * cRowStride + lanes) : Vec<T>{};
  }
  for (int64_t d = 0; d < depth; ++d, a += Rows, b += 2 * lanes) {
    const Vec<T> b0 = loadOnce(b), b1 = loadOnce(b + lanes);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      const Vec<T> w = splat(a[r]);
      sums[r][0] = fma(w, b0, sums[r][0]);
      sums[r][1] = fma(w, b1, sums[r][1]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
    store(c + r * cRowStride, sums[r][0]);
    store(c + r * cRowStride + lanes, sums[r][1]);
  }
}

template <typename T, int Rows>
static void multiplyRest(int64_t rows, const T *a, const T *b, int64_t depth,
                         T *c, int64_t cRowStride, bool accumulate) {
  if constexpr (Rows > 0) {
    if (rows == Rows)
      return multiplyBlock<T, Rows>(a, b, depth, c, cRowStride, accumulate);
    multiplyRest<T, Rows - 1>(rows, a, b, depth, c, cRowStride, accumulate);
  }
}

template <typename T> static void multiply(const Product<T> &p) {
  for (int64_t panel = 0; panel < p.panels; ++panel) {
    const T *b = p.b + panel * p.bPanelStride;
    T *c = p.c + panel * p.cPanelStride;
    const T *a = p.a;
    for (int64_t row = 0; row < p.rows; row += rowBlock) {
      const int64_t rows = p.rows - row;
      T *to = c + row * p.cRowStride;
      if (rows >= rowBlock)
        multiplyBlock<T, rowBlock>(a + p.aFirst * rowBlock, b, p.depth, to,
                                   p.cRowStride, p.accumulate);
      else
        multiplyRest<T, rowBlock - 1>(rows, a + p.aFirst * rows, b, p.depth, to,
                                      p.cRowStride, p.accumulate);
      a += p.aBlockStride;
    }
  }
}

//===----------------------------------------------------------------------===//
// Moving data
//===----------------------------------------------------------------------===//

template <typename T>
static void deinterleave(const T *src, T *dst, int64_t count, int64_t phases,
                         int64_t phaseStride) {
  if (phases == 2) {
    T *odd = dst + phaseStride;
    int64_t i = 0;
    for (; i + 1 < count; i += 2) {
      dst[i / 2] = src[i];
      odd[i / 2] = src[i + 1];
    }
    if (i < count)
      dst[i / 2] = src[i];
    return;
  }
  for (int64_t phase = 0; phase < phases; ++phase) {
    T *to = dst + phase * phaseStride;
    for (int64_t i = phase; i < count; i += phases)
      *to++ = src[i];
  }
}

template <typename T>
static void transpose(const T *src, int64_t srcStride, T *dst,
                      int64_t dstStride, int64_t rows, int64_t columns) {
  // Blocks whose lines stay in the first cache.
  constexpr int64_t block = 16;
  for (int64_t i0 = 0; i0 < rows; i0 += block)
    for (int64_t j0 = 0; j0 < columns; j0 += block) {
      const int64_t i1 = i0 + block < rows ? i0 + block : rows;
      const int64_t j1 = j0 + block < columns ? j0 + block : columns;
      for (int64_t i = i0; i < i1; ++i)
        for (int64_t j = j0; j < j1; ++j)
          dst[i * dstStride + j] = src[j * srcStride + i];
    }
}

template <typename T>
static void copyMaps(const T *src, int64_t srcStride, T *dst, int64_t dstStride,
                     int64_t maps, int64_t vectors, int64_t ahead) {
  for (int64_t map = 0; map < maps; ++map, src += srcStride, dst += dstStride)
    for (int64_t v = 0; v < vectors; ++v) {
      const T *from = src + v * lanesOf<T>;
      __builtin_prefetch(from + ahead, 0, 2);
      store(dst + v * lanesOf<T>, load(from));
    }
}

static void fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

template <typename T> constexpr Kernels<T> makeKernels() {
  return {
      lanesOf<T>,
      2 * lanesOf<T>,
      expand<T>,
      add<T>,
      {vectorsFor(1), vectorsFor(2), vectorsFor(3)},
      multiply<T>,
      {loadRow<T, F64>, loadRow<T, F32>, loadRow<T, F16>, loadRow<T, BF16>},
      {storeRow<T, F64>, storeRow<T, F32>, storeRow<T, F16>, storeRow<T, BF16>},
      streamRows<T>,
      deinterleave<T>,
      transpose<T>,
      copyMaps<T>,
      transform<T>,
      addSpectrum<T>,
      joinSpectra<T>,
      toLanes<T>,
      fromLanes<T>,
      fence};
}

} // namespace disco::cpu_gather::DISCO_ISA

#endif // DISCO_LIB_RUNTIME_CPU_CPUGATHER_KERNELSIMPL_H
