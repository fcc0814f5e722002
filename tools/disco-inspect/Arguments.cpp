//===- Arguments.cpp - command line of disco-inspect ----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include <algorithm>
#include <charconv>

using namespace disco;
using namespace disco::inspect;

std::string Arguments::get(const std::string &name) const {
  auto it = options.find(name);
  return it == options.end() ? std::string() : it->second;
}

Result<int64_t> Arguments::getIndex(const std::string &name,
                                    int64_t fallback) const {
  auto it = options.find(name);
  if (it == options.end())
    return fallback;
  const std::string &text = it->second;
  int64_t value = 0;
  const char *end = text.data() + text.size();
  auto [next, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || next != end || value < 0)
    return Error{"expected " + name +
                 " to be an integer of at least 0, but "
                 "got '" +
                 text + "'"};
  return value;
}

static bool contains(const std::vector<std::string> &names,
                     const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Result<Arguments>
disco::inspect::parseArguments(const std::vector<std::string> &words,
                               const std::vector<std::string> &valued,
                               const std::vector<std::string> &flags) {
  Arguments arguments;
  bool onlyOperands = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string &word = words[i];
    if (onlyOperands || word.size() < 2 || word[0] != '-') {
      arguments.operands.push_back(word);
      continue;
    }
    if (word == "--") {
      onlyOperands = true;
      continue;
    }
    size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    std::string value;
    if (contains(flags, name)) {
      if (equals != std::string::npos)
        return Error{"expected " + name + " to have no value, but got '" +
                     word.substr(equals + 1) + "'"};
    } else if (!contains(valued, name)) {
      return Error{"unknown option '" + name + "'"};
    } else if (equals != std::string::npos) {
      value = word.substr(equals + 1);
    } else if (i + 1 < words.size()) {
      value = words[++i];
    } else {
      return Error{"expected " + name + " to have a value, but got none"};
    }
    if (!arguments.options.emplace(name, value).second)
      return Error{"expected " + name + " once, but got it twice"};
  }
  return arguments;
}
