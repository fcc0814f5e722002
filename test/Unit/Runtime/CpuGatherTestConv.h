//===- CpuGatherTestConv.h - a call to test promises with -------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TEST_UNIT_RUNTIME_CPUGATHERTESTCONV_H
#define DISCO_TEST_UNIT_RUNTIME_CPUGATHERTESTCONV_H

#include "CpuGatherTestUtil.h"

#include <gtest/gtest.h>

namespace disco::test {

/// A conv of a layer that has empty rows, whole rings and a stride.
struct Conv {
  std::mt19937 random{7};
  TestPsi psi;
  DType dtype;
  int64_t channels, outChannels;
  Array x, weight, bias, y;
  disco_kernel_call call;

  explicit Conv(DType dtype = DType::f32, int64_t channels = 5,
                int64_t outChannels = 7, int64_t nlonIn = 60,
                int64_t nlonOut = 30)
      : psi(sphereCase(
            randomSphere(random, 9, 6, nlonIn, 5, nlonOut, nlonIn / 3), dtype)),
        dtype(dtype), channels(channels), outChannels(outChannels),
        x(randomArray(random, dtype, {2, channels, 6, nlonIn})),
        weight(randomArray(random, dtype, {outChannels, channels, 9})),
        bias(randomArray(random, dtype, {outChannels})),
        y(nanArray(dtype, {2, outChannels, 5, nlonOut})),
        call(makeKernelCall(DISCO_OP_CONV, psi.tables, dtype)) {
    call.batch = 2;
    call.channels = channels;
    call.out_channels = outChannels;
    call.has_bias = 1;
    call.activation = DISCO_ACTIVATION_GELU;
    call.x = x.bytes.data();
    call.weight = weight.bytes.data();
    call.bias = bias.bytes.data();
    call.y = y.bytes.data();
  }

  std::vector<uint8_t> run() {
    y = nanArray(dtype, y.shape);
    call.y = y.bytes.data();
    const Status s = runKernel(*findKernelFamily("cpu_gather"), call);
    EXPECT_TRUE(s) << s.message();
    return y.bytes;
  }
};

} // namespace disco::test

#endif // DISCO_TEST_UNIT_RUNTIME_CPUGATHERTESTCONV_H
