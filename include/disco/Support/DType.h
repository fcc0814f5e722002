//===- DType.h - element types and their conversions ------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The element types of tensors at the runtime's boundary. All conversions
// round to nearest even in one step (float64 to bfloat16 is not rounded
// through float32).
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_SUPPORT_DTYPE_H
#define DISCO_SUPPORT_DTYPE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace disco {

/// Numbered as `disco_dtype` of the C ABI.
enum class DType : int32_t {
  f64 = 0,
  f32 = 1,
  f16 = 2,
  bf16 = 3,
  i32 = 4,
  i64 = 5
};

/// Bytes of one element.
size_t sizeOf(DType type);

/// "f64", "f32", "f16", "bf16", "i32", "i64".
std::string_view nameOf(DType type);
std::optional<DType> parseDType(std::string_view name);
inline bool isFloat(DType type) { return type <= DType::bf16; }

uint16_t toHalfBits(double value);
uint16_t toBFloat16Bits(double value);
double fromHalfBits(uint16_t bits);
double fromBFloat16Bits(uint16_t bits);

/// Element `index` of an array of `type`, as float64 (i64 beyond 2^53 rounds).
double loadAsDouble(const void *data, DType type, int64_t index);

/// Rounds `value` to `type` and stores it as element `index`.
void storeFromDouble(void *data, DType type, int64_t index, double value);

/// The value of `type` that is nearest to `value`.
double roundTo(DType type, double value);

} // namespace disco

#endif // DISCO_SUPPORT_DTYPE_H
