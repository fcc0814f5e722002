//===- Passes.td - the passes
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TRANSFORMS_PASSES_TD
#define DISCO_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def FuseEinsumPass : Pass<"disco-fuse-einsum"> {
  let summary = "a filter contraction and the channel einsum become a conv";
  let description = [{
    `disco.contract` followed by the einsum over channels and K, or that einsum
    followed by `disco.contract_sum`, become one `disco.conv`, whose plan later
    chooses the order. The einsum is any linalg op of two operands whose body
    multiplies and adds (linalg.generic, linalg.contract, linalg.matmul,
    linalg.batch_matmul, ...), in any order of loops and operands. Between it
    and the contraction may lie `tensor.expand_shape`, `tensor.collapse_shape`,
    `linalg.transpose` and extensions of the element type, also as
    linalg.generic; the weight may be reshaped, transposed and broadcast. Groups
    are a parallel loop over the major part of the channels.

    Before: the contraction has no plan; its K-expanded tensor is used once; the
    weight does not depend on the batch or the points and is static; the init of
    the einsum is zeros, or (behind a contract) a bias broadcast from the output
    channels; the einsum accumulates in the type T of the contraction or in
    max(f32, T), and its result is T or is truncated to T next.

    After: the weight is [O, C/groups, K], by way of reshapes and transposes
    (folded when it is constant); the result is brought into the layout that its
    users read. Contractions that stay are reported as missed remarks with the
    rule and the reason.

    Rounding: with f64 and f32 only the order of the sums changes. With f16 and
    bf16 the filtered features are no longer rounded to T in memory, and the
    sums are accumulated in f32.
  }];
  let dependentDialects = [
    "::mlir::disco::DiscoDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numConvs", "convs-formed", "Number of convs formed">,
    Statistic<"numMissed", "contractions-missed", "Number of contractions that stay">];
}

def FuseEpiloguePass : Pass<"disco-fuse-epilogue"> {
  let summary = "bias, activation and residual join the conv";
  let description = [{
    `y = activation(conv + bias) + residual`, computed behind a `disco.conv` by
    elementwise ops of the arith and math dialects on tensors or in the bodies
    of linalg ops, in any cut, joins the conv:

    - bias: added, depends on the output channel only ([O], perhaps reshaped
      and broadcast), of the conv's type T or f32;
    - relu: maximumf or maxnumf with 0, or select(x > 0, x, 0);
    - gelu: 0.5 x (1 + erf(x / sqrt 2)) or 0.5 x erfc(-x / sqrt 2);
    - gelu_tanh: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)));
    - silu: x / (1 + exp(-x)), also as a product with the sigmoid;
    - residual: a tensor of the result's type, added after the activation.

    Products are recognised with their factors in any order; constants are those
    numbers rounded to the type they are written in.

    Before: the conv has no plan; its result and the values between are read by
    the epilogue only. After: one conv in the place of the last op. An
    epilogue that stays is reported as a missed remark with the reason: a second
    bias, a bias or an activation after the residual, an intermediate that is
    used elsewhere, arithmetic in another type. A residual that is added before
    an activation joins the conv, and the activation stays.

    Rounding: arithmetic must be in T or in max(f32, T), and conversions between
    these two are dropped: the fused op computes in max(f32, T) and rounds once,
    so a f16 or bf16 result is rounded less often than before and otherwise in
    the same way. For f64 and f32 nothing is rounded differently but the two
    forms of a factor (x / sqrt 2 and x * 0.7071...). relu of NaN is the conv's,
    whichever maximum was written.
  }];
  let dependentDialects = [
    "::mlir::disco::DiscoDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numFused", "epilogues-fused", "Number of ops fused into convs">,
    Statistic<"numMissed", "epilogues-missed", "Number of convs whose epilogue stays">];
}

#endif // DISCO_TRANSFORMS_PASSES_TD
