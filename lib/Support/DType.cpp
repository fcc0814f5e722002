//===- DType.cpp - element types and their conversions --------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Support/DType.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace disco {

namespace {

// The 16-bit formats: sign | exponent | mantissa, with IEEE's conventions.
struct SmallFloat {
  int mantissaBits;
  int bias;
  uint16_t infinity;
};
constexpr SmallFloat halfFormat{10, 15, 0x7c00};
constexpr SmallFloat bfloatFormat{7, 127, 0x7f80};

uint64_t bitsOf(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

uint16_t encode(double value, const SmallFloat &format) {
  const uint64_t bits = bitsOf(value);
  const auto sign = static_cast<uint16_t>((bits >> 48) & 0x8000);
  const uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
  const int field = static_cast<int>((bits >> 52) & 0x7ff);
  if (field == 0x7ff) {
    if (fraction == 0)
      return sign | format.infinity;
    // A NaN keeps the top of its payload and becomes quiet.
    const auto payload =
        static_cast<uint16_t>(fraction >> (52 - format.mantissaBits));
    const auto quiet = static_cast<uint16_t>(1 << (format.mantissaBits - 1));
    return sign | format.infinity | quiet | payload;
  }
  // Zero and the subnormals of float64 lie far below half of the smallest
  // subnormal of either format.
  if (field == 0)
    return sign;

  const int exponent = field - 1023;
  const int smallest = 1 - format.bias;
  const uint64_t significand = fraction | (uint64_t(1) << 52);
  int shift = 52 - format.mantissaBits;
  if (exponent < smallest)
    shift += smallest - exponent;
  if (shift > 53) // less than half of the smallest subnormal
    return sign;
  uint64_t rounded = significand >> shift;
  const uint64_t rest = significand & ((uint64_t(1) << shift) - 1);
  const uint64_t half = uint64_t(1) << (shift - 1);
  if (rest > half || (rest == half && (rounded & 1) != 0))
    ++rounded;
  // The implicit bit adds one to the exponent field, and so does a carry.
  if (exponent >= smallest)
    rounded += static_cast<uint64_t>(exponent - smallest)
               << format.mantissaBits;
  if (rounded >= format.infinity)
    return sign | format.infinity;
  return sign | static_cast<uint16_t>(rounded);
}

double decode(uint16_t bits, const SmallFloat &format) {
  const int fraction = bits & ((1 << format.mantissaBits) - 1);
  const int field = (bits & format.infinity) >> format.mantissaBits;
  double magnitude;
  if ((bits & format.infinity) == format.infinity) {
    if (fraction != 0) {
      // Keep sign and payload, so that every bit pattern survives a round trip.
      const uint64_t wide =
          (static_cast<uint64_t>(bits & 0x8000) << 48) |
          (uint64_t(0x7ff) << 52) |
          (static_cast<uint64_t>(fraction) << (52 - format.mantissaBits));
      double nan;
      std::memcpy(&nan, &wide, sizeof nan);
      return nan;
    }
    magnitude = std::numeric_limits<double>::infinity();
  } else if (field == 0) {
    magnitude = std::ldexp(fraction, 1 - format.bias - format.mantissaBits);
  } else {
    const uint64_t wide =
        static_cast<uint64_t>(field - format.bias + 1023) << 52 |
        static_cast<uint64_t>(fraction) << (52 - format.mantissaBits);
    std::memcpy(&magnitude, &wide, sizeof magnitude);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

template <typename T> T load(const void *data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + index * sizeof(T),
              sizeof(T));
  return value;
}

template <typename T> void store(void *data, int64_t index, T value) {
  std::memcpy(static_cast<char *>(data) + index * sizeof(T), &value, sizeof(T));
}

// Integers: round to nearest even, and clamp, because the conversion of a
// value out of range is undefined in C++. NaN becomes 0.
template <typename T> T toInteger(double value) {
  if (std::isnan(value))
    return 0;
  const double rounded = std::nearbyint(value);
  if (rounded <= static_cast<double>(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  // max() of int64 rounds up to 2^63 as a double, which is out of range too.
  if (rounded >= static_cast<double>(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  return static_cast<T>(rounded);
}

struct Row {
  DType type;
  std::string_view name;
  size_t size;
};
constexpr Row table[] = {
    {DType::f64, "f64", 8},   {DType::f32, "f32", 4}, {DType::f16, "f16", 2},
    {DType::bf16, "bf16", 2}, {DType::i32, "i32", 4}, {DType::i64, "i64", 8},
};

const Row &rowOf(DType type) { return table[static_cast<int32_t>(type)]; }

} // namespace

size_t sizeOf(DType type) { return rowOf(type).size; }

std::string_view nameOf(DType type) { return rowOf(type).name; }

std::optional<DType> parseDType(std::string_view name) {
  for (const Row &row : table)
    if (row.name == name)
      return row.type;
  return std::nullopt;
}

uint16_t toHalfBits(double value) { return encode(value, halfFormat); }
uint16_t toBFloat16Bits(double value) { return encode(value, bfloatFormat); }
double fromHalfBits(uint16_t bits) { return decode(bits, halfFormat); }

double fromBFloat16Bits(uint16_t bits) { return decode(bits, bfloatFormat); }

double loadAsDouble(const void *data, DType type, int64_t index) {
  switch (type) {
  case DType::f64:
    return load<double>(data, index);
  case DType::f32:
    return load<float>(data, index);
  case DType::f16:
    return fromHalfBits(load<uint16_t>(data, index));
  case DType::bf16:
    return fromBFloat16Bits(load<uint16_t>(data, index));
  case DType::i32:
    return load<int32_t>(data, index);
  case DType::i64:
    return static_cast<double>(load<int64_t>(data, index));
  }
  return 0;
}

void storeFromDouble(void *data, DType type, int64_t index, double value) {
  switch (type) {
  case DType::f64:
    return store<double>(data, index, value);
  case DType::f32:
    return store<float>(data, index, static_cast<float>(value));
  case DType::f16:
    return store<uint16_t>(data, index, toHalfBits(value));
  case DType::bf16:
    return store<uint16_t>(data, index, toBFloat16Bits(value));
  case DType::i32:
    return store<int32_t>(data, index, toInteger<int32_t>(value));
  case DType::i64:
    return store<int64_t>(data, index, toInteger<int64_t>(value));
  }
}

/// Rounds to so many bits of mantissa by the bits of the value itself, which
/// must be in the range that has them.
static double roundMantissa(double value, int numBits) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const int dropped = 52 - numBits;
  const uint64_t last = bits >> dropped & 1;
  bits += (uint64_t(1) << (dropped - 1)) - 1 + last;
  bits &= ~((uint64_t(1) << dropped) - 1);
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

double roundTo(DType type, double value) {
  if (type == DType::f32)
    return static_cast<float>(value);
  const double size = std::abs(value);
  if (type == DType::bf16 && size >= 0x1p-126 && size < 0x1p127)
    return roundMantissa(value, 7);
  if (type == DType::f16 && size >= 0x1p-14 && size < 0x1p15)
    return roundMantissa(value, 10);
  uint64_t element;
  storeFromDouble(&element, type, 0, value);
  return loadAsDouble(&element, type, 0);
}

} // namespace disco
