//===- SelectionTest.cpp - which family wins, and why others lose ---------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProblems.h"

#include "disco/Planning/Baselines.h"

#include <gtest/gtest.h>

using namespace disco;
using namespace disco::planning;
using namespace disco::planning::test;

namespace {

struct Winner {
  std::string family, order;
};

Winner winnerOf(const Problem &p, const char *chip) {
  auto selection = select(p, target(chip), withPlanned());
  if (!selection) {
    ADD_FAILURE() << selection.message();
    return {};
  }
  const Choice &winner = selection->winner;
  // What was chosen passes the rules for plans written by hand.
  Status check =
      checkPlan(p, target(chip), winner.family->name, winner.schedule, true);
  EXPECT_TRUE(check.ok()) << check.message();
  return {winner.family->name, std::string(nameOfOrder(winner.schedule.order))};
}

/// The rule that refuses a family in every order; 0 if none does.
int lostTo(const Selection &selection, std::string_view family) {
  for (const Loser &loser : selection.losers)
    if (loser.failure && family == loser.family->name)
      return loser.failure->rule;
  return 0;
}

} // namespace

TEST(Selection, DecoderIsWeightFirstAndSelf256FilterFirst) {
  for (const char *chip : {"h200", "a100", "avx2"})
    for (DType dtype : {DType::bf16, DType::f16, DType::f32}) {
      EXPECT_EQ(winnerOf(layer("decoder", dtype), chip).order, "weight_first")
          << chip;
      EXPECT_EQ(winnerOf(layer("self256", dtype), chip).order, "filter_first")
          << chip;
    }
}

TEST(Selection, EveryLayerOnEveryChip) {
  struct Chip {
    const char *name, *half, *single;
  };
  for (Chip chip : {Chip{"h200", "toeplitz_wgmma", "csr_gather"},
                    Chip{"h100", "toeplitz_wgmma", "csr_gather"},
                    Chip{"a100", "csr_gather", "csr_gather"},
                    Chip{"b200", "csr_gather", "csr_gather"},
                    Chip{"avx2", "cpu_gather", "cpu_gather"},
                    Chip{"avx512", "cpu_gather", "cpu_gather"}})
    for (const char *name : {"self256", "self512", "down", "local828",
                             "encoder", "decoder", "deg1"})
      for (int32_t direction :
           {DISCO_FORWARD, DISCO_INPUT_GRADIENT, DISCO_WEIGHT_GRADIENT}) {
        EXPECT_EQ(
            winnerOf(layer(name, DType::bf16, direction), chip.name).family,
            chip.half)
            << name << " " << chip.name << " " << direction;
        EXPECT_EQ(
            winnerOf(layer(name, DType::f16, direction), chip.name).family,
            chip.half)
            << name << " " << chip.name << " " << direction;
        EXPECT_EQ(
            winnerOf(layer(name, DType::f32, direction), chip.name).family,
            chip.single)
            << name << " " << chip.name << " " << direction;
      }
}

TEST(Selection, AForwardMayTakeAnotherFamilyThanItsGradients) {
  // A K-packed forward without c8: the gradient of an op with stride has
  // phases, which kpacked_wgmma refuses.
  Problem forward = layer("down", DType::bf16);
  Problem gradient = layer("down", DType::bf16, DISCO_INPUT_GRADIENT);
  Target h200 = target("h200");
  EXPECT_TRUE(select(forward, h200, withPlanned("kpacked_wgmma")).ok());
  EXPECT_FALSE(select(gradient, h200, withPlanned("kpacked_wgmma")).ok());
}

