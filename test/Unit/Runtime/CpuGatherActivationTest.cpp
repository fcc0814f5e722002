//===- CpuGatherActivationTest.cpp - activations over the whole range -----===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuGatherTestUtil.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace disco;
using namespace disco::test;

namespace {

/// The definition, with more digits than any of the types.
long double exactly(int32_t activation, long double v) {
  switch (activation) {
  case DISCO_ACTIVATION_RELU:
    return v < 0 ? 0 : v;
  case DISCO_ACTIVATION_GELU:
    return v / 2 * std::erfc(-v / std::sqrt(2.0L));
  case DISCO_ACTIVATION_GELU_TANH:
    // 1 + tanh(w) = 2 / (1 + exp(-2 w))
    return v / (1 + std::exp(-std::sqrt(8 / std::acos(-1.0L)) *
                             (v + 0.044715L * v * v * v)));
  default:
    return v / (1 + std::exp(-v));
  }
}

/// How far a result may be from the exact one: by the accuracy rule, or what
/// rounding to the type makes of any, and some of its smallest numbers.
double tolerance(DType dtype, double exact) {
  switch (dtype) {
  case DType::f64:
    return 1e-12 * std::abs(exact) + 0x1p-1069;
  case DType::f32:
    return 1e-5 * std::abs(exact) + 0x1p-149;
  case DType::bf16:
    return (0x1p-8 + 1e-5) * std::abs(exact) + 0x1p-133;
  default:
    return (0x1p-11 + 1e-5) * std::abs(exact) + 0x1p-24;
  }
}

/// Values of all magnitudes and both signs, closer together where the
/// activations have vanished but for the last digits of the type.
std::vector<double> magnitudes() {
  std::vector<double> values;
  for (double v = 0; v < 800; v += 0.37)
    values.insert(values.end(), {v, -v});
  for (double v = 0x1p-1070; v < 0x1p1023; v *= 3)
    values.insert(values.end(), {v, -v});
  return values;
}

/// activation(x) by a conv with one tap of 1 and a weight of 1.
Array activated(int32_t activation, const Array &x) {
  filter::SphereOperator op;
  op.numBasis = op.nlatIn = op.nlatOut = 1;
  op.nlonIn = op.nlonOut = x.numElements();
  op.rowOffsets = {0, 1};
  op.arcs = {{0, 0, 1, 0}};
  op.values = {1};
  const TestPsi psi = sphereCase(op, x.dtype);
  Array weight = *Array::create(x.dtype, {1, 1, 1});
  weight.set(0, 1);
  Array y = nanArray(x.dtype, x.shape);
  disco_kernel_call call = makeKernelCall(DISCO_OP_CONV, psi.tables, x.dtype);
  call.batch = call.channels = call.out_channels = 1;
  call.activation = activation;
  call.x = x.bytes.data();
  call.weight = weight.bytes.data();
  call.y = y.bytes.data();
  const Status s = runKernel(*findKernelFamily("cpu_gather"), call);
  EXPECT_TRUE(s) << s.message();
  return y;
}

TEST(CpuGatherActivation, IsRightForValuesOfEveryMagnitude) {
  const std::vector<double> values = magnitudes();
  const auto count = static_cast<int64_t>(values.size());
  for (DType dtype : {DType::f64, DType::f32, DType::bf16, DType::f16}) {
    Array x = *Array::create(dtype, {1, 1, 1, count});
    for (int64_t i = 0; i < count; ++i)
      x.set(i, values[i]);
    for (int32_t activation = DISCO_ACTIVATION_RELU;
         activation <= DISCO_ACTIVATION_SILU; ++activation) {
      const Array y = activated(activation, x);
      int wrong = 0;
      for (int64_t i = 0; i < count && wrong < 5; ++i) {
        if (!std::isfinite(x.at(i)))
          continue;
        const auto exact = static_cast<double>(exactly(activation, x.at(i)));
        const bool ok = std::abs(y.at(i) - exact) <= tolerance(dtype, exact);
        wrong += !ok;
        EXPECT_TRUE(ok) << nameOf(dtype) << ", activation " << activation
                        << ": " << x.at(i) << " gives " << y.at(i)
                        << " instead of " << exact;
      }
    }
  }
}

TEST(CpuGatherActivation, KeepsInfinityAndNan) {
  for (DType dtype : {DType::f64, DType::f32, DType::bf16, DType::f16})
    for (int32_t activation = DISCO_ACTIVATION_RELU;
         activation <= DISCO_ACTIVATION_SILU; ++activation) {
      Array x = *Array::create(dtype, {1, 1, 1, 2});
      x.set(0, INFINITY);
      x.set(1, NAN);
      const Array y = activated(activation, x);
      EXPECT_EQ(y.at(0), INFINITY) << nameOf(dtype) << ' ' << activation;
      EXPECT_TRUE(std::isnan(y.at(1))) << nameOf(dtype) << ' ' << activation;
    }
}

} // namespace
