//===- Psi.cpp - evaluation of a filter -----------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Filter/Psi.h"

#include "Basis.h"
#include "Normalization.h"
#include "Rotation.h"

#include "disco/Support/Parallel.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>
#include <stdexcept>
#include <utility>

using namespace disco;
using namespace disco::filter;

namespace {

/// What one output latitude gathers: the points of its disk and, at each, K
/// values ([point, k]). `present` has the same layout and is empty for
/// full-disk bases.
struct Row {
  std::vector<int64_t> cols;
  std::vector<double> values;
  std::vector<uint8_t> present;
  int64_t numEntries = 0;
};

class PsiBuilder {
public:
  explicit PsiBuilder(const SphereFilter &filter)
      : filter(filter), coarse(computeNodes(filter.coarse())),
        fine(computeNodes(filter.fine())),
        radius((1 + 1e-3) * filter.effectiveCutoff()),
        basis(BasisEvaluator::create(filter, radius)) {
    nlon = filter.fine().nlon;
    for (double theta : fine.colatitudes)
      latitudes.push_back({std::sin(theta), std::cos(theta)});
    for (int64_t p = 0; p < nlon; ++p) {
      double lambda =
          2 * M_PI * static_cast<double>(p) / static_cast<double>(nlon);
      longitudes.push_back({std::sin(lambda), std::cos(lambda)});
    }
  }

  Result<PsiCoo> build() {
    // Before time and memory are spent on it.
    if (hasTooManyEntries())
      return tooMany();
    std::vector<Row> rows(filter.coarse().nlat);
    std::atomic<int64_t> total{0};
    auto numRows = static_cast<int64_t>(rows.size());
    parallelFor(numRows, 1, [&](int64_t t) {
      if (total > maxEntries)
        return;
      buildRow(t, rows[t]);
      total += rows[t].numEntries;
    });
    if (total > maxEntries)
      return tooMany();
    PsiCoo psi = gather(rows, total);
    rows.clear();
    normalize(filter, *basis, coarse.weights, fine.weights, psi);
    return psi;
  }

private:
  static constexpr int64_t maxEntries = INT32_MAX;

  static Error tooMany() {
    return Error{"expected the number of entries of the filter to be at most " +
                 std::to_string(maxEntries) + ", but got more"};
  }

  /// Whether the points that are certainly in the support are too many: those
  /// of each ring but for a few at the edge of the disk. What may have fewer,
  /// near the limit, is found while it is built.
  bool hasTooManyEntries() const {
    constexpr int64_t edge = 3; // that longitudeExtent may add, and rounding
    const int64_t entriesOfPoint = basis->isFullDisk() ? basis->numBasis() : 1;
    int64_t points = 0;
    for (double theta : coarse.colatitudes) {
      const SineCosine center{std::sin(theta), std::cos(theta)};
      const auto [first, last] = ringsNear(theta, -margin);
      for (size_t i = first; i < last; ++i) {
        const int64_t extent = longitudeExtent(center, latitudes[i]);
        // All of the ring, or one of the two is a pole.
        const bool isWhole =
            radius >= M_PI || center.sin * latitudes[i].sin >= 1e-6;
        points += extent < nlon ? std::max<int64_t>(2 * (extent - edge), 0)
                  : isWhole     ? nlon
                                : 0;
      }
      if (points > maxEntries / entriesOfPoint)
        return true;
    }
    return false;
  }

  /// The rings [first, last) that are no more than radius + `more` away: points
  /// are at least as far apart as their latitudes.
  std::pair<size_t, size_t> ringsNear(double theta, double more) const {
    const std::vector<double> &thetas = fine.colatitudes;
    const double reach = radius + more;
    auto first = std::lower_bound(thetas.begin(), thetas.end(), theta - reach);
    auto last = std::upper_bound(first, thetas.end(), theta + reach);
    return {first - thetas.begin(), last - thetas.begin()};
  }

