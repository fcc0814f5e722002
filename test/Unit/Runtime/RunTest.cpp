//===- RunTest.cpp - running, and what is refused -------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeTest.h"

#include <atomic>
#include <cstring>
#include <functional>
#include <limits>
#include <thread>

using namespace disco;

namespace {

constexpr int64_t maxInt = std::numeric_limits<int64_t>::max();

/// A call of "scale" ([n, 3] f32) that is right, for tests to spoil.
struct ScaleCall {
  std::vector<float> x, y;
  std::vector<int64_t> shapeX, shapeY;
  disco_tensor input, output;
  alignas(DISCO_ALIGNMENT) unsigned char workspace[4096];
  void *workspaceData = workspace;
  uint64_t workspaceBytes = sizeof workspace;
  int32_t numInputs = 1, numOutputs = 1;

  explicit ScaleCall(int64_t batch)
      : x(static_cast<size_t>(3 * batch)), y(x.size(), -1), shapeX{batch, 3},
        shapeY{batch, 3} {
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(i) + 1;
    input = tensorOf(x, shapeX, DISCO_F32);
    output = tensorOf(y, shapeY, DISCO_F32);
  }

  disco_status run(disco_context *context, const disco_entry *entry) {
    return disco_run(context, entry, &input, numInputs, &output, numOutputs,
                     workspaceData, workspaceBytes);
  }
};

class RunTest : public RuntimeTest {
protected:
  /// Spoils a call of "scale" and expects this message, with no output touched.
  void refuse(const std::function<void(ScaleCall &)> &spoil,
              const std::string &message) {
    ScaleCall call(2);
    spoil(call);
    EXPECT_FAILURE(call.run(context, prepared("scale")), DISCO_INVALID_ARGUMENT,
                   message);
    EXPECT_EQ(call.y, std::vector<float>(6, -1));
  }
  /// The same for messages that hold addresses.
  void refuseStart(const std::function<void(ScaleCall &)> &spoil,
                   const std::string &start) {
    ScaleCall call(2);
    spoil(call);
    EXPECT_EQ(call.run(context, prepared("scale")), DISCO_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(disco_last_error()).find(start), 0u)
        << disco_last_error();
  }
};

TEST_F(RunTest, ComputesForEveryBatch) {
  const disco_entry *entry = prepared("scale");
  for (int64_t batch : {0, 1, 3}) {
    ScaleCall call(batch);
    uint64_t bytes = 1;
    ASSERT_EQ(disco_workspace_bytes(context, entry, &call.input, 1, &bytes),
              DISCO_OK)
        << disco_last_error();
    EXPECT_EQ(bytes, static_cast<uint64_t>(12 * batch));
    int64_t dims[2] = {};
    int32_t count = 0;
    ASSERT_EQ(disco_entry_output_shapes(entry, &call.input, 1, dims, 2, &count),
              DISCO_OK)
        << disco_last_error();
    EXPECT_EQ(count, 2);
    EXPECT_EQ(dims[0], batch);
    EXPECT_EQ(dims[1], 3);
    call.workspaceBytes = bytes;
    ASSERT_EQ(call.run(context, entry), DISCO_OK) << disco_last_error();
    for (size_t i = 0; i < call.x.size(); ++i)
      EXPECT_EQ(call.y[i], 2 * call.x[i]);
  }
}

TEST_F(RunTest, NeedsToBePreparedInItsOwnContext) {
  const disco_entry *entry = nullptr;
  ASSERT_EQ(disco_artifact_find_entry(artifact, "scale", &entry), DISCO_OK);
  ScaleCall call(1);
  const char *message = "expected entry 'scale' to be prepared in this context "
                        "before it runs, but it is not";
  EXPECT_FAILURE(call.run(context, entry), DISCO_NOT_PREPARED, message);
  disco_context *other = nullptr;
  ASSERT_EQ(disco_context_create(nullptr, &other), DISCO_OK);
  ASSERT_EQ(disco_prepare(other, entry), DISCO_OK);
  ASSERT_EQ(disco_prepare(other, entry), DISCO_OK);
  EXPECT_EQ(call.run(other, entry), DISCO_OK);
  EXPECT_FAILURE(call.run(context, entry), DISCO_NOT_PREPARED, message);
  disco_context_destroy(other);
}

TEST_F(RunTest, ALaterArtifactIsNotTakenForAPreparedOne) {
  for (int round = 0; round < 3; ++round) {
    disco_artifact *again = nullptr;
    ASSERT_EQ(disco_artifact_open(artifactPath("good").c_str(), &again),
              DISCO_OK);
    const disco_entry *entry = nullptr;
    ASSERT_EQ(disco_artifact_find_entry(again, "scale", &entry), DISCO_OK);
    ScaleCall call(1);
    EXPECT_EQ(call.run(context, entry), DISCO_NOT_PREPARED);
    ASSERT_EQ(disco_prepare(context, entry), DISCO_OK);
    EXPECT_EQ(call.run(context, entry), DISCO_OK);
    disco_artifact_close(again);
  }
}

TEST_F(RunTest, RefusesNullPointers) {
  const disco_entry *entry = prepared("scale");
  ScaleCall call(1);
  EXPECT_FAILURE(call.run(nullptr, entry), DISCO_INVALID_ARGUMENT,
                 "expected context to be a pointer, but got null");
  EXPECT_FAILURE(call.run(context, nullptr), DISCO_INVALID_ARGUMENT,
                 "expected entry to be a pointer, but got null");
  EXPECT_FAILURE(
      disco_run(context, entry, nullptr, 1, &call.output, 1, nullptr, 0),
      DISCO_INVALID_ARGUMENT, "expected inputs to be a pointer, but got null");
  EXPECT_FAILURE(
      disco_run(context, entry, &call.input, 1, nullptr, 1, nullptr, 0),
      DISCO_INVALID_ARGUMENT, "expected outputs to be a pointer, but got null");
  EXPECT_FAILURE(disco_prepare(context, nullptr), DISCO_INVALID_ARGUMENT,
                 "expected entry to be a pointer, but got null");
  EXPECT_FAILURE(disco_prepare(nullptr, entry), DISCO_INVALID_ARGUMENT,
                 "expected context to be a pointer, but got null");
  EXPECT_FAILURE(disco_workspace_bytes(context, entry, &call.input, 1, nullptr),
                 DISCO_INVALID_ARGUMENT,
                 "expected bytes to be a pointer, but got null");
  EXPECT_FAILURE(
      disco_entry_output_shapes(entry, &call.input, 1, nullptr, 2, nullptr),
      DISCO_INVALID_ARGUMENT, "expected dims to be a pointer, but got null");
  int64_t dim;
  EXPECT_FAILURE(
      disco_entry_output_shapes(entry, &call.input, 1, &dim, 1, nullptr),
      DISCO_INVALID_ARGUMENT, "expected room for 2 dimensions, but got 1");
}

TEST_F(RunTest, RefusesOtherNumbersOfTensors) {
  refuse([](ScaleCall &c) { c.numInputs = 2; },
         "expected entry 'scale' to get 1 input, but got 2");
  refuse([](ScaleCall &c) { c.numInputs = 0; },
         "expected entry 'scale' to get 1 input, but got 0");
  refuse([](ScaleCall &c) { c.numOutputs = -1; },
         "expected entry 'scale' to get 1 output, but got -1");
}

TEST_F(RunTest, RefusesOtherTypesAndShapes) {
  refuse([](ScaleCall &c) { c.input.dtype = DISCO_F64; },
         "expected input 0 (x) to have element type f32, but got f64");
  refuse([](ScaleCall &c) { c.output.dtype = 99; },
         "expected output 0 (y) to have element type f32, but got element type "
         "99");
  refuse([](ScaleCall &c) { c.input.rank = 1; },
         "expected input 0 (x) to have rank 2, but got 1");
  refuse([](ScaleCall &c) { c.input.rank = -1; },
         "expected input 0 (x) to have rank 2, but got -1");
  refuse([](ScaleCall &c) { c.input.shape = nullptr; },
         "expected input 0 (x) to have a shape, but got null");
  refuse(
      [](ScaleCall &c) {
        c.shapeX = {2, 4};
        c.input.shape = c.shapeX.data();
      },
      "expected input 0 (x) to have dimension 1 equal to 3, but got 4");
  refuse([](ScaleCall &c) { c.shapeX[0] = -2; },
         "expected input 0 (x) to have dimension 0 non-negative, but got -2");
  refuse([](ScaleCall &c) { c.shapeY[0] = 3; },
         "expected output 0 (y) to have dimension 0 equal to 2, but got 3");
  refuse([](ScaleCall &c) { c.shapeX[0] = maxInt; },
         "expected the elements of input 0 (x) to be fewer than 2^63, but they "
         "are more");
  refuse(
      [](ScaleCall &c) { c.shapeX[0] = maxInt / 4; },
      "expected the extent of input 0 (x) to be less than 2^63 bytes, but it "
      "is more");
}

TEST_F(RunTest, RefusesOtherDevicesAddressesAndAlignments) {
  refuse([](ScaleCall &c) { c.input.device = {DISCO_CUDA, 0}; },
         "expected input 0 (x) to be on cpu, but got cuda:0");
  refuse([](ScaleCall &c) { c.output.device = {DISCO_CPU, 1}; },
         "expected output 0 (y) to be on cpu, but got cpu:1");
  refuse([](ScaleCall &c) { c.input.data = nullptr; },
         "expected input 0 (x) to have data, but got null");
  refuseStart([](ScaleCall &c) { c.input.byte_offset = 2; },
              "expected input 0 (x) to be aligned to 4 bytes, but got address "
              "0x");
  refuseStart([](ScaleCall &c) { c.input.byte_offset = UINT64_MAX - 7; },
              "expected input 0 (x) to end inside the address space, but got "
              "byte offset 18446744073709551608 and 24 bytes at 0x");
}

TEST_F(RunTest, RefusesASmallOrMisplacedWorkspace) {
  refuse([](ScaleCall &c) { c.workspaceBytes = 23; },
         "expected workspace to have at least 24 bytes, but got 23");
  refuse([](ScaleCall &c) { c.workspaceData = nullptr; },
         "expected workspace to have 24 bytes, but got null");
  refuseStart([](ScaleCall &c) { c.workspaceData = c.workspace + 8; },
              "expected workspace to be aligned to 64 bytes, but got address "
              "0x");
}

TEST_F(RunTest, RefusesOverlaps) {
  refuseStart([](ScaleCall &c) { c.output.data = c.x.data(); },
              "expected output 0 (y) not to overlap input 0 (x), but got "
              "addresses [0x");
  refuseStart([](ScaleCall &c) { c.input.data = c.workspace; },
              "expected workspace not to overlap input 0 (x), but got "
              "addresses [0x");
  refuseStart([](ScaleCall &c) { c.output.data = c.workspace + 20; },
              "expected workspace not to overlap output 0 (y), but got "
              "addresses [0x");
  // Neighbours touch but do not overlap.
  ScaleCall call(2);
  std::vector<float> both(12, 1);
  call.input.data = both.data();
  call.output.data = both.data() + 6;
  EXPECT_EQ(call.run(context, prepared("scale")), DISCO_OK)
      << disco_last_error();
  EXPECT_EQ(both[11], 2);
}

TEST_F(RunTest, DenseEntriesRefuseStrides) {
  const std::vector<int64_t> padded = {4, 1}, dense = {3, 1}, odd = {77, 1};
  refuse(
      [&](ScaleCall &c) { c.input.strides = padded.data(); },
      "expected input 0 (x) to have stride 0 equal to 3 (entry 'scale' takes "
      "dense row-major arrays), but got 4");
  ScaleCall call(2);
  call.input.strides = dense.data();
  EXPECT_EQ(call.run(context, prepared("scale")), DISCO_OK)
      << disco_last_error();
  // The stride of a dimension of 1 does not matter.
  ScaleCall single(1);
  single.input.strides = odd.data();
  EXPECT_EQ(single.run(context, prepared("scale")), DISCO_OK)
      << disco_last_error();
  EXPECT_EQ(single.y[2], 6);
}

/// A call of "add" ([n, 4] f64 with strides).
struct AddCall {
  std::vector<double> a, b, c;
  std::vector<int64_t> shape = {2, 4}, stridesA, stridesB, stridesC;
  disco_tensor inputs[2], output;

