//===- DiscoOps.td - operations
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_DIALECT_DISCO_DISCOOPS_TD
#define DISCO_DIALECT_DISCO_DISCOOPS_TD

include "disco/Dialect/Disco/DiscoAttrs.td"
include "disco/Dialect/Disco/DiscoInterfaces.td"
include "disco/Dialect/Disco/DiscoKernelOps.td"
include "disco/Dialect/Disco/DiscoProbeOps.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Disco_Op<string mnemonic, list<Trait> traits = []>
    : Op<Disco_Dialect, mnemonic, traits>;

def Disco_Float : AnyTypeOf<[F64, F32, F16, BF16], "f64, f32, f16 or bf16">;
def Disco_FloatTensor : RankedTensorOf<[Disco_Float]>;
def Disco_Index : AnyTypeOf<[I32, I64], "i32 or i64">;
def Disco_Table : RankedTensorOf<[Disco_Index, Disco_Float]>;

// One psi, or the tensors of its storage.
def Disco_PsiOperand : Variadic<AnyTypeOf<[Disco_PsiType, Disco_Table]>>;

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

def Disco_FilterOp : Disco_Op<"filter", [
    Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "a psi from an analytic filter";
  let description = [{
    ```mlir
    %psi = disco.filter #disco.sphere_filter<...> -> !disco.psi<sphere, 9, 721x1440 -> 360x720>
    ```

    Two filters of one attribute are one value after CSE. No fold evaluates the
    filter: `disco-materialize-filters` does, once, late, in the form that its
    users want.

    Constraints:
    - (C1) The result has the type that the filter evaluates to.
  }];
  let arguments = (ins Disco_SphereFilterAttr:$filter);
  let results = (outs Disco_PsiType:$psi);
  // Behind a colon the attribute's parser would take the type for its own.
  let assemblyFormat = "qualified($filter) attr-dict `->` qualified(type($psi))";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange, ::mlir::TypeRange) { return true; }
  }];
}

def Disco_AssembleOp : Disco_Op<"assemble", [Pure]> {
  let summary = "a psi from tables";
  let description = [{
    ```mlir
    %psi = disco.assemble knn(%index, %values)
        : (tensor<40x25xi32>, tensor<40x25x100xf32>) -> !disco.psi<table<25>, 100, 128 -> 40>
    ```

    | format | structure | tables |
    |---|---|---|
    | `harmonics_csr` | sphere | offsets of the (basis, row) groups, basis index [nnz], row [nnz], column [nnz], values [nnz] |
    | `coo` | sphere, csr | basis index [nnz], row [nnz], column [nnz], values [nnz] |
    | `kpacked` | sphere | (latitude, longitude) [nlat out, width, 2], values [nlat out, width, K or more], count [nlat out] |
    | `csr` | csr | row offsets [points + 1], columns [nnz], values [nnz, K] |
    | `knn` | table | index [points, degree], values [points, degree, K] |
    | `knn_onehot` | table | index [points, degree], bin [points, degree] in [0, K) |

    Rows are output points: for a sphere an output latitude, with the taps of
    its output longitude 0 (column = latitude * nlon in + longitude); such a
    psi never upsamples, its adjoint does. An index equal to the number of
    input points stands for no neighbour.

    Constraints:
    - (C1) There are as many tables as the format has.
    - (C2) The structure of the psi is one that the format describes.
    - (C3) Each table has the shape of the format; nnz and width may be any
      number, the same in all tables.
    - (C4) Offsets, indices and bins are i32 or i64, values are floats.
    - (C5) The input nlon of a sphere is a multiple of the output nlon.
  }];
  let arguments = (ins Disco_TableFormatAttr:$format, Variadic<Disco_Table>:$tables);
  let results = (outs Disco_PsiType:$psi);
  let assemblyFormat = "$format `(` $tables `)` attr-dict `:` functional-type($tables, $psi)";
  let hasVerifier = 1;
}

def Disco_AdjointOp : Disco_Op<"adjoint", [
    Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "the transposed psi";
  let description = [{
    ```mlir
    %adj = disco.adjoint %psi : !disco.psi<sphere, 9, 721x1440 -> 360x720>
    ```

    Each of the K maps is transposed; input and output are swapped. The adjoint
    of an adjoint folds to the psi.

    Constraints:
    - (C1) The result is the operand's type with input and output swapped.
  }];
  let arguments = (ins Disco_PsiType:$psi);
  let results = (outs Disco_PsiType:$adjoint);
  let assemblyFormat = "$psi attr-dict `:` qualified(type($psi))";
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange, ::mlir::TypeRange) { return true; }
  }];
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

class Disco_ContractionOp<string mnemonic, list<Trait> traits = []>
    : Disco_Op<mnemonic, traits # [Pure, Disco_ContractionOpInterface]> {
  let hasVerifier = 1;
}

