//===- ProblemTest.cpp - problems, statistics, hashes ---------------------===//
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

TEST(Problem, LayersHaveTheKnownTapStatistics) {
  Problem self = layer("self256", DType::bf16);
  EXPECT_EQ(self.filter.taps, 15044);
  EXPECT_EQ(self.filter.max_taps, 1091);
  EXPECT_EQ(self.filter.median_taps, 15);
  EXPECT_EQ(self.filter.min_taps, 9);
  EXPECT_EQ(self.filter.rows, 360);
  EXPECT_EQ(self.filter.arcs, self.filter.rings);
  EXPECT_EQ(self.filter.gaps, 0);
  EXPECT_TRUE(self.filter.shared_support);
  EXPECT_EQ(kPadOf(self), 16);
  Problem down = layer("down", DType::bf16);
  EXPECT_EQ(down.filter.stride, 2);
  EXPECT_EQ(down.filter.max_taps, 6141);
  EXPECT_EQ(down.filter.median_taps, 68);
}

TEST(Problem, LayersHaveTheKnownFlop) {
  auto giga = [](double flop) { return flop / 1e9; };
  Problem self = layer("self256", DType::bf16);
  EXPECT_EQ(sparseFlop(self, DISCO_FILTER_FIRST), 2.0 * 9 * 15044 * 720 * 256);
  EXPECT_NEAR(giga(sparseFlop(self, DISCO_FILTER_FIRST)), 49.9, 0.05);
  EXPECT_NEAR(giga(einsumFlop(self, DISCO_FILTER_FIRST)), 306, 0.5);
  Problem decoder = layer("decoder", DType::bf16);
  EXPECT_NEAR(giga(sparseFlop(decoder, DISCO_FILTER_FIRST)), 7724, 0.5);
  EXPECT_NEAR(giga(sparseFlop(decoder, DISCO_WEIGHT_FIRST)), 644, 0.5);
  EXPECT_NEAR(giga(einsumFlop(decoder, DISCO_FILTER_FIRST)), 14.6, 0.05);
  Problem encoder = layer("encoder", DType::bf16);
  EXPECT_NEAR(giga(sparseFlop(encoder, DISCO_FILTER_FIRST)), 150, 0.5);
  EXPECT_NEAR(giga(einsumFlop(encoder, DISCO_FILTER_FIRST)), 3.6, 0.05);
  EXPECT_EQ(expandedElements(decoder, DISCO_FILTER_FIRST),
            780.0 * 9 * 721 * 1440);
}

TEST(Problem, AdjointKeepsTapPairsAndSwapsStrideAndPhases) {
  Problem forward = layer("down", DType::f32);
  Problem gradient = layer("down", DType::f32, DISCO_INPUT_GRADIENT);
  EXPECT_EQ(tapPairs(gradient), tapPairs(forward));
  EXPECT_EQ(gradient.filter.stride, 1);
  EXPECT_EQ(gradient.filter.phases, 2);
  EXPECT_EQ(gradient.filter.rows, 2 * 721);
  EXPECT_TRUE(gradient.filter.shared_support);
  EXPECT_TRUE(verify(gradient).ok());
}

TEST(Problem, HistogramCountsRowsByPowersOfTwo) {
  Problem p = small();
  int64_t rows = 0, taps = 0;
  for (int i = 0; i < DISCO_TAP_BINS; ++i) {
    rows += p.filter.histogram_rows[i];
    taps += p.filter.histogram_taps[i];
    if (i > 0 && p.filter.histogram_rows[i]) {
      double mean = static_cast<double>(p.filter.histogram_taps[i]) /
                    static_cast<double>(p.filter.histogram_rows[i]);
      EXPECT_GE(mean, 1 << (i - 1));
      EXPECT_LT(mean, 1 << i);
    }
  }
  EXPECT_EQ(rows, p.filter.rows);
  EXPECT_EQ(taps, p.filter.taps);
}

