//===- ParallelTest.cpp - loops over threads ------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Support/Parallel.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

using namespace disco;

namespace {

/// Restores the number of threads and the environment.
class ParallelTest : public testing::Test {
protected:
  void TearDown() override {
    setNumThreads(0);
    ::unsetenv("DISCO_NUM_THREADS");
  }
};

TEST_F(ParallelTest, EveryIterationRunsOnce) {
  for (int threads : {1, 2, 9})
    for (int64_t grain : {-1, 1, 7, 1000000}) {
      setNumThreads(threads);
      std::vector<int> visits(1001);
      parallelFor(1001, grain, [&](int64_t i) { ++visits[i]; });
      EXPECT_EQ(visits, std::vector<int>(1001, 1)) << threads << " " << grain;
    }
}

TEST_F(ParallelTest, EmptyLoopsRunNothing) {
  parallelFor(0, 1, [](int64_t) { FAIL(); });
  parallelFor(-5, 1, [](int64_t) { FAIL(); });
}

TEST_F(ParallelTest, ArgumentGoesBeforeEnvironmentBeforeHardware) {
  int hardware = numThreads();
  EXPECT_GE(hardware, 1);
  ::setenv("DISCO_NUM_THREADS", "3", 1);
  EXPECT_EQ(numThreads(), 3);
  setNumThreads(5);
  EXPECT_EQ(numThreads(), 5);
  setNumThreads(-1);
  EXPECT_EQ(numThreads(), 3);
  for (const char *bad : {"", "0", "-2", "x", "3x", "99999999999"}) {
    ::setenv("DISCO_NUM_THREADS", bad, 1);
    EXPECT_EQ(numThreads(), hardware) << bad;
  }
  setNumThreads(1 << 30);
  EXPECT_EQ(numThreads(), 256);
}

TEST_F(ParallelTest, ExceptionsOfIterationsReachTheCaller) {
  for (int threads : {1, 4}) {
    setNumThreads(threads);
    EXPECT_THROW(parallelFor(1000, 1,
                             [](int64_t i) {
                               if (i == 17)
                                 throw std::runtime_error("17");
                             }),
                 std::runtime_error);
  }
}

} // namespace
