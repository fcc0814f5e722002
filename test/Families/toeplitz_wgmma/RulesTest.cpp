//===- RulesTest.cpp - rules of toeplitz_wgmma ----------------------------===//
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

static const char *const family = "toeplitz_wgmma";

TEST(ToeplitzWgmma, AppliesWhereItsRulesHold) {
  for (DType dtype : {DType::f16, DType::bf16})
    for (const char *basis :
         {"harmonic, [3, 3]", "harmonic, [1]", "piecewise_linear, [3]",
          "zernike, [6]", "harmonic, [8, 8]"})
      for (int nlonOut : {30, 60, 120})
        for (int32_t order : {DISCO_FILTER_FIRST, DISCO_WEIGHT_FIRST}) {
          const bool fits = std::string(basis) != "harmonic, [8, 8]" ||
                            nlonOut < 120 || order == DISCO_WEIGHT_FIRST;
          EXPECT_EQ(firstFailure(family, small(dtype, basis, 60, nlonOut),
                                 target("h200"), order),
                    fits ? ""
                         : "12: expected K times the phases to be at most 64, "
                           "the rows of a tensor tile, but got 64 times 2")
              << basis << " " << nlonOut;
        }
}

TEST(ToeplitzWgmma, Rule2ServesHalfPrecision) {
  EXPECT_EQ(firstFailure(family, small(DType::f32), target("h200")),
            "2: expected the dtype to be one of f16, bf16, but got f32");
}

TEST(ToeplitzWgmma, Rule10NeedsWgmmaAndBulkCopies) {
  EXPECT_EQ(firstFailure(family, small(), target("a100")),
            "10: expected the target to have wgmma, bulk_copy, but got a100 "
            "(sm_80) with mma_sync, async_copy");
}

TEST(ToeplitzWgmma, Rule11NeedsAConstantFilter) {
  Problem p = small();
  p.filter.exact = 0;
  EXPECT_EQ(firstFailure(family, p, target("h200")),
            "11: expected the filter to be a constant, but got tables known "
            "only at run time");
}

TEST(ToeplitzWgmma, Rule12LimitsKToTheTile) {
  EXPECT_EQ(firstFailure(family, small(DType::bf16, "harmonic, [8, 9]"),
                         target("h200")),
            "12: expected K times the phases to be at most 64, the rows of a "
            "tensor tile, but got 72 times 1");
  // Features in the reduction may be any number, phases not.
  EXPECT_EQ(firstFailure(family, small(DType::bf16, "harmonic, [8, 9]"),
                         target("h200"), DISCO_WEIGHT_FIRST),
            "");
  Problem p = small();
  p.filter.phases = 65;
  EXPECT_EQ(firstFailure(family, p, target("h200"), DISCO_WEIGHT_FIRST),
            "12: expected the phases to be at most 64, the rows of a tensor "
            "tile, but got 65");
}

TEST(ToeplitzWgmma, Rule13FillsFewGapsOnly) {
  Problem p = small();
  p.filter.gap_taps = p.filter.taps / 4;
  EXPECT_EQ(firstFailure(family, p, target("h200")), "");
  p.filter.gap_taps += 1;
  EXPECT_EQ(firstFailure(family, p, target("h200")),
            "13: expected the gaps between arcs to hold at most a quarter of "
            "the taps (" +
                std::to_string(p.filter.taps / 4) + "), but got " +
                std::to_string(p.filter.taps / 4 + 1));
}

TEST(ToeplitzWgmma, Rule14LimitsPlanesTo32BitIndices) {
  Problem p = small();
  p.in_shape[0] = int64_t(1) << 31;
  EXPECT_EQ(
      firstFailure(family, p, target("h200")),
      "14: expected a plane of 8 channel(s) to have fewer than 2147483648 "
      "elements for 32-bit indices, but got 1099511627776");
  // Whatever else is wrong with a filter that large.
  p.filter.exact = 0;
  EXPECT_EQ(firstFailure(family, p, target("h200")).substr(0, 3), "14:");
}

TEST(ToeplitzWgmma, WeightGradientsThatFilterGyAreJudgedByTheAdjoint) {
  // 60 longitudes to 30: the adjoint has two phases and twice the rows.
  Problem p = as(DISCO_OP_CONV_WEIGHT_GRAD,
                 small(DType::bf16, "harmonic, [3, 3]", 60, 30));
  ASSERT_EQ(p.filter.phases, 1);
  ASSERT_EQ(p.adjoint.phases, 2);
  Target h200 = target("h200");
  EXPECT_EQ(
      scheduleFailure(family, p, h200, "block_rows=66", DISCO_WEIGHT_FIRST),
      "");
  EXPECT_EQ(
      scheduleFailure(family, p, h200, "block_rows=67", DISCO_WEIGHT_FIRST),
      "18: expected block_rows to be at most 66 for conv_weight_grad in "
      "the order weight_first, but got 67");
  EXPECT_EQ(scheduleFailure(family, p, h200, "block_rows=34"),
            "18: expected block_rows to be at most 33 for conv_weight_grad in "
            "the order filter_first, but got 34");
  p.adjoint.gap_taps = p.adjoint.taps;
  EXPECT_EQ(firstFailure(family, p, h200), "");
  EXPECT_EQ(firstFailure(family, p, h200, DISCO_WEIGHT_FIRST).substr(0, 3),
            "13:");
}

