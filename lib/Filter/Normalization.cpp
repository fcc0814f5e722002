//===- Normalization.cpp - scaling of psi ---------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entries fall into groups: one for each basis index k and latitude of the
// layer's output grid. That is the row of psi, or when transposed the ring of
// its column. Sums run over the entries of a group in their stored order.
//
//===----------------------------------------------------------------------===//

#include "Normalization.h"

#include <algorithm>
#include <cmath>

using namespace disco;
using namespace disco::filter;

namespace {

constexpr double epsilon = 1e-9;

class Normalizer {
public:
  Normalizer(const SphereFilter &filter, const BasisEvaluator &basis,
             const std::vector<double> &coarseWeights,
             const std::vector<double> &fineWeights, PsiCoo &psi)
      : filter(filter), basis(basis), psi(psi), nlonFine(filter.fine().nlon),
        numLatitudes(filter.out.nlat),
        quadrature(filter.transpose ? coarseWeights : fineWeights) {
    for (double &weight : quadrature)
      weight = weight / (2 * static_cast<double>(nlonFine));
  }

  void run() {
    switch (filter.norm) {
    case Norm::nodal:
      divideBy(absoluteSums());
      break;
    case Norm::modal:
      subtractMeans();
      divideBy(absoluteSums());
      break;
    case Norm::mean:
      divideBy(meansOverLatitudes(absoluteSums()));
      break;
    case Norm::support:
      divideBy(sums([](double) { return 1.0; }));
      break;
    case Norm::geometric:
      divideBy(std::vector<double>(
          numGroups(), (1 - std::cos(filter.effectiveCutoff())) / 4));
      break;
    case Norm::none:
      break;
    }
    mergeQuadrature();
  }

private:
  int64_t numGroups() const { return psi.numBasis * numLatitudes; }

  int64_t groupOf(int64_t entry) const {
    int64_t latitude =
        filter.transpose ? psi.col[entry] / nlonFine : psi.row[entry];
    return psi.k[entry] * numLatitudes + latitude;
  }

  double quadratureOf(int64_t entry) const {
    return quadrature[filter.transpose ? psi.row[entry]
                                       : psi.col[entry] / nlonFine];
  }

  /// Per group, the sum of term(value) times the quadrature weight, in plain
  /// float64: where `modal` leaves nothing of a group but the rounding of these
  /// sums, as at a pole, that rounding is what torch-harmonics computes too.
  template <typename Term> std::vector<double> sums(Term term) const {
    std::vector<double> result(numGroups());
    for (int64_t e = 0, size = psi.size(); e < size; ++e)
      result[groupOf(e)] += term(psi.values[e]) * quadratureOf(e);
    return result;
  }

  std::vector<double> absoluteSums() const {
    return sums([](double value) { return std::abs(value); });
  }

  /// Replaces each group's sum by the mean of its basis index over latitudes.
  std::vector<double> meansOverLatitudes(std::vector<double> groups) const {
    for (int64_t k = 0; k < psi.numBasis; ++k) {
      auto begin = groups.begin() + k * numLatitudes;
      double sum = 0;
      for (int64_t i = 0; i < numLatitudes; ++i)
        sum += begin[i];
      std::fill(begin, begin + numLatitudes,
                sum / static_cast<double>(numLatitudes));
    }
    return groups;
  }

  void divideBy(const std::vector<double> &groups) {
    for (int64_t e = 0, size = psi.size(); e < size; ++e)
      psi.values[e] /= std::max(groups[groupOf(e)], epsilon);
  }

  /// Makes the groups of functions that depend on phi integrate to zero.
  void subtractMeans() {
    std::vector<double> means = sums([](double value) { return value; });
    std::vector<double> supports = sums([](double) { return 1.0; });
    for (int64_t g = 0, size = numGroups(); g < size; ++g)
      means[g] = std::abs(supports[g]) > epsilon
                     ? means[g] / std::max(supports[g], epsilon)
                     : 0.0;
    for (int64_t e = 0, size = psi.size(); e < size; ++e)
      if (!basis.isAxisymmetric(psi.k[e]))
        psi.values[e] -= means[groupOf(e)];
  }

  void mergeQuadrature() {
    // A coarse point stands for this many fine longitudes.
    int64_t ratio = filter.transpose ? nlonFine / filter.coarse().nlon : 1;
    for (int64_t e = 0, size = psi.size(); e < size; ++e)
      psi.values[e] =
          psi.values[e] * quadratureOf(e) * static_cast<double>(ratio);
  }

  const SphereFilter &filter;
  const BasisEvaluator &basis;
  PsiCoo &psi;
  int64_t nlonFine, numLatitudes;
  std::vector<double> quadrature;
};

} // namespace

void disco::filter::normalize(const SphereFilter &filter,
                              const BasisEvaluator &basis,
                              const std::vector<double> &coarseWeights,
                              const std::vector<double> &fineWeights,
                              PsiCoo &psi) {
  Normalizer(filter, basis, coarseWeights, fineWeights, psi).run();
}
