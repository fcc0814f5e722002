//===- NpyTest.cpp - reading and writing .npy files -----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Support/Npy.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

// The address sanitizer ends the process when memory is missing.
#if defined(__has_feature)
#define DISCO_HAS_ASAN __has_feature(address_sanitizer)
#else
#define DISCO_HAS_ASAN 0
#endif

using namespace disco;

namespace {

std::string temporary(const char *name) {
  return testing::TempDir() + "disco-npy-" + std::to_string(::getpid()) + "-" +
         name;
}

/// A file of version `major` with this header text and data.
std::string file(const std::string &header, const std::string &data = "",
                 int major = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(major);
  text += '\0';
  const size_t length = header.size();
  for (int byte = 0; byte < (major == 1 ? 2 : 4); ++byte)
    text += static_cast<char>(length >> (8 * byte) & 0xff);
  return text + header + data;
}

std::string header(const std::string &descr, const std::string &shape,
                   const std::string &order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order +
         ", 'shape': " + shape + ", }\n";
}

std::string messageOf(const std::string &bytes) {
  Result<Array> array = parseNpy(bytes);
  return array ? "no error" : array.message();
}

TEST(Npy, EveryTypeAndRankRoundTrips) {
  const std::string path = temporary("round-trip.npy");
  const std::vector<std::vector<int64_t>> shapes = {
      {}, {1}, {7}, {3, 4}, {2, 1, 3, 2}, {0}, {2, 0, 3}};
  for (DType type : {DType::f64, DType::f32, DType::f16, DType::bf16,
                     DType::i32, DType::i64})
    for (const auto &shape : shapes) {
      Result<Array> array = Array::create(type, shape);
      ASSERT_TRUE(array.ok());
      for (int64_t i = 0; i < array->numElements(); ++i)
        array->set(i, static_cast<double>(3 * i - 5));
      ASSERT_TRUE(writeNpy(path, *array).ok());
      Result<Array> back = readNpy(path);
      ASSERT_TRUE(back.ok()) << back.message();
      EXPECT_EQ(back->dtype, type);
      EXPECT_EQ(back->shape, shape);
      EXPECT_EQ(back->bytes, array->bytes);
      std::ifstream stream(path, std::ios::binary);
      std::string bytes((std::istreambuf_iterator<char>(stream)), {});
      EXPECT_EQ((bytes.size() - array->bytes.size()) % 64, 0u);
      EXPECT_TRUE(parseNpy(bytes).ok());
    }
  std::remove(path.c_str());
}

TEST(Npy, SpecialValuesKeepTheirBits) {
  Result<Array> array = Array::create(DType::f64, {4});
  ASSERT_TRUE(array.ok());
  const double values[] = {std::nan("7"), -0.0,
                           std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::denorm_min()};
  std::memcpy(array->bytes.data(), values, sizeof values);
  const std::string path = temporary("special.npy");
  ASSERT_TRUE(writeNpy(path, *array).ok());
  Result<Array> back = readNpy(path);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->bytes, array->bytes);
  std::remove(path.c_str());
}

TEST(Npy, WritesTheHeaderThatNumpyWrites) {
  const struct {
    DType type;
    std::vector<int64_t> shape;
    const char *expected;
  } cases[] = {
      {DType::f32,
       {2, 3},
       "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"},
      {DType::bf16,
       {5},
       "{'descr': '|V2', 'fortran_order': False, 'shape': (5,), }"},
      {DType::f64,
       {},
       "{'descr': '<f8', 'fortran_order': False, 'shape': (), }"},
  };
  for (const auto &c : cases) {
    const std::string path = temporary("header.npy");
    ASSERT_TRUE(writeNpy(path, *Array::create(c.type, c.shape)).ok());
    std::ifstream stream(path, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(stream)), {});
    EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    const size_t length = static_cast<unsigned char>(bytes[8]) |
                          static_cast<unsigned char>(bytes[9]) << 8;
    EXPECT_EQ(bytes.substr(10, std::strlen(c.expected)), c.expected);
    EXPECT_EQ(bytes[10 + length - 1], '\n');
    EXPECT_EQ(bytes.size() - 10 - length, static_cast<size_t>(sizeOf(c.type)) *
                                              parseNpy(bytes)->numElements());
    std::remove(path.c_str());
  }
}