  AddCall() : a(64, 1), b(64, 10), c(64, -1) {
    inputs[0] = tensorOf(a, shape, DISCO_F64);
    inputs[1] = tensorOf(b, shape, DISCO_F64);
    output = tensorOf(c, shape, DISCO_F64);
  }
  disco_status run(disco_context *context, const disco_entry *entry) {
    return disco_run(context, entry, inputs, 2, &output, 1, nullptr, 0);
  }
};

TEST_F(RunTest, StridedEntriesTakeTransposedBroadcastAndOffsetTensors) {
  AddCall call;
  for (size_t i = 0; i < call.a.size(); ++i)
    call.a[i] = static_cast<double>(i);
  call.stridesA = {1, 2};  // transposed
  call.stridesB = {0, 0};  // one number
  call.stridesC = {10, 2}; // with gaps
  call.inputs[0].strides = call.stridesA.data();
  call.inputs[0].byte_offset = 8;
  call.inputs[1].strides = call.stridesB.data();
  call.output.strides = call.stridesC.data();
  ASSERT_EQ(call.run(context, prepared("add")), DISCO_OK) << disco_last_error();
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 4; ++j)
      EXPECT_EQ(call.c[i * 10 + j * 2],
                10.0 + static_cast<double>(1 + i + 2 * j));
  EXPECT_EQ(call.c[1], -1) << "a gap was written";
}

