//===- SphereOperator.h - K maps between lat-lon grids ----------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The form in which everything downstream applies a filter: a gather along
// longitude arcs, the same for down-, same- and upsampling layers.
//
//   y[b, c, k, (t, w)] =
//     sum over arcs of row t * phases + w % phases, u in [0, length):
//       values[valueOffset + u, k]
//         * x[b, c, lat, (lonStart + u + stride * (w / phases)) mod nlonIn]
//
//   nlonIn % nlonOut == 0:  stride = nlonIn / nlonOut, phases = 1
//   otherwise:              stride = 1, phases = nlonOut / nlonIn
//
// Taps of a row are in a fixed order that does not depend on w: arcs sorted by
// (lat, lonStart), and each arc from its start. Hence shifting x by `stride`
// longitudes shifts y by `phases` longitudes bit for bit.
//
// An arc is a maximal run of taps on one ring, modulo nlonIn: where the run
// crosses longitude 0 it starts west of it. A ring without gaps is one arc of
// length nlonIn that starts at longitude 0. So the arcs are a function of the
// set of taps.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_FILTER_SPHEREOPERATOR_H
#define DISCO_FILTER_SPHEREOPERATOR_H

#include "disco/Filter/Psi.h"

namespace disco::filter {

struct Arc {
  int32_t lat = 0;
  int32_t lonStart = 0;
  int32_t length = 0;
  /// Of the first tap, in taps.
  int32_t valueOffset = 0;
};

inline bool operator==(const Arc &a, const Arc &b) {
  return a.lat == b.lat && a.lonStart == b.lonStart && a.length == b.length &&
         a.valueOffset == b.valueOffset;
}

struct SphereOperator {
  int64_t numBasis = 0;
  int64_t nlatIn = 0, nlonIn = 0;
  int64_t nlatOut = 0, nlonOut = 0;
  int64_t stride = 1, phases = 1;
  /// [nlatOut * phases + 1], into `arcs`.
  std::vector<int32_t> rowOffsets;
  std::vector<Arc> arcs;
  /// [numTaps, numBasis]: the union of the supports of all k, with zeros where
  /// a k has no entry.
  std::vector<double> values;

  int64_t numRows() const { return nlatOut * phases; }
  int64_t numTaps() const {
    return numBasis ? static_cast<int64_t>(values.size()) / numBasis : 0;
  }
};

bool operator==(const SphereOperator &a, const SphereOperator &b);

/// The map of the layer: input grid to output grid, also when transposed.
Result<SphereOperator> buildOperator(const SphereFilter &filter);

/// Each of the K maps transposed, with the same values; swaps input and output.
/// adjoint(adjoint(op)) equals op.
SphereOperator adjoint(const SphereOperator &op);

/// Builds the operator from entries keyed (k, output latitude, column) at
/// output longitude 0, in any order. `k`, `row`, `col` and `values` have
/// `numEntries` elements. Errors: nlonIn is no multiple of nlonOut, an index
/// out of range (with both values), a repeated entry, or more taps than int32
/// can number.
Result<SphereOperator> operatorFromCoo(const PsiShape &shape,
                                       int64_t numEntries, const int32_t *k,
                                       const int32_t *row, const int64_t *col,
                                       const double *values);

/// The same for a PsiCoo.
Result<SphereOperator> operatorFromCoo(const PsiShape &shape,
                                       const PsiCoo &psi);

/// The entries of an operator with phases = 1 in the order of PsiCoo. Those
/// with value zero are left out, as the operator does not tell them from
/// missing ones.
Result<PsiCoo> cooFromOperator(const SphereOperator &op);

} // namespace disco::filter

#endif // DISCO_FILTER_SPHEREOPERATOR_H
