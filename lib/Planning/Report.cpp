//===- Report.cpp - selections as text and JSON ---------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Planning/Selection.h"

#include <cmath>
#include <cstdio>

using namespace disco;
using namespace disco::planning;

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

namespace {

/// Writes one object, members in the order of the calls.
class JsonObject {
public:
  JsonObject &member(std::string_view key, const std::string &rawValue) {
    text +=
        (text.size() > 1 ? ",\"" : "\"") + std::string(key) + "\":" + rawValue;
    return *this;
  }
  JsonObject &string(std::string_view key, std::string_view value) {
    return member(key, quote(value));
  }
  JsonObject &number(std::string_view key, double value) {
    return member(key, format(value));
  }
  JsonObject &boolean(std::string_view key, bool value) {
    return member(key, value ? "true" : "false");
  }
  std::string finish() const { return text + "}"; }

  static std::string quote(std::string_view value) {
    std::string quoted = "\"";
    for (char c : value) {
      if (static_cast<unsigned char>(c) < 0x20) {
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\u%04x", c);
        quoted += escape;
        continue;
      }
      if (c == '"' || c == '\\')
        quoted += '\\';
      quoted += c;
    }
    return quoted + "\"";
  }
  /// Whole numbers in full, others with six digits.
  static std::string format(double value) {
    char buffer[40];
    if (!std::isfinite(value))
      return "null";
    const bool whole = value == std::floor(value) && std::fabs(value) < 1e15;
    std::snprintf(buffer, sizeof buffer, whole ? "%.0f" : "%.6g", value);
    return buffer;
  }

private:
  std::string text = "{";
};

} // namespace

template <typename Range, typename ToJson>
static std::string array(const Range &range, ToJson toJson) {
  std::string text = "[";
  for (const auto &element : range)
    text += (text.size() > 1 ? "," : "") + toJson(element);
  return text + "]";
}

static std::string toJson(const Counts &c) {
  return JsonObject()
      .number("dram_read_bytes", c.dramReadBytes)
      .number("dram_write_bytes", c.dramWriteBytes)
      .number("l2_bytes", c.l2Bytes)
      .number("l1_requests", c.l1Requests)
      .number("smem_wavefronts", c.smemWavefronts)
      .number("useful_flop", c.usefulFlop)
      .number("padded_flop", c.paddedFlop)
      .number("issued_flop", c.issuedFlop)
      .number("tensor_instructions", c.tensorInstructions)
      .number("issue_slots", c.issueSlots)
      .number("ctas", c.ctas)
      .number("ctas_per_core", c.ctasPerCore)
      .number("waves", c.waves)
      .number("tap_imbalance", c.tapImbalance)
      .number("launches", c.launches)
      .number("smem_bytes", c.smemBytes)
      .number("registers_per_thread", c.registersPerThread)
      .number("threads", c.threads)
      .finish();
}

static std::string toJson(const Stage &stage) {
  JsonObject times;
  for (size_t i = 0; i < numBoundClasses; ++i)
    times.number(nameOf(static_cast<BoundClass>(i)), stage.microseconds[i]);
  return JsonObject()
      .string("name", stage.name)
      .number("predicted_us", stage.predictedMicroseconds())
      .string("bound", nameOf(stage.bound()))
      .member("class_us", times.finish())
      .member("counts", ::toJson(stage.counts))
      .finish();
}

std::string planning::toJson(const Cost &cost) {
  return JsonObject()
      .number("predicted_us", cost.predictedMicroseconds())
      .string("bound", nameOf(cost.bound()))
      .number("margin", cost.margin())
      .number("workspace_bytes", cost.workspaceBytes)
      .member("stages",
              array(cost.stages, [](const Stage &s) { return ::toJson(s); }))
      .finish();
}

static std::string toJson(const FilterCounts &f) {
  auto number = [](int64_t value) { return std::to_string(value); };
  return JsonObject()
      .boolean("exact", f.exact)
      .boolean("shared_support", f.shared_support)
      .number("rows", static_cast<double>(f.rows))
      .number("empty_rows", static_cast<double>(f.empty_rows))
      .number("taps", static_cast<double>(f.taps))
      .number("entries", static_cast<double>(f.entries))
      .number("min_taps", static_cast<double>(f.min_taps))
      .number("median_taps", f.median_taps)
      .number("max_taps", static_cast<double>(f.max_taps))
      .number("rings", static_cast<double>(f.rings))
      .number("max_rings", static_cast<double>(f.max_rings))
      .number("arcs", static_cast<double>(f.arcs))
      .number("gaps", static_cast<double>(f.gaps))
      .number("gap_taps", static_cast<double>(f.gap_taps))
      .number("mirrored_pairs", static_cast<double>(f.mirrored_pairs))
      .number("whole_rings", static_cast<double>(f.whole_rings))
      .number("longest_arc", static_cast<double>(f.longest_arc))
      .number("stride", static_cast<double>(f.stride))
      .number("phases", static_cast<double>(f.phases))
      .member("histogram_rows", array(f.histogram_rows, number))
      .member("histogram_taps", array(f.histogram_taps, number))
      .finish();
}

