//===- DeviceMeasure.h - timing kernels on a CUDA device --------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TOOLS_DISCO_BENCH_DEVICEMEASURE_H
#define DISCO_TOOLS_DISCO_BENCH_DEVICEMEASURE_H

#include "Measure.h"

#include "disco/ABI/DeviceKernel.h"

#include <functional>
#include <utility>

namespace disco::bench {

/// A CUDA device and what it can do.
struct DeviceMachine {
  int32_t index = 0;
  disco_device_properties properties = {};
  std::string date;     ///< of the run, in UTC
  double copyGbs = 0;   ///< read and written bytes of a large copy
  double fmaTflops = 0; ///< at the highest clock: 2 FLOP for each of its cores
};
Result<DeviceMachine> openDevice(int32_t index);

struct DeviceSettings {
  int warmUps = 20, repeats = 100;
  int sustained = 600; ///< launches back to back; 0: none
  /// DISCO_NCHW, or DISCO_C8 of contract and contract_sum.
  std::vector<int32_t> layouts{DISCO_NCHW};
  /// Schedules to measure one after the other: what their fields are called,
  /// and the fields. In one without fields the family chooses.
  std::vector<std::pair<std::string, std::vector<disco_schedule_field>>>
      schedules = {{}};
};

struct DeviceMeasurement {
  std::string problem, family;
  Settings settings;
  int32_t layout = DISCO_NCHW;
  std::string fields; ///< as planning writes them; empty: the family's choice
  Work work;
  std::vector<double> times; ///< ms of single launches with a cold L2, sorted
  double sustainedMs = 0;    ///< of a launch among those back to back
  int sustainedClockMhz = 0; ///< of the multiprocessors meanwhile; 0: unknown
  double prepareMs = 0;
  uint64_t workspace = 0;
  Accuracy accuracy;
  double boundMs = 0;

  double ms() const { return times[times.size() / 2]; }
};

/// For each layout and schedule: prepares, warms up, times and checks the last
/// result, which two runs must have given bit for bit. Calls
/// report(measurement).
Status
measureOnDevice(const std::string &family, const NamedLayer &layer,
                const LayerPsi &psi, const Settings &settings,
                const DeviceMachine &machine, const DeviceSettings &how,
                const std::function<void(const DeviceMeasurement &)> &report);

std::string toJson(const DeviceMachine &machine);
std::string toJson(const DeviceMeasurement &measurement,
                   const DeviceMachine &machine);
std::string deviceTableHeader();
std::string toTableLine(const DeviceMeasurement &measurement);

} // namespace disco::bench

#endif // DISCO_TOOLS_DISCO_BENCH_DEVICEMEASURE_H
