//===- CostTest.cpp - counts, bounds and monotonicity of costs ------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts are pinned; microseconds never are.
//
//===----------------------------------------------------------------------===//

#include "TestProblems.h"

#include "disco/Planning/Baselines.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace disco;
using namespace disco::planning;
using namespace disco::planning::test;

namespace {

/// The cost of the first candidate with these fields set.
Cost costOf(std::string_view name, const Problem &p, const Target &t,
            int32_t order = DISCO_FILTER_FIRST, const char *fields = "") {
  const Family &family = *findFamily(name);
  std::vector<Schedule> schedules;
  family.impl->candidates(p, t, order, DISCO_RUNTIME, schedules);
  EXPECT_TRUE(parseFields(schedules.at(0), family.fields(), fields).ok());
  return family.impl->cost(p, t, schedules[0]);
}

const Stage &stageNamed(const Cost &cost, std::string_view name) {
  for (const Stage &stage : cost.stages)
    if (stage.name == name)
      return stage;
  ADD_FAILURE() << "no stage " << name;
  return cost.stages.front();
}

} // namespace

TEST(Cost, StageIsBoundByItsSlowestClass) {
  Stage stage;
  stage[BoundClass::l2] = 3;
  stage[BoundClass::fma] = 5;
  EXPECT_EQ(stage.bound(), BoundClass::fma);
  EXPECT_EQ(stage.predictedMicroseconds(), 5);
  stage[BoundClass::l2] = 5; // the first of equals
  EXPECT_EQ(stage.bound(), BoundClass::l2);
}

TEST(Cost, StagesAddUpAndTheMarginFreesTheBindingClass) {
  Cost cost;
  cost.stages.resize(2);
  cost.stages[0][BoundClass::dram] = 10;
  cost.stages[0][BoundClass::issue] = 4;
  cost.stages[1][BoundClass::tensor] = 6;
  EXPECT_EQ(cost.predictedMicroseconds(), 16);
  EXPECT_EQ(cost.bound(), BoundClass::dram);
  EXPECT_EQ(cost.margin(), 16.0 / (4 + 6));
  EXPECT_EQ(toString(cost), ": 10.0 us, bound by dram (dram 10.0, issue 4.0)\n"
                            ": 6.0 us, bound by tensor (tensor 6.0)\n"
                            "total: 16.0 us, bound by dram, margin 1.60\n");
}

TEST(Cost, GatherCountsOfSelf256) {
  Problem p = as(DISCO_OP_CONTRACT, layer("self256", DType::f32));
  Cost cost = costOf("csr_gather", p, target("h200"), DISCO_FILTER_FIRST,
                     "fields=8,features=9");
  Counts c = stageNamed(cost, "contraction").counts;
  const double taps = 15044, warps = 23, blocks = 32;
  EXPECT_EQ(c.usefulFlop, 2 * 9 * taps * 720 * 256);
  // 720 longitudes take 23 warps: 16 of 736 lanes idle.
  EXPECT_EQ(c.paddedFlop, 2 * 9 * taps * 736 * 256);
  EXPECT_EQ(c.issuedFlop, c.paddedFlop);
  EXPECT_EQ(c.tensorInstructions, 0);
  EXPECT_EQ(c.dramWriteBytes, 4.0 * 256 * 9 * 360 * 720);
  // psi: 361 offsets, four words of each arc, nine values of each tap.
  const auto arcs = static_cast<double>(p.filter.arcs);
  const double psi = 4 * 361 + 16 * arcs + taps * 9 * 4;
  EXPECT_EQ(c.dramReadBytes, 4.0 * 256 * 360 * 720 + psi);
  // Eight words of x and three 16-byte broadcasts for nine values.
  const double rings = static_cast<double>(p.filter.rings);
  const double staging =
      rings * 6 * blocks * 8 * std::ceil((taps / rings + 127) / 32);
  EXPECT_EQ(c.smemWavefronts, taps * warps * blocks * (8 + 3) + staging);
  EXPECT_EQ(c.ctas, 360 * 6 * 32);
  EXPECT_EQ(c.launches, 1);
}

TEST(Cost, HarmonicsCsrStagesEachRingForEachFeature) {
  Problem p = as(DISCO_OP_CONTRACT, layer("self256", DType::f32));
  Counts c = harmonicsCsrCost(p, target("h200")).total();
  const double rings = static_cast<double>(p.filter.rings);
  // 720 words of a ring, 32 at a time, 9 features, 256 channels.
  EXPECT_EQ(c.l1Requests,
            rings * 9 * 256 * 23 + 4.0 * 256 * 9 * 360 * 720 / 128);
  // Two warps of 12 longitudes each: one word for each multiply-add, a value
  // and an index.
  EXPECT_EQ(c.smemWavefronts,
            15044.0 * 9 * 256 * 2 * (12 + 2) + rings * 9 * 256 * 23);
  EXPECT_EQ(c.ctas, 360 * 9 * 256);
}

