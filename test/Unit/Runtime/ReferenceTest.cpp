//===- ReferenceTest.cpp - the operations in float64 ----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReferenceTestUtil.h"

#include "disco/Runtime/Accuracy.h"
#include "disco/Support/Parallel.h"

#include <cmath>
#include <limits>

using namespace disco;
using namespace disco::reference;

namespace {

//===----------------------------------------------------------------------===//
// Against brute force
//===----------------------------------------------------------------------===//

/// Channels and a table, by the name of their sizes in the tests.
struct Problem {
  int64_t cin, cout, numIn, numOut, degree, numBasis, pads;
};

class BruteForce : public testing::TestWithParam<Problem> {
protected:
  BruteForce()
      : p(GetParam()),
        table(p.numIn, p.numOut, p.degree, p.numBasis, p.pads, random),
        x(randomTensor({2, p.cin, p.numIn}, random)),
        weight(randomTensor({p.cout, p.cin, p.numBasis}, random)),
        gy(randomTensor({2, p.cout, p.numOut}, random)) {}

  /// features[b,c,k,n] = sum over m of psi[k,n,m] x[b,c,m]
  Tensor expand(const std::vector<double> &psi) const {
    Tensor result = Tensor::zeros({2, p.cin, p.numBasis, p.numOut});
    for (int64_t bc = 0; bc < 2 * p.cin; ++bc)
      for (int64_t kn = 0; kn < p.numBasis * p.numOut; ++kn) {
        double sum = 0;
        for (int64_t m = 0; m < p.numIn; ++m)
          sum += psi[kn * p.numIn + m] * x.data[bc * p.numIn + m];
        result.data[bc * p.numBasis * p.numOut + kn] = sum;
      }
    return result;
  }

  Random random{17};
  const Problem p;
  const Table table;
  const Tensor x, weight, gy;
};

INSTANTIATE_TEST_SUITE_P(Shapes, BruteForce,
                         testing::Values(Problem{48, 96, 128, 40, 25, 100, 37},
                                         Problem{17, 7, 300, 33, 11, 25, 13}),
                         [](const auto &info) {
                           return "cin" + std::to_string(info.param.cin);
                         });

TEST_P(BruteForce, ContractOfEveryForm) {
  for (bool useBins : {false, true}) {
    const Tensor expected = expand(table.matrix(useBins));
    const Operator op = useBins ? table.oneHot() : table.dense();
    Result<Tensor> actual = contract(op, x);
    ASSERT_TRUE(actual.ok()) << actual.message();
    EXPECT_LT(relativeError(*actual, expected), 1e-14);
    if (!useBins) {
      EXPECT_EQ(contract(table.csr(), x)->data, actual->data);
    }
    // The last point has no neighbour.
    for (int64_t bck = 0; bck < 2 * p.cin * p.numBasis; ++bck)
      ASSERT_EQ(actual->data[(bck + 1) * p.numOut - 1], 0);
  }
}

TEST_P(BruteForce, ContractSumOfTheAdjoint) {
  const std::vector<double> psi = table.matrix(false);
  const Tensor z = randomTensor({1, 2, p.numBasis, p.numOut}, random);
  Tensor expected = Tensor::zeros({1, 2, p.numIn});
  for (int64_t c = 0; c < 2; ++c)
    for (int64_t kn = 0; kn < p.numBasis * p.numOut; ++kn)
      for (int64_t m = 0; m < p.numIn; ++m)
        expected.data[c * p.numIn + m] +=
            psi[kn * p.numIn + m] * z.data[c * p.numBasis * p.numOut + kn];
  Result<Tensor> actual = contractSum(table.dense().transposed(), z);
  ASSERT_TRUE(actual.ok()) << actual.message();
  EXPECT_LT(relativeError(*actual, expected), 1e-13);
}

TEST_P(BruteForce, ConvInBothOrders) {
  const Tensor features = expand(table.matrix(false));
  const Tensor bias = randomTensor({p.cout}, random);
  Tensor expected = Tensor::zeros({2, p.cout, p.numOut});
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t o = 0; o < p.cout; ++o)
      for (int64_t n = 0; n < p.numOut; ++n) {
        double sum = bias.data[o];
        for (int64_t ck = 0; ck < p.cin * p.numBasis; ++ck)
          sum += weight.data[o * p.cin * p.numBasis + ck] *
                 features.data[(b * p.cin * p.numBasis + ck) * p.numOut + n];
        expected.data[(b * p.cout + o) * p.numOut + n] = sum;
      }
  for (Order order : {Order::filterFirst, Order::weightFirst}) {
    ConvOptions options;
    options.order = order;
    Result<Tensor> actual =
        conv(table.dense(), x, weight, &bias, nullptr, options);
    ASSERT_TRUE(actual.ok()) << actual.message();
    EXPECT_LT(relativeError(*actual, expected), 1e-13);
    EXPECT_EQ(actual->data[p.numOut - 1], bias.data[0])
        << "a point without taps gives the bias";
  }
}

