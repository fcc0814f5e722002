//===- Problem.cpp - checks, hash and derived sizes of problems -----------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Planning/Problem.h"

#include <algorithm>
#include <cstring>
#include <iterator>

using namespace disco;
using namespace disco::planning;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

template <size_t n>
static std::string_view pick(const char *const (&names)[n], int32_t value) {
  return value >= 0 && static_cast<size_t>(value) < n ? names[value]
                                                      : "unknown";
}

std::string_view planning::nameOfOp(int32_t op) {
  return pick({"contract", "contract_sum", "conv", "conv_weight_grad"}, op);
}
std::string_view planning::nameOfDirection(int32_t direction) {
  return pick({"forward", "input_gradient", "weight_gradient"}, direction);
}
std::string_view planning::nameOfStructure(int32_t structure) {
  return pick({"sphere", "table", "csr"}, structure);
}
std::string_view planning::nameOfLayout(int32_t layout) {
  return pick({"nchw", "nhwc", "c8"}, layout);
}
std::string_view planning::nameOfOrder(int32_t order) {
  return pick({"filter_first", "weight_first"}, order);
}
std::string_view planning::nameOfProvider(int32_t provider) {
  return pick({"codegen", "runtime"}, provider);
}
std::string_view planning::nameOfPrecision(int32_t precision) {
  return pick({"ieee", "tf32", "bf16x3"}, precision);
}

//===----------------------------------------------------------------------===//
// Construction and checks
//===----------------------------------------------------------------------===//

Problem planning::makeProblem(int32_t op) {
  Problem problem{};
  problem.op = op;
  problem.direction =
      op == DISCO_OP_CONV_WEIGHT_GRAD ? DISCO_WEIGHT_GRADIENT : DISCO_FORWARD;
  problem.dtype = problem.parameter_dtype = DISCO_F32;
  problem.deterministic = 1;
  problem.batch = problem.channels = problem.out_channels = problem.groups = 1;
  return problem;
}

namespace {

/// Collects the first violation of a list of checks.
struct Checker {
  Status status;

  void range(const char *what, int64_t value, int64_t least, int64_t greatest) {
    if (status.ok() && (value < least || value > greatest))
      status = Error{std::string("expected ") + what + " to be in [" +
                     std::to_string(least) + ", " + std::to_string(greatest) +
                     "], but got " + std::to_string(value)};
  }
  void equal(const char *what, int64_t value, int64_t expected) {
    if (status.ok() && value != expected)
      status = Error{std::string("expected ") + what + " to be " +
                     std::to_string(expected) + ", but got " +
                     std::to_string(value)};
  }
  void multiple(const char *what, int64_t value, const char *ofWhat,
                int64_t divisor) {
    if (status.ok() && value % divisor != 0)
      status = Error{std::string("expected ") + what + " to be a multiple of " +
                     ofWhat + " (" + std::to_string(divisor) + "), but got " +
                     std::to_string(value)};
  }
};

} // namespace

// Extents beyond this are no tensor of any machine; below it, sums of a few
// products of two extents do not overflow.
static constexpr int64_t maxExtent = int64_t(1) << 40;

static void checkShapes(Checker &check, const Problem &p) {
  check.range("op", p.op, 0, DISCO_NUM_OPS - 1);
  check.range("direction", p.direction, 0, DISCO_NUM_DIRECTIONS - 1);
  check.range("structure", p.structure, 0, DISCO_NUM_STRUCTURES - 1);
  check.range("dtype", p.dtype, DISCO_F64, DISCO_BF16);
  check.range("parameter dtype", p.parameter_dtype, DISCO_F64, DISCO_BF16);
  check.range("precision", p.precision, 0, DISCO_NUM_PRECISIONS - 1);
  check.range("deterministic", p.deterministic, 0, 1);
  check.range("epilogue", p.epilogue, 0,
              p.op == DISCO_OP_CONV               ? DISCO_EPILOGUE_ALL
              : p.op == DISCO_OP_CONV_WEIGHT_GRAD ? DISCO_EPILOGUE_BIAS
                                                  : 0);
  check.range("input layout", p.in_layout, 0, DISCO_NUM_LAYOUTS - 1);
  check.range("output layout", p.out_layout, 0, DISCO_NUM_LAYOUTS - 1);
  check.range("batch_assumed", p.batch_assumed, 0, 1);
  check.equal("reserved", p.reserved, 0);
  check.range("K", p.num_basis, 1, maxExtent);
  check.range("batch", p.batch, 1, maxExtent);
  check.range("channels", p.channels, 1, maxExtent);
  check.range("output channels", p.out_channels, 1, maxExtent);
  check.range("groups", p.groups, 1, maxExtent);
  for (int d = 0; d < 2; ++d) {
    check.range("input extent", p.in_shape[d], 1, maxExtent);
    check.range("output extent", p.out_shape[d], 1, maxExtent);
  }
  if (!check.status)
    return;
  if (p.op == DISCO_OP_CONTRACT || p.op == DISCO_OP_CONTRACT_SUM) {
    check.equal("output channels", p.out_channels, p.channels);
    check.equal("groups", p.groups, 1);
  }
  check.multiple("channels", p.channels, "groups", p.groups);
  check.multiple("output channels", p.out_channels, "groups", p.groups);
}