TEST(Cost, StrideMakesFourByteWordsConflict) {
  Target h200 = target("h200");
  Problem p = as(DISCO_OP_CONTRACT, layer("down", DType::f32));
  double words = harmonicsCsrCost(p, h200).total().smemWavefronts;
  setDType(p, DType::bf16);
  double halves = harmonicsCsrCost(p, h200).total().smemWavefronts;
  EXPECT_GT(words, 1.7 * halves);
}

TEST(Cost, KPackedCountsOfSelf256) {
  Problem p = as(DISCO_OP_CONTRACT, layer("self256", DType::bf16));
  Counts c = harmonicsKPackedCost(p, target("h200")).total();
  const double chunks = (15044 + 360 * 7.5) / 16 * 90 * 32;
  EXPECT_EQ(c.tensorInstructions, chunks);
  EXPECT_EQ(c.issuedFlop, chunks * 2 * 64 * 16 * 16);
  EXPECT_EQ(c.usefulFlop, 2.0 * 9 * 15044 * 720 * 256);
  // K 9 -> 16 and half a chunk a row: 1.8 to 2.1 times the useful FLOP.
  EXPECT_NEAR(c.issuedFlop / c.usefulFlop, 2.1, 0.01);
  // Eight loads of each of four warps touch eight channels.
  EXPECT_EQ(c.l1Requests, chunks * 4 * 8 * 8 + 2.0 * 256 * 9 * 360 * 720 / 32);
  EXPECT_EQ(c.issueSlots, chunks * 4 * (8 * 28 + 20));
}

// What it costs when the rings of a row follow each other without padding, with
// whole blocks of channels. Padding each ring to 8 adds up to a fifth.
TEST(Cost, ToeplitzOverheadsAreThoseOfTheAlgorithm) {
  const Target h200 = target("h200");
  struct Row {
    const char *layer, *fields;
    int32_t direction;
    double overhead;
  };
  auto check = [&](int32_t op, int32_t order, const Row &row) {
    Problem p = as(op, layer(row.layer, DType::bf16, row.direction));
    p.channels = p.out_channels = 64;
    Counts c = costOf("toeplitz_wgmma", p, h200, order, row.fields).total();
    const double overhead = c.issuedFlop / c.usefulFlop;
    EXPECT_GT(overhead, 0.97 * row.overhead) << row.layer << row.fields;
    EXPECT_LT(overhead, 1.2 * row.overhead) << row.layer << row.fields;
    EXPECT_LE(c.usefulFlop, c.paddedFlop);
    EXPECT_LE(c.paddedFlop, c.issuedFlop);
  };
  for (Row row : {Row{"self256", "", DISCO_FORWARD, 1.64},
                  Row{"down", "", DISCO_FORWARD, 1.53},
                  Row{"local828", "", DISCO_FORWARD, 1.41},
                  Row{"encoder", "", DISCO_FORWARD, 1.3},
                  Row{"decoder", "", DISCO_FORWARD, 1.18}})
    check(DISCO_OP_CONTRACT, DISCO_FILTER_FIRST, row);
  for (Row row :
       {Row{"decoder", "rows=1,lon_groups=1", DISCO_FORWARD, 2.54},
        Row{"decoder", "rows=4,lon_groups=1", DISCO_FORWARD, 1.81},
        Row{"self256", "rows=1,lon_groups=1", DISCO_FORWARD, 5.5},
        Row{"down", "rows=4,lon_groups=1", DISCO_INPUT_GRADIENT, 2.47},
        Row{"encoder", "rows=4,lon_groups=1", DISCO_INPUT_GRADIENT, 1.90}})
    check(DISCO_OP_CONTRACT_SUM, DISCO_WEIGHT_FIRST, row);
}

