//===- CpuGatherTest.cpp - cpu_gather against float64 ---------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuGatherTestUtil.h"

#include <gtest/gtest.h>

using namespace disco;
using namespace disco::test;

namespace {

constexpr DType allTypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16};

/// Grids whose ratio, size and parity differ: [nlatIn, nlonIn, nlatOut,
/// nlonOut].
constexpr int64_t grids[][4] = {
    {5, 12, 4, 12}, {4, 34, 3, 17},  {5, 39, 3, 13}, {3, 20, 3, 5},
    {4, 7, 5, 14},  {3, 11, 4, 33},  {2, 5, 3, 20},  {3, 200, 2, 200},
    {1, 1, 1, 1},   {3, 128, 4, 64}, {2, 96, 2, 96}, {2, 130, 2, 65}};

ConvCase randomConv(std::mt19937 &random) {
  const auto pick = [&](auto... values) {
    const int64_t all[] = {values...};
    return all[random() % (sizeof all / sizeof all[0])];
  };
  ConvCase c;
  c.batch = pick(1, 1, 2, 3);
  c.groups = pick(1, 1, 2, 3);
  c.channels = c.groups * pick(1, 3, 4, 5, 7, 8, 9, 16);
  c.outChannels = c.groups * pick(1, 2, 5, 6, 7, 12, 13);
  c.dtype = allTypes[random() % 4];
  c.weightType = c.dtype != DType::f64 && random() % 2 ? DType::f32 : c.dtype;
  c.activation = static_cast<int32_t>(pick(0, 0, 1, 2, 3, 4));
  c.order = static_cast<int32_t>(pick(0, 1));
  c.bias = random() % 2;
  c.residual = random() % 2;
  c.threads = static_cast<int32_t>(pick(1, 2, 3));
  c.tile = pick(0, 0, 16, 32, 1000);
  c.channelBlock = pick(0, 0, 1, 2, 3);
  return c;
}

TestPsi randomPsi(std::mt19937 &random, DType dtype, int64_t numBasis) {
  const DType valueType = random() % 2 ? dtype : DType::f64;
  const DType indexType = random() % 2 ? DType::i32 : DType::i64;
  const int64_t which = static_cast<int64_t>(random() % 18);
  if (which < 12) {
    const int64_t (&g)[4] = grids[which];
    return sphereCase(randomSphere(random, numBasis, g[0], g[1], g[2], g[3]),
                      valueType);
  }
  const PointForm form = static_cast<PointForm>(which % 3);
  const int64_t sizes[] = {1, 5, 33, 97, 200};
  return pointCase(random, form, numBasis, sizes[random() % 5],
                   sizes[random() % 5], 1 + random() % 7, random() % 2,
                   valueType, indexType);
}

class Random : public testing::TestWithParam<int> {};

TEST_P(Random, EveryOperationIsAccurate) {
  std::mt19937 random(GetParam());
  const int64_t numBasis = 1 + GetParam() % 25;
  const ConvCase c = randomConv(random);
  const TestPsi psi = randomPsi(random, c.dtype, numBasis);
  SCOPED_TRACE("K " + std::to_string(numBasis) + ", " + describe(c));
  EXPECT_EQ(checkContract(random, psi, c), "");
  EXPECT_EQ(checkContractSum(random, psi, c), "");
  EXPECT_EQ(checkConv(random, psi, c), "");
  EXPECT_EQ(checkInputGrad(random, psi, c), "");
  EXPECT_EQ(checkWeightGrad(random, psi, c), "");
}

INSTANTIATE_TEST_SUITE_P(CpuGather, Random, testing::Range(0, 150));

class Mirrored : public testing::TestWithParam<int> {};

TEST_P(Mirrored, EveryOperationIsAccurate) {
  std::mt19937 random(1000 + GetParam());
  const int64_t numBasis = 1 + GetParam() % 25;
  const ConvCase c = randomConv(random);
  const int64_t (&g)[4] = grids[GetParam() % 12];
  const TestPsi psi = sphereCase(
      mirroredSphere(random, numBasis, g[0], g[1], g[2], g[3]), c.dtype);
  SCOPED_TRACE("K " + std::to_string(numBasis) + ", " + describe(c));
  EXPECT_EQ(checkContract(random, psi, c), "");
  EXPECT_EQ(checkContractSum(random, psi, c), "");
  EXPECT_EQ(checkConv(random, psi, c), "");
  EXPECT_EQ(checkInputGrad(random, psi, c), "");
  EXPECT_EQ(checkWeightGrad(random, psi, c), "");
}

INSTANTIATE_TEST_SUITE_P(CpuGather, Mirrored, testing::Range(0, 60));

} // namespace