namespace {

/// Taps of one feature, two rows on a grid of 2 x 8 points.
FilterCounts
countColumns(const std::vector<std::pair<int, int>> &rowAndColumn) {
  filter::PsiCoo psi;
  psi.numBasis = 1;
  for (auto [row, col] : rowAndColumn) {
    psi.k.push_back(0);
    psi.row.push_back(row);
    psi.col.push_back(col);
    psi.values.push_back(1);
  }
  auto counts = countFilter(psi, {1, 2, 8, 2, 8}, false);
  EXPECT_TRUE(counts.ok());
  return *counts;
}

} // namespace

TEST(Problem, GapsAreCountedWithTheTapsThatFillThem) {
  // Ring 0 of row 0: points 0, 1, 4; breaks of 2 and 3; filling the shorter.
  FilterCounts counts = countColumns({{0, 0}, {0, 1}, {0, 4}, {1, 8}});
  EXPECT_EQ(counts.arcs, 3);
  EXPECT_EQ(counts.rings, 2);
  EXPECT_EQ(counts.gaps, 1);
  EXPECT_EQ(counts.gap_taps, 2);
  // An arc across longitude 0 has no gap.
  counts = countColumns({{0, 7}, {0, 0}});
  EXPECT_EQ(counts.gaps, 0);
  EXPECT_EQ(counts.gap_taps, 0);
  EXPECT_EQ(counts.longest_arc, 2);
  // A whole ring neither.
  std::vector<std::pair<int, int>> ring;
  for (int i = 0; i < 8; ++i)
    ring.push_back({0, i});
  counts = countColumns(ring);
  EXPECT_EQ(counts.whole_rings, 1);
  EXPECT_EQ(counts.gap_taps, 0);
  EXPECT_EQ(counts.empty_rows, 1);
  EXPECT_EQ(counts.min_taps, 0);
  EXPECT_EQ(counts.median_taps, 4);
}

namespace {

/// Pairs of the one row that has these values of one arc, [tap][2], from
/// longitude `first` on.
int64_t pairsOf(int first, const std::vector<std::pair<double, double>> &taps,
                int nlon = 8) {
  filter::PsiCoo psi;
  psi.numBasis = 2;
  for (int k = 0; k < 2; ++k)
    for (size_t i = 0; i < taps.size(); ++i) {
      psi.k.push_back(k);
      psi.row.push_back(0);
      psi.col.push_back((first + static_cast<int>(i)) % nlon);
      psi.values.push_back(k ? taps[i].second : taps[i].first);
    }
  auto counts = countFilter(psi, {2, 1, nlon, 1, nlon}, false);
  EXPECT_TRUE(counts.ok());
  return counts->mirrored_pairs;
}

} // namespace

TEST(Problem, PairsOfTapsMirrorEachOtherForEveryFeature) {
  // Even and odd, with any value in the middle.
  EXPECT_EQ(pairsOf(3, {{1, 2}, {5, 9}, {1, -2}}), 1);
  EXPECT_EQ(pairsOf(6, {{1, 2}, {3, 4}, {3, -4}, {1, -2}}), 2);
  EXPECT_EQ(pairsOf(3, {{0, 0}, {0, 0}}), 1);
  // One feature that is neither, in the outer or an inner pair.
  EXPECT_EQ(pairsOf(3, {{1, 2}, {5, 9}, {1, 3}}), 0);
  EXPECT_EQ(pairsOf(3, {{1, 2}, {3, 4}, {3, 4}, {1, -2}}), 0);
  EXPECT_EQ(pairsOf(3, {{1, 2}}), 0);
  // In f64 these differ, in f32 they do not.
  EXPECT_EQ(pairsOf(3, {{1, 2}, {1 + 1e-12, 2}}), 1);
  EXPECT_EQ(pairsOf(3, {{1, 2}, {1 + 1e-6, 2}}), 0);
  // The middle of a whole ring is its first tap.
  EXPECT_EQ(pairsOf(0, {{7, 7}, {1, 2}, {3, 0}, {1, -2}}, 4), 1);
  EXPECT_EQ(pairsOf(0, {{1, 2}, {3, 0}, {1, -2}, {7, 7}}, 4), 0);
}

