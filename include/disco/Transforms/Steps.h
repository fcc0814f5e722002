//===- Steps.h - entries for a GPU as buffers and steps ---------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What disco/ABI/Artifact.h holds as tables, read from a function that
// disco-cuda-pipeline has lowered: a straight line of kernel calls on tensors.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TRANSFORMS_STEPS_H
#define DISCO_TRANSFORMS_STEPS_H

#include "disco/ABI/Artifact.h"
#include "disco/Dialect/Disco/Disco.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <array>
#include <vector>

namespace mlir::disco {

/// disco_abi_buffer.
struct StepBuffer {
  Type element;
  /// Negative: the name of a dynamic size.
  SmallVector<int64_t> dims;
  int32_t kind = 0, index = 0; // DISCO_BUFFER_*
  std::vector<char> data;      // of a constant
};

/// disco_abi_step: a call, or a change of layout or of type.
struct Step {
  KernelCallAttr call; // null for a repack
  disco_repack repack = {};
  std::array<int32_t, DISCO_NUM_OPERANDS> operands; // buffers, or -1
  std::string location;                             // "net.mlir:12:8", or ""
};

struct StepProgram {
  std::vector<StepBuffer> buffers;
  std::vector<Step> steps;
  int32_t numSlots = 0;
};

/// Reads an entry of disco-prepare-entries. Emits an error at an operation that
/// no kernel of the runtime does, at a psi that is not constant, and at a
/// result that no kernel computes.
FailureOr<StepProgram> readSteps(func::FuncOp entry);

/// What a step computes, in the grammar of disco/ABI/Probe.h.
std::string getProbeText(const Step &step);

/// The program as text:
///
///   entry @layer: 4 buffers, 1 step, 0 slots
///     buffer 0: f32 [-2, 4, 16, 32], input 0
///     buffer 1: i32 [17], constant
///     ...
///     step 0: csr_gather contract x 0, offsets 1, indices 2, values 3, y 4
///       #disco.kernel_call<...>
void printSteps(llvm::raw_ostream &os, StringRef name,
                const StepProgram &program);

} // namespace mlir::disco

#endif // DISCO_TRANSFORMS_STEPS_H