TEST(Selection, PlannedFamiliesAreRankedOnlyWhenAskedForAndNeverExecutable) {
  Problem p = small();
  auto plain = select(p, target("avx2"));
  ASSERT_TRUE(plain.ok()) << plain.message();
  EXPECT_STREQ(plain->winner.family->name, "cpu_gather");
  EXPECT_TRUE(plain->winner.executable);
  // Each other family once, both orders of loops, and the winner's other one.
  ASSERT_EQ(plain->losers.size(), families().size() + 1);
  std::string reasons;
  for (const Loser &loser : plain->losers)
    if (loser.failure)
      reasons +=
          std::string(loser.family->name) + ": " + loser.failure->reason + "\n";
  EXPECT_EQ(reasons,
            "csr_gather: expected the target to be a cuda target, but got avx2 "
            "(cpu)\n"
            "kpacked_wgmma: expected the family to be available, but got one "
            "that is planned\n"
            "toeplitz_wgmma: expected the op to be one of contract, "
            "contract_sum, but got conv, which is planned\n");
  auto gpu = select(p, target("h200"));
  ASSERT_TRUE(gpu.ok()) << gpu.message();
  EXPECT_STREQ(gpu->winner.family->name, "csr_gather");
  EXPECT_TRUE(gpu->winner.executable);
  auto all = select(p, target("h200"), withPlanned("toeplitz_wgmma"));
  ASSERT_TRUE(all.ok());
  EXPECT_FALSE(all->winner.executable);
}

TEST(Selection, NothingToRunIsAnErrorWithEveryReason) {
  SelectionOptions options;
  options.provider = DISCO_CODEGEN;
  auto selection = select(small(), target("h200"), options);
  ASSERT_FALSE(selection.ok());
  EXPECT_EQ(
      selection.message(),
      "no kernel family is applicable to conv forward bf16, sphere 33x64 -> "
      "33x64, K 9, B 1, C 16, O 16 on h200\n"
      "  loops: rule 10: expected the target to be a cpu target, but got h200 "
      "(cuda); suggestion: compile for cpu\n"
      "  cpu_gather: rule 4: expected the target to be a cpu target, but got "
      "h200 (cuda); suggestion: compile for a cpu target\n"
      "  csr_gather: rule 4: expected the provider to be runtime, but got "
      "codegen; suggestion: leave the provider to the family\n"
      "  kpacked_wgmma: expected the family to be available, but got one that "
      "is planned; suggestion: use an available family; disco-select-kernel "
      "ranks planned ones with include-planned\n"
      "  toeplitz_wgmma: expected the op to be one of contract, contract_sum, "
      "but got conv, which is planned; suggestion: use an available family; "
      "disco-select-kernel ranks planned ones with include-planned");
}

TEST(Selection, TiesGoToTheEarlierRowAndOrder) {
  // Loops cost the same in both orders when C = O and the grids agree.
  Problem p = small(DType::f32);
  SelectionOptions options;
  options.family = "loops";
  auto selection = select(p, target("avx2"), options);
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(selection->winner.schedule.order, DISCO_FILTER_FIRST);
  ASSERT_FALSE(selection->losers.empty());
  EXPECT_EQ(selection->losers[0].order, DISCO_WEIGHT_FIRST);
  EXPECT_EQ(selection->losers[0].cost.predictedMicroseconds(),
            selection->winner.microseconds());
}

TEST(Selection, ForcedChoicesAreHonoured) {
  Problem p = layer("self256", DType::bf16);
  SelectionOptions options = withPlanned("csr_gather");
  options.order = DISCO_WEIGHT_FIRST;
  options.fields = "block_mib=32,fields=1";
  auto selection = select(p, target("h200"), options);
  ASSERT_TRUE(selection.ok()) << selection.message();
  EXPECT_STREQ(selection->winner.family->name, "csr_gather");
  EXPECT_EQ(selection->winner.schedule.order, DISCO_WEIGHT_FIRST);
  std::string fields = fieldsToString(selection->winner.schedule,
                                      selection->winner.family->fields());
  EXPECT_EQ(fields, "fields=1,features=0,block_mib=32");
}

