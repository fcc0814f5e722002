//===- Precision.h - layers in narrow types against float64 -----*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TEST_GOLDEN_PRECISION_H
#define DISCO_TEST_GOLDEN_PRECISION_H

#include "disco/Support/Npy.h"

#include <optional>
#include <string>

namespace disco::golden {

/// A layer whose tensors are in one element type.
struct NarrowLayer {
  std::string filter;
  int64_t groups = 1;
  Array x, w;
  std::optional<Array> b;
};

struct PrecisionError {
  double error = 0;
  /// What the element type allows: see disco/Runtime/Accuracy.h.
  double bound = 0;
};

/// The relative error of `y` against float64 sums on the same inputs.
Result<PrecisionError> precisionError(const NarrowLayer &layer, const Array &y);

/// Reads an array, rounds it to `dtype` and writes it to `path`.
Result<Array> convertNpy(const std::string &from, DType dtype,
                         const std::string &path);

} // namespace disco::golden

#endif // DISCO_TEST_GOLDEN_PRECISION_H