TEST(Cost, FusedConvNeverStoresTheExpandedTensor) {
  Target h200 = target("h200");
  Problem p = layer("self256", DType::bf16);
  p.in_layout = DISCO_C8; // no room to pack x
  Cost fused = costOf("toeplitz_wgmma", p, h200, 0, "fused=1");
  const double field = 2.0 * 256 * 360 * 720;
  EXPECT_EQ(fused.workspaceBytes, 0);
  EXPECT_EQ(stageNamed(fused, "fused conv").counts.dramWriteBytes, field);
  EXPECT_EQ(stageNamed(fused, "fused conv").counts.usefulFlop,
            sparseFlop(p, 0) + einsumFlop(p, 0));
  Cost unfused = costOf("toeplitz_wgmma", p, h200, 0, "fused=0,block_rows=0");
  EXPECT_EQ(unfused.workspaceBytes, 9 * field);
  EXPECT_EQ(stageNamed(unfused, "contraction").counts.dramWriteBytes,
            9 * field);
  // A block of rows that the cache holds stays there.
  Cost blocked = costOf("toeplitz_wgmma", p, h200, 0, "fused=0,block_rows=4");
  EXPECT_EQ(blocked.workspaceBytes, 9 * field * 4 / 360);
  EXPECT_EQ(stageNamed(blocked, "contraction").counts.dramWriteBytes, 0);
  EXPECT_EQ(stageNamed(blocked, "contraction").counts.launches, 90);
}

TEST(Cost, RepacksArePaidOnlyWhereLayoutsDiffer) {
  Target h200 = target("h200");
  Problem p = layer("self256", DType::bf16);
  Cost cost = costOf("toeplitz_wgmma", p, h200, 0, "fused=1");
  ASSERT_EQ(cost.stages.size(), 3u);
  EXPECT_EQ(cost.stages[0].name, "repack x");
  EXPECT_EQ(cost.stages[0].counts.dramReadBytes, 2.0 * 256 * 360 * 720);
  EXPECT_EQ(cost.stages[0].counts.dramWriteBytes, 2.0 * 256 * 360 * 720);
  p.in_layout = p.out_layout = DISCO_C8;
  EXPECT_EQ(costOf("toeplitz_wgmma", p, h200, 0, "fused=1").stages.size(), 1u);
}

TEST(Cost, EinsumPadsSmallGroupsToTensorTiles) {
  Problem p = layer("encoder", DType::bf16);
  Counts c = harmonicsEinsumCost(p, target("h200")).total();
  // 12 outputs of a group -> 16, 9 features of one channel -> 16.
  EXPECT_EQ(c.usefulFlop, 2.0 * 360 * 720 * 9 * 780);
  EXPECT_EQ(c.issuedFlop, 2.0 * 360 * 720 * 16 * 16 * 65);
}

TEST(Cost, PrecisionIsAPermissionForTensorUnits) {
  Target h200 = target("h200");
  Problem p = layer("self256", DType::f32);
  EXPECT_EQ(harmonicsEinsumCost(p, h200).total().tensorInstructions, 0);
  p.precision = DISCO_PRECISION_TF32;
  EXPECT_EQ(harmonicsEinsumCost(p, h200).total().issuedFlop,
            einsumFlop(p, DISCO_FILTER_FIRST));
  EXPECT_GT(harmonicsEinsumCost(p, h200).total().tensorInstructions, 0);
  p.precision = DISCO_PRECISION_BF16X3;
  EXPECT_EQ(harmonicsEinsumCost(p, h200).total().issuedFlop,
            3 * einsumFlop(p, DISCO_FILTER_FIRST));
}

TEST(Cost, PointSetsGatherLaneByLane) {
  Problem p = makeProblem(DISCO_OP_CONTRACT);
  p.structure = DISCO_TABLE;
  p.num_basis = 4;
  p.in_shape[0] = p.out_shape[0] = 6400;
  p.in_shape[1] = p.out_shape[1] = 1;
  p.channels = p.out_channels = 8;
  p.filter = assumedCounts(DISCO_TABLE, 4, p.in_shape, p.out_shape, 10);
  Counts c = costOf("csr_gather", p, target("a100")).total();
  EXPECT_EQ(c.usefulFlop, 2.0 * 4 * 8 * 64000);
  // 2000 taps of whole warps, 8 channels, 32 lines each, and the result.
  EXPECT_EQ(c.l1Requests, 2000.0 * 8 * 32 + 4.0 * 8 * 4 * 6400 / 128);
}

TEST(Cost, EmptyFiltersCostNoArithmetic) {
  Problem p = small();
  p.filter = FilterCounts{};
  p.filter.exact = p.filter.shared_support = 1;
  p.filter.rows = p.filter.empty_rows = 33;
  p.filter.stride = p.filter.phases = 1;
  p.filter.histogram_rows[0] = 33;
  ASSERT_TRUE(verify(p).ok()) << verify(p).message();
  for (const char *chip : {"h200", "avx2"}) {
    auto selection = select(p, target(chip), withPlanned());
    ASSERT_TRUE(selection.ok()) << selection.message();
    const double us = selection->winner.microseconds();
    EXPECT_TRUE(us > 0 && us < 1e6) << us;
  }
}

