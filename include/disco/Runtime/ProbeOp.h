//===- ProbeOp.h - recomputing an operation ---------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Recomputes an operation that an instrumented artifact ran, from what its
// probe says (the grammar in disco/ABI/Probe.h) and the operands that were
// recorded.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_RUNTIME_PROBEOP_H
#define DISCO_RUNTIME_PROBEOP_H

#include "disco/Runtime/Reference.h"

#include <string_view>

namespace disco::reference {

struct ProbeOp {
  enum class Kind { contract, contractSum, conv, convWeightGrad, repack };
  enum class Layout { nchw, nhwc, c8 };
  enum class Form { arcs, csr, table, oneHot };

  Kind kind = Kind::contract;
  Form form = Form::arcs;
  ConvOptions options;
  bool bias = false, residual = false;
  /// Of the stored operator, that is before `adjoint`.
  OperatorShape shape;
  int64_t degree = 0;
  bool adjoint = false;
  bool transposeWeight = false;
  /// Of the first operand and of the first result.
  Layout xLayout = Layout::nchw, yLayout = Layout::nchw;
  int64_t channels = 0; ///< 0: those of the tensors
  std::string family;   ///< "": not known

  int64_t numOperands() const;
  int64_t numResults() const;
};

/// Parses a probe's attributes. Errors: an unknown, repeated or missing key, or
/// a value that does not fit.
Result<ProbeOp> parseProbeOp(std::string_view attributes);

/// [B,C,...] of a tensor in a layout, without channels that fill up blocks.
/// Errors: a shape that is not of that layout and number of channels.
Result<Tensor> toNchw(const Tensor &tensor, ProbeOp::Layout layout,
                      int64_t channels);

/// The results that the operation should have had, in nchw. Errors: operands
/// that do not fit, indices of psi out of range.
Result<std::vector<Tensor>> recompute(const ProbeOp &op,
                                      const std::vector<Array> &operands,
                                      Precision precision = {});

} // namespace disco::reference

#endif // DISCO_RUNTIME_PROBEOP_H
