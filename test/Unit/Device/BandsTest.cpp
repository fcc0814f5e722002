//===- BandsTest.cpp - psi packed for the tensor cores --------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel is done here in float64, one multiplication after the other, from
// the same packed form: what it reads, in which order, and where results go.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Runtime/CUDA/ToeplitzWgmma/Bands.h"
#include "../Runtime/CpuGatherTestUtil.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <set>

using namespace disco;
using namespace disco::test;
using namespace disco::toeplitz_wgmma;
using reference::Tensor;

namespace {

/// The slab and the sums of one tile of one channel.
class Emulation {
public:
  Emulation(const Bands &bands, const Tensor &x, DType type)
      : bands(bands), s(bands.shape), x(x), type(type) {}

  /// y [planes of all blocks, nlatOut, nlonOut] of the channel that begins at
  /// `first` of x.
  std::vector<double> run(int64_t first);
  int64_t maxSlabPoints = 0;

private:
  void computePiece(const Piece &piece, int64_t first, int64_t shift);
  void store(const uint32_t *header, int64_t firstLongitude,
             std::vector<double> &y);

  const Bands &bands;
  const Shape &s;
  const Tensor &x;
  DType type;
  std::vector<double> slab, sums;
};

} // namespace

void Emulation::computePiece(const Piece &piece, int64_t first, int64_t shift) {
  // What no window fills must not be read, not even times zero.
  slab.assign(s.slabBytes / pointBytes,
              std::numeric_limits<double>::quiet_NaN());
  for (uint32_t i = 0; i < piece.numWindows; ++i) {
    const Window &w = bands.windows[piece.firstWindow + i];
    ASSERT_LE(w.slabPoint + w.points, static_cast<int32_t>(slab.size()));
    ASSERT_LT(w.start, s.nlonIn);
    for (int64_t j = 0; j < w.points; ++j)
      slab[w.slabPoint + j] =
          x.data[first + w.plane * s.nlonIn + (w.start + shift + j) % s.nlonIn];
  }
  const uint8_t *band =
      bands.bands.data() + static_cast<size_t>(piece.band) * headerBytes;
  const auto *header = reinterpret_cast<const uint32_t *>(band);
  ASSERT_EQ(header[0], piece.steps);
  ASSERT_LE(headerBytes + piece.steps * stepBytes,
            static_cast<uint32_t>(s.bandBytes));
  for (uint32_t step = 0; step < piece.steps; ++step) {
    const uint32_t points = header[headerWords + step];
    for (int64_t half = 0; half < 2; ++half) {
      const int64_t point = (points & 0xffff) + half * (points >> 16);
      const void *a =
          band + headerBytes + step * stepBytes + half * stepBytes / 2;
      for (int64_t m = 0; m < tileRows; ++m)
        for (int64_t c = 0; c < blockColumns; ++c)
          for (int64_t g = 0; g < s.groups; ++g)
            sums[m * s.groups + g] +=
                loadAsDouble(a, type, m * blockColumns + c) *
                slab[point + c + g * s.longitudes * s.stride];
    }
  }
}

void Emulation::store(const uint32_t *header, int64_t firstLongitude,
                      std::vector<double> &y) {
  for (uint32_t q = 0; q < header[3]; ++q)
    for (int64_t g = 0; g < s.groups; ++g)
      for (int64_t t = 0; t < s.groupPoints; ++t) {
        const int64_t lon = firstLongitude * s.phases + g * s.groupPoints + t;
        if (lon >= s.nlonOut)
          continue;
        const int64_t plane =
            s.sum ? header[2] + q : q * int64_t(s.nlatOut) + header[2];
        y[plane * s.nlonOut + lon] =
            header[1] & pieceEmpty
                ? 0
                : sums[(q * s.groupPoints + t) * s.groups + g];
      }
}

