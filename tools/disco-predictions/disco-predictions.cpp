//===- disco-predictions.cpp - the table of predictions -------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints docs/generated/predictions.md: for the named layers on one chip, the
// kernels of torch-harmonics as predicted and as measured, and what each of our
// families is predicted to take. Not installed: the document is generated with
//
//   build/bin/disco-predictions > docs/generated/predictions.md
//
//===----------------------------------------------------------------------===//

#include "disco/Planning/Baselines.h"
#include "disco/Planning/Selection.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

using namespace disco;
using namespace disco::planning;

namespace {

struct Layer {
  const char *name;
  int64_t channels, outChannels, groups;
  const char *filter;
};

/// A kernel that was measured: milliseconds of each layer, in their order.
struct Measured {
  const char *name;
  DType dtype;
  Cost (*predict)(const Problem &, const Target &);
  /// Whether it is one of the contraction kernels that the models must hit.
  bool contraction;
  double milliseconds[7];
};

} // namespace

static const Layer layers[] = {
#define DISCO_LAYER(name, channels, outChannels, groups, filter)               \
  {#name, channels, outChannels, groups, filter},
#include "disco/Planning/Layers.def"
};

// One NVIDIA H200, CUDA 13.0, torch 2.11, batch 1, medians, cold L2.
static const Measured measured[] = {
    {"K-packed contraction",
     DType::bf16,
     harmonicsKPackedCost,
     true,
     {4.08, 8.09, 4.35, 27.0, 8.18, 361, 0.25}},
    {"CSR contraction",
     DType::bf16,
     harmonicsCsrCost,
     true,
     {6.52, 12.9, 9.16, 53.1, 16.5, 626, 0.51}},
    {"CSR contraction",
     DType::f32,
     harmonicsCsrCost,
     true,
     {6.01, 11.9, 12.9, 48.0, 23.6, 622, 0.47}},
    {"CSR transpose",
     DType::f32,
     harmonicsCsrTransposeCost,
     true,
     {10.1, 20.1, 16.7, 88.9, 30.2, 1168, 0.64}},
    {"einsum",
     DType::bf16,
     harmonicsEinsumCost,
     false,
     {0.45, 1.60, 0.30, 12.6, 2.12, 9.6, 0.03}},
};
/// The row of the chip that they were measured on.
constexpr std::string_view measuredOn = "h200";
static_assert(std::size(measured[0].milliseconds) == std::size(layers),
              "a measurement for each layer");

static Problem problemOf(const Layer &layer) {
  Result<filter::SphereFilter> filter = filter::parseSphereFilter(layer.filter);
  Result<Problem> problem = filter ? makeSphereProblem(DISCO_OP_CONV, *filter)
                                   : Result<Problem>(filter.error());
  if (!problem) {
    std::fprintf(stderr, "disco-predictions: error: %s: %s\n", layer.name,
                 problem.message().c_str());
    std::exit(1);
  }
  problem->channels = layer.channels;
  problem->out_channels = layer.outChannels;
  problem->groups = layer.groups;
  return *problem;
}

static Problem withDType(Problem problem, DType dtype) {
  problem.dtype = problem.parameter_dtype = static_cast<int32_t>(dtype);
  return problem;
}

/// The contraction alone of a layer's conv.
static Problem contractOf(Problem problem) {
  problem.op = DISCO_OP_CONTRACT;
  problem.out_channels = problem.channels;
  problem.groups = 1;
  return problem;
}

/// "12.3": three significant digits.
static std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value >= 100 ? "%.0f" : "%.3g", value);
  return text;
}

