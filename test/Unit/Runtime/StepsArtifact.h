//===- StepsArtifact.h - the tables of artifact-steps -----------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TEST_UNIT_RUNTIME_STEPSARTIFACT_H
#define DISCO_TEST_UNIT_RUNTIME_STEPSARTIFACT_H

#include "disco/ABI/Artifact.h"

#include <dlfcn.h>
#include <stdexcept>
#include <string>

namespace disco::test {

/// Keeps the library of Artifacts/Steps.c loaded, so that an artifact that is
/// opened meanwhile is this copy of its tables.
class StepsArtifact {
public:
  explicit StepsArtifact(const std::string &path)
      : path(path), library(dlopen(path.c_str(), RTLD_NOW)) {
    if (!library)
      throw std::runtime_error(dlerror());
  }
  ~StepsArtifact() { dlclose(library); }
  StepsArtifact(const StepsArtifact &) = delete;

  disco_abi_artifact &root() const {
    return *static_cast<disco_abi_artifact *>(
        dlsym(library, DISCO_ARTIFACT_SYMBOL));
  }
  disco_abi_entry &entry(int index) const {
    return const_cast<disco_abi_entry &>(root().entries[index]);
  }
  static disco_abi_buffer &buffer(const disco_abi_entry &entry, int index) {
    return const_cast<disco_abi_buffer &>(entry.buffers[index]);
  }
  static disco_abi_step &step(const disco_abi_entry &entry, int index) {
    return const_cast<disco_abi_step &>(entry.steps[index]);
  }
  static disco_kernel_call &call(const disco_abi_step &step) {
    return const_cast<disco_kernel_call &>(*step.call);
  }
  static disco_tensor_type &inputOf(const disco_abi_entry &entry) {
    return const_cast<disco_tensor_type &>(entry.inputs[0]);
  }
  static const disco_tensor_type &outputOf(const disco_abi_entry &entry) {
    return entry.outputs[0];
  }
  static int64_t *dims(const int64_t *dims) {
    return const_cast<int64_t *>(dims);
  }

  const std::string path;

private:
  void *library;
};

} // namespace disco::test

#endif // DISCO_TEST_UNIT_RUNTIME_STEPSARTIFACT_H
