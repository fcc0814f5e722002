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
