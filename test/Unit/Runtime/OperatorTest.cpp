//===- OperatorTest.cpp - storage forms of psi ----------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReferenceTestUtil.h"

using namespace disco;
using namespace disco::reference;

namespace {

using Ints = std::vector<int>;

TEST(Operator, ArcsOfTheStorageFormAreThoseOfTheFilter) {
  Random random{1};
  for (const char *text : sphereFilters) {
    const filter::SphereOperator op = sphere(text);
    std::vector<int32_t> arcs;
    for (const filter::Arc &arc : op.arcs)
      arcs.insert(arcs.end(),
                  {arc.lat, arc.lonStart, arc.length, arc.valueOffset});
    const auto numArcs = static_cast<int64_t>(op.arcs.size());
    Result<Operator> read = Operator::fromArcs(
        {op.numBasis, {op.nlatIn, op.nlonIn}, {op.nlatOut, op.nlonOut}},
        arrayOf(DType::i32, {op.numRows() + 1}, op.rowOffsets),
        arrayOf(DType::i32, {numArcs, 4}, arcs),
        arrayOf(DType::f64, {op.numTaps(), op.numBasis}, op.values));
    ASSERT_TRUE(read.ok()) << read.message();
    const Tensor x = randomTensor({1, 1, op.nlatIn, op.nlonIn}, random);
    EXPECT_EQ(contract(*read, x)->data,
              contract(Operator::fromSphere(op), x)->data);
  }
}

TEST(Operator, TransposedTwiceIsTheSameMap) {
  Random random{2};
  const Operator psi = Table(30, 12, 5, 4, 9, random).dense();
  const Tensor x = randomTensor({1, 2, 30}, random);
  EXPECT_EQ(psi.transposed().shape().in, std::vector<int64_t>{12});
  EXPECT_LT(relativeError(*contract(psi.transposed().transposed(), x),
                          *contract(psi, x)),
            1e-15);
}

TEST(Operator, RoundedRoundsTheValues) {
  const Operator psi =
      *Operator::fromCsr({1, {1}, {1}}, arrayOf<int>(DType::i32, {2}, {0, 1}),
                         arrayOf<int>(DType::i32, {1}, {0}),
                         arrayOf<double>(DType::f64, {1, 1}, {0.1}));
  double value = 0;
  psi.rounded(DType::bf16).forEachTap(0, [&](int64_t, const double *v) {
    value = *v;
  });
  EXPECT_EQ(value, roundTo(DType::bf16, 0.1));
}

TEST(Operator, CsrTablesThatLieAreRefused) {
  const OperatorShape shape{2, {4}, {3}};
  const auto message = [&](const Array &offsets, const Array &cols,
                           const Array &values, const OperatorShape &s) {
    Result<Operator> op = Operator::fromCsr(s, offsets, cols, values);
    return op ? "no error" : op.message();
  };
  const Array offsets = arrayOf<int>(DType::i32, {4}, {0, 1, 1, 2});
  const Array cols = arrayOf<int>(DType::i64, {2}, {0, 3});
  const Array values = *Array::create(DType::f32, {2, 2});
  EXPECT_EQ(message(offsets, cols, values, shape), "no error");
  EXPECT_EQ(
      message(arrayOf<int>(DType::i32, {4}, {0, 2, 1, 2}), cols, values, shape),
      "expected psi's offset 2 to be in [2, 2], but got 1");
  EXPECT_EQ(
      message(arrayOf<int>(DType::i32, {4}, {1, 1, 1, 2}), cols, values, shape),
      "expected psi's offset 0 to be in [0, 0], but got 1");
  EXPECT_EQ(
      message(arrayOf<int>(DType::i32, {4}, {0, 1, 1, 3}), cols, values, shape),
      "expected psi's offset 3 to be in [1, 2], but got 3");
  EXPECT_EQ(
      message(arrayOf<int>(DType::i32, {4}, {0, 1, 1, 1}), cols, values, shape),
      "expected psi's last offset to be 2, but got 1");
  EXPECT_EQ(
      message(arrayOf<int>(DType::i32, {3}, {0, 1, 2}), cols, values, shape),
      "expected psi's offsets to be 4xi32, but got 3xi32");
  EXPECT_EQ(
      message(offsets, arrayOf<int>(DType::i64, {2}, {0, 4}), values, shape),
      "expected psi's column 1 to be in [0, 4), but got 4");
  EXPECT_EQ(
      message(offsets, arrayOf<int>(DType::i64, {2}, {-1, 3}), values, shape),
      "expected psi's column 0 to be in [0, 4), but got -1");
  EXPECT_EQ(message(offsets, *Array::create(DType::f32, {2}), values, shape),
            "expected psi's columns to be of an integer type, but got f32");
  EXPECT_EQ(message(offsets, cols, *Array::create(DType::i32, {2, 2}), shape),
            "expected psi's values to be of a floating-point type, but got "
            "i32");
  EXPECT_EQ(message(offsets, cols, *Array::create(DType::f32, {3, 2}), shape),
            "expected psi's values to be 2x2xf32, but got 3x2xf32");
  EXPECT_EQ(message(offsets, cols, values, {0, {4}, {3}}),
            "expected psi to have at least 1 basis function, but got 0");
  EXPECT_EQ(message(offsets, cols, values, {2, {}, {3}}),
            "expected psi's input points to have at least 1 dimension, but got "
            "0");
  EXPECT_EQ(message(offsets, cols, values, {2, {4}, {-3}}),
            "expected psi's output points to have non-negative dimensions, but "
            "got -3");
  EXPECT_EQ(message(offsets, cols, values, {2, {1 << 21, 1 << 21}, {3}}),
            "expected psi's input points to be at most 2^40, but they are "
            "more");
}

/// Constants need an element, so that a psi without taps has a row of zeros.
TEST(Operator, PsiWithoutTapsMayHaveOnePaddingRow) {
  Random random{3};
  const Array offsets = *Array::create(DType::i32, {4});
  const Array values = *Array::create(DType::f32, {1, 2});
  for (int numIn : {4, 0}) {
    Result<Operator> csr = Operator::fromCsr(
        {2, {numIn}, {3}}, offsets, *Array::create(DType::i64, {1}), values);
    ASSERT_TRUE(csr.ok()) << csr.message();
    const Tensor x = randomTensor({1, 1, numIn}, random);
    EXPECT_EQ(contract(*csr, x)->data, std::vector<double>(6, 0.0));
    EXPECT_EQ(
        contract(csr->transposed(), randomTensor({1, 1, 3}, random))->data,
        std::vector<double>(2 * numIn, 0.0));
  }
  const OperatorShape sphere{2, {2, 4}, {3, 4}};
  Result<Operator> arcs = Operator::fromArcs(
      sphere, offsets, *Array::create(DType::i32, {1, 4}), values);
  ASSERT_TRUE(arcs.ok()) << arcs.message();
  EXPECT_EQ(contract(*arcs, randomTensor({1, 1, 2, 4}, random))->data,
            std::vector<double>(24, 0.0));
}

TEST(Operator, OnlyOneRowIsPadding) {
  const auto csr = [](const Ints &offsets, int taps, int col) {
    Result<Operator> op =
        Operator::fromCsr({2, {4}, {2}}, arrayOf<int>(DType::i32, {3}, offsets),
                          arrayOf<int>(DType::i64, {taps}, Ints(taps, col)),
                          *Array::create(DType::f32, {taps, 2}));
    return op ? "no error" : op.message();
  };
  EXPECT_EQ(csr({0, 0, 0}, 0, 0), "no error");
  EXPECT_EQ(csr({0, 0, 0}, 2, 0),
            "expected psi's last offset to be 2, but got 0");
  EXPECT_EQ(csr({0, 0, 0}, 1, 4),
            "expected psi's column 0 to be in [0, 4), but got 4");
  // A row of values that no arc takes is not what the padding looks like.
  Result<Operator> arcs = Operator::fromArcs(
      {2, {2, 4}, {2, 4}}, *Array::create(DType::i32, {3}),
      *Array::create(DType::i32, {1, 4}), *Array::create(DType::f32, {2, 2}));
  EXPECT_EQ(arcs ? "no error" : arcs.message(),
            "expected psi's last offset to be 1, but got 0");
}

TEST(Operator, TablesThatLieAreRefused) {
  const OperatorShape shape{2, {4}, {2}};
  const Array values = *Array::create(DType::f64, {2, 2, 2});
  const auto message = [&](const Ints &index) {
    Result<Operator> op = Operator::fromTable(
        shape, arrayOf<int>(DType::i32, {2, 2}, index), values);
    return op ? "no error" : op.message();
  };
  EXPECT_EQ(message({0, 4, 4, 3}), "no error");
  EXPECT_EQ(message({0, 4, 5, 3}),
            "expected psi's index [1, 0] to be in [0, 5), but got 5");
  EXPECT_EQ(message({0, -1, 4, 3}),
            "expected psi's index [0, 1] to be in [0, 5), but got -1");
  EXPECT_EQ(
      Operator::fromTable(shape, *Array::create(DType::i32, {2, 3}), values)
          .message(),
      "expected psi's values to be 2x3x2xf64, but got 2x2x2xf64");
  const auto oneHot = [&](const Ints &bins) {
    Result<Operator> op = Operator::fromOneHot(
        shape, arrayOf<int>(DType::i32, {2, 2}, {0, 4, 1, 3}),
        arrayOf<int>(DType::i32, {2, 2}, bins));
    return op ? "no error" : op.message();
  };
  // The bin of a padding entry is not used.
  EXPECT_EQ(oneHot({0, 99, 1, 1}), "no error");
  EXPECT_EQ(oneHot({0, 0, 2, 1}),
            "expected psi's bin [1, 0] to be in [0, 2), but got 2");
}

TEST(Operator, ArcsThatLieAreRefused) {
  const OperatorShape shape{1, {2, 8}, {1, 4}};
  const auto message = [&](const Ints &offsets, const Ints &arcs) {
    Result<Operator> op = Operator::fromArcs(
        shape,
        arrayOf<int>(DType::i32, {static_cast<int64_t>(offsets.size())},
                     offsets),
        arrayOf<int>(DType::i32, {static_cast<int64_t>(arcs.size()) / 4, 4},
                     arcs),
        *Array::create(DType::f32, {10, 1}));
    return op ? "no error" : op.message();
  };
  EXPECT_EQ(message({0, 1}, {1, 7, 8, 2}), "no error");
  EXPECT_EQ(message({0, 1}, {2, 7, 8, 2}),
            "expected latitude of psi's arc 0 to be in [0, 2), but got 2");
  EXPECT_EQ(message({0, 1}, {1, 8, 8, 2}),
            "expected start of psi's arc 0 to be in [0, 8), but got 8");
  EXPECT_EQ(message({0, 1}, {1, 7, 9, 1}),
            "expected length of psi's arc 0 to be in [0, 9), but got 9");
  EXPECT_EQ(message({0, 1}, {1, 7, 8, 3}),
            "expected value offset of psi's arc 0 to be in [0, 3), but got 3");
  EXPECT_EQ(message({0, 1, 1}, {1, 7, 8, 2}),
            "expected psi's offsets to be 2xi32, but got 3xi32");
  const Array none = *Array::create(DType::i32, {0, 4});
  const Array values = *Array::create(DType::f32, {0, 1});
  EXPECT_EQ(
      Operator::fromArcs({1, {2, 8}, {1, 3}}, none, none, values).message(),
      "expected one nlon of psi to divide the other, but got 8 and 3");
  EXPECT_EQ(Operator::fromArcs({1, {16}, {1, 4}}, none, none, values).message(),
            "expected psi with arcs to map between grids of 2 dimensions, but "
            "got 1 and 2");
}

} // namespace
