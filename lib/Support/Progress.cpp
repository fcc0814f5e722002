//===- Progress.cpp - progress of long work -------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Support/Progress.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>
#include <utility>

namespace disco {

Progress::Progress(std::string label, int64_t total)
    : label(std::move(label)), total(total),
      shown(::isatty(STDERR_FILENO) == 1) {
  draw();
}

Progress::~Progress() {
  if (shown)
    std::fprintf(stderr, "\r%*s\r", static_cast<int>(width), "");
}

void Progress::step() {
  ++done;
  draw();
}

void Progress::draw() {
  if (!shown)
    return;
  std::string text = label;
  if (total > 0)
    text += " " + std::to_string(done) + "/" + std::to_string(total);
  std::fprintf(stderr, "\r%s", text.c_str());
  std::fflush(stderr);
  width = std::max(width, text.size());
}

} // namespace disco
