//===- DiscoEnums.td - enumerations
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_DIALECT_DISCO_DISCOENUMS_TD
#define DISCO_DIALECT_DISCO_DISCOENUMS_TD

include "mlir/IR/EnumAttr.td"

class Disco_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::disco";
  let genSpecializedAttr = 0;
}

def Disco_Structure : Disco_Enum<"Structure", "how the taps of a psi are found", [
  I32EnumAttrCase<"sphere", 0>,
  I32EnumAttrCase<"table", 1>,
  I32EnumAttrCase<"csr", 2>]>;

def Disco_TableFormat : Disco_Enum<"TableFormat", "layout of the tables that disco.assemble takes", [
  I32EnumAttrCase<"harmonics_csr", 0>,
  I32EnumAttrCase<"coo", 1>,
  I32EnumAttrCase<"kpacked", 2>,
  I32EnumAttrCase<"csr", 3>,
  I32EnumAttrCase<"knn", 4>,
  I32EnumAttrCase<"knn_onehot", 5>]>;

def Disco_StorageForm : Disco_Enum<"StorageForm", "layout of a materialised psi", [
  I32EnumAttrCase<"arcs", 0>,
  I32EnumAttrCase<"csr", 1>,
  I32EnumAttrCase<"table", 2>,
  I32EnumAttrCase<"onehot", 3>]>;

def Disco_Order : Disco_Enum<"Order", "association order of filter and channel mix", [
  I32EnumAttrCase<"filter_first", 0>,
  I32EnumAttrCase<"weight_first", 1>]>;

def Disco_Provider : Disco_Enum<"Provider", "where a kernel comes from", [
  I32EnumAttrCase<"codegen", 0>,
  I32EnumAttrCase<"runtime", 1>]>;

// Values as DISCO_NCHW, ... of disco/ABI/Problem.h.
def Disco_Layout : Disco_Enum<"Layout", "physical shape of an activation", [
  I32EnumAttrCase<"nchw", 0>,
  I32EnumAttrCase<"nhwc", 1>,
  I32EnumAttrCase<"c8", 2>]>;

def Disco_Activation : Disco_Enum<"Activation", "pointwise function of an epilogue", [
  I32EnumAttrCase<"none", 0>,
  I32EnumAttrCase<"relu", 1>,
  I32EnumAttrCase<"gelu", 2>,
  I32EnumAttrCase<"gelu_tanh", 3>,
  I32EnumAttrCase<"silu", 4>]>;

// Values as DISCO_PRECISION_IEEE, ... of disco/ABI/Problem.h.
def Disco_Precision : Disco_Enum<"Precision", "what f32 products may be replaced by", [
  I32EnumAttrCase<"ieee", 0>,
  I32EnumAttrCase<"tf32", 1>,
  I32EnumAttrCase<"bf16x3", 2>]>;

// Values as DISCO_OP_CONTRACT, ... of disco/ABI/Problem.h.
def Disco_KernelKind : Disco_Enum<"KernelKind", "what a kernel of the runtime computes", [
  I32EnumAttrCase<"contract", 0>,
  I32EnumAttrCase<"contract_sum", 1>,
  I32EnumAttrCase<"conv", 2>,
  I32EnumAttrCase<"conv_weight_grad", 3>]>;

#endif // DISCO_DIALECT_DISCO_DISCOENUMS_TD