namespace {

/// Predicted time of the first candidate of every (family, order) that applies.
std::vector<double> predictions(const Problem &p, const Target &t) {
  std::vector<double> times;
  for (const Family &family : families())
    for (int32_t order = 0; order < DISCO_NUM_ORDERS; ++order) {
      if (checkFamily(family, p, t, order))
        continue;
      std::vector<Schedule> schedules;
      family.impl->candidates(p, t, order, DISCO_RUNTIME, schedules);
      for (const Schedule &s : schedules)
        times.push_back(family.impl->cost(p, t, s).predictedMicroseconds());
    }
  return times;
}

void expectNotFaster(const std::vector<double> &base,
                     const std::vector<double> &more, const char *what) {
  ASSERT_EQ(base.size(), more.size()) << what;
  ASSERT_GT(base.size(), 2u) << what;
  for (size_t i = 0; i < base.size(); ++i)
    EXPECT_GE(more[i], base[i] * (1 - 1e-9)) << what << " " << i;
}

} // namespace

TEST(Cost, MoreWorkIsNeverPredictedFaster) {
  for (const char *chip : {"h200", "avx2"})
    for (int32_t direction : {DISCO_FORWARD, DISCO_WEIGHT_GRADIENT}) {
      const Problem base = layer("deg1", DType::bf16, direction);
      const Target t = target(chip);
      const std::vector<double> times = predictions(base, t);
      Problem p = base;
      p.batch *= 2;
      expectNotFaster(times, predictions(p, t), "batch");
      p = base;
      p.channels *= 2;
      expectNotFaster(times, predictions(p, t), "channels");
      p = base;
      p.out_channels *= 2;
      expectNotFaster(times, predictions(p, t), "out channels");
      p = base;
      p.filter.taps *= 2;
      p.filter.entries *= 2;
      for (int64_t &taps : p.filter.histogram_taps)
        taps *= 2;
      expectNotFaster(times, predictions(p, t), "taps");
    }
}

TEST(Cost, AFasterChipIsNeverPredictedSlower) {
  using F = TargetField;
  for (const char *chip : {"h200", "avx512"})
    for (DType dtype : {DType::bf16, DType::f32}) {
      const Problem p = layer("deg1", dtype);
      const Target base = target(chip);
      const std::vector<double> times = predictions(p, base);
      for (F field :
           {F::clock_ghz, F::lsu_per_clock, F::issue_per_clock, F::dram_gbps,
            F::l2_gbps, F::fma_f32_tflops, F::tensor_f16_tflops}) {
        Target t = base;
        t.values[static_cast<size_t>(field)] *= 2;
        expectNotFaster(predictions(p, t), times, infoOf(field).name.data());
      }
      for (F field : {F::l2_latency_ns, F::dram_latency_ns, F::launch_us}) {
        Target t = base;
        t.values[static_cast<size_t>(field)] *= 2;
        expectNotFaster(times, predictions(p, t), infoOf(field).name.data());
      }
    }
}

TEST(Cost, IdleCoresSlowSmallProblems) {
  // One row and one channel: one CTA on a chip of 132 cores.
  Problem p = as(DISCO_OP_CONTRACT, small(DType::f32));
  p.channels = p.out_channels = 1;
  Target big = target("h200");
  Cost cost = costOf("csr_gather", p, big);
  EXPECT_LT(cost.total().waves, 1);
  EXPECT_EQ(cost.total().ctas, 33);
}

TEST(Cost, WeightGradientsThatFilterGyCostWhatItsContractDoes) {
  // 64 longitudes to 32: the adjoint has two phases, psi a stride of two.
  const std::string text =
      "#disco.sphere_filter<harmonic, [3, 3], cutoff = 0.2, in = "
      "#disco.grid<equiangular, 33x64>, out = #disco.grid<equiangular, 33x32>>";
  Problem gradient = as(DISCO_OP_CONV_WEIGHT_GRAD, sphereProblem(text));
  gradient.channels = 8;
  gradient.out_channels = 24;
  Problem contract = as(DISCO_OP_CONTRACT, sphereProblem(text, true));
  contract.channels = contract.out_channels = 24;
  setDType(gradient, DType::bf16);
  setDType(contract, DType::bf16);
  ASSERT_NE(gradient.filter.rows, gradient.adjoint.rows);
  const Target h200 = target("h200");
  for (const char *name : {"csr_gather", "toeplitz_wgmma"}) {
    const Family &family = *findFamily(name);
    std::vector<Schedule> schedules;
    family.impl->candidates(gradient, h200, DISCO_WEIGHT_FIRST, DISCO_RUNTIME,
                            schedules);
    Schedule s = schedules.at(0);
    auto contraction = [&](const Problem &p) {
      for (const Stage &stage : family.impl->cost(p, h200, s).stages)
        if (stage.name == "contraction")
          return stage.counts;
      ADD_FAILURE() << name << " has no contraction";
      return Counts{};
    };
    const Counts first = contraction(gradient);
    s.order = DISCO_FILTER_FIRST;
    const Counts second = contraction(contract);
    EXPECT_GT(first.usefulFlop, 0) << name;
    EXPECT_EQ(first.usefulFlop, second.usefulFlop) << name;
    EXPECT_EQ(first.issuedFlop, second.issuedFlop) << name;
    EXPECT_EQ(first.smemWavefronts, second.smemWavefronts) << name;
    EXPECT_EQ(first.ctas, second.ctas) << name;
  }
}