TEST(Selection, ForcedChoicesAreRefusedNamingTheRule) {
  Problem p = small(DType::f32);
  auto why = [&](SelectionOptions options, const char *chip = "h200") {
    return select(p, target(chip), options).message();
  };
  EXPECT_EQ(why(withPlanned("kpacked_wgmma")),
            "family 'kpacked_wgmma' is not applicable: rule 2: expected the "
            "dtype to be one of f16, bf16, but got f32; suggestion: use "
            "csr_gather");
  SelectionOptions options;
  options.family = "kpacked_wgmma";
  EXPECT_EQ(why(options),
            "family 'kpacked_wgmma' is not applicable: expected the family to "
            "be available, but got one that is planned; suggestion: "
            "use an available family; disco-select-kernel ranks planned ones "
            "with include-planned");
  EXPECT_EQ(why(withPlanned("turbo")),
            "expected the kernel family to be one of loops, cpu_gather, "
            "csr_gather, kpacked_wgmma, toeplitz_wgmma, but got 'turbo'");
  options = withPlanned();
  options.fields = "threads=64";
  EXPECT_EQ(why(options), "expected a family to be forced along with schedule "
                          "fields, but got fields 'threads=64' alone");
  options = withPlanned("csr_gather");
  options.fields = "tile=64";
  EXPECT_EQ(
      why(options),
      "expected the schedule field to be one of fields, features, block_mib, "
      "but got tile");
  options.fields = "block_mib=0";
  EXPECT_EQ(why(options), "family 'csr_gather' is not applicable: rule 13: "
                          "expected block_mib to be at least 1 for conv, but "
                          "got 0; suggestion: use block_mib=192");
  options.fields = "fields=2,features=9";
  options.order = DISCO_FILTER_FIRST;
  EXPECT_EQ(why(options), "family 'csr_gather' is not applicable: rule 12: "
                          "expected fields to be 1, 4 or 8, but got 2; "
                          "suggestion: use fields=8");
  options.fields = "fields=4,features=11";
  EXPECT_EQ(why(options), "family 'csr_gather' is not applicable: rule 12: "
                          "expected features to be 9 for 4 fields, but got 11; "
                          "suggestion: use features=9");
  options.order = DISCO_WEIGHT_FIRST;
  options.fields = "fields=2,features=9";
  EXPECT_EQ(why(options), "family 'csr_gather' is not applicable: rule 12: "
                          "expected features to be 0 where a thread has no "
                          "features of its own, but got 9; suggestion: use "
                          "features=0");
  p = as(DISCO_OP_CONTRACT, p);
  options = withPlanned("cpu_gather");
  options.order = DISCO_WEIGHT_FIRST;
  EXPECT_EQ(why(options, "avx2"),
            "family 'cpu_gather' is not applicable: rule 5: expected the order "
            "of contract to be filter_first, but got weight_first");
  options.order.reset();
  options.provider = DISCO_CODEGEN;
  EXPECT_EQ(why(options, "avx2"),
            "family 'cpu_gather' is not applicable: rule 4: expected the "
            "provider to be runtime, but got codegen; suggestion: leave the "
            "provider to the family");
}

TEST(Selection, KPadOf24LosesKPackedInEveryDirection) {
  // zernike [6]: K 21, K_pad 24.
  Target h200 = target("h200");
  for (DType dtype : {DType::bf16, DType::f16})
    for (bool fused : {false, true})
      for (bool gradient : {false, true}) {
        Problem p = small(dtype, "zernike, [6]");
        ASSERT_EQ(kPadOf(p), 24);
        p.direction = gradient ? DISCO_INPUT_GRADIENT : DISCO_FORWARD;
        if (!fused)
          p = as(DISCO_OP_CONTRACT, p);
        auto selection = select(p, h200, withPlanned());
        ASSERT_TRUE(selection.ok()) << selection.message();
        EXPECT_EQ(lostTo(*selection, "kpacked_wgmma"), 12);
        EXPECT_EQ(lostTo(*selection, "toeplitz_wgmma"), 0);
        EXPECT_STREQ(selection->winner.family->name, "toeplitz_wgmma");
      }
  Problem p = as(DISCO_OP_CONV_WEIGHT_GRAD, small(DType::bf16, "zernike, [6]"));
  auto selection = select(p, h200, withPlanned());
  ASSERT_TRUE(selection.ok()) << selection.message();
  EXPECT_EQ(lostTo(*selection, "kpacked_wgmma"), 1);
}

TEST(Selection, HatsGoThroughTheUnionSupport) {
  auto selection = select(small(DType::bf16, "piecewise_linear, [3]"),
                          target("h200"), withPlanned());
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(lostTo(*selection, "kpacked_wgmma"), 13);
  EXPECT_EQ(lostTo(*selection, "toeplitz_wgmma"), 0);
}

