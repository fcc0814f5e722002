//===- Measure.cpp - running and timing -----------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure.h"

#include "disco/Support/Parallel.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace disco::bench {

/// A number in [-1, 1) that looks random, of 53 bits.
static double scramble(uint64_t i) {
  i = (i + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  i = (i ^ i >> 29) * 0x94d049bb133111eb;
  return static_cast<double>((i ^ i >> 32) >> 11) * 0x1p-52 - 1;
}

/// Calls body(i) for all elements of an array, in parallel.
template <typename Body> static void forElements(int64_t count, Body &&body) {
  constexpr int64_t chunk = 1 << 16;
  parallelFor((count + chunk - 1) / chunk, 1, [&](int64_t block) {
    const int64_t end = std::min(count, (block + 1) * chunk);
    for (int64_t i = block * chunk; i < end; ++i)
      body(i);
  });
}

/// An array of pseudo-random numbers in [-scale, scale), rounded to the type.
static Result<Array> fillArray(DType dtype, std::vector<int64_t> shape,
                               double scale, uint64_t seed) {
  Result<Array> array = Array::create(dtype, std::move(shape));
  if (array)
    forElements(array->numElements(), [&](int64_t i) {
      array->set(i, scramble(seed + static_cast<uint64_t>(i)) * scale);
    });
  return array;
}

/// The same numbers in f32.
static Result<Array> widened(const Array &narrow) {
  Result<Array> wide = Array::create(DType::f32, narrow.shape);
  if (wide)
    forElements(narrow.numElements(),
                [&](int64_t i) { wide->set(i, narrow.at(i)); });
  return wide;
}

Result<Operands> makeOperands(const Work &work, DType dtype) {
  Operands operands;
  const struct {
    Array &array;
    const std::vector<int64_t> &shape;
    double scale;
  } all[] = {{operands.x, work.xShape, 2},
             {operands.gy, work.gyShape, 2},
             {operands.weight, work.weightShape, 1.0 / 8}};
  uint64_t seed = 1;
  for (const auto &one : all) {
    seed += uint64_t(1) << 40;
    if (one.shape.empty())
      continue;
    Result<Array> array = fillArray(dtype, one.shape, one.scale, seed);
    if (!array)
      return array.error();
    one.array = std::move(*array);
  }
  Result<Array> y = Array::create(dtype, work.yShape);
  if (!y)
    return y.error();
  operands.y = std::move(*y);
  std::fill(operands.y.bytes.begin(), operands.y.bytes.end(), uint8_t(0xff));
  return operands;
}

disco_kernel_call makeCall(const Work &work, const Settings &settings,
                           Operands &operands) {
  disco_kernel_call call =
      makeKernelCall(work.op, *work.tables, settings.dtype);
  const bool mixes = work.op >= DISCO_OP_CONV;
  call.batch = work.batch;
  call.channels = work.channels;
  call.out_channels = mixes ? work.outChannels : 0;
  call.groups = work.groups;
  call.transpose_weight = work.transposeWeight;
  if (mixes)
    call.schedule.order = work.order;
  call.num_threads = settings.threads;
  setFields(call, {settings.tile, settings.channelBlock});
  call.x = operands.x.bytes.data();
  call.gy = operands.gy.bytes.data();
  call.weight = operands.weight.bytes.data();
  call.y = operands.y.bytes.data();
  return call;
}

/// Runs the call and appends its times.
static Status runTimed(const KernelFamily &family,
                       const disco_kernel_call &call,
                       const AlignedMemory &workspace, Times &times) {
  const auto start = std::chrono::steady_clock::now();
  const double cpu = processCpuMs();
  if (family.run(&call, workspace.get(), workspace.size()) != DISCO_OK)
    return Error{disco_last_error()};
  times.cpu.push_back(processCpuMs() - cpu);
  const std::chrono::duration<double, std::milli> wall =
      std::chrono::steady_clock::now() - start;
  times.wall.push_back(wall.count());
  return {};
}

/// A number of bytes in /proc/self/status.
static std::optional<uint64_t> statusBytes(const std::string &name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.rfind(name, 0) == 0)
      return std::strtoull(line.c_str() + name.size(), nullptr, 10) * 1024;
  return std::nullopt;
}

