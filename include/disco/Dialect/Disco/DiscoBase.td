//===- DiscoBase.td - the dialect
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_DIALECT_DISCO_DISCOBASE_TD
#define DISCO_DIALECT_DISCO_DISCOBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Disco_Dialect : Dialect {
  let name = "disco";
  let cppNamespace = "::mlir::disco";
  let summary = "filter convolutions: gather through a structured sparse operator, then mix channels";
  let description = [{
    A filter operator psi maps a field on the input points to K feature fields
    on the output points; a channel einsum mixes channels and features:

    ```
    y[b,c,k,n] = sum over taps t of n:  v[t,k] * x[b,c,m(t)]     disco.contract
    z[b,o,n]   = sum over c,k:          W[o,c,k] * y[b,c,k,n]    disco.conv does both
    ```

    psi is a value (`!disco.psi`), built analytically (`disco.filter`) or from
    tables (`disco.assemble`); `disco.adjoint` transposes it, so that forward
    layers, transposed layers and all gradients are the same four contractions.

    Activations are `[batch, channels, points...]`; only the batch may be
    dynamic. Element types: x, y, z and the residual have one type T of f64,
    f32, f16, bf16; weight and bias are T or f32. Sums are accumulated in
    max(f32, T).
  }];
  // Sizes of results are read with tensor.dim.
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
  let useDefaultTypePrinterParser = 1;
  // The attribute parser hands `#disco.sphere_filter` to the one grammar of
  // lib/Filter, so it is written by hand.
  let useDefaultAttributePrinterParser = 0;
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attr,
                        ::mlir::DialectAsmPrinter &printer) const override;

  private:
    void registerAttributes();
    void registerTypes();
    void registerBytecode();

  public:
  }];
}

#endif // DISCO_DIALECT_DISCO_DISCOBASE_TD
