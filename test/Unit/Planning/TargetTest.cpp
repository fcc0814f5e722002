//===- TargetTest.cpp - the table of chips --------------------------------===//
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
using planning::test::target;

TEST(Target, EveryRowIsValidAndNamed) {
  ASSERT_EQ(knownTargets().size(), 6u);
  for (const Target &t : knownTargets()) {
    EXPECT_TRUE(validate(t).ok()) << validate(t).message();
    EXPECT_EQ(lookupTarget(t.name)->name, t.name);
  }
}

TEST(Target, LookupTakesNamesArchitecturesAndKinds) {
  EXPECT_EQ(target("sm_90a").name, "h200");
  EXPECT_EQ(target("cuda:sm_90a").name, "h200");
  EXPECT_EQ(target("cuda:h100").name, "h100");
  EXPECT_EQ(target("cpu").name, "avx2");
  EXPECT_EQ(target("x86-64-v4").name, "avx512");
}

TEST(Target, LookupErrorListsWhatThereIs) {
  const char *known = "h200 (sm_90a), h100 (sm_90a), a100 (sm_80), b200 "
                      "(sm_100a), avx2 (x86-64-v3), avx512 (x86-64-v4)";
  for (const char *name : {"sm_70", "cuda:avx2", ""})
    EXPECT_EQ(lookupTarget(name).message(),
              std::string("expected the target to be one of ") + known +
                  ", but got '" + name + "'");
}

TEST(Target, OverridesChangeOneNumberAndItsSource) {
  Target t = target("h200");
  ASSERT_TRUE(applyOverrides(t, "dram_gbps=3000,launch_us=4.5").ok());
  EXPECT_EQ(t[TargetField::dram_gbps], 3000);
  EXPECT_EQ(t[TargetField::launch_us], 4.5);
  EXPECT_EQ(t.sources[static_cast<size_t>(TargetField::dram_gbps)], "override");
  EXPECT_EQ(t[TargetField::cores], 132);
  EXPECT_TRUE(applyOverrides(t, "").ok());
}

TEST(Target, BadOverridesAreRefusedAndChangeNothing) {
  Target t = target("h200");
  auto why = [&](const char *text) {
    return applyOverrides(t, text).message();
  };
  EXPECT_EQ(why("dram_gbps"), "expected a target override to read "
                              "field=number, but got 'dram_gbps'");
  EXPECT_EQ(why("dram_gbps=fast"),
            "expected the value of dram_gbps to be a number, but got 'fast'");
  EXPECT_EQ(why("dram_gbps=nan"),
            "expected the value of dram_gbps to be a number, but got 'nan'");
  EXPECT_EQ(why("launch_us=4,cores=-1"),
            "expected h200.cores to be positive, but got -1");
  EXPECT_EQ(why("dram_gbps=9000"),
            "expected h200.dram_gbps to be at most l2_gbps (5500), but got "
            "9000");
  std::string unknown = why("warp=3");
  EXPECT_EQ(unknown.rfind("expected the target field to be one of cores, ", 0),
            0u);
  EXPECT_EQ(unknown.substr(unknown.rfind(", but")), ", but got 'warp'");
  EXPECT_EQ(t[TargetField::launch_us], 2.5);
}

namespace {

std::string lie(const char *name, TargetField field, double value) {
  Target t = target(name);
  t.values[static_cast<size_t>(field)] = value;
  return validate(t).message();
}

} // namespace

