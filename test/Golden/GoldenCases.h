//===- GoldenCases.h - tables of reference results --------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tables that scripts/make_golden_data.py writes, and how results are
// compared with the arrays that belong to them.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TEST_GOLDEN_GOLDENCASES_H
#define DISCO_TEST_GOLDEN_GOLDENCASES_H

#include "disco/Support/Npy.h"

#include <optional>
#include <string>
#include <vector>

namespace disco::golden {

/// Array `id`.npy: [2, nlat], colatitudes and weights.
struct GridCase {
  std::string id, grid;
};

/// Array `id`.npy: [4, entries], basis index, row, column and value.
struct PsiCase {
  std::string id, filter;
  double tol = 0;
  /// Where false, the last bit of the latitudes decides: errors are reported.
  bool gated = true;
  /// The largest |psi|.
  double largest = 0;
  /// The output rows that the kept array has; nothing means all.
  std::optional<std::vector<int64_t>> rows;
};

/// Arrays `id`.{x,w,b,y,gy,gx,gw,gb}.npy, those of the bias only if there is
/// one.
struct ConvCase {
  std::string id, filter;
  double tol = 0;
  bool gated = true, kept = false, bias = false;
  int64_t groups = 1;
};

/// Grids differ by at most this much.
constexpr double gridTolerance = 1e-12;

/// All fail on a missing file, a malformed line or a table without cases.
Result<std::vector<GridCase>> readGridCases(const std::string &folder);
Result<std::vector<PsiCase>> readPsiCases(const std::string &folder);
Result<std::vector<ConvCase>> readConvCases(const std::string &folder);

/// The largest |difference| of two arrays of equal shape. An error for other
/// shapes or values that are not finite.
Result<double> largestDifference(const Array &got, const Array &wanted);

/// The L2 norm of the difference relative to that of `wanted`, which must not
/// be zero unless both are. Errors as above.
Result<double> relativeL2(const Array &got, const Array &wanted);

/// The largest difference of two psi as sparse maps, in which a missing entry
/// is 0, relative to the largest |psi|. `got` has all rows; those of `wanted`
/// are `rows`, or all.
Result<double> psiError(const Array &got, const Array &wanted,
                        const PsiCase &psiCase,
                        const std::optional<std::vector<int64_t>> &rows);

} // namespace disco::golden

#endif // DISCO_TEST_GOLDEN_GOLDENCASES_H
