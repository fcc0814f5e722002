//===- Problems.h - what is measured ----------------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TOOLS_DISCO_BENCH_PROBLEMS_H
#define DISCO_TOOLS_DISCO_BENCH_PROBLEMS_H

#include "disco/Planning/Problem.h"
#include "disco/Runtime/KernelCall.h"
#include "disco/Runtime/Operator.h"

#include <optional>
#include <string>
#include <vector>

namespace disco::bench {

/// A layer by name: a filter on the sphere, or a table of nearest neighbours.
struct NamedLayer {
  std::string name;
  /// Empty for a table.
  std::string filter;
  int64_t channels, outChannels, groups;
  /// Of a table: points of a spiral on the sphere, neighbours of each, K.
  int64_t numIn = 0, numOut = 0, degree = 0, numBasis = 0;
};

const std::vector<NamedLayer> &namedLayers();

enum class Direction { contract, contractSum, conv, inputGrad, weightGrad };
std::optional<Direction> parseDirection(std::string_view name);
std::string_view nameOf(Direction direction);

struct Settings {
  Direction direction = Direction::conv;
  DType dtype = DType::f32;
  int64_t batch = 1;
  int threads = 0;
  std::optional<int32_t> order;
  int64_t tile = 0, channelBlock = 0;
};

/// psi as the kernels, as the reference and as planning see it; the problems
/// have the filter only.
struct LayerPsi {
  PsiTables tables, adjointTables;
  reference::Operator op, adjointOp;
  planning::Problem problem, adjointProblem;
};
/// Values of psi are f64 for f64 and else f32.
Result<LayerPsi> buildPsi(const NamedLayer &layer, DType dtype);

/// A call and what it costs.
struct Work {
  int32_t op = 0, order = 0;
  const PsiTables *tables = nullptr;
  const reference::Operator *psi = nullptr; ///< that the call applies
  int64_t batch = 1, channels = 0, outChannels = 0, groups = 1;
  bool transposeWeight = false;
  std::vector<int64_t> xShape, gyShape, weightShape, yShape;
  /// Multiplications and additions of the filter, and of the channel mix.
  double filterFlop = 0, mixFlop = 0;
  /// Read and written once.
  double bytes = 0;
};
Work makeWork(const NamedLayer &layer, const LayerPsi &psi,
              const Settings &settings);

} // namespace disco::bench

#endif // DISCO_TOOLS_DISCO_BENCH_PROBLEMS_H