TEST(Selection, DoublesRunOnVectorUnits) {
  auto selection = select(small(DType::f64), target("h200"), withPlanned());
  ASSERT_TRUE(selection.ok());
  EXPECT_STREQ(selection->winner.family->name, "csr_gather");
  EXPECT_EQ(lostTo(*selection, "kpacked_wgmma"), 2);
  EXPECT_EQ(lostTo(*selection, "toeplitz_wgmma"), 2);
}

TEST(Selection, LongitudesOffTheTileOfEight) {
  auto selection = select(small(DType::bf16, "harmonic, [3, 3]", 60, 60),
                          target("h200"), withPlanned());
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(lostTo(*selection, "kpacked_wgmma"), 14);
  EXPECT_EQ(lostTo(*selection, "toeplitz_wgmma"), 0);
}

TEST(Selection, OneFeatureIsKPackedToEight) {
  Problem p = small(DType::bf16, "harmonic, [1]");
  ASSERT_EQ(p.num_basis, 1);
  EXPECT_EQ(kPadOf(p), 8);
  auto selection = select(p, target("h200"), withPlanned());
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(lostTo(*selection, "kpacked_wgmma"), 16); // weight_first only
}

TEST(Selection, TailsOfFieldsTakeNarrowBlocks) {
  struct Case {
    int64_t batch, channels;
    const char *fields;
  };
  for (Case c : {Case{1, 1, "fields=1,"}, Case{1, 3, "fields=1,"},
                 Case{2, 2, "fields=4,"}, Case{1, 7, "fields=4,"},
                 Case{1, 8, "fields=8,"}, Case{3, 3, "fields=8,"},
                 Case{1, 16, "fields=8,"}}) {
    Problem p = as(DISCO_OP_CONTRACT, small(DType::f32));
    p.batch = c.batch;
    p.channels = p.out_channels = c.channels;
    std::vector<Schedule> schedules;
    const Family &family = *findFamily("csr_gather");
    family.impl->candidates(p, target("a100"), DISCO_FILTER_FIRST,
                            DISCO_RUNTIME, schedules);
    std::string fields = fieldsToString(schedules.at(0), family.fields());
    EXPECT_EQ(fields.rfind(c.fields, 0), 0u) << c.channels << " " << fields;
    EXPECT_TRUE(select(p, target("a100"), withPlanned()).ok());
  }
}

TEST(Selection, PlanesBeyond32BitsLeaveOnlyLoops) {
  Problem p = makeProblem(DISCO_OP_CONV);
  p.structure = DISCO_CSR;
  p.num_basis = 2;
  p.in_shape[0] = p.out_shape[0] = int64_t(1) << 31;
  p.in_shape[1] = p.out_shape[1] = 1;
  p.filter = assumedCounts(DISCO_CSR, 2, p.in_shape, p.out_shape, 8);
  auto selection = select(p, target("avx2"), withPlanned());
  ASSERT_TRUE(selection.ok()) << selection.message();
  EXPECT_STREQ(selection->winner.family->name, "loops");
  EXPECT_EQ(lostTo(*selection, "cpu_gather"), 11);
  auto gpu = select(p, target("h200"), withPlanned());
  ASSERT_FALSE(gpu.ok());
  EXPECT_NE(gpu.message().find(
                "csr_gather: rule 11: expected a plane of 1 channel(s) to have "
                "fewer than 2147483648 elements for 32-bit indices, but got "
                "2147483648; "
                "suggestion: shard "
                "the grid"),
            std::string::npos)
      << gpu.message();
}

TEST(Selection, RunTimeTablesAreAssumedAndRefusedByTensorFamilies) {
  Problem p = small();
  p.filter = assumedCounts(DISCO_SPHERE, p.num_basis, p.in_shape, p.out_shape,
                           defaultDegree);
  auto selection = select(p, target("h200"), withPlanned());
  ASSERT_TRUE(selection.ok()) << selection.message();
  EXPECT_STREQ(selection->winner.family->name, "csr_gather");
  EXPECT_EQ(lostTo(*selection, "kpacked_wgmma"), 11);
  EXPECT_EQ(lostTo(*selection, "toeplitz_wgmma"), 11);
}

