//===- CpuGatherThreadsTest.cpp - threads, processes and memory -----------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuGatherTestConv.h"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define DISCO_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DISCO_SANITIZED
#endif
#endif

using namespace disco;
using namespace disco::test;

namespace {

TEST(CpuGatherErrors, ABadNumberOfThreadsInTheEnvironmentIsNamed) {
  Conv conv;
  conv.call.num_threads = 0;
  for (const char *bad : {"0", "-2", "x", "3x", " 2", "2 ", "+2", "257",
                          "99999999999999999999"}) {
    ::setenv("DISCO_NUM_THREADS", bad, 1);
    const Status s = runKernel(*findKernelFamily("cpu_gather"), conv.call);
    ASSERT_FALSE(s) << bad;
    EXPECT_EQ(s.message(), "expected the environment variable "
                           "DISCO_NUM_THREADS to be a number in [1, 256], "
                           "but got '" +
                               std::string(bad) + "'");
  }
  for (const char *good : {"1", "256", ""}) {
    ::setenv("DISCO_NUM_THREADS", good, 1);
    conv.run();
  }
  ::setenv("DISCO_NUM_THREADS", "x", 1);
  conv.call.num_threads = 2; // the variable is not read
  conv.run();
  ::unsetenv("DISCO_NUM_THREADS");
}

TEST(CpuGatherThreads, ARunsNumberOfThreadsCanBeAskedFor) {
  int32_t count = 77;
  ::setenv("DISCO_NUM_THREADS", "3", 1);
  EXPECT_EQ(disco_cpu_gather_threads(0, &count), DISCO_OK);
  EXPECT_EQ(count, 3);
  EXPECT_EQ(disco_cpu_gather_threads(256, &count), DISCO_OK);
  EXPECT_EQ(count, 256);
  EXPECT_EQ(disco_cpu_gather_threads(257, &count), DISCO_INVALID_ARGUMENT);
  EXPECT_STREQ(disco_last_error(),
               "expected the number of threads to be in [0, 256], but got 257");
  EXPECT_EQ(count, 256);
  ::unsetenv("DISCO_NUM_THREADS");
  EXPECT_EQ(disco_cpu_gather_threads(0, nullptr), DISCO_INVALID_ARGUMENT);
  EXPECT_STREQ(disco_last_error(),
               "expected count to be a pointer, but got null");
}

/// The ids of the threads of this process.
std::vector<int> threadIds() {
  std::vector<int> ids;
  for (const auto &entry :
       std::filesystem::directory_iterator("/proc/self/task"))
    ids.push_back(std::atoi(entry.path().filename().c_str()));
  return ids;
}

/// The signals that a thread blocks, a bit each.
uint64_t blockedSignals(int thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("SigBlk:", 0) == 0)
      return std::stoull(line.substr(7), nullptr, 16);
  ADD_FAILURE() << "no signals of thread " << thread;
  return 0;
}

TEST(CpuGatherThreads, WorkersTakeNoSignalsOfTheProgram) {
  Conv conv;
  conv.call.num_threads = 4;
  const int self = static_cast<int>(syscall(SYS_gettid));
  const uint64_t before = blockedSignals(self);
  conv.run();
  EXPECT_EQ(blockedSignals(self), before);
  int workers = 0;
  for (int id : threadIds())
    if (id != self) {
      ++workers;
      for (int signal : {SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGCHLD, SIGPROF})
        EXPECT_TRUE(blockedSignals(id) >> (signal - 1) & 1) << signal;
    }
  EXPECT_GE(workers, 3); // other tests may have started more
}

/// Runs with a few threads give what one gives.
void expectSameAsOneThread(Conv &conv, const char *mode) {
  conv.call.num_threads = 1;
  const std::vector<uint8_t> expected = conv.run();
  conv.call.num_threads = 4;
  int different = 0;
  for (int run = 0; run < 200; ++run)
    different += conv.run() != expected;
  EXPECT_EQ(different, 0) << mode;
}

TEST(CpuGatherThreads, AllComputeInTheFloatingPointModeOfTheCaller) {
  // Features are normal numbers, results subnormal ones.
  Conv conv(DType::f32, 5, 7, 240, 120);
  conv.call.has_bias = conv.call.activation = 0;
  for (int64_t i = 0; i < conv.x.numElements(); ++i)
    conv.x.set(i, conv.x.at(i) * 0x1p-100);
  for (int64_t i = 0; i < conv.weight.numElements(); ++i)
    conv.weight.set(i, conv.weight.at(i) * 0x1p-32);
  expectSameAsOneThread(conv, "to nearest"); // starts the workers
  const std::vector<uint8_t> nearest = conv.run();
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  expectSameAsOneThread(conv, "upward");
  EXPECT_NE(conv.run(), nearest);
  ASSERT_EQ(std::fesetround(FE_TONEAREST), 0);
#if defined(__x86_64__)
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040); // subnormal numbers are zeros
  expectSameAsOneThread(conv, "flushed to zero");
  const std::vector<uint8_t> flushed = conv.run();
  __builtin_ia32_ldmxcsr(before);
  EXPECT_NE(flushed, nearest);
