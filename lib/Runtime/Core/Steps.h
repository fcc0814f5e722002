//===- Steps.h - entries that are steps on a device -------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CORE_STEPS_H
#define DISCO_LIB_RUNTIME_CORE_STEPS_H

#include "Internal.h"

#include "disco/ABI/DeviceKernel.h"

#include <array>
#include <mutex>

namespace disco::runtime {

/// Workspaces on a device are aligned to this, and so are slots.
constexpr uint64_t deviceAlignment = 256;

/// What an operand of a kernel is by the numbers of its call.
struct Operand {
  const char *name;
  bool isUsed = false, isWritten = false;
  /// `count` elements for each sample, or in all.
  bool isBatched = false;
  /// A table of psi, which may be larger than the kernel reads.
  bool isTable = false;
  disco_dtype dtype = DISCO_F32;
  int64_t count = 0;
};
using Operands = std::array<Operand, DISCO_NUM_OPERANDS>;
/// The numbers have been checked.
Operands operandsOf(const disco_kernel_call &call);
Operands operandsOf(const disco_repack &repack);

/// A size that an input gave a name (a dimension below -1 in the types).
struct NamedSize {
  int64_t name, size;
  int32_t input, dim;
};

/// The tensors of one run.
struct StepTensors {
  const NamedSize *names;
  int32_t numNames;
  /// Of inputs and outputs; not read where only sizes are asked for.
  void *const *inputs, *const *outputs;
};

/// An entry's kernels and constants on the device of a context. What it has
/// there goes back at the end of the context or of the artifact, whichever
/// comes first.
class PreparedEntry {
public:
  explicit PreparedEntry(const disco_device_context &device) : device(device) {}
  ~PreparedEntry() { release(); }
  PreparedEntry(const PreparedEntry &) = delete;

  disco_status prepare(const disco_abi_entry &entry);
  void release();

  disco_status workspaceBytes(const disco_abi_entry &entry,
                              const StepTensors &tensors,
                              uint64_t &bytes) const;
  /// Puts all steps on the context's stream. `bytes` is as above.
  disco_status run(const disco_abi_entry &entry, const StepTensors &tensors,
                   void *workspace, uint64_t bytes) const;

private:
  struct Layout;
  disco_status layOut(const disco_abi_entry &entry, const StepTensors &tensors,
                      Layout &layout) const;
  disco_status prepareStep(const disco_abi_entry &entry, int32_t index,
                           CallPreparer &preparer);
  disco_status uploadConstants(const disco_abi_entry &entry);
  /// Tells the thread's hooks of the operands that a step reads, or has
  /// written.
  void report(const disco_abi_entry &entry, int32_t index,
              const StepTensors &tensors,
              void *const (&operands)[DISCO_NUM_OPERANDS], bool written) const;
  /// Launches a step whose operands are at these addresses.
  disco_status launch(const disco_abi_entry &entry, int32_t index,
                      const StepTensors &tensors,
                      void *const (&operands)[DISCO_NUM_OPERANDS],
                      void *workspace, uint64_t bytes) const;

  const disco_device_context device;
  std::mutex mutex; // of release
  /// One of them, by step.
  struct Kernel {
    disco_prepared *call = nullptr;
    disco_prepared_repack *repack = nullptr;
  };
  std::vector<Kernel> kernels;
  struct Constant {
    void *memory = nullptr;
    uint64_t bytes = 0;
  };
  std::vector<Constant> constants; // by buffer
};

} // namespace disco::runtime

#endif // DISCO_LIB_RUNTIME_CORE_STEPS_H
