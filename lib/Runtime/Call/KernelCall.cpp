//===- KernelCall.cpp - calling kernels on arrays -------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Runtime/KernelCall.h"

#include <cstdlib>
#include <cstring>

namespace disco {

Result<PsiTables> PsiTables::fromSphere(const filter::SphereOperator &op,
                                        DType valueType) {
  const auto numArcs = static_cast<int64_t>(op.arcs.size());
  PsiTables tables;
  Result<Array> offsets = Array::create(DType::i32, {op.numRows() + 1});
  Result<Array> arcs = Array::create(DType::i32, {numArcs, 4});
  Result<Array> values = Array::create(valueType, {op.numTaps(), op.numBasis});
  for (const Result<Array> *array : {&offsets, &arcs, &values})
    if (!*array)
      return array->error();
  std::memcpy(offsets->bytes.data(), op.rowOffsets.data(),
              offsets->bytes.size());
  static_assert(sizeof(filter::Arc) == 4 * sizeof(int32_t));
  if (numArcs > 0)
    std::memcpy(arcs->bytes.data(), op.arcs.data(), arcs->bytes.size());
  for (size_t i = 0; i < op.values.size(); ++i)
    values->set(static_cast<int64_t>(i), op.values[i]);
  tables.psi.form = DISCO_FORM_ARCS;
  tables.psi.index_dtype = DISCO_I32;
  tables.psi.value_dtype = static_cast<disco_dtype>(valueType);
  tables.psi.num_basis = op.numBasis;
  tables.psi.nlat_in = op.nlatIn;
  tables.psi.nlon_in = op.nlonIn;
  tables.psi.nlat_out = op.nlatOut;
  tables.psi.nlon_out = op.nlonOut;
  tables.psi.num_arcs = numArcs;
  tables.psi.num_taps = op.numTaps();
  tables.offsets = std::move(*offsets);
  tables.indices = std::move(*arcs);
  tables.values = std::move(*values);
  tables.psi.offsets = tables.offsets.bytes.data();
  tables.psi.indices = tables.indices.bytes.data();
  tables.psi.values = tables.values.bytes.data();
  return tables;
}

PsiTables PsiTables::fromCsr(int64_t numIn, int64_t numOut, Array offsets,
                             Array columns, Array values, bool adjoint) {
  PsiTables tables;
  tables.psi.form = DISCO_FORM_CSR;
  tables.psi.num_taps = columns.shape[0];
  tables.psi.num_basis = values.shape[1];
  tables.psi.value_dtype = static_cast<disco_dtype>(values.dtype);
  tables.psi.index_dtype = static_cast<disco_dtype>(columns.dtype);
  tables.psi.adjoint = adjoint;
  tables.psi.nlat_in = tables.psi.nlat_out = 1;
  tables.psi.nlon_in = numIn;
  tables.psi.nlon_out = numOut;
  tables.offsets = std::move(offsets);
  tables.indices = std::move(columns);
  tables.values = std::move(values);
  tables.psi.offsets = tables.offsets.bytes.data();
  tables.psi.indices = tables.indices.bytes.data();
  tables.psi.values = tables.values.bytes.data();
  return tables;
}

PsiTables PsiTables::fromTable(int64_t numIn, int64_t numOut, Array index,
                               Array values, bool adjoint) {
  PsiTables tables;
  tables.psi.form = DISCO_FORM_TABLE;
  tables.psi.degree = index.shape[1];
  tables.psi.num_basis = values.shape.size() == 3 ? values.shape[2] : 1;
  tables.psi.value_dtype = static_cast<disco_dtype>(values.dtype);
  tables.psi.index_dtype = static_cast<disco_dtype>(index.dtype);
  tables.psi.adjoint = adjoint;
  tables.psi.nlat_in = tables.psi.nlat_out = 1;
  tables.psi.nlon_in = numIn;
  tables.psi.nlon_out = numOut;
  tables.indices = std::move(index);
  tables.values = std::move(values);
  tables.psi.indices = tables.indices.bytes.data();
  tables.psi.values = tables.values.bytes.data();
  return tables;
}

PsiTables PsiTables::fromOneHot(int64_t numIn, int64_t numOut, Array index,
                                Array bins, int64_t numBasis, bool adjoint) {
  PsiTables tables =
      fromTable(numIn, numOut, std::move(index), std::move(bins), adjoint);
  tables.psi.form = DISCO_FORM_ONEHOT;
  tables.psi.value_dtype = 0;
  tables.psi.num_basis = numBasis;
  return tables;
}

static constexpr KernelFamily families[] = {
    {"cpu_gather", disco_cpu_gather_workspace_bytes, disco_cpu_gather_run}};

const KernelFamily *findKernelFamily(std::string_view name) {
  for (const KernelFamily &family : families)
    if (name == family.name)
      return &family;
  return nullptr;
}

AlignedMemory::AlignedMemory(uint64_t bytes) : bytes(bytes) {
  if (bytes <= UINT64_MAX - DISCO_ALIGNMENT)
    memory = std::aligned_alloc(DISCO_ALIGNMENT, (bytes + DISCO_ALIGNMENT - 1) /
                                                     DISCO_ALIGNMENT *
                                                     DISCO_ALIGNMENT);
}
AlignedMemory::~AlignedMemory() { std::free(memory); }

Status runKernel(const KernelFamily &family, const disco_kernel_call &call) {
  uint64_t bytes;
  if (family.workspaceBytes(&call, &bytes) != DISCO_OK)
    return Error{disco_last_error()};
  const AlignedMemory workspace(bytes);
  if (bytes > 0 && !workspace.get())
    return Error{"expected " + std::to_string(bytes) +
                 " bytes of workspace, but there is no memory"};
  if (family.run(&call, workspace.get(), bytes) != DISCO_OK)
    return Error{disco_last_error()};
  return {};
}

disco_kernel_call makeKernelCall(int32_t op, const PsiTables &psi,
                                 DType dtype) {
  disco_kernel_call call = {};
  call.struct_size = sizeof call;
  call.op = op;
  call.dtype = call.weight_dtype = static_cast<disco_dtype>(dtype);
  call.groups = 1;
  call.schedule.provider = DISCO_RUNTIME;
  call.schedule.order =
      op == DISCO_OP_CONTRACT_SUM ? DISCO_WEIGHT_FIRST : DISCO_FILTER_FIRST;
  call.psi = psi.view();
  return call;
}

void setFields(disco_kernel_call &call, std::initializer_list<int64_t> values) {
  int32_t count = 0;
  for (int64_t value : values) {
    call.schedule.fields[count] = {count, value};
    ++count;
  }
  call.schedule.num_fields = count;
}

} // namespace disco
