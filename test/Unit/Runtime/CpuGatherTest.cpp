//===- CpuGatherTest.cpp - cpu_gather against float64 ---------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuGatherTestUtil.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

/// Rows as those of a layer: each reads the rings next to its own on arcs about
/// longitude 0, that get shorter away from the poles; the first and the last
/// row have a whole ring. On wide rings most columns read it without wrap.
filter::SphereOperator layerLike(std::mt19937 &random, int64_t numBasis,
                                 int64_t nlat, int64_t nlon, bool isMirrored) {
  filter::SphereOperator op;
  op.numBasis = numBasis;
  op.nlatIn = op.nlatOut = nlat;
  op.nlonIn = op.nlonOut = nlon;
  op.rowOffsets.push_back(0);
  std::normal_distribution<double> normal;
  int32_t taps = 0;
  for (int64_t row = 0; row < nlat; ++row) {
    for (int64_t lat = std::max<int64_t>(row - 1, 0);
         lat <= std::min(row + 1, nlat - 1); ++lat) {
      const int64_t pole = 1 + std::min(row, nlat - 1 - row);
      const bool isWhole = lat == row && pole == 1;
      const auto half = static_cast<int64_t>(random() % (1 + nlon / 4 / pole));
      const int64_t length = isWhole ? nlon : 2 * half + 1;
      const int64_t shift = isMirrored ? 0 : static_cast<int64_t>(random() % 4);
      op.arcs.push_back(
          {static_cast<int32_t>(lat),
           static_cast<int32_t>(isWhole ? shift : (nlon - half + shift) % nlon),
           static_cast<int32_t>(length), taps});
      std::vector<double> values(length * numBasis);
      for (double &value : values)
        value = normal(random);
      for (int64_t u = isWhole ? 1 : 0; isMirrored && u < length; ++u) {
        const int64_t other = length - u - (isWhole ? 0 : 1);
        for (int64_t k = 0; u < other && k < numBasis; ++k)
          values[other * numBasis + k] =
              (k % 3 == 1 ? -1 : 1) * values[u * numBasis + k];
      }
      op.values.insert(op.values.end(), values.begin(), values.end());
      taps += static_cast<int32_t>(length);
    }
    op.rowOffsets.push_back(static_cast<int32_t>(op.arcs.size()));
  }
  return op;
}

constexpr int64_t widths[] = {8, 64, 72, 100, 131, 180, 203, 360};

class LayerLike : public testing::TestWithParam<int> {};

TEST_P(LayerLike, EveryOperationIsAccurate) {
  std::mt19937 random(2000 + GetParam());
  ConvCase c = randomConv(random);
  c.dtype = c.weightType = allTypes[GetParam() % 3];
  const int64_t numBasis = 1 + static_cast<int64_t>(random() % 9);
  const TestPsi psi =
      sphereCase(layerLike(random, numBasis, 9, widths[GetParam() % 8],
                           GetParam() % 5 > 1),
                 c.dtype);
  SCOPED_TRACE("K " + std::to_string(numBasis) + ", " + describe(c));
  EXPECT_EQ(checkContract(random, psi, c), "");
  EXPECT_EQ(checkContractSum(random, psi, c), "");
  EXPECT_EQ(checkConv(random, psi, c), "");
}

INSTANTIATE_TEST_SUITE_P(CpuGather, LayerLike, testing::Range(0, 40));

TEST(CpuGatherSums, ValuesThatAreNotFiniteReachTheirPointsAndNoOthers) {
  std::mt19937 random(21);
  for (const int64_t nlon : widths)
    for (const int64_t channels : {2, 9}) { // few and enough for transforms
      const bool isMirrored = random() % 2;
      const TestPsi psi =
          sphereCase(layerLike(random, 3, 20, nlon, isMirrored), DType::f32);
      Array x = randomArray(random, DType::f32, {1, channels, 3, 20, nlon});
      for (int64_t i = 7; i < x.numElements(); i += 20 * nlon / 3 + 13)
        x.set(i, i % 2 == 0 ? NAN : INFINITY);
      const reference::Tensor expected =
          *reference::contractSum(psi.op, reference::Tensor::from(x), {});
      for (const int threads : {1, 3}) {
        Array y = nanArray(DType::f32, expected.shape);
        disco_kernel_call call =
            makeKernelCall(DISCO_OP_CONTRACT_SUM, psi.tables, DType::f32);
        call.batch = 1;
        call.channels = channels;
        call.num_threads = threads;
        call.x = x.bytes.data();
        call.y = y.bytes.data();
        const Status s = runKernel(*findKernelFamily("cpu_gather"), call);
        ASSERT_TRUE(s) << s.message();
        int64_t numFinite = 0;
        for (int64_t i = 0; i < y.numElements(); ++i) {
          numFinite += std::isfinite(y.at(i));
          ASSERT_EQ(std::isfinite(y.at(i)), std::isfinite(expected.data[i]))
              << i << " of " << nlon << " longitudes";
        }
        EXPECT_GT(numFinite, 0);
        EXPECT_LT(numFinite, y.numElements());
      }
    }
}

