//===- ArtifactTest.cpp - artifacts on a GPU ------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The artifact written by hand of test/Unit/Runtime/Artifacts/Steps.c.
//
//===----------------------------------------------------------------------===//

#include "../Runtime/StepsArtifact.h"
#include "DeviceTestUtil.h"

#include <algorithm>
#include <cstdlib>
#include <cuda_runtime_api.h>

using namespace disco;
using namespace disco::test;

namespace {

std::string artifactPath() {
  const char *given = std::getenv("DISCO_ARTIFACT_FOLDER");
  return std::string(given ? given : ARTIFACT_FOLDER) + "artifact-steps.so";
}

/// Memory of the device that is counted.
struct Counter {
  int64_t live = 0, allocations = 0;

  static void *allocate(void *user, size_t bytes, size_t) {
    void *memory = nullptr;
    if (cudaMalloc(&memory, bytes) != cudaSuccess)
      return nullptr;
    ++static_cast<Counter *>(user)->live;
    ++static_cast<Counter *>(user)->allocations;
    return memory;
  }
  static void release(void *user, void *memory, size_t) {
    --static_cast<Counter *>(user)->live;
    cudaFree(memory);
  }
};

/// The taps of Steps.c: (out, in, values of k = 0 and 1).
constexpr struct {
  int out, in;
  float values[2];
} taps[] = {{0, 0, {1, 2}},
            {0, 1, {3, 4}},
            {1, 1, {5, 6}},
            {1, 3, {7, 8}},
            {2, 2, {9, 10}}};

/// [n, 4] -> [n, 2, 3]
std::vector<float> contract(const std::vector<float> &x) {
  std::vector<float> y(x.size() / 4 * 6);
  for (size_t n = 0; n < x.size() / 4; ++n)
    for (const auto &tap : taps)
      for (int k = 0; k < 2; ++k)
        y[n * 6 + k * 3 + tap.out] += tap.values[k] * x[n * 4 + tap.in];
  return y;
}
/// [n, 2, 3] -> [n, 4]
std::vector<float> contractAdjoint(const std::vector<float> &z) {
  std::vector<float> y(z.size() / 6 * 4);
  for (size_t n = 0; n < z.size() / 6; ++n)
    for (const auto &tap : taps)
      for (int k = 0; k < 2; ++k)
        y[n * 4 + tap.in] += tap.values[k] * z[n * 6 + k * 3 + tap.out];
  return y;
}
std::vector<float> chain(const std::vector<float> &x) {
  return contract(contractAdjoint(contract(x)));
}
std::vector<float> mix(const std::vector<float> &x) {
  const std::vector<float> features = contract(x);
  const float weight[2][2] = {{1, -1}, {2, 0.5F}}, bias[2] = {0.25F, -100};
  std::vector<float> y(features.size());
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t n = i / 6, o = i / 3 % 2, point = i % 3;
    const float sum = weight[o][0] * features[n * 6 + point] +
                      weight[o][1] * features[n * 6 + 3 + point] + bias[o];
    y[i] = std::max(sum, 0.0F);
  }
  return y;
}

