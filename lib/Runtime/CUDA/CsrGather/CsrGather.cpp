//===- CsrGather.cpp - the family csr_gather ------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Core/Family.h"
#include "Conv.h"
#include "Filter.h"

#include <algorithm>

namespace disco::cuda {

using csr::Fields;
using csr::Filter;
using csr::FilterOp;

namespace {

/// contract and contract_sum.
class Contraction : public disco_prepared {
public:
  disco_status make(const Device &device, const disco_kernel_call &call) {
    sums = call.op == DISCO_OP_CONTRACT_SUM;
    csr::FilterOptions options;
    if (disco_status s = csr::readChoices(call, options.choices))
      return s;
    options.dtype = call.dtype;
    options.op = sums ? FilterOp::contractSum : FilterOp::contract;
    options.minFields = call.channels;
    return Filter::make(device, call.psi, options, filter);
  }

  disco_status workspaceBytes(const disco_kernel_call &,
                              uint64_t &bytes) const override {
    bytes = 0;
    return DISCO_OK;
  }

  disco_status run(const disco_kernel_call &call, cudaStream_t stream,
                   void *) const override {
    const disco_kernel_psi &psi = call.psi;
    const int64_t in = psi.nlat_in * psi.nlon_in;
    const int64_t out = psi.nlat_out * psi.nlon_out;
    const int64_t K = psi.num_basis;
    Fields fields = {};
    fields.numBasis = static_cast<int32_t>(K);
    fields.xBasis = in;
    fields.xField = sums ? K * in : in;
    fields.yBasis = out;
    fields.yField = sums ? out : K * out;
    // Rows share rings through the L2 cache, which holds what so many fields
    // have in some rows.
    constexpr int64_t wanted = 256;
    const int64_t step =
        std::max<int64_t>(wanted / std::max<int64_t>(call.channels, 1), 1);
    const int64_t size = sizeOf(call.dtype);
    for (int64_t b = 0; b < call.batch; b += step) {
      const int64_t first = b * call.channels;
      fields.x =
          static_cast<const char *>(call.x) + first * fields.xField * size;
      fields.y = static_cast<char *>(call.y) + first * fields.yField * size;
      fields.numFields =
          static_cast<int32_t>(std::min(step, call.batch - b) * call.channels);
      if (disco_status s = filter.launch(fields, 0, stream))
        return s;
    }
    return DISCO_OK;
  }

private:
  Filter filter;
  bool sums = false;
};

disco_status prepare(const Device &device, const disco_kernel_call &call,
                     std::unique_ptr<disco_prepared> &prepared) {
  if (call.schedule.in_layout != DISCO_NCHW ||
      call.schedule.out_layout != DISCO_NCHW)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected the layouts of csr_gather to be %d (nchw), but got "
                "%d and %d",
                DISCO_NCHW, call.schedule.in_layout, call.schedule.out_layout);
  if (call.op == DISCO_OP_CONV)
    return csr::prepareConv(device, call, prepared);
  if (call.op == DISCO_OP_CONV_WEIGHT_GRAD)
    return csr::prepareWeightGrad(device, call, prepared);
  auto made = std::make_unique<Contraction>();
  if (disco_status s = made->make(device, call))
    return s;
  prepared = std::move(made);
  return DISCO_OK;
}

} // namespace

const Family csrGatherFamily = {"csr_gather", prepare};

} // namespace disco::cuda
