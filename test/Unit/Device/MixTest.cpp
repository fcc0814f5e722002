//===- MixTest.cpp - the tiles of the channel mix -------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Runtime/CUDA/CsrGather/Mix.h"
#include "disco/ABI/Families/CsrGatherMix.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace disco::cuda::csr;

TEST(CsrGatherMix, TilesOfPlansAreThoseOfTheKernels) {
  EXPECT_EQ(mixThreads, DISCO_CSR_GATHER_MIX_THREADS);
  for (const int size : {2, 4, 8})
    for (const bool isFlat : {false, true}) {
      const ProductTile tile = productTile(size, isFlat);
      EXPECT_EQ(tile.m, disco_csr_gather_mix_rows(isFlat));
      EXPECT_EQ(tile.n, disco_csr_gather_mix_columns(size, isFlat));
      EXPECT_EQ(tile.k, disco_csr_gather_mix_depth(size));
      EXPECT_EQ(tile.stages, disco_csr_gather_mix_stages(size));
    }
}

/// No other size of blocks that is tried takes fewer waves, and no greater one
/// as few.
TEST(CsrGatherMix, BlocksOfRowsTakeTheFewestWaves) {
  for (const int64_t rows : {1, 2, 45, 90, 721})
    for (const int64_t points : {1, 90, 361, 1440})
      for (const int64_t most : {int64_t(1), rows / 3 + 1, rows}) {
        const auto wavesOf = [&](int64_t n) {
          int64_t waves = 0;
          for (int64_t first = 0; first < rows; first += n) {
            const int64_t block = std::min(n, rows - first) * points;
            waves += (2 * ((block + 127) / 128) + 263) / 264;
          }
          return waves;
        };
        const int64_t got =
            disco_csr_gather_balanced_rows(rows, points, most, 1, 2, 128, 264);
        ASSERT_LE(got, most);
        ASSERT_GE(2 * got, most);
        for (int64_t n = (most + 1) / 2; n <= most; ++n)
          EXPECT_TRUE(n > got ? wavesOf(n) > wavesOf(got)
                              : wavesOf(n) >= wavesOf(got))
              << rows << " rows of " << points << ": " << n << " instead of "
              << got;
      }
}
