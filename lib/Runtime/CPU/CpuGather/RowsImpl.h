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

/// Copies around the caches: what is written is not read soon. Only whole cache
/// lines go that way: parts of one would each be a transaction with memory.
template <typename T>
static void streamRow(const T *from, T *to, int64_t count) {
  int64_t i = 0;
#if defined(__x86_64__)
  constexpr int64_t lanes = 16 / sizeof(T);
  constexpr int64_t line = 64 / sizeof(T);
  for (; i < count && reinterpret_cast<uintptr_t>(to + i) % 64 != 0; ++i)
    to[i] = from[i];
  for (const int64_t end = i + (count - i) / line * line; i < end; i += lanes)
    _mm_stream_si128(
        reinterpret_cast<__m128i *>(to + i),
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + i)));
#endif
  for (; i < count; ++i)
    to[i] = from[i];
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
    if constexpr (__is_same(Element, T))
      if (row.stream && row.outStride == 1)
        return streamRow(row.sums, out, row.count);
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
