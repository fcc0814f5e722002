//===- Walkthrough.cpp - walkthroughs as Markdown and JSON, disco-explain -===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Walkthrough.h"
#include "PlanChecks.h"
#include "disco/Transforms/Passes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/ToolOutputFile.h"

#include <cmath>

namespace mlir::disco {
#define GEN_PASS_DEF_EXPLAINPASS
#include "disco/Transforms/Passes.h.inc"
} // namespace mlir::disco

using namespace mlir;
using namespace mlir::disco;
namespace planning = ::disco::planning;

StringRef mlir::disco::nameOf(Provenance provenance) {
  constexpr StringLiteral names[] = {"exact", "model", "toolchain", "measured"};
  return names[static_cast<unsigned>(provenance)];
}

/// Whole numbers below 10000 in full, others with three digits or four and a
/// decimal prefix.
static std::string formatScaled(double value, StringRef unit) {
  constexpr StringLiteral prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t scale = 0;
  bool isSmall = value < 10000 && value == std::floor(value);
  while (!isSmall && value >= 999.5 && scale + 1 < std::size(prefixes)) {
    value /= 1000;
    ++scale;
  }
  std::string digits = isSmall       ? llvm::formatv("{0:F0}", value).str()
                       : value < 10  ? llvm::formatv("{0:F2}", value).str()
                       : value < 100 ? llvm::formatv("{0:F1}", value).str()
                                     : llvm::formatv("{0:F0}", value).str();
  std::string suffix = prefixes[scale].str() + unit.str();
  return suffix.empty() ? digits : digits + " " + suffix;
}

std::string Figure::format() const {
  if (text)
    return *text;
  // Times are not scaled: they are compared with each other.
  if (unit == "us")
    return llvm::formatv(value < 10000 ? "{0:F1} us" : "{0:F1} us ({1:F0} ms)",
                         value, value / 1000)
        .str();
  return formatScaled(value, unit);
}

//===----------------------------------------------------------------------===//
// Markdown
//===----------------------------------------------------------------------===//

static void printFigures(ArrayRef<Figure> figures, raw_ostream &os) {
  if (figures.empty())
    return;
  os << "| what | value | from |\n|---|---|---|\n";
  for (const Figure &figure : figures)
    os << "| " << figure.name << " | " << figure.format() << " | "
       << nameOf(figure.provenance) << " |\n";
  os << '\n';
}

static void printBlock(const PageBlock &block, raw_ostream &os) {
  if (!block.heading.empty())
    os << "### " << block.heading << "\n\n";
  for (const std::string &line : block.lines)
    os << "- " << line << '\n';
  if (!block.lines.empty())
    os << '\n';
  printFigures(block.figures, os);
  if (!block.drawing.empty())
    os << "```\n" << block.drawing << "```\n\n";
}

