//===- Filters.h - filters that several tests share -------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TEST_UNIT_FILTER_FILTERS_H
#define DISCO_TEST_UNIT_FILTER_FILTERS_H

#include "disco/Filter/SphereOperator.h"

#include <gtest/gtest.h>
#include <random>

namespace disco::filter {

/// Parses a filter that is known to be right.
inline SphereFilter filterOf(const std::string &text) {
  Result<SphereFilter> filter = parseSphereFilter(text);
  if (!filter) {
    ADD_FAILURE() << text << ": " << filter.message();
    return {};
  }
  return *filter;
}

inline PsiCoo psiOf(const std::string &text) {
  Result<PsiCoo> psi = buildPsi(filterOf(text));
  if (!psi) {
    ADD_FAILURE() << text << ": " << psi.message();
    return {};
  }
  return *psi;
}

inline SphereOperator operatorOf(const std::string &text) {
  Result<SphereOperator> op = buildOperator(filterOf(text));
  if (!op) {
    ADD_FAILURE() << text << ": " << op.message();
    return {};
  }
  return *op;
}

/// Filters of every basis and norm, every pair of grids at least once, with
/// ratios 1 to 4, transposed and not.
inline const std::vector<std::string> &variedFilters() {
  static const std::vector<std::string> filters{
      "sphere_filter<piecewise_linear, [1], in = grid<equiangular, 9x16>, out "
      "= grid<equiangular, 9x16>>",
      "sphere_filter<piecewise_linear, [4], cutoff = 0.7, norm = mean, in = "
      "grid<legendre_gauss, 16x32>, out = grid<equiangular, 9x8>>",
      "sphere_filter<piecewise_linear, [3, 3], cutoff = 0.5, norm = none, in "
      "= grid<lobatto, 12x24>, out = grid<equiangular_trapezoidal, 12x12>>",
      "sphere_filter<piecewise_linear, [4, 3], cutoff = 0.9, norm = support, "
      "in = grid<equiangular_trapezoidal, 10x21>, out = grid<lobatto, 10x21>>",
      "sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = nodal, in = "
      "grid<equiangular, 19x36>, out = grid<legendre_gauss, 10x12>>",
      "sphere_filter<harmonic, [2, 4], cutoff = 3.14, norm = geometric, in = "
      "grid<equiangular, 6x10>, out = grid<lobatto, 5x5>>",
      "sphere_filter<morlet, [3], cutoff = 0.45, norm = modal, in = "
      "grid<legendre_gauss, 13x24>, out = grid<legendre_gauss, 13x24>>",
      "sphere_filter<zernike, [4], cutoff = 0.6, norm = mean, in = "
      "grid<lobatto, 13x24>, out = grid<legendre_gauss, 7x12>>",
      "sphere_filter<fourier_bessel, [2, 3], cutoff = 0.5, norm = modal, in = "
      "grid<equiangular, 13x24>, out = grid<equiangular, 13x24>>",
      "sphere_filter<harmonic, [3, 3], cutoff = 0.45, norm = mean, in = "
      "grid<legendre_gauss, 10x20>, out = grid<equiangular, 19x40>, transpose>",
      "sphere_filter<piecewise_linear, [3, 4], cutoff = 0.6, norm = modal, in "
      "= grid<equiangular, 7x6>, out = grid<lobatto, 19x24>, transpose>",
      "sphere_filter<zernike, [3], cutoff = 0.3, norm = support, in = "
      "grid<equiangular_trapezoidal, 12x24>, out = grid<lobatto, 12x24>, "
      "transpose>",
      "sphere_filter<fourier_bessel, [2], in = grid<lobatto, 5x1>, out = "
      "grid<equiangular, 9x7>, transpose>"};
  return filters;
}

/// A field of normally distributed values.
inline std::vector<double> randomField(int64_t size, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> distribution;
  std::vector<double> field(size);
  for (double &value : field)
    value = distribution(generator);
  return field;
}

/// y[k, t, w] of one field, in the order that the operator's header states.
inline std::vector<double> applyOperator(const SphereOperator &op,
                                         const std::vector<double> &x) {
  std::vector<double> y(op.numBasis * op.nlatOut * op.nlonOut);
  for (int64_t t = 0; t < op.nlatOut; ++t)
    for (int64_t w = 0; w < op.nlonOut; ++w) {
      int64_t row = t * op.phases + w % op.phases;
      int64_t shift = op.stride * (w / op.phases);
      for (int32_t a = op.rowOffsets[row]; a < op.rowOffsets[row + 1]; ++a) {
        const Arc &arc = op.arcs[a];
        for (int64_t u = 0; u < arc.length; ++u) {
          int64_t lon = (arc.lonStart + u + shift) % op.nlonIn;
          double value = x[arc.lat * op.nlonIn + lon];
          for (int64_t k = 0; k < op.numBasis; ++k)
            y[(k * op.nlatOut + t) * op.nlonOut + w] +=
                op.values[(arc.valueOffset + u) * op.numBasis + k] * value;
        }
      }
    }
  return y;
}

} // namespace disco::filter

#endif // DISCO_TEST_UNIT_FILTER_FILTERS_H
