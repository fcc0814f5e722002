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
#include <cstring>
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

namespace {

/// Fields [batch, channels, points] of the host, and the same of a device in
/// nchw or c8: [batch, channels / 8, points, 8].
class Fields {
public:
  Fields(Array &host, int64_t batch, int64_t channels, bool blocked)
      : host(host), size(sizeOf(host.dtype)), channels(channels),
        points(batch * channels > 0 ? host.numElements() / (batch * channels)
                                    : 0),
        blocked(blocked),
        elements(blocked ? batch * padTo8(channels) * points
                         : static_cast<int64_t>(host.bytes.size()) / size) {}

  uint64_t bytes() const { return static_cast<uint64_t>(elements * size); }
  /// By way of pinned memory.
  Status upload(void *device) { return transfer(device, true); }
  Status download(const void *device) {
    return transfer(const_cast<void *>(device), false);
  }

private:
  Status transfer(void *device, bool toDevice);
  void move(unsigned char *part, int64_t first, int64_t count, bool toDevice);
  void moveBlocked(unsigned char *part, int64_t e, bool toDevice);

  Array &host;
  int64_t size, channels, points;
  bool blocked;
  int64_t elements;
};

} // namespace

/// Pinned memory for parts of tensors; null when there is none.
static unsigned char *staging(int64_t bytes) {
  static void *const memory = [bytes] {
    void *pinned = nullptr;
    return cudaMallocHost(&pinned, static_cast<size_t>(bytes)) == cudaSuccess
               ? pinned
               : nullptr;
  }();
  return static_cast<unsigned char *>(memory);
}
static constexpr int64_t stagingBytes = int64_t(64) << 20;

Status Fields::transfer(void *device, bool toDevice) {
  unsigned char *part = staging(stagingBytes);
  if (!part)
    return Error{"allocating pinned memory failed"};
  const int64_t most = stagingBytes / size;
  for (int64_t first = 0; first < elements; first += most) {
    const int64_t count = std::min(most, elements - first);
    auto *place = static_cast<unsigned char *>(device) + first * size;
    if (toDevice)
      move(part, first, count, true);
    if (Status s = statusOf(
            cudaMemcpy(toDevice ? place : part, toDevice ? part : place,
                       static_cast<size_t>(count * size), cudaMemcpyDefault),
            "copying between host and device");
        !s)
      return s;
    if (!toDevice)
      move(part, first, count, false);
  }
  return {};
}

/// Elements `first` and so on of the device's tensor are in `part`.
void Fields::move(unsigned char *part, int64_t first, int64_t count,
                  bool toDevice) {
  constexpr int64_t piece = 1 << 16;
  parallelFor((count + piece - 1) / piece, 1, [&](int64_t i) {
    const int64_t begin = i * piece, end = std::min(begin + piece, count);
    if (!blocked) {
      unsigned char *at = host.bytes.data() + (first + begin) * size;
      std::memcpy(toDevice ? part + begin * size : at,
                  toDevice ? at : part + begin * size, (end - begin) * size);
      return;
    }
    for (int64_t e = begin; e < end; e += 8)
      moveBlocked(part + e * size, first + e, toDevice);
  });
}

