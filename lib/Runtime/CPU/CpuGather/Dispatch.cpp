//===- Dispatch.cpp - which instruction set to use ------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "../../Core/Internal.h"

#include <cstdlib>
#include <string_view>

namespace disco::cpu_gather {

namespace {

/// Made once, when it is first asked for.
struct Choice {
  const KernelSet *kernels;
  bool isKnown;   ///< what DISCO_CPU_ISA says
  char given[64]; ///< that, or its beginning
};

} // namespace

static const KernelSet &bestKernels([[maybe_unused]] std::string_view isa) {
#if defined(__x86_64__)
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

static const Choice &choice() {
  static const Choice made = [] {
    const char *text = std::getenv("DISCO_CPU_ISA");
    const std::string_view isa = text ? text : "";
    Choice c = {};
    c.kernels = &bestKernels(isa);
    c.isKnown =
        isa.empty() || isa == "baseline" || isa == "avx2" || isa == "avx512";
    isa.copy(c.given, sizeof c.given - 1);
    return c;
  }();
  return made;
}

const KernelSet &selectKernels() { return *choice().kernels; }

disco_status checkIsa() {
  if (choice().isKnown)
    return DISCO_OK;
  return runtime::fail(DISCO_INVALID_ARGUMENT,
                       "expected the environment variable DISCO_CPU_ISA to be "
                       "one of baseline, avx2, avx512, but got '%s'",
                       choice().given);
}

} // namespace disco::cpu_gather