TEST(Npy, ReadsBFloat16InAllItsSpellings) {
  for (const char *descr : {"|V2", "<V2", "<u2"}) {
    Result<Array> array = parseNpy(
        file(header(descr, "(2,)"), std::string("\x80\x3f\x00\xc0", 4)));
    ASSERT_TRUE(array.ok()) << descr << ": " << array.message();
    EXPECT_EQ(array->dtype, DType::bf16);
    EXPECT_EQ(array->at(0), 1.0);
    EXPECT_EQ(array->at(1), -2.0);
  }
}

TEST(Npy, ReadsVersions1To3) {
  for (int major : {1, 2, 3}) {
    Result<Array> array =
        parseNpy(file(header("<i4", "(1, 1)"), std::string(4, '\1'), major));
    ASSERT_TRUE(array.ok()) << major << ": " << array.message();
    EXPECT_EQ(array->at(0), 0x01010101);
  }
}

TEST(Npy, ReadsKeysInAnyOrderAndSpacing) {
  const std::string data(8, '\0');
  EXPECT_EQ(messageOf(file(
                "{\"shape\":(1,),'fortran_order':False,'descr':'<f8'}", data)),
            "no error");
  EXPECT_EQ(messageOf(file(" { 'shape' : ( 2 , 1 ) , 'descr' : '<f4' , "
                           "'fortran_order' : False } \n",
                           data)),
            "no error");
}

TEST(Npy, RefusesWhatItDoesNotSupport) {
  EXPECT_EQ(
      messageOf(file(header("<f4", "(2, 2)", "True"), std::string(16, 0))),
      "expected npy fortran_order to be False, but got True");
  for (const char *descr :
       {">f8", "=f8", "<f16", "|u1", "<c8", "|O", "<U4", ""})
    EXPECT_EQ(messageOf(file(header(descr, "(1,)"), std::string(8, 0))),
              std::string("expected npy element type to be one of <f8, <f4, "
                          "<f2, |V2, <u2, <i4, <i8, but got '") +
                  descr + "'");
  EXPECT_EQ(messageOf(file(header("<f4", "()"), std::string(4, 0), 4)),
            "expected npy version to be 1.0, 2.0 or 3.0, but got 4.0");
  EXPECT_EQ(messageOf(file(header("<f4", "()"), std::string(4, 0), 0)),
            "expected npy version to be 1.0, 2.0 or 3.0, but got 0.0");
}

TEST(Npy, RefusesEveryTruncation) {
  const std::string whole = file(header("<f4", "(3,)"), std::string(12, 'x'));
  ASSERT_EQ(messageOf(whole), "no error");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(messageOf(whole.substr(0, size)), "no error") << size;
  EXPECT_EQ(messageOf(""),
            "expected an npy file to start with \\x93NUMPY, but it does not");
  EXPECT_EQ(messageOf(whole.substr(0, 8)),
            "expected at least 10 bytes in an npy file, but got 8");
  EXPECT_EQ(messageOf(file(header("<f4", "()"), "", 2).substr(0, 11)),
            "expected at least 12 bytes in an npy file of version 2, but got "
            "11");
  EXPECT_EQ(messageOf(whole.substr(0, whole.size() - 1)),
            "expected 12 bytes of npy data for 3xf32, but got 11");
}

TEST(Npy, RefusesSizesThatLie) {
  EXPECT_EQ(messageOf(file(header("<f4", "(3,)"), std::string(13, 'x'))),
            "expected 12 bytes of npy data for 3xf32, but got 13");
  EXPECT_EQ(messageOf(file(header("<f8", "(1000000000, 1000000000)"))),
            "expected 8000000000000000000 bytes of npy data for "
            "1000000000x1000000000xf64, but got 0");
  EXPECT_EQ(messageOf(file(header("<f8", "(4294967296, 4294967296)"))),
            "expected the npy array's size to fit 63 bits, but got shape "
            "4294967296x4294967296xf64");
  // An empty array has no bytes, however large its other dimensions are.
  EXPECT_EQ(messageOf(file(header("<f8", "(0, 4294967296, 4294967296)"))),
            "no error");
  EXPECT_EQ(messageOf(file(header("<f4", "(2, -3)"))),
            "expected npy dimension 1 to be non-negative, but got -3");
  EXPECT_EQ(messageOf(file(header("<f4", "(9223372036854775808,)"))),
            "expected npy dimension 0 to be at most 9223372036854775807, but "
            "got 9223372036854775808");
  std::string longer = file(header("<f4", "()"), std::string(4, 0));
  longer[8] = '\x7f';
  EXPECT_EQ(messageOf(longer), "expected 127 bytes of npy header, but got " +
                                   std::to_string(longer.size() - 10));
  std::string huge = file(header("<f4", "()"), std::string(4, 0), 2);
  huge[11] = '\x7f';
  EXPECT_EQ(
      messageOf(huge),
      "expected npy header to be at most 1048576 bytes, but got " +
          std::to_string((int64_t(0x7f) << 24) +
                         static_cast<int64_t>(header("<f4", "()").size())));
}

