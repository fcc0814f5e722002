//===- GoldenLayers.h - kernels against the golden layers -------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TEST_UNIT_RUNTIME_GOLDENLAYERS_H
#define DISCO_TEST_UNIT_RUNTIME_GOLDENLAYERS_H

#include "disco/Runtime/KernelCall.h"

#include <vector>

namespace disco::test {

/// Every layer and its gradients in f64, within the tolerances of the table;
/// how many tensors were compared. The files are in the folder that the
/// environment variable DISCO_GOLDEN_FOLDER names, with a slash at its end, or
/// that of the sources.
int checkGoldenF64(const KernelFamily &family);

/// How many that must be: those of the folder's table, with files at hand.
int countGolden();

/// The same in narrow types, within the bound of the naive computation.
int checkGoldenNarrow(const KernelFamily &family,
                      const std::vector<DType> &dtypes);

} // namespace disco::test

#endif // DISCO_TEST_UNIT_RUNTIME_GOLDENLAYERS_H
