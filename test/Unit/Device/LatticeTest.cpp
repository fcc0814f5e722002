//===- LatticeTest.cpp - the tables of csr_gather, without a device -------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the kernels do with the tables, in a few loops: every place in shared
// memory that they read must have been written, and the sums be those of psi.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Runtime/CUDA/CsrGather/Lattice.h"
#include "../Runtime/CpuGatherTestUtil.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace disco;
using namespace disco::test;
using namespace disco::cuda::csr;

namespace {

constexpr double unset = std::numeric_limits<double>::quiet_NaN();

double valueOf(const std::vector<char> &values, int64_t i) {
  double value;
  std::memcpy(&value, values.data() + i * 8, 8);
  return value;
}

/// Shared memory with the windows of a stage: [window][column].
using Columns = std::vector<std::vector<double>>;

class Emulator {
public:
  Emulator(const TestPsi &psi, std::mt19937 &random)
      : psi(psi.tables.view()), op(psi.op), lattice(toLattice(this->psi)),
        x(op.numBasis() * op.numIn()) {
    std::normal_distribution<double> normal;
    for (double &value : x)
      value = normal(random);
  }

  /// y [K, out] of contract of the first plane of x.
  std::vector<double> contract(int32_t tile, int32_t kTile) const {
    const ContractTables t = makeContractTables(
        psi, lattice, SumType::f64, tile, kTile, /*blockLatitudes=*/2);
    std::vector<double> y(op.numBasis() * op.numOut(), unset);
    const int record = recordSize(kTile, 8);
    for (const Int4 &row : t.rows)
      for (int32_t first = 0; first < lattice.points; first += t.tile)
        for (int32_t p = 0; p < std::min(t.tile, lattice.points - first); ++p)
          for (int64_t k = 0; k < op.numBasis(); ++k) {
            double sum = 0;
            for (int32_t s = row.x; s < row.x + row.y; ++s) {
              const std::vector<double> columns =
                  stageContract(t, t.stages[s], first);
              for (int32_t tap = 0; tap < t.stages[s].w; ++tap) {
                const int64_t at =
                    (k / kTile * t.numTaps + t.stages[s].z + tap) * record;
                int32_t column;
                std::memcpy(&column, t.values.data() + (at + kTile) * 8, 4);
                sum +=
                    valueOf(t.values, at + k % kTile) * columns.at(column + p);
              }
            }
            double &to = y[k * op.numOut() + row.z +
                           int64_t(first + p) * lattice.phases];
            EXPECT_TRUE(std::isnan(to)) << "written twice";
            to = sum;
          }
    return y;
  }

  /// y [out] of contract_sum of all planes.
  std::vector<double> contractSum(const SumBalance &balance) const {
    const ContractSumTables t =
        makeContractSumTables(psi, lattice, SumType::f64, balance);
    std::vector<double> y(op.numOut(), unset);
    EXPECT_LE(t.tile, 32 * sumPoints);
    EXPECT_EQ(t.parts.size(), t.groups.size() + t.numSplit * (sumWarps - 1));
    for (size_t group = 0; group < t.groups.size(); ++group)
      for (int32_t first = 0; first < lattice.points; first += t.tile)
        for (int32_t r = 0; r < t.groups[group].y; ++r)
          sumRow(t, static_cast<int32_t>(group), first, r, y);
    return y;
  }

  void check(const std::vector<double> &y, bool sums) const {
    int64_t compared = 0;
    for (int64_t n = 0; n < op.numOut(); ++n) {
      std::vector<double> exact(op.numBasis());
      op.forEachTap(n, [&](int64_t in, const double *v) {
        for (int64_t k = 0; k < op.numBasis(); ++k)
          exact[sums ? 0 : k] += v[k] * x[(sums ? k : 0) * op.numIn() + in];
      });
      for (int64_t k = 0; k < (sums ? 1 : op.numBasis()); ++k, ++compared)
        ASSERT_NEAR(y[k * op.numOut() + n], exact[k], 1e-9)
            << "point " << n << ", k " << k;
    }
    EXPECT_GT(compared, 0);
  }

private:
  double at(int64_t k, int32_t place, int64_t point) const {
    return x[k * op.numIn() + place + point % lattice.points * lattice.stride];
  }

  std::vector<double> stageContract(const ContractTables &t, const Int4 &stage,
                                    int32_t first) const {
    std::vector<double> columns(t.columns, unset);
    const int32_t points = std::min(t.tile, lattice.points - first);
    for (int32_t w = stage.x; w < stage.x + stage.y; ++w) {
      const Int4 &window = t.windows[w];
      for (int32_t c = 0; c < points + window.z - 1; ++c) {
        EXPECT_TRUE(std::isnan(columns.at(window.w + c))) << "windows overlap";
        columns.at(window.w + c) =
            at(0, window.x, int64_t(window.y) + first + c);
      }
    }
    return columns;
  }

