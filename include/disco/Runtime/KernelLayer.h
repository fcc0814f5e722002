//===- KernelLayer.h - one layer by a family of kernels ---------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layer on the sphere and its gradients, with the same operands and results
// as in disco/Runtime/Reference.h but computed by a family of the runtime in
// the given types.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_RUNTIME_KERNELLAYER_H
#define DISCO_RUNTIME_KERNELLAYER_H

#include "disco/Runtime/KernelCall.h"
#include "disco/Runtime/Reference.h"

#include <functional>

namespace disco {

class KernelLayer {
public:
  /// Runs a call whose operands are on the host.
  using Runner = std::function<Status(const disco_kernel_call &)>;

  /// `fields` is the type of x, y and their gradients, `parameters` that of
  /// weight, bias and theirs, which is that of the fields or f32. What is given
  /// is rounded to them. `psi` must outlive the layer.
  KernelLayer(Runner runKernel, const filter::SphereOperator &psi,
              int64_t groups, DType fields, DType parameters)
      : runKernel(std::move(runKernel)), psi(psi), groups(groups),
        fields(fields), parameters(parameters) {}

  /// By the kernels of a family of the host.
  KernelLayer(const KernelFamily &family, const filter::SphereOperator &psi,
              int64_t groups, DType fields, DType parameters)
      : KernelLayer(
            [&family](const disco_kernel_call &call) {
              return disco::runKernel(family, call);
            },
            psi, groups, fields, parameters) {}

  /// x [B,C,in], weight [O,C/groups,K], bias [O] or null -> [B,O,out].
  Result<reference::Tensor> forward(const reference::Tensor &x,
                                    const reference::Tensor &weight,
                                    const reference::Tensor *bias) const;
  /// gy [B,O,out] -> [B,C,in].
  Result<reference::Tensor> inputGrad(const reference::Tensor &gy,
                                      const reference::Tensor &weight) const;
  Result<reference::ParameterGradients>
  parameterGrads(const reference::Tensor &x, const reference::Tensor &gy) const;

private:
  DType valueType() const {
    return fields == DType::f64 ? DType::f64 : DType::f32;
  }

  const Runner runKernel;
  const filter::SphereOperator &psi;
  const int64_t groups;
  const DType fields, parameters;
};

} // namespace disco

#endif // DISCO_RUNTIME_KERNELLAYER_H
