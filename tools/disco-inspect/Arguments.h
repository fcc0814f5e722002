//===- Arguments.h - command line of disco-inspect --------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TOOLS_INSPECT_ARGUMENTS_H
#define DISCO_TOOLS_INSPECT_ARGUMENTS_H

#include "disco/Support/Result.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace disco::inspect {

/// "--name VALUE", "--name=VALUE" or "--flag", anywhere among the operands;
/// after "--" everything is an operand.
struct Arguments {
  std::vector<std::string> operands;
  std::map<std::string, std::string> options;

  bool has(const std::string &name) const { return options.count(name) != 0; }
  /// Empty when absent.
  std::string get(const std::string &name) const;
  /// An integer of at least 0; `fallback` when absent.
  Result<int64_t> getIndex(const std::string &name, int64_t fallback) const;
};

/// The names are spelled with their dashes. Errors: an unknown or repeated
/// option, a missing value, or a value given to a flag.
Result<Arguments> parseArguments(const std::vector<std::string> &words,
                                 const std::vector<std::string> &valued,
                                 const std::vector<std::string> &flags);

} // namespace disco::inspect

#endif // DISCO_TOOLS_INSPECT_ARGUMENTS_H
