//===- CsrGatherTest.cpp - csr_gather against float64 ---------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Runtime/CpuGatherTestUtil.h"
#include "../Runtime/GoldenLayers.h"
#include "DeviceTestUtil.h"

#include <cstdio>
#include <string>

using namespace disco;
using namespace disco::test;

namespace {

constexpr DType allTypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16};

class CsrGather : public DeviceTest {
protected:
  void SetUp() override {
    DeviceTest::SetUp();
    setTestedFamily(csrGather);
  }
};

/// All operations with a psi.
void checkAll(std::mt19937 &random, const TestPsi &psi, ConvCase c) {
  SCOPED_TRACE(describe(c));
  EXPECT_EQ(checkContract(random, psi, c), "");
  EXPECT_EQ(checkContractSum(random, psi, c), "");
  for (const int32_t order : {DISCO_FILTER_FIRST, DISCO_WEIGHT_FIRST}) {
    c.order = order;
    EXPECT_EQ(checkConv(random, psi, c), "");
    EXPECT_EQ(checkInputGrad(random, psi, c), "");
    EXPECT_EQ(checkWeightGrad(random, psi, c), "");
  }
}

TEST_F(CsrGather, RandomProblems) {
  constexpr int64_t grids[][4] = {
      {5, 12, 4, 12},   {4, 34, 3, 17},   {5, 39, 3, 13},   {3, 20, 3, 5},
      {4, 7, 5, 14},    {3, 11, 4, 33},   {2, 5, 3, 20},    {3, 300, 2, 300},
      {1, 1, 1, 1},     {3, 260, 4, 130}, {2, 96, 2, 96},   {2, 130, 2, 65},
      {3, 900, 5, 900}, {2, 129, 3, 258}, {1, 3200, 1, 800}};
  for (int seed = 0; seed < 120; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](auto... values) {
      const int64_t all[] = {values...};
      return all[random() % (sizeof all / sizeof all[0])];
    };
    const int64_t numBasis = 1 + seed % 25;
    ConvCase c;
    c.batch = pick(1, 1, 2, 3);
    c.groups = pick(1, 1, 2, 3);
    c.channels = c.groups * pick(1, 3, 4, 5, 7, 8, 9, 16);
    c.outChannels = c.groups * pick(1, 2, 5, 6, 7, 12, 40);
    c.dtype = allTypes[seed % 4];
    c.weightType = c.dtype != DType::f64 && random() % 2 ? DType::f32 : c.dtype;
    c.activation = static_cast<int32_t>(pick(0, 1, 2, 3, 4));
    c.bias = random() % 2;
    c.residual = random() % 2;
    const DType valueType = random() % 2 ? c.dtype : DType::f64;
    const DType indexType = random() % 2 ? DType::i32 : DType::i64;
    SCOPED_TRACE("seed " + std::to_string(seed) + ", K " +
                 std::to_string(numBasis));
    if (seed % 4 != 3 || seed % 8 == 7) {
      const auto &g = grids[seed % 15];
      checkAll(
          random,
          sphereCase(randomSphere(random, numBasis, g[0], g[1], g[2], g[3]),
                     valueType),
          c);
    } else {
      const int64_t sizes[] = {1, 5, 33, 97, 400};
      checkAll(random,
               pointCase(random, static_cast<PointForm>(random() % 3), numBasis,
                         sizes[random() % 5], sizes[random() % 5],
                         1 + random() % 7, random() % 2, valueType, indexType),
               c);
    }
  }
}

/// Numbers of fields round the widths of the kernels, features beyond a tile
/// of them, and rings that divide nothing.
TEST_F(CsrGather, TailsOfFieldsFeaturesAndRings) {
  std::mt19937 random(7);
  int compared = 0;
  for (const int64_t nlon : {90, 361})
    for (const int64_t numBasis : {9, 20, 25, 64}) {
      const filter::SphereOperator op =
          randomSphere(random, numBasis, 3, nlon, 3, nlon, 12);
      for (const int64_t channels : {1, 3, 4, 5, 7, 8, 9, 16})
        for (const DType dtype : allTypes) {
          if (dtype != DType::f32 && (channels + numBasis) % 3 != 0)
            continue; // a part of what would be too many
          ConvCase c;
          c.dtype = c.weightType = dtype;
          c.channels = channels;
          SCOPED_TRACE("nlon " + std::to_string(nlon) + ", K " +
                       std::to_string(numBasis) + ", " + describe(c));
          const TestPsi psi = sphereCase(op, dtype);
          EXPECT_EQ(checkContract(random, psi, c), "");
          EXPECT_EQ(checkContractSum(random, psi, c), "");
          ++compared;
        }
    }
  EXPECT_GE(compared, 100);
}

TEST_F(CsrGather, WholeRingsOf1440LongitudesInF64) {
  std::mt19937 random(3);
  filter::SphereOperator op;
  op.numBasis = 9;
  op.nlatIn = op.nlatOut = 2;
  op.nlonIn = op.nlonOut = 1440;
  op.rowOffsets = {0, 2, 3};
  op.arcs = {{0, 0, 1440, 0}, {1, 1400, 1440, 1440}, {1, 1439, 9, 2880}};
  std::normal_distribution<double> normal;
  for (int i = 0; i < 2889 * 9; ++i)
    op.values.push_back(normal(random));
  ConvCase c;
  c.dtype = c.weightType = DType::f64;
  c.channels = 9;
  c.outChannels = 4;
  checkAll(random, sphereCase(op, DType::f64), c);
}

