//===- RulesTest.cpp - rules of loops -------------------------------------===//
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

TEST(Loops, TakesEveryOpDTypeAndStructureOnACpu) {
  Target cpu = target("avx2");
  for (int32_t op = 0; op < DISCO_NUM_OPS; ++op)
    for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
      Problem p = as(op, small(dtype));
      int32_t order =
          op == DISCO_OP_CONTRACT_SUM ? DISCO_WEIGHT_FIRST : DISCO_FILTER_FIRST;
      EXPECT_EQ(firstFailure("loops", p, cpu, order), "");
      p.structure = DISCO_TABLE;
      EXPECT_EQ(firstFailure("loops", p, cpu, order), "");
    }
}

TEST(Loops, Rule10RefusesOtherTargets) {
  EXPECT_EQ(firstFailure("loops", small(), target("a100")),
            "10: expected the target to be a cpu target, but got a100 (cuda)");
}

TEST(Loops, Rule5RefusesOrdersThatTheOpHasNot) {
  Target cpu = target("avx2");
  EXPECT_EQ(firstFailure("loops", as(DISCO_OP_CONTRACT, small()), cpu,
                         DISCO_WEIGHT_FIRST),
            "5: expected the order of contract to be filter_first, but got "
            "weight_first");
  EXPECT_EQ(firstFailure("loops", as(DISCO_OP_CONTRACT_SUM, small()), cpu),
            "5: expected the order of contract_sum to be weight_first, but got "
            "filter_first");
}
