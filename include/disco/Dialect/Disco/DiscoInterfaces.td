//===- DiscoInterfaces.td - interfaces
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_DIALECT_DISCO_DISCOINTERFACES_TD
#define DISCO_DIALECT_DISCO_DISCOINTERFACES_TD

include "mlir/IR/OpBase.td"

def Disco_ContractionOpInterface : OpInterface<"ContractionOpInterface"> {
  let cppNamespace = "::mlir::disco";
  let description = [{
    An op that applies a filter operator. Before `disco-materialize-filters`
    its psi is one value of psi type; after it, the tensors that `storage`
    describes.
  }];
  let methods = [
    InterfaceMethod<"The psi: one psi value, or the tensors of its storage.",
      "::mlir::MutableOperandRange", "getPsiMutable">,
    InterfaceMethod<"The storage of a materialised psi, or null.",
      "::mlir::disco::StorageAttr", "getStorageAttr">,
    InterfaceMethod<"Sets the storage.",
      "void", "setStorageAttr", (ins "::mlir::disco::StorageAttr":$storage)>,
    InterfaceMethod<"The activations that psi is applied to.",
      "::mlir::TypedValue<::mlir::RankedTensorType>", "getActivations">,
    InterfaceMethod<[{
      The operator's type, materialised or not; null when the operands are not
      valid.
      }],
      "::mlir::disco::PsiType", "getPsiType", (ins), "", [{
        return ::mlir::disco::detail::getPsiType($_op.getStorageAttr(),
                                                 $_op.getPsiMutable());
      }]>,
  ];
}

#endif // DISCO_DIALECT_DISCO_DISCOINTERFACES_TD
