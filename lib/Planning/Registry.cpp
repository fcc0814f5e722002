//===- Registry.cpp - the rows of KernelFamilies.def ----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Planning/Family.h"

#include <algorithm>
#include <cstdio>

using namespace disco;
using namespace disco::planning;

//===----------------------------------------------------------------------===//
// The rows
//===----------------------------------------------------------------------===//

namespace disco::planning::impls {
#define DISCO_KERNEL_FAMILY(name, available, ops, dtypes, structures, parts,   \
                            summary)                                           \
  extern const FamilyImpl name;
#include "disco/KernelFamilies.def"
} // namespace disco::planning::impls

// The words of the columns.
enum : uint32_t {
  NO_OPS = 0,
  CONTRACT = 1u << DISCO_OP_CONTRACT,
  CONTRACT_SUM = 1u << DISCO_OP_CONTRACT_SUM,
  CONV = 1u << DISCO_OP_CONV,
  CONV_WEIGHT_GRAD = 1u << DISCO_OP_CONV_WEIGHT_GRAD,
  ALL_OPS = CONTRACT | CONTRACT_SUM | CONV | CONV_WEIGHT_GRAD,
  F64 = 1u << DISCO_F64,
  F32 = 1u << DISCO_F32,
  F16 = 1u << DISCO_F16,
  BF16 = 1u << DISCO_BF16,
  ALL_DTYPES = F64 | F32 | F16 | BF16,
  SPHERE = 1u << DISCO_SPHERE,
  TABLE = 1u << DISCO_TABLE,
  CSR = 1u << DISCO_CSR,
  ALL_STRUCTURES = SPHERE | TABLE | CSR,
  CODEGEN = partCodegen,
  LOWERING = partLowering,
  CPU_KERNEL = partCpuKernel,
  CUDA_KERNEL = partCudaKernel
};

const std::vector<Family> &planning::families() {
  static const std::vector<Family> rows = {
#define DISCO_KERNEL_FAMILY(name, available, ops, dtypes, structures, parts,   \
                            summary)                                           \
  {#name,        (available), (ops),   (dtypes),                               \
   (structures), (parts),     summary, &impls::name},
#include "disco/KernelFamilies.def"
  };
  return rows;
}

