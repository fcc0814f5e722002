//===- Flow.cpp - a Rossby-Haurwitz wave with a jet -----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flow.h"

#include <cmath>

namespace disco::demo {
namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double radius = earthRadiusMetres;
constexpr double rotation = 7.292e-5; // 1/s
constexpr double gravity = 9.80616;   // m/s^2
constexpr double meanHeight = 8000.0; // m

//===----------------------------------------------------------------------===//
// The wave: the streamfunction is
//   radius^2 (-omega sin(lat) + omega cos(lat)^n sin(lat) cos(n lon))
// and g h = g h0 + radius^2 (A + B cos(n lon) + C cos(2 n lon)), with A, B and
// C polynomials in c = cos(lat).
//===----------------------------------------------------------------------===//

constexpr double omega = 7.848e-6; // 1/s
constexpr int n = 4;

double power(double base, int exponent) {
  double result = 1;
  for (int i = 0; i < exponent; ++i)
    result *= base;
  return result;
}

/// factor * c^exponent, and its derivative by c.
struct Terms {
  double value = 0, derivative = 0;
  void add(double factor, int exponent, double c) {
    value += factor * power(c, exponent);
    derivative += factor * exponent * power(c, exponent - 1);
  }
};

FlowSample sampleWave(double latitude, double longitude) {
  // At the poles cos(pi/2) is only nearly 0; it must not be negative.
  const double c = std::fmax(std::cos(latitude), 0.0);
  const double s = std::sin(latitude);
  const double cosine = std::cos(n * longitude);
  const double sine = std::sin(n * longitude);

  FlowSample sample;
  sample.eastwardWind =
      radius * omega * (c + power(c, n - 1) * (n * s * s - c * c) * cosine);
  sample.northwardWind = -radius * omega * n * power(c, n - 1) * s * sine;
  sample.vorticity =
      omega * s * (2 - power(c, n) * (n * n + 3 * n + 2) * cosine);

  const double quarter = omega * omega / 4;
  Terms a, b, d;
  a.add(omega / 2 * (2 * rotation + omega), 2, c);
  a.add(quarter * (n + 1), 2 * n + 2, c);
  a.add(quarter * (2 * n * n - n - 2), 2 * n, c);
  a.add(quarter * -2 * n * n, 2 * n - 2, c);
  const double mixed = 2 * (rotation + omega) * omega / ((n + 1) * (n + 2));
  b.add(mixed * (n * n + 2 * n + 2), n, c);
  b.add(mixed * -(n + 1) * (n + 1), n + 2, c);
  d.add(quarter * (n + 1), 2 * n + 2, c);
  d.add(quarter * -(n + 2), 2 * n, c);

  const double cosine2 = std::cos(2 * n * longitude);
  const double sine2 = std::sin(2 * n * longitude);
  const double scale = radius * radius / gravity;
  sample.height =
      meanHeight + scale * (a.value + b.value * cosine + d.value * cosine2);
  // B and C hold the factor c^n: dividing by c is safe but at the pole, where
  // the quotient is 0.
  if (c > 0)
    sample.heightEast =
        scale / (radius * c) * (-n * b.value * sine - 2 * n * d.value * sine2);
  sample.heightNorth =
      scale / radius * -s *
      (a.derivative + b.derivative * cosine + d.derivative * cosine2);
  return sample;
}

//===----------------------------------------------------------------------===//
// The jet: a bump function of latitude, zero outside of (south, north).
//===----------------------------------------------------------------------===//

constexpr double jetSpeed = 70.0; // m/s
constexpr double jetSouth = pi / 4 - 0.35, jetNorth = pi / 4 + 0.35;

double jetWind(double latitude) {
  if (latitude <= jetSouth || latitude >= jetNorth)
    return 0;
  const double width = jetNorth - jetSouth;
  return jetSpeed * std::exp(4 / (width * width) + 1 / ((latitude - jetSouth) *
                                                        (latitude - jetNorth)));
}

/// Balance with the Coriolis and the centrifugal force.
double jetHeightNorth(double latitude) {
  const double wind = jetWind(latitude);
  return -wind / gravity *
         (2 * rotation * std::sin(latitude) +
          wind * std::tan(latitude) / radius);
}

/// The integral of jetHeightNorth from the south, by Simpson's rule.
double jetHeight(double latitude) {
  const double end = std::fmin(latitude, jetNorth);
  if (end <= jetSouth)
    return 0;
  constexpr int intervals = 256;
  const double step = (end - jetSouth) / intervals;
  double sum = 0;
  for (int i = 0; i <= intervals; ++i) {
    const int weight = i == 0 || i == intervals ? 1 : i % 2 ? 4 : 2;
    sum += weight * jetHeightNorth(jetSouth + i * step);
  }
  return radius * sum * step / 3;
}

double jetVorticity(double latitude) {
  const double wind = jetWind(latitude);
  if (wind == 0)
    return 0;
  const double product = (latitude - jetSouth) * (latitude - jetNorth);
  const double slope =
      -wind * (2 * latitude - jetSouth - jetNorth) / (product * product);
  return (wind * std::tan(latitude) - slope) / radius;
}

} // namespace

FlowSample sampleFlow(double latitude, double longitude) {
  FlowSample sample = sampleWave(latitude, longitude);
  sample.eastwardWind += jetWind(latitude);
  sample.height += jetHeight(latitude);
  sample.vorticity += jetVorticity(latitude);
  sample.heightNorth += jetHeightNorth(latitude);
  return sample;
}

} // namespace disco::demo
