//===- Disco.h - the disco dialect ---------------------------------*- C++
//-*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_DIALECT_DISCO_DISCO_H
#define DISCO_DIALECT_DISCO_DISCO_H

#include "disco/ABI/Kernel.h"
#include "disco/Filter/SphereFilter.h"
#include "disco/Planning/Family.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "disco/Dialect/Disco/DiscoDialect.h.inc"

#include "disco/Dialect/Disco/DiscoEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "disco/Dialect/Disco/DiscoTypes.h.inc"

namespace mlir::disco {
/// A field of a plan's schedule, by its index in the family's field table.
struct ScheduleField {
  int64_t id;
  int64_t value;
};
inline bool operator==(const ScheduleField &a, const ScheduleField &b) {
  return a.id == b.id && a.value == b.value;
}
inline llvm::hash_code hash_value(const ScheduleField &field) {
  return llvm::hash_combine(field.id, field.value);
}

/// Shape of activations [batch, channels, points...] in a layout.
llvm::SmallVector<int64_t> getPhysicalShape(Layout layout, int64_t batch,
                                            int64_t channels,
                                            llvm::ArrayRef<int64_t> points);

/// The attribute of a module that names the chip to plan for.
constexpr llvm::StringLiteral kTargetAttr = "disco.target";
} // namespace mlir::disco

#define GET_ATTRDEF_CLASSES
#include "disco/Dialect/Disco/DiscoAttrs.h.inc"

namespace mlir::disco::detail {
/// The type of the operator that a contraction applies: the storage's, or that
/// of the only psi operand; null when there is neither.
PsiType getPsiType(StorageAttr storage, OperandRange psi);
} // namespace mlir::disco::detail

#include "disco/Dialect/Disco/DiscoInterfaces.h.inc"

#define GET_OP_CLASSES
#include "disco/Dialect/Disco/DiscoOps.h.inc"

namespace mlir::disco {
/// The element type in the runtime's numbering; unset for types that it does
/// not know.
std::optional<disco_dtype> getRuntimeDType(Type type);

/// Version of the dialect's bytecode, written into every file.
constexpr int64_t kBytecodeVersion = 2;

/// The type that sums are accumulated in: max(f32, `type`).
inline Type getAccumulatorType(Type type) {
  return type.isF64() ? type : Type(Float32Type::get(type.getContext()));
}
} // namespace mlir::disco

#endif // DISCO_DIALECT_DISCO_DISCO_H
