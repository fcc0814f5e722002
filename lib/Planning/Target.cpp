//===- Target.cpp - the chips that are known ------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Planning/Target.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>

using namespace disco;
using namespace disco::planning;

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

// The three words of the third column of TargetFields.def.
static constexpr unsigned CPU = 1, CUDA = 2, BOTH = CPU | CUDA;

const TargetFieldInfo &planning::infoOf(TargetField field) {
  static const TargetFieldInfo infos[] = {
#define DISCO_TARGET_FIELD(name, kinds, unit, meaning)                         \
  {#name, unit, meaning, (kinds & CPU) != 0, (kinds & CUDA) != 0},
#include "disco/Planning/TargetFields.def"
  };
  return infos[static_cast<size_t>(field)];
}

static std::vector<Target> makeTargets() {
  std::vector<Target> targets;
#define DISCO_TARGET(NAME, KIND, ARCH, FEATURES, SUMMARY)                      \
  {                                                                            \
    Target target;                                                             \
    target.name = #NAME;                                                       \
    target.kind = TargetKind::KIND;                                            \
    target.arch = ARCH;                                                        \
    target.features = FEATURES;                                                \
    target.summary = SUMMARY;
#define DISCO_VALUE(FIELD, VALUE, SOURCE)                                      \
  target.values[static_cast<size_t>(TargetField::FIELD)] = VALUE;              \
  target.sources[static_cast<size_t>(TargetField::FIELD)] = SOURCE;
#define DISCO_TARGET_END()                                                     \
  targets.push_back(std::move(target));                                        \
  }
#include "disco/Planning/KnownTargets.def"
  return targets;
}

const std::vector<Target> &planning::knownTargets() {
  static const std::vector<Target> targets = makeTargets();
  return targets;
}

//===----------------------------------------------------------------------===//
// Rates
//===----------------------------------------------------------------------===//

double Target::fmaRate(DType dtype) const {
  return 1e12 * (*this)[dtype == DType::f64 ? TargetField::fma_f64_tflops
                                            : TargetField::fma_f32_tflops];
}

double Target::tensorRate(DType dtype) const {
  switch (dtype) {
  case DType::f64:
    return 1e12 * (*this)[TargetField::tensor_f64_tflops];
  case DType::f32:
    return 1e12 * (*this)[TargetField::tensor_tf32_tflops];
  case DType::f16:
  case DType::bf16:
    return 1e12 * (*this)[TargetField::tensor_f16_tflops];
  default:
    return 0;
  }
}

double Target::coreClocks() const {
  return 1e9 * (*this)[TargetField::clock_ghz] * (*this)[TargetField::cores];
}

//===----------------------------------------------------------------------===//
// Lookup and overrides
//===----------------------------------------------------------------------===//

Result<Target> planning::lookupTarget(std::string_view name) {
  std::string_view word = name;
  const bool cudaOnly = word.substr(0, 5) == "cuda:";
  if (cudaOnly)
    word.remove_prefix(5);
  for (const Target &target : knownTargets())
    if (word == target.name && (!cudaOnly || target.kind == TargetKind::cuda))
      return target;
  for (const Target &target : knownTargets())
    if ((word == target.arch ||
         (name == "cpu" && target.kind == TargetKind::cpu)) &&
        (!cudaOnly || target.kind == TargetKind::cuda))
      return target;
  std::string known;
  for (const Target &target : knownTargets())
    known +=
        (known.empty() ? "" : ", ") + target.name + " (" + target.arch + ")";
  return Error{"expected the target to be one of " + known + ", but got '" +
               std::string(name) + "'"};
}

static const char *const overrideSource = "override";

static std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

static std::string fieldNames() {
  std::string names;
  for (size_t i = 0; i < numTargetFields; ++i)
    names +=
        (i ? ", " : "") + std::string(infoOf(static_cast<TargetField>(i)).name);
  return names;
}

/// Without spaces around it: pages print "field = number".
static std::string trim(const std::string &text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == text.npos)
    return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Sets a field, and its bit in `given`.
static Status applyOverride(Target &target, const std::string &item,
                            uint64_t &given) {
  size_t equals = item.find('=');
  if (equals == item.npos)
    return Error{"expected a target override to read field=number, but got '" +
                 item + "'"};
  const std::string name = trim(item.substr(0, equals));
  const std::string digits = trim(item.substr(equals + 1));
  char *end = nullptr;
  double value = std::strtod(digits.c_str(), &end);
  if (digits.empty() || *end != '\0' || !std::isfinite(value))
    return Error{"expected the value of " + name +
                 " to be a number, but got '" + digits + "'"};
  for (size_t i = 0; i < numTargetFields; ++i)
    if (infoOf(static_cast<TargetField>(i)).name == name) {
      if (given >> i & 1)
        return Error{"expected the target field " + name +
                     " to be given once, but got it twice"};
      given |= uint64_t(1) << i;
      target.values[i] = value;
      target.sources[i] = overrideSource;
      return {};
    }
  return Error{"expected the target field to be one of " + fieldNames() +
               ", but got '" + name + "'"};
}

/// Rates of all cores together that are what each core does, or its own ports
/// give, times their number. A GPU's L2 is not among them: it is one unit with
/// a clock of its own.
static bool followsCores(const Target &target, TargetField field) {
  using F = TargetField;
  switch (field) {
  case F::smem_gbps:
  case F::fma_f64_tflops:
  case F::fma_f32_tflops:
  case F::tensor_f64_tflops:
  case F::tensor_tf32_tflops:
  case F::tensor_f16_tflops:
    return true;
  case F::l2_gbps:
    return target.kind == TargetKind::cpu;
  default:
    return false;
  }
}

/// A row's rates are those of its cores at its clock: they follow both, unless
/// they were overridden themselves.
static void scaleRates(const Target &row, Target &result) {
  const double factor = result.coreClocks() / row.coreClocks();
  if (factor == 1 || !(factor > 0) || !std::isfinite(factor))
    return;
  for (size_t i = 0; i < numTargetFields; ++i) {
    if (result.values[i] == 0 || result.sources[i] == overrideSource ||
        !followsCores(result, static_cast<TargetField>(i)))
      continue;
    result.values[i] *= factor;
    result.sources[i] = "scaled with cores and clock: " + result.sources[i];
  }
}

std::string Target::overridesText() const {
  std::string text;
  for (size_t i = 0; i < numTargetFields; ++i)
    if (sources[i] == overrideSource)
      text += (text.empty() ? "" : ", ") +
              std::string(infoOf(static_cast<TargetField>(i)).name) + " = " +
              number(values[i]);
  return text;
}

Status planning::applyOverrides(Target &target, std::string_view text) {
  static_assert(numTargetFields <= 64, "a bit a field");
  uint64_t given = 0;
  Target result = target;
  while (!text.empty()) {
    std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    if (Status status = applyOverride(result, std::string(item), given);
        !status)
      return status;
  }
  scaleRates(target, result);
  if (Status status = validate(result); !status)
    return status;
  target = std::move(result);
  return {};
}

//===----------------------------------------------------------------------===//
// Validation
//===----------------------------------------------------------------------===//

/// Far beyond any chip, and low enough that counts stay exact.
static double greatestOf(TargetField field) {
  switch (field) {
  case TargetField::cores:
    return 65536;
  case TargetField::clock_ghz:
    return 1000;
  case TargetField::vector_bytes:
  case TargetField::issue_per_clock:
  case TargetField::lsu_per_clock:
    return 4096;
  default:
    return 1e15;
  }
}

static Status checkFields(const Target &target) {
  const bool cpu = target.kind == TargetKind::cpu;
  for (size_t i = 0; i < numTargetFields; ++i) {
    const TargetFieldInfo &info = infoOf(static_cast<TargetField>(i));
    const std::string what = target.name + "." + std::string(info.name);
    const double value = target.values[i];
    if (!(cpu ? info.onCpu : info.onCuda)) {
      if (value != 0)
        return Error{"expected " + what + " to be 0 on a " +
                     (cpu ? "cpu" : "cuda") + " target, but got " +
                     number(value)};
      continue;
    }
    if (!(value > 0) || !std::isfinite(value))
      return Error{"expected " + what + " to be positive, but got " +
                   number(value)};
    if (const double most = greatestOf(static_cast<TargetField>(i));
        value > most)
      return Error{"expected " + what + " to be at most " + number(most) +
                   ", but got " + number(value)};
    if (target.sources[i].empty())
      return Error{"expected " + what + " to name its source"};
  }
  return {};
}

namespace {

/// One claim about two numbers of a row: the first is at most the second, give
/// or take the rounding of datasheets.
struct AtMost {
  TargetField smaller, greater;
};

} // namespace

static Status checkOrder(const Target &target) {
  using F = TargetField;
  static const AtMost claims[] = {
      {F::dram_gbps, F::l2_gbps},
      {F::l1_bytes, F::l2_bytes},
      {F::l2_latency_ns, F::dram_latency_ns},
      {F::fma_f64_tflops, F::fma_f32_tflops},
      {F::smem_cta_bytes, F::smem_bytes},
      {F::smem_bytes, F::l1_bytes},
      {F::max_threads, F::registers},
      {F::tensor_tf32_tflops, F::tensor_f16_tflops},
  };
  for (const AtMost &claim : claims) {
    double smaller = target[claim.smaller], greater = target[claim.greater];
    const TargetFieldInfo &info = infoOf(claim.smaller);
    if (!(target.kind == TargetKind::cpu ? info.onCpu : info.onCuda))
      continue;
    if (smaller > greater * 1.02)
      return Error{"expected " + target.name + "." +
                   std::string(infoOf(claim.smaller).name) + " to be at most " +
                   std::string(infoOf(claim.greater).name) + " (" +
                   number(greater) + "), but got " + number(smaller)};
  }
  return {};
}

/// A derived ceiling: what the cores could do at their clock.
static Status checkCeiling(const Target &target, TargetField field,
                           double ceiling) {
  if (target[field] <= ceiling * 1.02)
    return {};
  return Error{"expected " + target.name + "." +
               std::string(infoOf(field).name) +
               " to be at most what its cores and clock give (" +
               number(ceiling) + "), but got " + number(target[field])};
}

static Status checkCuda(const Target &target) {
  using F = TargetField;
  const double wavefronts = target.coreClocks() * target[F::lsu_per_clock];
  if (Status s = checkCeiling(target, F::smem_gbps,
                              wavefronts * target[F::vector_bytes] / 1e9);
      !s)
    return s;
  if (target[F::l2_gbps] > target[F::smem_gbps])
    return Error{"expected " + target.name +
                 ".l2_gbps to be at most smem_gbps (" +
                 number(target[F::smem_gbps]) + "), but got " +
                 number(target[F::l2_gbps])};
  if (target[F::tensor_f16_tflops] < target[F::fma_f32_tflops])
    return Error{"expected " + target.name +
                 ".tensor_f16_tflops to be at least fma_f32_tflops (" +
                 number(target[F::fma_f32_tflops]) + "), but got " +
                 number(target[F::tensor_f16_tflops])};
  constexpr uint32_t cpuFeatures = featureAvx2 | featureAvx512;
  if (target.features & cpuFeatures)
    return Error{"expected the features of " + target.name +
                 " to be those of a GPU, but got " +
                 featureNames(target.features)};
  if (target.has(featureWgmma) != (target.arch == "sm_90a"))
    return Error{"expected wgmma on sm_90a and there only, but got " +
                 target.arch + " with " + featureNames(target.features)};
  if (target.has(featureTcgen05) != (target.arch.substr(0, 5) == "sm_10"))
    return Error{"expected tcgen05 on sm_10x and there only, but got " +
                 target.arch + " with " + featureNames(target.features)};
  return {};
}

Status planning::validate(const Target &target) {
  if (target.name.empty() || target.arch.empty() || target.summary.empty())
    return Error{"expected a target to have a name, an architecture and a "
                 "summary, but got '" +
                 target.name + "', '" + target.arch + "' and '" +
                 target.summary + "'"};
  if (Status status = checkFields(target); !status)
    return status;
  if (Status status = checkOrder(target); !status)
    return status;
  // Two FLOP a lane; at most issue_per_clock vector instructions a clock.
  const double lanes = target[TargetField::vector_bytes] / 4;
  if (Status status = checkCeiling(target, TargetField::fma_f32_tflops,
                                   target.coreClocks() *
                                       target[TargetField::issue_per_clock] *
                                       lanes * 2 / 1e12);
      !status)
    return status;
  if (target.kind == TargetKind::cuda)
    return checkCuda(target);
  if (!target.has(featureAvx2) ||
      (target.features & ~(featureAvx2 | featureAvx512)))
    return Error{"expected the features of " + target.name +
                 " to be avx2 and perhaps avx512, but got " +
                 featureNames(target.features)};
  return {};
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string planning::featureNames(uint32_t features) {
  static const char *const names[] = {"mma_sync",  "async_copy", "wgmma",
                                      "bulk_copy", "cluster",    "tcgen05",
                                      "avx2",      "avx512"};
  std::string text;
  for (size_t i = 0; i < std::size(names); ++i)
    if (features >> i & 1)
      text += (text.empty() ? "" : ", ") + std::string(names[i]);
  return text.empty() ? "none" : text;
}

std::string planning::listTargets() {
  std::string text;
  for (const Target &target : knownTargets()) {
    text += target.name + " (" +
            (target.kind == TargetKind::cpu ? "cpu" : "cuda") + ", " +
            target.arch + "): " + target.summary +
            "; features: " + featureNames(target.features) + "\n";
    for (size_t i = 0; i < numTargetFields; ++i) {
      const TargetFieldInfo &info = infoOf(static_cast<TargetField>(i));
      if (target.values[i] == 0)
        continue;
      std::string value = number(target.values[i]);
      if (target.values[i] == std::floor(target.values[i]))
        value = std::to_string(static_cast<long long>(target.values[i]));
      if (!info.unit.empty())
        value += " " + std::string(info.unit);
      char line[256];
      std::snprintf(line, sizeof line, "  %-18.*s %-16s %s\n",
                    static_cast<int>(info.name.size()), info.name.data(),
                    value.c_str(), target.sources[i].c_str());
      text += line;
    }
  }
  return text;
}