TEST(Problem, HatsDoNotShareTheirSupport) {
  Problem p = small(DType::bf16, "piecewise_linear, [3]");
  EXPECT_FALSE(p.filter.shared_support);
  EXPECT_LT(p.filter.entries, p.filter.taps * p.num_basis);
  EXPECT_TRUE(verify(p).ok());
}

TEST(Problem, AssumedCountsVerifyAndSaySo) {
  for (int32_t structure : {DISCO_SPHERE, DISCO_TABLE, DISCO_CSR}) {
    Problem p = makeProblem(DISCO_OP_CONV);
    p.structure = structure;
    p.num_basis = 5;
    const bool sphere = structure == DISCO_SPHERE;
    p.in_shape[0] = sphere ? 16 : 512;
    p.in_shape[1] = sphere ? 32 : 1;
    p.out_shape[0] = sphere ? 16 : 300;
    p.out_shape[1] = sphere ? 64 : 1;
    const int64_t rows = sphere ? 32 : 300;
    p.filter = assumedCounts(structure, 5, p.in_shape, p.out_shape, 12);
    EXPECT_TRUE(verify(p).ok()) << verify(p).message();
    EXPECT_EQ(p.filter.exact, 0);
    EXPECT_EQ(p.filter.rows, rows);
    EXPECT_EQ(p.filter.taps, 12 * rows);
    EXPECT_EQ(p.filter.min_taps, 12);
    EXPECT_EQ(p.filter.max_taps, 12);
    // A number that rows do not divide, and less taps than rows.
    for (int64_t taps : {12 * rows + 7, rows / 2, int64_t(0)}) {
      p.filter = spreadCounts(structure, 5, p.in_shape, p.out_shape, taps);
      EXPECT_TRUE(verify(p).ok()) << verify(p).message();
      EXPECT_EQ(p.filter.taps, taps);
      EXPECT_EQ(p.filter.min_taps, taps / rows);
      EXPECT_EQ(p.filter.max_taps, (taps + rows - 1) / rows);
      EXPECT_EQ(p.filter.empty_rows, taps < rows ? rows - taps : 0);
    }
    // No row has more taps than there are points.
    p.filter =
        spreadCounts(structure, 5, p.in_shape, p.out_shape, int64_t(1) << 50);
    EXPECT_TRUE(verify(p).ok()) << verify(p).message();
    EXPECT_EQ(p.filter.max_taps, 512);
  }
}

TEST(Problem, HashDependsOnEveryFieldThatMatters) {
  const Problem base = small();
  const uint64_t hash = hashOf(base);
  EXPECT_EQ(hash, hashOf(small()));
  int64_t Problem::*longs[] = {&Problem::num_basis, &Problem::batch,
                               &Problem::channels, &Problem::out_channels,
                               &Problem::groups};
  for (auto field : longs) {
    Problem p = base;
    p.*field += 1;
    EXPECT_NE(hashOf(p), hash);
  }
  int32_t Problem::*ints[] = {
      &Problem::op,           &Problem::structure,       &Problem::dtype,
      &Problem::precision,    &Problem::parameter_dtype, &Problem::epilogue,
      &Problem::in_layout,    &Problem::deterministic,   &Problem::out_layout,
      &Problem::batch_assumed};
  for (auto field : ints) {
    Problem p = base;
    p.*field += 1;
    EXPECT_NE(hashOf(p), hash);
  }
  Problem p = base;
  p.filter.histogram_taps[3] += 1;
  EXPECT_NE(hashOf(p), hash);
  p = base;
  p.filter.median_taps += 0.5;
  EXPECT_NE(hashOf(p), hash);
  // What tables do not tell.
  p = base;
  p.direction += 1;
  p.filter.entries -= 1;
  p.filter.shared_support ^= 1;
  p.filter.mirrored_pairs -= 1;
  EXPECT_EQ(hashOf(p), hash);
}

namespace {

std::string whyNot(Problem p) { return verify(p).message(); }

} // namespace

