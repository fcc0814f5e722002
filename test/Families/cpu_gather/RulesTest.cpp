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

TEST(CpuGather, Rule10LimitsK) {
  Problem p = small();
  p.num_basis = 4096;
  EXPECT_EQ(firstFailure("cpu_gather", p, target("avx2")), "");
  p.num_basis = 4097;
  EXPECT_EQ(firstFailure("cpu_gather", p, target("avx2")),
            "10: expected K to be at most 4096, but got 4097");
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

TEST(CpuGather, Rule12WantsTheFieldsThatTheKernelHasAndNoOthers) {
  const Target avx2 = target("avx2");
  const Problem conv = small(DType::f32);
  EXPECT_EQ(
      scheduleFailure("cpu_gather", conv, avx2, "tile=96,channel_block=32"),
      "");
  EXPECT_EQ(
      scheduleFailure("cpu_gather", conv, avx2, "tile=0,channel_block=32"),
      "12: expected tile to be positive for conv, filter_first, but got "
      "0");
  EXPECT_EQ(
      scheduleFailure("cpu_gather", conv, avx2, "tile=96,channel_block=0"),
      "12: expected channel_block to be positive for conv, filter_first, "
      "but got 0");
  const Problem contract = as(DISCO_OP_CONTRACT, conv);
  EXPECT_EQ(scheduleFailure("cpu_gather", contract, avx2, "tile=96"), "");
  EXPECT_EQ(
      scheduleFailure("cpu_gather", contract, avx2, "tile=96,channel_block=32"),
      "12: expected channel_block to be 0 for contract, filter_first, "
      "but got 32");
}

/// The kernels' own choice is a candidate, and every candidate is legal.
TEST(CpuGather, CandidatesAreLegalInEveryOrder) {
  const Family &family = *findFamily("cpu_gather");
  for (int32_t op : {DISCO_OP_CONTRACT, DISCO_OP_CONTRACT_SUM, DISCO_OP_CONV,
                     DISCO_OP_CONV_WEIGHT_GRAD})
    for (const char *chip : {"avx2", "avx512"})
      for (int32_t order : {DISCO_FILTER_FIRST, DISCO_WEIGHT_FIRST}) {
        const Problem p = as(op, small(DType::f32));
        if (!(ordersOf(p) >> order & 1))
          continue;
        std::vector<Schedule> schedules;
        family.impl->candidates(p, target(chip), order, DISCO_RUNTIME,
                                schedules);
        EXPECT_GE(schedules.size(), 1u);
        for (const Schedule &s : schedules) {
          EXPECT_TRUE(verify(s, family.fields()).ok());
          EXPECT_FALSE(checkSchedule(family, p, target(chip), s));
          EXPECT_GT(
              family.impl->cost(p, target(chip), s).predictedMicroseconds(), 0);
        }
      }
}
