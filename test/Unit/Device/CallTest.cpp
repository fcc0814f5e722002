//===- CallTest.cpp - what prepared calls promise -------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Runtime/CpuGatherTestUtil.h"
#include "DeviceTestUtil.h"
#include "disco/ABI/Families/CsrGather.h"

#include <cstring>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <optional>

using namespace disco;
using namespace disco::test;

namespace {

/// A contract call with all that it needs on device 0.
class Call : public DeviceTest {
protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped())
      return;
    std::mt19937 random(1);
    psi.emplace(
        sphereCase(randomSphere(random, 9, 4, 200, 4, 200, 20), DType::f32));
    call = makeKernelCall(DISCO_OP_CONTRACT, psi->tables, DType::f32);
    call.batch = 2;
    call.channels = 8;
    context.struct_size = sizeof context;
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    context.stream = stream;
    xBytes = 2 * 8 * 800 * 4;
    yBytes = 9 * xBytes;
    ASSERT_EQ(cudaMalloc(&x, xBytes), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&y, yBytes), cudaSuccess);
    const Array values = randomArray(random, DType::f32, {2, 8, 800});
    ASSERT_EQ(cudaMemcpy(x, values.bytes.data(), xBytes, cudaMemcpyDefault),
              cudaSuccess);
    call.x = x;
    call.y = y;
  }
  void TearDown() override {
    disco_device_destroy(prepared);
    cudaFree(x);
    cudaFree(y);
    if (stream)
      cudaStreamDestroy(stream);
  }
  disco_status prepare() {
    return disco_device_prepare("csr_gather", &context, &call, &prepared);
  }
  disco_status run() {
    return disco_device_run(prepared, &call, stream, nullptr, 0);
  }
  std::vector<char> result() {
    std::vector<char> bytes(yBytes);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(bytes.data(), y, yBytes, cudaMemcpyDefault),
              cudaSuccess);
    return bytes;
  }

  std::optional<TestPsi> psi;
  disco_kernel_call call = {};
  disco_device_context context = {};
  disco_prepared *prepared = nullptr;
  cudaStream_t stream = nullptr;
  void *x = nullptr, *y = nullptr;
  uint64_t xBytes = 0, yBytes = 0;
};

void setSchedule(disco_kernel_call &call, int64_t fields, int64_t features,
                 int64_t blockMib) {
  call.schedule.num_fields = DISCO_CSR_GATHER_NUM_FIELDS;
  call.schedule.fields[DISCO_CSR_GATHER_FIELDS] = {DISCO_CSR_GATHER_FIELDS,
                                                   fields};
  call.schedule.fields[DISCO_CSR_GATHER_FEATURES] = {DISCO_CSR_GATHER_FEATURES,
                                                     features};
  call.schedule.fields[DISCO_CSR_GATHER_BLOCK_MIB] = {
      DISCO_CSR_GATHER_BLOCK_MIB, blockMib};
}

/// The blocks of threads of the launch of a run.
TEST_F(Call, SchedulesChooseTheKernel) {
  // The kernels are the driver's, not functions of this program.
  void *entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  ASSERT_EQ(cudaGetDriverEntryPointByVersion("cuGraphKernelNodeGetParams",
                                             &entry, 12000, cudaEnableDefault,
                                             &found),
            cudaSuccess);
  const auto getParams =
      reinterpret_cast<decltype(&cuGraphKernelNodeGetParams)>(entry);
  const auto blocks = [&]() -> unsigned {
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    size_t count = 1;
    CUDA_KERNEL_NODE_PARAMS params = {};
    EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
              cudaSuccess);
    EXPECT_EQ(run(), DISCO_OK) << disco_last_error();
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphGetNodes(graph, &node, &count), cudaSuccess);
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(getParams(node, &params), CUDA_SUCCESS);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    return params.gridDimX;
  };
  ASSERT_EQ(prepare(), DISCO_OK) << disco_last_error();
  EXPECT_EQ(blocks(), 4u * 2 * 2); // rows, tiles of 128 longitudes, 8 fields
  ASSERT_EQ(run(), DISCO_OK) << disco_last_error();
  const std::vector<char> expected = result();
  constexpr int64_t choices[][2] = {{8, 4}, {8, 9},  {8, 11}, {4, 9},
                                    {1, 9}, {0, 11}, {4, 0},  {0, 0}};
  for (const auto &choice : choices) {
    SCOPED_TRACE(std::to_string(choice[0]) + " fields, " +
                 std::to_string(choice[1]) + " features");
    setSchedule(call, choice[0], choice[1], 0);
    disco_device_destroy(prepared);
    prepared = nullptr;
    ASSERT_EQ(prepare(), DISCO_OK) << disco_last_error();
    const auto fields = static_cast<unsigned>(choice[0] ? choice[0] : 8);
    EXPECT_EQ(blocks(), 4 * 2 * 16 / fields);
    ASSERT_EQ(run(), DISCO_OK) << disco_last_error();
    // Each sum has the order of the taps, whoever does it.
    EXPECT_EQ(result(), expected);
  }
}

