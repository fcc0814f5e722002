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
#include <fstream>
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
static double timeThreads(int threads, Clock clock, Body &&body) {
  std::atomic<int> waiting{threads};
  std::vector<double> seconds(static_cast<size_t>(threads));
  std::vector<std::thread> all;
  all.reserve(static_cast<size_t>(threads));
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      --waiting;
      while (waiting > 0)
        std::this_thread::yield();
      const auto now = [&] {
        return clock == Clock::cpu ? threadCpuMs() : wallMs();
      };
      const double start = now();
      body(i);
      seconds[i] = (now() - start) / 1e3;
    });
  for (std::thread &thread : all)
    thread.join();
  return *std::max_element(seconds.begin(), seconds.end());
}

/// The best of some repeats: a bound is what is possible.
template <typename Body> static double best(int repeats, Body &&body) {
  double result = body();
  for (int i = 1; i < repeats; ++i)
    result = std::max(result, body());
  return result;
}

static double copyRate(int threads, Clock clock) {
  constexpr size_t size = 128 << 20;
  std::vector<std::vector<char>> from(threads), to(threads);
  for (int i = 0; i < threads; ++i) {
    from[i].assign(size, 1);
    to[i].assign(size, 2);
  }
  return best(15, [&] {
    const double seconds = timeThreads(threads, clock, [&](int i) {
      std::memcpy(to[i].data(), from[i].data(), size);
    });
    return 2.0 * size * threads / seconds / 1e9;
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

static double fmaRate(const std::string &isa, bool isDouble, int threads,
                      Clock clock) {
  constexpr int64_t steps = 3000000;
  return best(15, [&] {
    std::vector<double> flop(static_cast<size_t>(threads));
    const double seconds = timeThreads(
        threads, clock, [&](int i) { flop[i] = runFma(isa, isDouble, steps); });
    double total = 0;
    for (double f : flop)
      total += f;
    return total / seconds / 1e9;
  });
}

/// 512 -> 512 channels at 8 x 1440 points, each its own only tap.
static double gemmRate(bool isDouble, int threads, Clock clock) {
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
  if (!psi || !x || !y || !w)
    return 0;
  disco_kernel_call call = makeKernelCall(DISCO_OP_CONV, *psi, dtype);
  call.batch = 1;
  call.channels = call.out_channels = channels;
  call.num_threads = threads;
  call.x = x->bytes.data();
  call.y = y->bytes.data();
  call.weight = w->bytes.data();
  return best(15, [&] {
    const auto now = [&] {
      return clock == Clock::cpu ? processCpuMs() / threads : wallMs();
    };
    const double start = now();
    if (!runKernel(*family, call))
      return 0.0;
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

Machine measureMachine(int threads, bool isDouble, Clock clock) {
  Machine machine;
  machine.threads = threads;
  machine.clock = clock;
  machine.isa = disco_cpu_gather_isa();
  machine.processor = processorName();
  machine.copyGbs = copyRate(threads, clock);
  machine.fmaGflops = fmaRate(machine.isa, isDouble, threads, clock);
  machine.gemmGflops = gemmRate(isDouble, threads, clock);
  return machine;
}

} // namespace disco::bench