  /// A row of a tile, by the warps that have a part of the group.
  void sumRow(const ContractSumTables &t, int32_t index, int32_t first,
              int32_t r, std::vector<double> &y) const {
    const Int4 &group = t.groups[index];
    const int32_t points = std::min(t.tile, lattice.points - first);
    std::vector<double> sums(points);
    int64_t windows = 0;
    for (size_t part = 0; part < t.parts.size(); ++part) {
      if (t.parts[part].x != index)
        continue;
      const auto number = static_cast<int32_t>(part);
      EXPECT_EQ(index, number < sumWarps * t.numSplit
                           ? number / sumWarps
                           : number - (sumWarps - 1) * t.numSplit);
      int64_t value = t.partValues[part] * int64_t(2);
      int32_t stage = t.parts[part].y, skipped = t.parts[part].z, left = 0;
      for (int32_t i = 0; i < t.parts[part].w; ++i) {
        const Int4 &s = t.stages[stage];
        const int32_t k = (s.w >> 8) + skipped;
        EXPECT_TRUE(i > 0 || formOf(t, value) != SumForm::high);
        // The kernel reads a header again when it has counted its windows.
        if (left == 0)
          left = word(t, value, 1) >> 16;
        --left;
        addWindow(t, stage, k, value, first, r, sums);
        value += (s.w & 255) * 2;
        ++windows;
        if (++skipped == s.z >> 8) {
          EXPECT_EQ(left, 0);
          ++stage;
          skipped = 0;
        }
      }
    }
    EXPECT_GE(windows, 0);
    for (int32_t p = 0; p < points; ++p) {
      const int64_t point = (first + group.z + p) % lattice.points;
      double &to = y[t.rowPlaces[group.x + r] + point * lattice.phases];
      EXPECT_TRUE(std::isnan(to)) << "written twice";
      to = sums[p];
    }
  }

  static int32_t word(const ContractSumTables &t, int64_t at, int32_t i) {
    int32_t word;
    std::memcpy(&word, t.values.data() + at * 8 + i * 4, 4);
    return word;
  }
  static SumForm formOf(const ContractSumTables &t, int64_t at) {
    return static_cast<SumForm>(word(t, at, 0) >> 16);
  }

  /// What a stage's window has of x in its column `column`, for a tile.
  double inWindow(const Int4 &stage, int64_t k, int32_t first, int32_t points,
                  int64_t column) const {
    // Chunks of 2: those of the tile, and what windows have more.
    const int64_t columns = 2 * int64_t((points + 1) / 2 + (stage.z & 255));
    EXPECT_GE(column, 0);
    EXPECT_LT(column, columns);
    return at(k, stage.x, stage.y + first + column);
  }

  void addWindow(const ContractSumTables &t, int32_t index, int64_t k,
                 int64_t at, int32_t first, int32_t r,
                 std::vector<double> &sums) const {
    const Int4 &stage = t.stages[index];
    const SumForm form = formOf(t, at);
    const int32_t steps = word(t, at, 0) & 255, all = word(t, at, 1) & 0xffff;
    const auto points = static_cast<int32_t>(sums.size());
    const bool isPair = form == SumForm::near || form == SumForm::high;
    EXPECT_LE((stage.w & 255) * 16, t.maxValueBytes);
    EXPECT_LE(stage.z & 255, sumMaxSteps);
    EXPECT_EQ((stage.w & 255) * 16, headerBytes(steps) + steps * sumRows * 16 +
                                        (isPair ? 16 + 8 * sumRows : 0));
    int64_t values = at + headerBytes(steps) / 8;
    const double sign = isPair ? valueOf(t.values, values) : 0;
    const int64_t middle = values + 2;
    values += isPair ? 2 + sumRows : 0;
    const int32_t growth = stage.z & 255;
    EXPECT_EQ(growth, form == SumForm::plain  ? steps
                      : form == SumForm::near ? 2 * steps
                      : form == SumForm::high ? steps
                                              : growth);
    EXPECT_TRUE(form != SumForm::low || steps == 0);
    for (int32_t step = 0; step < steps; ++step) {
      const int32_t has = word(t, at, 2 + step);
      EXPECT_EQ(has & 0xffff & ~all, 0) << "rows that the window does not name";
      for (int32_t p = 0; p < points; ++p) {
        if (isPair && has >> (16 + r) & 1) {
          ++middles;
          sums[p] += valueOf(t.values, middle + r) *
                     inWindow(stage, k, first, points, 2 * steps + p);
        }
        for (int32_t i = 0; i < 2; ++i) {
          if (!(has >> (4 * r + i) & 1))
            continue;
          const double value =
              valueOf(t.values, values + (step * sumRows + r) * 2 + i);
          const int32_t u = 2 * step + i;
          if (!isPair) {
            sums[p] += value * inWindow(stage, k, first, points, u + p);
            continue;
          }
          const bool isNear = form == SumForm::near;
          (isNear ? pairs : farPairs) += 1;
          const Int4 &low = t.stages[isNear ? index : index - 1];
          EXPECT_TRUE(isNear || (low.z & 255) == growth);
          sums[p] += value * (inWindow(stage, k, first, points,
                                       (isNear ? 2 * steps : 0) + u + 1 + p) +
                              sign * inWindow(low, k, first, points,
                                              2 * steps - 1 - u + p));
        }
      }
    }
  }

