//===- DeviceMeasure.cpp - timing kernels on a CUDA device ----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceMeasure.h"

#include "disco/Support/Parallel.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

namespace disco::bench {

static Status statusOf(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return {};
  return Error{std::string(what) + " failed: " + cudaGetErrorString(error)};
}

namespace {

struct Stream {
  cudaStream_t handle = nullptr;
  ~Stream() {
    if (handle)
      cudaStreamDestroy(handle);
  }
};

struct Event {
  cudaEvent_t handle = nullptr;
  Event() { cudaEventCreate(&handle); }
  ~Event() { cudaEventDestroy(handle); }
  Event(const Event &) = delete;
};

/// Memory that kernels read and write; larger than asked for by nothing.
struct Memory {
  void *data = nullptr;
  ~Memory() { cudaFree(data); }
  Status allocate(uint64_t bytes) {
    cudaFree(data);
    data = nullptr;
    return statusOf(cudaMalloc(&data, std::max<uint64_t>(bytes, 1)),
                    "allocating device memory");
  }
  Status upload(const Array &array) {
    if (Status s = allocate(array.bytes.size()); !s || array.bytes.empty())
      return s;
    return statusOf(cudaMemcpy(data, array.bytes.data(), array.bytes.size(),
                               cudaMemcpyHostToDevice),
                    "copying to the device");
  }
};

/// The clock of the multiprocessors, from the driver's management library;
/// 0 where that is missing.
int currentClockMhz(int device) {
  using Init = int (*)();
  using Find = int (*)(unsigned, void **);
  using Clock = int (*)(void *, int, unsigned *);
  static void *const library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (!library)
    return 0;
  static const auto init =
      reinterpret_cast<Init>(dlsym(library, "nvmlInit_v2"));
  static const auto find =
      reinterpret_cast<Find>(dlsym(library, "nvmlDeviceGetHandleByIndex_v2"));
  static const auto clock =
      reinterpret_cast<Clock>(dlsym(library, "nvmlDeviceGetClockInfo"));
  if (!init || !find || !clock)
    return 0;
  static const int ready = init();
  void *handle = nullptr;
  unsigned mhz = 0;
  constexpr int multiprocessors = 1; // NVML_CLOCK_SM
  if (ready != 0 || find(static_cast<unsigned>(device), &handle) != 0 ||
      clock(handle, multiprocessors, &mhz) != 0)
    return 0;
  return static_cast<int>(mhz);
}

} // namespace

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

static int64_t padTo8(int64_t n) { return (n + 7) / 8 * 8; }

/// Room for fields [batch, channels, points] in c8: [batch, channels / 8,
/// points, 8], all bytes 0.
static Result<Array> makeC8(DType dtype, int64_t batch, int64_t channels,
                            int64_t points) {
  return Array::create(dtype, {batch, padTo8(channels), points});
}

/// Copies 16-bit fields between nchw and c8.
static void repack(Array &nchw, Array &c8, int64_t channels, bool toC8) {
  const int64_t fields = c8.shape[0] * channels, points = c8.shape[2];
  auto *n = reinterpret_cast<uint16_t *>(nchw.bytes.data());
  auto *b = reinterpret_cast<uint16_t *>(c8.bytes.data());
  parallelFor(fields, 1, [&](int64_t field) {
    const int64_t c = field % channels;
    uint16_t *plane = n + field * points;
    uint16_t *blocks =
        b + (field / channels * padTo8(channels) + c / 8 * 8) * points + c % 8;
    for (int64_t i = 0; i < points; ++i)
      if (toC8)
        blocks[8 * i] = plane[i];
      else
        plane[i] = blocks[8 * i];
  });
}

static double elapsedMs(const Event &start, const Event &end) {
  float ms = 0;
  cudaEventElapsedTime(&ms, start.handle, end.handle);
  return ms;
}

Result<DeviceMachine> openDevice(int32_t index) {
  DeviceMachine machine;
  machine.index = index;
  machine.properties.struct_size = sizeof machine.properties;
  if (disco_device_query(index, &machine.properties) != DISCO_OK)
    return Error{disco_last_error()};
  if (Status s = statusOf(cudaSetDevice(index), "choosing the device"); !s)
    return s.error();
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  machine.date = text;
  // A copy that is many times the L2.
  constexpr uint64_t bytes = uint64_t(2) << 30;
  Memory from, to;
  for (Memory *memory : {&from, &to})
    if (Status s = memory->allocate(bytes); !s)
      return s.error();
  std::vector<double> times;
  for (int i = 0; i < 12; ++i) {
    Event start, end;
    cudaEventRecord(start.handle);
    cudaMemcpyAsync(to.data, from.data, bytes, cudaMemcpyDeviceToDevice);
    cudaEventRecord(end.handle);
    if (Status s = statusOf(cudaDeviceSynchronize(), "copying"); !s)
      return s.error();
    times.push_back(elapsedMs(start, end));
  }
  std::sort(times.begin(), times.end());
  machine.copyGbs = 2.0 * double(bytes) / times[times.size() / 2] / 1e6;
  machine.fmaTflops = machine.properties.multiprocessors * 256.0 *
                      machine.properties.clock_khz / 1e9;
  return machine;
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

namespace {

class Runner {
public:
  Runner(const std::string &family, const Work &work, const Settings &settings,
         const DeviceMachine &machine, const DeviceSettings &how,
         Operands &operands)
      : family(family), work(work), settings(settings), machine(machine),
        how(how), operands(operands) {
    context.struct_size = sizeof context;
    context.device = machine.index;
  }
  ~Runner() { disco_device_destroy(prepared); }

  /// Copies the operands to the device.
  Status upload() {
    if (Status s = statusOf(
            cudaStreamCreateWithFlags(&stream.handle, cudaStreamNonBlocking),
            "creating a stream");
        !s)
      return s;
    context.stream = stream.handle;
    if (how.layout == DISCO_C8)
      if (Status s = makeBlocked(); !s)
        return s;
    for (const auto &[memory, array] :
         {std::pair(&x, &deviceX()), std::pair(&gy, &operands.gy),
          std::pair(&weight, &operands.weight), std::pair(&y, &deviceY())})
      if (Status s = memory->upload(*array); !s)
        return s;
    return flush.allocate(flushBytes);
  }

  Status run(const std::vector<disco_schedule_field> &fields,
             DeviceMeasurement &result) {
    if (Status s = prepare(fields, result); !s)
      return s;
    for (int i = 0; i < how.warmUps + how.repeats; ++i) {
      double ms = 0;
      if (Status s = runCold(ms); !s)
        return s;
      if (i >= how.warmUps)
        result.times.push_back(ms);
    }
    std::sort(result.times.begin(), result.times.end());
    if (Status s = runSustained(how.sustained, result); !s)
      return s;
    return checkBits();
  }

private:
  Status prepare(const std::vector<disco_schedule_field> &fields,
                 DeviceMeasurement &result) {
    disco_device_destroy(prepared);
    prepared = nullptr;
    call = makeCall(work, settings, operands);
    call.schedule.num_fields = static_cast<int32_t>(fields.size());
    std::copy(fields.begin(), fields.end(), call.schedule.fields);
    call.schedule.in_layout = call.schedule.out_layout = how.layout;
    call.weight = nullptr; // given anew to each run
    const auto start = std::chrono::steady_clock::now();
    if (disco_device_prepare(family.c_str(), &context, &call, &prepared) !=
        DISCO_OK)
      return Error{disco_last_error()};
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - start;
    result.prepareMs = took.count();
    if (disco_device_workspace_bytes(prepared, &call, &result.workspace) !=
        DISCO_OK)
      return Error{disco_last_error()};
    if (result.workspace > workspaceBytes || !workspace.data)
      if (Status s = workspace.allocate(result.workspace); !s)
        return s;
    workspaceBytes = result.workspace;
    call.x = x.data;
    call.gy = gy.data;
    call.weight = weight.data;
    call.y = y.data;
    return {};
  }

  /// The fields of x and y in c8.
  Status makeBlocked() {
    const int64_t fields = settings.batch * work.xShape[1];
    for (auto &[blocked, array] : {std::pair(&blockedX, &operands.x),
                                   std::pair(&blockedY, &operands.y)}) {
      Result<Array> made =
          makeC8(settings.dtype, settings.batch, work.xShape[1],
                 array->numElements() / fields);
      if (!made)
        return made.error();
      *blocked = std::move(*made);
    }
    repack(operands.x, blockedX, work.xShape[1], true);
    return {};
  }
  Array &deviceX() { return how.layout == DISCO_C8 ? blockedX : operands.x; }
  Array &deviceY() { return how.layout == DISCO_C8 ? blockedY : operands.y; }

  Status launch() {
    if (disco_device_run(prepared, &call, stream.handle, workspace.data,
                         workspaceBytes) != DISCO_OK)
      return Error{disco_last_error()};
    return {};
  }

  Status wait() {
    return statusOf(cudaStreamSynchronize(stream.handle), "running the kernel");
  }

  /// One launch after the L2 was filled with something else.
  Status runCold(double &ms) {
    cudaMemsetAsync(flush.data, 0, flushBytes, stream.handle);
    cudaEventRecord(start.handle, stream.handle);
    if (Status s = launch(); !s)
      return s;
    cudaEventRecord(end.handle, stream.handle);
    if (Status s = wait(); !s)
      return s;
    ms = elapsedMs(start, end);
    return {};
  }

  Status runSustained(int count, DeviceMeasurement &result) {
    if (count == 0)
      return {};
    cudaEventRecord(start.handle, stream.handle);
    for (int i = 0; i < count; ++i)
      if (Status s = launch(); !s)
        return s;
    cudaEventRecord(end.handle, stream.handle);
    result.sustainedClockMhz = currentClockMhz(machine.index);
    if (Status s = wait(); !s)
      return s;
    result.sustainedMs = elapsedMs(start, end) / count;
    return {};
  }

  Status download(Array &to) {
    return statusOf(cudaMemcpy(to.bytes.data(), y.data, to.bytes.size(),
                               cudaMemcpyDeviceToHost),
                    "copying from the device");
  }

  /// The result of a run over NaN, and whether one more gives the same bits.
  Status checkBits() {
    Result<Array> again = Array::create(settings.dtype, deviceY().shape);
    if (!again)
      return again.error();
    for (Array *to : {&deviceY(), &*again}) {
      cudaMemsetAsync(y.data, 0xff, to->bytes.size(), stream.handle);
      if (Status s = launch(); !s)
        return s;
      if (Status s = wait(); !s)
        return s;
      if (Status s = download(*to); !s)
        return s;
    }
    if (again->bytes != deviceY().bytes)
      return Error{"expected two runs to give the same bits, but they differ"};
    if (how.layout == DISCO_C8)
      repack(operands.y, blockedY, work.xShape[1], false);
    return {};
  }

  /// More than the L2 of any device.
  static constexpr uint64_t flushBytes = uint64_t(256) << 20;

  const std::string &family;
  const Work &work;
  const Settings &settings;
  const DeviceMachine &machine;
  const DeviceSettings &how;
  Operands &operands;
  Array blockedX, blockedY; ///< in c8
  disco_device_context context = {};
  disco_kernel_call call = {};
  disco_prepared *prepared = nullptr;
  uint64_t workspaceBytes = 0;
  Stream stream;
  Event start, end;
  Memory x, gy, weight, y, workspace, flush;
};

} // namespace

Status
measureOnDevice(const std::string &family, const NamedLayer &layer,
                const LayerPsi &psi, const Settings &settings,
                const DeviceMachine &machine, const DeviceSettings &how,
                const std::function<void(const DeviceMeasurement &)> &report) {
  const Work work = makeWork(layer, psi, settings);
  Result<Operands> operands = makeOperands(work, settings.dtype);
  if (!operands)
    return operands.error();
  const bool isContraction =
      work.op == DISCO_OP_CONTRACT || work.op == DISCO_OP_CONTRACT_SUM;
  if (how.layout == DISCO_C8 && (!isContraction || sizeOf(settings.dtype) != 2))
    return Error{"expected the layout c8 with contract or contract_sum in f16 "
                 "or bf16, but got " +
                 std::string(nameOf(settings.direction)) + " in " +
                 std::string(nameOf(settings.dtype))};
  const double rate =
      machine.fmaTflops * (settings.dtype == DType::f64 ? 0.5 : 1);
  Runner runner(family, work, settings, machine, how, *operands);
  if (Status s = runner.upload(); !s)
    return s;
  for (const auto &[name, fields] : how.schedules) {
    DeviceMeasurement result;
    result.problem = layer.name;
    result.family = family;
    result.settings = settings;
    result.layout = how.layout;
    result.fields = name;
    result.work = work;
    if (Status s = runner.run(fields, result); !s)
      return Error{name + (name.empty() ? "" : ": ") + s.message()};
    result.accuracy = checkResult(work, *operands, settings.dtype);
    result.boundMs = std::max(work.bytes / machine.copyGbs / 1e6,
                              (work.filterFlop + work.mixFlop) / rate / 1e9);
    report(result);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

[[gnu::format(printf, 1, 2)]] static std::string format(const char *text, ...) {
  char buffer[2048];
  va_list arguments;
  va_start(arguments, text);
  std::vsnprintf(buffer, sizeof buffer, text, arguments);
  va_end(arguments);
  return buffer;
}

static const char *orderOf(const DeviceMeasurement &m) {
  if (m.work.op < DISCO_OP_CONV)
    return "-";
  return m.work.order == DISCO_WEIGHT_FIRST ? "weight_first" : "filter_first";
}

std::string toJson(const DeviceMachine &m) {
  return format(
      "{\"device\": \"%s\", \"arch\": \"sm_%d%d\", \"date\": \"%s\", "
      "\"driver_cuda\": \"%d.%d\", \"multiprocessors\": %d, \"clock_mhz\": %d, "
      "\"memory_clock_mhz\": %d, \"copy_gbs\": %.0f, \"fma_tflops\": %.1f}",
      m.properties.name, m.properties.major, m.properties.minor, m.date.c_str(),
      m.properties.driver_version / 1000,
      m.properties.driver_version % 1000 / 10, m.properties.multiprocessors,
      m.properties.clock_khz / 1000, m.properties.memory_clock_khz / 1000,
      m.copyGbs, m.fmaTflops);
}

std::string toJson(const DeviceMeasurement &m, const DeviceMachine &machine) {
  const Accuracy &a = m.accuracy;
  const double flop = m.work.filterFlop + m.work.mixFlop;
  return format(
      "{\"problem\": \"%s\", \"family\": \"%s\", \"direction\": \"%s\", "
      "\"dtype\": \"%s\", \"layout\": \"%s\", \"fields\": \"%s\", "
      "\"batch\": %lld, "
      "\"order\": \"%s\", \"median_ms\": %.4f, \"min_ms\": %.4f, \"max_ms\": "
      "%.4f, \"repeats\": %zu, "
      "\"sustained_ms\": %.4f, \"sustained_clock_mhz\": %d, \"prepare_ms\": "
      "%.1f, \"gflop\": %.3f, \"tflops\": %.2f, \"gbytes\": %.4f, \"gbs\": "
      "%.0f, \"bound_ms\": %.4f, \"workspace_bytes\": %llu, \"error\": %.3e, "
      "\"error_bound\": %.3e, \"elements_checked\": %lld, \"ok\": %s, "
      "\"device\": \"%s\", \"date\": \"%s\"}",
      m.problem.c_str(), m.family.c_str(),
      std::string(nameOf(m.settings.direction)).c_str(),
      std::string(nameOf(m.settings.dtype)).c_str(),
      m.layout == DISCO_C8 ? "c8" : "nchw", m.fields.c_str(),
      static_cast<long long>(m.settings.batch), orderOf(m), m.ms(),
      m.times.front(), m.times.back(), m.times.size(), m.sustainedMs,
      m.sustainedClockMhz, m.prepareMs, flop / 1e9, flop / m.ms() / 1e9,
      m.work.bytes / 1e9, m.work.bytes / m.ms() / 1e6, m.boundMs,
      static_cast<unsigned long long>(m.workspace), a.error, a.bound,
      static_cast<long long>(a.elements), a.ok ? "true" : "false",
      machine.properties.name, machine.date.c_str());
}

std::string deviceTableHeader() {
  return format("%-13s %-14s %-12s %-5s %3s %-12s %9s %9s %9s %7s %7s %9s %8s "
                "%9s %s",
                "problem", "family", "direction", "dtype", "B", "order",
                "median ms", "min ms", "sust. ms", "TFLOP/s", "GB/s",
                "bound ms", "work MB", "error", "check");
}

std::string toTableLine(const DeviceMeasurement &m) {
  const Accuracy &a = m.accuracy;
  const double flop = m.work.filterFlop + m.work.mixFlop;
  return format("%-13s %-14s %-12s %-5s %3lld %-12s %9.4f %9.4f %9.4f %7.2f "
                "%7.0f %9.4f %8.1f %9.2e %s%s%s",
                m.problem.c_str(), m.family.c_str(),
                std::string(nameOf(m.settings.direction)).c_str(),
                std::string(nameOf(m.settings.dtype)).c_str(),
                static_cast<long long>(m.settings.batch), orderOf(m), m.ms(),
                m.times.front(), m.sustainedMs, flop / m.ms() / 1e9,
                m.work.bytes / m.ms() / 1e6, m.boundMs,
                static_cast<double>(m.workspace) / 1e6, a.error,
                a.ok ? (a.isComplete ? "ok" : "ok (sample)") : "WRONG",
                m.fields.empty() ? "" : " ", m.fields.c_str());
}

} // namespace disco::bench
