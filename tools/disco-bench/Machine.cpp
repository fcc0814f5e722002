//===- Machine.cpp - what the machine can do ------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "disco/Filter/SphereOperator.h"
#include "disco/Runtime/KernelCall.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace disco::bench {

static double cpuMs(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) * 1e3 +
         static_cast<double>(t.tv_nsec) * 1e-6;
}
double threadCpuMs() { return cpuMs(CLOCK_THREAD_CPUTIME_ID); }
double processCpuMs() { return cpuMs(CLOCK_PROCESS_CPUTIME_ID); }

static double wallMs() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Runs body(thread) on so many threads at once, from a common start; the
/// seconds that the slowest took.
template <typename Body>
static Result<double> timeThreads(int threads, Clock clock, Body &&body) {
  std::atomic<int> waiting{threads};
  std::atomic<bool> givenUp{false};
  std::vector<double> seconds(static_cast<size_t>(threads));
  std::vector<std::thread> all;
  all.reserve(static_cast<size_t>(threads));
  const auto work = [&](int i) {
    --waiting;
    while (waiting > 0 && !givenUp)
      std::this_thread::yield();
    if (givenUp)
      return;
    const auto now = [&] {
      return clock == Clock::cpu ? threadCpuMs() : wallMs();
    };
    const double start = now();
    body(i);
    seconds[i] = (now() - start) / 1e3;
  };
  std::string failure;
  try {
    for (int i = 0; i < threads; ++i)
      all.emplace_back(work, i);
  } catch (const std::exception &e) { // system_error or bad_alloc
    givenUp = true;
    failure = "cannot start " + std::to_string(threads) + " threads, but " +
              std::to_string(all.size()) + ": " + e.what();
  }
  for (std::thread &thread : all)
    thread.join();
  if (givenUp)
    return Error{failure};
  return *std::max_element(seconds.begin(), seconds.end());
}

/// The best of some repeats: a bound is what is possible.
template <typename Body> static Result<double> best(int repeats, Body &&body) {
  Result<double> result = body();
  for (int i = 1; result && i < repeats; ++i) {
    Result<double> next = body();
    if (!next)
      return next;
    *result = std::max(*result, *next);
  }
  return result;
}

/// All threads copy at once, 128 MiB each, or where they are more than four as
/// much as that together.
static Result<double> copyRate(int threads, Clock clock) {
  const size_t size = (size_t(512) << 20) / std::max(threads, 4);
  const size_t total = size * threads;
  const std::unique_ptr<char[]> from(new (std::nothrow) char[total]);
  const std::unique_ptr<char[]> to(new (std::nothrow) char[total]);
  if (!from || !to)
    return Error{"out of memory: cannot allocate " + std::to_string(2 * total) +
                 " bytes to measure the copy rate of " +
                 std::to_string(threads) + " threads"};
  std::memset(from.get(), 1, total);
  std::memset(to.get(), 2, total);
  return best(15, [&]() -> Result<double> {
    Result<double> seconds = timeThreads(threads, clock, [&](int i) {
      std::memcpy(to.get() + i * size, from.get() + i * size, size);
    });
    if (!seconds)
      return seconds;
    return 2.0 * static_cast<double>(total) / *seconds / 1e9;
  });
}

#define DISCO_FMA_LOOP(NAME, TARGET, T, BYTES)                                 \
  TARGET static T NAME(int64_t steps, T scale) {                               \
    typedef T V __attribute__((vector_size(BYTES)));                           \
    V sums[12], factor = scale - V{}, other = scale - V{};                     \
    for (V &sum : sums)                                                        \
      sum = factor;                                                            \
    for (int64_t i = 0; i < steps; ++i) {                                      \
      _Pragma("GCC unroll 12") for (int j = 0; j < 12; ++j) sums[j] =          \
          sums[j] * factor + other;                                            \
      __asm__ volatile("" : "+x"(factor));                                     \
    }                                                                          \
    for (int j = 1; j < 12; ++j)                                               \
      sums[0] += sums[j];                                                      \
    return sums[0][0];                                                         \
  }
DISCO_FMA_LOOP(fmaBaseline32, , float, 16)
DISCO_FMA_LOOP(fmaBaseline64, , double, 16)
#if defined(__x86_64__)
DISCO_FMA_LOOP(fmaAvx2_32, __attribute__((target("avx2,fma"))), float, 32)
DISCO_FMA_LOOP(fmaAvx2_64, __attribute__((target("avx2,fma"))), double, 32)
DISCO_FMA_LOOP(fmaAvx512_32, __attribute__((target("avx512f"))), float, 64)
DISCO_FMA_LOOP(fmaAvx512_64, __attribute__((target("avx512f"))), double, 64)
#endif
#undef DISCO_FMA_LOOP