// Result shapes follow from the operands; the numbered rules, not the trait,
// compare them with the result, so that the message says which rule it is.
class Disco_MapOp<string mnemonic, list<Trait> traits = []>
    : Disco_ContractionOp<mnemonic, traits # [
        DeclareOpInterfaceMethods<InferTypeOpInterface>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  code inferDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange, ::mlir::TypeRange) { return true; }
  }];
}

def Disco_ContractOp : Disco_MapOp<"contract"> {
  let summary = "expand a field into K filtered features";
  let description = [{
    ```mlir
    %z = disco.contract %x, %psi
        : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x9x8x16xf32>
    ```

    `z[b,c,k,n] = sum over taps t of n: v[t,k] * x[b,c,m(t)]`. A point without
    taps gives zero. A plan names the layout that x is in (see `#disco.plan`); z,
    which tells how many channels there are, is always nchw.

    Constraints:
    - (C1) x is [batch, channels, input points...]; all but the batch is static.
    - (C2) The points of x are the input of psi.
    - (C3) Psi is one psi value without storage, or the tensors of its storage.
    - (C4) The result is [batch, channels, K, output points...] in x's type.
    - (C5) The result's layout in the plan is nchw.
  }];
  let arguments = (ins Disco_FloatTensor:$x, Disco_PsiOperand:$psi,
    OptionalAttr<Disco_StorageAttr>:$storage, OptionalAttr<Disco_PlanAttr>:$plan);
  let results = (outs Disco_FloatTensor:$z);
  let assemblyFormat = [{
    $x `,` custom<PsiOperands>($psi) (`storage` $storage^)? (`plan` $plan^)?
    attr-dict `:` functional-type(operands, $z)
  }];
  let extraClassDeclaration = inferDeclaration # [{
    ::mlir::TypedValue<::mlir::RankedTensorType> getActivations() { return getX(); }
  }];
}

def Disco_ContractSumOp : Disco_MapOp<"contract_sum"> {
  let summary = "filter K features and sum them";
  let description = [{
    ```mlir
    %y = disco.contract_sum %z, %psi
        : (tensor<?x4x9x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x8x16xf32>
    ```

    `y[b,c,n] = sum over k, taps t of n: v[t,k] * z[b,c,k,m(t)]`. With the
    adjoint of psi it is the transpose of `disco.contract` with psi. A plan names
    the layout that the result is in (see `#disco.plan`); z is always nchw.

    Constraints:
    - (C1) z is [batch, channels, K, input points...]; all but the batch is static.
    - (C2) The points of z are the input of psi.
    - (C3) Psi is one psi value without storage, or the tensors of its storage.
    - (C4) z has as many features as psi.
    - (C5) The result is [batch, channels, output points...] in z's type.
    - (C6) The layout of z in the plan is nchw.
  }];
  let arguments = (ins Disco_FloatTensor:$z, Disco_PsiOperand:$psi,
    OptionalAttr<Disco_StorageAttr>:$storage, OptionalAttr<Disco_PlanAttr>:$plan);
  let results = (outs Disco_FloatTensor:$y);
  let assemblyFormat = [{
    $z `,` custom<PsiOperands>($psi) (`storage` $storage^)? (`plan` $plan^)?
    attr-dict `:` functional-type(operands, $y)
  }];
  let extraClassDeclaration = inferDeclaration # [{
    ::mlir::TypedValue<::mlir::RankedTensorType> getActivations() { return getZ(); }
  }];
}

