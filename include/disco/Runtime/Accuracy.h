//===- Accuracy.h - errors and their bounds ---------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How far a tensor is from the float64 reference, and how far it may be.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_RUNTIME_ACCURACY_H
#define DISCO_RUNTIME_ACCURACY_H

#include "disco/Runtime/Reference.h"

namespace disco::reference {

/// Errors of a tensor. A row is one index of the last dimension but one, over
/// all others: a ring of latitude for [.., nlat, nlon]. A tensor with fewer
/// than two dimensions is one row. A row's error is relative to its own norm,
/// but to no less than a thousandth of the mean row's, so that a row which is
/// zero but for rounding does not count as wrong.
struct Difference {
  /// ||actual - expected|| / ||expected||; 0 when both are zero, infinite when
  /// only `expected` is.
  double relativeL2 = 0;
  double worstRow = 0;
  int64_t worstRowIndex = 0;
  /// The larger error of the first and the last row.
  double poleRows = 0;
  /// The element with the largest absolute difference, or the first that is
  /// not finite; -1 in an empty tensor.
  int64_t worstIndex = -1;
  bool finite = true;

  /// Whether everything is finite and within `bound`.
  bool within(double bound) const { return finite && relativeL2 <= bound; }
};

/// Compares tensors of one shape. A non-finite element of either is reported in
/// `finite`.
Difference compare(const Tensor &expected, const Tensor &actual);

/// The largest relative L2 error that is right for `dtype`: 1e-12 for f64, 1e-5
/// for f32, 3 * naiveError + 1e-6 for f16 and bf16, where `naiveError` is that
/// of the naive computation in the dtype.
double errorBound(DType dtype, double naiveError);

/// Whether errorBound needs the naive computation.
inline bool needsNaive(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16;
}

/// Checks a tensor, its worst row and its pole rows by errorBound. `naive` is
/// the naive result, or null where the dtype does not need it. The message
/// gives the error and the bound.
Status checkAccuracy(const Tensor &expected, const Tensor &actual, DType dtype,
                     const Tensor *naive);

/// "[1, 0, 7]", the indices of element `linear`.
std::string describeIndex(int64_t linear, const std::vector<int64_t> &shape);

} // namespace disco::reference

#endif // DISCO_RUNTIME_ACCURACY_H
