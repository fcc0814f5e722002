//===- Report.h - what disco-inspect prints ---------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TOOLS_INSPECT_REPORT_H
#define DISCO_TOOLS_INSPECT_REPORT_H

#include "disco/Filter/Statistics.h"

namespace disco::inspect {

/// Several lines that describe a grid and list its nodes (only the first and
/// last ones of a large grid).
std::string describeGrid(const filter::Grid &grid,
                         const filter::GridNodes &nodes);

/// The statistics of a filter, one quantity a line.
std::string describeFilter(const filter::SphereFilter &filter,
                           const filter::FilterStatistics &statistics);

/// The same as one JSON object on one line.
std::string filterAsJson(const filter::SphereFilter &filter,
                         const filter::FilterStatistics &statistics);

} // namespace disco::inspect

#endif // DISCO_TOOLS_INSPECT_REPORT_H