// An op that is available is one of the row's.
#define DISCO_KERNEL_FAMILY(name, available, ops, dtypes, structures, parts,   \
                            summary)                                           \
  static_assert(((available) & ~(ops)) == 0, #name);
#include "disco/KernelFamilies.def"

const Family *planning::findFamily(std::string_view name) {
  for (const Family &family : families())
    if (name == family.name)
      return &family;
  return nullptr;
}

std::string planning::familyNames() {
  std::string names;
  for (const Family &family : families())
    names += (names.empty() ? "" : ", ") + std::string(family.name);
  return names;
}

uint32_t Family::providersOn(const Target &target) const {
  uint32_t providers = parts & partCodegen ? 1u << DISCO_CODEGEN : 0;
  const uint32_t kernel =
      target.kind == TargetKind::cpu ? partCpuKernel : partCudaKernel;
  return parts & kernel ? providers | 1u << DISCO_RUNTIME : providers;
}

/// The names of the bits of a mask, in order.
template <typename NameOf>
static std::string namesOf(uint32_t mask, int count, NameOf nameOfBit) {
  std::string names;
  for (int i = 0; i < count; ++i)
    if (mask >> i & 1)
      names += (names.empty() ? "" : ", ") + std::string(nameOfBit(i));
  return names;
}

std::optional<RuleFailure> planning::checkAvailable(const Family &family,
                                                    int32_t op) {
  const bool isServed = family.ops >> op & 1;
  if (family.available >> op & 1 || (family.available && !isServed))
    return std::nullopt;
  const std::string reason =
      family.available
          ? "expected the op to be one of " +
                namesOf(family.available, DISCO_NUM_OPS, nameOfOp) +
                ", but got " + std::string(nameOfOp(op)) + ", which is planned"
          : std::string("expected the family to be available, but got one that "
                        "is planned");
  return RuleFailure{0, reason,
                     "use an available family; disco-select-kernel ranks "
                     "planned ones with include-planned"};
}

//===----------------------------------------------------------------------===//
// Rules that the rows state
//===----------------------------------------------------------------------===//

uint32_t planning::ordersOf(const Problem &problem) {
  constexpr uint32_t filterFirst = 1u << DISCO_FILTER_FIRST;
  constexpr uint32_t weightFirst = 1u << DISCO_WEIGHT_FIRST;
  switch (problem.op) {
  case DISCO_OP_CONTRACT:
    return filterFirst;
  case DISCO_OP_CONTRACT_SUM:
    return weightFirst;
  default:
    return filterFirst | weightFirst;
  }
}

static std::string dtypeNames(uint32_t mask) {
  return namesOf(mask, DISCO_BF16 + 1,
                 [](int i) { return nameOf(static_cast<DType>(i)); });
}

/// Whether the row and the rules without a schedule admit the problem in one of
/// its orders.
static bool admits(const Family &family, const Problem &p,
                   const Target &target) {
  if (!(family.ops >> p.op & 1) || !(family.dtypes >> p.dtype & 1) ||
      !(family.structures >> p.structure & 1) || !family.providersOn(target))
    return false;
  for (int32_t order = 0; order < DISCO_NUM_ORDERS; ++order) {
    bool isAdmitted = ordersOf(p) >> order & 1;
    for (int32_t i = 0; i < family.impl->numRules && isAdmitted; ++i) {
      const Rule &rule = family.impl->rules[i];
      isAdmitted = !rule.check || !rule.check(p, target, order);
    }
    if (isAdmitted)
      return true;
  }
  return false;
}

/// Other rows that could run the problem on that target, for suggestions.
static std::string others(const Family &family, const Problem &p,
                          const Target &target) {
  std::string names;
  for (const Family &other : families())
    if (&other != &family && admits(other, p, target))
      names += (names.empty() ? "use " : " or ") + std::string(other.name);
  return names;
}

/// A column of the row that does not serve what the problem is.
static RuleFailure columnFailure(int rule, const char *what,
                                 const std::string &served,
                                 std::string_view got,
                                 const std::string &suggestion) {
  return {rule,
          std::string("expected the ") + what + " to be one of " + served +
              ", but got " + std::string(got),
          suggestion};
}

static std::optional<RuleFailure> checkRow(const Family &family,
                                           const Problem &p,
                                           const Target &target,
                                           int32_t order) {
  if (!(family.ops >> p.op & 1))
    return columnFailure(1, "op", namesOf(family.ops, DISCO_NUM_OPS, nameOfOp),
                         nameOfOp(p.op), others(family, p, target));
  if (!(family.dtypes >> p.dtype & 1))
    return columnFailure(2, "dtype", dtypeNames(family.dtypes),
                         nameOf(static_cast<DType>(p.dtype)),
                         others(family, p, target));
  if (!(family.structures >> p.structure & 1))
    return columnFailure(
        3, "structure",
        namesOf(family.structures, DISCO_NUM_STRUCTURES, nameOfStructure),
        nameOfStructure(p.structure), others(family, p, target));
  if (!family.providersOn(target)) {
    const bool cuda = family.parts & partCudaKernel;
    return RuleFailure{
        4,
        std::string("expected the target to be a ") + (cuda ? "cuda" : "cpu") +
            " target, but got " + target.name + " (" +
            (target.kind == TargetKind::cpu ? "cpu" : "cuda") + ")",
        std::string("compile for a ") + (cuda ? "cuda" : "cpu") + " target"};
  }
  if (!(ordersOf(p) >> order & 1))
    return RuleFailure{5,
                       "expected the order of " + std::string(nameOfOp(p.op)) +
                           " to be " +
                           namesOf(ordersOf(p), DISCO_NUM_ORDERS, nameOfOrder) +
                           ", but got " + std::string(nameOfOrder(order)),
                       ""};
  return std::nullopt;
}

std::optional<RuleFailure> planning::checkFamily(const Family &family,
                                                 const Problem &problem,
                                                 const Target &target,
                                                 int32_t order) {
  if (auto failure = checkRow(family, problem, target, order))
    return failure;
  for (int32_t i = 0; i < family.impl->numRules; ++i) {
    const Rule &rule = family.impl->rules[i];
    if (rule.check)
      if (auto failure = rule.check(problem, target, order)) {
        failure->rule = rule.number;
        return failure;
      }
  }
  return std::nullopt;
}

std::optional<RuleFailure> planning::checkSchedule(const Family &family,
                                                   const Problem &problem,
                                                   const Target &target,
                                                   const Schedule &schedule) {
  for (int32_t i = 0; i < family.impl->numRules; ++i) {
    const Rule &rule = family.impl->rules[i];
    if (rule.checkSchedule)
      if (auto failure = rule.checkSchedule(problem, target, schedule)) {
        failure->rule = rule.number;
        return failure;
      }
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string partNames(uint32_t parts) {
  return namesOf(parts, 4, [](int i) {
    static const std::string_view names[] = {"codegen", "lowering",
                                             "cpu_kernel", "cuda_kernel"};
    return names[i];
  });
}

/// " (available)", " (planned)", or which ops are.
static std::string describeAvailability(const Family &family) {
  if (family.available == family.ops)
    return " (available)";
  if (!family.available)
    return " (planned)";
  return " (available: " + namesOf(family.available, DISCO_NUM_OPS, nameOfOp) +
         "; others planned)";
}

std::string planning::listFamilies() {
  std::string text;
  for (const Family &family : families()) {
    text += std::string(family.name) + describeAvailability(family) + ": " +
            family.summary + "\n";
    text += "  ops: " + namesOf(family.ops, DISCO_NUM_OPS, nameOfOp) +
            "\n  dtypes: " + dtypeNames(family.dtypes) + "\n  structures: " +
            namesOf(family.structures, DISCO_NUM_STRUCTURES, nameOfStructure) +
            "\n  parts: " + partNames(family.parts) + "\n";
    for (int32_t i = 0; i < family.impl->numRules; ++i)
      text += "  rule " + std::to_string(family.impl->rules[i].number) + ": " +
              family.impl->rules[i].summary + "\n";
    for (int32_t i = 0; i < family.fields().size; ++i) {
      const FieldInfo &field = family.fields().fields[i];
      text += "  field " + std::string(field.name) + " [" +
              std::to_string(field.least) + ", " +
              std::to_string(field.greatest) + "]" +
              (*field.unit ? " " + std::string(field.unit) : "") + ": " +
              field.meaning + "\n";
    }
  }
  return text;
}
