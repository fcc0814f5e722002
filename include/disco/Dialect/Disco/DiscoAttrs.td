//===- DiscoAttrs.td - attributes
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_DIALECT_DISCO_DISCOATTRS_TD
#define DISCO_DIALECT_DISCO_DISCOATTRS_TD

include "disco/Dialect/Disco/DiscoTypes.td"

class Disco_Attr<string name, string mnem, list<Trait> traits = []>
    : AttrDef<Disco_Dialect, name, traits> {
  let mnemonic = mnem;
}

def Disco_TableFormatAttr : EnumAttr<Disco_Dialect, Disco_TableFormat, "table_format">;
def Disco_ActivationAttr : EnumAttr<Disco_Dialect, Disco_Activation, "activation">;
def Disco_PrecisionAttr : EnumAttr<Disco_Dialect, Disco_Precision, "precision">;

// Grid and filter have no mnemonic: the dialect parses and prints their text
// with the grammar of lib/Filter.
def Disco_GridAttr : AttrDef<Disco_Dialect, "Grid"> {
  let attrName = "disco.grid";
  let summary = "a latitude-longitude grid";
  let description = [{
    `#disco.grid<legendre_gauss, 360x720>`: the kind of the latitudes
    (equiangular, legendre_gauss, lobatto, equiangular_trapezoidal), the number
    of latitudes (north first) and of longitudes.

    Constraints, verified by lib/Filter:
    - (C1) 2 <= nlat <= 65536.
    - (C2) nlon >= 1.
    - (C3) There are fewer than 2^31 points.
  }];
  let parameters = (ins "::disco::filter::Grid":$grid);
  let genVerifyDecl = 1;
}

def Disco_SphereFilterAttr : AttrDef<Disco_Dialect, "SphereFilter"> {
  let attrName = "disco.sphere_filter";
  let summary = "an analytic filter on the sphere";
  let description = [{
    ```
    #disco.sphere_filter<harmonic, [3, 3], cutoff = 1.7e-2, norm = mean,
                         in = #disco.grid<legendre_gauss, 360x720>,
                         out = #disco.grid<legendre_gauss, 360x720>>
    ```

    Bases: piecewise_linear, harmonic, morlet, zernike, fourier_bessel. Norms:
    nodal (the default), modal, mean, support, geometric, none. The cutoff is a
    great-circle angle in radians; its default is one latitude step of the
    coarse side. `transpose`, last, marks a transposed layer, whose `in` is the
    coarse and whose `out` is the fine grid. The grammar is lib/Filter's; the
    command-line tools take the same text.

    Constraints, verified by lib/Filter:
    - (C1) The shape has 1 number (zernike), or 1 or 2 (the other bases).
    - (C2) The numbers are in [1, 4096]; the second of fourier_bessel may be 0.
    - (C3) There are at most 4096 basis functions.
    - (C4) The cutoff is positive, finite and at most pi.
    - (C5) Both grids are valid.
    - (C6) nlon of the fine grid is a multiple of nlon of the coarse grid.
  }];
  let parameters = (ins "::disco::filter::SphereFilter":$filter);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The type of the operator that this filter evaluates to.
    PsiType getPsiType() const;
    /// The canonical text, as the command-line tools take it.
    std::string getText() const;
  }];
}

def Disco_StorageAttr : Disco_Attr<"Storage", "storage"> {
  let summary = "how a materialised psi is laid out in tensors";
  let description = [{
    `#disco.storage<arcs, !disco.psi<sphere, 9, 16x32 -> 16x32>>`. The tensors
    that stand for the psi of this type, in order:

    | form | tensors |
    |---|---|
    | `arcs` | arc offsets i32 [rows + 1], arcs i32 [arcs, 4] = (lat, first lon, length, first value), values [taps, K] |
    | `csr` | row offsets [points + 1], columns [taps], values [taps, K] |
    | `table` | index [points, degree] (the number of points means none), values [points, degree, K] |
    | `onehot` | index [points, degree], bin [points, degree] in [0, K) |

    `arcs` has a row for each output latitude and longitude phase:

    ```
    stride = nlonIn / nlonOut, phases = 1    when nlonOut divides nlonIn
    stride = 1, phases = nlonOut / nlonIn    otherwise
    y[k,t,w] = sum over arcs of row t * phases + w % phases, u < length of
      values[value + u, k] * x[lat, (lon + u + stride * (w / phases)) % nlonIn]
    ```

    With `adjoint` the tensors describe the transposed operator: their points
    are the input points of the psi. `arcs` have it only in a weight gradient
    that filters the gradient, with the weight first.

    Constraints:
    - (C1) The form holds the structure of the psi: `arcs` a sphere, `csr` a csr
      or a table, `table` and `onehot` a table.
  }];
  let parameters = (ins
    EnumParameter<Disco_StorageForm>:$form,
    "PsiType":$psi,
    DefaultValuedParameter<"bool", "false">:$adjoint);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The operator that the tensors describe.
    PsiType getStoredPsi() const;
    /// Of that operator: input longitudes per output longitude, at least 1.
    int64_t getStride() const;
    /// Output longitudes per input longitude, at least 1.
    int64_t getPhases() const;
    /// Points (csr, table, onehot) or rows (arcs) that the tensors describe.
    int64_t getNumRows() const;
    /// Points that the indices of the tensors select from.
    int64_t getNumColumns() const;
    /// Number of tensors: 3 (arcs, csr) or 2 (table, onehot).
    unsigned getNumTensors() const;
  }];
}