  void buildRow(int64_t t, Row &row) const {
    double theta = coarse.colatitudes[t];
    SineCosine center{std::sin(theta), std::cos(theta)};
    std::vector<double> scratch(basis->scratchSize());
    const auto [first, last] = ringsNear(theta, margin);
    for (auto i = static_cast<int64_t>(first); i < static_cast<int64_t>(last);
         ++i) {
      int64_t extent = longitudeExtent(center, latitudes[i]);
      if (2 * extent + 1 >= nlon) {
        addRange(center, i, 0, nlon, row, scratch);
      } else {
        addRange(center, i, 0, extent + 1, row, scratch);
        addRange(center, i, nlon - extent, nlon, row, scratch);
      }
    }
    countEntries(row);
  }

  /// No point of the ring more than this many longitudes from the meridian is
  /// in the support; a bound that errs on the side of testing too many.
  int64_t longitudeExtent(SineCosine center, SineCosine ring) const {
    double reach = radius + margin;
    double product = center.sin * ring.sin;
    if (reach >= M_PI || product < 1e-6)
      return nlon;
    double cosine = (std::cos(reach) - center.cos * ring.cos) / product;
    if (cosine <= -1)
      return nlon;
    double angle = cosine >= 1 ? 0 : std::acos(cosine);
    return static_cast<int64_t>(angle * static_cast<double>(nlon) /
                                (2 * M_PI)) +
           2;
  }

  void addRange(SineCosine center, int64_t i, int64_t begin, int64_t end,
                Row &row, std::vector<double> &scratch) const {
    int64_t numBasis = basis->numBasis();
    for (int64_t p = begin; p < end; ++p) {
      Polar polar = rotate(center, latitudes[i], longitudes[p]);
      if (polar.r > radius)
        continue;
      row.cols.push_back(i * nlon + p);
      size_t offset = row.values.size();
      row.values.resize(offset + numBasis);
      uint8_t *present = nullptr;
      if (!basis->isFullDisk()) {
        row.present.resize(offset + numBasis);
        present = row.present.data() + offset;
      }
      basis->evaluate(polar.r, polar.phi, row.values.data() + offset, present,
                      scratch.data());
    }
  }

  void countEntries(Row &row) const {
    row.numEntries =
        basis->isFullDisk()
            ? static_cast<int64_t>(row.values.size())
            : std::count(row.present.begin(), row.present.end(), 1);
  }

  /// Concatenates the rows in the order (row, k, column).
  PsiCoo gather(const std::vector<Row> &rows, int64_t total) const {
    PsiCoo psi;
    psi.numBasis = basis->numBasis();
    psi.k.resize(total);
    psi.row.resize(total);
    psi.col.resize(total);
    psi.values.resize(total);
    std::vector<int64_t> offsets{0};
    for (const Row &row : rows)
      offsets.push_back(offsets.back() + row.numEntries);
    parallelFor(static_cast<int64_t>(rows.size()), 1, [&](int64_t t) {
      const Row &row = rows[t];
      int64_t e = offsets[t];
      for (int64_t k = 0; k < psi.numBasis; ++k)
        for (size_t j = 0; j < row.cols.size(); ++j) {
          int64_t at = static_cast<int64_t>(j) * psi.numBasis + k;
          if (!basis->isFullDisk() && !row.present[at])
            continue;
          psi.k[e] = static_cast<int32_t>(k);
          psi.row[e] = static_cast<int32_t>(t);
          psi.col[e] = row.cols[j];
          psi.values[e] = row.values[at];
          ++e;
        }
    });
    return psi;
  }

  /// Radians; far above the rounding of any angle here.
  static constexpr double margin = 1e-7;

  const SphereFilter &filter;
  GridNodes coarse, fine;
  double radius;
  std::unique_ptr<BasisEvaluator> basis;
  int64_t nlon = 0;
  std::vector<SineCosine> latitudes, longitudes;
};

} // namespace

PsiShape disco::filter::psiShape(const SphereFilter &filter) {
  return {filter.numBasis(), filter.fine().nlat, filter.fine().nlon,
          filter.coarse().nlat, filter.coarse().nlon};
}

static Error outOfMemory() {
  return Error{"expected memory to hold the filter tensor, but got none"};
}

Result<PsiCoo> disco::filter::buildPsi(const SphereFilter &filter) {
  if (Status status = verify(filter); !status)
    return status.error();
  try {
    return PsiBuilder(filter).build();
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  } catch (const std::length_error &) {
    return outOfMemory();
  }
}
