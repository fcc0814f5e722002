//===- Machine.h - what the machine can do ----------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TOOLS_DISCO_BENCH_MACHINE_H
#define DISCO_TOOLS_DISCO_BENCH_MACHINE_H

#include <string>

namespace disco::bench {

/// Measured rates of some threads together, for one element type of sums.
struct Machine {
  int threads = 1;
  std::string isa, processor;
  double copyGbs = 0;    ///< read and written bytes of a large copy
  double fmaGflops = 0;  ///< independent multiply-adds in registers
  double gemmGflops = 0; ///< a conv of one tap and many channels
};

Machine measureMachine(int threads, bool isDouble);


} // namespace disco::bench

#endif // DISCO_TOOLS_DISCO_BENCH_MACHINE_H
