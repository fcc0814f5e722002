//===- ErrorText.h - the last error of a thread -----------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libdisco_runtime and libdisco_runtime_cuda have one each: neither links with
// the other.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CORE_ERRORTEXT_H
#define DISCO_LIB_RUNTIME_CORE_ERRORTEXT_H

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace disco::runtime {

/// A plain array: no allocation that could fail, and nothing to destroy.
struct ErrorText {
  char text[2048];

  void format(const char *format, va_list arguments) {
    // An argument may be the old text itself.
    char made[sizeof text];
    std::vsnprintf(made, sizeof made, format, arguments);
    std::memcpy(text, made, sizeof made);
  }
};

} // namespace disco::runtime

#endif // DISCO_LIB_RUNTIME_CORE_ERRORTEXT_H
