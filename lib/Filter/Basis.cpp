//===- Basis.cpp - filter basis functions on a disk -----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Basis.h"

#include "Bessel.h"

#include <cmath>

using namespace disco;
using namespace disco::filter;

static double toDouble(int64_t value) { return static_cast<double>(value); }

namespace {

/// Hats on rings: linear in r between rings dr apart and, off the centre,
/// linear in phi between spokes dphi apart.
class PiecewiseLinear : public BasisEvaluator {
public:
  PiecewiseLinear(int64_t numRadial, int64_t numAngular, int64_t count,
                  double radius)
      : BasisEvaluator(count, radius, /*fullDisk=*/false),
        odd(numRadial % 2 != 0), numAngular(numAngular),
        dr(2 * radius / toDouble(numRadial + 1)),
        dphi(2 * M_PI / toDouble(numAngular)) {}

  bool isAxisymmetric(int64_t k) const override {
    return numAngular == 1 || (odd && k == 0);
  }

  void evaluate(double r, double phi, double *values, uint8_t *present,
                double *) const override {
    for (int64_t k = 0; k < count; ++k) {
      values[k] = 0;
      present[k] = 0;
      if (isAxisymmetric(k))
        addRing(r, k, values[k], present[k]);
      else
        addHat(r, phi, k, values[k], present[k]);
    }
  }

private:
  void addRing(double r, int64_t k, double &value, uint8_t &present) const {
    double distance = std::abs(r - (toDouble(k) + (odd ? 0.0 : 0.5)) * dr);
    if (distance > dr)
      return;
    present = 1;
    value = 1 - distance / dr;
  }

  void addHat(double r, double phi, int64_t k, double &value,
              uint8_t &present) const {
    int64_t hat = odd ? k - 1 : k;
    double ring = (toDouble(hat / numAngular) + (odd ? 1.0 : 0.5)) * dr;
    double spoke = toDouble(hat % numAngular) * dphi - M_PI;
    addTerm(r, phi, ring, spoke, value, present);
    // With an even number of radial nodes none is at the centre: the innermost
    // hats reach across it.
    if (!odd)
      addTerm(-r, phi - M_PI, ring, spoke, value, present);
  }

  void addTerm(double r, double phi, double ring, double spoke, double &value,
               uint8_t &present) const {
    double radial = std::abs(r - ring);
    double turn = std::abs(phi - spoke);
    double angular = std::min(turn, std::abs(2 * M_PI - turn));
    if (radial > dr || angular > dphi)
      return;
    present = 1;
    value += (1 - radial / dr) * (1 - angular / dphi);
  }

  bool odd;
  int64_t numAngular;
  double dr, dphi;
};

/// Products of sines and cosines in the plane, under a cos^2 window. Used for
/// `harmonic` (unit norm on the disk) and `morlet` (not normalized).
class Harmonic : public BasisEvaluator {
public:
  Harmonic(int64_t numY, int64_t numX, bool normalize, double radius)
      : BasisEvaluator(numY * numX, radius, /*fullDisk=*/true), numX(numX),
        numY(numY), norms(count, 1.0) {
    if (normalize)
      computeNorms();
  }

  bool isAxisymmetric(int64_t k) const override { return k == 0; }
  int64_t scratchSize() const override { return numX + numY; }

  void evaluate(double r, double phi, double *values, uint8_t *,
                double *scratch) const override {
    evaluateUnscaled(r / radius, phi, values, scratch);
    for (int64_t k = 0; k < count; ++k)
      values[k] /= norms[k];
  }

private:
  static double factor(int64_t order, double s) {
    double angle = toDouble((order + 1) / 2) * M_PI * s;
    return order % 2 ? std::sin(angle) : std::cos(angle);
  }

  void evaluateUnscaled(double u, double phi, double *values,
                        double *scratch) const {
    double *alongX = scratch, *alongY = scratch + numX;
    // x goes with the sine: phi is measured from the meridian.
    double x = u * std::sin(phi), y = u * std::cos(phi);
    for (int64_t n = 0; n < numX; ++n)
      alongX[n] = factor(n, x);
    for (int64_t m = 0; m < numY; ++m)
      alongY[m] = factor(m, y);
    double window = std::cos(M_PI * u / 2);
    window *= window;
    for (int64_t m = 0; m < numY; ++m)
      for (int64_t n = 0; n < numX; ++n)
        values[m * numX + n] = window * alongX[n] * alongY[m];
  }

  /// The L2 norms on the unit disk by the midpoint rule. The 10000 terms are
  /// summed with compensation, which gives the norms to the last bit.
  void computeNorms() {
    constexpr int64_t numRadii = 50, numAngles = 200;
    constexpr double dr = 1.0 / numRadii, dphi = 2 * M_PI / numAngles;
    std::vector<double> sums(count), lost(count), values(count);
    std::vector<double> scratch(scratchSize());
    for (int64_t i = 0; i < numRadii; ++i)
      for (int64_t j = 0; j < numAngles; ++j) {
        double u = (toDouble(i) + 0.5) * dr;
        evaluateUnscaled(u, toDouble(j) * dphi, values.data(), scratch.data());
        for (int64_t k = 0; k < count; ++k) {
          double term = values[k] * values[k] * u * dr * dphi - lost[k];
          double sum = sums[k] + term;
          lost[k] = (sum - sums[k]) - term;
          sums[k] = sum;
        }
      }
    for (int64_t k = 0; k < count; ++k)
      norms[k] = std::max(std::sqrt(sums[k]), 1e-12);
  }

