//===- Families.cpp - the families with CUDA kernels ----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Family.h"

#include <iterator>

namespace disco::cuda {

static const Family *const families[] = {&csrGatherFamily,
                                         &toeplitzWgmmaFamily};

const Family *familyAt(int32_t index) {
  return index >= 0 && index < static_cast<int32_t>(std::size(families))
             ? families[index]
             : nullptr;
}

} // namespace disco::cuda