std::vector<double> Emulation::run(int64_t first) {
  std::vector<double> y(int64_t(s.sum ? 1 : s.numBasis) * s.nlatOut * s.nlonOut,
                        std::numeric_limits<double>::quiet_NaN());
  const int64_t tile = s.groups * s.longitudes;
  for (uint32_t block : bands.order)
    for (int64_t lon = 0; lon < s.nlonOut / s.phases; lon += tile) {
      sums.assign(tileRows * s.groups, 0);
      const uint32_t end = bands.blockPieces[block + 1];
      for (uint32_t i = bands.blockPieces[block]; i < end; ++i)
        computePiece(bands.pieces[i], first, lon * s.stride);
      const uint8_t *last =
          bands.bands.data() +
          static_cast<size_t>(bands.pieces[end - 1].band) * headerBytes;
      const auto *header = reinterpret_cast<const uint32_t *>(last);
      EXPECT_TRUE(header[1] & pieceLast);
      store(header, lon, y);
    }
  return y;
}

/// Packs a random operator and compares what the kernel would compute.
static void checkCase(int64_t K, int64_t nlatIn, int64_t nlonIn,
                      int64_t nlatOut, int64_t nlonOut, bool sum,
                      const Choice &choice, int64_t longest = INT64_MAX) {
  SCOPED_TRACE(::testing::Message()
               << "K " << K << ", " << nlatIn << "x" << nlonIn << " -> "
               << nlatOut << "x" << nlonOut << (sum ? " sum" : "") << ", rows "
               << choice.rows << ", groups " << choice.groups);
  std::mt19937 random(static_cast<unsigned>(K * 1000 + nlonIn));
  const TestPsi psi = sphereCase(
      randomSphere(random, K, nlatIn, nlonIn, nlatOut, nlonOut, longest),
      DType::bf16);
  const Result<Bands> bands =
      buildBands(psi.tables.view(), sum, DType::bf16, choice);
  ASSERT_TRUE(bands.ok()) << bands.message();
  ASSERT_LE(smemBytes(bands->shape), DISCO_TOEPLITZ_WGMMA_SMEM_BYTES);
  ASSERT_EQ(std::set<uint32_t>(bands->order.begin(), bands->order.end()).size(),
            static_cast<size_t>(bands->shape.blocks));
  std::vector<int64_t> shape = {1, 2, nlatIn, nlonIn};
  if (sum)
    shape.insert(shape.begin() + 2, K);
  Tensor x = Tensor::zeros(shape);
  std::normal_distribution<double> normal;
  for (double &value : x.data)
    value = normal(random);
  const Tensor expected = *(sum ? reference::contractSum(psi.op, x)
                                : reference::contract(psi.op, x));
  Emulation emulation(*bands, x, DType::bf16);
  for (int64_t c = 0; c < 2; ++c) {
    const std::vector<double> y = emulation.run(c * x.size() / 2);
    ASSERT_EQ(2 * y.size(), expected.data.size());
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_NEAR(y[i], expected.data[c * y.size() + i], 1e-9) << "at " << i;
  }
}

TEST(ToeplitzBandsTest, EveryNumberOfFeaturesOfContract) {
  for (int64_t K : {1, 2, 3, 4, 6, 9, 10, 13, 16, 20, 25, 33, 64})
    checkCase(K, 6, 24, 5, 24, false, {});
}

TEST(ToeplitzBandsTest, StridesAndPhases) {
  for (bool sum : {false, true}) {
    checkCase(9, 5, 40, 4, 20, sum, {});
    checkCase(4, 5, 45, 4, 9, sum, {});
    checkCase(9, 4, 20, 7, 40, sum, {});
    checkCase(5, 4, 9, 3, 45, sum, {});
  }
}

TEST(ToeplitzBandsTest, OddNumbersOfLongitudes) {
  for (bool sum : {false, true})
    for (int64_t nlon : {1, 2, 7, 13, 90, 361})
      checkCase(3, 3, nlon, 4, nlon, sum, {});
}

TEST(ToeplitzBandsTest, RowsAndGroups) {
  for (int64_t rows : {1, 2, 4, 8, 16})
    for (int64_t groups : {1, 2, 4, 9, 18})
      checkCase(3, 17, 48, 17, 48, true, {rows, groups, 0}, 5);
}

TEST(ToeplitzBandsTest, LongArcsAreCutIntoPieces) {
  checkCase(9, 3, 1440, 2, 1440, false, {});
  checkCase(2, 3, 1440, 2, 720, true, {1, 9, 0});
}
