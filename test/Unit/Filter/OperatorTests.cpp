//===- OperatorTests.cpp - K maps between lat-lon grids -------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Filters.h"

#include "disco/Support/Parallel.h"

#include <cmath>

using namespace disco;
using namespace disco::filter;

namespace {

/// The layer's map straight from psi: a scatter when transposed.
std::vector<double> applyPsi(const SphereFilter &filter, const PsiCoo &psi,
                             const std::vector<double> &x) {
  int64_t nlon = filter.fine().nlon, nlonCoarse = filter.coarse().nlon;
  int64_t numPoints = filter.out.numPoints();
  std::vector<double> y(psi.numBasis * numPoints);
  for (int64_t e = 0; e < psi.size(); ++e)
    for (int64_t w = 0; w < nlonCoarse; ++w) {
      int64_t i = psi.col[e] / nlon;
      int64_t p = (psi.col[e] % nlon + nlon / nlonCoarse * w) % nlon;
      int64_t fine = i * nlon + p, coarse = psi.row[e] * nlonCoarse + w;
      int64_t from = filter.transpose ? coarse : fine;
      int64_t to = filter.transpose ? fine : coarse;
      y[psi.k[e] * numPoints + to] += psi.values[e] * x[from];
    }
  return y;
}

void expectClose(const std::vector<double> &got,
                 const std::vector<double> &wanted, double tolerance,
                 const std::string &what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  double difference = 0, norm = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    difference += std::pow(got[i] - wanted[i], 2);
    norm += std::pow(wanted[i], 2);
  }
  ASSERT_GT(norm, 0) << what;
  EXPECT_LE(std::sqrt(difference / norm), tolerance) << what;
}

TEST(OperatorTests, GatherAlongArcsEqualsTheDefinition) {
  for (const std::string &text : variedFilters()) {
    SphereFilter filter = filterOf(text);
    SphereOperator op = operatorOf(text);
    EXPECT_EQ(op.nlatIn, filter.in.nlat);
    EXPECT_EQ(op.nlonIn, filter.in.nlon);
    EXPECT_EQ(op.nlatOut, filter.out.nlat);
    EXPECT_EQ(op.nlonOut, filter.out.nlon);
    std::vector<double> x = randomField(filter.in.numPoints(), 2);
    expectClose(applyOperator(op, x), applyPsi(filter, psiOf(text), x), 1e-14,
                text);
  }
}

TEST(OperatorTests, StrideAndPhasesFollowTheLongitudes) {
  SphereOperator down = operatorOf(variedFilters()[4]);
  EXPECT_EQ(down.stride, 3);
  EXPECT_EQ(down.phases, 1);
  EXPECT_EQ(down.rowOffsets.size(), 10u + 1);
  SphereOperator up = operatorOf(variedFilters()[10]);
  EXPECT_EQ(up.stride, 1);
  EXPECT_EQ(up.phases, 4);
  EXPECT_EQ(up.rowOffsets.size(), 19u * 4 + 1);
}

