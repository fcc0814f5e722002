//===- CpuGatherWorkspace.h - buffers of cpu_gather -------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The buffers that the kernels lay out in their workspace, for a target: its
// cores are the threads, its vectors the panels. Sizes that only the kernels
// know, of the structs that lead to the buffers, are left out: a unit test
// holds the sum against disco_cpu_gather_workspace_bytes.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_PLANNING_FAMILIES_CPUGATHERWORKSPACE_H
#define DISCO_LIB_PLANNING_FAMILIES_CPUGATHERWORKSPACE_H

#include "../Models.h"
#include "disco/ABI/Families/CpuGather.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace disco::planning::cpu_gather {

/// Whether rings of so many points have a transform: a number without prime
/// factors but 2, 3 and 5.
inline bool isSmooth(int64_t number) {
  for (const int factor : {2, 3, 5})
    while (number > 0 && number % factor == 0)
      number /= factor;
  return number == 1;
}

class Workspace {
public:
  Workspace(const Problem &problem, const Target &target, const Schedule &s)
      : op(problem), applied(appliedFilter(problem, s.order)),
        p(applied.problem), K(real(p.num_basis)), size(accumulatorBytes(p)),
        threads(target[TargetField::cores]),
        lanes(target[TargetField::vector_bytes] / size),
        panel(DISCO_CPU_GATHER_PANEL_VECTORS * lanes),
        wantedTile(real(get(s, DISCO_CPU_GATHER_TILE))),
        wantedBlock(real(get(s, DISCO_CPU_GATHER_CHANNEL_BLOCK))),
        isSphere(p.structure == DISCO_SPHERE),
        isMix(problem.op >= DISCO_OP_CONV), order(s.order) {}

  double bytes() const {
    if (op.op == DISCO_OP_CONTRACT_SUM ||
        (op.op == DISCO_OP_CONV && order == DISCO_WEIGHT_FIRST))
      return isSphere ? sphereSum() : pointSum();
    return op.op == DISCO_OP_CONTRACT ? contract()
           : op.op == DISCO_OP_CONV   ? filterFirst()
                                      : weightGrad();
  }

private:
  /// A buffer of so many elements, and a vector more.
  static double room(double count, double elementSize) {
    return padTo(count * elementSize, 64) + 64;
  }
  double sums(double count) const { return room(count, size); }
  static double indices(double count) { return room(count, 4); }

  double groupIn() const { return real(op.channels / op.groups); }
  double groupOut() const { return real(op.out_channels / op.groups); }
  double weight() const { return sums(real(op.out_channels) * groupIn() * K); }
  /// Columns of the widest row.
  double widest() const {
    return isSphere ? pointsPerRow(p) : real(DISCO_CPU_GATHER_POINT_BLOCK);
  }
  double tileOf(double least) const {
    return std::min(padTo(std::max(wantedTile, least), panel),
                    padTo(widest(), panel));
  }

  //===--------------------------------------------------------------------===//
  // Features
  //===--------------------------------------------------------------------===//

  /// `byChannel`: the tiles of a channel follow each other.
  double source(double tile, bool byChannel) const {
    return isSphere ? sphereSource(tile, byChannel) : pointSource();
  }

  double sphereSource(double tile, bool byChannel) const {
    const FilterCounts &f = p.filter;
    const auto atMost = [](int64_t count, int64_t most) {
      return real(std::max<int64_t>(std::min(count, most), 1));
    };
    const double taps = atMost(f.taps, DISCO_CPU_GATHER_CHUNK_TAPS);
    const double pieces = atMost(f.arcs, DISCO_CPU_GATHER_CHUNK_PIECES);
    const double stride = real(f.stride);
    const double staged =
        std::max(taps + pieces * stride * (tile + 1),
                 byChannel ? DISCO_CPU_GATHER_WHOLE_BYTES / size : 0);
    const double columns =
        std::max(tile, byChannel ? padTo(pointsPerRow(p), panel) : 0);
    double each = 3 * indices(taps) + 2 * sums(taps * K) + room(pieces * K, 1) +
                  indices(K) + indices(5 * pieces) + sums(staged);
    if (stride > 1)
      each += sums(real(p.in_shape[1]) + stride * (columns + 1));
    return indices(3 * real(f.rows)) + threads * each;
  }

  /// Taps of all points, as lists.
  double pointTables() const {
    return indices(outPoints(p)) + 2 * indices(real(p.filter.taps));
  }
  double listTaps() const {
    return std::max(std::floor(DISCO_CPU_GATHER_LIST_VALUES / K), 1.0);
  }

  double pointSource() const {
    constexpr double points = DISCO_CPU_GATHER_POINT_BLOCK,
                     channels = DISCO_CPU_GATHER_FILL_CHANNELS;
    const double fields = real(p.channels);
    const double each = sums(channels * points) + sums(points * K * channels) +
                        sums(listTaps() * K) + indices(listTaps());
    return pointTables() + sums(inPoints(p) * padTo(fields, lanes)) +
           threads * each;
  }

  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  double contract() const {
    const double block = isSphere ? 1 : DISCO_CPU_GATHER_POINT_CHANNELS;
    const double tile = tileOf(2 * panel), line = 64 / size;
    return source(tile, true) + sums(threads * block * K * (line + tile));
  }

  double filterFirst() const {
    const double tile = tileOf(0);
    const double block = std::max(std::min(wantedBlock, groupIn()), 1.0);
    return source(tile, false) + weight() + sums(threads * block * K * tile) +
           sums(threads * groupOut() * tile);
  }

