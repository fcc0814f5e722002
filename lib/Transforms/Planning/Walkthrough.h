//===- Walkthrough.h - the pages of disco-explain ---------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A walkthrough is data: sections of figures, lines and drawings. Markdown and
// JSON are two ways to print it, so that they say the same.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_TRANSFORMS_PLANNING_WALKTHROUGH_H
#define DISCO_LIB_TRANSFORMS_PLANNING_WALKTHROUGH_H

#include "disco/Dialect/Disco/Disco.h"
#include "disco/Planning/Selection.h"

#include <optional>

namespace mlir::disco {

/// Where a figure is from.
enum class Provenance { exact, model, toolchain, measured };
StringRef nameOf(Provenance provenance);

/// A number with its unit ("B", "FLOP", "us", "" for counts), or a text.
struct Figure {
  std::string name;
  double value = 0;
  std::string unit;
  Provenance provenance = Provenance::exact;
  /// Set for texts; `value` and `unit` do not count then.
  std::optional<std::string> text;

  /// "265.4 MB", "1.19 GFLOP", "812.4 us".
  std::string format() const;
};

/// What a section holds, in order: a heading of its own, lines, figures, and a
/// drawing in a fixed font. Any may be empty.
struct PageBlock {
  std::string heading;
  std::vector<std::string> lines;
  std::vector<Figure> figures;
  std::string drawing;
};

struct WalkthroughSection {
  std::string title;
  std::vector<PageBlock> blocks;
};

struct Walkthrough {
  std::string title;
  std::vector<Figure> header;
  std::vector<WalkthroughSection> sections;
};

/// What a walkthrough is made from.
struct Explained {
  /// Interfaces of MLIR have no const members.
  mutable ContractionOpInterface op;
  PlanAttr plan;
  const ::disco::planning::Target &target;
  ::disco::planning::Problem problem;
  /// What would be chosen, and why all else was not.
  ::disco::planning::Selection selection;
  /// The cost of the plan's schedule.
  ::disco::planning::Cost cost;
};

Walkthrough explain(const Explained &explained);

/// The symbol of the runtime's kernel that a plan runs: disco_<family>_run, as
/// disco/ABI/Kernel.h says; empty where code is generated or none exists.
std::string getKernelSymbol(PlanAttr plan);

void printMarkdown(ArrayRef<Walkthrough> pages, raw_ostream &os);
void printJson(ArrayRef<Walkthrough> pages, raw_ostream &os);

} // namespace mlir::disco

#endif // DISCO_LIB_TRANSFORMS_PLANNING_WALKTHROUGH_H