/// FLOP done in `steps` steps by the loop for this instruction set.
static double runFma(const std::string &isa, bool isDouble, int64_t steps) {
  volatile double sink = 0;
  const double perVector = 2.0 * 12 * static_cast<double>(steps);
#if defined(__x86_64__)
  if (isa == "avx512") {
    sink = isDouble ? fmaAvx512_64(steps, 0.5) : fmaAvx512_32(steps, 0.5f);
    return perVector * (isDouble ? 8 : 16);
  }
  if (isa == "avx2") {
    sink = isDouble ? fmaAvx2_64(steps, 0.5) : fmaAvx2_32(steps, 0.5f);
    return perVector * (isDouble ? 4 : 8);
  }
#endif
  sink = isDouble ? fmaBaseline64(steps, 0.5) : fmaBaseline32(steps, 0.5f);
  (void)sink;
  return perVector * (isDouble ? 2 : 4);
}

static Result<double> fmaRate(const std::string &isa, bool isDouble,
                              int threads, Clock clock) {
  constexpr int64_t steps = 3000000;
  return best(15, [&]() -> Result<double> {
    std::vector<double> flop(static_cast<size_t>(threads));
    Result<double> seconds = timeThreads(
        threads, clock, [&](int i) { flop[i] = runFma(isa, isDouble, steps); });
    if (!seconds)
      return seconds;
    double total = 0;
    for (double f : flop)
      total += f;
    return total / *seconds / 1e9;
  });
}

/// 512 -> 512 channels at 8 x 1440 points, each its own only tap.
static Result<double> gemmRate(bool isDouble, int threads, Clock clock) {
  constexpr int64_t channels = 512, nlat = 8, nlon = 1440;
  filter::SphereOperator op;
  op.numBasis = 1;
  op.nlatIn = op.nlatOut = nlat;
  op.nlonIn = op.nlonOut = nlon;
  op.rowOffsets.push_back(0);
  for (int32_t lat = 0; lat < nlat; ++lat) {
    op.arcs.push_back({lat, 0, 1, lat});
    op.values.push_back(1);
    op.rowOffsets.push_back(lat + 1);
  }
  const DType dtype = isDouble ? DType::f64 : DType::f32;
  Result<PsiTables> psi = PsiTables::fromSphere(op, dtype);
  Result<Array> x = Array::create(dtype, {1, channels, nlat, nlon});
  Result<Array> y = Array::create(dtype, {1, channels, nlat, nlon});
  Result<Array> w = Array::create(dtype, {channels, channels, 1});
  const KernelFamily *family = findKernelFamily("cpu_gather");
  if (!psi)
    return psi.error();
  for (const Result<Array> *array : {&x, &y, &w})
    if (!*array)
      return Error{array->message()};
  disco_kernel_call call = makeKernelCall(DISCO_OP_CONV, *psi, dtype);
  call.batch = 1;
  call.channels = call.out_channels = channels;
  call.num_threads = threads;
  call.x = x->bytes.data();
  call.y = y->bytes.data();
  call.weight = w->bytes.data();
  return best(15, [&]() -> Result<double> {
    const auto now = [&] {
      return clock == Clock::cpu ? processCpuMs() / threads : wallMs();
    };
    const double start = now();
    if (Status s = runKernel(*family, call); !s)
      return s.error();
    return 2.0 * channels * channels * nlat * nlon / (now() - start) / 1e6;
  });
}

static std::string processorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0)
      return line.substr(line.find(':') + 2);
  return "unknown processor";
}

Result<Machine> measureMachine(int threads, bool isDouble, Clock clock) {
  Machine machine;
  machine.threads = threads;
  machine.clock = clock;
  machine.isDouble = isDouble;
  machine.isa = disco_cpu_gather_isa();
  machine.processor = processorName();
  Result<double> copy = copyRate(threads, clock);
  if (!copy)
    return copy.error();
  Result<double> fma = fmaRate(machine.isa, isDouble, threads, clock);
  if (!fma)
    return fma.error();
  Result<double> gemm = gemmRate(isDouble, threads, clock);
  if (!gemm)
    return Error{"the matrix product of the machine: " + gemm.message()};
  machine.copyGbs = *copy;
  machine.fmaGflops = *fma;
  machine.gemmGflops = *gemm;
  return machine;
}

} // namespace disco::bench
