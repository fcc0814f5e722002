//===- GridTests.cpp - nodes and weights of the grids ---------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Filter/Grid.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

using namespace disco::filter;

namespace {

constexpr GridKind kinds[] = {GridKind::equiangular, GridKind::legendre_gauss,
                              GridKind::lobatto,
                              GridKind::equiangular_trapezoidal};

void expectNear(const std::vector<double> &got,
                const std::vector<double> &wanted, double tolerance) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], tolerance) << "element " << i;
}

TEST(GridTests, WeightsSumToTwoAndRowsAscendFromNorthToSouth) {
  for (GridKind kind : kinds)
    for (int64_t nlat : {2, 3, 4, 5, 8, 31, 32, 180, 721}) {
      GridNodes nodes = computeNodes({kind, nlat, 1});
      ASSERT_EQ(nodes.colatitudes.size(), static_cast<size_t>(nlat));
      ASSERT_EQ(nodes.weights.size(), static_cast<size_t>(nlat));
      double sum =
          std::accumulate(nodes.weights.begin(), nodes.weights.end(), 0.0);
      EXPECT_NEAR(sum, 2, 1e-13) << nameOf(kind) << " " << nlat;
      EXPECT_GE(nodes.colatitudes.front(), 0);
      EXPECT_LE(nodes.colatitudes.back(), M_PI);
      for (int64_t j = 0; j < nlat; ++j) {
        EXPECT_GT(nodes.weights[j], 0);
        if (j > 0) {
          EXPECT_GT(nodes.colatitudes[j], nodes.colatitudes[j - 1]);
        }
        EXPECT_NEAR(nodes.colatitudes[j] + nodes.colatitudes[nlat - 1 - j],
                    M_PI, 1e-12)
            << nameOf(kind) << " " << nlat << " row " << j;
        EXPECT_NEAR(nodes.weights[j], nodes.weights[nlat - 1 - j], 1e-14);
      }
    }
}

TEST(GridTests, OnlyLegendreGaussLeavesOutThePoles) {
  for (GridKind kind : kinds) {
    GridNodes nodes = computeNodes({kind, 9, 1});
    if (kind == GridKind::legendre_gauss) {
      EXPECT_GT(nodes.colatitudes.front(), 0.1);
    } else {
      EXPECT_EQ(nodes.colatitudes.front(), 0);
      EXPECT_EQ(nodes.colatitudes.back(), M_PI);
    }
  }
}

TEST(GridTests, EquiangularIsClenshawCurtis) {
  GridNodes nodes = computeNodes({GridKind::equiangular, 5, 1});
  expectNear(nodes.colatitudes, {0, M_PI / 4, M_PI / 2, 3 * M_PI / 4, M_PI},
             1e-15);
  expectNear(nodes.weights, {1.0 / 15, 8.0 / 15, 12.0 / 15, 8.0 / 15, 1.0 / 15},
             1e-15);
  expectNear(computeNodes({GridKind::equiangular, 2, 1}).weights, {1, 1},
             1e-15);
  expectNear(computeNodes({GridKind::equiangular, 3, 1}).weights,
             {1.0 / 3, 4.0 / 3, 1.0 / 3}, 1e-15);
}

TEST(GridTests, LegendreGaussHasTheKnownRoots) {
  GridNodes three = computeNodes({GridKind::legendre_gauss, 3, 1});
  expectNear(three.colatitudes,
             {std::acos(std::sqrt(0.6)), M_PI / 2, std::acos(-std::sqrt(0.6))},
             1e-15);
  expectNear(three.weights, {5.0 / 9, 8.0 / 9, 5.0 / 9}, 1e-15);
  GridNodes two = computeNodes({GridKind::legendre_gauss, 2, 1});
  expectNear(two.colatitudes,
             {std::acos(std::sqrt(1.0 / 3)), std::acos(-std::sqrt(1.0 / 3))},
             1e-15);
  expectNear(two.weights, {1, 1}, 1e-15);
}

TEST(GridTests, LobattoHasTheKnownNodes) {
  double x = std::sqrt(3.0 / 7);
  GridNodes nodes = computeNodes({GridKind::lobatto, 5, 1});
  expectNear(nodes.colatitudes,
             {0, std::acos(x), M_PI / 2, std::acos(-x), M_PI}, 1e-15);
  expectNear(nodes.weights, {0.1, 49.0 / 90, 32.0 / 45, 49.0 / 90, 0.1}, 1e-15);
  expectNear(computeNodes({GridKind::lobatto, 2, 1}).weights, {1, 1}, 1e-15);
}

TEST(GridTests, TrapezoidalIsUniformInTheCosine) {
  GridNodes nodes = computeNodes({GridKind::equiangular_trapezoidal, 5, 1});
  expectNear(nodes.colatitudes, {0, M_PI / 3, M_PI / 2, 2 * M_PI / 3, M_PI},
             1e-15);
  expectNear(nodes.weights, {0.25, 0.5, 0.5, 0.5, 0.25}, 1e-15);
}

/// Integral of x^degree over [-1, 1] by the grid's rule.
double integrate(const GridNodes &nodes, int degree) {
  double sum = 0;
  for (size_t j = 0; j < nodes.weights.size(); ++j)
    sum += nodes.weights[j] * std::pow(std::cos(nodes.colatitudes[j]), degree);
  return sum;
}

TEST(GridTests, QuadratureIsExactForPolynomialsOfItsDegree) {
  // The highest degree that each rule of 9 points integrates exactly.
  const std::pair<GridKind, int> degrees[] = {
      {GridKind::equiangular, 8},
      {GridKind::legendre_gauss, 17},
      {GridKind::lobatto, 15},
      {GridKind::equiangular_trapezoidal, 1}};
  for (auto [kind, last] : degrees) {
    GridNodes nodes = computeNodes({kind, 9, 1});
    auto exact = [](int degree) { return degree % 2 ? 0 : 2.0 / (degree + 1); };
    for (int degree = 0; degree <= last; ++degree)
      EXPECT_NEAR(integrate(nodes, degree), exact(degree), 1e-14)
          << nameOf(kind) << " degree " << degree;
    int beyond = last + 1 + (last + 1) % 2;
    EXPECT_GT(std::abs(integrate(nodes, beyond) - exact(beyond)), 1e-7)
        << nameOf(kind) << " degree " << beyond;
  }
}

TEST(GridTests, NewtonConvergesOnLargeGrids) {
  for (GridKind kind : {GridKind::legendre_gauss, GridKind::lobatto}) {
    GridNodes nodes = computeNodes({kind, 1440, 1});
    // A polynomial of high degree that a wrong node would spoil.
    EXPECT_NEAR(integrate(nodes, 1000), 2.0 / 1001, 1e-14);
    double spacing = nodes.colatitudes[720] - nodes.colatitudes[719];
    EXPECT_NEAR(spacing, M_PI / 1440, 2e-6);
  }
}

} // namespace
