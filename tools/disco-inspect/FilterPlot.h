//===- FilterPlot.h - pictures of filters -----------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TOOLS_INSPECT_FILTERPLOT_H
#define DISCO_TOOLS_INSPECT_FILTERPLOT_H

#include "disco/Filter/Psi.h"
#include "disco/Support/Png.h"

namespace disco::inspect {

/// Every basis function at three latitudes, as seen from above the output
/// point, and one of them at several places of the world map. Values are psi
/// without the quadrature weights, scaled to a largest magnitude of 1 in each
/// panel.
Image plotFilter(const filter::SphereFilter &filter, const filter::PsiCoo &psi);

} // namespace disco::inspect

#endif // DISCO_TOOLS_INSPECT_FILTERPLOT_H