def Disco_ConvOp : Disco_MapOp<"conv", [AttrSizedOperandSegments]> {
  // Bytecode of version 1 has no precision.
  let useCustomPropertiesEncoding = 1;
  let summary = "a filter convolution layer";
  let description = [{
    ```mlir
    %y = disco.conv %x, %psi, %w bias %b residual %r groups 2 activation gelu
        : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x2x9xf32>,
           tensor<6xf32>, tensor<?x6x16x32xf32>) -> tensor<?x6x16x32xf32>
    ```

    `y = activation(conv + bias) + residual`, where

    ```
    conv[b,o,n] = sum over c of o's group, k:  w[o,c,k] * contract(x, psi)[b,c,k,n]
    ```

    Group g has the input channels [g C/groups, (g+1) C/groups) and the output
    channels [g O/groups, (g+1) O/groups). Expand-then-mix and mix-then-sum are
    this same op (the plan's order says which is run): a transposed layer is a
    conv with a `transpose` filter; the input gradient is a conv with the
    adjoint psi and the weight transposed in each group. Activations: none,
    relu, gelu (erf), gelu_tanh, silu.

    `precision tf32` and `precision bf16x3` permit a family to multiply f32 on
    tensor units, rounded to TF32 or split into three products of bf16. It is a
    permission: a family that computes in plain f32 satisfies it. The default,
    ieee, permits neither.

    A plan names the layouts that x, and the residual and the result, are in;
    the shapes below are those of nchw (see `#disco.plan`).

    Constraints:
    - (C1) x is [batch, channels, input points...]; all but the batch is static.
    - (C2) The points of x are the input of psi.
    - (C3) Psi is one psi value without storage, or the tensors of its storage.
    - (C4) groups >= 1 divides the input channels.
    - (C5) The weight is a static [O, C/groups, K]; groups divides O.
    - (C6) The bias is [O].
    - (C7) Weight and bias have x's element type, or f32.
    - (C8) The residual has the result's type.
    - (C9) The result is [batch, O, output points...] in x's type.
    - (C10) Only f32 has a precision other than ieee.
  }];
  let arguments = (ins Disco_FloatTensor:$x, Disco_PsiOperand:$psi,
    Disco_FloatTensor:$weight, Optional<Disco_FloatTensor>:$bias,
    Optional<Disco_FloatTensor>:$residual,
    DefaultValuedAttr<I64Attr, "1">:$groups,
    DefaultValuedAttr<Disco_ActivationAttr, "Activation::none">:$activation,
    DefaultValuedAttr<Disco_PrecisionAttr, "Precision::ieee">:$precision,
    OptionalAttr<Disco_StorageAttr>:$storage, OptionalAttr<Disco_PlanAttr>:$plan);
  let results = (outs Disco_FloatTensor:$y);
  let assemblyFormat = [{
    $x `,` custom<PsiOperands>($psi) `,` $weight (`bias` $bias^)? (`residual` $residual^)?
    (`groups` $groups^)? (`activation` `` $activation^)? (`precision` `` $precision^)?
    (`storage` $storage^)? (`plan` $plan^)?
    attr-dict `:` functional-type(operands, $y)
  }];
  let extraClassDeclaration = inferDeclaration # [{
    ::mlir::TypedValue<::mlir::RankedTensorType> getActivations() { return getX(); }
  }];
}

def Disco_ConvWeightGradOp : Disco_ContractionOp<"conv_weight_grad"> {
  // Bytecode of version 1 has neither precision nor deterministic.
  let useCustomPropertiesEncoding = 1;
  let summary = "the gradient of a conv's weight and bias";
  let description = [{
    ```mlir
    %gw, %gb = disco.conv_weight_grad %x, %gy, %psi groups 2
        : (tensor<?x4x16x32xf32>, tensor<?x6x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>)
        -> (tensor<6x2x9xf32>, tensor<6xf32>)
    ```

    ```
    gw[o,c,k] = sum over b, n:  gy[b,o,n] * contract(x, psi)[b,c,k,n]
    gb[o]     = sum over b, n:  gy[b,o,n]          (only where asked for)
    ```

    gy is the gradient of conv + bias: that of the activation is applied before.
    `precision` is that of `disco.conv`. Two runs give equal bits; `deterministic
    = false` gives that up, and permits a family to add parts of the gradient in
    any order.

    A plan names the layouts that x and gy are in; the shapes below are those
    of nchw (see `#disco.plan`).

    Constraints:
    - (C1) x is [batch, channels, input points...]; all but the batch is static.
    - (C2) The points of x are the input of psi.
    - (C3) Psi is one psi value without storage, or the tensors of its storage.
    - (C4) groups >= 1 divides the input channels.
    - (C5) gy is [batch of x, O, output points...] in x's element type; groups
      divides O.
    - (C6) The weight gradient is [O, C/groups, K], the bias gradient [O].
    - (C7) The gradients have x's element type, or f32.
    - (C8) Only f32 has a precision other than ieee.
  }];
  let arguments = (ins Disco_FloatTensor:$x, Disco_FloatTensor:$gy,
    Disco_PsiOperand:$psi, DefaultValuedAttr<I64Attr, "1">:$groups,
    DefaultValuedAttr<Disco_PrecisionAttr, "Precision::ieee">:$precision,
    DefaultValuedAttr<BoolAttr, "true">:$deterministic,
    OptionalAttr<Disco_StorageAttr>:$storage, OptionalAttr<Disco_PlanAttr>:$plan);
  let results = (outs Disco_FloatTensor:$weight_grad, Optional<Disco_FloatTensor>:$bias_grad);
  let assemblyFormat = [{
    $x `,` $gy `,` custom<PsiOperands>($psi) (`groups` $groups^)? (`precision` `` $precision^)?
    (`deterministic` `=` $deterministic^)? (`storage` $storage^)? (`plan` $plan^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    ::mlir::TypedValue<::mlir::RankedTensorType> getActivations() { return getX(); }
  }];
}

#endif // DISCO_DIALECT_DISCO_DISCOOPS_TD
