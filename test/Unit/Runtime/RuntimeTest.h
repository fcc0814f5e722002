//===- RuntimeTest.h - fixtures ---------------------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A context and the artifact written by hand, for the tests of the C interface.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TEST_UNIT_RUNTIME_RUNTIMETEST_H
#define DISCO_TEST_UNIT_RUNTIME_RUNTIMETEST_H

#include "disco/ABI/Probe.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace disco {

inline std::string artifactPath(const std::string &name) {
  return ARTIFACT_FOLDER "artifact-" + name + ".so";
}

/// A dense tensor on the CPU that refers to `data` and `shape`.
template <typename T>
disco_tensor tensorOf(std::vector<T> &data, const std::vector<int64_t> &shape,
                      disco_dtype dtype) {
  disco_tensor tensor{};
  tensor.data = data.data();
  tensor.device = {DISCO_CPU, 0};
  tensor.rank = static_cast<int32_t>(shape.size());
  tensor.dtype = dtype;
  tensor.shape = shape.data();
  return tensor;
}

class RuntimeTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(disco_artifact_open(artifactPath("good").c_str(), &artifact),
              DISCO_OK)
        << disco_last_error();
    ASSERT_EQ(disco_context_create(nullptr, &context), DISCO_OK)
        << disco_last_error();
  }
  void TearDown() override {
    disco_context_destroy(context);
    disco_artifact_close(artifact);
  }

  /// An entry of the artifact, prepared.
  const disco_entry *prepared(const char *name) {
    const disco_entry *entry = nullptr;
    EXPECT_EQ(disco_artifact_find_entry(artifact, name, &entry), DISCO_OK)
        << disco_last_error();
    EXPECT_EQ(disco_prepare(context, entry), DISCO_OK) << disco_last_error();
    return entry;
  }

  disco_artifact *artifact = nullptr;
  disco_context *context = nullptr;
};

/// A call failed with this status and message.
#define EXPECT_FAILURE(CALL, STATUS, MESSAGE)                                  \
  do {                                                                         \
    EXPECT_EQ(CALL, STATUS);                                                   \
    EXPECT_EQ(std::string(disco_last_error()), MESSAGE);                       \
  } while (false)

} // namespace disco

#endif // DISCO_TEST_UNIT_RUNTIME_RUNTIMETEST_H
