//===- DeviceTestUtil.h - tests that need a CUDA device ---------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TEST_UNIT_DEVICE_DEVICETESTUTIL_H
#define DISCO_TEST_UNIT_DEVICE_DEVICETESTUTIL_H

#include "disco/ABI/DeviceKernel.h"
#include "disco/Runtime/KernelCall.h"

#include <gtest/gtest.h>

namespace disco::test {

/// Skips its tests where there is no device.
class DeviceTest : public testing::Test {
protected:
  void SetUp() override {
    int32_t count = 0;
    if (disco_device_count(&count) != DISCO_OK)
      GTEST_SKIP() << disco_last_error();
  }
};

/// csr_gather on device 0, for operands on the host.
inline disco_status noWorkspace(const disco_kernel_call *, uint64_t *bytes) {
  *bytes = 0;
  return DISCO_OK;
}
inline disco_status runCsrGather(const disco_kernel_call *call, void *,
                                 uint64_t) {
  disco_kernel_call copy = *call;
  copy.schedule.num_fields = 0;
  return runKernelOnDevice("csr_gather", 0, copy) ? DISCO_OK
                                                  : DISCO_EXECUTION_FAILED;
}
inline constexpr KernelFamily csrGather = {"csr_gather", noWorkspace,
                                           runCsrGather};

} // namespace disco::test

#endif // DISCO_TEST_UNIT_DEVICE_DEVICETESTUTIL_H
