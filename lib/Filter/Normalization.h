//===- Normalization.h - scaling of psi -------------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_FILTER_NORMALIZATION_H
#define DISCO_LIB_FILTER_NORMALIZATION_H

#include "Basis.h"

#include "disco/Filter/Psi.h"

namespace disco::filter {

/// Scales the values of psi by the filter's norm and merges the quadrature
/// weights into them. `coarseWeights` and `fineWeights` are those of the grids.
void normalize(const SphereFilter &filter, const BasisEvaluator &basis,
               const std::vector<double> &coarseWeights,
               const std::vector<double> &fineWeights, PsiCoo &psi);

} // namespace disco::filter

#endif // DISCO_LIB_FILTER_NORMALIZATION_H