TEST(Cost, LoopsWaitForTheSumBefore) {
  // 4 clocks an addition against 8 instructions at 4 a clock.
  const Problem p = as(DISCO_OP_CONTRACT, small(DType::f32));
  const Target cpu = target("avx2");
  const Family &family = *findFamily("loops");
  const Cost cost = family.impl->cost(
      p, cpu, makeSchedule(family.fields(), DISCO_FILTER_FIRST, DISCO_CODEGEN));
  EXPECT_EQ(cost.bound(), BoundClass::latency);
  EXPECT_DOUBLE_EQ(cost.stages[0][BoundClass::latency],
                   2 * cost.stages[0][BoundClass::issue]);
}

TEST(Cost, StagesStandInTheOrderInWhichTheyRun) {
  auto names = [](const char *name, const Problem &p, int32_t order,
                  const char *chip) {
    const Family &family = *findFamily(name);
    std::vector<Schedule> schedules;
    family.impl->candidates(p, target(chip), order,
                            name == std::string("loops") ? DISCO_CODEGEN
                                                         : DISCO_RUNTIME,
                            schedules);
    std::string text;
    for (const Stage &s :
         family.impl->cost(p, target(chip), schedules.at(0)).stages)
      text += (text.empty() ? "" : ", ") + s.name;
    return text;
  };
  Problem conv = small(), grad = as(DISCO_OP_CONV_WEIGHT_GRAD, small());
  // A ring of maps is mixed before it is summed.
  EXPECT_EQ(names("cpu_gather", conv, DISCO_WEIGHT_FIRST, "avx2"),
            "einsum, contraction");
  EXPECT_EQ(names("cpu_gather", conv, DISCO_FILTER_FIRST, "avx2"),
            "contraction, einsum");
  EXPECT_EQ(names("cpu_gather", grad, DISCO_WEIGHT_FIRST, "avx2"),
            "contraction, einsum");
  for (const char *family : {"csr_gather", "toeplitz_wgmma"}) {
    conv.in_layout = conv.out_layout = grad.in_layout = grad.out_layout =
        family == std::string("toeplitz_wgmma") ? DISCO_C8 : DISCO_NCHW;
    EXPECT_EQ(names(family, conv, DISCO_FILTER_FIRST, "h200"),
              "contraction, einsum");
    EXPECT_EQ(names(family, conv, DISCO_WEIGHT_FIRST, "h200"),
              "einsum, contraction");
    for (int32_t order : {DISCO_FILTER_FIRST, DISCO_WEIGHT_FIRST})
      EXPECT_EQ(names(family, grad, order, "h200"), "contraction, einsum");
  }
  conv.in_layout = conv.out_layout = DISCO_C8;
  EXPECT_EQ(names("csr_gather", conv, DISCO_WEIGHT_FIRST, "h200"),
            "repack x, einsum, contraction, repack y");
  EXPECT_EQ(names("loops", conv, DISCO_FILTER_FIRST, "avx2"),
            "repack x, loops, repack y");
}

