//===- BasisTests.cpp - filter basis functions on a disk ------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Basis.h"
#include "Bessel.h"
#include "Filters.h"

#include <cmath>

using namespace disco;
using namespace disco::filter;

namespace {

/// A basis on the unit disk.
class Disk {
public:
  explicit Disk(const std::string &basisAndShape)
      : basis(BasisEvaluator::create(
            filterOf("sphere_filter<" + basisAndShape +
                     ", in = grid<lobatto, 3x6>, out = grid<lobatto, 3x6>>"),
            1.0)) {}

  int64_t size() const { return basis->numBasis(); }

  std::vector<double> at(double r, double phi) const {
    std::vector<double> values(size()), scratch(basis->scratchSize());
    present.assign(size(), 9);
    basis->evaluate(r, phi, values.data(), present.data(), scratch.data());
    return values;
  }

  /// The matrix of inner products over the disk, [k, l].
  std::vector<double> gram() const {
    constexpr int64_t numRadii = 64, numAngles = 96;
    GridNodes nodes = computeNodes({GridKind::legendre_gauss, numRadii, 1});
    std::vector<double> gram(size() * size());
    for (int64_t i = 0; i < numRadii; ++i)
      for (int64_t j = 0; j < numAngles; ++j) {
        double u = (1 + std::cos(nodes.colatitudes[i])) / 2;
        double weight = nodes.weights[i] / 2 * u * 2 * M_PI / numAngles;
        std::vector<double> v = at(u, 2 * M_PI * j / numAngles);
        for (int64_t k = 0; k < size(); ++k)
          for (int64_t l = 0; l < size(); ++l)
            gram[k * size() + l] += weight * v[k] * v[l];
      }
    return gram;
  }

