//===- Npy.h - .npy files ---------------------------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Little-endian, C-order .npy arrays of the types in DType.h. bfloat16, which
// numpy does not know, is written as `|V2` and read from `|V2` or `<u2`.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_SUPPORT_NPY_H
#define DISCO_SUPPORT_NPY_H

#include "disco/Support/AtomicFile.h"
#include "disco/Support/DType.h"
#include "disco/Support/Result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace disco {

/// A dense row-major array that owns its bytes.
struct Array {
  DType dtype = DType::f64;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  int64_t numElements() const;
  double at(int64_t index) const {
    return loadAsDouble(bytes.data(), dtype, index);
  }
  void set(int64_t index, double value) {
    storeFromDouble(bytes.data(), dtype, index, value);
  }
  /// Zero-filled; an error when the size overflows or memory is missing.
  static Result<Array> create(DType dtype, std::vector<int64_t> shape);
};

/// "2x3xf32", for messages.
std::string describe(DType dtype, const std::vector<int64_t> &shape);

/// Parses the content of a .npy file (versions 1 to 3). Any header that lies
/// about its length, type, order or size is an error; never reads past `bytes`.
Result<Array> parseNpy(std::string_view bytes);
Result<Array> readNpy(const std::string &path);

/// Writes an array to a file that appears at `path` once it is committed.
Result<AtomicFile> stageNpy(const std::string &path, const Array &array);

/// Writes to a temporary file beside `path` and renames it, so that a failure
/// leaves nothing half written.
Status writeNpy(const std::string &path, const Array &array);

} // namespace disco

#endif // DISCO_SUPPORT_NPY_H