std::string planning::toJson(const Problem &p) {
  auto number = [](int64_t value) { return std::to_string(value); };
  char hash[24];
  std::snprintf(hash, sizeof hash, "0x%016llx",
                static_cast<unsigned long long>(hashOf(p)));
  return JsonObject()
      .string("op", nameOfOp(p.op))
      .string("direction", nameOfDirection(p.direction))
      .string("structure", nameOfStructure(p.structure))
      .string("dtype", nameOf(static_cast<DType>(p.dtype)))
      .string("parameter_dtype", nameOf(static_cast<DType>(p.parameter_dtype)))
      .string("precision", nameOfPrecision(p.precision))
      .boolean("deterministic", p.deterministic)
      .boolean("bias", p.epilogue & DISCO_EPILOGUE_BIAS)
      .boolean("activation", p.epilogue & DISCO_EPILOGUE_ACTIVATION)
      .boolean("residual", p.epilogue & DISCO_EPILOGUE_RESIDUAL)
      .string("in_layout", nameOfLayout(p.in_layout))
      .string("out_layout", nameOfLayout(p.out_layout))
      .number("k", static_cast<double>(p.num_basis))
      .member("in_shape", array(p.in_shape, number))
      .member("out_shape", array(p.out_shape, number))
      .number("batch", static_cast<double>(p.batch))
      .boolean("batch_assumed", p.batch_assumed)
      .number("channels", static_cast<double>(p.channels))
      .number("out_channels", static_cast<double>(p.out_channels))
      .number("groups", static_cast<double>(p.groups))
      .member("filter", ::toJson(p.filter))
      .string("hash", hash)
      .finish();
}

static void addSchedule(JsonObject &object, const Family &family,
                        const Schedule &schedule) {
  JsonObject fields;
  for (int32_t i = 0; i < schedule.num_fields; ++i)
    fields.number(family.fields().fields[i].name,
                  static_cast<double>(schedule.fields[i].value));
  object.string("provider", nameOfProvider(schedule.provider))
      .string("order", nameOfOrder(schedule.order))
      .string("in_layout", nameOfLayout(schedule.in_layout))
      .string("out_layout", nameOfLayout(schedule.out_layout))
      .member("fields", fields.finish());
}

static std::string toJson(const Loser &loser) {
  JsonObject object;
  object.string("family", loser.family->name);
  if (!loser.failure) {
    addSchedule(object, *loser.family, loser.schedule);
    return object.member("cost", planning::toJson(loser.cost)).finish();
  }
  if (loser.order)
    object.string("order", nameOfOrder(*loser.order));
  return object.number("rule", loser.failure->rule)
      .string("reason", loser.failure->reason)
      .string("suggestion", loser.failure->suggestion)
      .finish();
}

std::string planning::toJson(const Selection &selection, const Problem &problem,
                             const Target &target) {
  JsonObject winner;
  winner.string("family", selection.winner.family->name)
      .boolean("executable", selection.winner.executable);
  addSchedule(winner, *selection.winner.family, selection.winner.schedule);
  winner.member("cost", toJson(selection.winner.cost));
  return JsonObject()
      .member("problem", toJson(problem))
      .string("target", target.name)
      .string("arch", target.arch)
      .member("winner", winner.finish())
      .member("losers", array(selection.losers,
                              [](const Loser &l) { return ::toJson(l); }))
      .finish();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string planning::toText(const Selection &selection, const Problem &problem,
                             const Target &target) {
  const Choice &winner = selection.winner;
  std::string text = toString(problem) + " on " + target.name + "\n";
  text += "winner: " + std::string(winner.family->name) + " (" +
          std::string(nameOfProvider(winner.schedule.provider)) + "), " +
          std::string(nameOfOrder(winner.schedule.order)) + ", " +
          std::string(nameOfLayout(winner.schedule.in_layout)) + " -> " +
          std::string(nameOfLayout(winner.schedule.out_layout));
  if (winner.schedule.num_fields)
    text += ", " + fieldsToString(winner.schedule, winner.family->fields());
  text += winner.executable ? "\n" : " (planned: not executable)\n";
  std::string cost = toString(winner.cost);
  for (size_t begin = 0; begin < cost.size();) {
    size_t end = cost.find('\n', begin);
    text += "  " + cost.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  for (const Loser &loser : selection.losers)
    text += "lost: " + loser.text(winner.microseconds()) + "\n";
  return text;
}
