//===- Report.h - tables, JSON lines and pages ------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TOOLS_DISCO_BENCH_REPORT_H
#define DISCO_TOOLS_DISCO_BENCH_REPORT_H

#include "Measure.h"

namespace disco::bench {

std::string toJson(const Machine &machine);
std::string toJson(const Measurement &measurement, const Machine &machine);

std::string tableHeader();
std::string toTableLine(const Measurement &measurement);

/// A page in Markdown; `command` is how to make it again.
std::string toPage(const std::vector<Machine> &machines,
                   const std::vector<Measurement> &measurements,
                   const std::string &command);

} // namespace disco::bench

#endif // DISCO_TOOLS_DISCO_BENCH_REPORT_H