TEST_F(Call, SchedulesSayHowMuchOfTheExpandedTensorThereIs) {
  call.op = DISCO_OP_CONV;
  call.out_channels = 8;
  call.groups = 1;
  std::vector<uint64_t> bytes;
  for (const int64_t mib : {1, 4096, 0}) {
    setSchedule(call, 0, 0, mib);
    call.channels = 512;
    call.has_bias = 0;
    disco_device_destroy(prepared);
    prepared = nullptr;
    ASSERT_EQ(prepare(), DISCO_OK) << disco_last_error();
    bytes.emplace_back();
    ASSERT_EQ(disco_device_workspace_bytes(prepared, &call, &bytes.back()),
              DISCO_OK)
        << disco_last_error();
  }
  // A row of 200 longitudes of 512 channels and 9 features, and four of them.
  constexpr uint64_t row = uint64_t(512) * 9 * 200 * 4,
                     weight = 512 * 9 * 8 * 4;
  EXPECT_GE(bytes[0], row);
  EXPECT_LT(bytes[0], row + 2 * weight);
  EXPECT_GE(bytes[1], 4 * row);
  EXPECT_LT(bytes[1], 4 * row + 2 * weight);
  EXPECT_EQ(bytes[2], bytes[1]);
}

TEST_F(Call, SchedulesWithoutAKernelAreRefused) {
  const auto expectRefusal = [&](const char *message) {
    EXPECT_EQ(prepare(), DISCO_INVALID_ARGUMENT);
    EXPECT_STREQ(disco_last_error(), message);
  };
  setSchedule(call, 3, 9, 0);
  expectRefusal("expected the schedule's fields to be a number that csr_gather "
                "has a kernel for, at most 8, but got 3");
  setSchedule(call, 4, 11, 0);
  expectRefusal("expected the schedule's features to be a number that "
                "csr_gather has a kernel for with 4 fields, but got 11");
  setSchedule(call, 8, 9, 64);
  expectRefusal("expected the schedule's block_mib to be from 0 to 0, but got "
                "64");
  call.schedule.fields[1].id = 3;
  expectRefusal("expected the fields of a schedule of csr_gather to have ids "
                "from 0 to 2, but got 3");
  call.op = DISCO_OP_CONTRACT_SUM;
  call.schedule.order = DISCO_WEIGHT_FIRST;
  setSchedule(call, 8, 0, 0);
  expectRefusal("expected the schedule's fields to be a number that csr_gather "
                "has a kernel for, at most 2, but got 8");
  setSchedule(call, 2, 9, 0);
  expectRefusal("expected the schedule's features to be 0 where csr_gather "
                "does not contract on a sphere, but got 9");
}

TEST_F(Call, CanBeCapturedInAGraph) {
  ASSERT_EQ(prepare(), DISCO_OK) << disco_last_error();
  ASSERT_EQ(run(), DISCO_OK) << disco_last_error();
  const std::vector<char> expected = result();
  cudaMemset(y, 0xff, yBytes);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
            cudaSuccess);
  ASSERT_EQ(run(), DISCO_OK) << disco_last_error();
  cudaGraph_t graph;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphExec_t executable;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT_NE(result(), expected) << "captured, not run";
  ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  EXPECT_EQ(result(), expected);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST_F(Call, PreparingDuringACaptureIsAnError) {
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed),
            cudaSuccess);
  EXPECT_EQ(prepare(), DISCO_NOT_PREPARED);
  EXPECT_STREQ(disco_last_error(),
               "expected csr_gather to be prepared before its stream is "
               "captured, but a capture is under way");
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphDestroy(graph);
}

