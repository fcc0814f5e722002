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
  std::vector<double> contractSum() const {
    const ContractSumTables t =
        makeContractSumTables(psi, lattice, SumType::f64);
    std::vector<double> y(op.numOut(), unset);
    EXPECT_LE(t.tile, 32 * sumPoints);
    for (size_t group = 0; group < t.rows.size(); ++group)
      for (int32_t first = 0; first < lattice.points; first += t.tile)
        for (int32_t r = 0; r < t.rows[group].w; ++r)
          sumRow(t, group, first, r, y);
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

  void sumRow(const ContractSumTables &t, size_t groupIndex, int32_t first,
              int32_t r, std::vector<double> &y) const {
    const Int4 &group = t.rows[groupIndex];
    const int32_t points = std::min(t.tile, lattice.points - first);
    std::vector<double> sums(points);
    int64_t values = t.groupValues[groupIndex]; // walks through all stages
    for (int64_t k = 0; k < op.numBasis(); ++k)
      for (int32_t s = group.x; s < group.x + group.y; ++s) {
        const Int4 &stage = t.stages[s];
        std::vector<int32_t> header(headerBytes(stage.z) / 4);
        std::memcpy(header.data(), t.values.data() + values * 8,
                    header.size() * 4);
        EXPECT_EQ(header[0], stage.z);
        EXPECT_LE(stage.z, t.maxSteps);
        EXPECT_LE(stage.w * 16, t.maxValueBytes);
        int64_t value = values + headerBytes(stage.z) / 8;
        for (int32_t step = 0; step < stage.z; ++step)
          for (int32_t row = 0; row < sumRows; ++row) {
            const int32_t has = header[1 + step] >> 4 * row & 15;
            for (int32_t i = 0; i < 2; ++i)
              for (int32_t p = 0; row == r && p < points; ++p)
                if (has & 1 << i)
                  sums[p] += valueOf(t.values, value + i) *
                             at(k, stage.x, stage.y + first + 2 * step + i + p);
            value += has ? 2 : 0;
          }
        values += stage.w * 2;
        EXPECT_EQ(value, values) << "values of a stage";
      }
    for (int32_t p = 0; p < points; ++p) {
      double &to =
          y[t.rowPlaces[group.z + r] + int64_t(first + p) * lattice.phases];
      EXPECT_TRUE(std::isnan(to)) << "written twice";
      to = sums[p];
    }
  }

  const disco_kernel_psi &psi;
  const reference::Operator &op;
  const Lattice lattice;
  std::vector<double> x;
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
    emulator.check(emulator.contractSum(), true);
  }
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