TEST(Npy, RefusesRanksBeyond32) {
  const auto shape = [](int rank) {
    std::string text = "(";
    for (int i = 0; i < rank; ++i)
      text += "1,";
    return text + ")";
  };
  EXPECT_EQ(messageOf(file(header("<f4", shape(32)), std::string(4, 0))),
            "no error");
  EXPECT_EQ(messageOf(file(header("<f4", shape(33)), std::string(4, 0))),
            "expected npy rank to be at most 32, but got more");
}

TEST(Npy, RefusesMalformedHeaders) {
  const struct {
    const char *header, *message;
  } cases[] = {
      {"", "expected '{' at byte 0 of the npy header, but got its end"},
      {"[1]", "expected '{' at byte 0 of the npy header, but got '['"},
      {"{}", "key 'descr' is missing in npy header"},
      {"{'descr': '<f4', 'shape': ()}",
       "key 'fortran_order' is missing in npy header"},
      {"{'descr': '<f4', 'descr': '<f4'}",
       "key 'descr' is repeated in npy header"},
      {"{'x\x01': 1}", "unknown key 'x?' in npy header"},
      {"{descr: 1}",
       "expected a quoted key at byte 1 of the npy header, but got 'd'"},
      {"{'descr' '<f4'}",
       "expected ':' at byte 9 of the npy header, but got '''"},
      {"{'descr': 4}", "expected a quoted element type at byte 10 of the npy "
                       "header, but got '4'"},
      {"{'descr': '<f4}", "expected a quoted element type at byte 10 of the "
                          "npy header, but got '''"},
      {"{'shape': (4)}", "expected npy shape to be a tuple, but got a number"},
      {"{'shape': (4 4)}",
       "expected ',' or ')' at byte 13 of the npy header, but got '4'"},
      {"{'shape': (x,)}",
       "expected a dimension at byte 11 of the npy header, but got 'x'"},
      {"{'shape': [4]}", "expected '(' at byte 10 of the npy header, but got "
                         "'['"},
      {"{'shape': (", "expected a dimension at byte 11 of the npy header, but "
                      "got its end"},
      {"{'fortran_order': 0}", "expected True or False at byte 18 of the npy "
                               "header, but got '0'"},
      {"{'shape': () 'descr': '<f4'}",
       "expected ',' or '}' at byte 13 of the npy header, but got '''"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': ()} x",
       "expected the end of the header at byte 54 of the npy header, but got "
       "'x'"},
  };
  for (const auto &c : cases)
    EXPECT_EQ(messageOf(file(c.header, std::string(4, 0))), c.message)
        << c.header;
}

TEST(Npy, FilesThatCannotBeReadAreNamed) {
  const std::string missing = temporary("missing.npy");
  EXPECT_EQ(readNpy(missing).message(),
            "cannot read '" + missing + "': No such file or directory");
  EXPECT_EQ(readNpy("/").message(),
            "cannot read '/': it is not a regular file");
  const std::string path = temporary("text.npy");
  std::ofstream(path) << "hello";
  EXPECT_EQ(readNpy(path).message(),
            path +
                ": expected an npy file to start with \\x93NUMPY, but it does "
                "not");
  std::remove(path.c_str());
}

TEST(Npy, CreatingRefusesNegativeHugeAndUnavailableSizes) {
  EXPECT_EQ(Array::create(DType::f32, {2, -1}).message(),
            "expected dimensions to be non-negative, but got 2x-1xf32");
  EXPECT_EQ(Array::create(DType::f64, {int64_t(1) << 61}).message(),
            "expected the array's size to fit 63 bits, but got shape "
            "2305843009213693952xf64");
#if !defined(__SANITIZE_ADDRESS__) && !DISCO_HAS_ASAN
  EXPECT_EQ(Array::create(DType::f64, {int64_t(1) << 59}).message(),
            "out of memory: cannot allocate 4611686018427387904 bytes for "
            "576460752303423488xf64");
#endif
}

} // namespace