TEST_F(Call, TwoRunsGiveTheSameBits) {
  ASSERT_EQ(prepare(), DISCO_OK) << disco_last_error();
  ASSERT_EQ(run(), DISCO_OK);
  const std::vector<char> first = result();
  cudaMemset(y, 0xff, yBytes);
  ASSERT_EQ(run(), DISCO_OK);
  EXPECT_EQ(result(), first);
}

TEST_F(Call, OtherBatchesNeedNoPreparing) {
  ASSERT_EQ(prepare(), DISCO_OK) << disco_last_error();
  ASSERT_EQ(run(), DISCO_OK);
  const std::vector<char> both = result();
  call.batch = 1;
  ASSERT_EQ(run(), DISCO_OK) << disco_last_error();
  const std::vector<char> one = result();
  EXPECT_EQ(std::memcmp(one.data(), both.data(), yBytes / 2), 0);
}

TEST_F(Call, BadPointersAreNamed) {
  ASSERT_EQ(prepare(), DISCO_OK) << disco_last_error();
  std::vector<char> host(yBytes);
  call.y = host.data();
  EXPECT_EQ(run(), DISCO_INVALID_ARGUMENT);
  char expected[128];
  std::snprintf(expected, sizeof expected,
                "expected y to be memory of cuda:0, but got host memory at %p",
                static_cast<void *>(host.data()));
  EXPECT_STREQ(disco_last_error(), expected);
  call.y = y;
  call.x = nullptr;
  EXPECT_EQ(run(), DISCO_INVALID_ARGUMENT);
  EXPECT_STREQ(disco_last_error(), "expected x to be a pointer, but got null");
  void *odd = static_cast<char *>(x) + 2;
  call.x = odd;
  EXPECT_EQ(run(), DISCO_INVALID_ARGUMENT);
  std::snprintf(expected, sizeof expected,
                "expected x to be aligned to 4 bytes, but got address %p", odd);
  EXPECT_STREQ(disco_last_error(), expected);
}

TEST_F(Call, OtherNumbersThanPreparedAreErrors) {
  ASSERT_EQ(prepare(), DISCO_OK) << disco_last_error();
  call.channels = 4;
  EXPECT_EQ(run(), DISCO_INVALID_ARGUMENT);
  EXPECT_STREQ(disco_last_error(),
               "expected the number of channels to be 8, as prepared, but got "
               "4");
}

TEST_F(Call, UnknownFamiliesAndDevicesAreNamed) {
  EXPECT_EQ(disco_device_prepare("loops", &context, &call, &prepared),
            DISCO_NOT_FOUND);
  std::string expected = "expected the family to be one of ";
  for (int32_t i = 0; disco_device_family(i); ++i)
    expected += (i ? ", " : "") + std::string(disco_device_family(i));
  EXPECT_EQ(disco_last_error(), expected + ", but got 'loops'");
  int32_t count = 0;
  ASSERT_EQ(disco_device_count(&count), DISCO_OK);
  context.device = count;
  EXPECT_EQ(prepare(), DISCO_INVALID_ARGUMENT);
  EXPECT_EQ(disco_last_error(), "expected the device to be in [0, " +
                                    std::to_string(count - 1) + "], but got " +
                                    std::to_string(count));
}

TEST_F(Call, AnAllocatorWithoutMemoryIsReported) {
  context.allocate = [](void *, size_t, size_t) -> void * { return nullptr; };
  context.release = [](void *, void *, size_t) {};
  EXPECT_EQ(prepare(), DISCO_OUT_OF_MEMORY);
  const std::string why = disco_last_error();
  EXPECT_EQ(why.rfind("out of memory: cannot allocate ", 0), 0u) << why;
  EXPECT_NE(why.find(" bytes on cuda:0"), std::string::npos) << why;
}

} // namespace