/// A context with a stream of its own, and room for x and y on the device.
class Steps : public DeviceTest {
protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped())
      return;
    tables = std::make_unique<StepsArtifact>(artifactPath());
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    disco_context_options options = {};
    options.struct_size = sizeof options;
    options.device = {DISCO_CUDA, 0};
    options.stream = stream;
    options.allocate = Counter::allocate;
    options.release = Counter::release;
    options.user = &counter;
    ASSERT_EQ(disco_context_create(&options, &context), DISCO_OK)
        << disco_last_error();
    open();
    ASSERT_EQ(cudaMalloc(&x.data, 5 * 4 * sizeof(float)), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&y.data, 5 * 6 * sizeof(float)), cudaSuccess);
    setBatch(3);
  }
  void TearDown() override {
    disco_release(context, workspace, workspaceBytes);
    disco_context_destroy(context);
    disco_artifact_close(artifact);
    cudaFree(x.data);
    cudaFree(y.data);
    if (stream)
      cudaStreamDestroy(stream);
    EXPECT_EQ(counter.live, 0) << "not all memory was given back";
  }

  void open() {
    ASSERT_EQ(disco_artifact_open(artifactPath().c_str(), &artifact), DISCO_OK)
        << disco_last_error();
    find("chain");
  }
  void find(const char *name) {
    ASSERT_EQ(disco_artifact_find_entry(artifact, name, &entry), DISCO_OK)
        << disco_last_error();
    yRank = name == std::string("chain") ? 4 : 3;
  }
  void setBatch(int64_t batch) {
    xShape[0] = chainShape[0] = mixShape[0] = batch;
    values.clear();
    for (int64_t i = 0; i < batch * 4; ++i)
      values.push_back(static_cast<float>(i % 7 - 3));
    ASSERT_EQ(cudaMemcpy(x.data, values.data(), values.size() * sizeof(float),
                         cudaMemcpyDefault),
              cudaSuccess);
  }
  disco_tensor tensor(void *data, int32_t rank, const int64_t *shape) {
    disco_tensor result = {};
    result.data = data;
    result.device = {DISCO_CUDA, 0};
    result.rank = rank;
    result.dtype = DISCO_F32;
    result.shape = shape;
    return result;
  }
  disco_tensor input() { return tensor(x.data, 3, xShape); }
  disco_tensor output() {
    return tensor(y.data, yRank, yRank == 4 ? chainShape : mixShape);
  }
  disco_status prepare() { return disco_prepare(context, entry); }
  void makeWorkspace() {
    disco_release(context, workspace, workspaceBytes);
    workspace = nullptr;
    const disco_tensor in = input();
    ASSERT_EQ(disco_workspace_bytes(context, entry, &in, 1, &workspaceBytes),
              DISCO_OK)
        << disco_last_error();
    ASSERT_EQ(disco_allocate(context, workspaceBytes, &workspace), DISCO_OK)
        << disco_last_error();
  }
  disco_status run() {
    const disco_tensor in = input(), out = output();
    return disco_run(context, entry, &in, 1, &out, 1, workspace,
                     workspaceBytes);
  }
  void clear() { cudaMemset(y.data, 0xff, 5 * 6 * sizeof(float)); }
  std::vector<float> result() {
    std::vector<float> host(xShape[0] * 6);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(host.data(), y.data, host.size() * sizeof(float),
                         cudaMemcpyDefault),
              cudaSuccess);
    return host;
  }

  struct Memory {
    void *data = nullptr;
  };
  Counter counter;
  std::unique_ptr<StepsArtifact> tables;
  disco_artifact *artifact = nullptr;
  disco_context *context = nullptr;
  const disco_entry *entry = nullptr;
  cudaStream_t stream = nullptr;
  int64_t xShape[3] = {0, 1, 4}, chainShape[4] = {0, 1, 2, 3},
          mixShape[3] = {0, 2, 3};
  int32_t yRank = 4;
  std::vector<float> values;
  Memory x, y;
  void *workspace = nullptr;
  uint64_t workspaceBytes = 0;
};

TEST_F(Steps, AnyBatchWithOnePreparation) {
  ASSERT_EQ(prepare(), DISCO_OK) << disco_last_error();
  for (int64_t batch : {1, 3, 5}) {
    setBatch(batch);
    makeWorkspace();
    clear();
    ASSERT_EQ(run(), DISCO_OK) << disco_last_error();
    // Small integers: exact in any order.
    EXPECT_EQ(result(), chain(values)) << "batch " << batch;
  }
}

TEST_F(Steps, EntriesHaveTheirOwnConstants) {
  ASSERT_EQ(prepare(), DISCO_OK) << disco_last_error();
  find("mix");
  ASSERT_EQ(prepare(), DISCO_OK) << disco_last_error();
  makeWorkspace();
  clear();
  ASSERT_EQ(run(), DISCO_OK) << disco_last_error();
  EXPECT_EQ(result(), mix(values));
  find("chain");
  makeWorkspace();
  ASSERT_EQ(run(), DISCO_OK) << disco_last_error();
  EXPECT_EQ(result(), chain(values));
}

TEST_F(Steps, ChangesOfLayoutAndBackChangeNothing) {
  find("repack");
  ASSERT_EQ(prepare(), DISCO_OK) << disco_last_error();
  makeWorkspace();
  clear();
  const disco_tensor in = input(), out = tensor(y.data, 3, xShape);
  ASSERT_EQ(
      disco_run(context, entry, &in, 1, &out, 1, workspace, workspaceBytes),
      DISCO_OK)
      << disco_last_error();
  std::vector<float> host = result();
  host.resize(values.size());
  EXPECT_EQ(host, values);
}

TEST_F(Steps, ARunAllocatesNothingAndCanBeCaptured) {
  ASSERT_EQ(prepare(), DISCO_OK) << disco_last_error();
  makeWorkspace();
  ASSERT_EQ(run(), DISCO_OK) << disco_last_error();
  const std::vector<float> expected = result();
  const int64_t allocations = counter.allocations;
  clear();
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
            cudaSuccess);
  ASSERT_EQ(run(), DISCO_OK) << disco_last_error();
  // Preparing what is prepared does nothing.
  ASSERT_EQ(prepare(), DISCO_OK) << disco_last_error();
  cudaGraph_t graph;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphExec_t executable;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT_NE(result(), expected) << "captured, not run";
  for (int i = 0; i < 2; ++i) {
    clear();
    ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
    EXPECT_EQ(result(), expected);
  }
  EXPECT_EQ(counter.allocations, allocations);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST_F(Steps, StepsWithTheSameFilterShareIt) {
  ASSERT_EQ(prepare(), DISCO_OK) << disco_last_error();
  const int64_t shared = counter.live;
  EXPECT_GT(shared, 0);
  // Another entry has its own, but two steps more take nothing more.
  find("longer");
  ASSERT_EQ(prepare(), DISCO_OK) << disco_last_error();
  EXPECT_EQ(counter.live, 2 * shared);
  yRank = 4;
  makeWorkspace();
  clear();
  ASSERT_EQ(run(), DISCO_OK) << disco_last_error();
  EXPECT_EQ(result(), contract(contractAdjoint(chain(values))));
}

