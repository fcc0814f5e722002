//===- Tables.h - a psi as tables -------------------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_TRANSFORMS_MATERIALIZE_TABLES_H
#define DISCO_LIB_TRANSFORMS_MATERIALIZE_TABLES_H

#include "HostTensor.h"
#include "disco/Dialect/Disco/Disco.h"
#include "disco/Filter/SphereOperator.h"

namespace mlir::disco {

/// One tensor of a storage: a constant, or a value of the IR.
struct StoredTensor {
  std::optional<HostTensor> constant;
  Value value;
};

/// The tensors of a psi, in the order of its storage. `form` of an adjoint is
/// that of the stored operator, except for arcs, which are transposed.
struct StoredPsi {
  StorageForm form = StorageForm::arcs;
  SmallVector<StoredTensor> tensors;
};

/// The tensors of a sphere. Without a tap they hold one that no row refers to,
/// because a constant needs an element.
StoredPsi storeSphere(const ::disco::filter::SphereOperator &op);

/// Evaluates the tables of a sphere. Emits an error at `op` when they are not
/// constant or not valid.
FailureOr<::disco::filter::SphereOperator> assembleSphere(AssembleOp op);

/// The tensors of a table or csr psi; checks those that are constant.
FailureOr<StoredPsi> assembleTables(AssembleOp op);

} // namespace mlir::disco

#endif // DISCO_LIB_TRANSFORMS_MATERIALIZE_TABLES_H