double dot(const std::vector<double> &a, const std::vector<double> &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

double norm(const std::vector<double> &a) { return std::sqrt(dot(a, a)); }

/// sum over k of map k applied to z[k].
std::vector<double> applySum(const SphereOperator &op,
                             const std::vector<double> &z) {
  int64_t numIn = op.nlatIn * op.nlonIn, numOut = op.nlatOut * op.nlonOut;
  std::vector<double> sum(numOut);
  for (int64_t k = 0; k < op.numBasis; ++k) {
    std::vector<double> part(z.begin() + k * numIn,
                             z.begin() + (k + 1) * numIn);
    std::vector<double> y = applyOperator(op, part);
    for (int64_t n = 0; n < numOut; ++n)
      sum[n] += y[k * numOut + n];
  }
  return sum;
}

TEST(OperatorTests, AdjointSatisfiesItsDefinition) {
  for (const std::string &text : variedFilters()) {
    SphereOperator op = operatorOf(text), back = adjoint(op);
    EXPECT_EQ(back.nlatIn, op.nlatOut);
    EXPECT_EQ(back.nlonOut, op.nlonIn);
    EXPECT_EQ(back.stride, op.phases);
    EXPECT_EQ(back.phases, op.stride);
    EXPECT_EQ(back.numTaps(), op.numTaps());
    std::vector<double> x = randomField(op.nlatIn * op.nlonIn, 3);
    std::vector<double> y = applyOperator(op, x);
    std::vector<double> z = randomField(static_cast<int64_t>(y.size()), 4);
    std::vector<double> backZ = applySum(back, z);
    EXPECT_NEAR(dot(y, z), dot(x, backZ), 1e-13 * norm(y) * norm(z)) << text;
    EXPECT_GT(norm(backZ), 0) << text;
  }
}

TEST(OperatorTests, AdjointOfAdjointIsTheSameBitForBit) {
  for (const std::string &text : variedFilters()) {
    SphereOperator op = operatorOf(text);
    EXPECT_TRUE(adjoint(adjoint(op)) == op) << text;
    EXPECT_FALSE(adjoint(op) == op) << text;
  }
}

TEST(OperatorTests, ShiftingTheInputShiftsTheOutputBitForBit) {
  for (const std::string &text : variedFilters())
    for (bool back : {false, true}) {
      SphereOperator op = operatorOf(text);
      if (back)
        op = adjoint(op);
      std::vector<double> x = randomField(op.nlatIn * op.nlonIn, 5);
      std::vector<double> shifted(x.size());
      for (int64_t i = 0; i < op.nlatIn; ++i)
        for (int64_t p = 0; p < op.nlonIn; ++p)
          shifted[i * op.nlonIn + (p + op.stride) % op.nlonIn] =
              x[i * op.nlonIn + p];
      std::vector<double> y = applyOperator(op, x),
                          z = applyOperator(op, shifted);
      int64_t differing = 0;
      for (int64_t row = 0; row < op.numBasis * op.nlatOut; ++row)
        for (int64_t w = 0; w < op.nlonOut; ++w)
          differing += y[row * op.nlonOut + w] !=
                       z[row * op.nlonOut + (w + op.phases) % op.nlonOut];
      EXPECT_EQ(differing, 0) << text;
    }
}

TEST(OperatorTests, ArcsAreMaximalSortedAndTileTheValues) {
  for (const std::string &text : variedFilters())
    for (bool back : {false, true}) {
      SphereOperator op = operatorOf(text);
      if (back)
        op = adjoint(op);
      ASSERT_EQ(op.rowOffsets.front(), 0);
      ASSERT_EQ(op.rowOffsets.back(), static_cast<int64_t>(op.arcs.size()));
      int64_t taps = 0;
      for (int64_t row = 0; row < op.numRows(); ++row)
        for (int32_t a = op.rowOffsets[row]; a < op.rowOffsets[row + 1]; ++a) {
          const Arc &arc = op.arcs[a];
          EXPECT_EQ(arc.valueOffset, taps);
          taps += arc.length;
          EXPECT_GT(arc.length, 0);
          EXPECT_LE(arc.length, op.nlonIn);
          EXPECT_LT(arc.lonStart, op.nlonIn);
          if (arc.length == op.nlonIn) {
            EXPECT_EQ(arc.lonStart, 0);
          }
          if (a == op.rowOffsets[row])
            continue;
          const Arc &before = op.arcs[a - 1];
          if (before.lat != arc.lat) {
            EXPECT_LT(before.lat, arc.lat);
          } else {
            EXPECT_LT(before.lonStart + before.length, arc.lonStart);
          }
        }
      EXPECT_EQ(taps, op.numTaps());
    }
}

TEST(OperatorTests, ArcsLoseNothing) {
  for (const std::string &text : variedFilters()) {
    SphereFilter filter = filterOf(text);
    PsiCoo psi = psiOf(text);
    Result<SphereOperator> op = operatorFromCoo(psiShape(filter), psi);
    ASSERT_TRUE(op.ok()) << text;
    Result<PsiCoo> back = cooFromOperator(*op);
    ASSERT_TRUE(back.ok()) << text;
    // Entries of value zero are like missing ones.
    int64_t e = 0;
    for (int64_t j = 0; j < psi.size(); ++j) {
      if (psi.values[j] == 0)
        continue;
      ASSERT_LT(e, back->size()) << text;
      EXPECT_EQ(back->k[e], psi.k[j]);
      EXPECT_EQ(back->row[e], psi.row[j]);
      EXPECT_EQ(back->col[e], psi.col[j]);
      EXPECT_EQ(back->values[e], psi.values[j]);
      ++e;
    }
    EXPECT_EQ(e, back->size()) << text;
  }
}

TEST(OperatorTests, OperatorsDoNotDependOnTheNumberOfThreads) {
  for (const std::string &text : variedFilters()) {
    setNumThreads(1);
    SphereOperator one = operatorOf(text);
    setNumThreads(5);
    EXPECT_TRUE(operatorOf(text) == one) << text;
    EXPECT_TRUE(adjoint(adjoint(one)) == one) << text;
    setNumThreads(0);
  }
}

/// One row on a 2 x 8 grid.
Result<SphereOperator> smallOperator(std::vector<int32_t> k,
                                     std::vector<int64_t> col) {
  PsiCoo psi;
  psi.numBasis = 2;
  psi.k = std::move(k);
  psi.col = std::move(col);
  psi.row.assign(psi.k.size(), 0);
  for (size_t e = 0; e < psi.k.size(); ++e)
    psi.values.push_back(static_cast<double>(e) + 1);
  return operatorFromCoo({2, 2, 8, 1, 4}, psi);
}

TEST(OperatorTests, ArcsSplitAtGapsAndWrapAroundLongitudeZero) {
  auto op = smallOperator({0, 0, 0, 0, 0, 0}, {7, 0, 1, 3, 4, 12});
  ASSERT_TRUE(op.ok());
  EXPECT_EQ(op->arcs,
            (std::vector<Arc>{{0, 3, 2, 0}, {0, 7, 3, 2}, {1, 4, 1, 5}}));
  EXPECT_EQ(op->values,
            (std::vector<double>{4, 0, 5, 0, 1, 0, 2, 0, 3, 0, 6, 0}));
}

TEST(OperatorTests, WholeRingsStartAtLongitudeZero) {
  auto op = smallOperator({0, 0, 0, 0, 0, 0, 0, 0}, {3, 4, 5, 6, 7, 0, 1, 2});
  ASSERT_TRUE(op.ok());
  EXPECT_EQ(op->arcs, (std::vector<Arc>{{0, 0, 8, 0}}));
  EXPECT_EQ(op->values[0], 6);
}

TEST(OperatorTests, TapsAreTheUnionOverTheBasis) {
  auto op = smallOperator({1, 0, 1}, {2, 3, 3});
  ASSERT_TRUE(op.ok());
  EXPECT_EQ(op->arcs, (std::vector<Arc>{{0, 2, 2, 0}}));
  EXPECT_EQ(op->values, (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(op->stride, 2);
}

TEST(OperatorTests, OperatorsWithoutEntriesAreLegal) {
  auto op = smallOperator({}, {});
  ASSERT_TRUE(op.ok());
  EXPECT_EQ(op->rowOffsets, (std::vector<int32_t>{0, 0}));
  EXPECT_EQ(applyOperator(*op, randomField(16, 6)),
            std::vector<double>(8, 0.0));
  EXPECT_TRUE(adjoint(adjoint(*op)) == *op);
}

std::string importError(const PsiShape &shape, std::vector<int32_t> k,
                        std::vector<int32_t> row, std::vector<int64_t> col) {
  std::vector<double> values(k.size(), 1.0);
  auto op = operatorFromCoo(shape, static_cast<int64_t>(k.size()), k.data(),
                            row.data(), col.data(), values.data());
  return op ? "accepted" : op.message();
}

TEST(OperatorTests, ImportedTablesAreChecked) {
  PsiShape shape{2, 3, 8, 4, 4};
  EXPECT_EQ(importError(shape, {0, 1, 0}, {0, 3, 3}, {0, 23, 1}), "accepted");
  EXPECT_EQ(importError(shape, {0, 2}, {0, 0}, {0, 1}),
            "expected the basis index of entry 1 to be in [0, 2), but got 2");
  EXPECT_EQ(importError(shape, {-1}, {0}, {0}),
            "expected the basis index of entry 0 to be in [0, 2), but got -1");
  EXPECT_EQ(importError(shape, {0}, {4}, {0}),
            "expected the row of entry 0 to be in [0, 4), but got 4");
  EXPECT_EQ(importError(shape, {0}, {-2}, {0}),
            "expected the row of entry 0 to be in [0, 4), but got -2");
  EXPECT_EQ(importError(shape, {0}, {0}, {24}),
            "expected the column of entry 0 to be in [0, 24), but got 24");
  EXPECT_EQ(importError(shape, {0}, {0}, {-9223372036854775807}),
            "expected the column of entry 0 to be in [0, 24), but got "
            "-9223372036854775807");
  EXPECT_EQ(importError(shape, {1, 0, 1}, {2, 2, 2}, {5, 5, 5}),
            "expected each entry to occur once, but got two of basis 1, row 2, "
            "column 5");
}

TEST(OperatorTests, ImportedShapesAreChecked) {
  EXPECT_EQ(importError({2, 3, 8, 4, 3}, {}, {}, {}),
            "expected nlon of the input grid to be a multiple of nlon of the "
            "output grid, but got 8 and 3");
  EXPECT_EQ(importError({2, 3, 8, 4, 16}, {}, {}, {}),
            "expected nlon of the input grid to be a multiple of nlon of the "
            "output grid, but got 8 and 16");
  EXPECT_EQ(importError({0, 3, 8, 4, 4}, {}, {}, {}),
            "expected the number of basis functions to be in [1, 2147483647], "
            "but got 0");
  EXPECT_EQ(
      importError({2, 3, 8, 4, 0}, {}, {}, {}),
      "expected nlon of the output grid to be in [1, 2147483647], but got "
      "0");
  EXPECT_EQ(importError({2, 4294967296, 8, 4, 4}, {}, {}, {}),
            "expected nlat of the input grid to be in [1, 2147483647], but got "
            "4294967296");
}

TEST(OperatorTests, OnlyOnePhaseHasACoordinateForm) {
  SphereOperator op = operatorOf(variedFilters()[10]);
  EXPECT_EQ(cooFromOperator(op).message(),
            "expected the operator to have 1 phase, but got 4");
}

} // namespace
