//===- DiscoProbeOps.td - operations that report to the runtime
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_DIALECT_DISCO_DISCOPROBEOPS_TD
#define DISCO_DIALECT_DISCO_DISCOPROBEOPS_TD

include "disco/Dialect/Disco/DiscoBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Reading and writing keeps probes in order, and apart from what they watch.
class Disco_ProbeOp<string mnemonic>
    : Op<Disco_Dialect, mnemonic, [MemoryEffects<[MemRead, MemWrite]>]>;

def Disco_ProbeBeginOp : Disco_ProbeOp<"probe_begin"> {
  let summary = "reports that an operation begins";
  let description = [{
    `disco.probe_begin 3`: calls `disco_probe_begin`. The number is an index into
    the module's attribute `disco.probes`.
  }];
  let arguments = (ins I64Attr:$id);
  let assemblyFormat = "$id attr-dict";
}

def Disco_ProbeOperandOp : Disco_ProbeOp<"probe_operand"> {
  let summary = "reports an operand or result of an operation";
  let description = [{
    `disco.probe_operand 3, 0, %x : tensor<?x4x16x32xf32>`: calls
    `disco_probe_operand` with the tensor's memory. Results are numbered behind
    the operands.
  }];
  let arguments = (ins I64Attr:$id, I32Attr:$index,
    AnyTypeOf<[AnyRankedTensor, AnyMemRef]>:$value);
  let assemblyFormat = "$id `,` $index `,` $value attr-dict `:` type($value)";
}

def Disco_ProbeEndOp : Disco_ProbeOp<"probe_end"> {
  let summary = "reports that an operation has ended";
  let description = [{
    `disco.probe_end 3`: calls `disco_probe_end`.
  }];
  let arguments = (ins I64Attr:$id);
  let assemblyFormat = "$id attr-dict";
}

#endif // DISCO_DIALECT_DISCO_DISCOPROBEOPS_TD
