//===- Problem.h - checks and statistics of problems ------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What goes with disco/ABI/Problem.h on the compiler's side: the problem is
// verified once, hashed into plans, printed, and its filter statistics are
// counted on constant filters or assumed for tables known only at run time.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_PLANNING_PROBLEM_H
#define DISCO_PLANNING_PROBLEM_H

#include "disco/ABI/Schedule.h"
#include "disco/Filter/SphereOperator.h"
#include "disco/Support/DType.h"
#include "disco/Support/Result.h"

#include <string>
#include <string_view>

namespace disco::planning {

using Problem = disco_problem;
using FilterCounts = disco_filter_statistics;

/// The words of reports, attributes and command lines: "conv",
/// "input_gradient", "sphere", "nchw", "filter_first", "runtime", "tf32".
std::string_view nameOfOp(int32_t op);
std::string_view nameOfDirection(int32_t direction);
std::string_view nameOfStructure(int32_t structure);
std::string_view nameOfLayout(int32_t layout);
std::string_view nameOfOrder(int32_t order);
std::string_view nameOfProvider(int32_t provider);
std::string_view nameOfPrecision(int32_t precision);

/// A problem of zeros with B = C = O = groups = 1, f32, IEEE, deterministic,
/// nchw in and out.
Problem makeProblem(int32_t op);

/// Ranges of every enumeration, positive sizes, groups divides C and O, whole
/// ratio of longitudes, and that the statistics agree with the shapes.
Status verify(const Problem &problem);

/// FNV-1a over all fields in their order, little endian: equal on every
/// machine. Left out are the direction, which families do not read, and what
/// values are (`shared_support`, `entries`, `mirrored_pairs`), so that a
/// materialised op has the hash that it had. Never 0, so that 0 can mean "no
/// hash".
uint64_t hashOf(const Problem &problem);

/// "conv forward bf16, sphere 360x720 -> 360x720, K 9, B 1, C 256, O 256".
std::string toString(const Problem &problem);

/// A problem for a filter: K, shapes, structure and exact statistics, of the
/// adjoint when that is asked for; both for a weight gradient. Everything else
/// as makeProblem.
Result<Problem> makeSphereProblem(int32_t op,
                                  const filter::SphereFilter &filter,
                                  bool adjoint = false);

/// Exact statistics of the operator that psi stands for; `adjoint` counts its
/// transpose (the input gradient's operator, or a transposed layer's). Errors
/// as operatorFromCoo.
Result<FilterCounts> countFilter(const filter::PsiCoo &psi,
                                 const filter::PsiShape &shape, bool adjoint);

/// The statistics of an operator; `entries` as of a PsiCoo.
FilterCounts countOperator(const filter::SphereOperator &op, int64_t entries);

/// What is assumed when only the number of taps is known before a run: that
/// they are shared by all k and spread evenly over the rows; on a sphere in
/// arcs of 8 taps, one a ring. exact = 0. A row has at most as many as there
/// are points.
FilterCounts spreadCounts(int32_t structure, int64_t numBasis,
                          const int64_t inShape[2], const int64_t outShape[2],
                          int64_t taps);

/// The same for `degree` taps a row: that of a table, or defaultDegree where
/// nothing is known.
FilterCounts assumedCounts(int32_t structure, int64_t numBasis,
                           const int64_t inShape[2], const int64_t outShape[2],
                           int64_t degree);
constexpr int64_t defaultDegree = 32;

/// The filter that is applied when the op is run in an order, as a problem and
/// an order of its own. A conv_weight_grad that is weight_first filters gy with
/// the adjoint: that is a contract of gy. All else is the problem itself.
struct AppliedFilter {
  Problem problem;
  int32_t order;
};
AppliedFilter appliedFilter(const Problem &problem, int32_t order);

//===----------------------------------------------------------------------===//
// Derived sizes. Doubles: exact up to 2^53, no overflow on hostile extents.
//===----------------------------------------------------------------------===//

double inPoints(const Problem &problem);
double outPoints(const Problem &problem);
/// K rounded up to a multiple of 8.
int64_t kPadOf(const Problem &problem);
/// Output points that one row of the statistics serves.
double pointsPerRow(const Problem &problem);
/// (tap, output point) pairs of one field.
double tapPairs(const Problem &problem);
/// The fields that are filtered for one sample: C (filter_first) or O.
double filteredChannels(const Problem &problem, int32_t order);
/// 2 B K tapPairs fields: FLOP of the sparse operator.
double sparseFlop(const Problem &problem, int32_t order);
/// 2 B points (C/groups) K O, on the output grid (filter_first) or the input
/// grid (weight_first); 0 for contract and contract_sum.
double einsumFlop(const Problem &problem, int32_t order);
/// Elements of the K-expanded tensor of that order, [B, fields, K, points].
double expandedElements(const Problem &problem, int32_t order);

} // namespace disco::planning

#endif // DISCO_PLANNING_PROBLEM_H
