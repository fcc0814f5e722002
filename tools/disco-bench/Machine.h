//===- Machine.h - what the machine can do ----------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TOOLS_DISCO_BENCH_MACHINE_H
#define DISCO_TOOLS_DISCO_BENCH_MACHINE_H

#include "disco/Support/Result.h"

#include <string>

namespace disco::bench {

/// What times are: of the wall, or of the processor divided by the number of
/// threads, which other programs on a shared machine change less.
enum class Clock { wall, cpu };

/// Measured rates of some threads together, for one element type of sums.
struct Machine {
  int threads = 1;
  Clock clock = Clock::wall;
  bool isDouble = false; ///< sums of f64, else of f32
  std::string isa, processor;
  double copyGbs = 0;    ///< read and written bytes of a large copy
  double fmaGflops = 0;  ///< independent multiply-adds in registers
  double gemmGflops = 0; ///< a conv of one tap and many channels
};

/// Errors: no memory, or no thread, for what is measured; what the kernels
/// refuse.
Result<Machine> measureMachine(int threads, bool isDouble, Clock clock);

/// Milliseconds of processor time of this thread, and of the whole process.
double threadCpuMs();
double processCpuMs();

} // namespace disco::bench

#endif // DISCO_TOOLS_DISCO_BENCH_MACHINE_H