TEST(Cost, LoopsTakeNoLongerOnMoreCores) {
  const Family &loops = *findFamily("loops");
  const Problem p = layer("self256", DType::f32);
  Target many = target("avx2");
  ASSERT_TRUE(applyOverrides(many, "cores=16").ok());
  const Schedule s =
      makeSchedule(loops.fields(), DISCO_FILTER_FIRST, DISCO_CODEGEN);
  const Stage few = loops.impl->cost(p, target("avx2"), s).stages.at(0);
  const Stage more = loops.impl->cost(p, many, s).stages.at(0);
  for (size_t i = 0; i < numBoundClasses; ++i)
    EXPECT_DOUBLE_EQ(few.microseconds[i], more.microseconds[i])
        << nameOf(static_cast<BoundClass>(i));
  // One of two cores.
  EXPECT_DOUBLE_EQ(few[BoundClass::l2],
                   1e6 * few.counts.l2Bytes / (1e9 * 96 / 2));
  // What runs on all cores gains.
  const Cost slow = costOf("cpu_gather", p, target("avx2"));
  const Cost fast = costOf("cpu_gather", p, many);
  EXPECT_NEAR(slow.stages[0][BoundClass::fma],
              8 * fast.stages[0][BoundClass::fma], 1e-6);
}

TEST(Cost, LoopsCountEveryTensorOnce) {
  const Family &loops = *findFamily("loops");
  Problem p = small(DType::f16);
  p.epilogue = DISCO_EPILOGUE_BIAS | DISCO_EPILOGUE_RESIDUAL;
  const Schedule s =
      makeSchedule(loops.fields(), DISCO_FILTER_FIRST, DISCO_CODEGEN);
  const double field = 2.0 * 16 * 33 * 64;
  // The K-expanded tensor is kept in f32.
  const double z = 4.0 * 16 * 9 * 33 * 64;
  // Values are those that were rounded to the element type.
  const double psi = 4 * 34 + 16 * static_cast<double>(p.filter.arcs) +
                     2.0 * 9 * static_cast<double>(p.filter.taps);
  const double weight = 2.0 * 16 * 16 * 9, bias = 2.0 * 16;
  const Cost cost = loops.impl->cost(p, target("avx2"), s);
  const Counts c = cost.total();
  EXPECT_EQ(cost.workspaceBytes, z);
  EXPECT_EQ(c.dramReadBytes, field + psi + weight + z + bias + field);
  EXPECT_EQ(c.dramWriteBytes, field + z);
  const Counts grad =
      loops.impl
          ->cost(as(DISCO_OP_CONV_WEIGHT_GRAD, small(DType::f16)),
                 target("avx2"), s)
          .total();
  EXPECT_EQ(grad.dramReadBytes, field + psi + z + field);
  EXPECT_EQ(grad.dramWriteBytes, weight + z);
  // They are a part of the function that calls them.
  EXPECT_EQ(c.launches, 0);
  EXPECT_EQ(stageNamed(cost, "loops")[BoundClass::launch], 0);
}

namespace {

/// 900 points that gather from 700, with so many taps in all.
Problem points(int32_t op, int32_t structure, int64_t taps) {
  Problem p = makeProblem(op);
  p.structure = structure;
  p.num_basis = 4;
  p.in_shape[0] = 700;
  p.out_shape[0] = 900;
  p.in_shape[1] = p.out_shape[1] = 1;
  p.batch = 3;
  p.channels = 8;
  p.out_channels = op >= DISCO_OP_CONV ? 24 : 8;
  p.filter = spreadCounts(structure, 4, p.in_shape, p.out_shape, taps);
  if (op == DISCO_OP_CONV_WEIGHT_GRAD)
    p.adjoint = spreadCounts(structure, 4, p.out_shape, p.in_shape, taps);
  return p;
}

} // namespace

// Each tensor once: x, psi with its indices, W, the bias and the residual, or
// both fields of a weight gradient and what it writes.
TEST(Cost, CompulsoryBytesHaveIndicesBiasAndBothFieldsOfGradients) {
  struct Case {
    int32_t structure;
    double tables;
  };
  const double taps = 6300;
  for (const Case &c :
       {Case{DISCO_CSR, 4.0 * 901 + 4 * taps}, Case{DISCO_TABLE, 4 * taps}}) {
    const double values = 4.0 * 4 * taps;
    const double x = 4.0 * 3 * 8 * 700, y = 4.0 * 3 * 24 * 900;
    const double weight = 4.0 * 24 * 8 * 4, bias = 4.0 * 24;
    for (const char *chip : {"avx2", "h200"}) {
      const char *family = *chip == 'a' ? "cpu_gather" : "csr_gather";
      Problem p = points(DISCO_OP_CONTRACT, c.structure, 6300);
      Counts counts = costOf(family, p, target(chip)).total();
      EXPECT_EQ(counts.dramReadBytes, x + c.tables + values) << family;
      EXPECT_EQ(counts.dramWriteBytes, 4.0 * 3 * 8 * 4 * 900) << family;
      p = points(DISCO_OP_CONV, c.structure, 6300);
      p.epilogue = DISCO_EPILOGUE_BIAS | DISCO_EPILOGUE_RESIDUAL;
      counts = costOf(family, p, target(chip)).total();
      EXPECT_EQ(counts.dramReadBytes, x + c.tables + values + weight + bias + y)
          << family;
      EXPECT_EQ(counts.dramWriteBytes, y) << family;
      p = points(DISCO_OP_CONV_WEIGHT_GRAD, c.structure, 6300);
      p.epilogue = DISCO_EPILOGUE_BIAS;
      counts = costOf(family, p, target(chip)).total();
      EXPECT_EQ(counts.dramReadBytes, x + c.tables + values + y) << family;
      EXPECT_EQ(counts.dramWriteBytes, weight + bias) << family;
    }
  }
}

