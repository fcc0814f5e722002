//===- ProbeTest.cpp - probes and hooks -----------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeTest.h"

#include <thread>

using namespace disco;

namespace {

/// Notes the calls of the hooks as text.
struct Notes {
  std::vector<std::string> calls;

  disco_probe_hooks hooks() {
    disco_probe_hooks hooks{};
    hooks.user = this;
    hooks.begin = [](void *user, int64_t id) {
      static_cast<Notes *>(user)->calls.push_back("begin " +
                                                  std::to_string(id));
    };
    hooks.end = [](void *user, int64_t id) {
      static_cast<Notes *>(user)->calls.push_back("end " + std::to_string(id));
    };
    hooks.operand = [](void *user, int64_t id, int32_t index,
                       const disco_tensor *tensor) {
      std::string text = std::to_string(id) + "." + std::to_string(index) +
                         " type " + std::to_string(tensor->dtype) + " offset " +
                         std::to_string(tensor->byte_offset) + ":";
      for (int32_t d = 0; d < tensor->rank; ++d)
        text += " " + std::to_string(tensor->shape[d]) + "/" +
                std::to_string(tensor->strides[d]);
      static_cast<Notes *>(user)->calls.push_back(text);
    };
    return hooks;
  }
};

void callProbes() {
  // { allocated, aligned, offset, sizes[2], strides[2] }
  int64_t descriptor[] = {0, 0, 5, 2, 3, 10, 1};
  disco_probe_begin(7);
  disco_probe_operand(7, 0, DISCO_F32, 2, descriptor);
  disco_probe_end(7);
}

TEST(Probe, ForwardsToTheHooksOfTheThread) {
  Notes notes;
  const disco_probe_hooks hooks = notes.hooks();
  callProbes();
  EXPECT_TRUE(notes.calls.empty());
  disco_set_probe_hooks(&hooks);
  callProbes();
  std::thread(callProbes).join(); // has none
  disco_set_probe_hooks(nullptr);
  callProbes();
  EXPECT_EQ(notes.calls,
            (std::vector<std::string>{
                "begin 7", "7.0 type 1 offset 20: 2/10 3/1", "end 7"}));
}

TEST(Probe, HooksMayBeLeftOut) {
  Notes notes;
  disco_probe_hooks hooks = notes.hooks();
  hooks.operand = nullptr;
  hooks.begin = nullptr;
  disco_set_probe_hooks(&hooks);
  callProbes();
  disco_set_probe_hooks(nullptr);
  EXPECT_EQ(notes.calls, std::vector<std::string>{"end 7"});
}

TEST(Probe, TheTableOfAnArtifactIsQueried) {
  disco_artifact *artifact = nullptr;
  ASSERT_EQ(
      disco_artifact_open(artifactPath("instrumented").c_str(), &artifact),
      DISCO_OK)
      << disco_last_error();
  ASSERT_EQ(disco_artifact_num_probes(artifact), 2);
  disco_abi_probe probe;
  ASSERT_EQ(disco_artifact_probe(artifact, 1, &probe), DISCO_OK);
  EXPECT_STREQ(probe.op, "disco.contract_sum");
  EXPECT_STREQ(probe.location, "net.mlir:4:8");
  EXPECT_EQ(probe.num_operands, 4);
  EXPECT_EQ(probe.num_results, 1);
  disco_artifact_close(artifact);
}

} // namespace
