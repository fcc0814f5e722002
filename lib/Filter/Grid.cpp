//===- Grid.cpp - nodes and weights of the grids --------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Filter/Grid.h"

#include "disco/Support/Parallel.h"

#include <algorithm>
#include <cmath>

using namespace disco;
using namespace disco::filter;

namespace {

/// P_n(x) and P_{n-1}(x), n >= 1.
struct LegendrePair {
  double current, previous;
};

/// Both grids below are in x = cos(theta) ascending, as south comes first.
struct CosineNodes {
  std::vector<double> x, weights;
  explicit CosineNodes(int64_t n) : x(n), weights(n) {}
};

} // namespace

static LegendrePair legendre(int64_t n, double x) {
  double previous = 1, current = x;
  for (int64_t k = 2; k <= n; ++k) {
    double next = (x * static_cast<double>(2 * k - 1) * current -
                   static_cast<double>(k - 1) * previous) /
                  static_cast<double>(k);
    previous = current;
    current = next;
  }
  return {current, previous};
}

/// Roots of P_n by Newton's method from Tricomi's estimate.
static CosineNodes gaussNodes(int64_t n) {
  CosineNodes nodes(n);
  // Node i and its mirror image together, so that the grid is symmetric.
  parallelFor((n + 1) / 2, 16, [&](int64_t i) {
    double order = static_cast<double>(n);
    double theta = M_PI * (static_cast<double>(i) + 0.75) / (order + 0.5);
    double x =
        std::cos(theta) * (1 - (order - 1) / (8 * order * order * order));
    double derivative = 0;
    // The derivative is taken where the last step started, which differs from
    // the root by rounding only.
    for (int step = 0; step < 100; ++step) {
      LegendrePair p = legendre(n, x);
      derivative = order * (p.previous - x * p.current) / ((1 - x) * (1 + x));
      double change = p.current / derivative;
      x -= change;
      if (std::abs(change) < 1e-16)
        break;
    }
    if (2 * i + 1 == n)
      x = 0;
    LegendrePair p = legendre(n, x);
    derivative = order * (p.previous - x * p.current) / ((1 - x) * (1 + x));
    double weight = 2 / ((1 - x) * (1 + x) * derivative * derivative);
    nodes.x[i] = -x;
    nodes.x[n - 1 - i] = x;
    nodes.weights[i] = nodes.weights[n - 1 - i] = weight;
  });
  return nodes;
}

/// The extrema of P_{n-1} and both poles.
static CosineNodes lobattoNodes(int64_t n) {
  CosineNodes nodes(n);
  double order = static_cast<double>(n);
  parallelFor(n, 16, [&](int64_t i) {
    double x =
        -std::cos(M_PI * static_cast<double>(i) / static_cast<double>(n - 1));
    for (int step = 0; step < 100; ++step) {
      LegendrePair p = legendre(n - 1, x);
      double change = (x * p.current - p.previous) / (order * p.current);
      x -= change;
      if (std::abs(change) < 1e-16)
        break;
    }
    double p = legendre(n - 1, x).current;
    nodes.x[i] = std::min(1.0, std::max(-1.0, x));
    nodes.weights[i] = 2 / (order * (order - 1) * p * p);
  });
  return nodes;
}

static CosineNodes trapezoidalNodes(int64_t n) {
  CosineNodes nodes(n);
  double step = 2 / static_cast<double>(n - 1);
  for (int64_t i = 0; i < n; ++i) {
    nodes.x[i] = -1 + static_cast<double>(i) * step;
    nodes.weights[i] = step;
  }
  nodes.x[n - 1] = 1;
  nodes.weights[0] = nodes.weights[n - 1] = step / 2;
  return nodes;
}

/// Clenshaw-Curtis weights of the node j * pi / (n - 1).
static std::vector<double> clenshawCurtisWeights(int64_t n) {
  std::vector<double> weights(n);
  int64_t intervals = n - 1;
  // cos(2 pi m / N) by m, so that the angle is reduced exactly.
  std::vector<double> cosines(intervals);
  for (int64_t m = 0; m < intervals; ++m)
    cosines[m] = std::cos(2 * M_PI * static_cast<double>(m) /
                          static_cast<double>(intervals));
  parallelFor(n, 64, [&](int64_t k) {
    double sum = 0;
    for (int64_t j = 1; j <= intervals / 2; ++j) {
      double b = 2 * j == intervals ? 1 : 2;
      sum +=
          b / static_cast<double>(4 * j * j - 1) * cosines[j * k % intervals];
    }
    double c = k == 0 || k == intervals ? 1 : 2;
    weights[k] = c / static_cast<double>(intervals) * (1 - sum);
  });
  return weights;
}

GridNodes disco::filter::computeNodes(const Grid &grid) {
  int64_t n = grid.nlat;
  GridNodes result;
  if (grid.kind == GridKind::equiangular) {
    result.colatitudes.resize(n);
    for (int64_t j = 0; j < n; ++j)
      result.colatitudes[j] =
          static_cast<double>(j) * M_PI / static_cast<double>(n - 1);
    result.weights = clenshawCurtisWeights(n);
    return result;
  }
  CosineNodes nodes = grid.kind == GridKind::legendre_gauss ? gaussNodes(n)
                      : grid.kind == GridKind::lobatto ? lobattoNodes(n)
                                                       : trapezoidalNodes(n);
  result.colatitudes.resize(n);
  for (int64_t j = 0; j < n; ++j)
    result.colatitudes[j] = std::acos(nodes.x[n - 1 - j]);
  result.weights.assign(nodes.weights.rbegin(), nodes.weights.rend());
  return result;
}