TEST(Selection, EveryLoserSaysWhy) {
  for (const char *chip : {"h200", "a100", "b200", "avx2"}) {
    auto selection = select(small(), target(chip), withPlanned());
    ASSERT_TRUE(selection.ok());
    std::string text = toText(*selection, small(), target(chip));
    for (const Loser &loser : selection->losers) {
      if (loser.failure) {
        EXPECT_NE(loser.failure->reason.find("but got"), std::string::npos);
        EXPECT_FALSE(loser.failure->suggestion.empty()) << loser.family->name;
        EXPECT_NE(text.find(loser.failure->reason), text.npos);
      } else {
        EXPECT_GE(loser.cost.predictedMicroseconds(),
                  selection->winner.microseconds());
      }
    }
    // Every family is the winner or a loser.
    for (const Family &family : families())
      EXPECT_NE(text.find(family.name), text.npos) << chip << family.name;
  }
}

TEST(Selection, PlansByHandFollowTheSameRules) {
  Problem p = small(DType::f32);
  Target cpu = target("avx2");
  const Family &family = *findFamily("cpu_gather");
  Schedule s = makeSchedule(family.fields(), DISCO_FILTER_FIRST, DISCO_RUNTIME);
  ASSERT_TRUE(parseFields(s, family.fields(), "tile=64,channel_block=16").ok());
  EXPECT_TRUE(checkPlan(p, cpu, "cpu_gather", s, true).ok());
  EXPECT_TRUE(checkPlan(p, cpu, "cpu_gather", s).ok());
  EXPECT_EQ(checkPlan(p, cpu, "kpacked_wgmma", s).message(),
            "family 'kpacked_wgmma' is not applicable: expected the family to "
            "be available, but got one that is planned; suggestion: "
            "use an available family; disco-select-kernel ranks planned ones "
            "with include-planned");
  EXPECT_EQ(checkPlan(p, cpu, "toeplitz_wgmma", s).message(),
            "family 'toeplitz_wgmma' is not applicable: expected the op to be "
            "one of contract, contract_sum, but got conv, which is planned; "
            "suggestion: use an available family; disco-select-kernel ranks "
            "planned ones with include-planned");
  EXPECT_EQ(checkPlan(p, cpu, "gather", s, true).message(),
            "expected the kernel family to be one of loops, cpu_gather, "
            "csr_gather, kpacked_wgmma, toeplitz_wgmma, but got 'gather'");
  EXPECT_EQ(
      checkPlan(p, cpu, "loops", s, true).message(),
      "family 'loops': expected the schedule to have 0 fields (none), but "
      "got 2");
  ASSERT_TRUE(parseFields(s, family.fields(), "tile=0").ok());
  EXPECT_EQ(checkPlan(p, cpu, "cpu_gather", s, true).message(),
            "family 'cpu_gather' is not applicable: rule 12: expected tile to "
            "be positive for conv, filter_first, but got 0; suggestion: leave "
            "tile out to have it chosen");
  s = makeSchedule(family.fields(), DISCO_FILTER_FIRST, DISCO_CODEGEN);
  EXPECT_EQ(checkPlan(p, cpu, "cpu_gather", s, true).message(),
            "family 'cpu_gather' is not applicable: rule 4: expected the "
            "provider to be runtime, but got codegen; suggestion: leave the "
            "provider to the family");
}

TEST(Selection, InvalidInputIsRefusedBeforeAnyRule) {
  Problem p = small();
  p.channels = -1;
  EXPECT_EQ(select(p, target("avx2")).message(),
            "expected channels to be in [1, 1099511627776], but got -1");
  Target t = target("avx2");
  t.values[0] = 0;
  EXPECT_EQ(select(small(), t).message(),
            "expected avx2.cores to be positive, but got 0");
}

