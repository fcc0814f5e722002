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

TEST(Device, RepacksWithoutSenseAreErrorsOnAnyMachine) {
  const disco_device_context context = contextOf(0);
  disco_prepared_repack *prepared = nullptr;
  const auto error = [&](int32_t from, int32_t to, int64_t channels,
                         int64_t points, int32_t fromType = DISCO_F16,
                         int32_t toType = DISCO_F16) -> std::string {
    disco_repack repack = {};
    repack.struct_size = sizeof repack;
    repack.from_layout = from;
    repack.to_layout = to;
    repack.from_dtype = fromType;
    repack.to_dtype = toType;
    repack.channels = channels;
    repack.points = points;
    EXPECT_EQ(disco_device_prepare_repack(&context, &repack, &prepared),
              DISCO_INVALID_ARGUMENT);
    return disco_last_error();
  };
  EXPECT_EQ(error(3, DISCO_C8, 1, 1),
            "expected the old layout of a repack to be in [0, 2], but got 3");
  EXPECT_EQ(error(DISCO_C8, -1, 1, 1),
            "expected the new layout of a repack to be in [0, 2], but got -1");
  EXPECT_EQ(error(DISCO_C8, DISCO_NCHW, 1, 1, 6),
            "expected the old element type of a repack to be in [0, 5], but "
            "got 6");
  EXPECT_EQ(error(DISCO_C8, DISCO_NCHW, 1, 1, DISCO_F32, -1),
            "expected the new element type of a repack to be in [0, 5], but "
            "got -1");
  EXPECT_EQ(error(DISCO_C8, DISCO_C8, 1, 1),
            "expected a repack to change the layout or the element type, but "
            "got neither");
  EXPECT_EQ(error(DISCO_C8, DISCO_NCHW, 1, 1, DISCO_F16, DISCO_F32),
            "expected a repack to change the layout or the element type, but "
            "got both");
  EXPECT_EQ(error(DISCO_NCHW, DISCO_NCHW, 1, 1, DISCO_F64, DISCO_BF16),
            "expected the element type of a repack to change between f32 and "
            "f64, f16 or bf16, but got f64 to bf16");
  EXPECT_EQ(error(DISCO_NCHW, DISCO_NCHW, 1, 1, DISCO_I32, DISCO_F32),
            "expected the element type of a repack to change between f32 and "
            "f64, f16 or bf16, but got i32 to f32");
  EXPECT_EQ(error(DISCO_C8, DISCO_NCHW, -1, 1),
            "expected the number of channels of a repack to be in [0, "
            "9007199254740991], but got -1");
  EXPECT_EQ(error(DISCO_C8, DISCO_NCHW, 1000, INT64_MAX),
            "expected the number of points of a repack to be in [0, "
            "8935713546370], but got 9223372036854775807");
  EXPECT_EQ(disco_device_prepare_repack(&context, nullptr, &prepared),
            DISCO_INVALID_ARGUMENT);
  EXPECT_STREQ(disco_last_error(),
               "expected repack to be a pointer, but got null");
  disco_repack small = {};
  small.struct_size = 1;
  EXPECT_EQ(disco_device_prepare_repack(&context, &small, &prepared),
            DISCO_INVALID_ARGUMENT);
  EXPECT_EQ(disco_last_error(), "expected struct_size of the repack to be " +
                                    std::to_string(sizeof small) +
                                    ", but got 1");
  EXPECT_EQ(disco_device_run_repack(nullptr, 1, nullptr, nullptr, nullptr),
            DISCO_INVALID_ARGUMENT);
  EXPECT_STREQ(disco_last_error(),
               "expected prepared to be a pointer, but got null");
  EXPECT_EQ(prepared, nullptr);
}

} // namespace
