//===- Accuracy.cpp - errors and their bounds -----------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Runtime/Accuracy.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace disco::reference {

static double relative(double errorSquared, double normSquared) {
  if (errorSquared == 0)
    return 0;
  return normSquared > 0 ? std::sqrt(errorSquared / normSquared)
                         : std::numeric_limits<double>::infinity();
}

Difference compare(const Tensor &expected, const Tensor &actual) {
  Difference result;
  const size_t rank = expected.shape.size();
  const int64_t inner = rank >= 2 ? expected.shape[rank - 1] : 1;
  const int64_t rows = rank >= 2 ? expected.shape[rank - 2] : 1;
  std::vector<double> error(static_cast<size_t>(std::max<int64_t>(rows, 1)));
  std::vector<double> norm(error.size());
  double largest = -1;
  for (int64_t i = 0; i < expected.size(); ++i) {
    const double difference = actual.data[i] - expected.data[i];
    if (!std::isfinite(actual.data[i]) || !std::isfinite(expected.data[i])) {
      result.finite = false;
      result.relativeL2 = result.worstRow = result.poleRows =
          std::numeric_limits<double>::infinity();
      result.worstIndex = i;
      result.worstRowIndex = rank >= 2 ? i / inner % rows : 0;
      return result;
    }
    const int64_t row = rank >= 2 ? i / inner % rows : 0;
    error[row] += difference * difference;
    norm[row] += expected.data[i] * expected.data[i];
    if (std::abs(difference) > largest) {
      largest = std::abs(difference);
      result.worstIndex = i;
    }
  }
  double errorSum = 0, normSum = 0;
  for (size_t row = 0; row < error.size(); ++row) {
    errorSum += error[row];
    normSum += norm[row];
  }
  result.relativeL2 = relative(errorSum, normSum);
  const double floor = normSum / static_cast<double>(error.size()) * 1e-6;
  for (size_t row = 0; row < error.size(); ++row) {
    const double value = relative(error[row], std::max(norm[row], floor));
    if (value > result.worstRow) {
      result.worstRow = value;
      result.worstRowIndex = static_cast<int64_t>(row);
    }
    if (row == 0 || row + 1 == error.size())
      result.poleRows = std::max(result.poleRows, value);
  }
  return result;
}

double errorBound(DType dtype, double naiveError) {
  switch (dtype) {
  case DType::f64:
    return 1e-12;
  case DType::f32:
    return 1e-5;
  default:
    return 3 * naiveError + 1e-6;
  }
}

Status checkAccuracy(const Tensor &expected, const Tensor &actual, DType dtype,
                     const Tensor *naive) {
  if (actual.shape != expected.shape)
    return Error{"expected shape " + describe(dtype, expected.shape) +
                 ", but got " + describe(dtype, actual.shape)};
  const Difference got = compare(expected, actual);
  if (!got.finite)
    return Error{"expected finite values, but got " +
                 std::to_string(actual.data[got.worstIndex]) + " at " +
                 describeIndex(got.worstIndex, expected.shape)};
  const Difference allowed = naive ? compare(expected, *naive) : Difference();
  const struct {
    const char *name;
    double error, naiveError;
  } parts[] = {{"tensor", got.relativeL2, allowed.relativeL2},
               {"worst row", got.worstRow, allowed.worstRow},
               {"pole rows", got.poleRows, allowed.poleRows}};
  for (const auto &part : parts) {
    const double bound = errorBound(dtype, part.naiveError);
    if (part.error <= bound)
      continue;
    char text[160];
    std::snprintf(text, sizeof text,
                  "expected relative L2 error of the %s to be at most %.3g, "
                  "but got %.3g",
                  part.name, bound, part.error);
    return Error{text};
  }
  return {};
}

std::string describeIndex(int64_t linear, const std::vector<int64_t> &shape) {
  std::vector<int64_t> indices(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    indices[d] = linear % shape[d];
    linear /= shape[d];
  }
  std::string text = "[";
  for (size_t d = 0; d < indices.size(); ++d)
    text += (d ? ", " : "") + std::to_string(indices[d]);
  return text + "]";
}

} // namespace disco::reference
