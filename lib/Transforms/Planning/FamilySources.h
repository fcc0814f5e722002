//===- FamilySources.h - where kernel families are defined ------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_TRANSFORMS_PLANNING_FAMILYSOURCES_H
#define DISCO_LIB_TRANSFORMS_PLANNING_FAMILYSOURCES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::disco {

/// A part of a family ("rules", "cost", "lowering") and its first line, as the
/// build found it.
struct FamilySource {
  llvm::StringLiteral family, part, file;
  unsigned line;
};

inline llvm::ArrayRef<FamilySource> getFamilySources() {
  static constexpr FamilySource sources[] = {
#define DISCO_FAMILY_SOURCE(family, part, file, line)                          \
  {llvm::StringLiteral(#family), llvm::StringLiteral(part),                    \
   llvm::StringLiteral(file), line},
#include "disco/FamilySources.inc"
  };
  return sources;
}

} // namespace mlir::disco

#endif // DISCO_LIB_TRANSFORMS_PLANNING_FAMILYSOURCES_H
