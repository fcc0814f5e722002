//===- Activation.h - activations and half precision ------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Included by RowsImpl.h only.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CPU_CPUGATHER_ACTIVATION_H
#define DISCO_LIB_RUNTIME_CPU_CPUGATHER_ACTIVATION_H

#include "Simd.h"
#include "disco/ABI/Kernel.h"

#include <math.h>

namespace disco::cpu_gather::DISCO_ISA {

// Far below zero all but relu are v times something that vanishes, and that
// must keep its digits there too: no 1 - (almost 1), and no exponential that
// overflows where the product has not vanished. In float the argument of an
// exponential has lost digits already, so that it is computed in double.

/// v / (1 + exp(-w)), for a T.
template <typename T> static inline double gate(double v, double w) {
  // A double that overflows is one of a quotient that is 0 in float.
  if (__is_same(T, float) || !(w < 0))
    return v / (1 + exp(-w));
  // In halves, since exp(w) has no digits left below -708 when v exp(w) does.
  const double half = exp(0.5 * w);
  return v * half * half / (1 + half * half);
}

static inline double gelu(double v) {
  return 0.5 * v * erfc(-v * 0.70710678118654752440);
}
static inline float gelu(float v) {
  // The relative error of erfc(z) is 2 z^2 times that of z.
  if (v < -2)
    return float(gelu(double(v)));
  return 0.5f * v * erfcf(-v * 0.70710678118654752440f);
}

template <typename T> static inline double geluTanh(double v) {
  // 1 + tanh(w / 2) = 2 / (1 + exp(-w))
  return gate<T>(v, 1.5957691216057307117 * (v + 0.044715 * v * v * v));
}

template <typename T>
static void activate(T *values, int64_t count, int32_t activation) {
  switch (activation) {
  case DISCO_ACTIVATION_RELU:
    for (int64_t i = 0; i < count; ++i)
      values[i] = values[i] < 0 ? T(0) : values[i]; // keeps NaN
    return;
  case DISCO_ACTIVATION_GELU:
    for (int64_t i = 0; i < count; ++i)
      values[i] = gelu(values[i]);
    return;
  case DISCO_ACTIVATION_GELU_TANH:
    for (int64_t i = 0; i < count; ++i)
      values[i] = T(geluTanh<T>(double(values[i])));
    return;
  case DISCO_ACTIVATION_SILU:
    for (int64_t i = 0; i < count; ++i)
      values[i] = T(gate<T>(double(values[i]), double(values[i])));
    return;
  default:
    return;
  }
}

static inline float halfToFloat(uint16_t half) {
  const uint32_t sign = uint32_t(half & 0x8000) << 16;
  const uint32_t magnitude = half & 0x7fff;
  uint32_t bits;
  if (magnitude >= 0x7c00) {
    bits = 0x7f800000 | (magnitude & 0x3ff) << 13;
  } else if (magnitude >= 0x400) {
    bits = (magnitude << 13) + (uint32_t(127 - 15) << 23);
  } else { // a multiple of 2^-24, exact in float
    const float v = float(magnitude) * 0x1p-24f;
    __builtin_memcpy(&bits, &v, sizeof bits);
  }
  bits |= sign;
  float v;
  __builtin_memcpy(&v, &bits, sizeof v);
  return v;
}

static inline uint16_t floatToHalf(float v) {
  uint32_t bits;
  __builtin_memcpy(&bits, &v, sizeof bits);
  const uint16_t sign = uint16_t(bits >> 16 & 0x8000);
  bits &= 0x7fffffff;
  if (bits > 0x7f800000)
    return uint16_t(sign | 0x7e00);
  if (bits >= 0x477ff000) // 65520, half way beyond the largest
    return uint16_t(sign | 0x7c00);
  if (bits < 0x38800000) { // below 2^-14: a multiple of 2^-24
    float magnitude;
    __builtin_memcpy(&magnitude, &bits, sizeof magnitude);
    // Adding 0.5 leaves the multiple in the last bits, rounded to even.
    const float shifted = magnitude + 0.5f;
    uint32_t sum;
    __builtin_memcpy(&sum, &shifted, sizeof sum);
    return uint16_t(sign | (sum - 0x3f000000));
  }
  const uint32_t rounded = bits + 0xfff + (bits >> 13 & 1);
  return uint16_t(sign | ((rounded - (uint32_t(127 - 15) << 23)) >> 13));
}

} // namespace disco::cpu_gather::DISCO_ISA

#endif // DISCO_LIB_RUNTIME_CPU_CPUGATHER_ACTIVATION_H