TEST(Selection, ReportsAreDeterministicAndWellFormed) {
  Problem p = small();
  Target h200 = target("h200");
  auto first = select(p, h200, withPlanned());
  auto second = select(p, h200, withPlanned());
  ASSERT_TRUE(first.ok() && second.ok());
  std::string json = toJson(*first, p, h200);
  EXPECT_EQ(json, toJson(*second, p, h200));
  EXPECT_EQ(toText(*first, p, h200), toText(*second, p, h200));
  EXPECT_EQ(json.rfind("{\"problem\":{\"op\":\"conv\",", 0), 0u) << json;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '"' && (i == 0 || json[i - 1] != '\\'))
      quoted = !quoted;
    if (!quoted)
      depth += (json[i] == '{' || json[i] == '[') -
               (json[i] == '}' || json[i] == ']');
    ASSERT_GE(depth, 0);
  }
  EXPECT_EQ(depth, 0);
  for (const char *key : {"\"winner\":{\"family\":\"", "\"rule\":",
                          "\"suggestion\":", "\"class_us\":", "\"hash\":\"0x"})
    EXPECT_NE(json.find(key), json.npos) << key;
}

//===----------------------------------------------------------------------===//
// Selection against an enumeration that knows nothing of it
//===----------------------------------------------------------------------===//

namespace {

/// One line of the enumeration.
struct Tried {
  std::string family;
  int32_t order;
  Schedule schedule;
  double microseconds;
};

/// Every legal schedule of every family, order and provider, in the order in
/// which ties are decided. Only what families declare is used.
std::vector<Tried> enumerate(const Problem &p, const Target &target) {
  std::vector<Tried> all;
  for (const Family &family : families())
    for (int32_t order : {DISCO_FILTER_FIRST, DISCO_WEIGHT_FIRST})
      for (int32_t provider : {DISCO_CODEGEN, DISCO_RUNTIME}) {
        const uint32_t bit = 1u << (provider == DISCO_CODEGEN ? 0 : 1);
        if (!(family.providersOn(target) & bit) ||
            checkFamily(family, p, target, order))
          continue;
        std::vector<Schedule> schedules;
        family.impl->candidates(p, target, order, provider, schedules);
        for (const Schedule &s : schedules)
          if (!checkSchedule(family, p, target, s))
            all.push_back(
                {family.name, order, s,
                 family.impl->cost(p, target, s).predictedMicroseconds()});
      }
  return all;
}

} // namespace

TEST(Selection, TheWinnerIsTheLeastOfAllThatIsLegal) {
  int compared = 0;
  for (const char *chip : {"h200", "a100", "b200", "avx2"})
    for (const char *name : {"self256", "down", "encoder", "deg1"})
      for (DType dtype : {DType::bf16, DType::f32})
        for (int32_t direction :
             {DISCO_FORWARD, DISCO_INPUT_GRADIENT, DISCO_WEIGHT_GRADIENT}) {
          const Problem p = layer(name, dtype, direction);
          const std::vector<Tried> all = enumerate(p, target(chip));
          ASSERT_FALSE(all.empty());
          const Tried *least = &all.front();
          for (const Tried &tried : all)
            if (tried.microseconds < least->microseconds)
              least = &tried;
          auto selection = select(p, target(chip), withPlanned());
          ASSERT_TRUE(selection.ok()) << selection.message();
          const Choice &winner = selection->winner;
          EXPECT_EQ(winner.family->name, least->family) << chip << name;
          EXPECT_TRUE(isEqual(winner.schedule, least->schedule))
              << chip << name << " "
              << fieldsToString(winner.schedule, winner.family->fields());
          EXPECT_EQ(winner.microseconds(), least->microseconds);
          ++compared;
        }
  EXPECT_EQ(compared, 4 * 4 * 2 * 3);
}

