//===- Basis.h - filter basis functions on a disk ---------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The K functions of a basis, evaluated at a point (r, phi) of the disk.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_FILTER_BASIS_H
#define DISCO_LIB_FILTER_BASIS_H

#include "disco/Filter/SphereFilter.h"

#include <memory>

namespace disco::filter {

/// K of a basis, or 0 if the shape has the wrong arity or range. Stops counting
/// soon after maxNumBasis.
int64_t countBasis(Basis basis, const std::vector<int64_t> &shape);

/// Immutable once built, so that threads share one.
class BasisEvaluator {
public:
  virtual ~BasisEvaluator() = default;

  /// `radius` is the radius of the support, in radians.
  static std::unique_ptr<BasisEvaluator> create(const SphereFilter &filter,
                                                double radius);

  int64_t numBasis() const { return count; }

  /// True if every function has an entry wherever r <= radius.
  bool isFullDisk() const { return fullDisk; }

  /// True if function k does not depend on phi.
  virtual bool isAxisymmetric(int64_t k) const = 0;

  /// Doubles that `evaluate` wants as scratch space.
  virtual int64_t scratchSize() const { return 0; }

  /// Writes the K values at a point with r <= radius and phi in [0, 2 pi].
  /// Unless the basis is full-disk, present[k] says whether k has an entry; if
  /// it is, `present` is not used.
  virtual void evaluate(double r, double phi, double *values, uint8_t *present,
                        double *scratch) const = 0;

protected:
  BasisEvaluator(int64_t count, double radius, bool fullDisk)
      : count(count), radius(radius), fullDisk(fullDisk) {}

  int64_t count;
  double radius;
  bool fullDisk;
};

} // namespace disco::filter

#endif // DISCO_LIB_FILTER_BASIS_H