TEST_P(BruteForce, WeightGradient) {
  const Tensor features = expand(table.matrix(false));
  Tensor expected = Tensor::zeros({p.cout, p.cin, p.numBasis});
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t o = 0; o < p.cout; ++o)
      for (int64_t ck = 0; ck < p.cin * p.numBasis; ++ck)
        for (int64_t n = 0; n < p.numOut; ++n)
          expected.data[o * p.cin * p.numBasis + ck] +=
              gy.data[(b * p.cout + o) * p.numOut + n] *
              features.data[(b * p.cin * p.numBasis + ck) * p.numOut + n];
  Result<ParameterGradients> actual = convWeightGrad(table.dense(), x, gy, 1);
  ASSERT_TRUE(actual.ok()) << actual.message();
  EXPECT_LT(relativeError(actual->weight, expected), 1e-13);
}

//===----------------------------------------------------------------------===//
// Properties of every structure
//===----------------------------------------------------------------------===//

/// An operator and its adjoint.
struct Pair {
  std::string name;
  Operator psi, adjoint;
};

std::vector<Pair> everyStructure() {
  Random random{3};
  std::vector<Pair> pairs;
  for (const char *text : sphereFilters) {
    const filter::SphereOperator op = sphere(text);
    pairs.push_back({text, Operator::fromSphere(op),
                     Operator::fromSphere(filter::adjoint(op))});
    // The general transpose must agree with the one made of arcs.
    pairs.push_back({std::string("transposed ") + text,
                     Operator::fromSphere(op),
                     Operator::fromSphere(op).transposed()});
  }
  const Table table(50, 20, 6, 5, 14, random);
  pairs.push_back({"table", table.dense(), table.dense().transposed()});
  pairs.push_back({"csr", table.csr(), table.csr().transposed()});
  pairs.push_back({"onehot", table.oneHot(), table.oneHot().transposed()});
  return pairs;
}

