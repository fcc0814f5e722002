//===- NpyFuzzer.cpp - fuzzes the .npy reader -----------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any bytes: parseNpy must return an array that agrees with its own header, or
// an error, and never read outside of them.
//
//===----------------------------------------------------------------------===//

#include "disco/Support/Npy.h"

#include <cstdlib>

using namespace disco;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char *>(data), size);
  Result<Array> array = parseNpy(bytes);
  if (!array) {
    if (array.message().empty())
      std::abort();
    return 0;
  }
  const auto elements = static_cast<size_t>(array->numElements());
  if (array->bytes.size() != elements * sizeOf(array->dtype))
    std::abort();
  for (size_t i = 0; i < elements; ++i)
    (void)array->at(static_cast<int64_t>(i));
  // What is complete is not complete without its last byte.
  if (parseNpy(bytes.substr(0, size - 1)).ok())
    std::abort();
  return 0;
}
