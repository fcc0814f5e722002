//===- TableValues.h - writing the values of tables -------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_CSRGATHER_TABLEVALUES_H
#define DISCO_LIB_RUNTIME_CUDA_CSRGATHER_TABLEVALUES_H

#include "Lattice.h"

#include <cstring>

namespace disco::cuda::csr {

/// Appends `count` zeros of the type of sums, and says where.
inline int64_t grow(std::vector<char> &values, int64_t count, SumType type) {
  const int64_t at = static_cast<int64_t>(values.size()) / sizeOfSum(type);
  values.resize(values.size() + count * sizeOfSum(type));
  return at;
}

inline void put(std::vector<char> &values, int64_t at, SumType type,
                double value) {
  if (type == SumType::f64) {
    std::memcpy(values.data() + at * 8, &value, 8);
    return;
  }
  const auto narrow = static_cast<float>(value);
  std::memcpy(values.data() + at * 4, &narrow, 4);
}

} // namespace disco::cuda::csr

#endif // DISCO_LIB_RUNTIME_CUDA_CSRGATHER_TABLEVALUES_H
