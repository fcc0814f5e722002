//===- Passes.h - the passes and pipelines -------------------------*- C++
//-*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TRANSFORMS_PASSES_H
#define DISCO_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::disco {

#define GEN_PASS_DECL
#include "disco/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "disco/Transforms/Passes.h.inc"

/// The attribute of a function that is an entry of the artifact: a dictionary
/// of `inputs` and `outputs` (arrays of tensor types), `input_dims` and
/// `output_dims` (arrays of integer arrays), `plan` (text) and, where tables
/// are checked, `checks` (messages); `strided` where it takes any strides.
constexpr llvm::StringLiteral kEntryAttr = "disco.entry";
/// Names of the functions that go with an entry.
constexpr llvm::StringLiteral kOutputShapesSuffix = "_output_shapes";
constexpr llvm::StringLiteral kWorkspaceBytesSuffix = "_workspace_bytes";
constexpr llvm::StringLiteral kCheckTablesSuffix = "_check_tables";

/// The attribute of a module that lists its probes: an array of dictionaries of
/// `op`, `location`, `attributes` (texts), `operands` and `results` (numbers).
constexpr llvm::StringLiteral kProbesAttr = "disco.probes";

/// What is planned, and how: the same for every target. `Options` has the
/// default target.
template <typename Options>
class PlannedPipelineOptions : public PassPipelineOptions<Options> {
  friend Options;
  PlannedPipelineOptions() = default;

public:
  template <typename T> using Option = ::mlir::detail::PassOptions::Option<T>;

  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("The chip that operations are planned for, by name or "
                     "architecture (disco-opt --list-targets)"),
      llvm::cl::init(Options::defaultTarget)};
  Option<std::string> family{
      *this, "family",
      llvm::cl::desc(
          "Run every operation by this kernel family, or fail naming "
          "the rule that refuses it; empty: the fastest"),
      llvm::cl::init("")};
  Option<bool> fuse{
      *this, "fuse",
      llvm::cl::desc("Fuse einsums and epilogues into the operations first"),
      llvm::cl::init(true)};
};

struct CpuPipelineOptions : public PlannedPipelineOptions<CpuPipelineOptions> {
  static constexpr char defaultTarget[] = "cpu";

  Option<bool> strided{
      *this, "strided",
      llvm::cl::desc(
          "Entries take tensors of any strides, not dense ones only"),
      llvm::cl::init(false)};
  Option<bool> instrument{
      *this, "instrument",
      llvm::cl::desc("Report every operation to the runtime"),
      llvm::cl::init(false)};
  Option<bool> checkTables{
      *this, "check-tables",
      llvm::cl::desc("Check index tables that are arguments when run"),
      llvm::cl::init(true)};
};

/// From disco operations on tensors to the LLVM dialect, for the host.
void buildCpuPipeline(OpPassManager &manager,
                      const CpuPipelineOptions &options);

/// Prints the kernel families and where the build found their parts.
void printKernelFamilies(llvm::raw_ostream &os);

/// Registers disco-cpu-pipeline.
void registerDiscoPipelines();

} // namespace mlir::disco

#endif // DISCO_TRANSFORMS_PASSES_H
