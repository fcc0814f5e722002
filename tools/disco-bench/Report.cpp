//===- Report.cpp - tables, JSON lines and pages --------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <thread>

namespace disco::bench {

[[gnu::format(printf, 1, 2)]] static std::string format(const char *text, ...) {
  char buffer[1024];
  va_list arguments;
  va_start(arguments, text);
  std::vsnprintf(buffer, sizeof buffer, text, arguments);
  va_end(arguments);
  return buffer;
}

static const char *orderOf(const Measurement &m) {
  if (m.work.op < DISCO_OP_CONV)
    return "-";
  return m.work.order == DISCO_WEIGHT_FIRST ? "weight_first" : "filter_first";
}

static double gflops(const Measurement &m) {
  return (m.work.filterFlop + m.work.mixFlop) / m.ms() / 1e6;
}
static double gbs(const Measurement &m) { return m.work.bytes / m.ms() / 1e6; }
/// (third quartile - first quartile) / median
static double spread(const Measurement &m) {
  const auto &sorted = m.clock == Clock::wall ? m.times.wall : m.times.cpu;
  return (sorted[sorted.size() * 3 / 4] - sorted[sorted.size() / 4]) /
         m.times.median(sorted);
}

std::string toJson(const Machine &m) {
  return format("{\"machine\": \"%s\", \"isa\": \"%s\", \"threads\": %d, "
                "\"sums\": \"%s\", \"clock\": \"%s\", \"copy_gbs\": %.2f, "
                "\"fma_gflops\": %.1f, "
                "\"gemm_gflops\": "
                "%.1f}",
                m.processor.c_str(), m.isa.c_str(), m.threads,
                m.isDouble ? "f64" : "f32",
                m.clock == Clock::wall ? "wall" : "cpu", m.copyGbs, m.fmaGflops,
                m.gemmGflops);
}

std::string toJson(const Measurement &m, const Machine &machine) {
  const Accuracy &a = m.accuracy;
  std::string text = format(
      "{\"problem\": \"%s\", \"family\": \"%s\", \"direction\": \"%s\", "
      "\"dtype\": \"%s\", \"batch\": %lld, \"threads\": %d, \"order\": \"%s\", "
      "\"isa\": \"%s\", \"median_ms\": %.4f, \"min_ms\": %.4f, \"max_ms\": "
      "%.4f, \"repeats\": %zu, \"median_cpu_ms\": %.4f, \"gflop\": %.4f, "
      "\"gflops\": %.2f, \"gbytes\": %.4f, \"gbs\": %.2f, \"bound_ms\": %.4f, "
      "\"predicted_ms\": %.4f, \"of_bound\": %.4f, \"workspace_bytes\": %llu",
      m.problem.c_str(), m.family.c_str(),
      std::string(nameOf(m.settings.direction)).c_str(),
      std::string(nameOf(m.settings.dtype)).c_str(),
      static_cast<long long>(m.settings.batch), machine.threads, orderOf(m),
      machine.isa.c_str(), m.times.median(m.times.wall), m.times.wall.front(),
      m.times.wall.back(), m.times.wall.size(), m.times.median(m.times.cpu),
      (m.work.filterFlop + m.work.mixFlop) / 1e9, gflops(m), m.work.bytes / 1e9,
      gbs(m), m.boundMs, m.predictedMs, m.boundMs / m.ms(),
      static_cast<unsigned long long>(m.workspace));
  text += format(", \"error\": %.3e, \"error_bound\": %.3e, "
                 "\"elements_checked\": %lld, \"all_checked\": %s, \"ok\": %s",
                 a.error, a.bound, static_cast<long long>(a.elements),
                 a.isComplete ? "true" : "false", a.ok ? "true" : "false");
  if (m.extraMemory)
    text += format(", \"extra_memory_bytes\": %llu",
                   static_cast<unsigned long long>(*m.extraMemory));
  if (a.againstF32)
    text += format(", \"against_f32\": %.3e", *a.againstF32);
  return text + "}";
}

std::string tableHeader() {
  return format("%-13s %-12s %-5s %3s %3s %-12s %10s %6s %10s %9s %7s %10s "
                "%10s %6s %8s %9s %s",
                "problem", "direction", "dtype", "B", "thr", "order",
                "median ms", "spread", "cpu ms", "GFLOP/s", "GB/s", "bound ms",
                "predict ms", "bound%", "work MB", "error", "check");
}

std::string toTableLine(const Measurement &m) {
  const Accuracy &a = m.accuracy;
  std::string check = a.ok ? (a.isComplete ? "ok" : "ok (sample)") : "WRONG";
  if (a.againstF32)
    check += format(", f32 %.1e", *a.againstF32);
  return format(
      "%-13s %-12s %-5s %3lld %3d %-12s %10.3f %5.1f%% %10.3f %9.1f "
      "%7.2f %10.3f %10.3f %5.0f%% %8.1f %9.2e %s",
      m.problem.c_str(), std::string(nameOf(m.settings.direction)).c_str(),
      std::string(nameOf(m.settings.dtype)).c_str(),
      static_cast<long long>(m.settings.batch), m.settings.threads, orderOf(m),
      m.ms(), spread(m) * 100, m.times.median(m.times.cpu), gflops(m), gbs(m),
      m.boundMs, m.predictedMs, m.boundMs / m.ms() * 100,
      static_cast<double>(m.workspace) / 1e6, a.error, check.c_str());
}

std::string toPage(const std::vector<Machine> &machines,
                   const std::vector<Measurement> &measurements,
                   const std::string &command) {
  char date[16] = "";
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  if (gmtime_r(&now, &utc))
    std::strftime(date, sizeof date, "%Y-%m-%d", &utc);
  std::string page =
      "# cpu_gather on a CPU\n\n"
      "Written on " +
      std::string(date) + " by `" + command + "` on a machine with " +
      std::to_string(std::thread::hardware_concurrency()) +
      " processors; every answer was checked against float64 in the same "
      "process.\n\n"
      "Bounds of the machine, measured in the same run:\n\n"
      "| processor | instructions | threads | sums | copy GB/s | FMA GFLOP/s "
      "| matrix product GFLOP/s |\n|---|---|---|---|---|---|---|\n";
  for (const Machine &m : machines)
    page += format("| %s | %s | %d | %s | %.1f | %.0f | %.0f |\n",
                   m.processor.c_str(), m.isa.c_str(), m.threads,
                   m.isDouble ? "f64" : "f32", m.copyGbs, m.fmaGflops,
                   m.gemmGflops);
  page +=
      "\nThe bound of a problem is the larger of bytes (each tensor once) "
      "by the copy rate and useful FLOP by the FMA rate. CPU is the "
      "processor time of all threads; with --clock cpu the median is that "
      "divided by the number of threads, because other programs ran. "
      "Predicted is what planning's cost model says with the machine's "
      "measured rates. Extra memory is the workspace, or where that is more "
      "the "
      "peak of the runs less what was resident before, operands included.\n\n"
      "| problem | direction | dtype | batch | threads | order | median ms "
      "| CPU ms | GFLOP/s | GB/s | bound ms | predicted ms | bound / "
      "median | extra MB | error | against f32 |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Measurement &m : measurements)
    page += format(
        "| %s | %s | %s | %lld | %d | %s | %.2f | %.2f | %.1f | %.2f | %.2f | "
        "%.2f | %.2f | %s | %.1e%s | %s |\n",
        m.problem.c_str(), std::string(nameOf(m.settings.direction)).c_str(),
        std::string(nameOf(m.settings.dtype)).c_str(),
        static_cast<long long>(m.settings.batch), m.settings.threads,
        orderOf(m), m.ms(), m.times.median(m.times.cpu), gflops(m), gbs(m),
        m.boundMs, m.predictedMs, m.boundMs / m.ms(),
        m.extraMemory
            ? format("%.1f", static_cast<double>(*m.extraMemory) / 1e6).c_str()
            : "-",
        m.accuracy.error, m.accuracy.ok ? "" : " (wrong)",
        m.accuracy.againstF32 ? format("%.1e", *m.accuracy.againstF32).c_str()
                              : "");
  return page;
}

} // namespace disco::bench
