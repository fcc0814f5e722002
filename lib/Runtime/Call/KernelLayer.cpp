//===- KernelLayer.cpp - one layer by a family of kernels -----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Runtime/KernelLayer.h"

namespace disco {

using reference::Tensor;

static Status checkRank(const char *name, const Tensor &tensor, size_t rank) {
  if (tensor.shape.size() == rank)
    return {};
  return Error{std::string("expected ") + name + " to have rank " +
               std::to_string(rank) + ", but got " +
               std::to_string(tensor.shape.size())};
}

static Status checkDim(const char *name, const Tensor &tensor, size_t dim,
                       int64_t expected) {
  if (tensor.shape[dim] == expected)
    return {};
  return Error{std::string("expected ") + name + " to have dimension " +
               std::to_string(dim) + " equal to " + std::to_string(expected) +
               ", but got " + std::to_string(tensor.shape[dim])};
}

/// [B, C, nlat, nlon] on a grid.
static Status checkField(const char *name, const Tensor &tensor, int64_t nlat,
                         int64_t nlon) {
  if (Status s = checkRank(name, tensor, 4); !s)
    return s;
  if (Status s = checkDim(name, tensor, 2, nlat); !s)
    return s;
  return checkDim(name, tensor, 3, nlon);
}

/// [O, C/groups, K], of a layer that has `channels` in-channels (out-channels
/// when `isTransposed`).
static Status checkWeight(const Tensor &weight, int64_t channels,
                          int64_t groups, int64_t numBasis, bool isTransposed) {
  if (Status s = checkRank("weight", weight, 3); !s)
    return s;
  if (groups < 1 || channels % groups != 0)
    return Error{"expected groups to divide the " + std::to_string(channels) +
                 " channels, but got " + std::to_string(groups)};
  if (Status s = isTransposed
                     ? checkDim("weight", weight, 0, channels)
                     : checkDim("weight", weight, 1, channels / groups);
      !s)
    return s;
  return checkDim("weight", weight, 2, numBasis);
}

Result<Tensor> KernelLayer::forward(const Tensor &x, const Tensor &weight,
                                    const Tensor *bias) const {
  if (Status s = checkField("x", x, psi.nlatIn, psi.nlonIn); !s)
    return s.error();
  if (Status s = checkWeight(weight, x.shape[1], groups, psi.numBasis, false);
      !s)
    return s.error();
  if (bias) {
    if (Status s = checkRank("bias", *bias, 1); !s)
      return s.error();
    if (Status s = checkDim("bias", *bias, 0, weight.shape[0]); !s)
      return s.error();
  }
  Result<PsiTables> tables = PsiTables::fromSphere(psi, valueType());
  Result<Array> input = x.to(fields), w = weight.to(parameters);
  Result<Array> b = bias ? bias->to(parameters) : Array();
  Result<Array> y = Array::create(
      fields, {x.shape[0], weight.shape[0], psi.nlatOut, psi.nlonOut});
  if (!tables)
    return tables.error();
  for (const Result<Array> *array : {&input, &w, &b, &y})
    if (!*array)
      return array->error();
  disco_kernel_call call = makeKernelCall(DISCO_OP_CONV, *tables, fields);
  call.weight_dtype = static_cast<disco_dtype>(parameters);
  call.batch = x.shape[0];
  call.channels = x.shape[1];
  call.out_channels = weight.shape[0];
  call.groups = groups;
  call.has_bias = bias != nullptr;
  call.schedule.order =
      weight.shape[0] < x.shape[1] ? DISCO_WEIGHT_FIRST : DISCO_FILTER_FIRST;
  call.x = input->bytes.data();
  call.weight = w->bytes.data();
  call.bias = b->bytes.data();
  call.y = y->bytes.data();
  if (Status s = runKernel(call); !s)
    return s.error();
  return Tensor::from(*y);
}

Result<Tensor> KernelLayer::inputGrad(const Tensor &gy,
                                      const Tensor &weight) const {
  if (Status s = checkField("gy", gy, psi.nlatOut, psi.nlonOut); !s)
    return s.error();
  if (Status s = checkWeight(weight, gy.shape[1], groups, psi.numBasis, true);
      !s)
    return s.error();
  Result<PsiTables> tables =
      PsiTables::fromSphere(filter::adjoint(psi), valueType());
  const int64_t channels = weight.shape[1] * groups;
  Result<Array> input = gy.to(fields), w = weight.to(parameters);
  Result<Array> y =
      Array::create(fields, {gy.shape[0], channels, psi.nlatIn, psi.nlonIn});
  if (!tables)
    return tables.error();
  for (const Result<Array> *array : {&input, &w, &y})
    if (!*array)
      return array->error();
  disco_kernel_call call = makeKernelCall(DISCO_OP_CONV, *tables, fields);
  call.weight_dtype = static_cast<disco_dtype>(parameters);
  call.batch = gy.shape[0];
  call.channels = gy.shape[1];
  call.out_channels = channels;
  call.groups = groups;
  call.transpose_weight = 1;
  call.schedule.order =
      channels < gy.shape[1] ? DISCO_WEIGHT_FIRST : DISCO_FILTER_FIRST;
  call.x = input->bytes.data();
  call.weight = w->bytes.data();
  call.y = y->bytes.data();
  if (Status s = runKernel(call); !s)
    return s.error();
  return Tensor::from(*y);
}

Result<reference::ParameterGradients>
KernelLayer::parameterGrads(const Tensor &x, const Tensor &gy) const {
  if (Status s = checkField("x", x, psi.nlatIn, psi.nlonIn); !s)
    return s.error();
  if (Status s = checkField("gy", gy, psi.nlatOut, psi.nlonOut); !s)
    return s.error();
  if (Status s = checkDim("gy", gy, 0, x.shape[0]); !s)
    return s.error();
  if (groups < 1)
    return Error{"expected groups to be at least 1, but got " +
                 std::to_string(groups)};
  Result<PsiTables> tables = PsiTables::fromSphere(psi, valueType());
  Result<Array> input = x.to(fields), gradient = gy.to(fields);
  Result<Array> weight = Array::create(
      parameters, {gy.shape[1], x.shape[1] / groups, psi.numBasis});
  Result<Array> bias = Array::create(parameters, {gy.shape[1]});
  if (!tables)
    return tables.error();
  for (const Result<Array> *array : {&input, &gradient, &weight, &bias})
    if (!*array)
      return array->error();
  disco_kernel_call call =
      makeKernelCall(DISCO_OP_CONV_WEIGHT_GRAD, *tables, fields);
  call.weight_dtype = static_cast<disco_dtype>(parameters);
  call.batch = x.shape[0];
  call.channels = x.shape[1];
  call.out_channels = gy.shape[1];
  call.groups = groups;
  call.has_bias = 1;
  call.x = input->bytes.data();
  call.gy = gradient->bytes.data();
  call.y = weight->bytes.data();
  call.grad_bias = bias->bytes.data();
  if (Status s = runKernel(call); !s)
    return s.error();
  return reference::ParameterGradients{Tensor::from(*weight),
                                       Tensor::from(*bias)};
}

} // namespace disco