TEST(Cost, OneHotTablesHaveTheNumberOfAFeatureForValues) {
  Problem p = points(DISCO_OP_CONTRACT, DISCO_TABLE, 6300);
  const Target avx2 = target("avx2");
  const double dense = costOf("cpu_gather", p, avx2).total().dramReadBytes;
  p.filter.entries = p.filter.taps;
  p.filter.shared_support = 0;
  const double bins = costOf("cpu_gather", p, avx2).total().dramReadBytes;
  EXPECT_EQ(dense - bins, 6300.0 * 3 * 4);
}

TEST(Cost, MirroredTapsOfTheHostAreMultipliedOnce) {
  const Target avx2 = target("avx2");
  Problem p = as(DISCO_OP_CONTRACT, layer("self256", DType::f32));
  const FilterCounts &f = p.filter;
  // Arcs of the same grid have a middle tap: all others are pairs.
  EXPECT_GT(f.mirrored_pairs, 0.4 * static_cast<double>(f.taps));
  EXPECT_LE(f.mirrored_pairs, f.taps / 2);
  const Counts c = costOf("cpu_gather", p, avx2).total();
  const auto taps = static_cast<double>(f.taps),
             pairs = static_cast<double>(f.mirrored_pairs);
  const double columns = 720.0 * 256;
  EXPECT_EQ(c.usefulFlop, 2 * 9 * taps * columns);
  EXPECT_EQ(c.paddedFlop, c.usefulFlop);
  // Nine multiply-adds, and an addition for each block of three features.
  EXPECT_EQ(c.issuedFlop, 2 * columns * (9 * (taps - pairs) + 3 * pairs));
  EXPECT_LT(c.issuedFlop, 0.75 * c.usefulFlop);
  // f64 values differ in their last bits.
  setDType(p, DType::f64);
  EXPECT_EQ(costOf("cpu_gather", p, avx2).total().issuedFlop, c.usefulFlop);
  // A filter of which nothing is known.
  setDType(p, DType::f32);
  p.filter.mirrored_pairs = 0;
  EXPECT_EQ(costOf("cpu_gather", p, avx2).total().issuedFlop, c.usefulFlop);
  // Two rows share an addition on average.
  Problem sum = as(DISCO_OP_CONTRACT_SUM, layer("self256", DType::f32));
  const Counts s = costOf("cpu_gather", sum, avx2, DISCO_WEIGHT_FIRST).total();
  EXPECT_EQ(s.issuedFlop, 2 * columns * 9 * (taps - pairs + pairs / 2));
}

// Megabytes that the runtime asked for on an H200 (docs/Benchmarks/h200.md).
TEST(Cost, WorkspaceOfCsrGatherIsWhatItWasOnAGpu) {
  const Target h200 = target("h200");
  struct Row {
    DType dtype;
    int32_t direction, order;
    double megabytes;
  };
  for (const Row &row : {Row{DType::bf16, DISCO_FORWARD, 0, 153.8},
                         Row{DType::f32, DISCO_FORWARD, 0, 155.0},
                         Row{DType::bf16, DISCO_FORWARD, 1, 197.1},
                         Row{DType::f32, DISCO_FORWARD, 1, 198.3},
                         Row{DType::bf16, DISCO_WEIGHT_GRADIENT, 0, 215.6},
                         Row{DType::f32, DISCO_WEIGHT_GRADIENT, 0, 215.6}})
    EXPECT_NEAR(costOf("csr_gather", layer("self256", row.dtype, row.direction),
                       h200, row.order)
                        .workspaceBytes /
                    1e6,
                row.megabytes, 0.06);
  // 16384 points, K 9, 64 channels.
  Problem points = makeProblem(DISCO_OP_CONV);
  points.structure = DISCO_TABLE;
  points.num_basis = 9;
  points.in_shape[0] = points.out_shape[0] = 16384;
  points.in_shape[1] = points.out_shape[1] = 1;
  points.channels = points.out_channels = 64;
  points.filter =
      assumedCounts(DISCO_TABLE, 9, points.in_shape, points.out_shape, 9);
  EXPECT_NEAR(costOf("csr_gather", points, h200).workspaceBytes / 1e6, 37.9,
              0.06);
}

