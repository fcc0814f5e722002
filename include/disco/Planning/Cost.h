//===- Cost.h - what a schedule costs, and what bounds it -------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cost is a list of stages that run one after the other (kernels, or phases
// that cannot overlap). A stage counts what it does, and the target's rates
// turn counts into one time per bound class; the classes of a stage overlap,
// so that its time is the greatest of them:
//
//   predicted = sum over stages of max over classes
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_PLANNING_COST_H
#define DISCO_PLANNING_COST_H

#include "disco/Planning/Problem.h"
#include "disco/Planning/Target.h"

#include <array>
#include <string>
#include <vector>

namespace disco::planning {

/// What can bound a stage.
enum class BoundClass : uint8_t {
  dram,    // compulsory bytes over the bandwidth of device memory
  l2,      // requested bytes over the bandwidth of the shared cache
  lsu,     // L1 requests and shared-memory wavefronts
  tensor,  // issued FLOP of the tensor units, or their operands
  fma,     // issued FLOP of the vector units
  issue,   // instructions
  latency, // the longest dependent chain of one CTA, or the tail of waves
  launch   // launches
};
constexpr size_t numBoundClasses = 8;
std::string_view nameOf(BoundClass bound); // "dram", "lsu", ...

/// What a stage does on the whole machine. Doubles, exact up to 2^53.
struct Counts {
  /// Bytes that must cross device memory, each once.
  double dramReadBytes = 0, dramWriteBytes = 0;
  /// Bytes that the cores request from the shared cache, and write through it.
  double l2Bytes = 0;
  /// Wavefronts (or vector loads and stores) that loads and stores of global
  /// memory cost in L1, and that shared memory costs.
  double l1Requests = 0, smemWavefronts = 0;
  /// Useful: 2 for each (tap, k, field) and each mix. Padded: with the zeros
  /// that the shape of tiles adds. Issued: what the unit executes.
  double usefulFlop = 0, paddedFlop = 0, issuedFlop = 0;
  /// Matrix instructions, of warps or warpgroups.
  double tensorInstructions = 0;
  /// Instructions of warps (or of a vector core).
  double issueSlots = 0;
  /// Thread blocks (CPU: tasks), and how many a core holds at a time.
  double ctas = 1, ctasPerCore = 1;
  /// Waves: ctas over what the machine holds at a time, not rounded.
  double waves = 0;
  /// Work of the largest unit over the mean one.
  double tapImbalance = 1;
  double launches = 1;
  /// Per CTA.
  double smemBytes = 0, registersPerThread = 0, threads = 0;
};

struct Stage {
  std::string name; // "contraction", "einsum", "repack"
  Counts counts;
  std::array<double, numBoundClasses> microseconds{};

  double operator[](BoundClass bound) const {
    return microseconds[static_cast<size_t>(bound)];
  }
  double &operator[](BoundClass bound) {
    return microseconds[static_cast<size_t>(bound)];
  }
  /// The class with the greatest time (the first of equals), and that time.
  BoundClass bound() const;
  double predictedMicroseconds() const;
};

struct Cost {
  std::vector<Stage> stages;
  /// Workspace that the schedule needs besides inputs and outputs.
  double workspaceBytes = 0;

  double predictedMicroseconds() const;
  /// The class that binds for the greatest part of the predicted time.
  BoundClass bound() const;
  /// Predicted time over what it would be if the binding class were free; 1:
  /// another class is just behind.
  double margin() const;
  /// Sums over the stages; resources and shapes are those of the longest.
  Counts total() const;
};

/// One line a stage, and the total: "contraction: 812.4 us, lsu 812.4, ...".
std::string toString(const Cost &cost);

} // namespace disco::planning

#endif // DISCO_PLANNING_COST_H
