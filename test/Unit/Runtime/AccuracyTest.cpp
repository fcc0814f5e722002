//===- AccuracyTest.cpp - errors and their bounds -------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Runtime/Accuracy.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace disco;
using namespace disco::reference;

namespace {

Tensor ones(std::vector<int64_t> shape) {
  Tensor tensor = Tensor::zeros(std::move(shape));
  for (double &value : tensor.data)
    value = 1;
  return tensor;
}

TEST(Accuracy, EqualTensorsHaveNoError) {
  const Tensor tensor = ones({2, 3, 4});
  const Difference difference = compare(tensor, tensor);
  EXPECT_EQ(difference.relativeL2, 0);
  EXPECT_EQ(difference.worstRow, 0);
  EXPECT_TRUE(difference.within(0));
}

TEST(Accuracy, ErrorsAreRelativeToTheTensorAndToTheRow) {
  const Tensor expected = ones({1, 2, 5, 4});
  Tensor actual = expected;
  actual.data[20 + 3 * 4 + 2] += 0.5; // channel 1, row 3
  const Difference difference = compare(expected, actual);
  EXPECT_DOUBLE_EQ(difference.relativeL2, 0.5 / std::sqrt(40.0));
  EXPECT_DOUBLE_EQ(difference.worstRow, 0.5 / std::sqrt(8.0));
  EXPECT_EQ(difference.worstRowIndex, 3);
  EXPECT_EQ(difference.poleRows, 0);
  EXPECT_EQ(difference.worstIndex, 34);
  EXPECT_EQ(describeIndex(difference.worstIndex, expected.shape),
            "[0, 1, 3, 2]");
  EXPECT_TRUE(difference.within(0.1));
  EXPECT_FALSE(difference.within(0.07));
}

TEST(Accuracy, PoleRowsAreTheFirstAndTheLast) {
  const Tensor expected = ones({1, 1, 5, 4});
  for (int64_t row : {0, 4}) {
    Tensor actual = expected;
    actual.data[row * 4] += 0.25;
    EXPECT_DOUBLE_EQ(compare(expected, actual).poleRows, 0.125);
  }
}

TEST(Accuracy, ARowOfZerosDoesNotMakeRoundingInfinite) {
  Tensor expected = ones({2, 4});
  for (int i = 0; i < 4; ++i)
    expected.data[i] = 0;
  Tensor actual = expected;
  actual.data[0] = 1e-16;
  const Difference difference = compare(expected, actual);
  EXPECT_GT(difference.worstRow, 0);
  EXPECT_LT(difference.worstRow, 1e-12);
}

TEST(Accuracy, AnythingButZeroDiffersFromZero) {
  const Tensor zero = Tensor::zeros({3});
  EXPECT_EQ(compare(zero, zero).relativeL2, 0);
  EXPECT_TRUE(std::isinf(compare(zero, ones({3})).relativeL2));
}

TEST(Accuracy, NonFiniteValuesFailWhereverTheyAre) {
  for (double bad : {std::numeric_limits<double>::quiet_NaN(),
                     std::numeric_limits<double>::infinity()}) {
    const Tensor good = ones({2, 3});
    Tensor spoilt = good;
    spoilt.data[4] = bad;
    for (const Difference &difference :
         {compare(good, spoilt), compare(spoilt, good),
          compare(spoilt, spoilt)}) {
      EXPECT_FALSE(difference.finite);
      EXPECT_FALSE(difference.within(std::numeric_limits<double>::infinity()));
      EXPECT_EQ(difference.worstIndex, 4);
    }
  }
}

TEST(Accuracy, BoundsAreThoseOfTheTypes) {
  EXPECT_EQ(errorBound(DType::f64, 1), 1e-12);
  EXPECT_EQ(errorBound(DType::f32, 1), 1e-5);
  EXPECT_DOUBLE_EQ(errorBound(DType::f16, 1e-3), 3e-3 + 1e-6);
  EXPECT_DOUBLE_EQ(errorBound(DType::bf16, 0), 1e-6);
  EXPECT_TRUE(needsNaive(DType::bf16) && needsNaive(DType::f16));
  EXPECT_FALSE(needsNaive(DType::f32) || needsNaive(DType::f64));
}

TEST(Accuracy, ChecksTensorWorstRowAndPoles) {
  const Tensor expected = ones({1, 64, 100, 4});
  EXPECT_TRUE(checkAccuracy(expected, expected, DType::f64, nullptr).ok());
  // One element is off by 0.001: 6e-6 of the tensor, 6e-5 of its row.
  Tensor actual = expected;
  actual.data[50 * 4] += 0.001;
  EXPECT_EQ(checkAccuracy(expected, actual, DType::f32, nullptr).message(),
            "expected relative L2 error of the worst row to be at most 1e-05, "
            "but got 6.25e-05");
  EXPECT_EQ(checkAccuracy(expected, actual, DType::f64, nullptr).message(),
            "expected relative L2 error of the tensor to be at most 1e-12, but "
            "got 6.25e-06");
  // The same error in a naive result allows it, where it counts.
  EXPECT_TRUE(checkAccuracy(expected, actual, DType::bf16, &actual).ok());
  Tensor naive = expected;
  naive.data[51 * 4] += 0.001;
  EXPECT_TRUE(checkAccuracy(expected, actual, DType::bf16, &naive).ok());
  Tensor pole = expected;
  pole.data[0] += 0.001;
  EXPECT_EQ(checkAccuracy(expected, pole, DType::bf16, &naive).message(),
            "expected relative L2 error of the pole rows to be at most 1e-06, "
            "but got 6.25e-05");
  actual.data[5] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(checkAccuracy(expected, actual, DType::bf16, &actual).message(),
            "expected finite values, but got inf at [0, 0, 1, 1]");
  EXPECT_EQ(checkAccuracy(expected, ones({3}), DType::f32, nullptr).message(),
            "expected shape 1x64x100x4xf32, but got 3xf32");
}

TEST(Accuracy, EmptyTensorsCompareEqual) {
  const Difference difference =
      compare(Tensor::zeros({0, 3, 2}), Tensor::zeros({0, 3, 2}));
  EXPECT_TRUE(difference.within(0));
  EXPECT_EQ(difference.worstIndex, -1);
}

} // namespace
