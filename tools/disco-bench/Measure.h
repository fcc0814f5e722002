//===- Measure.h - running, timing and checking -----------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TOOLS_DISCO_BENCH_MEASURE_H
#define DISCO_TOOLS_DISCO_BENCH_MEASURE_H

#include "Machine.h"
#include "Problems.h"

namespace disco::bench {

/// Operands of a call. Elements are pseudo-random in [-2, 2), those of the
/// weight in [-1/8, 1/8), the same in each run, with all the digits of the
/// type: sums that lose some show it.
struct Operands {
  Array x, gy, weight, y;
};
Result<Operands> makeOperands(const Work &work, DType dtype);

/// The call that computes operands.y from the others.
disco_kernel_call makeCall(const Work &work, const Settings &settings,
                           Operands &operands);

/// Errors of a result against float64.
struct Accuracy {
  double error = 0, bound = 0; ///< relative L2 on the elements compared
  int64_t elements = 0;
  bool isComplete = false; ///< all elements, not a sample
  bool ok = false;
  /// Against the f32 result, all elements; for 16-bit types.
  std::optional<double> againstF32;
};

/// Compares elements of y with float64 sums: all, or where that is too much
/// work a sample that has points of the first and last latitude.
/// That is the case above `budget` multiply-adds.
Accuracy checkResult(const Work &work, const Operands &operands, DType dtype,
                     double budget = 2e8);

struct Times {
  std::vector<double> wall, cpu; ///< ms, sorted
  double median(const std::vector<double> &sorted) const {
    return sorted[sorted.size() / 2];
  }
};

struct Measurement {
  std::string problem, family;
  Settings settings;
  Work work;
  Times times;
  uint64_t workspace = 0;
  /// Memory that runs take beside operands, workspace included; if known.
  std::optional<uint64_t> extraMemory;
  Accuracy accuracy;
  double boundMs = 0, predictedMs = 0;
  Clock clock = Clock::wall;

  /// The median by that clock.
  double ms() const {
    return clock == Clock::wall ? times.median(times.wall)
                                : times.median(times.cpu) / settings.threads;
  }
};

/// What planning's cost model says of it on such a machine.
Result<double> predictMs(const KernelFamily &family, const LayerPsi &psi,
                         const Work &work, const Settings &settings,
                         const Machine &machine);

/// Warms up, runs, and checks the last result.
Result<Measurement> measure(const KernelFamily &family, const NamedLayer &layer,
                            const LayerPsi &psi, const Settings &settings,
                            const Machine &machine, int warmUps, int repeats);

} // namespace disco::bench

#endif // DISCO_TOOLS_DISCO_BENCH_MEASURE_H