TEST_F(Steps, PreparingDuringACaptureIsAnError) {
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed),
            cudaSuccess);
  EXPECT_EQ(prepare(), DISCO_NOT_PREPARED);
  EXPECT_STREQ(disco_last_error(),
               "entry 'chain', step 0 (csr_gather): expected csr_gather to be "
               "prepared before its stream is captured, but a capture is under "
               "way");
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphDestroy(graph);
}

TEST_F(Steps, MustBePrepared) {
  const disco_tensor in = input();
  uint64_t bytes = 0;
  EXPECT_EQ(disco_workspace_bytes(context, entry, &in, 1, &bytes),
            DISCO_NOT_PREPARED);
  EXPECT_STREQ(disco_last_error(),
               "expected entry 'chain' to be prepared in this context before "
               "its workspace is known, but it is not");
  EXPECT_EQ(run(), DISCO_NOT_PREPARED);
  EXPECT_STREQ(disco_last_error(),
               "expected entry 'chain' to be prepared in this context before "
               "it runs, but it is not");
}

TEST_F(Steps, ArtifactsForOtherArchitecturesAreRefused) {
  disco_device_properties properties = {};
  properties.struct_size = sizeof properties;
  ASSERT_EQ(disco_device_query(0, &properties), DISCO_OK);
  const int arch = 10 * properties.major + properties.minor;
  const std::string newer =
      "cuda:sm_" + std::to_string(arch == 100 ? 110 : 100) + "a";
  for (const std::string &target :
       {newer, std::string("cuda:sm_990"), std::string("cuda:sm_"),
        std::string("cuda:sm_80x"), std::string("cuda:80")}) {
    tables->root().target = target.c_str();
    EXPECT_EQ(prepare(), DISCO_UNSUPPORTED_TARGET);
    EXPECT_EQ(std::string(disco_last_error()),
              "expected '" + tables->path + "' to be built for sm_" +
                  std::to_string(arch) + ", the architecture of cuda:0 (" +
                  properties.name + "), but got target " + target);
  }
  const std::string exact = "cuda:sm_" + std::to_string(arch) + "a";
  tables->root().target = exact.c_str();
  EXPECT_EQ(prepare(), DISCO_OK) << disco_last_error();
}

TEST_F(Steps, UnknownFamiliesAreRefused) {
  tables->step(tables->entry(0), 2).family = "abacus";
  EXPECT_EQ(prepare(), DISCO_NOT_FOUND);
  EXPECT_STREQ(disco_last_error(),
               "entry 'chain', step 2 (abacus): expected the family to be one "
               "of csr_gather, toeplitz_wgmma, but got 'abacus'");
}

TEST_F(Steps, TensorsMustBeOnTheDevice) {
  ASSERT_EQ(prepare(), DISCO_OK) << disco_last_error();
  makeWorkspace();
  clear();
  ASSERT_EQ(run(), DISCO_OK) << disco_last_error();
  const std::vector<float> before = result();
  disco_tensor in = input(), out = output();
  std::vector<float> host(18);
  in.device = {DISCO_CPU, 0};
  EXPECT_EQ(
      disco_run(context, entry, &in, 1, &out, 1, workspace, workspaceBytes),
      DISCO_INVALID_ARGUMENT);
  EXPECT_STREQ(disco_last_error(),
               "expected input 0 (x) to be on cuda:0, but got cpu");
  in = input();
  out.data = host.data();
  char message[256];
  std::snprintf(message, sizeof message,
                "expected output 0 (y) to be memory of cuda:0, but got host "
                "memory at %p",
                static_cast<void *>(host.data()));
  EXPECT_EQ(
      disco_run(context, entry, &in, 1, &out, 1, workspace, workspaceBytes),
      DISCO_INVALID_ARGUMENT);
  EXPECT_STREQ(disco_last_error(), message);
  out = output();
  EXPECT_EQ(
      disco_run(context, entry, &in, 1, &out, 1, workspace, workspaceBytes - 1),
      DISCO_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(disco_last_error()),
            "expected workspace to have at least " +
                std::to_string(workspaceBytes) + " bytes, but got " +
                std::to_string(workspaceBytes - 1));
  EXPECT_EQ(result(), before) << "a run that was refused wrote";
}

TEST_F(Steps, ClosingTheArtifactGivesMemoryBack) {
  ASSERT_EQ(prepare(), DISCO_OK) << disco_last_error();
  EXPECT_GT(counter.live, 0);
  disco_artifact_close(artifact);
  EXPECT_EQ(counter.live, 0);
  // The same file again is another artifact.
  open();
  EXPECT_EQ(run(), DISCO_NOT_PREPARED);
  ASSERT_EQ(prepare(), DISCO_OK) << disco_last_error();
  makeWorkspace();
  ASSERT_EQ(run(), DISCO_OK) << disco_last_error();
  EXPECT_EQ(result(), chain(values));
}

} // namespace