  std::unique_ptr<BasisEvaluator> basis;
  mutable std::vector<uint8_t> present;
};

int64_t countOf(Basis basis, std::vector<int64_t> shape) {
  return countBasis(basis, shape);
}

TEST(BasisTests, NumberOfFunctionsFollowsTheShape) {
  EXPECT_EQ(countOf(Basis::piecewise_linear, {1}), 1);
  EXPECT_EQ(countOf(Basis::piecewise_linear, {3}), 2);
  EXPECT_EQ(countOf(Basis::piecewise_linear, {4}), 2);
  EXPECT_EQ(countOf(Basis::piecewise_linear, {3, 3}), 4);
  EXPECT_EQ(countOf(Basis::piecewise_linear, {4, 3}), 6);
  EXPECT_EQ(countOf(Basis::piecewise_linear, {5, 4}), 9);
  EXPECT_EQ(countOf(Basis::harmonic, {3}), 9);
  EXPECT_EQ(countOf(Basis::harmonic, {2, 5}), 10);
  EXPECT_EQ(countOf(Basis::morlet, {4}), 16);
  EXPECT_EQ(countOf(Basis::zernike, {1}), 1);
  EXPECT_EQ(countOf(Basis::zernike, {5}), 15);
  EXPECT_EQ(countOf(Basis::fourier_bessel, {1}), 1);
  EXPECT_EQ(countOf(Basis::fourier_bessel, {2, 2}), 6);
  EXPECT_EQ(countOf(Basis::fourier_bessel, {2}), 6);
  EXPECT_EQ(countOf(Basis::fourier_bessel, {3, 3}), 13);
  EXPECT_EQ(countOf(Basis::fourier_bessel, {4, 3}), 20);
  EXPECT_EQ(countOf(Basis::fourier_bessel, {3, 0}), 3);
}

TEST(BasisTests, ShapesOutOfRangeHaveNoFunctions) {
  EXPECT_EQ(countOf(Basis::harmonic, {}), 0);
  EXPECT_EQ(countOf(Basis::harmonic, {3, -1}), 0);
  EXPECT_EQ(countOf(Basis::zernike, {2, 2}), 0);
  EXPECT_EQ(countOf(Basis::zernike, {maxNumBasis + 1}), 0);
  EXPECT_EQ(countOf(Basis::fourier_bessel, {INT64_MAX, INT64_MAX}), 0);
  // Too many functions are counted only as far as needed.
  EXPECT_GT(countOf(Basis::fourier_bessel, {maxNumBasis, 4}), maxNumBasis);
}

void expectOrthonormal(const Disk &disk, double tolerance) {
  std::vector<double> gram = disk.gram();
  for (int64_t k = 0; k < disk.size(); ++k)
    for (int64_t l = 0; l < disk.size(); ++l)
      EXPECT_NEAR(gram[k * disk.size() + l], k == l, tolerance)
          << "functions " << k << " and " << l;
}

TEST(BasisTests, ZernikeIsOrthonormal) {
  expectOrthonormal(Disk("zernike, [5]"), 1e-13);
}

TEST(BasisTests, ZernikeIsOrthonormalAtHighDegree) {
  // Where the sum over factorials has lost all digits.
  expectOrthonormal(Disk("zernike, [30]"), 1e-11);
}

TEST(BasisTests, FourierBesselIsOrthonormalAndVanishesOnTheRim) {
  Disk disk("fourier_bessel, [4, 3]");
  expectOrthonormal(disk, 1e-12);
  for (double value : disk.at(1, 0.7))
    EXPECT_NEAR(value, 0, 1e-13);
}

double factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

TEST(BasisTests, ZernikeFollowsItsSum) {
  Disk disk("zernike, [7]");
  for (double u : {0.0, 0.2, 0.55, 0.9, 1.0}) {
    double phi = 1.1;
    std::vector<double> values = disk.at(u, phi);
    for (int n = 0, k = 0; n < 7; ++n)
      for (int m = -n; m <= n; m += 2, ++k) {
        int a = std::abs(m);
        double radial = 0;
        for (int j = 0; 2 * j <= n - a; ++j)
          radial += (j % 2 ? -1 : 1) * factorial(n - j) /
                    (factorial(j) * factorial((n + a) / 2 - j) *
                     factorial((n - a) / 2 - j)) *
                    std::pow(u, n - 2 * j);
        double norm = std::sqrt(M_PI * (m == 0 ? 2 : 1) / (2.0 * (n + 1)));
        double wanted =
            radial * (m < 0 ? std::sin(m * phi) : std::cos(m * phi)) / norm;
        EXPECT_NEAR(values[k], wanted, 1e-13) << n << " " << m << " at " << u;
      }
  }
}

TEST(BasisTests, HarmonicHasUnitNormUnderItsRule) {
  Disk disk("harmonic, [3, 4]");
  std::vector<double> sums(disk.size());
  for (int i = 0; i < 50; ++i)
    for (int j = 0; j < 200; ++j) {
      double u = (i + 0.5) / 50;
      std::vector<double> v = disk.at(u, 2 * M_PI * j / 200);
      for (int64_t k = 0; k < disk.size(); ++k)
        sums[k] += v[k] * v[k] * u * (1.0 / 50) * (2 * M_PI / 200);
    }
  for (int64_t k = 0; k < disk.size(); ++k)
    EXPECT_NEAR(sums[k], 1, 1e-12) << "function " << k;
}

TEST(BasisTests, MorletIsHarmonicWithoutTheNorm) {
  Disk disk("morlet, [3, 4]"), harmonic("harmonic, [3, 4]");
  double u = 0.4, phi = 2.2;
  double x = u * std::sin(phi), y = u * std::cos(phi);
  double window = std::pow(std::cos(M_PI * u / 2), 2);
  const double alongX[] = {1, std::sin(M_PI * x), std::cos(M_PI * x),
                           std::sin(2 * M_PI * x)};
  const double alongY[] = {1, std::sin(M_PI * y), std::cos(M_PI * y)};
  std::vector<double> values = disk.at(u, phi), normed = harmonic.at(u, phi);
  std::vector<double> others = disk.at(0.7, 5),
                      otherNormed = harmonic.at(0.7, 5);
  for (int k = 0; k < 12; ++k) {
    EXPECT_NEAR(values[k], window * alongX[k % 4] * alongY[k / 4], 1e-15)
        << "function " << k;
    EXPECT_NEAR(values[k] / normed[k], others[k] / otherNormed[k], 1e-12);
  }
}

TEST(BasisTests, AxisymmetricFunctionsDoNotDependOnPhiAndOthersDo) {
  for (const char *text :
       {"piecewise_linear, [3]", "piecewise_linear, [4]",
        "piecewise_linear, [5, 3]", "piecewise_linear, [4, 3]",
        "harmonic, [3, 3]", "morlet, [2, 3]", "zernike, [5]",
        "fourier_bessel, [3, 3]"}) {
    Disk disk(text);
    for (int64_t k = 0; k < disk.size(); ++k) {
      double change = 0;
      for (double r : {0.1, 0.3, 0.5, 0.72, 0.9})
        for (double phi : {0.3, 1.0, 2.0, 3.5, 5.0})
          change = std::max(change,
                            std::abs(disk.at(r, phi)[k] - disk.at(r, 0.1)[k]));
      EXPECT_EQ(disk.basis->isAxisymmetric(k), change < 1e-12)
          << text << " function " << k;
    }
  }
}

TEST(BasisTests, HatsSumToOneInsideTheLastRing) {
  const std::pair<const char *, int> shapes[] = {
      {"[1]", 1},    {"[3]", 3},    {"[5]", 5},    {"[3, 3]", 3},
      {"[5, 2]", 5}, {"[4, 3]", 4}, {"[2, 4]", 2}, {"[6, 5]", 6}};
  for (auto [shape, numRadial] : shapes) {
    Disk disk(std::string("piecewise_linear, ") + shape);
    double lastRing = (numRadial - 1) / 2.0 * 2 / (numRadial + 1);
    for (double part : {0.0, 0.13, 0.5, 0.77, 1.0})
      for (double phi : {0.0, 0.4, 1.9, M_PI, 3.3, 6.2}) {
        double sum = 0;
        for (double value : disk.at(part * lastRing, phi))
          sum += value;
        EXPECT_NEAR(sum, 1, 1e-12) << shape << " at " << part << ", " << phi;
      }
  }
}

TEST(BasisTests, HatsHaveEntriesExactlyOnTheirSupport) {
  Disk rings("piecewise_linear, [3]");
  // Rings at 0 and 0.5, half a radius wide to either side.
  EXPECT_EQ(rings.at(0.25, 0), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(rings.at(0.75, 0), (std::vector<double>{0, 0.5}));
  EXPECT_EQ(rings.present, (std::vector<uint8_t>{0, 1}));
  // An entry of value zero is kept on the edge.
  EXPECT_EQ(rings.at(0.5, 0), (std::vector<double>{0, 1}));
  EXPECT_EQ(rings.present, (std::vector<uint8_t>{1, 1}));
}

TEST(BasisTests, EvenHatsReachAcrossTheCentre) {
  // Rings at 0.5 dr, spokes at -pi and 0; dr = 2/3.
  Disk disk("piecewise_linear, [2, 2]");
  std::vector<double> values = disk.at(1.0 / 6, 0);
  // Opposite spoke: mirrored only, 1 - (1/6 + 1/3) / (2/3).
  EXPECT_NEAR(values[0], 0.25, 1e-15);
  EXPECT_NEAR(values[1], 0.75, 1e-15);
  disk.at(0.5, 1.0);
  EXPECT_EQ(disk.present, (std::vector<uint8_t>{1, 1}));
}

TEST(BasisTests, BesselFunctionsAndRootsAreTheKnownOnes) {
  EXPECT_NEAR(besselJ(0, 1), 0.7651976865579666, 1e-15);
  EXPECT_NEAR(besselJ(2, 5), 0.04656511627775222, 1e-14);
  EXPECT_EQ(besselJ(0, 0), 1);
  EXPECT_EQ(besselJ(3, 0), 0);
  std::vector<BesselMode> modes = besselModes(3, 3, 100);
  const std::tuple<int, double, bool> wanted[] = {
      {0, 2.404825557695773, false}, {1, 3.831705970207512, false},
      {1, 3.831705970207512, true},  {2, 5.135622301840683, false},
      {2, 5.135622301840683, true},  {0, 5.520078110286311, false},
      {3, 6.380161895923984, false}, {3, 6.380161895923984, true},
      {1, 7.015586669815619, false}, {1, 7.015586669815619, true},
      {2, 8.417244140399864, false}, {2, 8.417244140399864, true},
      {0, 8.653727912911013, false}};
  ASSERT_EQ(modes.size(), std::size(wanted));
  for (size_t k = 0; k < modes.size(); ++k) {
    auto [order, root, isSine] = wanted[k];
    EXPECT_EQ(modes[k].order, order) << "mode " << k;
    EXPECT_NEAR(modes[k].root, root, 1e-13) << "mode " << k;
    EXPECT_EQ(modes[k].isSine, isSine) << "mode " << k;
  }
}

} // namespace
