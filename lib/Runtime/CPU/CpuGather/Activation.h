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

static inline float erfcOf(float v) { return erfcf(v); }
static inline double erfcOf(double v) { return erfc(v); }
static inline float tanhOf(float v) { return tanhf(v); }
static inline double tanhOf(double v) { return tanh(v); }
static inline float expOf(float v) { return expf(v); }
static inline double expOf(double v) { return exp(v); }

template <typename T>
static void activate(T *values, int64_t count, int32_t activation) {
  switch (activation) {
  case DISCO_ACTIVATION_RELU:
    for (int64_t i = 0; i < count; ++i)
      values[i] = values[i] < 0 ? T(0) : values[i]; // keeps NaN
    return;
  case DISCO_ACTIVATION_GELU:
    for (int64_t i = 0; i < count; ++i)
      values[i] =
          T(0.5) * values[i] * erfcOf(-values[i] * T(0.70710678118654752440));
    return;
  case DISCO_ACTIVATION_GELU_TANH:
    for (int64_t i = 0; i < count; ++i) {
      const T v = values[i];
      const T inner = T(0.79788456080286535588) * (v + T(0.044715) * v * v * v);
      values[i] = T(0.5) * v * (1 + tanhOf(inner));
    }
    return;
  case DISCO_ACTIVATION_SILU:
    for (int64_t i = 0; i < count; ++i)
      values[i] = values[i] / (1 + expOf(-values[i]));
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
