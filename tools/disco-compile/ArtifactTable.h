//===- ArtifactTable.h - the table that an artifact exports -----*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TOOLS_DISCO_COMPILE_ARTIFACTTABLE_H
#define DISCO_TOOLS_DISCO_COMPILE_ARTIFACTTABLE_H

#include "disco/Transforms/Steps.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"

#include <optional>
#include <string>
#include <vector>

namespace disco::compile {

struct TensorInfo {
  int32_t dtype;
  std::vector<int64_t> dims; // negative: see disco_tensor_type
};

struct EntryInfo {
  std::string name, plan;
  std::vector<TensorInfo> inputs, outputs;
  std::vector<std::string> checks; // messages, see disco-check-tables
  bool isStrided = false;
  std::optional<mlir::disco::StepProgram> program; // for a GPU
  int32_t firstProbe = 0;                          // of the program's steps

  int64_t numOutputDims() const;
};

struct ProbeInfo {
  std::string op, location, attributes;
  int32_t numOperands, numResults;
};

struct ArtifactInfo {
  std::string target = "cpu";
  std::string cpu, features; // features separated by commas
  std::vector<EntryInfo> entries;
  std::vector<ProbeInfo> probes;
};

/// Reads entries and probes from a module in the LLVM dialect.
void readTables(mlir::ModuleOp module, ArtifactInfo &info);

/// Reads entries and their steps from a module that disco-cuda-pipeline
/// lowered; emits an error at what cannot be steps.
mlir::LogicalResult readSteps(mlir::ModuleOp module, ArtifactInfo &info);

/// Adds the table and the functions that it points to; everything else becomes
/// internal.
void emitTables(const ArtifactInfo &info, llvm::Module &module);

} // namespace disco::compile

#endif // DISCO_TOOLS_DISCO_COMPILE_ARTIFACTTABLE_H
