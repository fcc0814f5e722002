//===- DTypeTest.cpp - conversions of element types -----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Support/DType.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace disco;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// One 16-bit format, so that every test runs on both.
struct Format {
  const char *name;
  uint16_t (*encode)(double);
  double (*decode)(uint16_t);
  int mantissaBits;
  int smallestExponent; // of a normal number
  uint16_t infinityBits;
};

class SixteenBits : public testing::TestWithParam<Format> {};

INSTANTIATE_TEST_SUITE_P(
    Formats, SixteenBits,
    testing::Values(Format{"half", toHalfBits, fromHalfBits, 10, -14, 0x7c00},
                    Format{"bfloat16", toBFloat16Bits, fromBFloat16Bits, 7,
                           -126, 0x7f80}),
    [](const auto &info) { return std::string(info.param.name); });

bool isNaNBits(const Format &format, uint32_t bits) {
  return (bits & 0x7fff) > format.infinityBits;
}

TEST_P(SixteenBits, EveryPatternSurvivesARoundTrip) {
  const Format &format = GetParam();
  int numNaN = 0;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double value = format.decode(static_cast<uint16_t>(bits));
    const uint16_t back = format.encode(value);
    if (isNaNBits(format, bits)) {
      ++numNaN;
      ASSERT_TRUE(std::isnan(value)) << bits;
      // A signalling NaN becomes quiet; sign and payload stay.
      ASSERT_EQ(back, bits | (1u << (format.mantissaBits - 1))) << bits;
    } else {
      ASSERT_EQ(back, bits) << value;
    }
  }
  EXPECT_EQ(numNaN, 2 * ((1 << format.mantissaBits) - 1));
}

TEST_P(SixteenBits, DecodesByTheFormula) {
  const Format &format = GetParam();
  for (uint32_t bits = 0; bits < format.infinityBits; ++bits) {
    const int field = static_cast<int>(bits >> format.mantissaBits);
    const int fraction =
        static_cast<int>(bits) & ((1 << format.mantissaBits) - 1);
    const double expected =
        field == 0 ? std::ldexp(fraction,
                                format.smallestExponent - format.mantissaBits)
                   : std::ldexp(fraction + (1 << format.mantissaBits),
                                field - 1 + format.smallestExponent -
                                    format.mantissaBits);
    ASSERT_EQ(format.decode(static_cast<uint16_t>(bits)), expected) << bits;
    ASSERT_EQ(format.decode(static_cast<uint16_t>(bits | 0x8000)), -expected);
  }
}

TEST_P(SixteenBits, HalfwayGoesToEvenAndItsNeighboursDoNot) {
  const Format &format = GetParam();
  for (uint32_t bits = 0; bits + 1 < format.infinityBits; ++bits) {
    const double low = format.decode(static_cast<uint16_t>(bits));
    const double high = format.decode(static_cast<uint16_t>(bits + 1));
    const double half = low + (high - low) / 2; // exact in float64
    const uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(format.encode(half), even) << bits;
    ASSERT_EQ(format.encode(std::nextafter(half, 0)), bits);
    ASSERT_EQ(format.encode(std::nextafter(half, infinity)), bits + 1);
    ASSERT_EQ(format.encode(-half), even | 0x8000) << bits;
  }
}

TEST_P(SixteenBits, OverflowsOnlyFromHalfwayToTheNextPower) {
  const Format &format = GetParam();
  const double largest =
      format.decode(static_cast<uint16_t>(format.infinityBits - 1));
  const double step =
      largest - format.decode(static_cast<uint16_t>(format.infinityBits - 2));
  const double limit = largest + step / 2;
  EXPECT_EQ(format.encode(std::nextafter(limit, 0)), format.infinityBits - 1);
  EXPECT_EQ(format.encode(limit), format.infinityBits);
  EXPECT_EQ(format.encode(infinity), format.infinityBits);
  EXPECT_EQ(format.encode(-infinity), format.infinityBits | 0x8000);
  EXPECT_EQ(format.encode(std::numeric_limits<double>::max()),
            format.infinityBits);
}

