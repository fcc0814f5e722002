//===- Passes.td - the passes
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TRANSFORMS_PASSES_TD
#define DISCO_TRANSFORMS_PASSES_TD

include "disco/Transforms/PlanningPasses.td"
include "mlir/Pass/PassBase.td"

def PrepareEntriesPass : Pass<"disco-prepare-entries", "::mlir::ModuleOp"> {
  let summary = "give public functions the calling convention of artifacts";
  let description = [{
    A public function of tensors becomes an entry: it takes memrefs, its inputs
    and then its outputs, and returns a status (i32), 0 unless a call in it
    fails. The memrefs are dense, or of any strides with `strided`. Inputs are
    only read. The attribute `disco.entry` keeps what the artifact's table says
    about it: element types and dimensions; negative dimensions are dynamic, and
    those below -1 are equal where they are the same number.

    `@<entry>_output_shapes(inputs, memref<nxi64>)` is generated: it writes all
    dimensions of all outputs and reads dimensions of inputs only.

    Errors: arguments or results that are no tensors of f64, f32, f16, bf16, i32
    or i64; more than 64 of them, or of rank above 8; calls that were not
    inlined; a body of several blocks; output shapes that depend on data;
    operands whose dynamic dimensions must agree and are not known to.
  }];
  let options = [
    Option<"strided", "strided", "bool", "false",
           "Take tensors of any strides; kernels of the runtime then work on copies">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

def CheckTablesPass : Pass<"disco-check-tables", "::mlir::ModuleOp"> {
  let summary = "check index tables that are arguments when run";
  let description = [{
    For every entry with `disco.assemble` on tables that are its arguments
    `@<entry>_check_tables(inputs, memref<3xi64>)` is generated, which the
    artifact calls first. It stores the number of the first check that fails, or
    -1, and the position and value of the element. The attribute `disco.entry`
    gets the messages, `checks`.

    Errors: an index table that is neither a constant nor an argument, since
    nothing could check its elements.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def MaterializeFiltersPass : Pass<"disco-materialize-filters", "::mlir::ModuleOp"> {
  let summary = "evaluate filters and tables into tensors";
  let description = [{
    Replaces the psi of every contraction by the tensors of a storage: a sphere
    becomes `arcs`, other tables become `csr`, `table` or `onehot` (see
    `#disco.storage`). Each filter is evaluated once in float64, and its values
    are rounded once to the element type of the contraction. Constants are
    resources whose key is a hash of their content.

    Errors: constant tables that are not valid, sphere tables that are not
    constant, and psi that no contraction uses directly (block arguments,
    arguments and results of functions, control flow).
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numEvaluated", "filters-evaluated", "Number of filters and tables evaluated">,
    Statistic<"numBytes", "constant-bytes", "Bytes of new constants">];
}

def InstrumentPass : Pass<"disco-instrument", "::mlir::ModuleOp"> {
  let summary = "report every contraction to the runtime";
  let description = [{
    Surrounds each materialised contraction with probes, which hand its operands
    and results to the runtime, and lists the probes in the module's attribute
    `disco.probes`.

    Error: psi that is not materialised.
  }];
}

def LowerToLoopsPass : Pass<"disco-lower-to-loops"> {
  let summary = "contractions as linalg and scf loops on tensors";
  let description = [{
    The scalar reference: any contraction, storage, element type and batch.
    Sums are in max(f32, T), in an order that does not depend on longitude, and
    are rounded once. `conv` obeys the plan's order.

    Errors: psi that is not materialised; a plan of another family or provider.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numLowered", "lowered", "Number of contractions lowered">];
}

def LowerToRuntimePass : Pass<"disco-lower-to-runtime"> {
  let summary = "contractions as calls of the runtime's kernels";
  let description = [{
    Contractions whose plan has the provider `runtime` become
    `disco.kernel_call` on tensors; others stay. Before:

    ```
    %y = disco.conv %x, (%offsets, %arcs, %values), %w storage <...>
         plan <cpu_gather, schedule = {tile = 96, channel_block = 4}> : ...
    ```

    after:

    ```
    %bytes = disco.kernel_workspace #disco.kernel_call<kind = conv, ...> batch %b
    %init = tensor.empty(%b) : tensor<?x6x16x32xf32>
    %workspace = tensor.empty(%bytes) : tensor<?xi8>
    %y, %ws = disco.kernel_call #disco.kernel_call<kind = conv, ...>
         ins(%x psi(%offsets, %arcs, %values) weight(%w)) outs(%init, %workspace) : ...
    ```

    The workspace is a buffer like any other, which `disco-plan-workspace` puts
    into that of the entry. A weight that `linalg.transpose` transposes within
    its groups, as in the gradient of a layer with respect to its input, is
    taken as it was.

    Errors: psi that is not materialised; a plan of a family that is not
    available, or with fields missing; layouts that the family's kernels do not
    have.
  }];
  let dependentDialects = [
    "::mlir::disco::DiscoDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numLowered", "lowered", "Number of contractions lowered">];
}

def LowerCopiesPass : Pass<"disco-lower-copies"> {
  let summary = "memref.copy as linalg.copy";
  let description = [{
    A strided memref.copy is a call of a library that artifacts do without; as
    linalg.copy it becomes loops.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def PlanWorkspacePass : Pass<"disco-plan-workspace", "::mlir::ModuleOp"> {
  let summary = "pack all intermediate buffers into one workspace";
  let description = [{
    Runs after bufferization on the entries of disco-prepare-entries. Every
    memref.alloc becomes a view of one new argument, `memref<?xi8>`; buffers
    that are not alive together share a slot. Slots are aligned to 64 bytes;
    their sizes are arithmetic on dimensions of the inputs.

    `@<entry>_workspace_bytes(inputs) -> i64` is generated: the size for inputs
    of these shapes, or -1 when it does not fit into 64 bits.

    Errors: a buffer whose size depends on data or on a loop, or that one
    iteration of a loop hands to the next.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect"];
  let statistics = [
    Statistic<"numBuffers", "buffers", "Number of buffers packed">,
    Statistic<"numSlots", "slots", "Number of slots that they share">];
}

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
