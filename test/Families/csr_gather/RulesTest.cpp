//===- RulesTest.cpp - rules of csr_gather --------------------------------===//
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

TEST(CsrGather, AppliesToEveryOpDTypeAndFilterOnEveryGpu) {
  for (const char *chip : {"a100", "h100", "h200", "b200"})
    for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16})
      for (const char *basis : {"harmonic, [3, 3]", "piecewise_linear, [3]",
                                "zernike, [6]", "harmonic, [1]"})
        for (int nlon : {60, 64}) {
          Problem p = small(dtype, basis, nlon, nlon);
          EXPECT_EQ(firstFailure("csr_gather", p, target(chip)), "");
          EXPECT_EQ(
              firstFailure("csr_gather", p, target(chip), DISCO_WEIGHT_FIRST),
              "");
        }
}

TEST(CsrGather, Rule4NeedsAGpu) {
  EXPECT_EQ(firstFailure("csr_gather", small(), target("avx2")),
            "4: expected the target to be a cuda target, but got avx2 (cpu)");
}

TEST(CsrGather, Rule10NeedsSm80) {
  Target old = target("a100");
  old.name = "v100";
  old.arch = "sm_70";
  old.features = 0;
  EXPECT_EQ(firstFailure("csr_gather", small(), old),
            "10: expected the target to have async_copy, but got v100 (sm_70) "
            "with none");
}

TEST(CsrGather, Rule11LimitsPlanesTo32BitIndices) {
  Problem p = small();
  p.structure = DISCO_CSR;
  p.out_shape[0] = (int64_t(1) << 31) - 1;
  p.out_shape[1] = 1;
  EXPECT_EQ(firstFailure("csr_gather", p, target("a100")), "");
  p.out_shape[0] += 1;
  EXPECT_EQ(firstFailure("csr_gather", p, target("a100")),
            "11: expected a plane of 1 channel(s) to have fewer than "
            "2147483648 elements for "
            "32-bit indices, but got 2147483648");
}

TEST(CsrGather, Rule12HasAKernelForSoManyFieldsAndFeatures) {
  Target a100 = target("a100");
  const auto why = [&](const Problem &p, const char *fields,
                       int32_t order = DISCO_FILTER_FIRST) {
    return scheduleFailure("csr_gather", p, a100, fields, order);
  };
  Problem p = as(DISCO_OP_CONTRACT, small(DType::f32));
  for (const char *fields :
       {"fields=8,features=9", "fields=8,features=11", "fields=8,features=4",
        "fields=4,features=9", "fields=1,features=9"})
    EXPECT_EQ(why(p, fields), "") << fields;
  EXPECT_EQ(why(p, "fields=2,features=9"),
            "12: expected fields to be 1, 4 or 8, but got 2");
  EXPECT_EQ(why(p, "fields=4,features=11"),
            "12: expected features to be 9 for 4 fields, but got 11");
  EXPECT_EQ(why(p, "fields=8,features=5"),
            "12: expected features to be 4, 9 or 11 for 8 fields, but got 5");
  setDType(p, DType::f64);
  EXPECT_EQ(why(p, "fields=8,features=9"),
            "12: expected fields to be 1 or 4, but got 8");
  EXPECT_EQ(why(p, "fields=4,features=11"),
            "12: expected features to be 4 or 9 for 4 fields, but got 11");
  Problem sum = as(DISCO_OP_CONTRACT_SUM, small(DType::f32));
  EXPECT_EQ(why(sum, "fields=2,features=0", DISCO_WEIGHT_FIRST), "");
  EXPECT_EQ(why(sum, "fields=4,features=0", DISCO_WEIGHT_FIRST),
            "12: expected fields to be 1 or 2, but got 4");
  EXPECT_EQ(why(sum, "fields=2,features=9", DISCO_WEIGHT_FIRST),
            "12: expected features to be 0 where a thread has no features of "
            "its own, but got 9");
  setDType(sum, DType::f64);
  EXPECT_EQ(why(sum, "fields=2,features=0", DISCO_WEIGHT_FIRST),
            "12: expected fields to be 1, but got 2");
}

TEST(CsrGather, Rule13HasBlocksOnlyWhereChannelsAreMixed) {
  Target a100 = target("a100");
  Problem p = small(DType::f32);
  EXPECT_EQ(scheduleFailure("csr_gather", p, a100,
                            "fields=8,features=9,block_mib=64"),
            "");
  EXPECT_EQ(
      scheduleFailure("csr_gather", p, a100, "fields=8,features=9,block_mib=0"),
      "13: expected block_mib to be at least 1 for conv, but got 0");
  EXPECT_EQ(scheduleFailure("csr_gather", as(DISCO_OP_CONTRACT, p), a100,
                            "fields=8,features=9,block_mib=64"),
            "13: expected block_mib to be 0 for contract, but got 64");
}

TEST(CsrGather, EveryCandidateCanBeLaunched) {
  for (const char *chip : {"a100", "h200", "b200"})
    for (DType dtype : {DType::f64, DType::f32, DType::bf16})
      for (const char *basis : {"harmonic, [3, 3]", "zernike, [6]"}) {
        const Problem p = small(dtype, basis);
        const Family &family = *findFamily("csr_gather");
        std::vector<Schedule> schedules;
        family.impl->candidates(p, target(chip), 0, DISCO_RUNTIME, schedules);
        ASSERT_FALSE(schedules.empty());
        for (const Schedule &s : schedules) {
          EXPECT_FALSE(checkSchedule(family, p, target(chip), s));
          for (const Stage &stage :
               family.impl->cost(p, target(chip), s).stages)
            EXPECT_GE(stage.counts.ctasPerCore, 1) << stage.name;
        }
      }
}
