//===- ProblemBuilder.h - planning problems of operations -------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a contraction into the plain data that rules and costs are functions
// of. Counting the taps of a filter takes up to half a second, so counts are
// kept for as long as a pass manager holds on to this analysis.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_TRANSFORMS_PLANNING_PROBLEMBUILDER_H
#define DISCO_LIB_TRANSFORMS_PLANNING_PROBLEMBUILDER_H

#include "disco/Dialect/Disco/Disco.h"

#include "mlir/Pass/AnalysisManager.h"

#include <map>

namespace mlir::disco {

class ProblemBuilder {
public:
  explicit ProblemBuilder(Operation *) {}

  /// Counts are keyed by attributes, which no pass can change.
  bool isInvalidated(const AnalysisManager::PreservedAnalyses &) {
    return false;
  }

  /// The problem of a contraction. x and y are in the layout of its plan; a
  /// dynamic batch is `assumedBatch`. Emits an error at the op for a filter
  /// that cannot be evaluated or tables that are not valid. Once psi is
  /// materialised, a gradient is not told from a forward op, nor a feature's
  /// zero from a tap that it does not have.
  FailureOr<::disco::planning::Problem> build(ContractionOpInterface op,
                                              int64_t assumedBatch);

  /// Filters and tables counted so far.
  unsigned getNumCounted() const { return numCounted; }

private:
  /// The definition of a psi, as attributes, and whether it is transposed.
  using Key = std::pair<std::vector<const void *>, bool>;

  /// Of the operator that `op` applies, or of its transpose.
  FailureOr<::disco::planning::FilterCounts> count(ContractionOpInterface op,
                                                   bool adjoint);
  FailureOr<::disco::planning::FilterCounts> countDefined(Operation *op,
                                                          Operation *definition,
                                                          PsiType built,
                                                          bool adjoint);
  FailureOr<::disco::planning::FilterCounts>
  countStored(ContractionOpInterface op, bool adjoint);

  std::map<Key, ::disco::planning::FilterCounts> counts;
  unsigned numCounted = 0;
};

/// DISCO_OP_*.
int32_t getOpKind(ContractionOpInterface op);

/// The operator behind a chain of adjoints: its definition (null for a block
/// argument) and whether it is transposed.
struct PsiOrigin {
  Operation *definition = nullptr;
  bool adjoint = false;
};
PsiOrigin getPsiOrigin(Value psi);

} // namespace mlir::disco

#endif // DISCO_LIB_TRANSFORMS_PLANNING_PROBLEMBUILDER_H
