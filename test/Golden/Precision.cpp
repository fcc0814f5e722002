//===- Precision.cpp - layers in narrow types against float64 -------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Precision.h"

#include "disco/Filter/SphereOperator.h"
#include "disco/Runtime/Accuracy.h"

using namespace disco;
using namespace disco::golden;
using reference::Tensor;

Result<Array> golden::convertNpy(const std::string &from, DType dtype,
                                 const std::string &path) {
  Result<Array> array = readNpy(from);
  if (!array)
    return array;
  Result<Array> narrow = Tensor::from(*array).to(dtype);
  if (!narrow)
    return narrow;
  if (Status status = writeNpy(path, *narrow); !status)
    return status.error();
  return narrow;
}

Result<PrecisionError> golden::precisionError(const NarrowLayer &layer,
                                              const Array &y) {
  Result<filter::SphereFilter> filter = filter::parseSphereFilter(layer.filter);
  if (!filter)
    return filter.error();
  Result<filter::SphereOperator> sphere = filter::buildOperator(*filter);
  if (!sphere)
    return sphere.error();
  auto psi = reference::Operator::fromSphere(*sphere);
  Tensor x = Tensor::from(layer.x), w = Tensor::from(layer.w), bias;
  if (layer.b)
    bias = Tensor::from(*layer.b);
  auto compute = [&](reference::Precision precision) {
    reference::ConvOptions options;
    options.groups = layer.groups;
    return reference::conv(psi, x, w, layer.b ? &bias : nullptr, nullptr,
                           options, precision);
  };
  Result<Tensor> expected = compute({});
  if (!expected)
    return expected.error();
  if (expected->shape != y.shape || y.dtype != layer.x.dtype)
    return Error{"expected y to be " +
                 describe(layer.x.dtype, expected->shape) + ", but got " +
                 describe(y.dtype, y.shape)};
  double naiveError = 0;
  if (reference::needsNaive(y.dtype)) {
    Result<Tensor> naive = compute({y.dtype});
    if (!naive)
      return naive.error();
    naiveError =
        reference::compare(*expected, naive->rounded(y.dtype)).relativeL2;
  }
  reference::Difference difference =
      reference::compare(*expected, Tensor::from(y));
  if (!difference.finite)
    return Error{"expected y to be finite, but element " +
                 reference::describeIndex(difference.worstIndex, y.shape) +
                 " is not"};
  return PrecisionError{difference.relativeL2,
                        reference::errorBound(y.dtype, naiveError)};
}
