//===- Values.h - single elements of operands -------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For parameters and tables, which are read once a run.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CPU_CPUGATHER_VALUES_H
#define DISCO_LIB_RUNTIME_CPU_CPUGATHER_VALUES_H

#include "disco/ABI/Kernel.h"

#include <cstring>

namespace disco::cpu_gather {

inline int64_t sizeOfFloat(disco_dtype dtype) {
  return dtype == DISCO_F64 ? 8 : dtype == DISCO_F32 ? 4 : 2;
}

inline double halfAt(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double magnitude;
  if (exponent == 31)
    magnitude = mantissa ? __builtin_nan("") : __builtin_inf();
  else if (exponent == 0)
    magnitude = mantissa * 0x1p-24;
  else // (1024 + mantissa) 2^(exponent - 25)
    magnitude = __builtin_ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

inline double valueAt(const void *data, disco_dtype dtype, int64_t i) {
  switch (dtype) {
  case DISCO_F64:
    return static_cast<const double *>(data)[i];
  case DISCO_F32:
    return static_cast<const float *>(data)[i];
  case DISCO_F16:
    return halfAt(static_cast<const uint16_t *>(data)[i]);
  default: {
    const uint32_t bits = uint32_t(static_cast<const uint16_t *>(data)[i])
                          << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  }
}

template <typename T> T biasOf(const disco_kernel_call &call, int64_t o) {
  return call.has_bias
             ? static_cast<T>(valueAt(call.bias, call.weight_dtype, o))
             : T(0);
}

} // namespace disco::cpu_gather

#endif // DISCO_LIB_RUNTIME_CPU_CPUGATHER_VALUES_H
