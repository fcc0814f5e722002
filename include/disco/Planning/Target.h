//===- Target.h - the chips that are known ----------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chip is one block of KnownTargets.def: a name, the architecture that code
// is generated for, its features, and one number a field of TargetFields.def,
// each with its source. No other file holds a constant of a chip.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_PLANNING_TARGET_H
#define DISCO_PLANNING_TARGET_H

#include "disco/Support/DType.h"
#include "disco/Support/Result.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace disco::planning {

enum class TargetKind : uint8_t { cpu, cuda };

/// What an architecture can execute, as bits.
enum TargetFeature : uint32_t {
  featureMmaSync = 1,   // warp-level matrix instructions with bf16
  featureAsyncCopy = 2, // cp.async
  featureWgmma = 4,     // warpgroup matrix instructions, sm_90a
  featureBulkCopy = 8,  // TMA and mbarriers
  featureCluster = 16,  // thread block clusters
  featureTcgen05 = 32,  // tensor memory, sm_100a
  featureAvx2 = 64,     // with FMA and F16C
  featureAvx512 = 128,
};

enum class TargetField : uint8_t {
#define DISCO_TARGET_FIELD(name, kinds, unit, meaning) name,
#include "disco/Planning/TargetFields.def"
};
constexpr size_t numTargetFields =
#define DISCO_TARGET_FIELD(name, kinds, unit, meaning) +1
#include "disco/Planning/TargetFields.def"
    ;

struct TargetFieldInfo {
  std::string_view name, unit, meaning;
  bool onCpu, onCuda;
};
const TargetFieldInfo &infoOf(TargetField field);

struct Target {
  std::string name; ///< "h200"
  TargetKind kind = TargetKind::cpu;
  std::string arch;    ///< "sm_90a", "x86-64-v3"
  std::string summary; ///< "NVIDIA H200 SXM, 141 GB"
  uint32_t features = 0;
  std::array<double, numTargetFields> values{};
  /// Where each number is from; "override" for those of applyOverride.
  std::array<std::string, numTargetFields> sources{};

  double operator[](TargetField field) const {
    return values[static_cast<size_t>(field)];
  }
  bool has(uint32_t wanted) const { return (features & wanted) == wanted; }

  /// FLOP per second of fused multiply-adds on vector units, and of tensor
  /// units (0 where there are none for that type).
  double fmaRate(DType dtype) const;
  double tensorRate(DType dtype) const;
  /// Clock cycles per second, all cores together.
  double coreClocks() const;
  /// "dram_gbps = 3000, cores = 64": what was overridden; "" for a row.
  std::string overridesText() const;
};

/// Every row of the table, in its order.
const std::vector<Target> &knownTargets();

/// By name ("h200"), architecture ("sm_90a": the first row of it) or either
/// after "cuda:"; "cpu" is the first row of that kind. The error lists all.
Result<Target> lookupTarget(std::string_view name);

/// Applies "cores=16" or "dram_gbps=3000"; several are separated by commas.
/// Rates that all cores give together follow cores and clock_ghz unless they
/// are overridden, too: arithmetic, shared memory and, on a CPU, l2_gbps.
/// Errors name the fields that exist, one given twice, and what validate()
/// finds.
Status applyOverrides(Target &target, std::string_view text);

/// That every field of the kind is positive, bounded and names its source,
/// that those of the other kind are 0, and that the numbers do not contradict
/// each other (levels get faster towards the core, a CTA fits its SM, tensor
/// units beat vector units, features fit the architecture).
Status validate(const Target &target);

/// "wgmma, bulk_copy": the words of a feature mask.
std::string featureNames(uint32_t features);

/// The table that --list-targets prints.
std::string listTargets();

} // namespace disco::planning

#endif // DISCO_PLANNING_TARGET_H
