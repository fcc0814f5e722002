//===- Instrument.cpp - --profile and --verify ----------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"

#include "disco/Runtime/Accuracy.h"
#include "disco/Runtime/ProbeOp.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>

namespace disco::run {

namespace {

using reference::Difference;
using reference::ProbeOp;
using reference::Tensor;

/// "-" for a location that is not known.
std::string locationOf(const disco_abi_probe &probe) {
  return *probe.location ? probe.location : "-";
}

/// The kernel family that the attributes name, or "-".
std::string familyOf(const disco_abi_probe &probe) {
  const Result<ProbeOp> op = reference::parseProbeOp(probe.attributes);
  return op && !op->family.empty() ? op->family : "-";
}

/// Widths of the text columns of a table.
struct Columns {
  int op = 2, family = 6, location = 8;
  void fit(const std::string &name, const std::string &kernels,
           const std::string &place) {
    const auto widen = [](int &width, const std::string &text) {
      width = std::max(width, static_cast<int>(text.size()));
    };
    widen(op, name);
    widen(family, kernels);
    widen(location, place);
  }
};

/// A dense copy of a strided tensor.
Result<Array> copyTensor(const disco_tensor &tensor) {
  Result<Array> array = Array::create(
      static_cast<DType>(tensor.dtype),
      std::vector<int64_t>(tensor.shape, tensor.shape + tensor.rank));
  if (!array)
    return array;
  const size_t size = sizeOf(array->dtype);
  const auto *base =
      static_cast<const uint8_t *>(tensor.data) + tensor.byte_offset;
  const int64_t count = array->numElements();
  const int64_t inner = tensor.rank > 0 ? tensor.shape[tensor.rank - 1] : 1;
  const int64_t step = tensor.rank > 0 ? tensor.strides[tensor.rank - 1] : 1;
  // Line by line along the last dimension.
  for (int64_t first = 0; first < count; first += inner) {
    int64_t rest = first / std::max<int64_t>(inner, 1), offset = 0;
    for (int32_t d = tensor.rank - 2; d >= 0; --d) {
      offset += rest % tensor.shape[d] * tensor.strides[d];
      rest /= tensor.shape[d];
    }
    uint8_t *to = array->bytes.data() + first * size;
    const uint8_t *from = base + offset * static_cast<int64_t>(size);
    if (step == 1)
      std::memcpy(to, from, inner * size);
    else
      for (int64_t i = 0; i < inner; ++i)
        std::memcpy(to + i * size, from + i * step * static_cast<int64_t>(size),
                    size);
  }
  return array;
}

bool allFinite(const Array &array) {
  if (isFloat(array.dtype))
    for (int64_t i = 0, n = array.numElements(); i < n; ++i)
      if (!std::isfinite(array.at(i)))
        return false;
  return true;
}

std::string scientific(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

} // namespace

//===----------------------------------------------------------------------===//
// Profiler
//===----------------------------------------------------------------------===//

Profiler::Profiler(const disco_artifact *artifact, Place place)
    : place(std::move(place)),
      rows(static_cast<size_t>(disco_artifact_num_probes(artifact))) {
  for (size_t i = 0; i < rows.size(); ++i)
    if (disco_artifact_probe(artifact, static_cast<int32_t>(i),
                             &rows[i].probe) == DISCO_OK)
      rows[i].family = familyOf(rows[i].probe);
}

void Profiler::begin(int64_t id) {
  if (id < 0 || id >= static_cast<int64_t>(rows.size()))
    return;
  if (place.wait)
    place.wait();
  rows[id].start = Clock::now();
}

void Profiler::end(int64_t id) {
  if (id < 0 || id >= static_cast<int64_t>(rows.size()))
    return;
  if (place.wait)
    place.wait();
  const Clock::time_point now = Clock::now();
  Row &row = rows[id];
  row.current +=
      std::chrono::duration<double, std::milli>(now - row.start).count();
  if (row.calls++ == 0)
    order.push_back(id);
}

disco_probe_hooks Profiler::hooks() {
  disco_probe_hooks hooks{};
  hooks.user = this;
  hooks.begin = [](void *user, int64_t id) {
    static_cast<Profiler *>(user)->begin(id);
  };
  hooks.end = [](void *user, int64_t id) {
    static_cast<Profiler *>(user)->end(id);
  };
  return hooks;
}

void Profiler::finishRun() {
  ++runs;
  for (int64_t id : order) {
    rows[id].runs.push_back(rows[id].current);
    rows[id].current = 0;
  }
}

static double median(std::vector<double> values) {
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  return values[middle];
}

void Profiler::print(double totalMilliseconds) const {
  Columns columns;
  for (int64_t id : order)
    columns.fit(rows[id].probe.op, rows[id].family, locationOf(rows[id].probe));
  std::printf("%4s  %-*s  %-*s  %-*s  %5s  %12s  %6s\n", "#", columns.op, "op",
              columns.family, "family", columns.location, "location", "calls",
              "ms", "share");
  const auto share = [&](double milliseconds) {
    return totalMilliseconds > 0 ? 100 * milliseconds / totalMilliseconds : 0;
  };
  double sum = 0;
  for (size_t number = 0; number < order.size(); ++number) {
    const Row &row = rows[order[number]];
    const double milliseconds = median(row.runs);
    sum += milliseconds;
    std::printf("%4zu  %-*s  %-*s  %-*s  %5lld  %12.4f  %5.1f%%\n", number,
                columns.op, row.probe.op, columns.family, row.family.c_str(),
                columns.location, locationOf(row.probe).c_str(),
                static_cast<long long>(row.calls / std::max<int64_t>(runs, 1)),
                milliseconds, share(milliseconds));
  }
  const double other = std::max(0.0, totalMilliseconds - sum);
  std::printf("%4s  %-*s  %-*s  %-*s  %5s  %12.4f  %5.1f%%\n", "", columns.op,
              "other", columns.family, "", columns.location, "", "", other,
              share(other));
}

static Error noOperation(const char *what) {
  return Error{
      std::string("expected the entry to run at least 1 operation to ") + what +
      ", but got 0"};
}

Status Profiler::result() const {
  return order.empty() ? Status(noOperation("profile")) : Status();
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// Exceptions must not pass through the artifact's code.
template <typename Body>
static void contain(std::string &failure, Body &&body) {
  try {
    body();
  } catch (const std::exception &exception) {
    failure = exception.what();
  }
}

disco_probe_hooks Verifier::hooks() {
  disco_probe_hooks hooks{};
  hooks.user = this;
  hooks.begin = [](void *user, int64_t id) {
    auto &self = *static_cast<Verifier *>(user);
    contain(self.recordingFailure, [&] { self.begin(id); });
  };
  hooks.operand = [](void *user, int64_t id, int32_t index,
                     const disco_tensor *tensor) {
    auto &self = *static_cast<Verifier *>(user);
    contain(self.recordingFailure, [&] { self.operand(id, index, *tensor); });
  };
  hooks.end = [](void *user, int64_t id) {
    auto &self = *static_cast<Verifier *>(user);
    contain(self.recordingFailure, [&] { self.end(id); });
  };
  return hooks;
}

/// What lies on a device is dense.
Result<Array> Verifier::copyOf(const disco_tensor &tensor) const {
  if (tensor.device.kind == DISCO_CPU)
    return copyTensor(tensor);
  Result<Array> array = Array::create(
      static_cast<DType>(tensor.dtype),
      std::vector<int64_t>(tensor.shape, tensor.shape + tensor.rank));
  if (array && place.copy(array->bytes.data(), tensor.data,
                          array->bytes.size()) != DISCO_OK)
    return Error{disco_last_error()};
  return array;
}

void Verifier::begin(int64_t id) {
  current = id;
  recorded.clear();
  recordingFailure.clear();
  if (disco_artifact_probe(artifact, static_cast<int32_t>(id), &probe) !=
      DISCO_OK)
    recordingFailure = disco_last_error();
}

void Verifier::operand(int64_t id, int32_t index, const disco_tensor &tensor) {
  if (!recordingFailure.empty())
    return;
  if (id != current || index != static_cast<int32_t>(recorded.size())) {
    recordingFailure = "expected operand " + std::to_string(recorded.size()) +
                       " of probe " + std::to_string(current) + ", but got " +
                       std::to_string(index) + " of " + std::to_string(id);
    return;
  }
  if (tensor.dtype < DISCO_F64 || tensor.dtype > DISCO_I64 || tensor.rank < 0 ||
      tensor.rank > DISCO_MAX_RANK) {
    recordingFailure = "operand " + std::to_string(index) +
                       " has an unknown element type or rank";
    return;
  }
  Result<Array> copy = copyOf(tensor);
  if (copy)
    recorded.push_back(std::move(*copy));
  else
    recordingFailure = copy.message();
}

void Verifier::end(int64_t id) {
  Row row;
  // A module may run an operation several times.
  const auto known = std::find(order.begin(), order.end(), current);
  row.number = static_cast<size_t>(known - order.begin());
  if (known == order.end())
    order.push_back(current);
  row.op = probe.op ? probe.op : "unknown operation";
  row.location = probe.location ? locationOf(probe) : "-";
  if (!recordingFailure.empty())
    row.failure = recordingFailure;
  else if (id != current)
    row.failure = "expected the end of probe " + std::to_string(current) +
                  ", but got " + std::to_string(id);
  else
    check(row);
  current = -1;
  recorded.clear();
  rows.push_back(std::move(row));
}

void Verifier::check(Row &row) {
  Result<ProbeOp> op = reference::parseProbeOp(probe.attributes);
  if (!op) {
    row.failure = op.message();
    return;
  }
  const auto numOperands = static_cast<size_t>(op->numOperands());
  const auto numResults = static_cast<size_t>(op->numResults());
  if (recorded.size() != numOperands + numResults) {
    row.failure = "expected " + std::to_string(numOperands) + " operands and " +
                  std::to_string(numResults) + " results, but got " +
                  std::to_string(recorded.size()) + " together";
    return;
  }
  const std::vector<Array> actual(
      std::make_move_iterator(recorded.begin() + numOperands),
      std::make_move_iterator(recorded.end()));
  recorded.resize(numOperands);
  Result<std::vector<Tensor>> expected = reference::recompute(*op, recorded);
  if (!expected) {
    row.failure = expected.message();
    return;
  }
  const DType field = recorded[0].dtype;
  std::vector<Tensor> naive;
  if (op->kind == ProbeOp::Kind::repack) {
    naive = *expected; // a change of type rounds once
  } else if (reference::needsNaive(field)) {
    Result<std::vector<Tensor>> computed =
        reference::recompute(*op, recorded, {field});
    if (!computed) {
      row.failure = computed.message();
      return;
    }
    naive = std::move(*computed);
  }
  row.compared = true;
  for (size_t i = 0; i < numResults && row.failure.empty(); ++i) {
    const Result<Tensor> got = reference::toNchw(
        Tensor::from(actual[i]), i == 0 ? op->yLayout : ProbeOp::Layout::nchw,
        op->channels);
    if (got)
      compareResult(row, i, *got, (*expected)[i],
                    naive.empty() ? nullptr : &naive[i], actual[i].dtype);
    else
      row.failure = got.message();
  }
}

void Verifier::compareResult(Row &row, size_t index, const Tensor &got,
                             const Tensor &want, const Tensor *naive,
                             DType dtype) const {
  if (got.shape != want.shape) {
    row.failure = "expected result " + std::to_string(index) + " to be " +
                  describe(dtype, want.shape) + ", but got " +
                  describe(dtype, got.shape);
    return;
  }
  const double naiveError =
      naive ? compare(want, naive->rounded(dtype)).relativeL2 : 0;
  // A result is as exact as the coarsest type on the way to it.
  const double bound =
      reference::errorBound(std::max(recorded[0].dtype, dtype), naiveError);
  const Difference difference = compare(want, got);
  if (index == 0 || difference.relativeL2 / bound > row.error / row.bound) {
    row.error = difference.relativeL2;
    row.bound = bound;
    row.worstRow = difference.worstRow;
    row.dtype = nameOf(dtype);
  }
  if (difference.within(bound))
    return;
  const std::string at =
      reference::describeIndex(difference.worstIndex, want.shape) +
      " of result " + std::to_string(index);
  if (difference.finite) {
    row.failure = "expected relative L2 error to be at most " +
                  scientific(bound) + ", but got " +
                  scientific(difference.relativeL2) + ", worst at " + at;
    return;
  }
  row.failure = "expected finite values, but got " +
                scientific(got.data[difference.worstIndex]) + " at " + at;
  for (size_t input = 0; input < recorded.size(); ++input)
    if (!allFinite(recorded[input]))
      row.failure +=
          " (operand " + std::to_string(input) + " is not finite either)";
}

void Verifier::print() const {
  Columns columns;
  for (const Row &row : rows)
    columns.fit(row.op, "", row.location);
  std::printf("%4s  %-*s  %-*s  %5s  %10s  %10s  %10s  %s\n", "#", columns.op,
              "op", columns.location, "location", "dtype", "error", "bound",
              "worst row", "verdict");
  for (const Row &row : rows) {
    if (row.compared)
      std::printf("%4zu  %-*s  %-*s  %5s  %10.3g  %10.3g  %10.3g  %s\n",
                  row.number, columns.op, row.op.c_str(), columns.location,
                  row.location.c_str(), row.dtype.c_str(), row.error, row.bound,
                  row.worstRow, row.failure.empty() ? "ok" : "WRONG");
    else
      std::printf("%4zu  %-*s  %-*s  %5s  %10s  %10s  %10s  %s\n", row.number,
                  columns.op, row.op.c_str(), columns.location,
                  row.location.c_str(), "-", "-", "-", "-", "NOT COMPARED");
  }
}

Status Verifier::result() const {
  if (rows.empty())
    return noOperation("verify");
  for (const Row &row : rows)
    if (!row.failure.empty())
      return Error{"operation " + std::to_string(row.number) + " (" + row.op +
                   " at " + row.location + "): " + row.failure};
  if (!recordingFailure.empty())
    return Error{recordingFailure};
  return {};
}

} // namespace disco::run
