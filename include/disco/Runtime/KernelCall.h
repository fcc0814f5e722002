//===- KernelCall.h - calling kernels on arrays -----------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The calls of disco/ABI/Kernel.h for tools and tests: psi's tables from an
// operator, operands as arrays, workspace and result allocated.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_RUNTIME_KERNELCALL_H
#define DISCO_RUNTIME_KERNELCALL_H

#include "disco/ABI/Kernel.h"
#include "disco/Filter/SphereOperator.h"
#include "disco/Support/Npy.h"

#include <optional>
#include <string_view>

namespace disco {

/// psi and the memory of its tables. Not copyable: `psi` points into it.
class PsiTables {
public:
  PsiTables() = default;
  PsiTables(PsiTables &&) = default;
  PsiTables &operator=(PsiTables &&) = default;

  /// As arcs, values rounded to `valueType`.
  static Result<PsiTables> fromSphere(const filter::SphereOperator &op,
                                      DType valueType);
  /// offsets [out+1] and columns [taps] of i32 or i64, values [taps, K].
  static PsiTables fromCsr(int64_t numIn, int64_t numOut, Array offsets,
                           Array columns, Array values, bool adjoint);
  /// index [rows, degree], values [rows, degree, K].
  static PsiTables fromTable(int64_t numIn, int64_t numOut, Array index,
                             Array values, bool adjoint);
  static PsiTables fromOneHot(int64_t numIn, int64_t numOut, Array index,
                              Array bins, int64_t numBasis, bool adjoint);

  const disco_kernel_psi &view() const { return psi; }

private:
  disco_kernel_psi psi = {};
  Array offsets, indices, values;
};

/// A family of kernels of the runtime.
struct KernelFamily {
  const char *name;
  disco_status (*workspaceBytes)(const disco_kernel_call *, uint64_t *);
  disco_status (*run)(const disco_kernel_call *, void *, uint64_t);
};
/// Null for a name that is no family of the runtime.
const KernelFamily *findKernelFamily(std::string_view name);

/// Memory aligned to DISCO_ALIGNMENT; null when there is none.
class AlignedMemory {
public:
  AlignedMemory() = default;
  explicit AlignedMemory(uint64_t bytes);
  ~AlignedMemory();
  AlignedMemory(AlignedMemory &&other) noexcept
      : memory(other.memory), bytes(other.bytes) {
    other.memory = nullptr;
  }
  AlignedMemory &operator=(AlignedMemory &&other) noexcept {
    std::swap(memory, other.memory);
    std::swap(bytes, other.bytes);
    return *this;
  }
  void *get() const { return memory; }
  uint64_t size() const { return bytes; }

private:
  void *memory = nullptr;
  uint64_t bytes = 0;
};

/// Runs a call in a workspace of its own.
Status runKernel(const KernelFamily &family, const disco_kernel_call &call);

/// Runs a call whose pointers are to host memory on a CUDA device: prepares it,
/// copies operands there in allocations of exactly their sizes, and the results
/// back. Outputs are filled with NaN first.
Status runKernelOnDevice(std::string_view family, int32_t device,
                         const disco_kernel_call &call);

/// A call with struct_size, op, psi and the types set, groups 1.
disco_kernel_call makeKernelCall(int32_t op, const PsiTables &psi, DType dtype);

/// Sets all fields of the schedule, in the order of their ids.
void setFields(disco_kernel_call &call, std::initializer_list<int64_t> values);

} // namespace disco

#endif // DISCO_RUNTIME_KERNELCALL_H
