//===- Bessel.cpp - Bessel functions and their roots ----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bessel.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace disco::filter;

double disco::filter::besselJ(int64_t order, double x) {
  return std::cyl_bessel_j(static_cast<double>(order), x);
}

/// The root of J_order in [low, high], across which it changes sign: Newton's
/// method, with bisection whenever a step would leave the bracket.
static double refineRoot(int64_t order, double low, double high) {
  bool lowIsNegative = besselJ(order, low) < 0;
  double x = (low + high) / 2;
  for (int step = 0; step < 100; ++step) {
    double value = besselJ(order, x);
    ((value < 0) == lowIsNegative ? low : high) = x;
    // J' = order / x J_order - J_{order + 1}
    double derivative =
        static_cast<double>(order) / x * value - besselJ(order + 1, x);
    double next = x - value / derivative;
    if (!(next > low && next < high))
      next = (low + high) / 2;
    if (std::abs(next - x) <= 4e-16 * x)
      return next;
    x = next;
  }
  return x;
}

/// Roots of J_order in ascending order: `count` of them, or those up to `last`.
static std::vector<double> besselRoots(int64_t order, int64_t count,
                                       double last) {
  std::vector<double> roots;
  // Neighbouring roots are more than 3 apart and the first one lies beyond the
  // order, so that steps of 1 skip none.
  double x = std::max(1.0, static_cast<double>(order));
  bool negative = besselJ(order, x) < 0;
  while (static_cast<int64_t>(roots.size()) < count && x < last) {
    bool nextNegative = besselJ(order, x + 1) < 0;
    if (nextNegative != negative) {
      double root = refineRoot(order, x, x + 1);
      if (root > last)
        break;
      roots.push_back(root);
    }
    negative = nextNegative;
    x += 1;
  }
  return roots;
}

std::vector<BesselMode>
disco::filter::besselModes(int64_t numRadial, int64_t maxOrder, int64_t limit) {
  std::vector<BesselMode> modes;
  std::vector<double> roots = besselRoots(0, numRadial, HUGE_VAL);
  double last = roots.back();
  for (int64_t order = 0; order <= maxOrder; ++order) {
    if (order > 0)
      roots = besselRoots(order, numRadial, last);
    // The first root grows with the order.
    if (roots.empty() || static_cast<int64_t>(modes.size()) > limit)
      break;
    for (double root : roots) {
      modes.push_back({order, root, false});
      if (order > 0)
        modes.push_back({order, root, true});
    }
  }
  std::sort(modes.begin(), modes.end(),
            [](const BesselMode &a, const BesselMode &b) {
              return std::tie(a.root, a.order, a.isSine) <
                     std::tie(b.root, b.order, b.isSine);
            });
  return modes;
}