TEST(Target, ValidateCatchesLies) {
  using F = TargetField;
  EXPECT_EQ(lie("a100", F::clock_ghz, 0),
            "expected a100.clock_ghz to be positive, but got 0");
  EXPECT_EQ(lie("avx2", F::max_ctas, 8),
            "expected avx2.max_ctas to be 0 on a cpu target, but got 8");
  EXPECT_EQ(lie("a100", F::smem_cta_bytes, 232448),
            "expected a100.smem_cta_bytes to be at most smem_bytes (167936), "
            "but got 232448");
  EXPECT_EQ(lie("a100", F::fma_f32_tflops, 195),
            "expected a100.fma_f32_tflops to be at most what its cores and "
            "clock give (38.9837), but got 195");
  EXPECT_EQ(lie("h100", F::smem_gbps, 60000),
            "expected h100.smem_gbps to be at most what its cores and clock "
            "give (33454.1), but got 60000");
  EXPECT_EQ(lie("h100", F::l2_gbps, 34000),
            "expected h100.l2_gbps to be at most smem_gbps (33454), but got "
            "34000");
  EXPECT_EQ(lie("h100", F::dram_latency_ns, 100),
            "expected h100.l2_latency_ns to be at most dram_latency_ns (100), "
            "but got 140");
  EXPECT_EQ(lie("b200", F::tensor_tf32_tflops, 5000),
            "expected b200.tensor_tf32_tflops to be at most tensor_f16_tflops "
            "(2250), but got 5000");
  Target t = target("a100");
  t.features |= featureWgmma;
  EXPECT_EQ(validate(t).message(), "expected wgmma on sm_90a and there only, "
                                   "but got sm_80 with mma_sync, async_copy, "
                                   "wgmma");
  t = target("h200");
  t.sources[0].clear();
  EXPECT_EQ(validate(t).message(), "expected h200.cores to name its source");
  t = target("avx2");
  t.features = featureAvx512;
  EXPECT_EQ(validate(t).message(), "expected the features of avx2 to be avx2 "
                                   "and perhaps avx512, but got avx512");
}

TEST(Target, ListShowsEveryRowWithSources) {
  std::string list = listTargets();
  for (const Target &t : knownTargets())
    EXPECT_NE(list.find(t.name + " ("), list.npos);
  EXPECT_NE(list.find("measured: device copy, read + write"), list.npos);
}

TEST(Target, RatesFollowCoresAndClock) {
  using F = TargetField;
  Target cpu = target("avx2"), gpu = target("h200");
  ASSERT_TRUE(applyOverrides(cpu, "clock_ghz=1.5,cores=16").ok());
  for (F field : {F::fma_f64_tflops, F::fma_f32_tflops, F::l2_gbps})
    EXPECT_DOUBLE_EQ(cpu[field], 4 * target("avx2")[field])
        << infoOf(field).name;
  EXPECT_EQ(cpu[F::dram_gbps], 20);
  EXPECT_EQ(cpu.sources[static_cast<size_t>(F::l2_gbps)],
            "scaled with cores and clock: estimate: 16 B a clock and core");
  EXPECT_EQ(cpu.overridesText(), "cores = 16, clock_ghz = 1.5");
  EXPECT_EQ(gpu.overridesText(), "");
  // An L2 is one unit, and what is given stays.
  ASSERT_TRUE(applyOverrides(gpu, "cores=66,tensor_f16_tflops=700").ok());
  EXPECT_EQ(gpu[F::l2_gbps], 5500);
  EXPECT_EQ(gpu[F::tensor_f16_tflops], 700);
  EXPECT_DOUBLE_EQ(gpu[F::fma_f32_tflops], 66.9 / 2);
  EXPECT_DOUBLE_EQ(gpu[F::smem_gbps], 33454 / 2.0);
  // Also what an earlier call gave.
  Target twice = target("avx2");
  ASSERT_TRUE(applyOverrides(twice, "fma_f32_tflops=0.3").ok());
  ASSERT_TRUE(applyOverrides(twice, "cores=4").ok());
  EXPECT_EQ(twice[F::fma_f32_tflops], 0.3);
  EXPECT_DOUBLE_EQ(twice[F::fma_f64_tflops], 2 * 0.096);
}

TEST(Target, HugeAndRepeatedOverridesAreRefused) {
  Target t = target("avx2");
  auto why = [&](const char *text) {
    return applyOverrides(t, text).message();
  };
  EXPECT_EQ(why("cores=65537"),
            "expected avx2.cores to be at most 65536, but got 65537");
  EXPECT_EQ(why("vector_bytes=1e9"),
            "expected avx2.vector_bytes to be at most 4096, but got 1e+09");
  EXPECT_EQ(why("l2_bytes=1e300"),
            "expected avx2.l2_bytes to be at most 1e+15, but got 1e+300");
  EXPECT_EQ(why("cores=2,launch_us=3,cores=4"),
            "expected the target field cores to be given once, but got it "
            "twice");
  EXPECT_TRUE(applyOverrides(t, "cores=65536").ok());
}
