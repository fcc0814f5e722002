//===- Progress.h - progress of long work -----------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One line on standard error that says how far long work has come. Nothing is
// written where standard error is not a terminal.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_SUPPORT_PROGRESS_H
#define DISCO_SUPPORT_PROGRESS_H

#include <cstdint>
#include <string>

namespace disco {

/// Shows "label 3/10" while it lives, and removes the line at the end.
class Progress {
public:
  /// `total` is the number of steps; 0 shows the label alone.
  explicit Progress(std::string label, int64_t total = 0);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// One more step is done.
  void step();

private:
  void draw();

  std::string label;
  int64_t total, done = 0;
  bool shown;
  size_t width = 0;
};

} // namespace disco

#endif // DISCO_SUPPORT_PROGRESS_H