/// The number of rows that shapes and phases give, capped.
static int64_t numRows(const Problem &p) {
  double rows =
      static_cast<double>(p.out_shape[0]) *
      static_cast<double>(p.structure == DISCO_SPHERE ? p.filter.phases
                                                      : p.out_shape[1]);
  return rows < 9e18 ? static_cast<int64_t>(rows) : INT64_MAX;
}

/// The counts `p.filter` against the shapes.
static void checkCounts(Checker &check, const Problem &p) {
  const FilterCounts &f = p.filter;
  check.range("stride", f.stride, 1, maxExtent);
  check.range("phases", f.phases, 1, maxExtent);
  if (!check.status)
    return;
  if (p.structure == DISCO_SPHERE) {
    bool down = p.in_shape[1] >= p.out_shape[1];
    int64_t wide = down ? p.in_shape[1] : p.out_shape[1];
    int64_t narrow = down ? p.out_shape[1] : p.in_shape[1];
    check.multiple("nlon of one grid", wide, "that of the other", narrow);
    check.equal("stride", f.stride, down ? wide / narrow : 1);
    check.equal("phases", f.phases, down ? 1 : wide / narrow);
  } else {
    check.equal("stride", f.stride, 1);
    check.equal("phases", f.phases, 1);
    check.equal("second extent", p.in_shape[1], 1);
    check.equal("second extent", p.out_shape[1], 1);
  }
  check.equal("rows of the filter", f.rows, numRows(p));
  check.range("exact", f.exact, 0, 1);
  check.range("shared_support", f.shared_support, 0, 1);
  check.range("empty rows", f.empty_rows, 0, f.rows);
  constexpr int64_t most = INT64_MAX / 4;
  check.range("taps", f.taps, 0, most);
  check.range("entries", f.entries, 0, most);
  check.range("min_taps", f.min_taps, 0, f.max_taps);
  check.range("max_taps", f.max_taps, 0, f.taps);
  check.range("rings", f.rings, 0, f.taps);
  check.range("max_rings", f.max_rings, 0, f.rings);
  check.range("arcs", f.arcs, f.rings, f.taps);
  check.range("gaps", f.gaps, 0, f.arcs);
  check.range("whole rings", f.whole_rings, 0, f.rings);
  check.range("longest arc", f.longest_arc, 0, f.max_taps);
  check.range("gap taps", f.gap_taps, 0, most);
  check.range("mirrored pairs", f.mirrored_pairs, 0, f.taps / 2);
  int64_t rows = 0, taps = 0;
  for (int i = 0; i < DISCO_TAP_BINS && check.status; ++i) {
    check.range("histogram rows", f.histogram_rows[i], 0, f.rows - rows);
    check.range("histogram taps", f.histogram_taps[i], 0, f.taps - taps);
    rows += f.histogram_rows[i];
    taps += f.histogram_taps[i];
  }
  check.equal("rows of the histogram", rows, f.rows);
  check.equal("taps of the histogram", taps, f.taps);
  if (check.status.ok() && f.shared_support &&
      static_cast<double>(f.entries) !=
          static_cast<double>(f.taps) * static_cast<double>(p.num_basis))
    check.status =
        Error{"expected a shared support to have taps K entries (" +
              std::to_string(f.taps) + " times " + std::to_string(p.num_basis) +
              "), but got " + std::to_string(f.entries)};
  if (check.status.ok() &&
      !(f.median_taps >= 0 && f.median_taps <= static_cast<double>(f.max_taps)))
    check.status = Error{"expected median_taps to be in [0, " +
                         std::to_string(f.max_taps) + "], but got " +
                         std::to_string(f.median_taps)};
}

Status planning::verify(const Problem &problem) {
  Checker check;
  checkShapes(check, problem);
  if (check.status.ok())
    checkCounts(check, problem);
  if (check.status.ok() && problem.op == DISCO_OP_CONV_WEIGHT_GRAD)
    checkCounts(check, appliedFilter(problem, DISCO_WEIGHT_FIRST).problem);
  return check.status;
}

//===----------------------------------------------------------------------===//
// Hash and text
//===----------------------------------------------------------------------===//

namespace {

/// FNV-1a over 64-bit words, least significant byte first.
struct Fnv {
  uint64_t state = 0xcbf29ce484222325u;

  void add(uint64_t word) {
    for (int i = 0; i < 8; ++i) {
      state ^= (word >> (8 * i)) & 0xff;
      state *= 0x100000001b3u;
    }
  }
  void add(std::initializer_list<int64_t> words) {
    for (int64_t word : words)
      add(static_cast<uint64_t>(word));
  }
};

} // namespace

