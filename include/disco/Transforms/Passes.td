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

#endif // DISCO_TRANSFORMS_PASSES_TD