  int64_t numX, numY;
  std::vector<double> norms;
};

/// Zernike polynomials of degree below nmax, k = n (n + 1) / 2 + (m + n) / 2.
class Zernike : public BasisEvaluator {
public:
  Zernike(int64_t numDegrees, int64_t count, double radius)
      : BasisEvaluator(count, radius, /*fullDisk=*/true),
        numDegrees(numDegrees) {
    for (int64_t n = 0; n < numDegrees; ++n)
      for (int64_t m = -n; m <= n; m += 2)
        modes.push_back(
            {n, m,
             std::sqrt(M_PI * (m == 0 ? 2.0 : 1.0) / (2 * toDouble(n + 1)))});
  }

  bool isAxisymmetric(int64_t k) const override { return modes[k].m == 0; }
  int64_t scratchSize() const override { return numDegrees * numDegrees; }

  void evaluate(double r, double phi, double *values, uint8_t *,
                double *scratch) const override {
    evaluateRadial(r / radius, scratch);
    for (int64_t k = 0; k < count; ++k) {
      const Mode &mode = modes[k];
      double angle = toDouble(mode.m) * phi;
      values[k] = scratch[mode.n * numDegrees + std::abs(mode.m)] *
                  (mode.m < 0 ? std::sin(angle) : std::cos(angle)) / mode.norm;
    }
  }

private:
  struct Mode {
    int64_t n, m;
    double norm;
  };

  /// R_n^m(u) for all n >= m >= 0 of equal parity, by the recurrence
  ///   R_n^m = u (R_{n-1}^{|m-1|} + R_{n-1}^{m+1}) - R_{n-2}^m,
  /// which unlike the sum over factorials does not cancel at high degree.
  void evaluateRadial(double u, double *radial) const {
    auto at = [&](int64_t n, int64_t m) {
      return m > n ? 0.0 : radial[n * numDegrees + m];
    };
    radial[0] = 1;
    for (int64_t n = 1; n < numDegrees; ++n)
      for (int64_t m = n % 2; m <= n; m += 2)
        radial[n * numDegrees + m] =
            u * (at(n - 1, std::abs(m - 1)) + at(n - 1, m + 1)) -
            (m <= n - 2 ? at(n - 2, m) : 0.0);
  }

  int64_t numDegrees;
  std::vector<Mode> modes;
};

/// Bessel functions that vanish on the rim, in the order of their roots.
class FourierBessel : public BasisEvaluator {
public:
  FourierBessel(std::vector<BesselMode> theModes, double radius)
      : BasisEvaluator(static_cast<int64_t>(theModes.size()), radius,
                       /*fullDisk=*/true),
        modes(std::move(theModes)) {
    for (const BesselMode &mode : modes)
      norms.push_back(std::abs(besselJ(mode.order + 1, mode.root)) / M_SQRT2 *
                      std::sqrt(mode.order == 0 ? 2 * M_PI : M_PI));
  }

  bool isAxisymmetric(int64_t k) const override { return modes[k].order == 0; }

  void evaluate(double r, double phi, double *values, uint8_t *,
                double *) const override {
    double u = r / radius, radial = 0;
    for (int64_t k = 0; k < count; ++k) {
      const BesselMode &mode = modes[k];
      // A sine follows the cosine with the same radial part.
      if (!mode.isSine)
        radial = besselJ(mode.order, mode.root * u) / norms[k];
      double angle = toDouble(mode.order) * phi;
      values[k] = radial * (mode.isSine ? std::sin(angle) : std::cos(angle));
    }
  }

private:
  std::vector<BesselMode> modes;
  std::vector<double> norms;
};

} // namespace

int64_t disco::filter::countBasis(Basis basis,
                                  const std::vector<int64_t> &shape) {
  bool isBessel = basis == Basis::fourier_bessel;
  if (shape.empty() || shape.size() > (basis == Basis::zernike ? 1 : 2))
    return 0;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] < (isBessel && i == 1 ? 0 : 1) || shape[i] > maxNumBasis)
      return 0;
  int64_t first = shape.front(), second = shape.back();
  switch (basis) {
  case Basis::piecewise_linear:
    return first / 2 * (shape.size() == 2 ? second : 1) + first % 2;
  case Basis::harmonic:
  case Basis::morlet:
    return first * second;
  case Basis::zernike:
    return first * (first + 1) / 2;
  case Basis::fourier_bessel:
    return static_cast<int64_t>(besselModes(first, second, maxNumBasis).size());
  }
  return 0;
}

std::unique_ptr<BasisEvaluator>
BasisEvaluator::create(const SphereFilter &filter, double radius) {
  int64_t first = filter.shape.front(), second = filter.shape.back();
  switch (filter.basis) {
  case Basis::piecewise_linear:
    return std::make_unique<PiecewiseLinear>(
        first, filter.shape.size() == 2 ? second : 1, filter.numBasis(),
        radius);
  case Basis::harmonic:
    return std::make_unique<Harmonic>(first, second, /*normalize=*/true,
                                      radius);
  case Basis::morlet:
    return std::make_unique<Harmonic>(first, second, /*normalize=*/false,
                                      radius);
  case Basis::zernike:
    return std::make_unique<Zernike>(first, filter.numBasis(), radius);
  case Basis::fourier_bessel:
    return std::make_unique<FourierBessel>(
        besselModes(first, second, maxNumBasis), radius);
  }
  return nullptr;
}