TEST(Cost, MixesFitTheSharedMemoryThatACtaCanHave) {
  for (const char *chip : {"h200", "h100", "a100", "b200"})
    for (DType dtype : {DType::f64, DType::f32, DType::bf16}) {
      const Target t = target(chip);
      const Cost cost = costOf("csr_gather", layer("self256", dtype), t);
      EXPECT_LE(stageNamed(cost, "einsum").counts.smemBytes,
                t[TargetField::smem_cta_bytes])
          << chip;
    }
}

TEST(Cost, PaddingChannelsOfC8AreBytes) {
  const Target h200 = target("h200");
  Problem p = small();
  p.channels = 1;
  p.out_channels = 9;
  const double channel = 2.0 * 33 * 64;
  Cost cost = costOf("toeplitz_wgmma", p, h200, 0, "fused=0");
  const Counts &x = stageNamed(cost, "repack x").counts;
  EXPECT_EQ(x.dramReadBytes, channel);
  EXPECT_EQ(x.dramWriteBytes, 8 * channel);
  const Counts &y = stageNamed(cost, "repack y").counts;
  EXPECT_EQ(y.dramReadBytes, 16 * channel);
  EXPECT_EQ(y.dramWriteBytes, 9 * channel);
  // z has eight lanes for the one channel that is filtered.
  // So has x, which is packed.
  EXPECT_EQ(cost.workspaceBytes, (8 * 9 + 8) * channel);
  Problem contract = as(DISCO_OP_CONTRACT, p);
  EXPECT_EQ(costOf("toeplitz_wgmma", contract, h200).workspaceBytes,
            8 * channel);
  contract.in_layout = DISCO_C8;
  EXPECT_EQ(costOf("toeplitz_wgmma", contract, h200).workspaceBytes, 0);
  // psi is 64 rows of A, of each ring's arc with 6 longitudes more and 3.5 of
  // padding, and half a block more a row.
  const auto taps = static_cast<double>(p.filter.taps);
  const auto rings = static_cast<double>(p.filter.rings);
  const double arc = std::min(64.0, taps / rings + 6 + 3.5);
  EXPECT_EQ(stageNamed(cost, "contraction").counts.dramReadBytes,
            8 * channel + 2 * 64 * (rings * arc + 33 * 4));
  EXPECT_EQ(stageNamed(cost, "einsum").counts.dramWriteBytes, 16 * channel);
  // Features in, one channel out.
  Problem sum = as(DISCO_OP_CONTRACT_SUM, p);
  const Counts c =
      stageNamed(costOf("toeplitz_wgmma", sum, h200, DISCO_WEIGHT_FIRST),
                 "contraction")
          .counts;
  // A row of 64 longitudes: whole rings.
  EXPECT_EQ(c.dramReadBytes,
            8 * 9 * channel + 2 * 64 * (9 * rings * 64 + 33 * 4));
  EXPECT_EQ(c.dramWriteBytes, 8 * channel);
}

TEST(Cost, WarpInstructionsIssueOneByOneWithoutWarpgroups) {
  const Problem p = layer("self256", DType::bf16);
  const Counts a100 = harmonicsEinsumCost(p, target("a100")).total();
  const Counts h200 = harmonicsEinsumCost(p, target("h200")).total();
  EXPECT_GT(a100.tensorInstructions, 0);
  EXPECT_EQ(a100.issueSlots, a100.tensorInstructions);
  EXPECT_EQ(h200.issueSlots, h200.tensorInstructions / 4);
}

TEST(Cost, PointSetsAreTiledByThreads) {
  Problem p = makeProblem(DISCO_OP_CONTRACT);
  p.structure = DISCO_TABLE;
  p.num_basis = 4;
  p.in_shape[0] = p.out_shape[0] = 6500;
  p.in_shape[1] = p.out_shape[1] = 1;
  p.channels = p.out_channels = 12;
  p.filter = assumedCounts(DISCO_TABLE, 4, p.in_shape, p.out_shape, 10);
  Cost cost =
      costOf("csr_gather", p, target("a100"), DISCO_FILTER_FIRST, "fields=4");
  // 51 tiles of 128 points, three blocks of fields.
  EXPECT_EQ(cost.total().ctas, 51 * 3);
  EXPECT_EQ(costOf("cpu_gather", p, target("avx2")).total().ctas, 68);
}
