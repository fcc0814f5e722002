//===- ThreadPool.cpp - the threads of the runtime ------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadPool.h"

#include "../Core/Internal.h"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <charconv>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace disco::runtime {

static constexpr int maxThreads = 256;

/// Of the process, not of the calling thread: a workspace may be sized by a
/// thread that is tied to one processor and used by another that is not.
static int numProcessors() {
  cpu_set_t set;
  if (sched_getaffinity(getpid(), sizeof set, &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// Digits and nothing else.
static bool parseThreads(const char *text, int &count) {
  const char *end = text + std::strlen(text);
  const auto [next, code] = std::from_chars(text, end, count);
  return code == std::errc() && next == end && count >= 1 &&
         count <= maxThreads;
}

disco_status resolveThreads(int requested, int &count) {
  const char *text = std::getenv("DISCO_NUM_THREADS");
  if (requested < 0 || requested > maxThreads)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected the number of threads to be in [0, %d], but got %d",
                maxThreads, requested);
  if (requested > 0)
    count = requested;
  else if (!text || !*text)
    count = std::min(numProcessors(), maxThreads);
  else if (!parseThreads(text, count))
    return fail(DISCO_INVALID_ARGUMENT,
                "expected the environment variable DISCO_NUM_THREADS to be "
                "a number in [1, %d], but got '%.100s'",
                maxThreads, text);
  return DISCO_OK;
}

namespace {

/// How a thread rounds, and what it makes of subnormal numbers: of the unit
/// that the kernels compute with only, since that is read and set in a few
/// cycles.
class FloatingPointMode {
public:
#if defined(__x86_64__)
  FloatingPointMode() : control(__builtin_ia32_stmxcsr()) {}
  void apply() const { __builtin_ia32_ldmxcsr(control); }

private:
  unsigned control;
#else
  FloatingPointMode() { std::fegetenv(&environment); }
  void apply() const { std::fesetenv(&environment); }

private:
  std::fenv_t environment;
#endif
};

/// A loop, on the stack of the thread that asked for it.
struct Loop {
  void (*body)(void *, int64_t, int);
  void *context;
  int64_t count;
  const FloatingPointMode mode; ///< of the caller, for all that take part
  std::atomic<int64_t> next{0};
  // Guarded by the pool's mutex:
  int maxThreads;
  int threads = 1; ///< that ever took part; the first is the caller
  int active = 0;  ///< workers in it now
  Loop *later = nullptr;
  std::condition_variable idle;

  void work(int thread) {
    for (;;) {
      const int64_t task = next.fetch_add(1, std::memory_order_relaxed);
      if (task >= count)
        return;
      body(context, task, thread);
    }
  }

  bool wantsThreads() const {
    return threads < maxThreads && next.load(std::memory_order_relaxed) < count;
  }
};

class Pool {
public:
  void run(Loop &loop) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      startWorkers(loop.maxThreads - 1);
      Loop **end = &loops;
      while (*end)
        end = &(*end)->later;
      *end = &loop;
    }
    if (loop.maxThreads == 2)
      wanted.notify_one();
    else
      wanted.notify_all();
    loop.work(0);
    std::unique_lock<std::mutex> lock(mutex);
    Loop **link = &loops;
    while (*link != &loop)
      link = &(*link)->later;
    *link = loop.later;
    loop.idle.wait(lock, [&] { return loop.active == 0; });
  }

private:
  /// Starts workers until there are `count`, or as many as can be: those there
  /// are do all the work. They inherit that all signals are blocked, which are
  /// for the threads of the program.
  void startWorkers(int count) {
    if (numWorkers >= count)
      return;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (numWorkers < count && startWorker())
      ++numWorkers;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  /// Whether a thread could be started.
  bool startWorker() {
    try {
      std::thread([this] { serve(); }).detach();
      return true;
    } catch (const std::system_error &) {
      return false;
    } catch (const std::bad_alloc &) {
      return false;
    }
  }

  void serve() {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      Loop *loop = loops;
      while (loop && !loop->wantsThreads())
        loop = loop->later;
      if (!loop) {
        wanted.wait(lock);
        continue;
      }
      const int thread = loop->threads++;
      ++loop->active;
      lock.unlock();
      loop->mode.apply();
      loop->work(thread);
      lock.lock();
      if (--loop->active == 0)
        loop->idle.notify_one();
    }
  }

  std::mutex mutex;
  std::condition_variable wanted;
  Loop *loops = nullptr;
  int numWorkers = 0;
};

/// The pool is never destroyed: workers use it until the process ends.
alignas(Pool) unsigned char poolMemory[sizeof(Pool)];

/// In the child of a fork() there are no workers, and another thread may have
/// held the mutex: nothing of the pool is of use but its memory.
void makePool() { new (poolMemory) Pool; }

/// When the library is loaded, not when first used: a fork() in the middle of
/// that would leave the child waiting for the one who makes it.
[[gnu::constructor]] void prepareForForks() {
  makePool();
  pthread_atfork(nullptr, nullptr, makePool);
}

} // namespace

void parallelTasks(int numThreads, int64_t count,
                   void (*body)(void *context, int64_t task, int thread),
                   void *context) {
  const int threads = static_cast<int>(
      std::min<int64_t>(std::min(numThreads, maxThreads), count));
  if (threads <= 1) {
    for (int64_t task = 0; task < count; ++task)
      body(context, task, 0);
    return;
  }
  Loop loop;
  loop.body = body;
  loop.context = context;
  loop.count = count;
  loop.maxThreads = threads;
  std::launder(reinterpret_cast<Pool *>(poolMemory))->run(loop);
}

} // namespace disco::runtime
