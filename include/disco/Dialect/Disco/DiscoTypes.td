//===- DiscoTypes.td - types
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_DIALECT_DISCO_DISCOTYPES_TD
#define DISCO_DIALECT_DISCO_DISCOTYPES_TD

include "disco/Dialect/Disco/DiscoBase.td"
include "disco/Dialect/Disco/DiscoEnums.td"

def Disco_PsiType : TypeDef<Disco_Dialect, "Psi"> {
  let mnemonic = "psi";
  let summary = "a filter operator: K linear maps from input points to output points";
  let description = [{
    ```
    !disco.psi<sphere, 9, 721x1440 -> 360x720>   9 maps between lat-lon grids
    !disco.psi<table<25>, 100, 128 -> 40>        25 neighbours a point, 100 maps
    !disco.psi<csr, 4, 300 -> 33>                any number of taps a point
    ```

    `sphere` operators are shared along longitude (one nlon divides the other),
    `table` operators have a fixed number of neighbours (the degree) at each of
    the points they were built for, `csr` operators are arbitrary. The adjoint
    of an operator keeps the structure's name.

    Constraints:
    - (C1) K >= 1.
    - (C2) A sphere has two input and two output dimensions, the other
      structures have one of each; all are >= 1.
    - (C3) One nlon of a sphere divides the other.
    - (C4) The degree of a table is >= 1; only tables have one.
    - (C5) There are fewer than 2^31 input points and output points.
  }];
  let parameters = (ins
    EnumParameter<Disco_Structure>:$structure,
    "int64_t":$degree,
    "int64_t":$numBasis,
    ArrayRefParameter<"int64_t">:$inShape,
    ArrayRefParameter<"int64_t">:$outShape);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getNumInputPoints() const;
    int64_t getNumOutputPoints() const;
    /// The type of the transposed operator: input and output swapped.
    PsiType getAdjoint() const;
    /// "721x1440" for messages.
    static std::string formatShape(::llvm::ArrayRef<int64_t> shape);
  }];
}

#endif // DISCO_DIALECT_DISCO_DISCOTYPES_TD
