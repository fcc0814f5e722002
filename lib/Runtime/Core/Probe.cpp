//===- Probe.cpp - forwards probes to the thread's hooks ------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/ABI/Probe.h"

#include "Internal.h"

static thread_local disco_probe_hooks hooks;

void disco_set_probe_hooks(const disco_probe_hooks *installed) {
  hooks = installed ? *installed : disco_probe_hooks{};
}

bool disco::runtime::hasProbeHooks() {
  return hooks.begin || hooks.operand || hooks.end;
}

void disco::runtime::reportOperand(int64_t id, int32_t index,
                                   const disco_tensor &tensor) {
  if (hooks.operand)
    hooks.operand(hooks.user, id, index, &tensor);
}

void disco_probe_begin(int64_t id) {
  if (hooks.begin)
    hooks.begin(hooks.user, id);
}

void disco_probe_end(int64_t id) {
  if (hooks.end)
    hooks.end(hooks.user, id);
}

void disco_probe_operand(int64_t id, int32_t index, int32_t dtype, int64_t rank,
                         void *descriptor) {
  if (!hooks.operand)
    return;
  // { allocated, aligned, offset, sizes[rank], strides[rank] }, see Artifact.h
  const auto *words = static_cast<const int64_t *>(descriptor);
  disco_tensor tensor{};
  tensor.data = static_cast<void **>(descriptor)[1];
  tensor.device = {DISCO_CPU, 0};
  tensor.rank = static_cast<int32_t>(rank);
  tensor.dtype = dtype;
  tensor.shape = words + 3;
  tensor.strides = words + 3 + rank;
  tensor.byte_offset =
      static_cast<uint64_t>(words[2] * disco::runtime::sizeOfDType(dtype));
  hooks.operand(hooks.user, id, index, &tensor);
}