static void printBaselines(const std::vector<Problem> &problems,
                           const Target &target) {
  std::printf("## torch-harmonics: predicted and measured\n\n");
  if (target.name != measuredOn) {
    std::printf("There are measurements for %s only.\n\n",
                std::string(measuredOn).c_str());
    return;
  }
  std::printf("| layer | kernel | dtype | predicted ms | measured ms | ratio | "
              "bound by |\n|---|---|---|---|---|---|---|\n");
  int within = 0, all = 0;
  std::string off;
  for (size_t i = 0; i < problems.size(); ++i)
    for (const Measured &kernel : measured) {
      Problem p = withDType(problems[i], kernel.dtype);
      Cost cost =
          kernel.predict(kernel.contraction ? contractOf(p) : p, target);
      const double predicted = cost.predictedMicroseconds() / 1000;
      const double ratio = predicted / kernel.milliseconds[i];
      const bool hit = ratio >= 0.5 && ratio <= 2;
      const std::string_view dtype = nameOf(kernel.dtype);
      const std::string_view bound = nameOf(cost.bound());
      std::printf("| %s | %s | %.*s | %s | %s | %.2f%s | %.*s |\n",
                  layers[i].name, kernel.name, static_cast<int>(dtype.size()),
                  dtype.data(), digits(predicted).c_str(),
                  digits(kernel.milliseconds[i]).c_str(), ratio,
                  hit ? "" : " (off)", static_cast<int>(bound.size()),
                  bound.data());
      if (!kernel.contraction)
        continue;
      ++all;
      within += hit;
      if (!hit)
        off += (off.empty() ? "" : ", ") + std::string(layers[i].name) + " " +
               kernel.name + " " + std::string(dtype);
    }
  std::printf("\nContraction kernels within a factor of 2: %d of %d%s%s.\n\n",
              within, all, off.empty() ? "" : "; off: ", off.c_str());
  std::printf(
      "Why rows are off:\n\n"
      "- deg1, CSR: on this small grid a CTA has a dozen taps a ring, and the "
      "wait for each ring\n  is not hidden as the model assumes.\n"
      "- einsum of encoder: 65 products of 12 x 9 matrices. Rows of 9 "
      "elements (18 B) are not\n  aligned to 16 B, so that the library's fast "
      "kernels do not apply; the model pads them\n  to a tensor tile and runs "
      "at its rate.\n"
      "- einsum of local828: the reduction of 7452 elements (14904 B) is not "
      "aligned to 16 B\n  either. With 832 channels the same product takes "
      "4.0 to 4.3 ms, as predicted.\n\n"
      "There are no measurements in f16; its predictions are those of "
      "bf16.\n\n");
}

static void printFamilies(const std::vector<Problem> &problems,
                          const Target &target) {
  std::printf(
      "## The families: whole layers, forward\n\n"
      "Best schedule of each (family, order), milliseconds, activations in "
      "nchw (a family on c8 pays for\nits two repacks). The winner is bold. "
      "\"rule n\" is the rule that refuses.\n\n"
      "| layer | dtype | family | filter_first | weight_first | bound by |\n"
      "|---|---|---|---|---|---|\n");
  SelectionOptions options;
  options.includePlanned = true;
  for (size_t i = 0; i < problems.size(); ++i)
    for (DType dtype : {DType::bf16, DType::f16, DType::f32}) {
      Problem p = withDType(problems[i], dtype);
      Result<Selection> best = select(p, target, options);
      for (const Family &family : families()) {
        std::string cells[DISCO_NUM_ORDERS];
        std::string bound = "-";
        double least = 0;
        for (int32_t order = 0; order < DISCO_NUM_ORDERS; ++order) {
          options.family = family.name;
          options.order = order;
          Result<Selection> selection = select(p, target, options);
          options.family.clear();
          options.order.reset();
          if (!selection) {
            const std::string &message = selection.message();
            size_t rule = message.find("rule ");
            cells[order] =
                rule == message.npos
                    ? message
                    : message.substr(rule, message.find(':', rule) - rule);
            continue;
          }
          const double us = selection->winner.microseconds();
          const bool wins = best && best->winner.family == &family &&
                            best->winner.schedule.order == order;
          cells[order] =
              wins ? "**" + digits(us / 1000) + "**" : digits(us / 1000);
          if (least == 0 || us < least) {
            least = us;
            bound = nameOf(selection->winner.cost.bound());
          }
        }
        std::printf("| %s | %s | %s | %s | %s | %s |\n", layers[i].name,
                    std::string(nameOf(dtype)).c_str(), family.name,
                    cells[0].c_str(), cells[1].c_str(), bound.c_str());
      }
    }
}

int main(int argc, char **argv) {
  if (argc > 2 || (argc == 2 && !std::strcmp(argv[1], "--help"))) {
    std::printf("usage: disco-predictions [TARGET]\n\nPrints the table of "
                "predictions as Markdown (default target: h200).\n");
    return argc > 2;
  }
  Result<Target> target = lookupTarget(argc == 2 ? argv[1] : "h200");
  if (!target) {
    std::fprintf(stderr, "disco-predictions: error: %s\n",
                 target.message().c_str());
    return 1;
  }
  std::vector<Problem> problems;
  for (const Layer &layer : layers)
    problems.push_back(problemOf(layer));
  std::printf("# Predictions for %s\n\nGenerated by disco-predictions; do not "
              "edit. Every predicted figure is tagged `model`: counts of "
              "[CostModel](../CostModel.md)\nover the rates of the chip table. "
              "Layers are those of include/disco/Planning/Layers.def, batch 1. "
              "Measured figures: one\nNVIDIA H200, CUDA 13.0, torch 2.11, "
              "torch-harmonics of August 2026, medians, cold L2.\n\n",
              target->summary.c_str());
  printBaselines(problems, *target);
  printFamilies(problems, *target);
  return 0;
}
