//===- ToeplitzWgmma.cpp - the family toeplitz_wgmma ----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Core/Family.h"
#include "../Repack/Repack.h"
#include "Filter.h"

#include "disco/ABI/Families/ToeplitzWgmma.h"

#include <cinttypes>
#include <string>

namespace disco::cuda {

using toeplitz_wgmma::Choice;
using toeplitz_wgmma::Filter;

namespace {

int64_t fieldOf(const disco_schedule &schedule, int32_t field) {
  for (int32_t i = 0; i < schedule.num_fields; ++i)
    if (schedule.fields[i].id == field)
      return schedule.fields[i].value;
  return 0;
}

/// Fails unless the field is 0 or one of `choices`.
template <size_t N>
disco_status checkField(const disco_schedule &schedule, int32_t field,
                        const char *name, const int (&choices)[N]) {
  const int64_t value = fieldOf(schedule, field);
  std::string known;
  for (int choice : choices) {
    if (value == choice || value == 0)
      return DISCO_OK;
    known += (known.empty() ? "" : ", ") + std::to_string(choice);
  }
  return fail(DISCO_INVALID_ARGUMENT,
              "expected %s of toeplitz_wgmma to be one of %s, but got %" PRId64,
              name, known.c_str(), value);
}

/// contract and contract_sum. x in nchw is packed in the workspace first.
class Contraction : public disco_prepared {
public:
  disco_status make(const Device &device, const disco_kernel_call &call) {
    const bool sum = call.op == DISCO_OP_CONTRACT_SUM;
    packs = call.schedule.in_layout == DISCO_NCHW;
    Choice choice;
    choice.rows = fieldOf(call.schedule, DISCO_TOEPLITZ_WGMMA_ROWS);
    choice.groups = fieldOf(call.schedule, DISCO_TOEPLITZ_WGMMA_LON_GROUPS);
    choice.stages = fieldOf(call.schedule, DISCO_TOEPLITZ_WGMMA_STAGES);
    if (disco_status s = filter.make(device, call.psi, sum,
                                     static_cast<DType>(call.dtype), choice))
      return s;
    if (!packs)
      return DISCO_OK;
    disco_repack what = {};
    what.struct_size = sizeof what;
    what.from_layout = DISCO_NCHW;
    what.to_layout = DISCO_C8;
    what.from_dtype = what.to_dtype = call.dtype;
    what.channels = call.channels;
    what.points =
        call.psi.nlat_in * call.psi.nlon_in * (sum ? call.psi.num_basis : 1);
    return repack.make(device, what);
  }

  disco_status workspaceBytes(const disco_kernel_call &call,
                              uint64_t &bytes) const override {
    bytes = packs ? static_cast<uint64_t>(repack.toBytes(call.batch)) : 0;
    return DISCO_OK;
  }

  disco_status run(const disco_kernel_call &call, cudaStream_t stream,
                   void *workspace) const override {
    const void *x = packs ? workspace : call.x;
    for (const void *operand : {x, static_cast<const void *>(call.y)})
      if (reinterpret_cast<uintptr_t>(operand) % 16)
        return fail(DISCO_INVALID_ARGUMENT,
                    "expected x and y of toeplitz_wgmma to be aligned to 16 "
                    "bytes, but got the address %p",
                    operand);
    if (packs)
      if (disco_status s = repack.launch(call.batch, call.x, workspace, stream))
        return s;
    return filter.launch(
        {x, call.y, call.batch, call.channels, call.schedule.out_layout},
        stream);
  }

private:
  Filter filter;
  repack::Repack repack;
  bool packs = false;
};

disco_status checkCall(const disco_kernel_call &call) {
  if (call.op != DISCO_OP_CONTRACT && call.op != DISCO_OP_CONTRACT_SUM)
    return fail(DISCO_UNSUPPORTED_TARGET,
                "expected the operation of toeplitz_wgmma to be contract (%d) "
                "or contract_sum (%d), but got %d",
                DISCO_OP_CONTRACT, DISCO_OP_CONTRACT_SUM, call.op);
  if (call.dtype != DISCO_F16 && call.dtype != DISCO_BF16)
    return fail(DISCO_UNSUPPORTED_TARGET,
                "expected the type of toeplitz_wgmma to be f16 (%d) or bf16 "
                "(%d), but got %d",
                DISCO_F16, DISCO_BF16, call.dtype);
  if (call.psi.form != DISCO_FORM_ARCS)
    return fail(DISCO_UNSUPPORTED_TARGET,
                "expected psi of toeplitz_wgmma to be stored as arcs (%d), but "
                "got form %d",
                DISCO_FORM_ARCS, call.psi.form);
  for (int32_t layout : {call.schedule.in_layout, call.schedule.out_layout})
    if (layout != DISCO_NCHW && layout != DISCO_C8)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected the layouts of toeplitz_wgmma to be nchw (%d) or "
                  "c8 (%d), but got %d",
                  DISCO_NCHW, DISCO_C8, layout);
  if (disco_status s = checkField(call.schedule, DISCO_TOEPLITZ_WGMMA_ROWS,
                                  "rows", toeplitz_wgmma::rowChoices))
    return s;
  return checkField(call.schedule, DISCO_TOEPLITZ_WGMMA_LON_GROUPS,
                    "lon_groups", toeplitz_wgmma::groupChoices);
}

disco_status prepare(const Device &device, const disco_kernel_call &call,
                     std::unique_ptr<disco_prepared> &prepared) {
  if (disco_status s = checkCall(call))
    return s;
  auto made = std::make_unique<Contraction>();
  if (disco_status s = made->make(device, call))
    return s;
  prepared = std::move(made);
  return DISCO_OK;
}

} // namespace

const Family toeplitzWgmmaFamily = {"toeplitz_wgmma", prepare};

} // namespace disco::cuda