/// But for `shared_support`, `entries` and `mirrored_pairs`: in tables a
/// feature's zero cannot be told from a tap that it does not have, and values
/// are rounded.
static void add(Fnv &fnv, const FilterCounts &f) {
  fnv.add({f.exact, f.rows, f.empty_rows, f.taps, f.min_taps, f.max_taps,
           f.rings, f.max_rings, f.arcs, f.gaps, f.whole_rings, f.longest_arc,
           f.gap_taps, f.stride, f.phases});
  uint64_t median;
  std::memcpy(&median, &f.median_taps, sizeof median);
  fnv.add(median);
  for (int i = 0; i < DISCO_TAP_BINS; ++i)
    fnv.add({f.histogram_rows[i], f.histogram_taps[i]});
}

uint64_t planning::hashOf(const Problem &p) {
  Fnv fnv;
  fnv.add({p.op, p.structure, p.dtype, p.parameter_dtype, p.precision,
           p.deterministic, p.epilogue, p.in_layout, p.out_layout,
           p.batch_assumed, p.num_basis, p.in_shape[0], p.in_shape[1],
           p.out_shape[0], p.out_shape[1], p.batch, p.channels, p.out_channels,
           p.groups});
  add(fnv, p.filter);
  if (p.op == DISCO_OP_CONV_WEIGHT_GRAD)
    add(fnv, p.adjoint);
  return fnv.state ? fnv.state : 1;
}

static std::string shapeText(const Problem &p, const int64_t shape[2]) {
  std::string text = std::to_string(shape[0]);
  return p.structure == DISCO_SPHERE ? text + "x" + std::to_string(shape[1])
                                     : text;
}

std::string planning::toString(const Problem &p) {
  std::string text =
      std::string(nameOfOp(p.op)) + " " +
      std::string(nameOfDirection(p.direction)) + " " +
      std::string(nameOf(static_cast<DType>(p.dtype))) + ", " +
      std::string(nameOfStructure(p.structure)) + " " +
      shapeText(p, p.in_shape) + " -> " + shapeText(p, p.out_shape) + ", K " +
      std::to_string(p.num_basis) + ", B " + std::to_string(p.batch) +
      (p.batch_assumed ? " (assumed)" : "") + ", C " +
      std::to_string(p.channels);
  if (p.op == DISCO_OP_CONV || p.op == DISCO_OP_CONV_WEIGHT_GRAD)
    text += ", O " + std::to_string(p.out_channels);
  if (p.groups > 1)
    text += ", groups " + std::to_string(p.groups);
  return text;
}

//===----------------------------------------------------------------------===//
// Derived sizes
//===----------------------------------------------------------------------===//

AppliedFilter planning::appliedFilter(const Problem &p, int32_t order) {
  AppliedFilter applied{p, order};
  if (p.op != DISCO_OP_CONV_WEIGHT_GRAD || order != DISCO_WEIGHT_FIRST)
    return applied;
  Problem &contract = applied.problem;
  contract.op = DISCO_OP_CONTRACT;
  std::swap(contract.in_shape, contract.out_shape);
  std::swap(contract.in_layout, contract.out_layout);
  contract.channels = p.out_channels;
  contract.groups = 1;
  contract.filter = p.adjoint;
  contract.adjoint = {};
  applied.order = DISCO_FILTER_FIRST;
  return applied;
}

static double real(int64_t value) { return static_cast<double>(value); }

double planning::inPoints(const Problem &p) {
  return real(p.in_shape[0]) * real(p.in_shape[1]);
}
double planning::outPoints(const Problem &p) {
  return real(p.out_shape[0]) * real(p.out_shape[1]);
}
int64_t planning::kPadOf(const Problem &p) {
  return filter::paddedNumBasis(p.num_basis);
}
double planning::pointsPerRow(const Problem &p) {
  return p.structure == DISCO_SPHERE ? real(p.out_shape[1] / p.filter.phases)
                                     : 1;
}
double planning::tapPairs(const Problem &p) {
  return real(p.filter.taps) * pointsPerRow(p);
}
double planning::filteredChannels(const Problem &p, int32_t order) {
  return real(order == DISCO_WEIGHT_FIRST ? p.out_channels : p.channels);
}
double planning::sparseFlop(const Problem &p, int32_t order) {
  return 2 * real(p.batch) * real(p.num_basis) * tapPairs(p) *
         filteredChannels(p, order);
}
double planning::einsumFlop(const Problem &p, int32_t order) {
  if (p.op == DISCO_OP_CONTRACT || p.op == DISCO_OP_CONTRACT_SUM)
    return 0;
  double points = order == DISCO_WEIGHT_FIRST ? inPoints(p) : outPoints(p);
  return 2 * real(p.batch) * points * real(p.channels / p.groups) *
         real(p.num_basis) * real(p.out_channels);
}
double planning::expandedElements(const Problem &p, int32_t order) {
  double points = order == DISCO_WEIGHT_FIRST ? inPoints(p) : outPoints(p);
  return real(p.batch) * filteredChannels(p, order) * real(p.num_basis) *
         points;
}
