//===- Pool.cpp - what prepared calls share -------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pool.h"

disco_prepare_pool::Key
disco::cuda::keyOf(const char *family, const disco_kernel_psi &psi,
                   std::initializer_list<int64_t> others) {
  const auto address = [](const void *pointer) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(pointer));
  };
  disco_prepare_pool::Key key = {psi.form,
                                 psi.adjoint,
                                 psi.index_dtype,
                                 psi.value_dtype,
                                 psi.num_basis,
                                 psi.nlat_in,
                                 psi.nlon_in,
                                 psi.nlat_out,
                                 psi.nlon_out,
                                 psi.num_arcs,
                                 psi.num_taps,
                                 psi.degree,
                                 address(psi.offsets),
                                 address(psi.indices),
                                 address(psi.values)};
  key.insert(key.end(), others);
  for (; *family; ++family)
    key.push_back(*family);
  return key;
}