  const disco_kernel_psi &psi;
  const reference::Operator &op;
  const Lattice lattice;
  std::vector<double> x;

public:
  /// Middles, and pairs of near and of far windows, that were summed.
  mutable int64_t middles = 0, pairs = 0, farPairs = 0;
};

TEST(CsrGatherTables, EmulatedKernelsComputeWhatPsiSays) {
  constexpr int64_t grids[][4] = {
      {5, 12, 4, 12}, {4, 34, 3, 17},  {5, 39, 3, 13},   {3, 20, 3, 5},
      {4, 7, 5, 14},  {3, 11, 4, 33},  {2, 5, 3, 20},    {3, 200, 2, 200},
      {1, 1, 1, 1},   {3, 128, 4, 64}, {2, 300, 3, 300}, {2, 130, 5, 65}};
  std::mt19937 random(2);
  for (int i = 0; i < 48; ++i) {
    const auto &g = grids[i % 12];
    SCOPED_TRACE("grid " + std::to_string(i % 12) + ", round " +
                 std::to_string(i / 12));
    const TestPsi psi =
        sphereCase(randomSphere(random, 1 + i % 5, g[0], g[1], g[2], g[3],
                                i < 24 ? INT64_MAX : 9),
                   DType::f64);
    const Emulator emulator(psi, random);
    emulator.check(emulator.contract(i % 3 == 0 ? 8 : 128, 1 + i % 4), false);
    for (const SumBalance balance :
         {SumBalance{2048, 256}, SumBalance{40, 10}, SumBalance{1, 1}})
      emulator.check(emulator.contractSum(balance), true);
  }
}

TEST(CsrGatherTables, MirroredTapsAreSummedOnceForBothSides) {
  constexpr int64_t grids[][4] = {
      {5, 12, 4, 12},   {5, 39, 3, 13}, {3, 200, 3, 200}, {3, 128, 4, 64},
      {2, 300, 3, 300}, {3, 33, 4, 33}, {2, 256, 4, 256}, {2, 180, 3, 60}};
  std::mt19937 random(8);
  int64_t middles = 0, pairs = 0, farPairs = 0;
  for (int i = 0; i < 40; ++i) {
    const auto &g = grids[i % 8];
    SCOPED_TRACE("grid " + std::to_string(i % 8) + ", round " +
                 std::to_string(i / 8));
    const TestPsi psi = sphereCase(
        mirroredSphere(random, 1 + i % 5, g[0], g[1], g[2], g[3], INT64_MAX),
        DType::f64);
    const Emulator emulator(psi, random);
    for (const SumBalance balance :
         {SumBalance{2048, 256}, SumBalance{40, 10}, SumBalance{1, 1}})
      emulator.check(emulator.contractSum(balance), true);
    middles += emulator.middles;
    pairs += emulator.pairs;
    farPairs += emulator.farPairs;
  }
  EXPECT_GT(middles, 0);
  EXPECT_GT(pairs, 0);
  EXPECT_GT(farPairs, 0);
}

TEST(CsrGatherTables, LongRowsComeFirst) {
  std::mt19937 random(4);
  const TestPsi psi =
      sphereCase(randomSphere(random, 2, 6, 60, 30, 60), DType::f64);
  const Lattice lattice = toLattice(psi.tables.view());
  const ContractTables tables =
      makeContractTables(psi.tables.view(), lattice, SumType::f32, 128, 9, 10);
  ASSERT_EQ(tables.blockOffsets, (std::vector<int32_t>{0, 10, 20, 30}));
  for (size_t block = 0; block < 3; ++block)
    for (int32_t row = tables.blockOffsets[block] + 1;
         row < tables.blockOffsets[block + 1]; ++row)
      EXPECT_GE(tables.rows[row - 1].w, tables.rows[row].w);
}

TEST(CsrGatherTables, PointsKeepTheOrderOfTheirTaps) {
  std::mt19937 random(6);
  for (const bool adjoint : {false, true})
    for (const PointForm form :
         {PointForm::csr, PointForm::table, PointForm::oneHot}) {
      const TestPsi psi = pointCase(random, form, 3, 17, 11, 4, adjoint,
                                    DType::f64, DType::i32);
      const PointTables tables =
          makePointTables(psi.tables.view(), SumType::f64);
      int64_t compared = 0;
      for (int64_t n = 0; n < psi.op.numOut(); ++n) {
        int32_t tap = tables.offsets[n];
        psi.op.forEachTap(n, [&](int64_t in, const double *v) {
          ASSERT_LT(tap, tables.offsets[n + 1]);
          EXPECT_EQ(tables.columns[tap], in);
          for (int k = 0; k < 3; ++k, ++compared)
            EXPECT_EQ(valueOf(tables.values, tap * 3 + k), v[k]);
          ++tap;
        });
        EXPECT_EQ(tap, tables.offsets[n + 1]);
      }
      EXPECT_GT(compared, 0);
    }
}

} // namespace
