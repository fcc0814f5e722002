//===- Cost.cpp - what a schedule costs, and what bounds it ---------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Planning/Cost.h"

#include <algorithm>
#include <cstdio>

using namespace disco;
using namespace disco::planning;

std::string_view planning::nameOf(BoundClass bound) {
  static const std::string_view names[numBoundClasses] = {
      "dram", "l2", "lsu", "tensor", "fma", "issue", "latency", "launch"};
  return names[static_cast<size_t>(bound)];
}

BoundClass Stage::bound() const {
  auto greatest = std::max_element(microseconds.begin(), microseconds.end());
  return static_cast<BoundClass>(greatest - microseconds.begin());
}

double Stage::predictedMicroseconds() const {
  return microseconds[static_cast<size_t>(bound())];
}

double Cost::predictedMicroseconds() const {
  double sum = 0;
  for (const Stage &stage : stages)
    sum += stage.predictedMicroseconds();
  return sum;
}

BoundClass Cost::bound() const {
  std::array<double, numBoundClasses> sums{};
  for (const Stage &stage : stages)
    sums[static_cast<size_t>(stage.bound())] += stage.predictedMicroseconds();
  auto greatest = std::max_element(sums.begin(), sums.end());
  return static_cast<BoundClass>(greatest - sums.begin());
}

double Cost::margin() const {
  const BoundClass binding = bound();
  double without = 0;
  for (Stage stage : stages) {
    stage[binding] = 0;
    without += stage.predictedMicroseconds();
  }
  return without > 0 ? predictedMicroseconds() / without : 1;
}

Counts Cost::total() const {
  Counts sum;
  sum.launches = 0;
  const Stage *longest = nullptr;
  for (const Stage &stage : stages) {
    const Counts &c = stage.counts;
    sum.dramReadBytes += c.dramReadBytes;
    sum.dramWriteBytes += c.dramWriteBytes;
    sum.l2Bytes += c.l2Bytes;
    sum.l1Requests += c.l1Requests;
    sum.smemWavefronts += c.smemWavefronts;
    sum.usefulFlop += c.usefulFlop;
    sum.paddedFlop += c.paddedFlop;
    sum.issuedFlop += c.issuedFlop;
    sum.tensorInstructions += c.tensorInstructions;
    sum.issueSlots += c.issueSlots;
    sum.launches += c.launches;
    if (!longest ||
        stage.predictedMicroseconds() > longest->predictedMicroseconds())
      longest = &stage;
  }
  if (!longest)
    return sum;
  const Counts &c = longest->counts;
  sum.ctas = c.ctas;
  sum.ctasPerCore = c.ctasPerCore;
  sum.waves = c.waves;
  sum.tapImbalance = c.tapImbalance;
  sum.smemBytes = c.smemBytes;
  sum.registersPerThread = c.registersPerThread;
  sum.threads = c.threads;
  return sum;
}

std::string planning::toString(const Cost &cost) {
  std::string text;
  char buffer[96];
  for (const Stage &stage : cost.stages) {
    std::snprintf(buffer, sizeof buffer, ": %.1f us, bound by ",
                  stage.predictedMicroseconds());
    text += stage.name + buffer + std::string(nameOf(stage.bound())) + " (";
    const char *separator = "";
    for (size_t i = 0; i < numBoundClasses; ++i) {
      if (stage.microseconds[i] == 0)
        continue;
      std::snprintf(buffer, sizeof buffer, " %.1f", stage.microseconds[i]);
      text +=
          separator + std::string(nameOf(static_cast<BoundClass>(i))) + buffer;
      separator = ", ";
    }
    text += ")\n";
  }
  std::snprintf(buffer, sizeof buffer, "total: %.1f us, bound by ",
                cost.predictedMicroseconds());
  text += buffer + std::string(nameOf(cost.bound()));
  std::snprintf(buffer, sizeof buffer, ", margin %.2f\n", cost.margin());
  return text + buffer;
}