/// Sets the peak of resident memory to what is resident now, and returns that.
static std::optional<uint64_t> resetPeak() {
  std::ofstream file("/proc/self/clear_refs");
  file << '5' << std::flush;
  if (!file)
    return std::nullopt;
  return statusBytes("VmRSS:");
}

static Status runAll(const KernelFamily &family, const disco_kernel_call &call,
                     int warmUps, int repeats, Measurement &result) {
  if (family.workspaceBytes(&call, &result.workspace) != DISCO_OK)
    return Error{disco_last_error()};
  const std::optional<uint64_t> before = resetPeak();
  const AlignedMemory workspace(result.workspace);
  if (result.workspace > 0 && !workspace.get())
    return Error{"out of memory: cannot allocate " +
                 std::to_string(result.workspace) + " bytes of workspace"};
  for (int i = 0; i < warmUps + repeats; ++i) {
    if (i == warmUps)
      result.times = {};
    if (Status s = runTimed(family, call, workspace, result.times); !s)
      return s;
  }
  if (before)
    if (const std::optional<uint64_t> peak = statusBytes("VmHWM:"))
      result.extraMemory =
          std::max(result.workspace, *peak - std::min(*peak, *before));
  std::sort(result.times.wall.begin(), result.times.wall.end());
  std::sort(result.times.cpu.begin(), result.times.cpu.end());
  return {};
}

/// The relative L2 difference to the result of the same numbers in f32.
static Result<double> compareWithF32(const KernelFamily &family,
                                     const Work &work, Settings settings,
                                     const Operands &narrow) {
  settings.dtype = DType::f32;
  Operands wide;
  for (Array Operands::*operand :
       {&Operands::x, &Operands::gy, &Operands::weight}) {
    if ((narrow.*operand).bytes.empty()) // not used
      continue;
    Result<Array> array = widened(narrow.*operand);
    if (!array)
      return array.error();
    wide.*operand = std::move(*array);
  }
  const Array &y = narrow.y;
  Result<Array> result = Array::create(DType::f32, y.shape);
  if (!result)
    return result.error();
  wide.y = std::move(*result);
  const disco_kernel_call call = makeCall(work, settings, wide);
  if (Status s = runKernel(family, call); !s)
    return s.error();
  double error = 0, norm = 0;
  for (int64_t i = 0; i < y.numElements(); ++i) {
    const double expected = wide.y.at(i);
    error += (y.at(i) - expected) * (y.at(i) - expected);
    norm += expected * expected;
  }
  return norm > 0 ? std::sqrt(error / norm) : error;
}

Result<Measurement> measure(const KernelFamily &family, const NamedLayer &layer,
                            const LayerPsi &psi, const Settings &settings,
                            const Machine &machine, int warmUps, int repeats) {
  Measurement result;
  result.problem = layer.name;
  result.family = family.name;
  result.settings = settings;
  result.clock = machine.clock;
  result.work = makeWork(layer, psi, settings);
  const Work &work = result.work;
  Result<Operands> operands = makeOperands(work, settings.dtype);
  if (!operands)
    return operands.error();
  const disco_kernel_call call = makeCall(work, settings, *operands);
  if (Status s = runAll(family, call, warmUps, repeats, result); !s)
    return s.error();
  result.accuracy = checkResult(work, *operands, settings.dtype);
  if (settings.dtype == DType::f16 || settings.dtype == DType::bf16) {
    Result<double> difference =
        compareWithF32(family, work, settings, *operands);
    if (!difference)
      return difference.error();
    result.accuracy.againstF32 = *difference;
  }
  const double copyMs = work.bytes / machine.copyGbs / 1e6;
  const double flop = work.filterFlop + work.mixFlop;
  result.boundMs = std::max(copyMs, flop / machine.fmaGflops / 1e6);
  Result<double> predicted = predictMs(family, psi, work, settings, machine);
  if (!predicted)
    return predicted.error();
  result.predictedMs = *predicted;
  return result;
}

} // namespace disco::bench