#endif
  expectSameAsOneThread(conv, "to nearest again");
}

/// What a child process ends with: 0 when its run gives `expected`, by four
/// threads.
int exitCodeOfChild(Conv &conv, const std::vector<uint8_t> &expected) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30); // rather than wait for ever
    if (threadIds().size() != 1)
      _exit(4);
    if (conv.run() != expected)
      _exit(3);
    _exit(threadIds().size() == 4 ? 0 : 2);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child)
    return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(CpuGatherThreads, TheChildOfAForkHasWorkersOfItsOwn) {
  Conv conv;
  conv.call.num_threads = 4;
  const std::vector<uint8_t> expected = conv.run();
  EXPECT_EQ(exitCodeOfChild(conv, expected), 0);
  EXPECT_EQ(conv.run(), expected);
}

TEST(CpuGatherThreads, AForkWhileOtherThreadsRunDoesNotBlockTheChild) {
  Conv conv;
  conv.call.num_threads = 4;
  const std::vector<uint8_t> expected = conv.run();
  uint64_t bytes;
  ASSERT_EQ(disco_cpu_gather_workspace_bytes(&conv.call, &bytes), DISCO_OK);
  std::atomic<bool> stop{false};
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i)
    others.emplace_back([&] {
      const AlignedMemory workspace(bytes);
      disco_kernel_call call = conv.call;
      std::vector<uint8_t> y(expected.size());
      call.y = y.data();
      while (!stop)
        if (disco_cpu_gather_run(&call, workspace.get(), bytes) != DISCO_OK)
          stop = true;
    });
  for (int i = 0; i < 40; ++i) {
    const int code = exitCodeOfChild(conv, expected);
    EXPECT_EQ(code, 0);
    if (code != 0)
      break; // each would wait for its alarm
  }
  EXPECT_FALSE(stop);
  stop = true;
  for (std::thread &thread : others)
    thread.join();
}

TEST(CpuGatherThreads, ManyRunsAtOnceAllGiveTheSameResult) {
  constexpr int numThreads = 8, runs = 10000 / numThreads;
  Conv conv(DType::f32, 2, 3, 24, 12);
  conv.call.num_threads = 2;
  const std::vector<uint8_t> expected = conv.run();
  uint64_t bytes;
  ASSERT_EQ(disco_cpu_gather_workspace_bytes(&conv.call, &bytes), DISCO_OK);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < numThreads; ++i)
    threads.emplace_back([&] {
      AlignedMemory workspace(bytes);
      disco_kernel_call call = conv.call;
      std::vector<uint8_t> y(expected.size());
      call.y = y.data();
      for (int run = 0; run < runs; ++run) {
        std::fill(y.begin(), y.end(), uint8_t(0xff));
        if (disco_cpu_gather_run(&call, workspace.get(), bytes) == DISCO_OK &&
            y == expected)
          ++right;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, numThreads * runs);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

// Sanitizers need address space of their own.
#ifndef DISCO_SANITIZED

/// The limit of the address space is for a process of its own, which has
/// started no threads yet.
class CpuGatherMemory : public ::testing::Test {
protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  static bool limit(rlim_t bytes) {
    const rlimit limits{bytes, bytes};
    return setrlimit(RLIMIT_AS, &limits) == 0;
  }
};

TEST_F(CpuGatherMemory, WhereNoThreadCanBeStartedTheCallerDoesItAll) {
  Conv conv;
  conv.call.num_threads = 1;
  const std::vector<uint8_t> expected = conv.run();
  conv.call.num_threads = 8;
  uint64_t bytes;
  ASSERT_EQ(disco_cpu_gather_workspace_bytes(&conv.call, &bytes), DISCO_OK);
  const AlignedMemory workspace(bytes);
  conv.y = nanArray(DType::f32, conv.y.shape);
  conv.call.y = conv.y.bytes.data();
  EXPECT_EXIT(
      {
        // No stack can be mapped any more, nor anything else.
        if (!limit(0))
          _exit(4);
        if (disco_cpu_gather_run(&conv.call, workspace.get(), bytes) !=
            DISCO_OK)
          _exit(3);
        _exit(conv.y.bytes == expected ? 0 : 2);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(CpuGatherMemory, WithoutMemoryForItsWorkspaceACallIsNotRun) {
  Conv conv;
  conv.call.channels = conv.call.out_channels = 1 << 17;
  conv.call.batch = 1;
  conv.call.num_threads = 256;
  setFields(conv.call, {INT32_MAX, INT32_MAX});
  EXPECT_EXIT(
      {
        if (!limit(rlim_t(1) << 32))
          _exit(4);
        const Status s = runKernel(*findKernelFamily("cpu_gather"), conv.call);
        if (!s)
          std::fprintf(stderr, "%s", s.message().c_str());
        _exit(s ? 3 : 0);
      },
      ::testing::ExitedWithCode(0),
      "^expected [0-9]+ bytes of workspace, but there is no memory$");
}

#endif

} // namespace
