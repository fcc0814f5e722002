//===- Psi.h - the filter tensor and its storage forms ----------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// psi[k, t, i, p]: the weight of input point (latitude i, longitude p) in
// feature k of the output point (latitude t, longitude 0). Output longitude w
// has the same weights with p shifted by w * nlonIn / nlonOut, so one
// longitude is stored. A column is i * nlonIn + p.
//
// For a transposed filter psi is that of the layer whose map it transposes:
// rows are latitudes of the coarse grid and columns points of the fine grid.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_FILTER_PSI_H
#define DISCO_FILTER_PSI_H

#include "disco/Filter/SphereFilter.h"

namespace disco::filter {

/// The index ranges of psi.
struct PsiShape {
  int64_t numBasis = 0;
  int64_t nlatIn = 0, nlonIn = 0;
  int64_t nlatOut = 0, nlonOut = 0;
};

/// The shape of buildPsi(filter): the fine grid is "in", the coarse one "out".
PsiShape psiShape(const SphereFilter &filter);

/// Coordinate form, in the order (row, k, column).
struct PsiCoo {
  int64_t numBasis = 0;
  std::vector<int32_t> k, row;
  std::vector<int64_t> col;
  std::vector<double> values;

  int64_t size() const { return static_cast<int64_t>(values.size()); }
};

/// Evaluates a filter in float64. The result does not depend on the number of
/// threads. Errors: the filter does not verify, or memory is missing.
Result<PsiCoo> buildPsi(const SphereFilter &filter);

/// Checks every index against `shape` and that no (k, row, col) occurs twice.
Status verify(const PsiCoo &psi, const PsiShape &shape);

/// The form that torch-harmonics hands to its custom operators: entries sorted
/// by (k, row, column); segment s is [rowOffsets[s], rowOffsets[s + 1]) and
/// holds one (k, row). Rows without entries have no segment.
struct PsiCsr {
  std::vector<int64_t> rowOffsets;
  std::vector<int64_t> k, row, col;
  std::vector<double> values;
};

PsiCsr csrFromCoo(const PsiCoo &psi);

/// Checks offsets and indices: offsets ascend from 0 to the number of entries,
/// every segment holds one (k, row), no entry occurs twice.
Result<PsiCoo> cooFromCsr(const PsiCsr &csr, const PsiShape &shape);

/// For psi whose K features share their support: per output row a list of
/// input points and a dense block of values.
///
///   row t owns points [rowOffsets[t], rowOffsets[t + 1])
///   point j is (lat[j], lon[j]), its values are values[j, 0..kPad), of which
///   the last kPad - numBasis are zero
struct PsiKPacked {
  int64_t numBasis = 0, kPad = 0;
  std::vector<int32_t> rowOffsets;
  std::vector<int32_t> lat, lon;
  std::vector<double> values;
};

/// K rounded up to a multiple of 8, the narrowest tensor-core tile.
inline int64_t paddedNumBasis(int64_t numBasis) {
  return (numBasis + 7) / 8 * 8;
}

/// Fails with the first row and the two basis indices whose supports differ.
Result<PsiKPacked> kPackedFromCoo(const PsiCoo &psi, const PsiShape &shape);

/// Drops the padding; checks all indices.
Result<PsiCoo> cooFromKPacked(const PsiKPacked &packed, const PsiShape &shape);

} // namespace disco::filter

#endif // DISCO_FILTER_PSI_H