TEST(ToeplitzWgmma, Rule15KeepsSlabsInSharedMemory) {
  Problem p = layer("self256", DType::bf16);
  Target h200 = target("h200");
  EXPECT_EQ(scheduleFailure(family, p, h200, "fused=1,lon_groups=18"), "");
  EXPECT_EQ(scheduleFailure(family, p, h200, "fused=1,lon_groups=18,stages=8"),
            "15: expected the shared memory of a CTA to be at most 232448 "
            "bytes, but got 252416");
  // Groups of 64 longitudes: with three stages a slab has no room for columns.
  p = as(DISCO_OP_CONTRACT_SUM, p);
  const auto check = [&](const char *fields) {
    return scheduleFailure(family, p, h200, fields, DISCO_WEIGHT_FIRST);
  };
  EXPECT_EQ(check("rows=1,lon_groups=18,stages=2"), "");
  EXPECT_EQ(check("rows=1,lon_groups=18,stages=3"),
            "15: expected a slab of x to hold at least 1096 longitudes, those "
            "of 18 groups, but got 864 with 3 stages");
  EXPECT_EQ(check("rows=1,lon_groups=9,stages=3"), "");
}

TEST(ToeplitzWgmma, Rule16FusesPlainConvsOnly) {
  Target h200 = target("h200");
  Problem p = small();
  EXPECT_EQ(scheduleFailure(family, p, h200, "fused=1"), "");
  EXPECT_EQ(scheduleFailure(family, as(DISCO_OP_CONTRACT, p), h200, "fused=1"),
            "16: expected fused to be 0 for contract in the order "
            "filter_first, but got 1");
  EXPECT_EQ(
      scheduleFailure(family, p, h200, "fused=1", DISCO_WEIGHT_FIRST),
      "16: expected fused to be 0 for conv in the order weight_first, but "
      "got 1");
  p.groups = 4;
  EXPECT_EQ(scheduleFailure(family, p, h200, "fused=1"),
            "16: expected the groups of a fused conv to be 1, but got 4");
  p.groups = 1;
  p.out_channels = 264;
  EXPECT_EQ(scheduleFailure(family, p, h200, "fused=1"),
            "16: expected the output channels of a fused conv to be at most "
            "256, the columns of a tensor tile, but got 264");
}

TEST(ToeplitzWgmma, Rule17KeepsRowsInTheTile) {
  Target h200 = target("h200");
  Problem p = small();
  for (const char *fields : {"rows=2", "rows=4", "rows=8", "rows=16"})
    EXPECT_EQ(scheduleFailure(family, p, h200, fields, DISCO_WEIGHT_FIRST), "");
  EXPECT_EQ(scheduleFailure(family, p, h200, "rows=5", DISCO_WEIGHT_FIRST),
            "17: expected rows to be one of 1, 2, 4, 8, 16, but got 5");
  EXPECT_EQ(scheduleFailure(family, p, h200, "rows=2"),
            "17: expected rows to be 1 where features are rows of A, but got "
            "2");
  p.filter.phases = 16;
  EXPECT_EQ(scheduleFailure(family, p, h200, "rows=4", DISCO_WEIGHT_FIRST), "");
  EXPECT_EQ(scheduleFailure(family, p, h200, "rows=8", DISCO_WEIGHT_FIRST),
            "17: expected rows times phases to be at most 64, the rows of a "
            "tensor tile, but got 8 times 16");
}

TEST(ToeplitzWgmma, Rule19HasAKernelForEachNumberOfGroups) {
  const Problem p = as(DISCO_OP_CONTRACT, small());
  for (const char *fields : {"lon_groups=1", "lon_groups=2", "lon_groups=4",
                             "lon_groups=9", "lon_groups=18"})
    EXPECT_EQ(scheduleFailure(family, p, target("h200"), fields), "");
  EXPECT_EQ(scheduleFailure(family, p, target("h200"), "lon_groups=3"),
            "19: expected lon_groups to be one of 18, 9, 4, 2, 1, but got 3");
  EXPECT_EQ(scheduleFailure(family, p, target("h200"), "lon_groups=19"),
            "expected lon_groups to be in [1, 18], but got 19");
  EXPECT_EQ(scheduleFailure(family, p, target("h200"), "stages=9"),
            "expected stages to be in [2, 8], but got 9");
}

TEST(ToeplitzWgmma, Rule18BlocksRowsOnlyWhereFilterAndMixAlternate) {
  Target h200 = target("h200");
  Problem p = small();
  EXPECT_EQ(scheduleFailure(family, p, h200, "block_rows=33"), "");
  EXPECT_EQ(scheduleFailure(family, as(DISCO_OP_CONV_WEIGHT_GRAD, p), h200,
                            "block_rows=33", DISCO_WEIGHT_FIRST),
            "");
  EXPECT_EQ(scheduleFailure(family, p, h200, "block_rows=34"),
            "18: expected block_rows to be at most 33 for conv in the order "
            "filter_first, but got 34");
  EXPECT_EQ(scheduleFailure(family, p, h200, "block_rows=1,fused=1"),
            "18: expected block_rows to be at most 0 for conv in the order "
            "filter_first, but got 1");
}

TEST(ToeplitzWgmma, Self256IsFusedWithTheTileOfTheDesign) {
  auto selection =
      select(layer("self256", DType::bf16), target("h200"), withPlanned());
  ASSERT_TRUE(selection.ok()) << selection.message();
  EXPECT_EQ(fieldsToString(selection->winner.schedule,
                           selection->winner.family->fields()),
            "rows=1,lon_groups=18,stages=4,fused=1,block_rows=0");
  // Wider layers would compute the features O / 256 times.
  selection =
      select(layer("local828", DType::bf16), target("h200"), withPlanned());
  ASSERT_TRUE(selection.ok()) << selection.message();
  EXPECT_EQ(get(selection->winner.schedule,
                selection->winner.family->fields().find("fused")),
            0);
}