std::vector<int64_t> join(std::vector<int64_t> head,
                          const std::vector<int64_t> &tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

TEST(Reference, ContractAndContractSumAreAdjoint) {
  Random random{5};
  for (const Pair &pair : everyStructure()) {
    const OperatorShape &shape = pair.psi.shape();
    const Tensor x = randomTensor(join({2, 3}, shape.in), random);
    const Tensor z =
        randomTensor(join({2, 3, shape.numBasis}, shape.out), random);
    Result<Tensor> y = contract(pair.psi, x);
    Result<Tensor> back = contractSum(pair.adjoint, z);
    ASSERT_TRUE(y.ok() && back.ok()) << pair.name;
    EXPECT_NEAR(dot(*y, z), dot(x, *back), 1e-13 * norm(*y) * norm(z))
        << pair.name;
    EXPECT_GT(norm(*y), 0) << pair.name;
  }
}

TEST(Reference, GradientsAreThoseOfTheConv) {
  Random random{6};
  for (const Pair &pair : everyStructure()) {
    const OperatorShape &shape = pair.psi.shape();
    const Tensor x = randomTensor(join({2, 4}, shape.in), random);
    const Tensor weight = randomTensor({6, 2, shape.numBasis}, random);
    const Tensor gy = randomTensor(join({2, 6}, shape.out), random);
    ConvOptions options;
    options.groups = 2;
    Result<Tensor> y = conv(pair.psi, x, weight, nullptr, nullptr, options);
    ASSERT_TRUE(y.ok()) << y.message();
    Result<Tensor> gx = convInputGrad(pair.adjoint, gy, weight, 2);
    ASSERT_TRUE(gx.ok()) << gx.message();
    Result<ParameterGradients> gradients = convWeightGrad(pair.psi, x, gy, 2);
    ASSERT_TRUE(gradients.ok()) << gradients.message();
    // The conv is linear in x and in the weight.
    const double expected = dot(*y, gy),
                 tolerance = 1e-13 * norm(*y) * norm(gy);
    EXPECT_NEAR(dot(x, *gx), expected, tolerance) << pair.name;
    EXPECT_NEAR(dot(weight, gradients->weight), expected, tolerance)
        << pair.name;
    Tensor sums = Tensor::zeros({6});
    for (int64_t i = 0; i < gy.size(); ++i)
      sums.data[i / pair.psi.numOut() % 6] += gy.data[i];
    EXPECT_LT(relativeError(gradients->bias, sums), 1e-14);
  }
}

TEST(Reference, FilterFirstEqualsWeightFirst) {
  Random random{7};
  for (const Pair &pair : everyStructure()) {
    const OperatorShape &shape = pair.psi.shape();
    const Tensor x = randomTensor(join({2, 4}, shape.in), random);
    const Tensor weight = randomTensor({6, 2, shape.numBasis}, random);
    const Tensor bias = randomTensor({6}, random);
    const Tensor residual = randomTensor(join({2, 6}, shape.out), random);
    ConvOptions options;
    options.groups = 2;
    options.activation = Activation::gelu;
    Result<Tensor> first = conv(pair.psi, x, weight, &bias, &residual, options);
    options.order = Order::weightFirst;
    Result<Tensor> second =
        conv(pair.psi, x, weight, &bias, &residual, options);
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_LT(relativeError(*second, *first), 1e-13) << pair.name;
  }
}

TEST(Reference, ResultsDoNotDependOnTheNumberOfThreads) {
  Random random{8};
  const Operator psi = Operator::fromSphere(sphere(sphereFilters[1]));
  const Tensor x = randomTensor(join({1, 3}, psi.shape().in), random);
  const Tensor weight = randomTensor({5, 3, psi.numBasis()}, random);
  const Tensor gy = randomTensor(join({1, 5}, psi.shape().out), random);
  std::vector<std::vector<double>> fields, gradients;
  for (int threads : {1, 2, 7}) {
    setNumThreads(threads);
    fields.push_back(conv(psi, x, weight, nullptr, nullptr, {})->data);
    gradients.push_back(convWeightGrad(psi, x, gy, 1)->weight.data);
  }
  setNumThreads(0);
  for (size_t i = 1; i < fields.size(); ++i) {
    EXPECT_EQ(fields[i], fields[0]);
    EXPECT_EQ(gradients[i], gradients[0]);
  }
}

/// Rotates every ring eastwards.
Tensor shifted(const Tensor &tensor, int64_t by) {
  Tensor result = tensor;
  const int64_t nlon = tensor.shape.back();
  for (int64_t i = 0; i < tensor.size(); ++i)
    result.data[i / nlon * nlon + (i % nlon + by) % nlon] = tensor.data[i];
  return result;
}

TEST(Reference, ShiftingTheInputShiftsTheOutputBitForBit) {
  Random random{9};
  for (const char *text : sphereFilters) {
    const filter::SphereOperator op = sphere(text);
    const Operator psi = Operator::fromSphere(op);
    const Tensor x = randomTensor(join({1, 2}, psi.shape().in), random);
    const Tensor weight = randomTensor({3, 2, psi.numBasis()}, random);
    for (Order order : {Order::filterFirst, Order::weightFirst}) {
      ConvOptions options;
      options.order = order;
      Result<Tensor> y = conv(psi, x, weight, nullptr, nullptr, options);
      Result<Tensor> moved =
          conv(psi, shifted(x, op.stride), weight, nullptr, nullptr, options);
      ASSERT_TRUE(y.ok() && moved.ok());
      EXPECT_EQ(moved->data, shifted(*y, op.phases).data) << text;
    }
  }
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

TEST(Reference, GroupsMixTheirOwnChannelsOnly) {
  Random random{10};
  const Table table(20, 10, 4, 3, 6, random);
  const Operator psi = table.dense();
  const Tensor x = randomTensor({1, 4, 20}, random);
  const Tensor weight = randomTensor({6, 2, 3}, random);
  ConvOptions options;
  options.groups = 2;
  Result<Tensor> y = conv(psi, x, weight, nullptr, nullptr, options);
  ASSERT_TRUE(y.ok()) << y.message();
  for (int64_t g = 0; g < 2; ++g) {
    Tensor half = Tensor::zeros({1, 2, 20}), own = Tensor::zeros({3, 2, 3});
    std::copy_n(x.data.begin() + g * 40, 40, half.data.begin());
    std::copy_n(weight.data.begin() + g * 18, 18, own.data.begin());
    Result<Tensor> part = conv(psi, half, own, nullptr, nullptr, {});
    ASSERT_TRUE(part.ok());
    EXPECT_TRUE(std::equal(part->data.begin(), part->data.end(),
                           y->data.begin() + g * 30));
  }
}

TEST(Reference, EmptyBatchesGiveEmptyResultsAndZeroGradients) {
  Random random{11};
  const Operator psi = Table(20, 10, 4, 3, 6, random).dense();
  const Tensor x = Tensor::zeros({0, 2, 20}), gy = Tensor::zeros({0, 5, 10});
  const Tensor weight = randomTensor({5, 2, 3}, random);
  Result<Tensor> y = conv(psi, x, weight, nullptr, nullptr, {});
  ASSERT_TRUE(y.ok()) << y.message();
  EXPECT_EQ(y->shape, (std::vector<int64_t>{0, 5, 10}));
  Result<ParameterGradients> gradients = convWeightGrad(psi, x, gy, 1);
  ASSERT_TRUE(gradients.ok());
  EXPECT_EQ(gradients->weight.data, std::vector<double>(30, 0.0));
}

TEST(Reference, ActivationsAreTheirFormulas) {
  // Values of x/2 (1 + erf(x/sqrt 2)) and the others, from more digits than
  // float64 has.
  EXPECT_NEAR(apply(Activation::gelu, 1), 0.84134474606854294859, 1e-15);
  EXPECT_NEAR(apply(Activation::gelu, -1), -0.15865525393145705141, 1e-15);
  EXPECT_NEAR(apply(Activation::gelu, -6) / -5.9195258702261886e-9, 1, 1e-12);
  EXPECT_NEAR(apply(Activation::geluTanh, 1), 0.84119199060827667, 1e-15);
  EXPECT_NEAR(apply(Activation::silu, 1), 0.73105857863000487926, 1e-15);
  EXPECT_NEAR(apply(Activation::silu, -1), -0.26894142136999512074, 1e-15);
  EXPECT_EQ(apply(Activation::relu, -2), 0);
  EXPECT_EQ(apply(Activation::relu, 2), 2);
  EXPECT_EQ(apply(Activation::none, -2), -2);
  for (Activation activation :
       {Activation::none, Activation::relu, Activation::gelu,
        Activation::geluTanh, Activation::silu}) {
    EXPECT_EQ(apply(activation, 0), 0);
    EXPECT_TRUE(
        std::isnan(apply(activation, std::numeric_limits<double>::quiet_NaN())))
        << "an activation hid a NaN";
  }
  EXPECT_EQ(parseActivation("gelu_tanh"), Activation::geluTanh);
  EXPECT_FALSE(parseActivation("tanh"));
  EXPECT_EQ(parseOrder("weight_first"), Order::weightFirst);
  EXPECT_FALSE(parseOrder("last"));
}

TEST(Reference, NaiveRoundsOperandsIntermediatesAndResultOnce) {
  // One tap of value 1/3 and one channel: every rounding can be done by hand.
  const Operator psi =
      *Operator::fromCsr({1, {1}, {1}}, arrayOf<int>(DType::i32, {2}, {0, 1}),
                         arrayOf<int>(DType::i32, {1}, {0}),
                         arrayOf<double>(DType::f64, {1, 1}, {1.0 / 3}));
  Tensor x = Tensor::zeros({1, 1, 1}), weight = Tensor::zeros({1, 1, 1});
  x.data[0] = 1.7;
  weight.data[0] = 1.9;
  for (DType dtype : {DType::f16, DType::bf16}) {
    Result<Tensor> y = conv(psi, x, weight, nullptr, nullptr, {}, {dtype});
    ASSERT_TRUE(y.ok());
    const auto round = [&](double v) { return roundTo(dtype, v); };
    const double feature = round(static_cast<float>(round(1.0 / 3)) *
                                 static_cast<float>(round(1.7)));
    const float expected =
        static_cast<float>(round(1.9)) * static_cast<float>(feature);
    EXPECT_EQ(y->data[0], expected);
    EXPECT_NE(y->data[0], 1.7 * 1.9 / 3);
  }
}

TEST(Reference, NaiveErrorsAreOfTheSizeOfTheirType) {
  Random random{12};
  const Operator psi = Operator::fromSphere(sphere(sphereFilters[0]));
  const Tensor x = randomTensor(join({1, 8}, psi.shape().in), random);
  const Tensor weight = randomTensor({4, 8, psi.numBasis()}, random);
  Result<Tensor> exact = conv(psi, x, weight, nullptr, nullptr, {});
  ASSERT_TRUE(exact.ok());
  const struct {
    DType dtype;
    double low, high;
  } cases[] = {{DType::f32, 1e-8, 1e-6},
               {DType::f16, 1e-4, 2e-3},
               {DType::bf16, 1e-3, 2e-2}};
  for (const auto &c : cases) {
    Result<Tensor> naive =
        conv(psi, x, weight, nullptr, nullptr, {}, {c.dtype});
    ASSERT_TRUE(naive.ok());
    const double error = compare(*exact, naive->rounded(c.dtype)).relativeL2;
    EXPECT_GT(error, c.low) << nameOf(c.dtype);
    EXPECT_LT(error, c.high) << nameOf(c.dtype);
  }
}

TEST(Reference, WrongShapesAreNamedWithBothValues) {
  Random random{13};
  const Operator psi = Table(20, 10, 4, 3, 6, random).dense();
  const Tensor x = Tensor::zeros({1, 4, 20}), weight = Tensor::zeros({6, 2, 3});
  const auto message = [&](const Tensor &input, const Tensor &w, int64_t groups,
                           const Tensor *bias, const Tensor *residual) {
    ConvOptions options;
    options.groups = groups;
    Result<Tensor> y = conv(psi, input, w, bias, residual, options);
    return y ? "no error" : y.message();
  };
  EXPECT_EQ(message(x, weight, 2, nullptr, nullptr), "no error");
  EXPECT_EQ(message(Tensor::zeros({1, 4, 21}), weight, 2, nullptr, nullptr),
            "expected x to have dimension 2 equal to 20, but got 21");
  EXPECT_EQ(message(Tensor::zeros({4, 20}), weight, 2, nullptr, nullptr),
            "expected x to have rank 3, but got 2 (4x20)");
  EXPECT_EQ(message(x, Tensor::zeros({6, 4}), 2, nullptr, nullptr),
            "expected weight to have rank 3, but got 2 (6x4)");
  EXPECT_EQ(message(x, Tensor::zeros({6, 4, 3}), 2, nullptr, nullptr),
            "expected weight to have dimension 1 equal to 2, but got 4");
  EXPECT_EQ(message(x, Tensor::zeros({6, 2, 9}), 2, nullptr, nullptr),
            "expected weight to have dimension 2 equal to 3, but got 9");
  EXPECT_EQ(message(x, weight, 3, nullptr, nullptr),
            "expected groups to divide the 4 input and 6 output channels, but "
            "got 3");
  EXPECT_EQ(message(x, weight, 0, nullptr, nullptr),
            "expected groups to divide the 4 input and 6 output channels, but "
            "got 0");
  const Tensor bias = Tensor::zeros({5}), residual = Tensor::zeros({1, 5, 10});
  EXPECT_EQ(message(x, weight, 2, &bias, nullptr),
            "expected bias to have dimension 0 equal to 6, but got 5");
  EXPECT_EQ(message(x, weight, 2, nullptr, &residual),
            "expected residual to have dimension 1 equal to 6, but got 5");
  EXPECT_EQ(contractSum(psi, Tensor::zeros({1, 4, 2, 20})).message(),
            "expected z to have dimension 2 equal to 3, but got 2");
  EXPECT_EQ(convWeightGrad(psi, x, Tensor::zeros({2, 6, 10}), 2).message(),
            "expected output gradient to have dimension 0 equal to 1, but got "
            "2");
  EXPECT_EQ(transposeWeight(weight, 4).message(),
            "expected groups to divide the 8 input and 6 output channels, but "
            "got 4");
}

TEST(Reference, TransposingTheWeightTwiceGivesItBack) {
  Random random{14};
  const Tensor weight = randomTensor({6, 2, 5}, random);
  Result<Tensor> once = transposeWeight(weight, 3);
  ASSERT_TRUE(once.ok());
  EXPECT_EQ(once->shape, (std::vector<int64_t>{6, 2, 5}));
  EXPECT_NE(once->data, weight.data);
  EXPECT_EQ(transposeWeight(*once, 3)->data, weight.data);
}

} // namespace