TEST_F(RunTest, RefusesStridesThatLie) {
  AddCall call;
  call.stridesC = {4, -1};
  call.output.strides = call.stridesC.data();
  EXPECT_FAILURE(call.run(context, prepared("add")), DISCO_INVALID_ARGUMENT,
                 "expected output 0 to have stride 1 non-negative, but got -1");
  call.stridesC = {3, 1};
  EXPECT_FAILURE(call.run(context, prepared("add")), DISCO_INVALID_ARGUMENT,
                 "expected output 0 to have stride 0 at least 4, so that its "
                 "elements do not overlap, but got 3");
  call.stridesC = {0, 1};
  EXPECT_FAILURE(call.run(context, prepared("add")), DISCO_INVALID_ARGUMENT,
                 "expected output 0 to have stride 0 at least 1, so that its "
                 "elements do not overlap, but got 0");
  call.output.strides = nullptr;
  call.stridesA = {maxInt, 1};
  call.inputs[0].strides = call.stridesA.data();
  EXPECT_FAILURE(call.run(context, prepared("add")), DISCO_INVALID_ARGUMENT,
                 "expected the extent of input 0 (a) to be less than 2^63 "
                 "bytes, but it is more");
}

TEST_F(RunTest, SizesOfOneNameMustAgree) {
  AddCall call;
  const std::vector<int64_t> other = {3, 4};
  call.inputs[1].shape = other.data();
  EXPECT_FAILURE(call.run(context, prepared("add")), DISCO_INVALID_ARGUMENT,
                 "expected input 1 to have dimension 0 equal to 2 (dimension 0 "
                 "of input 0 (a)), but got 3");
}

