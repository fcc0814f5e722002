//===- TableCounts.h - tap counts of constant tables ------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_TRANSFORMS_PLANNING_TABLECOUNTS_H
#define DISCO_LIB_TRANSFORMS_PLANNING_TABLECOUNTS_H

#include "disco/Dialect/Disco/Disco.h"

namespace mlir::disco {

/// Exact statistics of the psi that `op`, whose tables are all constant,
/// assembles, or of its transpose. Emits an error at `op` when the tables are
/// not valid.
FailureOr<::disco::planning::FilterCounts> countTables(AssembleOp op,
                                                       bool adjoint);

/// The same of an op whose psi is the constant tensors of a storage: of its
/// operator, or of the transpose. Emits an error at `op` when they are not
/// valid.
FailureOr<::disco::planning::FilterCounts>
countStorage(ContractionOpInterface op, bool adjoint);

} // namespace mlir::disco

#endif // DISCO_LIB_TRANSFORMS_PLANNING_TABLECOUNTS_H