def Disco_TargetAttr : Disco_Attr<"Target", "target"> {
  let summary = "the chip that ops are planned for";
  let description = [{
    `#disco.target<"h200">` is a row of KnownTargets.def, by its name or its
    architecture; `#disco.target<"h200", "dram_gbps=3000,launch_us=4">` is that row
    with some of its numbers replaced. A module carries it as `disco.target`.
    `disco-opt --list-targets` prints the rows and their fields.
  }];
  let parameters = (ins
    StringRefParameter<"name or architecture of a row">:$name,
    OptionalParameter<"::mlir::StringAttr">:$overrides);
  let assemblyFormat = "`<` $name (`,` $overrides^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The row with the overrides applied.
    ::disco::planning::Target getTarget() const;
  }];
}

def Disco_PlanAttr : Disco_Attr<"Plan", "plan"> {
  let summary = "the decision how an op is run";
  let description = [{
    ```
    #disco.plan<loops, order = weight_first>
    #disco.plan<csr_gather, layout = nchw -> nchw, schedule = {fields = 8},
                target = "h200", batch = 4, problem = 0x1f0c6e5a7a3d2b41>
    ```

    The only thing that lowerings read. The family, a row of KernelFamilies.def,
    comes first; the other keys may be absent and in any order:

    | key | meaning | default |
    |---|---|---|
    | `provider` | where the kernel's code comes from: codegen, runtime | codegen if the family generates code, else runtime |
    | `order` | association order of filter and channel mix | filter_first |
    | `layout` | physical shapes of x and y (of x and gy for a weight gradient) | nchw -> nchw |
    | `kernel_layout` | those that the kernel reads and writes; it repacks where they differ | `layout` |
    | `schedule` | fields of the family and their values | none is chosen yet |
    | `target` | the chip that the plan was made for | not said |
    | `batch` | the batch that was assumed for a dynamic one | none |
    | `problem` | hash of the problem that the plan was made for | not said |

    A plan written by hand needs none of them: `disco-select-kernel` keeps what
    is written and completes the rest; `disco-verify-plan` checks it.

    Physical shapes, of activations [B, C, points...]:

    ```
    nchw   [B, C, points...]
    nhwc   [B, points..., C]
    c8     [B, ceil(C/8), points..., 8]   zeros in the padding channels
    ```

    Constraints:
    - (C1) The family is a row of KernelFamilies.def.
    - (C2) The values of fields are legal by the family's field table.
    - (C3) The target is one that is known.
  }];
  let parameters = (ins
    StringRefParameter<"kernel family">:$family,
    "Provider":$provider, "Order":$order,
    "Layout":$inLayout, "Layout":$outLayout,
    "Layout":$kernelInLayout, "Layout":$kernelOutLayout,
    ArrayRefParameter<"ScheduleField">:$schedule,
    StringRefParameter<"name of a target or empty">:$target,
    "int64_t":$batch, "uint64_t":$problem);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    AttrBuilder<(ins "const ::disco::planning::Family &":$family,
                     "const ::disco::planning::Problem &":$problem,
                     "const ::disco::planning::Schedule &":$schedule,
                     "::llvm::StringRef":$target)>];
  let extraClassDeclaration = [{
    const ::disco::planning::Family &getKernelFamily() const;
    /// Whether every field of the family has a value.
    bool isComplete() const;
    /// The schedule of a complete plan; other fields are at their least values.
    ::disco::planning::Schedule toSchedule() const;
    /// "fields=8,features=9": the fields as command lines take them.
    std::string getFieldsText() const;
    /// The plan of an op whose x and y come in other physical shapes.
    PlanAttr withLayout(Layout in, Layout out) const;
    /// The plan for another problem hash.
    PlanAttr withProblem(uint64_t problem) const;
  }];
}

#endif // DISCO_DIALECT_DISCO_DISCOATTRS_TD
