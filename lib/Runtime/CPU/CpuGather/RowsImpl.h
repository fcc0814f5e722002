//===- RowsImpl.h - conversions and epilogues -------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of tensors on their way in and out: element types, bias, activation and
// residual. Included by KernelsImpl.h only.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CPU_CPUGATHER_ROWSIMPL_H
#define DISCO_LIB_RUNTIME_CPU_CPUGATHER_ROWSIMPL_H

#include "Activation.h"
#include "Kernels.h"
#include "Simd.h"

namespace disco::cpu_gather::DISCO_ISA {

struct F64 {
  using Element = double;
  static double widen(double v) { return v; }
  static double narrow(double v) { return v; }
};
struct F32 {
  using Element = float;
  static float widen(float v) { return v; }
  static float narrow(float v) { return v; }
};
struct BF16 {
  using Element = uint16_t;
  static float widen(uint16_t bits) {
    const uint32_t wide = uint32_t(bits) << 16;
    float v;
    __builtin_memcpy(&v, &wide, sizeof v);
    return v;
  }
  static uint16_t narrow(float v) {
    uint32_t bits;
    __builtin_memcpy(&bits, &v, sizeof bits);
    const uint32_t even = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    const uint32_t quietNan = (bits >> 16) | 0x40;
    return uint16_t((bits & 0x7fffffff) > 0x7f800000 ? quietNan : even);
  }
};
struct F16 {
  using Element = uint16_t;
#if DISCO_VECTOR_BYTES >= 32
  static float widen(uint16_t bits) { return _cvtsh_ss(bits); }
  static uint16_t narrow(float v) { return _cvtss_sh(v, 0); }
#else
  static float widen(uint16_t bits) { return halfToFloat(bits); }
  static uint16_t narrow(float v) { return floatToHalf(v); }
#endif
};

template <typename T, typename Type>
static void loadRow(const void *src, T *dst, int64_t count) {
  const auto *from = static_cast<const typename Type::Element *>(src);
  int64_t i = 0;
#if DISCO_VECTOR_BYTES >= 32
  if constexpr (__is_same(T, float) && __is_same(Type, F16))
    for (; i + 8 <= count; i += 8)
      _mm256_storeu_ps(dst + i,
                       _mm256_cvtph_ps(_mm_loadu_si128(
                           reinterpret_cast<const __m128i *>(from + i))));
#endif
  for (; i < count; ++i)
    dst[i] = T(Type::widen(from[i]));
}

/// Writes whole cache lines around the caches, by the widest stores there are:
/// narrow ones reach half of the rate.
template <typename T>
static void streamLines(const T *from, T *to, int64_t lines) {
#if defined(__x86_64__)
  for (int64_t bytes = lines * lineBytes, i = 0; i < bytes;
       i += DISCO_VECTOR_BYTES) {
    const char *src = reinterpret_cast<const char *>(from) + i;
    char *dst = reinterpret_cast<char *>(to) + i;
#if DISCO_VECTOR_BYTES == 64
    _mm512_stream_si512(reinterpret_cast<__m512i *>(dst),
                        _mm512_loadu_si512(src));
#elif DISCO_VECTOR_BYTES == 32
    _mm256_stream_si256(
        reinterpret_cast<__m256i *>(dst),
        _mm256_loadu_si256(reinterpret_cast<const __m256i *>(src)));
#else
    _mm_stream_si128(reinterpret_cast<__m128i *>(dst),
                     _mm_loadu_si128(reinterpret_cast<const __m128i *>(src)));
#endif
  }
#else
  __builtin_memcpy(to, from, size_t(lines * lineBytes));
#endif
}

template <typename T> static void streamRows(const StreamRows<T> &rows) {
  constexpr int64_t line = lineBytes / int64_t(sizeof(T));
  for (int64_t row = 0; row < rows.rows; ++row) {
    T *from = rows.sums + row * rows.sumsStride;
    T *to = rows.out + row * rows.outStride;
    int64_t count = rows.count;
    const int64_t inLine =
        int64_t(reinterpret_cast<uintptr_t>(to) % lineBytes / sizeof(T));
    if (!rows.isFirst) { // what was kept
      from -= inLine;
      to -= inLine;
      count += inLine;
    } else if (inLine > 0) { // a line that begins in another row
      const int64_t head = line - inLine < count ? line - inLine : count;
      for (int64_t i = 0; i < head; ++i)
        to[i] = from[i];
      from += head;
      to += head;
      count -= head;
    }
    const int64_t lines = count / line, rest = count % line;
    streamLines(from, to, lines);
    from += lines * line;
    to += lines * line;
    T *kept = rows.isLast ? to : rows.sums + row * rows.sumsStride - rest;
    for (int64_t i = 0; i < rest; ++i)
      kept[i] = from[i];
  }
}

/// Of float64 sums to a narrower type there is no use.
template <typename T, typename Type> constexpr bool isStored() {
  return __is_same(T, double) == __is_same(Type, F64);
}

template <typename T, typename Type>
static void storeRow(const StoreRow<T> &row) {
  if constexpr (isStored<T, Type>()) {
    using Element = typename Type::Element;
    auto *out = static_cast<Element *>(row.out);
    const auto *residual = static_cast<const Element *>(row.residual);
    constexpr int64_t chunk = 256;
    T values[chunk];
    for (int64_t i0 = 0; i0 < row.count; i0 += chunk) {
      const int64_t n = row.count - i0 < chunk ? row.count - i0 : chunk;
      for (int64_t i = 0; i < n; ++i)
        values[i] = row.sums[i0 + i] + row.bias;
      activate(values, n, row.activation);
      const int64_t first = i0 * row.outStride;
      if (residual)
        for (int64_t i = 0; i < n; ++i)
          values[i] += Type::widen(residual[first + i * row.outStride]);
      if (row.outStride == 1)
        for (int64_t i = 0; i < n; ++i)
          out[i0 + i] = Type::narrow(values[i]);
      else
        for (int64_t i = 0; i < n; ++i)
          out[first + i * row.outStride] = Type::narrow(values[i]);
    }
  }
}

} // namespace disco::cpu_gather::DISCO_ISA

#endif // DISCO_LIB_RUNTIME_CPU_CPUGATHER_ROWSIMPL_H
