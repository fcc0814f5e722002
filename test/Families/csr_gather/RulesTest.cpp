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

TEST(CsrGather, Rule12KeepsWindowsInSharedMemory) {
  Problem p = as(DISCO_OP_CONTRACT, layer("down", DType::f64));
  const char *fields = "bc_tile=8,k_tile=9,threads=256";
  EXPECT_EQ(scheduleFailure("csr_gather", p, target("a100"), fields),
            "12: expected the shared memory of a CTA to be at most 166912 "
            "bytes, but got 249600");
  EXPECT_EQ(scheduleFailure("csr_gather", p, target("a100"),
                            "bc_tile=4,k_tile=9,threads=256"),
            "");
  // Over 48 KiB by opting in.
  EXPECT_EQ(scheduleFailure("csr_gather", p, target("h200"),
                            "bc_tile=4,k_tile=9,threads=256"),
            "");
}

TEST(CsrGather, Rule13KeepsSumsInRegisters) {
  Problem p = small(DType::f32, "zernike, [6]");
  EXPECT_EQ(
      scheduleFailure("csr_gather", p, target("a100"), "bc_tile=8,k_tile=21"),
      "");
  setDType(p, DType::f64);
  EXPECT_EQ(
      scheduleFailure("csr_gather", p, target("a100"), "bc_tile=8,k_tile=21"),
      "13: expected the sums of a thread to take at most 215 registers, "
      "but got 336");
}

TEST(CsrGather, Rule14AllowsAtomicsOnlyOnRequest) {
  Problem p = as(DISCO_OP_CONV_WEIGHT_GRAD, small());
  EXPECT_EQ(scheduleFailure("csr_gather", p, target("a100"), "atomics=1"),
            "14: expected atomics to be 0 where results are deterministic, but "
            "got 1");
  p.deterministic = 0;
  EXPECT_EQ(scheduleFailure("csr_gather", p, target("a100"), "atomics=1"), "");
  p.op = DISCO_OP_CONV;
  EXPECT_EQ(scheduleFailure("csr_gather", p, target("a100"), "atomics=1"),
            "14: expected atomics to be 0 for conv, but got 1");
}

TEST(CsrGather, Rule15BlocksRowsOnlyWhereAConvFiltersFirst) {
  Problem p = small();
  Target a100 = target("a100");
  EXPECT_EQ(scheduleFailure("csr_gather", p, a100, "block_rows=33"), "");
  EXPECT_EQ(scheduleFailure("csr_gather", p, a100, "block_rows=34"),
            "15: expected block_rows to be at most 33, but got 34");
  EXPECT_EQ(scheduleFailure("csr_gather", p, a100, "block_rows=2",
                            DISCO_WEIGHT_FIRST),
            "15: expected block_rows to be 0 for conv in the order "
            "weight_first, but got 2");
}

TEST(CsrGather, Rule16RefusesWhatCannotBeLaunched) {
  Problem p = small(DType::f32);
  Target a100 = target("a100");
  // 40 registers and 72 sums, in steps of 8.
  EXPECT_EQ(
      scheduleFailure("csr_gather", p, a100, "bc_tile=8,k_tile=9,threads=512"),
      "");
  Problem wide = small(DType::f32, "zernike, [6]");
  EXPECT_EQ(scheduleFailure("csr_gather", wide, a100,
                            "bc_tile=8,k_tile=21,threads=512"),
            "16: expected the registers of a CTA to be at most 65536, but got "
            "106496 (512 threads of 208)");
  EXPECT_EQ(scheduleFailure("csr_gather", wide, a100,
                            "bc_tile=8,k_tile=21,threads=288"),
            "");
  ASSERT_TRUE(applyOverrides(a100, "max_threads=256").ok());
  EXPECT_EQ(scheduleFailure("csr_gather", p, a100, "threads=512"),
            "16: expected the threads of a CTA to be at most 256, but got 512");
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