TEST_F(CsrGather, EmptyTensorsAndRowsWithoutTaps) {
  std::mt19937 random(5);
  filter::SphereOperator op;
  op.numBasis = 3;
  op.nlatIn = op.nlatOut = 2;
  op.nlonIn = op.nlonOut = 50;
  op.rowOffsets = {0, 0, 0};
  ConvCase c;
  c.channels = 5;
  c.outChannels = 3;
  c.bias = true;
  const TestPsi psi = sphereCase(op, DType::f32);
  const auto isZero = [&](int32_t kind) {
    disco_kernel_call call = makeKernelCall(kind, psi.tables, DType::f32);
    call.batch = 1;
    call.channels = 5;
    const Array x = randomArray(random, DType::f32, {5, 3, 100});
    Array y = nanArray(DType::f32, {5, 3, 100});
    call.x = x.bytes.data();
    call.y = y.bytes.data();
    const Status s = runKernelOnDevice("csr_gather", 0, call);
    EXPECT_TRUE(s) << s.message();
    const int64_t count = kind == DISCO_OP_CONTRACT ? 1500 : 500;
    for (int64_t i = 0; i < count; ++i)
      if (y.at(i) != 0)
        return false;
    return true;
  };
  EXPECT_TRUE(isZero(DISCO_OP_CONTRACT));
  EXPECT_TRUE(isZero(DISCO_OP_CONTRACT_SUM));
  disco_kernel_call call =
      makeKernelCall(DISCO_OP_CONTRACT, psi.tables, DType::f32);
  call.channels = 5;
  EXPECT_TRUE(runKernelOnDevice("csr_gather", 0, call));
}

/// Shifted input gives the shifted output bit for bit, and NaN stays where it
/// belongs.
TEST_F(CsrGather, ShiftsAndNaN) {
  std::mt19937 random(11);
  filter::SphereOperator op;
  op.numBasis = 9;
  op.nlatIn = op.nlatOut = 3;
  op.nlonIn = 400;
  op.nlonOut = 200;
  op.stride = 2;
  op.rowOffsets = {0, 2, 3, 4};
  op.arcs = {
      {0, 390, 21, 0}, {1, 0, 400, 21}, {2, 17, 5, 421}, {1, 398, 8, 426}};
  std::normal_distribution<double> normal;
  for (int i = 0; i < 434 * 9; ++i)
    op.values.push_back(normal(random));
  const TestPsi psi = sphereCase(op, DType::f32);
  const int64_t n = 3 * 400, m = 3 * 200;
  const Array x = randomArray(random, DType::f32, {8, n});
  Array shifted = x;
  for (int64_t row = 0; row < 8 * 3; ++row)
    for (int64_t lon = 0; lon < 400; ++lon)
      shifted.set(row * 400 + (lon + 2) % 400, x.at(row * 400 + lon));
  Array y = nanArray(DType::f32, {8 * 9, m}), z = y;
  disco_kernel_call call =
      makeKernelCall(DISCO_OP_CONTRACT, psi.tables, DType::f32);
  call.batch = 1;
  call.channels = 8;
  call.x = x.bytes.data();
  call.y = y.bytes.data();
  ASSERT_TRUE(runKernelOnDevice("csr_gather", 0, call));
  call.x = shifted.bytes.data();
  call.y = z.bytes.data();
  ASSERT_TRUE(runKernelOnDevice("csr_gather", 0, call));
  int64_t differing = 0;
  for (int64_t row = 0; row < 8 * 9 * 3; ++row)
    for (int64_t lon = 0; lon < 200; ++lon)
      differing += z.at(row * 200 + (lon + 1) % 200) != y.at(row * 200 + lon);
  EXPECT_EQ(differing, 0);
  // One NaN reaches exactly the points that have it among their taps.
  const int64_t poisoned = 400 + 399;
  shifted.set(poisoned, std::numeric_limits<double>::quiet_NaN());
  ASSERT_TRUE(runKernelOnDevice("csr_gather", 0, call));
  int64_t wrong = 0, reached = 0;
  for (int64_t point = 0; point < m; ++point) {
    bool isTap = false;
    psi.op.forEachTap(
        point, [&](int64_t in, const double *) { isTap |= in == poisoned; });
    reached += isTap;
    for (int64_t k = 0; k < 9; ++k)
      wrong += std::isnan(z.at(k * m + point)) != isTap;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(reached, 0);
}

TEST_F(CsrGather, GoldenLayersInF64) {
  const int compared = checkGoldenF64(csrGather);
  std::printf("golden: csr_gather f64 %d tensors\n", compared);
  EXPECT_EQ(compared, countGolden());
}

TEST_F(CsrGather, GoldenLayersInNarrowTypes) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const int compared = checkGoldenNarrow(csrGather, {dtype});
    std::printf("golden: csr_gather %s %d tensors\n",
                std::string(nameOf(dtype)).c_str(), compared);
    EXPECT_EQ(compared, countGolden());
  }
}

} // namespace
