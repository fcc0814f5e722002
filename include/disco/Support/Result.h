//===- Result.h - a value or an error message -------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a function of the LLVM-free libraries returns when it can fail: the
// value, or a message in the style of the project's diagnostics (lower case,
// no final stop, "expected X to be Y, but got Z").
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_SUPPORT_RESULT_H
#define DISCO_SUPPORT_RESULT_H

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace disco {

/// Why something failed.
struct Error {
  std::string message;
};

/// A `T`, or the `Error` that says why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : storage(std::move(value)) {}
  Result(Error error) : storage(std::move(error)) {}

  bool ok() const { return storage.index() == 0; }
  explicit operator bool() const { return ok(); }

  T &operator*() {
    assert(ok());
    return *std::get_if<0>(&storage);
  }
  const T &operator*() const {
    assert(ok());
    return *std::get_if<0>(&storage);
  }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }

  /// The message of a failed result.
  const std::string &message() const {
    assert(!ok());
    return std::get_if<1>(&storage)->message;
  }
  Error error() const { return Error{message()}; }

private:
  std::variant<T, Error> storage;
};

/// Success, or the reason of a failure, for functions without a value.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Error error) : failure(std::move(error.message)), failed(true) {}

  bool ok() const { return !failed; }
  explicit operator bool() const { return ok(); }
  const std::string &message() const { return failure; }
  Error error() const { return Error{failure}; }

private:
  std::string failure;
  bool failed = false;
};

} // namespace disco

#endif // DISCO_SUPPORT_RESULT_H
