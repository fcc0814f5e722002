//===- CpuGatherGoldenTest.cpp - golden layers by cpu_gather --------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GoldenLayers.h"

#include <gtest/gtest.h>

using namespace disco;
using namespace disco::test;

namespace {

TEST(CpuGatherGolden, EveryLayerAndItsGradientsInF64) {
  EXPECT_EQ(checkGoldenF64(*findKernelFamily("cpu_gather")), countGolden());
}

TEST(CpuGatherGolden, EveryLayerAndItsGradientsInNarrowTypes) {
  EXPECT_EQ(checkGoldenNarrow(*findKernelFamily("cpu_gather"),
                              {DType::f32, DType::f16, DType::bf16}),
            3 * countGolden());
}

} // namespace