/// The 8 channels of a point from element `e` of c8 on, of 16 bits each. Those
/// that do not exist are zeros on the device, and nowhere on the host.
void Fields::moveBlocked(unsigned char *part, int64_t e, bool toDevice) {
  const int64_t point = e / 8 % points, block = e / 8 / points;
  const int64_t blocks = padTo8(channels) / 8, first = block % blocks * 8;
  const int64_t field = block / blocks * channels + first;
  auto *there = reinterpret_cast<uint16_t *>(part);
  auto *here =
      reinterpret_cast<uint16_t *>(host.bytes.data()) + field * points + point;
  for (int64_t c = 0; c < 8; ++c)
    if (first + c >= channels)
      there[c] = toDevice ? 0 : there[c];
    else if (toDevice)
      there[c] = here[c * points];
    else
      here[c * points] = there[c];
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
         int32_t layout, Operands &operands)
      : family(family), work(work), settings(settings), machine(machine),
        how(how), layout(layout), operands(operands) {
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
    Fields xFields = fieldsOf(operands.x);
    if (Status s = x.allocate(xFields.bytes()); !s)
      return s;
    if (Status s = xFields.upload(x.data); !s)
      return s;
    for (const auto &[memory, array] :
         {std::pair(&gy, &operands.gy), std::pair(&weight, &operands.weight)}) {
      if (Status s = memory->allocate(array->bytes.size()); !s)
        return s;
      if (Status s = Fields(*array, 1, 1, false).upload(memory->data); !s)
        return s;
    }
    for (Memory *memory : {&y, &again})
      if (Status s = memory->allocate(fieldsOf(operands.y).bytes()); !s)
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
    call.schedule.in_layout = call.schedule.out_layout = layout;
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

  Fields fieldsOf(Array &array) const {
    return {array, settings.batch, work.xShape[1], layout == DISCO_C8};
  }

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

  /// The result of a run over NaN, and whether one more gives the same bits.
  Status checkBits() {
    Fields fields = fieldsOf(operands.y);
    const uint64_t bytes = fields.bytes();
    for (Memory *memory : {&again, &y}) {
      call.y = memory->data;
      cudaMemsetAsync(memory->data, 0xff, bytes, stream.handle);
      if (Status s = launch(); !s)
        return s;
      if (Status s = wait(); !s)
        return s;
    }
    if (Status s = compareBits(bytes); !s)
      return s;
    return fields.download(y.data);
  }

  /// Whether y and again are the same, read in parts.
  Status compareBits(uint64_t bytes) {
    constexpr uint64_t half = stagingBytes / 2;
    unsigned char *part = staging(stagingBytes);
    if (!part)
      return Error{"allocating pinned memory failed"};
    for (uint64_t done = 0; done < bytes; done += half) {
      const uint64_t count = std::min(half, bytes - done);
      for (const auto &[from, to] :
           {std::pair(&y, part), std::pair(&again, part + half)})
        if (Status s = statusOf(
                cudaMemcpy(to, static_cast<unsigned char *>(from->data) + done,
                           count, cudaMemcpyDefault),
                "copying from the device");
            !s)
          return s;
      if (std::memcmp(part, part + half, count) != 0)
        return Error{
            "expected two runs to give the same bits, but they differ"};
    }
    return {};
  }

  /// More than the L2 of any device.
  static constexpr uint64_t flushBytes = uint64_t(256) << 20;

  const std::string &family;
  const Work &work;
  const Settings &settings;
  const DeviceMachine &machine;
  const DeviceSettings &how;
  const int32_t layout;
  Operands &operands;
  disco_device_context context = {};
  disco_kernel_call call = {};
  disco_prepared *prepared = nullptr;
  uint64_t workspaceBytes = 0;
  Stream stream;
  Event start, end;
  Memory x, gy, weight, y, again, workspace, flush;
};

} // namespace

/// Fails where the kernels do not take x and y in c8.
static Status checkLayout(int32_t layout, const Work &work,
                          const Settings &settings) {
  const bool isContraction =
      work.op == DISCO_OP_CONTRACT || work.op == DISCO_OP_CONTRACT_SUM;
  if (layout != DISCO_C8 || (isContraction && sizeOf(settings.dtype) == 2))
    return {};
  return Error{"expected the layout c8 with contract or contract_sum in f16 "
               "or bf16, but got " +
               std::string(nameOf(settings.direction)) + " in " +
               std::string(nameOf(settings.dtype))};
}

Status
measureOnDevice(const std::string &family, const NamedLayer &layer,
                const LayerPsi &psi, const Settings &settings,
                const DeviceMachine &machine, const DeviceSettings &how,
                const std::function<void(const DeviceMeasurement &)> &report) {
  const Work work = makeWork(layer, psi, settings);
  Result<Operands> operands = makeOperands(work, settings.dtype);
  if (!operands)
    return operands.error();
  for (const int32_t layout : how.layouts) {
    if (Status s = checkLayout(layout, work, settings); !s)
      return s;
    Runner runner(family, work, settings, machine, how, layout, *operands);
    if (Status s = runner.upload(); !s)
      return s;
    for (const auto &[name, fields] : how.schedules) {
      DeviceMeasurement result;
      result.problem = layer.name;
      result.family = family;
      result.settings = settings;
      result.layout = layout;
      result.fields = name;
      result.work = work;
      if (Status s = runner.run(fields, result); !s)
        return Error{name + (name.empty() ? "" : ": ") + s.message()};
      // Schedules that are compared are many.
      const double budget = how.schedules.size() > 1 ? 2e7 : 2e8;
      result.accuracy = checkResult(work, *operands, settings.dtype, budget);
      const double rate =
          machine.fmaTflops * (settings.dtype == DType::f64 ? 0.5 : 1);
      result.boundMs = std::max(work.bytes / machine.copyGbs / 1e6,
                                (work.filterFlop + work.mixFlop) / rate / 1e9);
      report(result);
    }
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
