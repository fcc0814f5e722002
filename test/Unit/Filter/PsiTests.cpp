//===- PsiTests.cpp - evaluation and normalization of psi -----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Basis.h"
#include "Filters.h"
#include "Rotation.h"

#include "disco/Support/Parallel.h"

#include <cmath>
#include <map>

using namespace disco;
using namespace disco::filter;

namespace {

/// psi with norm = none by testing every pair of points.
PsiCoo evaluateEverywhere(const SphereFilter &filter) {
  double radius = (1 + 1e-3) * filter.effectiveCutoff();
  auto basis = BasisEvaluator::create(filter, radius);
  GridNodes coarse = computeNodes(filter.coarse());
  GridNodes fine = computeNodes(filter.fine());
  int64_t numBasis = basis->numBasis(), nlon = filter.fine().nlon;
  std::vector<double> values(numBasis), scratch(basis->scratchSize());
  auto sineCosine = [](double angle) {
    return SineCosine{std::sin(angle), std::cos(angle)};
  };
  PsiCoo psi;
  psi.numBasis = numBasis;
  for (int64_t t = 0; t < filter.coarse().nlat; ++t)
    for (int64_t k = 0; k < numBasis; ++k)
      for (int64_t col = 0; col < filter.fine().numPoints(); ++col) {
        Polar polar =
            rotate(sineCosine(coarse.colatitudes[t]),
                   sineCosine(fine.colatitudes[col / nlon]),
                   sineCosine(2 * M_PI * static_cast<double>(col % nlon) /
                              static_cast<double>(nlon)));
        if (polar.r > radius)
          continue;
        std::vector<uint8_t> present(numBasis, 1);
        basis->evaluate(polar.r, polar.phi, values.data(), present.data(),
                        scratch.data());
        if (!present[k])
          continue;
        double weight = filter.transpose
                            ? coarse.weights[t] / filter.coarse().nlon
                            : fine.weights[col / nlon] / nlon;
        psi.k.push_back(static_cast<int32_t>(k));
        psi.row.push_back(static_cast<int32_t>(t));
        psi.col.push_back(col);
        psi.values.push_back(values[k] * weight / 2);
      }
  return psi;
}

TEST(PsiTests, BandSearchFindsWhatTestingEveryPointFinds) {
  for (const std::string &text : variedFilters()) {
    SphereFilter filter = filterOf(text);
    filter.norm = Norm::none;
    Result<PsiCoo> psi = buildPsi(filter);
    ASSERT_TRUE(psi.ok());
    PsiCoo wanted = evaluateEverywhere(filter);
    ASSERT_GT(wanted.size(), 0);
    EXPECT_EQ(psi->k, wanted.k) << text;
    EXPECT_EQ(psi->row, wanted.row) << text;
    ASSERT_EQ(psi->col, wanted.col) << text;
    for (int64_t e = 0; e < psi->size(); ++e)
      EXPECT_NEAR(psi->values[e], wanted.values[e],
                  1e-14 * std::abs(wanted.values[e]) + 1e-300)
          << text << " entry " << e;
  }
}

TEST(PsiTests, ValuesDoNotDependOnTheNumberOfThreads) {
  for (const std::string &text : variedFilters()) {
    setNumThreads(1);
    PsiCoo one = psiOf(text);
    for (int threads : {2, 7}) {
      setNumThreads(threads);
      PsiCoo more = psiOf(text);
      EXPECT_EQ(one.k, more.k) << text;
      EXPECT_EQ(one.row, more.row) << text;
      EXPECT_EQ(one.col, more.col) << text;
      EXPECT_EQ(one.values, more.values) << text;
    }
    setNumThreads(0);
  }
}

/// Sums over the groups (k, output latitude) of term(value).
template <typename Term>
std::map<std::pair<int64_t, int64_t>, double>
groupSums(const SphereFilter &filter, const PsiCoo &psi, Term term) {
  std::map<std::pair<int64_t, int64_t>, double> sums;
  for (int64_t e = 0; e < psi.size(); ++e) {
    int64_t latitude =
        filter.transpose ? psi.col[e] / filter.fine().nlon : psi.row[e];
    sums[{psi.k[e], latitude}] += term(psi.values[e]);
  }
  return sums;
}

double absolute(double value) { return std::abs(value); }
double identity(double value) { return value; }

const char *const smoothFilters[] = {
    "sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = grid<equiangular, "
    "19x36>, out = grid<legendre_gauss, 10x12>>",
    "sphere_filter<zernike, [3], cutoff = 0.5, in = grid<legendre_gauss, "
    "10x20>, out = grid<lobatto, 19x40>, transpose>"};

/// The filter with another norm, and how much merging the quadrature multiplies
/// its groups by.
std::pair<SphereFilter, double> withNorm(const char *text, Norm norm) {
  SphereFilter filter = filterOf(text);
  filter.norm = norm;
  double ratio = static_cast<double>(filter.fine().nlon) /
                 static_cast<double>(filter.coarse().nlon);
  return {filter, filter.transpose ? ratio : 1.0};
}

TEST(PsiTests, NodalGroupsHaveUnitL1Norm) {
  for (const char *text : smoothFilters) {
    auto [filter, ratio] = withNorm(text, Norm::nodal);
    for (auto [group, sum] : groupSums(filter, *buildPsi(filter), absolute))
      // At a pole a function odd in phi has no mass, and so no norm.
      if (sum > 1e-3) {
        EXPECT_NEAR(sum, ratio, 1e-12) << group.first << " " << group.second;
      }
  }
}

TEST(PsiTests, ModalGroupsIntegrateToZeroUnlessAxisymmetric) {
  for (const char *text : smoothFilters) {
    auto [filter, ratio] = withNorm(text, Norm::modal);
    auto basis = BasisEvaluator::create(filter, 1.0);
    for (auto [group, sum] : groupSums(filter, *buildPsi(filter), identity)) {
      if (!basis->isAxisymmetric(group.first)) {
        EXPECT_NEAR(sum, 0, 1e-7) << group.first << " " << group.second;
      } else if (group.first == 0) {
        EXPECT_NEAR(sum, ratio, 1e-12) << group.second;
      }
    }
  }
}

TEST(PsiTests, MeanNormIsOneOnAverageOverLatitudes) {
  for (const char *text : smoothFilters) {
    auto [filter, ratio] = withNorm(text, Norm::mean);
    PsiCoo psi = *buildPsi(filter);
    std::vector<double> means(psi.numBasis);
    for (auto [group, sum] : groupSums(filter, psi, absolute))
      means[group.first] += sum / static_cast<double>(filter.out.nlat);
    for (double mean : means)
      EXPECT_NEAR(mean, ratio, 1e-12);
  }
}

TEST(PsiTests, SupportNormDividesByTheArea) {
  // The first Zernike function is constant, 1 / sqrt(pi).
  for (const char *text :
       {"sphere_filter<zernike, [2], cutoff = 0.4, norm = support, in = "
        "grid<equiangular, 19x36>, out = grid<lobatto, 10x12>>",
        "sphere_filter<zernike, [2], cutoff = 0.4, norm = support, in = "
        "grid<equiangular, 10x12>, out = grid<lobatto, 19x36>, transpose>"}) {
    auto [filter, ratio] = withNorm(text, Norm::support);
    for (auto [group, sum] : groupSums(filter, *buildPsi(filter), identity))
      if (group.first == 0) {
        EXPECT_NEAR(sum, ratio / std::sqrt(M_PI), 1e-13);
      }
  }
}

TEST(PsiTests, GeometricNormDividesByTheAreaOfTheCap) {
  for (const char *text : smoothFilters) {
    auto [plain, ratio] = withNorm(text, Norm::none);
    PsiCoo none = *buildPsi(plain);
    PsiCoo geometric = *buildPsi(withNorm(text, Norm::geometric).first);
    double area = (1 - std::cos(plain.effectiveCutoff())) / 4;
    ASSERT_EQ(none.size(), geometric.size());
    for (int64_t e = 0; e < none.size(); ++e)
      EXPECT_NEAR(geometric.values[e], none.values[e] / area,
                  1e-14 * std::abs(geometric.values[e]));
  }
}

TEST(PsiTests, AxisymmetricNodalFilterKeepsAConstantField) {
  for (const char *text :
       {"sphere_filter<piecewise_linear, [5], cutoff = 0.5, in = "
        "grid<equiangular, 19x36>, out = grid<legendre_gauss, 10x12>>",
        "sphere_filter<harmonic, [1], cutoff = 0.5, in = grid<lobatto, 19x36>, "
        "out = grid<equiangular, 19x36>>"}) {
    SphereOperator op = operatorOf(text);
    std::vector<double> x(op.nlatIn * op.nlonIn, 3.0);
    for (double y : applyOperator(op, x))
      EXPECT_NEAR(y, 3, 1e-12) << text;
  }
}

TEST(PsiTests, RowsWithoutPointsAreLegal) {
  const std::string text =
      "sphere_filter<harmonic, [2], cutoff = 1e-6, in = grid<lobatto, 9x8>, "
      "out = grid<equiangular_trapezoidal, 10x8>>";
  PsiCoo psi = psiOf(text);
  // Only the poles coincide: a whole ring of 8 points with 4 functions each.
  EXPECT_EQ(psi.size(), 2 * 8 * 4);
  for (double y : applyOperator(operatorOf(text), randomField(72, 1)))
    EXPECT_TRUE(std::isfinite(y));
}

TEST(PsiTests, ExtremeCutoffsNeitherFailNorLoseThePointItself) {
  auto entries = [](const std::string &cutoff) {
    return psiOf("sphere_filter<harmonic, [1], cutoff = " + cutoff +
                 ", in = grid<legendre_gauss, 4x6>, out = "
                 "grid<legendre_gauss, 4x6>>")
        .size();
  };
  EXPECT_EQ(entries("5e-324"), 4);
  EXPECT_EQ(entries("1e-300"), 4);
  EXPECT_EQ(entries("3.1415927"), 4 * 24);
}

TEST(PsiTests, CoincidentPointsHaveNoDirection) {
  Polar polar = rotate({std::sin(1.2), std::cos(1.2)},
                       {std::sin(1.2), std::cos(1.2)}, {0, 1});
  EXPECT_EQ(polar.r, 0);
  EXPECT_EQ(polar.phi, 0);
}

TEST(PsiTests, BearingsTurnFromSouthToEast) {
  SineCosine center{std::sin(1.0), std::cos(1.0)};
  auto seen = [&](double theta, double lambda) {
    return rotate(center, {std::sin(theta), std::cos(theta)},
                  {std::sin(lambda), std::cos(lambda)});
  };
  EXPECT_NEAR(seen(1.1, 0).r, 0.1, 1e-15);
  EXPECT_NEAR(seen(1.1, 0).phi, 0, 1e-14);
  EXPECT_NEAR(seen(0.9, 0).phi, M_PI, 1e-14);
  EXPECT_NEAR(seen(1.0, 1e-4).phi, M_PI / 2, 1e-4);
  EXPECT_NEAR(seen(1.0, -1e-4).phi, 3 * M_PI / 2, 1e-4);
}

TEST(PsiTests, DecoderFilterHasTheKnownNumberOfEntries) {
  PsiCoo psi = psiOf(
      "sphere_filter<harmonic, [3, 3], cutoff = 0.02771993517873347, norm = "
      "mean, in = grid<equiangular, 721x1440>, out = grid<equiangular, "
      "721x1440>>");
  EXPECT_EQ(psi.size(), 3438387);
}

} // namespace