TEST_F(RunTest, ShapesThatTheArtifactComputesAreUsed) {
  const disco_entry *entry = prepared("halve");
  std::vector<int64_t> x = {1, 2, 3, 4, 5, 6}, y(3);
  std::vector<int32_t> count(1);
  const std::vector<int64_t> shapeX = {6}, shapeY = {3}, scalar;
  const disco_tensor input = tensorOf(x, shapeX, DISCO_I64);
  disco_tensor outputs[] = {tensorOf(y, shapeY, DISCO_I64),
                            tensorOf(count, scalar, DISCO_I32)};
  ASSERT_EQ(disco_run(context, entry, &input, 1, outputs, 2, nullptr, 0),
            DISCO_OK)
      << disco_last_error();
  EXPECT_EQ(y, (std::vector<int64_t>{1, 3, 5}));
  EXPECT_EQ(count[0], 3);
  const std::vector<int64_t> odd = {5}, four = {4};
  outputs[0].shape = four.data();
  EXPECT_FAILURE(
      disco_run(context, entry, &input, 1, outputs, 2, nullptr, 0),
      DISCO_INVALID_ARGUMENT,
      "expected output 0 (y) to have dimension 0 equal to 3, but got "
      "4");
  const disco_tensor oddInput = tensorOf(x, odd, DISCO_I64);
  EXPECT_FAILURE(
      disco_run(context, entry, &oddInput, 1, outputs, 2, nullptr, 0),
      DISCO_INVALID_ARGUMENT,
      "entry 'halve' (output shapes): expected an even number of "
      "elements");
}

