//===- HostTensor.h - constant tensors in and out of attributes -*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Filters have millions of values: they reach the IR as resource blobs, never
// as attributes that store one element at a time.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_TRANSFORMS_MATERIALIZE_HOSTTENSOR_H
#define DISCO_LIB_TRANSFORMS_MATERIALIZE_HOSTTENSOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <vector>

namespace mlir::disco {

/// A dense row-major tensor of indices or of float64 values.
struct HostTensor {
  SmallVector<int64_t> shape;
  bool isFloat = false;
  std::vector<int64_t> indices;
  std::vector<double> values;

  static HostTensor ofIndices(ArrayRef<int64_t> shape,
                              std::vector<int64_t> indices) {
    return {SmallVector<int64_t>(shape), false, std::move(indices), {}};
  }
  static HostTensor ofValues(ArrayRef<int64_t> shape,
                             std::vector<double> values) {
    return {SmallVector<int64_t>(shape), true, {}, std::move(values)};
  }
};

/// The constant that `value` is, if it is one of i32, i64 or float elements.
std::optional<HostTensor> readConstant(Value value);

/// The elements of the constant that `value` is, or that a conversion of the
/// elements of one, as a linalg.generic, gives: dense, in its own type.
std::optional<std::vector<char>> readConstantBytes(Value value);

/// `tensor` as a resource of `element`: i32 or i64 for indices, a float type,
/// to which values are rounded once, for values. The key is a hash of type and
/// content, so that equal tensors are one attribute. The number of
/// elements must not be 0. Adds the size of new content to `bytes`.
TypedAttr makeConstant(const HostTensor &tensor, Type element, uint64_t &bytes);

} // namespace mlir::disco

#endif // DISCO_LIB_TRANSFORMS_MATERIALIZE_HOSTTENSOR_H
