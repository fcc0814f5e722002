//===- DiscoKernelOps.td - calls of the runtime's kernels
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_DIALECT_DISCO_DISCOKERNELOPS_TD
#define DISCO_DIALECT_DISCO_DISCOKERNELOPS_TD

include "disco/Dialect/Disco/DiscoAttrs.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Disco_KernelCallAttr : Disco_Attr<"KernelCall", "kernel_call"> {
  let summary = "what a kernel of the runtime is to compute, and how";
  let description = [{
    ```
    #disco.kernel_call<kind = conv, dtype = f32, parameterType = f32, channels = 4,
      outChannels = 6, groups = 2, activation = gelu, bias = unit,
      storage = <arcs, !disco.psi<sphere, 9, 16x32 -> 16x32>>, indexType = i32,
      valueType = f32, numArcs = 410, numTaps = 2210,
      plan = <cpu_gather, schedule = {tile = 96, channel_block = 4}>>
    ```

    All of a `disco_kernel_call` (include/disco/ABI/Kernel.h) but the batch and
    the pointers, which are known only when run. The plan is the schedule: what
    was scored is what is launched. `numTaps` is absent where the number of taps
    is dynamic.

    Constraints:
    - (C1) The plan is complete and its provider is runtime.
    - (C2) Element types are f64, f32, f16 or bf16, those of indices i32 or i64.
  }];
  let parameters = (ins
    EnumParameter<Disco_KernelKind>:$kind,
    "::mlir::Type":$dtype,
    OptionalParameter<"::mlir::Type", "of weight and bias, or their gradients">:$parameterType,
    "int64_t":$channels,
    DefaultValuedParameter<"int64_t", "0">:$outChannels,
    DefaultValuedParameter<"int64_t", "1">:$groups,
    DefaultValuedParameter<"::mlir::disco::Activation", "::mlir::disco::Activation::none">:$activation,
    OptionalParameter<"::mlir::UnitAttr", "a bias, or its gradient">:$bias,
    OptionalParameter<"::mlir::UnitAttr">:$residual,
    OptionalParameter<"::mlir::UnitAttr", "the weight is that of the layer whose input gradient this is">:$transposeWeight,
    "StorageAttr":$storage,
    "::mlir::Type":$indexType,
    OptionalParameter<"::mlir::Type">:$valueType,
    DefaultValuedParameter<"int64_t", "0">:$numArcs,
    DefaultValuedParameter<"int64_t", "-1">:$numTaps,
    "PlanAttr":$plan);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The struct, with a batch of 0 and null pointers, and no taps where their
    /// number is dynamic.
    disco_kernel_call getCall() const;
    /// The family's function "run" or "workspace_bytes": "disco_cpu_gather_run".
    std::string getSymbol(llvm::StringRef function) const;
    bool hasDynamicTaps() const { return getNumTaps() < 0; }
  }];
}

def Disco_KernelWorkspaceOp : Op<Disco_Dialect, "kernel_workspace", [Pure]> {
  let summary = "bytes of workspace that a kernel needs";
  let description = [{
    ```mlir
    %bytes = disco.kernel_workspace #disco.kernel_call<...> batch %b
    ```

    Asks the family, since the size depends on the machine; negative when the
    family refuses the call, after `disco_raise`.

    Constraints:
    - (C1) There are taps where their number is dynamic, and only there.
  }];
  let arguments = (ins Disco_KernelCallAttr:$call, Index:$batch, Optional<Index>:$taps);
  let results = (outs Index:$bytes);
  let assemblyFormat = "$call `batch` $batch (`taps` $taps^)? attr-dict";
  let hasVerifier = 1;
}

def Disco_KernelOperand : AnyTypeOf<[AnyRankedTensor, AnyMemRef], "tensor or memref">;

def Disco_KernelCallOp : Op<Disco_Dialect, "kernel_call", [
    AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "an operation, run by a kernel of the runtime";
  let description = [{
    ```mlir
    %y, %ws = disco.kernel_call #disco.kernel_call<...>
        ins(%x psi(%offsets, %arcs, %values) weight(%w) bias(%b) residual(%r))
        outs(%init, %workspace) : (...) -> (tensor<?x6x16x32xf32>, tensor<?xi8>)
    ```

    Operands are those of `disco_kernel_call`; `ins` begins with x, or z. The
    last of `outs` is the workspace, whose size `disco.kernel_workspace` gives;
    before it come y and the gradient of the bias. On memrefs there are no
    results. When the kernel fails, the function that the op is in returns its
    status, after `disco_raise`.

    Constraints:
    - (C1) Operands are there as the call says.
    - (C2) All operands are tensors, and the results are the outs; or all are
      memrefs of the identity layout, and there are no results.
    - (C3) The workspace is of rank 1 and of type i8.
  }];
  let arguments = (ins Disco_KernelCallAttr:$call,
    Disco_KernelOperand:$x, Optional<Disco_KernelOperand>:$gy,
    Variadic<Disco_KernelOperand>:$psi, Optional<Disco_KernelOperand>:$weight,
    Optional<Disco_KernelOperand>:$bias, Optional<Disco_KernelOperand>:$residual,
    Variadic<Disco_KernelOperand>:$outs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $call `ins` `(` $x (`gy` `(` $gy^ `)`)? `psi` `(` $psi `)` (`weight` `(` $weight^ `)`)?
    (`bias` `(` $bias^ `)`)? (`residual` `(` $residual^ `)`)? `)` `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, $results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
    ::mlir::Value getY() { return getOuts().front(); }
    ::mlir::Value getWorkspace() { return getOuts().back(); }
  }];
}

#endif // DISCO_DIALECT_DISCO_DISCOKERNELOPS_TD
