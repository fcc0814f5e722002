//===- PrintSteps.cpp - steps as text -------------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Transforms/Steps.h"

using namespace mlir;
using namespace mlir::disco;

static void printBuffer(llvm::raw_ostream &os, const StepBuffer &buffer) {
  os << buffer.element << " [";
  llvm::interleaveComma(buffer.dims, os);
  os << "], ";
  switch (buffer.kind) {
  case DISCO_BUFFER_INPUT:
    os << "input " << buffer.index;
    break;
  case DISCO_BUFFER_OUTPUT:
    os << "output " << buffer.index;
    break;
  case DISCO_BUFFER_CONSTANT:
    os << "constant";
    break;
  default:
    os << "slot " << buffer.index;
  }
}

static void printOperands(llvm::raw_ostream &os, const Step &step) {
  constexpr StringLiteral names[DISCO_NUM_OPERANDS] = {
      "x",      "gy",   "offsets",  "indices", "values",
      "weight", "bias", "residual", "y",       "grad_bias"};
  StringRef separator = " ";
  for (auto [name, buffer] : llvm::zip_equal(names, step.operands)) {
    if (buffer < 0)
      continue;
    os << separator << name << " " << buffer;
    separator = ", ";
  }
}

void mlir::disco::printSteps(llvm::raw_ostream &os, StringRef name,
                             const StepProgram &program) {
  os << "entry @" << name << ": " << program.buffers.size() << " buffers, "
     << program.steps.size() << " steps, " << program.numSlots << " slots\n";
  for (auto [index, buffer] : llvm::enumerate(program.buffers)) {
    os << "  buffer " << index << ": ";
    printBuffer(os, buffer);
    os << "\n";
  }
  for (auto [index, step] : llvm::enumerate(program.steps)) {
    os << "  step " << index << ": ";
    if (KernelCallAttr call = step.call) {
      os << call.getPlan().getFamily() << " "
         << stringifyKernelKind(call.getKind());
      printOperands(os, step);
      os << "\n    " << call << "\n";
      continue;
    }
    auto getElement = [&](int32_t operand) {
      return program.buffers[step.operands[operand]].element;
    };
    auto name = [](int32_t layout) {
      return stringifyLayout(static_cast<Layout>(layout));
    };
    if (step.repack.from_layout == step.repack.to_layout)
      os << "convert " << getElement(DISCO_OPERAND_X) << " -> "
         << getElement(DISCO_OPERAND_Y);
    else
      os << "repack " << name(step.repack.from_layout) << " -> "
         << name(step.repack.to_layout);
    printOperands(os, step);
    os << "\n";
  }
}
