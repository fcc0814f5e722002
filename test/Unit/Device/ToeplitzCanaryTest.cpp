//===- ToeplitzCanaryTest.cpp - a kernel that skips a tile ----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceTestUtil.h"

#include "../../../lib/Runtime/CUDA/ToeplitzWgmma/Filter.h"

#include <string>
#include <vector>

using namespace disco;
using namespace disco::cuda;
using namespace disco::test;

namespace {

class ToeplitzCanary : public DeviceTest {};

/// The kernels of this test are those of SkipsATile.cu.
TEST_F(ToeplitzCanary, AKernelThatSkipsATileIsNotPrepared) {
  disco_device_context context = {};
  context.struct_size = sizeof context;
  Device device;
  ASSERT_EQ(Device::open(context, device), DISCO_OK) << lastError();
  if (device.traits().major != 9 || device.traits().minor != 0)
    GTEST_SKIP() << "toeplitz_wgmma needs sm_90";
  // One tap a row.
  const std::vector<int32_t> offsets = {0, 1, 2},
                             arcs = {0, 0, 1, 0, 1, 0, 1, 1};
  const std::vector<float> values(2 * 9, 1);
  disco_kernel_psi psi = {};
  psi.form = DISCO_FORM_ARCS;
  psi.index_dtype = DISCO_I32;
  psi.value_dtype = DISCO_F32;
  psi.num_basis = 9;
  psi.nlat_in = psi.nlat_out = 2;
  psi.nlon_in = psi.nlon_out = 72;
  psi.num_arcs = psi.num_taps = 2;
  psi.offsets = offsets.data();
  psi.indices = arcs.data();
  psi.values = values.data();
  toeplitz_wgmma::Filter filter;
  EXPECT_EQ(filter.make(device, psi, false, DType::bf16, {}),
            DISCO_EXECUTION_FAILED);
  const std::string message = lastError();
  EXPECT_EQ(message.find("expected kernel toeplitz_bf16_g"), 0U) << message;
  EXPECT_NE(message.find(", but it left out "), std::string::npos) << message;
}

} // namespace
