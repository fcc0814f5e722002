//===- RulesTest.cpp - rules of kpacked_wgmma -----------------------------===//
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

static const char *const family = "kpacked_wgmma";

TEST(KpackedWgmma, AppliesWhereItsRulesHold) {
  for (DType dtype : {DType::f16, DType::bf16})
    for (const char *basis : {"harmonic, [3, 3]", "harmonic, [1]",
                              "harmonic, [4, 4]", "zernike, [3]"})
      EXPECT_EQ(firstFailure(family, small(dtype, basis), target("h200")), "")
          << basis;
  EXPECT_EQ(firstFailure(family,
                         small(DType::bf16, "harmonic, [3, 3]", 128, 64),
                         target("h100")),
            "");
}

TEST(KpackedWgmma, Rule1ServesContractAndConv) {
  for (int32_t op : {DISCO_OP_CONTRACT_SUM, DISCO_OP_CONV_WEIGHT_GRAD})
    EXPECT_EQ(firstFailure(family, as(op, small()), target("h200")),
              "1: expected the op to be one of contract, conv, but got " +
                  std::string(nameOfOp(op)));
}

TEST(KpackedWgmma, Rule2ServesHalfPrecision) {
  for (DType dtype : {DType::f64, DType::f32})
    EXPECT_EQ(firstFailure(family, small(dtype), target("h200")),
              "2: expected the dtype to be one of f16, bf16, but got " +
                  std::string(nameOf(dtype)));
}

TEST(KpackedWgmma, Rule3ServesSpheres) {
  Problem p = small();
  p.structure = DISCO_TABLE;
  EXPECT_EQ(firstFailure(family, p, target("h200")),
            "3: expected the structure to be one of sphere, but got table");
}

TEST(KpackedWgmma, Rule10NeedsWgmma) {
  EXPECT_EQ(firstFailure(family, small(), target("a100")),
            "10: expected the target to have wgmma, but got a100 (sm_80) with "
            "mma_sync, async_copy");
  EXPECT_EQ(firstFailure(family, small(), target("b200")).substr(0, 41),
            "10: expected the target to have wgmma, bu");
}

TEST(KpackedWgmma, Rule11NeedsAConstantFilter) {
  Problem p = small();
  p.filter.exact = 0;
  EXPECT_EQ(firstFailure(family, p, target("h200")),
            "11: expected the filter to be a constant, but got tables known "
            "only at run time");
}

TEST(KpackedWgmma, Rule12NeedsKPadOf8Or16) {
  EXPECT_EQ(
      firstFailure(family, small(DType::bf16, "zernike, [6]"), target("h200")),
      "12: expected K_pad to be 8 or 16, but got 24 (K 21)");
}

TEST(KpackedWgmma, Rule13NeedsASharedSupport) {
  Problem p = small(DType::bf16, "piecewise_linear, [3]");
  EXPECT_EQ(firstFailure(family, p, target("h200")),
            "13: expected all features to share their support (" +
                std::to_string(p.filter.taps * p.num_basis) +
                " entries), but got " + std::to_string(p.filter.entries) +
                " entries");
}

TEST(KpackedWgmma, Rule14NeedsWholeTilesOfLongitudes) {
  EXPECT_EQ(
      firstFailure(family, small(DType::bf16, "harmonic, [3, 3]", 60, 60),
                   target("h200")),
      "14: expected nlon of the output to be a multiple of 8, but got 60");
}

TEST(KpackedWgmma, Rule15NeedsAnIntegerScale) {
  EXPECT_EQ(firstFailure(family,
                         small(DType::bf16, "harmonic, [3, 3]", 64, 128),
                         target("h200")),
            "15: expected nlon of the input to be a multiple of nlon of the "
            "output (128), but got 64");
}

TEST(KpackedWgmma, Rule16NeedsFilterFirst) {
  EXPECT_EQ(firstFailure(family, small(), target("h200"), DISCO_WEIGHT_FIRST),
            "16: expected the order to be filter_first, since features are "
            "columns of the tensor tile, but got weight_first");
}

TEST(KpackedWgmma, Rule17LimitsPlanesTo32BitIndices) {
  Problem p = small();
  p.in_shape[0] = int64_t(1) << 31;
  EXPECT_EQ(firstFailure(family, p, target("h200")),
            "17: expected a plane of 1 channel(s) to have fewer than "
            "2147483648 elements for "
            "32-bit indices, but got 137438953472");
}

TEST(KpackedWgmma, Rule18KeepsWindowsInSharedMemory) {
  Problem p = layer("decoder", DType::bf16);
  EXPECT_EQ(scheduleFailure(family, p, target("h200"), "staged=1,stages=4"),
            "");
  Target tiny = target("h200");
  tiny.values[static_cast<size_t>(TargetField::smem_cta_bytes)] = 32768;
  EXPECT_EQ(scheduleFailure(family, p, tiny, "staged=1,stages=4"),
            "18: expected the shared memory of a CTA to be at most 32768 "
            "bytes, but got 56544");
  EXPECT_EQ(scheduleFailure(family, p, tiny, "staged=0,stages=4"), "");
}

TEST(KpackedWgmma, Rule19BlocksRowsOnlyInAConv) {
  EXPECT_EQ(scheduleFailure(family, small(), target("h200"), "block_rows=33"),
            "");
  EXPECT_EQ(scheduleFailure(family, as(DISCO_OP_CONTRACT, small()),
                            target("h200"), "block_rows=1"),
            "19: expected block_rows to be at most 0 for contract, but got 1");
}