TEST(CpuGatherSums, ThreadsAndBlocksDoNotChangeABitOfALayer) {
  std::mt19937 random(22);
  for (const int64_t nlon : {100, 360}) {
    // Rows enough for several tasks, whose first and last groups are split.
    const TestPsi psi =
        sphereCase(layerLike(random, 9, 40, nlon, true), DType::f32);
    const Array x = randomArray(random, DType::f32, {1, 11, 9, 40, nlon});
    std::vector<uint8_t> expected;
    for (const int threads : {1, 2, 5, 8})
      for (const int64_t block : {0, 1, 2, 5}) {
        Array y = nanArray(DType::f32, {1, 11, 40, nlon});
        disco_kernel_call call =
            makeKernelCall(DISCO_OP_CONTRACT_SUM, psi.tables, DType::f32);
        call.batch = 1;
        call.channels = 11;
        call.num_threads = threads;
        setFields(call, {0, block});
        call.x = x.bytes.data();
        call.y = y.bytes.data();
        const Status s = runKernel(*findKernelFamily("cpu_gather"), call);
        ASSERT_TRUE(s) << s.message();
        if (expected.empty())
          expected = y.bytes;
        EXPECT_EQ(y.bytes, expected) << threads << " threads, " << block;
      }
  }
}

/// contract_sum of some channels of x [1, channels, ..].
Array sumOf(const TestPsi &psi, const Array &x, int64_t firstChannel,
            int64_t channels) {
  std::vector<int64_t> shape = {1, channels};
  shape.insert(shape.end(), psi.op.shape().out.begin(),
               psi.op.shape().out.end());
  Array y = nanArray(x.dtype, shape);
  disco_kernel_call call =
      makeKernelCall(DISCO_OP_CONTRACT_SUM, psi.tables, x.dtype);
  call.batch = 1;
  call.channels = channels;
  call.x = x.bytes.data() + firstChannel * (x.bytes.size() / x.shape[1]);
  call.y = y.bytes.data();
  const Status s = runKernel(*findKernelFamily("cpu_gather"), call);
  EXPECT_TRUE(s) << s.message();
  return y;
}

class Transformed : public testing::TestWithParam<int> {};

TEST_P(Transformed, RowsWithLongArcsAreAccurate) {
  // Sizes of all factors, even and odd; several arcs on a ring; phases.
  constexpr int64_t sizes[] = {60, 75, 96, 100, 128, 180, 243, 250, 360};
  std::mt19937 random(3000 + GetParam());
  ConvCase c;
  c.batch = 1 + random() % 2;
  c.channels = 7 + static_cast<int64_t>(random() % 11);
  c.threads = 1 + random() % 3;
  c.dtype = GetParam() % 3 ? DType::f32 : DType::f64;
  const int64_t numBasis = 1 + static_cast<int64_t>(random() % 20);
  const int64_t n = sizes[GetParam() % 9];
  const int64_t phases = GetParam() % 4 == 0 ? 2 : 1;
  const TestPsi psi = sphereCase(
      GetParam() % 2 ? layerLike(random, numBasis, 9, n, random() % 2)
                     : randomSphere(random, numBasis, 4, n, 5, phases * n, n),
      c.dtype);
  SCOPED_TRACE("K " + std::to_string(numBasis) + ", " + describe(c));
  EXPECT_EQ(checkContractSum(random, psi, c), "");
}

INSTANTIATE_TEST_SUITE_P(CpuGather, Transformed, testing::Range(0, 36));

TEST(CpuGatherSums, ChannelsEnoughAreTransformed) {
  std::mt19937 random(23);
  const int64_t nlon = 180, channels = 16;
  // The last row's whole ring alone would be transformed for one channel too.
  const TestPsi psi =
      sphereCase(layerLike(random, 3, 20, nlon, true), DType::f32);
  const Array x = randomArray(random, DType::f32, {1, channels, 3, 20, nlon});
  const Array together = sumOf(psi, x, 0, channels);
  const Array alone = sumOf(psi, x, 1, 1);
  int64_t numOthers = 0;
  for (int64_t i = 0; i < alone.numElements(); ++i) {
    const double expected = alone.at(i);
    numOthers += together.at(alone.numElements() + i) != expected;
    EXPECT_NEAR(together.at(alone.numElements() + i), expected, 1e-4) << i;
  }
  EXPECT_GT(numOthers, 0);                       // other sums near the poles,
  EXPECT_LT(numOthers, alone.numElements() / 2); // the same elsewhere
}

TEST(CpuGatherSums, SumsThatOnlyATransformOverflowsAreFinite) {
  std::mt19937 random(24);
  filter::SphereOperator op = layerLike(random, 3, 20, 180, true);
  for (double &value : op.values)
    value *= 1e-3;
  const TestPsi psi = sphereCase(op, DType::f32);
  Array x = randomArray(random, DType::f32, {1, 9, 3, 20, 180});
  for (int64_t i = 0; i < x.numElements(); ++i)
    x.set(i, x.at(i) * 5e37);
  const reference::Tensor expected =
      *reference::contractSum(psi.op, reference::Tensor::from(x), {});
  const Array y = sumOf(psi, x, 0, 9);
  for (int64_t i = 0; i < y.numElements(); ++i)
    ASSERT_NEAR(y.at(i), expected.data[i], 1e32) << i;
}

} // namespace
