//===- Dispatch.cpp - which instruction set to use ------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <cstdlib>
#include <string_view>

namespace disco::cpu_gather {

static const KernelSet &bestKernels() {
#if defined(__x86_64__)
  const char *limit = std::getenv("DISCO_CPU_ISA");
  const std::string_view isa = limit ? limit : "";
  __builtin_cpu_init();
  if (isa != "baseline" && isa != "avx2" && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
    return kernelsAvx512;
  if (isa != "baseline" && __builtin_cpu_supports("avx2") &&
      __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
    return kernelsAvx2;
#endif
  return kernelsBaseline;
}

const KernelSet &selectKernels() {
  static const KernelSet &best = bestKernels();
  return best;
}

} // namespace disco::cpu_gather
