//===- Pool.h - what prepared calls share -----------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_CORE_POOL_H
#define DISCO_LIB_RUNTIME_CUDA_CORE_POOL_H

#include "../../Core/CudaLibrary.h"

#include <initializer_list>
#include <map>
#include <memory>
#include <vector>

/// What families made of psi, by psi and by what else it depends on. A family
/// has one type.
struct disco_prepare_pool {
public:
  using Key = std::vector<int64_t>;

  /// Null when there is none.
  template <typename T> const T *find(const Key &key) const {
    const auto found = made.find(key);
    return found == made.end() ? nullptr
                               : static_cast<const T *>(found->second.get());
  }
  template <typename T> void add(const Key &key, const T &value) {
    made[key] = std::make_shared<const T>(value);
  }

private:
  std::map<Key, std::shared_ptr<const void>> made;
};

namespace disco::cuda {

/// Of a family's name, psi with the addresses of its tables, and other numbers.
disco_prepare_pool::Key keyOf(const char *family, const disco_kernel_psi &psi,
                              std::initializer_list<int64_t> others);

} // namespace disco::cuda

#endif // DISCO_LIB_RUNTIME_CUDA_CORE_POOL_H