  double weightGrad() const {
    const bool filtersX = order == DISCO_FILTER_FIRST;
    const double filtered = filtersX ? groupIn() : groupOut();
    const double others = filtersX ? groupOut() : groupIn();
    const double tile = tileOf(0);
    const double block = std::max(std::min(wantedBlock, filtered), 1.0);
    const double depth = block * K, padded = padTo(depth, panel);
    const double tasks = real(op.groups) * ceilDiv(filtered, block);
    const double bytes = std::max(tasks * others * padded * size, 1.0);
    const double splits =
        std::max(std::min(ceilDiv(DISCO_CPU_GATHER_TASK_TARGET, tasks),
                          std::floor(DISCO_CPU_GATHER_PARTIAL_BYTES / bytes)),
                 1.0);
    constexpr double rows = DISCO_CPU_GATHER_PRODUCT_ROWS;
    const double each = sums(depth * tile) + sums(padded * tile) +
                        sums(rows * tile) + sums(padTo(others, rows) * tile) +
                        sums(2 * tile * real(p.filter.phases));
    return source(tile, false) + sums(tasks * splits * others * padded) +
           threads * each;
  }

  /// Buffers of the rows near the poles of a plain contract_sum: those that all
  /// threads share, and those of each.
  std::pair<double, double> fourier() const {
    const FilterCounts &f = p.filter;
    const double points = pointsPerRow(p), half = std::floor(points / 2) + 1;
    const double pairs = ceilDiv(K, 2), table = 4 * pairs * half;
    const double fields = std::min(lanes, real(p.batch * p.channels));
    const double tables = std::min(
        std::min(real(f.arcs),
                 std::floor(real(f.taps) /
                            ceilDiv(DISCO_CPU_GATHER_FOURIER_TAPS * lanes,
                                    std::max(fields, 1.0)))),
        std::floor(DISCO_CPU_GATHER_FOURIER_BYTES / (table * size)));
    if (tables < 1 || !isSmooth(static_cast<int64_t>(points)))
      return {0, 0};
    const double rows = DISCO_CPU_GATHER_FOURIER_ROWS;
    return {indices(3 * real(f.rows)) + sums(2 * points) + sums(tables * table),
            sums((pairs + 1) * points * 2 * lanes) +
                sums(rows * half * 2 * lanes) +
                sums(2 * lanes * padTo(points, panel))};
  }

  double sphereSum() const {
    const FilterCounts &f = p.filter;
    const double nlonIn = real(p.in_shape[1]);
    const double ringPanels = padTo(nlonIn, panel);
    // Offsets into maps that need no copy.
    const bool isPlain = !isMix && f.stride == 1 && elementBytes(p) == size;
    const bool hasOrigin = isPlain && pointsPerRow(p) >= 4 * lanes;
    const double padded =
        padTo(pointsPerRow(p), panel) + (hasOrigin ? 2 * lanes : 0);
    const double map = real(f.stride) * padTo(pointsPerRow(p) + padded, panel);
    const double block = std::max(std::min(wantedBlock, groupOut()), 1.0);
    const double tasks =
        std::max(real(p.batch * p.groups) * ceilDiv(groupOut(), block), 1.0);
    const double rows = real(f.rows);
    const double chunks = std::max(
        ceilDiv(DISCO_CPU_GATHER_TASKS_PER_THREAD * threads, tasks),
        ceilDiv(rows * block * padded * size, DISCO_CPU_GATHER_SUMS_BYTES));
    const double chunk =
        std::max<double>(ceilDiv(rows, chunks), DISCO_CPU_GATHER_TASK_ROWS);
    const double list = std::max<double>(DISCO_CPU_GATHER_ROUND_ELEMENTS, K);
    constexpr double group = DISCO_CPU_GATHER_SUM_ROWS, pieceWords = 29 + 8;
    const auto [shared, own] =
        isPlain ? fourier() : std::pair<double, double>(0, 0);
    double each =
        own + sums((isMix ? block : 1) * K * map) +
        sums(std::max<double>(ringPanels, DISCO_CPU_GATHER_MIX_COLUMNS)) +
        sums(chunk * block * padded) + sums(group * list) +
        indices(isPlain ? 4 * list : 2 * list) + sums(group * nlonIn * K) +
        2 * indices(nlonIn) + room(nlonIn, 1) +
        indices(pieceWords * DISCO_CPU_GATHER_ROUND_PIECES) +
        indices(3 * chunk);
    if (isMix)
      each += sums(std::min<double>(DISCO_CPU_GATHER_MIX_CHANNELS, groupIn()) *
                   padTo(DISCO_CPU_GATHER_MIX_COLUMNS, panel)) +
              (f.stride > 1 ? sums(block * K * ringPanels) : 0);
    return indices(2 * (real(f.arcs) + real(p.in_shape[0]))) + shared +
           (isMix ? weight() : 0) + threads * each;
  }

  double pointSum() const {
    constexpr double points = DISCO_CPU_GATHER_POINT_BLOCK;
    const double channels = padTo(real(op.out_channels), lanes);
    const double block =
        std::max(std::min(padTo(wantedBlock, lanes), channels), lanes);
    const double each = sums(DISCO_CPU_GATHER_MIX_CHANNELS * points) +
                        sums(block * K * points) + sums(2 * block * points) +
                        sums(listTaps() * K) + indices(listTaps() * K);
    return pointTables() + sums(inPoints(p) * K * block) +
           (isMix ? weight() : 0) + threads * each;
  }

  const Problem &op;
  const AppliedFilter applied;
  const Problem &p; ///< whose filter is applied
  const double K, size, threads, lanes, panel, wantedTile, wantedBlock;
  const bool isSphere, isMix;
  const int32_t order;
};

} // namespace disco::planning::cpu_gather

#endif // DISCO_LIB_PLANNING_FAMILIES_CPUGATHERWORKSPACE_H
