//===- DeviceTest.cpp - calls for devices, with or without one ------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeTest.h"

#include "disco/ABI/DeviceKernel.h"

#include <gtest/gtest.h>
#include <string>

namespace {

disco_device_context contextOf(int32_t device) {
  disco_device_context context = {};
  context.struct_size = sizeof context;
  context.device = device;
  return context;
}

TEST(Device, WithoutADeviceTheReasonIsGiven) {
  int32_t count = -1;
  const disco_status status = disco_device_count(&count);
  if (status == DISCO_OK) {
    EXPECT_GE(count, 1);
    return;
  }
  EXPECT_EQ(status, DISCO_UNSUPPORTED_TARGET);
  EXPECT_EQ(count, -1);
  const std::string why = disco_last_error();
  const bool isClear =
      why.rfind("no CUDA driver on this machine", 0) == 0 ||
      why.rfind("no CUDA device on this machine", 0) == 0 ||
      why.rfind("expected the CUDA driver to serve CUDA ", 0) == 0 ||
      why.rfind("cannot load the CUDA kernels: ", 0) == 0;
  EXPECT_TRUE(isClear) << why;
  // The same reason for whatever needs a device.
  const disco_device_context context = contextOf(0);
  void *memory = nullptr;
  EXPECT_EQ(disco_device_allocate(&context, 16, &memory),
            DISCO_UNSUPPORTED_TARGET);
  EXPECT_EQ(disco_last_error(), why);
  EXPECT_EQ(memory, nullptr);
}

TEST(Device, MalformedArgumentsAreErrorsOnAnyMachine) {
  EXPECT_EQ(disco_device_count(nullptr), DISCO_INVALID_ARGUMENT);
  EXPECT_STREQ(disco_last_error(),
               "expected count to be a pointer, but got null");
  disco_device_context context = contextOf(0);
  context.struct_size = 3;
  EXPECT_EQ(disco_device_synchronize(&context), DISCO_INVALID_ARGUMENT);
  EXPECT_EQ(disco_last_error(),
            "expected struct_size of the device context to be " +
                std::to_string(sizeof context) + ", but got 3");
  context = contextOf(0);
  disco_prepared *prepared = nullptr;
  EXPECT_EQ(disco_device_prepare("csr_gather", &context, nullptr, &prepared),
            DISCO_INVALID_ARGUMENT);
  EXPECT_STREQ(disco_last_error(),
               "expected the call to be a pointer, but got null");
  disco_kernel_call call = {};
  call.struct_size = sizeof call;
  EXPECT_EQ(disco_device_run(nullptr, &call, nullptr, nullptr, 0),
            DISCO_INVALID_ARGUMENT);
  EXPECT_STREQ(disco_last_error(),
               "expected prepared to be a pointer, but got null");
}

} // namespace