void mlir::disco::printMarkdown(ArrayRef<Walkthrough> pages, raw_ostream &os) {
  for (const Walkthrough &page : pages) {
    os << "# " << page.title << "\n\n";
    printFigures(page.header, os);
    for (auto [index, section] : llvm::enumerate(page.sections)) {
      os << "## " << index + 1 << ". " << section.title << "\n\n";
      for (const PageBlock &block : section.blocks)
        printBlock(block, os);
    }
  }
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void printFigures(ArrayRef<Figure> figures, llvm::json::OStream &json) {
  json.attributeArray("figures", [&] {
    for (const Figure &figure : figures)
      json.object([&] {
        json.attribute("name", figure.name);
        if (figure.text) {
          json.attribute("text", *figure.text);
        } else {
          json.attribute("value", figure.value);
          json.attribute("unit", figure.unit);
        }
        json.attribute("from", nameOf(figure.provenance));
      });
  });
}

static void printBlock(const PageBlock &block, llvm::json::OStream &json) {
  if (!block.heading.empty())
    json.attribute("heading", block.heading);
  if (!block.lines.empty())
    json.attributeArray("lines", [&] {
      for (const std::string &line : block.lines)
        json.value(line);
    });
  if (!block.figures.empty())
    printFigures(block.figures, json);
  if (!block.drawing.empty())
    json.attribute("drawing", block.drawing);
}

void mlir::disco::printJson(ArrayRef<Walkthrough> pages, raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.array([&] {
    for (const Walkthrough &page : pages)
      json.object([&] {
        json.attribute("title", page.title);
        printFigures(page.header, json);
        json.attributeArray("sections", [&] {
          for (const WalkthroughSection &section : page.sections)
            json.object([&] {
              json.attribute("title", section.title);
              json.attributeArray("blocks", [&] {
                for (const PageBlock &block : section.blocks)
                  json.object([&] { printBlock(block, json); });
              });
            });
        });
      });
  });
  os << '\n';
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ExplainPass : public mlir::disco::impl::ExplainPassBase<ExplainPass> {
  using ExplainPassBase::ExplainPassBase;

  void runOnOperation() override {
    SmallVector<Walkthrough> pages;
    if (format != "md" && format != "json") {
      getOperation().emitOpError()
          << "expected format to be md or json, but got " << format;
      return signalPassFailure();
    }
    if (output.empty()) {
      getOperation().emitOpError()
          << "expected output to be the name of a file or -, but got ''";
      return signalPassFailure();
    }
    if (failed(collect(pages)) || failed(write(pages)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  LogicalResult collect(SmallVectorImpl<Walkthrough> &pages);
  FailureOr<Walkthrough> explainOne(ContractionOpInterface op, PlanAttr plan,
                                    const planning::Target &chip);
  LogicalResult write(ArrayRef<Walkthrough> pages);
};
} // namespace

FailureOr<Walkthrough> ExplainPass::explainOne(ContractionOpInterface op,
                                               PlanAttr plan,
                                               const planning::Target &chip) {
  auto &problems = getAnalysis<ProblemBuilder>();
  if (failed(mlir::disco::checkPlan(op, plan, chip, problems, includePlanned)))
    return failure();
  FailureOr<planning::Problem> problem =
      problems.build(op, getAssumedBatch(plan));
  if (failed(problem))
    return failure();
  planning::SelectionOptions options;
  options.includePlanned = includePlanned;
  ::disco::Result<planning::Selection> selection =
      planning::select(*problem, chip, options);
  if (!selection)
    return op->emitOpError() << selection.message();
  planning::Cost cost =
      plan.getKernelFamily().impl->cost(*problem, chip, plan.toSchedule());
  return explain({op, plan, chip, *problem, *selection, std::move(cost)});
}

LogicalResult ExplainPass::collect(SmallVectorImpl<Walkthrough> &pages) {
  FailureOr<std::vector<TargetScope>> scopes =
      resolveTargets(getOperation(), target, overrides);
  if (failed(scopes))
    return failure();
  unsigned numPlanned = 0;
  for (TargetScope &scope : *scopes)
    for (ContractionOpInterface op : scope.ops) {
      auto plan = op->getAttrOfType<PlanAttr>("plan");
      if (!plan)
        continue;
      ++numPlanned;
      if (!kernel.empty() && kernel != plan.getFamily() &&
          kernel != getKernelSymbol(plan))
        continue;
      FailureOr<Walkthrough> page = explainOne(op, plan, scope.chip);
      if (failed(page))
        return failure();
      pages.push_back(std::move(*page));
    }
  if (pages.empty() && numPlanned)
    return getOperation().emitOpError()
           << "expected an operation with a plan to run the kernel " << kernel
           << ", but got none of " << numPlanned;
  if (pages.empty())
    return getOperation().emitOpError()
           << "expected at least 1 operation with a plan, but got 0: run "
              "disco-select-kernel first";
  return success();
}

LogicalResult ExplainPass::write(ArrayRef<Walkthrough> pages) {
  auto print = [&](raw_ostream &os) {
    if (format == "json")
      printJson(pages, os);
    else
      printMarkdown(pages, os);
  };
  if (output == "-") {
    print(llvm::errs());
    return success();
  }
  std::error_code error;
  llvm::ToolOutputFile file(output, error, llvm::sys::fs::OF_Text);
  if (!error) {
    print(file.os());
    file.os().flush();
    error = file.os().error();
    file.os().clear_error();
  }
  if (error)
    return getOperation().emitOpError() << "expected to write " << output
                                        << ", but got: " << error.message();
  file.keep();
  return success();
}
