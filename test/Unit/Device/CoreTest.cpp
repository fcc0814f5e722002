//===- CoreTest.cpp - architectures and canaries --------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceTestUtil.h"

#include "../../../lib/Runtime/CUDA/Core/Kernels.h"

using namespace disco;
using namespace disco::cuda;

extern "C" const Blob disco_blob_test_kernels, disco_blob_test_newer;

namespace {

class CudaCore : public test::DeviceTest {
protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped())
      return;
    disco_device_context context = {};
    context.struct_size = sizeof context;
    ASSERT_EQ(Device::open(context, device), DISCO_OK) << lastError();
  }

  /// Runs the canary of a kernel that writes 1000 numbers.
  disco_status check(const char *name) {
    Kernel kernel;
    if (disco_status s =
            findKernel(device, disco_blob_test_kernels, name, 0, kernel))
      return s;
    return canary(device, name, DISCO_F32, 1000, [&](void *memory) {
      Launch how;
      how.blocks = 10;
      how.threads = 128;
      how.stream = device.stream();
      return launch(kernel, how, &memory);
    });
  }

  Device device;
};

TEST(CudaArch, MachineCodeRunsOnItsMajorVersionOnly) {
  const Blob blob = {"toy", "sm_80,sm_90a", nullptr};
  EXPECT_EQ(checkArch(blob, 8, 0), DISCO_OK);
  EXPECT_EQ(checkArch(blob, 8, 6), DISCO_OK);
  EXPECT_EQ(checkArch(blob, 9, 0), DISCO_OK);
  EXPECT_EQ(checkArch(blob, 7, 5), DISCO_UNSUPPORTED_TARGET);
  EXPECT_STREQ(lastError(),
               "expected the kernels of toy to be built for sm_75, the "
               "device's architecture, but got sm_80,sm_90a");
  EXPECT_EQ(checkArch(blob, 10, 0), DISCO_UNSUPPORTED_TARGET);
  const Blob newer = {"toy", "sm_100a", nullptr};
  EXPECT_EQ(checkArch(newer, 10, 0), DISCO_OK);
  EXPECT_EQ(checkArch(newer, 10, 3), DISCO_UNSUPPORTED_TARGET);
  const Blob ptx = {"toy", "compute_80", nullptr};
  EXPECT_EQ(checkArch(ptx, 12, 0), DISCO_OK);
  EXPECT_EQ(checkArch(ptx, 7, 5), DISCO_UNSUPPORTED_TARGET);
}

TEST_F(CudaCore, ABlobForAnotherArchitectureIsRefused) {
  const DeviceTraits &traits = device.traits();
  if (traits.major == 10 && traits.minor == 0)
    GTEST_SKIP() << "the device is what the blob was built for";
  Kernel kernel;
  EXPECT_EQ(
      findKernel(device, disco_blob_test_newer, "test_writes_all", 0, kernel),
      DISCO_UNSUPPORTED_TARGET);
  EXPECT_EQ(lastError(),
            "expected the kernels of test_newer to be built for sm_" +
                std::to_string(traits.major) + std::to_string(traits.minor) +
                ", the device's architecture, but got sm_100a");
}

TEST_F(CudaCore, TheCanaryPassesAKernelThatWritesAll) {
  EXPECT_EQ(check("test_writes_all"), DISCO_OK) << lastError();
}

TEST_F(CudaCore, TheCanaryCatchesAKernelThatSkipsATile) {
  EXPECT_EQ(check("test_skips_a_tile"), DISCO_EXECUTION_FAILED);
  EXPECT_EQ(lastError(),
            "expected kernel test_skips_a_tile to write all 1000 elements on "
            "cuda:0 (" +
                std::string(device.traits().name) + "), but it left out 100");
}

TEST_F(CudaCore, AKernelWithTooMuchSharedMemoryIsRefused) {
  Kernel kernel;
  const int64_t much = device.traits().smemCta + 1;
  EXPECT_EQ(findKernel(device, disco_blob_test_kernels, "test_writes_all", much,
                       kernel),
            DISCO_UNSUPPORTED_TARGET);
  EXPECT_EQ(lastError(),
            "expected kernel test_writes_all to need at most the " +
                std::to_string(much - 1) +
                " bytes of shared memory of a block of cuda:0, but it needs " +
                std::to_string(much));
}

} // namespace