TEST(Problem, LiesAreRefusedWithBothValues) {
  const Problem good = small();
  ASSERT_TRUE(verify(good).ok());
  Problem p = good;
  p.op = 4;
  EXPECT_EQ(whyNot(p), "expected op to be in [0, 3], but got 4");
  p = good;
  p.groups = 3;
  EXPECT_EQ(whyNot(p),
            "expected channels to be a multiple of groups (3), but got 16");
  p = as(DISCO_OP_CONTRACT, good);
  p.out_channels = 8;
  EXPECT_EQ(whyNot(p), "expected output channels to be 16, but got 8");
  p = good;
  p.out_shape[1] = 48;
  EXPECT_EQ(whyNot(p), "expected nlon of one grid to be a multiple of that of "
                       "the other (48), but got 64");
  p = good;
  p.filter.stride = 2;
  EXPECT_EQ(whyNot(p), "expected stride to be 1, but got 2");
  p = good;
  p.filter.rows = 32;
  EXPECT_EQ(whyNot(p), "expected rows of the filter to be 33, but got 32");
  p = good;
  p.filter.entries -= 1;
  EXPECT_EQ(whyNot(p), "expected a shared support to have taps K entries (" +
                           std::to_string(p.filter.taps) +
                           " times 9), but got " +
                           std::to_string(p.filter.entries));
  p = good;
  p.filter.histogram_taps[0] = 1;
  EXPECT_NE(whyNot(p), "");
  p = good;
  p.batch = 0;
  EXPECT_EQ(whyNot(p), "expected batch to be in [1, 1099511627776], but got 0");
  p = as(DISCO_OP_CONTRACT_SUM, good);
  p.epilogue = DISCO_EPILOGUE_BIAS;
  EXPECT_EQ(whyNot(p), "expected epilogue to be in [0, 0], but got 1");
  p.op = DISCO_OP_CONV_WEIGHT_GRAD;
  p.epilogue = DISCO_EPILOGUE_RESIDUAL;
  EXPECT_EQ(whyNot(p), "expected epilogue to be in [0, 1], but got 4");
}

extern "C" int disco_test_abi_bits(void);

TEST(Problem, HeadersAreC) {
  EXPECT_EQ(disco_test_abi_bits(), DISCO_EPILOGUE_BIAS |
                                       DISCO_EPILOGUE_ACTIVATION |
                                       DISCO_EPILOGUE_RESIDUAL);
}

TEST(Problem, TextNamesWhatMatters) {
  Problem p = small();
  p.batch_assumed = 1;
  p.groups = 2;
  EXPECT_EQ(toString(p), "conv forward bf16, sphere 33x64 -> 33x64, K 9, B 1 "
                         "(assumed), C 16, O 16, groups 2");
}

TEST(Problem, WeightGradientsCountTheAdjoint) {
  const std::string text =
      "#disco.sphere_filter<harmonic, [3, 3], cutoff = 0.2, in = "
      "#disco.grid<equiangular, 33x64>, out = #disco.grid<equiangular, 33x32>>";
  auto filter = filter::parseSphereFilter(text);
  ASSERT_TRUE(filter.ok()) << filter.message();
  auto p = makeSphereProblem(DISCO_OP_CONV_WEIGHT_GRAD, *filter);
  auto adjoint = makeSphereProblem(DISCO_OP_CONTRACT, *filter, true);
  ASSERT_TRUE(p.ok() && adjoint.ok());
  EXPECT_EQ(p->adjoint.rows, adjoint->filter.rows);
  EXPECT_EQ(p->adjoint.taps, adjoint->filter.taps);
  EXPECT_EQ(p->adjoint.phases, 2);
  // As many pairs of a tap and a point, seen from either side.
  Problem applied = appliedFilter(*p, DISCO_WEIGHT_FIRST).problem;
  EXPECT_EQ(tapPairs(applied), tapPairs(*p));
  EXPECT_TRUE(verify(*p).ok()) << verify(*p).message();
  // A plan depends on both.
  const uint64_t hash = hashOf(*p);
  p->adjoint.max_rings -= 1;
  EXPECT_NE(hashOf(*p), hash);
  p->adjoint.rows += 1;
  EXPECT_EQ(verify(*p).message(),
            "expected rows of the filter to be 66, but got 67");
  // Elsewhere it is not read.
  EXPECT_EQ(adjoint->adjoint.rows, 0);
}