TEST_P(SixteenBits, UnderflowsToSignedZero) {
  const Format &format = GetParam();
  const double smallest = format.decode(1);
  EXPECT_EQ(format.encode(smallest / 2), 0); // ties to even
  EXPECT_EQ(format.encode(std::nextafter(smallest / 2, 1)), 1);
  EXPECT_EQ(format.encode(-smallest / 4), 0x8000);
  EXPECT_EQ(format.encode(std::numeric_limits<double>::denorm_min()), 0);
  EXPECT_EQ(format.encode(-0.0), 0x8000);
  EXPECT_TRUE(std::signbit(format.decode(0x8000)));
}

TEST(DType, Float64IsNotRoundedTwice) {
  // Just above halfway between two bfloat16 (and half) values, by less than
  // float32 can see: rounding through float32 first would tie to even.
  const double bfloat = 1 + std::ldexp(1, -8) + std::ldexp(1, -40);
  EXPECT_EQ(toBFloat16Bits(bfloat), 0x3f81);
  EXPECT_EQ(toBFloat16Bits(static_cast<double>(static_cast<float>(bfloat))),
            0x3f80);
  const double half = 1 + std::ldexp(1, -11) + std::ldexp(1, -40);
  EXPECT_EQ(toHalfBits(half), 0x3c01);
  EXPECT_EQ(toHalfBits(static_cast<double>(static_cast<float>(half))), 0x3c00);
}

TEST(DType, NamesSizesAndNumbersAreThoseOfTheAbi) {
  const struct {
    DType type;
    int number;
    const char *name;
    size_t size;
  } table[] = {{DType::f64, 0, "f64", 8}, {DType::f32, 1, "f32", 4},
               {DType::f16, 2, "f16", 2}, {DType::bf16, 3, "bf16", 2},
               {DType::i32, 4, "i32", 4}, {DType::i64, 5, "i64", 8}};
  for (const auto &row : table) {
    EXPECT_EQ(static_cast<int>(row.type), row.number);
    EXPECT_EQ(nameOf(row.type), row.name);
    EXPECT_EQ(parseDType(row.name), row.type);
    EXPECT_EQ(sizeOf(row.type), row.size);
    EXPECT_EQ(isFloat(row.type), row.number < 4);
  }
  for (const char *name : {"", "F32", "f32 ", "float", "i8"})
    EXPECT_FALSE(parseDType(name)) << name;
}

TEST(DType, StoresAndLoadsUnalignedElementsOfEveryType) {
  for (DType type : {DType::f64, DType::f32, DType::f16, DType::bf16,
                     DType::i32, DType::i64}) {
    unsigned char bytes[1 + 3 * 8] = {};
    storeFromDouble(bytes + 1, type, 0, 5);
    storeFromDouble(bytes + 1, type, 2, -3);
    EXPECT_EQ(loadAsDouble(bytes + 1, type, 0), 5) << nameOf(type);
    EXPECT_EQ(loadAsDouble(bytes + 1, type, 1), 0) << nameOf(type);
    EXPECT_EQ(loadAsDouble(bytes + 1, type, 2), -3) << nameOf(type);
    EXPECT_EQ(roundTo(type, -7), -7) << nameOf(type);
  }
}

TEST(DType, IntegersRoundToEvenAndClamp) {
  EXPECT_EQ(roundTo(DType::i32, 2.5), 2);
  EXPECT_EQ(roundTo(DType::i32, 3.5), 4);
  EXPECT_EQ(roundTo(DType::i32, 1e300), 2147483647.0);
  EXPECT_EQ(roundTo(DType::i32, -infinity), -2147483648.0);
  EXPECT_EQ(roundTo(DType::i32, std::nan("")), 0);
  int64_t element = 0;
  storeFromDouble(&element, DType::i64, 0, 9.3e18);
  EXPECT_EQ(element, std::numeric_limits<int64_t>::max());
}

} // namespace
