//===- KernelsAvx512.cpp - the inner loops for one instruction set ------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelsImpl.h"

#include "disco/ABI/disco.h"

constexpr disco::cpu_gather::KernelSet disco::cpu_gather::kernelsAvx512 = {
    "avx512", DISCO_ISA::makeKernels<float>(),
    DISCO_ISA::makeKernels<double>()};