TEST_F(RunTest, FailuresOfTheArtifactHaveAMessage) {
  const auto run = [&](const char *name) {
    return disco_run(context, prepared(name), nullptr, 0, nullptr, 0, nullptr,
                     0);
  };
  EXPECT_FAILURE(run("fail"), DISCO_INVALID_ARGUMENT,
                 "entry 'fail': index 7 of psi is out of range");
  // The text of an earlier failure is not used again.
  EXPECT_FAILURE(run("fail_quietly"), DISCO_EXECUTION_FAILED,
                 "entry 'fail_quietly' failed with status 8 "
                 "(execution_failed)");
  EXPECT_FAILURE(run("fail_oddly"), DISCO_EXECUTION_FAILED,
                 "entry 'fail_oddly' failed with status 12345 (unknown)");
  EXPECT_FAILURE(run("no_workspace"), DISCO_EXECUTION_FAILED,
                 "entry 'no_workspace' (workspace size): the sizes do not fit");
  ScaleCall call(2);
  EXPECT_FAILURE(call.run(context, prepared("wrong_shapes")), DISCO_INTERNAL,
                 "expected entry 'wrong_shapes' to compute dimension 0 of "
                 "output 0 as 2, but got 5");
}

TEST_F(RunTest, ManyThreadsRunOneEntry) {
  const disco_entry *entry = prepared("scale");
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      ScaleCall call(1 + t);
      const std::string expected = "expected workspace to have at least " +
                                   std::to_string(12 * (1 + t)) +
                                   " bytes, but got 1";
      for (int i = 0; i < 500; ++i) {
        std::fill(call.y.begin(), call.y.end(), -1.0F);
        call.x[0] = static_cast<float>(i);
        if (disco_prepare(context, entry) != DISCO_OK ||
            call.run(context, entry) != DISCO_OK)
          ++wrong;
        for (size_t e = 0; e < call.x.size(); ++e)
          wrong += call.y[e] != 2 * call.x[e];
        // Each thread has its own error text.
        call.workspaceBytes = 1;
        if (call.run(context, entry) == DISCO_OK ||
            disco_last_error() != expected)
          ++wrong;
        call.workspaceBytes = sizeof call.workspace;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

} // namespace
