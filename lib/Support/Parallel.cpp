//===- Parallel.cpp - loops over threads ----------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Support/Parallel.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

static std::atomic<int> requestedThreads{0};

/// More threads than this are no help to anyone.
static constexpr int maxThreads = 256;

/// The value of DISCO_NUM_THREADS, or 0 where it is no positive number.
static int threadsFromEnvironment() {
  const char *text = std::getenv("DISCO_NUM_THREADS");
  if (!text)
    return 0;
  int count = 0;
  const char *end = text + std::strlen(text);
  auto [next, code] = std::from_chars(text, end, count);
  return code == std::errc() && next == end && count > 0 ? count : 0;
}

int disco::numThreads() {
  int count = requestedThreads;
  if (count <= 0)
    count = threadsFromEnvironment();
  if (count <= 0)
    count = static_cast<int>(std::thread::hardware_concurrency());
  return std::min(std::max(count, 1), maxThreads);
}

void disco::setNumThreads(int count) { requestedThreads = std::max(count, 0); }

/// False where the system has no thread, or no memory for one, left.
static bool startThread(std::vector<std::thread> &threads,
                        const std::function<void()> &work) {
  try {
    threads.emplace_back(work);
    return true;
  } catch (const std::system_error &) {
    return false;
  } catch (const std::bad_alloc &) {
    return false;
  }
}

void disco::parallelFor(int64_t count, int64_t grain,
                        const std::function<void(int64_t)> &body) {
  if (count <= 0)
    return;
  grain = std::max<int64_t>(grain, 1);
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  auto work = [&] {
    try {
      for (;;) {
        int64_t begin = next.fetch_add(grain);
        if (begin >= count)
          return;
        int64_t end = std::min(count, begin + grain);
        for (int64_t i = begin; i < end; ++i)
          body(i);
      }
    } catch (...) {
      next = count;
      std::lock_guard<std::mutex> lock(mutex);
      if (!failure)
        failure = std::current_exception();
    }
  };

  int64_t chunks = (count - 1) / grain + 1;
  int64_t wanted = std::min<int64_t>(numThreads(), chunks);
  std::vector<std::thread> threads;
  threads.reserve(wanted - 1);
  // With fewer threads than wanted, the ones there are do all the work.
  while (static_cast<int64_t>(threads.size()) + 1 < wanted)
    if (!startThread(threads, work))
      break;
  work();
  for (std::thread &thread : threads)
    thread.join();
  if (failure)
    std::rethrow_exception(failure);
}