TEST(Selection, RulesOfTheLayersByHand) {
  // What docs and the design say about these layers, not what the code says.
  struct Row {
    const char *layer;
    DType dtype;
    int32_t op, direction;
    const char *chip, *family;
    int rule; // that refuses the family; 0: none, in one order at least
  };
  const int32_t conv = DISCO_OP_CONV, grad = DISCO_OP_CONV_WEIGHT_GRAD;
  const int32_t sum = DISCO_OP_CONTRACT_SUM, expand = DISCO_OP_CONTRACT;
  const int32_t fwd = DISCO_FORWARD, back = DISCO_INPUT_GRADIENT;
  for (Row row : {
           // Tensor families take half precision only.
           Row{"self256", DType::f32, conv, fwd, "h200", "kpacked_wgmma", 2},
           Row{"self256", DType::f32, conv, fwd, "h200", "toeplitz_wgmma", 2},
           // K 9 pads to 16, nlon 720 is a multiple of 8, one phase.
           Row{"self256", DType::bf16, conv, fwd, "h200", "kpacked_wgmma", 0},
           Row{"down", DType::bf16, conv, fwd, "h200", "kpacked_wgmma", 0},
           // 720 longitudes to 1440: two phases.
           Row{"down", DType::bf16, conv, back, "h200", "kpacked_wgmma", 15},
           Row{"down", DType::bf16, conv, back, "h200", "toeplitz_wgmma", 0},
           // It has neither the sum over features nor the weight gradient.
           Row{"self256", DType::f16, sum, fwd, "h200", "kpacked_wgmma", 1},
           Row{"self256", DType::f16, grad, fwd, "h200", "kpacked_wgmma", 1},
           Row{"self256", DType::f16, expand, fwd, "h200", "kpacked_wgmma", 0},
           // wgmma is sm_90a's alone.
           Row{"self256", DType::bf16, conv, fwd, "h100", "toeplitz_wgmma", 0},
           Row{"self256", DType::bf16, conv, fwd, "a100", "toeplitz_wgmma", 10},
           Row{"self256", DType::bf16, conv, fwd, "b200", "toeplitz_wgmma", 10},
           Row{"self256", DType::bf16, conv, fwd, "a100", "csr_gather", 0},
           // Hosts run host kernels and nothing else; GPUs none of them.
           Row{"deg1", DType::f32, conv, fwd, "avx2", "csr_gather", 4},
           Row{"deg1", DType::f32, conv, fwd, "h200", "cpu_gather", 4},
           Row{"deg1", DType::f32, conv, fwd, "h200", "loops", 10},
           Row{"deg1", DType::f32, conv, fwd, "avx512", "cpu_gather", 0},
       }) {
    Problem p = layer(row.layer, row.dtype, row.direction);
    if (row.op != conv)
      p = as(row.op, p);
    auto selection = select(p, target(row.chip), withPlanned());
    ASSERT_TRUE(selection.ok()) << selection.message();
    bool applies = selection->winner.family->name == std::string(row.family);
    for (const Loser &loser : selection->losers)
      applies |=
          !loser.failure && loser.family->name == std::string(row.family);
    EXPECT_EQ(applies, row.rule == 0) << row.layer << row.chip << row.family;
    if (row.rule) {
      EXPECT_EQ(lostTo(*selection, row.family), row.rule)
          << row.layer << " " << row.chip << " " << row.family;
    }
  }
}

TEST(Baselines, ContractionsAreWithinAFactorOfTwoOnFourRowsOfFive) {
  // Milliseconds of K-packed bf16, CSR bf16, CSR f32 and its transpose, as in
  // docs/generated/predictions.md.
  struct Row {
    const char *layer;
    double kPacked, csrHalf, csrSingle, transpose;
  };
  const Target h200 = target("h200");
  int within = 0, all = 0;
  auto add = [&](const Cost &cost, double milliseconds) {
    const double ratio = cost.predictedMicroseconds() / 1000 / milliseconds;
    within += ratio >= 0.5 && ratio <= 2;
    ++all;
  };
  for (Row row : {Row{"self256", 4.08, 6.52, 6.01, 10.1},
                  Row{"self512", 8.09, 12.9, 11.9, 20.1},
                  Row{"down", 4.35, 9.16, 12.9, 16.7},
                  Row{"local828", 27.0, 53.1, 48.0, 88.9},
                  Row{"encoder", 8.18, 16.5, 23.6, 30.2},
                  Row{"decoder", 361, 626, 622, 1168},
                  Row{"deg1", 0.25, 0.51, 0.47, 0.64}}) {
    Problem half = as(DISCO_OP_CONTRACT, layer(row.layer, DType::bf16));
    Problem single = as(DISCO_OP_CONTRACT, layer(row.layer, DType::f32));
    add(harmonicsKPackedCost(half, h200), row.kPacked);
    add(harmonicsCsrCost(half, h200), row.csrHalf);
    add(harmonicsCsrCost(single, h200), row.csrSingle);
    add(harmonicsCsrTransposeCost(single, h200), row.transpose);
  }
  EXPECT_EQ(all, 28);
  EXPECT_GE(within * 5, all * 4) << within;
}
