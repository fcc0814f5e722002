//===- RulesTest.cpp - rules of cpu_gather --------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProblems.h"

#include <gtest/gtest.h>

using namespace disco;
using namespace disco::planning;
using namespace disco::planning::test;

TEST(CpuGather, AppliesToEveryOpOnACpu) {
  for (int32_t op :
       {DISCO_OP_CONTRACT, DISCO_OP_CONV, DISCO_OP_CONV_WEIGHT_GRAD})
    for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16})
      EXPECT_EQ(
          firstFailure("cpu_gather", as(op, small(dtype)), target("avx512")),
          "");
}

TEST(CpuGather, Rule4NeedsACpu) {
  EXPECT_EQ(firstFailure("cpu_gather", small(), target("h200")),
            "4: expected the target to be a cpu target, but got h200 (cuda)");
}

TEST(CpuGather, Rule10NeedsAvx2) {
  Target old = target("avx2");
  old.features = 0;
  EXPECT_EQ(firstFailure("cpu_gather", small(), old),
            "10: expected the target to have avx2, but got avx2 (x86-64-v3) "
            "with none");
}

TEST(CpuGather, Rule11LimitsValuesTo32BitIndices) {
  Problem p = small();
  p.filter.taps = int64_t(1) << 30;
  p.num_basis = 1;
  EXPECT_EQ(firstFailure("cpu_gather", p, target("avx2")), "");
  p.num_basis = 2;
  EXPECT_EQ(firstFailure("cpu_gather", p, target("avx2")),
            "11: expected the filter to have fewer than 2147483648 values for "
            "32-bit indices, but got 2147483648");
}

TEST(CpuGather, Rule12KeepsSumsInRegisters) {
  Problem p = small(DType::f32);
  const char *fields = "k_tile=9,vectors=3";
  EXPECT_EQ(scheduleFailure("cpu_gather", p, target("avx512"), fields), "");
  EXPECT_EQ(scheduleFailure("cpu_gather", p, target("avx2"), fields),
            "12: expected k_tile times vectors to be at most 13 registers, but "
            "got 27");
}
