//===- SumTables.cpp - the tables of contract_sum on a sphere -------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../CPU/CpuGather/Mirror.h"
#include "TableValues.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>

namespace disco::cuda::csr {

namespace {

/// Out-points of a warp.
constexpr int32_t maxSumTile = 32 * sumPoints;
/// Windows begin at multiples of this, where 16 bytes of f32 do.
constexpr int32_t windowAlignment = 4;
/// Steps of a far stage: its values are 2 to 3 chunks more than the window's
/// steps, and together no more than those of the widest window.
constexpr int32_t maxFarSteps = sumMaxSteps - 2;

/// An arc of a row of the group.
struct RowArc {
  LatticeArc arc;
  int32_t row;
};

/// Arcs of rows on a ring.
struct RingArcs {
  int32_t place;
  /// Of the lattice, read for out-point 0, where all arcs have their middle and
  /// every map is even or odd about it; -1: there is none.
  int32_t middle;
  std::vector<RowArc> arcs;
  std::vector<double> signs; ///< [K] 1: even
};

/// Taps of a row in a window, which begin at `offset`.
struct Piece {
  LatticeArc arc;
  int32_t row, offset;
};
/// What rows of a group read of a ring.
struct Window {
  int32_t place, first, taps;
  std::vector<Piece> pieces;
};

/// The taps of a row in a step: bit i of its mask is tap `at` + i of the arc.
struct Taps {
  LatticeArc arc;
  int32_t at;
};
using RowTaps = std::array<std::optional<Taps>, sumRows>;

/// A stage: the taps that rows have in each step, and where they are.
struct Part {
  int32_t place = 0, first = 0;
  SumForm form = SumForm::plain;
  int32_t firstK = 0, numK = 0;
  int32_t growth = 0; ///< chunks of the window beyond those of the tile
  int32_t all = 0;
  std::vector<int32_t> masks;
  std::vector<RowTaps> taps;
  RowTaps middle;
  const std::vector<double> *signs = nullptr;

  int32_t numSteps() const { return static_cast<int32_t>(masks.size()); }

  /// About how many instructions of a warp it takes for each k.
  int64_t cost() const {
    if (form == SumForm::low)
      return 60;
    const bool isPlain = form == SumForm::plain;
    int64_t sum = isPlain ? 100 : 130;
    for (const int32_t mask : masks) {
      int32_t taps = 0, rows = 0, partial = 0;
      for (int32_t r = 0; r < sumRows; ++r) {
        const int32_t has = mask >> 4 * r & 15;
        rows += has != 0;
        partial += has != 0 && has != (all >> 4 * r & 15);
        for (int32_t i = 0; i < 4; ++i)
          taps += has >> i & 1;
        taps += mask >> (16 + r) & 1;
      }
      sum += isPlain ? 20 + 16 * taps + (mask == all ? 2 : 8) * rows
                     : 80 + 16 * taps + 8 * rows + 12 * partial;
    }
    return sum;
  }
};

class ContractSumBuilder {
public:
  ContractSumBuilder(const disco_kernel_psi &psi, const Lattice &lattice,
                     SumType type, ContractSumTables &tables)
      : psi(psi), lattice(lattice), type(type), tables(tables),
        numBasis(static_cast<int32_t>(psi.num_basis)) {}

  void addGroup(int32_t firstRow, int32_t numRows, bool isSplit) {
    const auto group = static_cast<int32_t>(tables.groups.size());
    const std::vector<RingArcs> rings = ringsOf(firstRow, numRows);
    std::vector<Part> parts;
    const int32_t shift = fillParts(rings, parts);
    tables.groups.push_back(
        {static_cast<int32_t>(tables.rowPlaces.size()), numRows, shift, 0});
    for (int32_t r = 0; r < numRows; ++r)
      tables.rowPlaces.push_back(lattice.places[firstRow + r]);
    const auto firstStage = static_cast<int32_t>(tables.stages.size());
    const int64_t firstValue = grow(tables.values, 0, type);
    for (const Part &part : parts)
      addStage(part);
    addWarps(group, firstStage, firstValue, parts, isSplit ? sumWarps : 1);
  }

private:
  /// Taps of a step, 16 bytes of values.
  int32_t stepTaps() const {
    return static_cast<int32_t>(16 / sizeOfSum(type));
  }
  int32_t pointAt(int32_t point) const {
    return (point % lattice.points + lattice.points) % lattice.points;
  }
  bool isRing(const LatticeArc &arc) const {
    return arc.taps == lattice.points;
  }
  /// The tap in the middle of an arc that has one, and the taps on each side.
  int32_t middleTap(const LatticeArc &arc) const {
    return isRing(arc) ? 0 : arc.taps / 2;
  }
  int32_t sideTaps(const LatticeArc &arc) const { return (arc.taps - 1) / 2; }
  double valueOf(const LatticeArc &arc, int32_t u, int64_t k) const {
    return valueAt(psi, arc.value + int64_t(u) * lattice.stride, k);
  }

  /// The arcs of a group by ring and, where they mirror, by their middle.
  std::vector<RingArcs> ringsOf(int32_t firstRow, int32_t numRows) const {
    std::map<std::pair<int32_t, int32_t>, std::vector<RowArc>> byMiddle;
    for (int32_t r = 0; r < numRows; ++r)
      for (int32_t a = lattice.offsets[firstRow + r];
           a < lattice.offsets[firstRow + r + 1]; ++a) {
        const LatticeArc &arc = lattice.arcs[a];
        const bool hasMiddle = arc.taps % 2 == 1 || isRing(arc);
        const int32_t middle =
            hasMiddle ? pointAt(arc.first + middleTap(arc)) : -1;
        if (arc.taps > 0)
          byMiddle[{arc.place, middle}].push_back({arc, r});
      }
    std::vector<RingArcs> rings;
    std::map<int32_t, std::vector<RowArc>> others;
    for (const auto &[key, arcs] : byMiddle) {
      RingArcs ring = {key.first, key.second, arcs, {}};
      if (ring.middle >= 0 && findSigns(ring))
        rings.push_back(std::move(ring));
      else
        others[key.first].insert(others[key.first].end(), arcs.begin(),
                                 arcs.end());
    }
    for (auto &[place, arcs] : others)
      rings.push_back({place, -1, std::move(arcs), {}});
    std::stable_sort(
        rings.begin(), rings.end(),
        [](const RingArcs &a, const RingArcs &b) { return a.place < b.place; });
    return rings;
  }

  /// Whether every map is even on all arcs, or odd, about their middle.
  bool findSigns(RingArcs &ring) const {
    for (size_t i = 1; i < ring.arcs.size(); ++i)
      if (ring.arcs[i].row == ring.arcs[i - 1].row)
        return false;
    for (int32_t k = 0; k < numBasis; ++k) {
      int parity = cpu_gather::even | cpu_gather::odd;
      for (const RowArc &row : ring.arcs)
        for (int32_t u = 1; parity && u <= sideTaps(row.arc); ++u) {
          const int32_t middle = middleTap(row.arc);
          const double a = valueOf(row.arc, middle + u, k);
          const double b = valueOf(
              row.arc, isRing(row.arc) ? row.arc.taps - u : middle - u, k);
          parity &=
              (a == b ? cpu_gather::even : 0) | (a == -b ? cpu_gather::odd : 0);
        }
      if (!parity)
        return false;
      ring.signs.push_back(parity & cpu_gather::even ? 1 : -1);
    }
    return true;
  }

  /// The windows of arcs of a ring. Arcs of several rows that are near each
  /// other share one; the order of each row's pieces is that of its arcs.
  std::vector<Window> windowsOf(int32_t place, std::vector<RowArc> arcs) const {
    std::sort(arcs.begin(), arcs.end(), [](const RowArc &a, const RowArc &b) {
      return std::tie(a.row, a.arc.value) < std::tie(b.row, b.arc.value);
    });
    std::vector<Window> windows;
    for (const auto &[arc, row] : arcs)
      if (!share(windows, arc, row))
        windows.push_back({place, arc.first, arc.taps, {{arc, row, 0}}});
    return windows;
  }

  /// Adds the arc to a window that is there, if that grows little.
  bool share(std::vector<Window> &windows, const LatticeArc &arc,
             int32_t row) const {
    for (Window &window : windows) {
      if (window.pieces.back().row == row)
        continue;
      // How far the arc begins after the window, the shorter way round.
      int32_t shift = arc.first - window.first;
      if (shift > lattice.points / 2)
        shift -= lattice.points;
      if (shift < -(lattice.points / 2))
        shift += lattice.points;
      const int32_t begin = std::min(0, shift);
      const int32_t end = std::max(window.taps, shift + arc.taps);
      if (end - begin > std::max(window.taps, arc.taps) + 32)
        continue;
      window.first = (window.first + begin + lattice.points) % lattice.points;
      window.taps = end - begin;
      for (Piece &other : window.pieces)
        other.offset -= begin;
      window.pieces.push_back({arc, row, shift - begin});
      return true;
    }
    return false;
  }

  static int64_t costOf(const std::vector<Part> &parts) {
    int64_t cost = 0;
    for (const Part &part : parts)
      cost += part.cost() * part.numK;
    return cost;
  }

  /// The stages of a group. Returns the lattice point at which its tiles
  /// begin: the one of 4 from which the steps of rows hold most of their taps.
  int32_t fillParts(const std::vector<RingArcs> &rings,
                    std::vector<Part> &best) const {
    int32_t bestShift = 0;
    int64_t bestCost = INT64_MAX;
    for (int32_t shift = 0; shift < std::min(windowAlignment, lattice.points);
         ++shift) {
      std::vector<Part> parts;
      for (size_t first = 0, end = 0; first < rings.size(); first = end) {
        while (end < rings.size() && rings[end].place == rings[first].place)
          ++end;
        const std::vector<Part> stages =
            stagesOf(rings.data() + first, rings.data() + end, shift);
        parts.insert(parts.end(), stages.begin(), stages.end());
      }
      if (const int64_t cost = costOf(parts); cost < bestCost) {
        best = std::move(parts);
        bestCost = cost;
        bestShift = shift;
      }
    }
    return bestShift;
  }

  /// Of all arcs of a ring: mirrored where that is less work, or none.
  std::vector<Part> stagesOf(const RingArcs *begin, const RingArcs *end,
                             int32_t shift) const {
    std::vector<Part> plain, mirrored;
    std::vector<RowArc> all, others;
    for (const RingArcs *arcs = begin; arcs != end; ++arcs) {
      const RingArcs &ring = *arcs;
      all.insert(all.end(), ring.arcs.begin(), ring.arcs.end());
      if (ring.middle >= 0 && (ring.middle + shift) % windowAlignment == 0)
        mirror(ring, shift, mirrored);
      else
        others.insert(others.end(), ring.arcs.begin(), ring.arcs.end());
    }
    const int32_t place = begin->place;
    for (const Window &window : windowsOf(place, all))
      cut(window, shift, plain);
    if (mirrored.empty())
      return plain;
    for (const Window &window : windowsOf(place, others))
      cut(window, shift, mirrored);
    return costOf(mirrored) < costOf(plain) ? mirrored : plain;
  }

  Part partAt(int32_t place, int32_t point, SumForm form, int32_t numK) const {
    Part part;
    part.place = place;
    part.first = pointAt(point);
    part.form = form;
    part.numK = numK;
    return part;
  }

  /// Stages of a window, for tiles that begin at a lattice point.
  void cut(const Window &window, int32_t shift,
           std::vector<Part> &parts) const {
    const int32_t taps = sumMaxSteps * stepTaps();
    const int32_t first = (window.first + shift) % lattice.points;
    const int32_t before = first % windowAlignment;
    for (int32_t begin = 0; begin < window.taps + before; begin += taps) {
      Part part = partAt(window.place, first - before + begin, SumForm::plain,
                         numBasis);
      const int32_t end = std::min(begin + taps, window.taps + before);
      for (int32_t at = begin; at < end; at += stepTaps())
        addStep(window, at - before, part);
      while (!part.masks.empty() && part.masks.back() == 0) {
        part.masks.pop_back();
        part.taps.pop_back();
      }
      part.growth = part.numSteps();
      if (!part.masks.empty())
        parts.push_back(std::move(part));
    }
  }

  /// The taps of rows from tap `at` of the window on.
  void addStep(const Window &window, int32_t at, Part &part) const {
    const int32_t full = (1 << stepTaps()) - 1;
    int32_t mask = 0;
    RowTaps &taps = part.taps.emplace_back();
    for (const Piece &piece : window.pieces) {
      int32_t has = 0;
      for (int32_t i = 0; i < stepTaps(); ++i)
        if (at + i >= piece.offset && at + i < piece.offset + piece.arc.taps)
          has |= 1 << i;
      if (!has)
        continue;
      taps[piece.row] = Taps{piece.arc, at - piece.offset};
      mask |= has << 4 * piece.row;
      part.all |= full << 4 * piece.row;
    }
    part.masks.push_back(mask);
  }

  /// Stages of mirrored arcs, for tiles that begin at a lattice point.
  void mirror(const RingArcs &ring, int32_t shift,
              std::vector<Part> &parts) const {
    int32_t sides = 0;
    RingArcs opposite = {ring.place, -1, {}, {}};
    for (const auto &[arc, row] : ring.arcs) {
      sides = std::max(sides, sideTaps(arc));
      // Of an even ring, the tap opposite to the middle stays alone.
      if (isRing(arc) && arc.taps % 2 == 0)
        opposite.arcs.push_back(
            {{arc.place, pointAt(arc.first + arc.taps / 2), 1,
              arc.value + int64_t(arc.taps / 2) * lattice.stride},
             row});
    }
    const int32_t V = stepTaps(), middle = ring.middle + shift;
    int32_t steps = std::clamp((sides + V - 1) / V, 1, sumMaxSteps / 2);
    Part near = partAt(ring.place, middle - steps * V, SumForm::near, numBasis);
    near.growth = 2 * steps;
    addPairs(ring, 0, steps, near);
    for (const auto &[arc, row] : ring.arcs) {
      near.middle[row] = Taps{arc, middleTap(arc)};
      near.masks[0] |= 1 << (16 + row);
    }
    parts.push_back(std::move(near));
    for (int32_t u = steps * V; u < sides; u += steps * V) {
      steps = std::min((sides - u + V - 1) / V, maxFarSteps);
      Part low = partAt(ring.place, middle - u - steps * V, SumForm::low, 1);
      Part high = partAt(ring.place, middle + u, SumForm::high, 1);
      low.growth = high.growth = steps;
      addPairs(ring, u, steps, high);
      for (int32_t k = 0; k < numBasis; ++k) {
        low.firstK = high.firstK = k;
        parts.push_back(low);
        parts.push_back(high);
      }
    }
    for (const Window &window : windowsOf(ring.place, opposite.arcs))
      cut(window, shift, parts);
  }

  /// Steps of the pairs of taps that are more than `u` from the middle.
  void addPairs(const RingArcs &ring, int32_t u, int32_t steps,
                Part &part) const {
    const int32_t V = stepTaps();
    part.signs = &ring.signs;
    for (int32_t step = 0; step < steps; ++step) {
      int32_t mask = 0;
      RowTaps &taps = part.taps.emplace_back();
      const int32_t first = u + step * V + 1;
      for (const auto &[arc, row] : ring.arcs) {
        const int32_t has = std::clamp(sideTaps(arc) - first + 1, 0, V);
        taps[row] = Taps{arc, middleTap(arc) + first};
        mask |= ((1 << has) - 1) << 4 * row;
        part.all |= ((1 << V) - 1) << 4 * row;
      }
      part.masks.push_back(mask);
    }
  }

  void addStage(const Part &part) {
    const int32_t steps = part.numSteps();
    int32_t bytes = headerBytes(steps) + 16 * steps * sumRows;
    if (steps && part.form != SumForm::plain)
      bytes += 16 + sumRows * static_cast<int32_t>(sizeOfSum(type));
    tables.stages.push_back({part.place, part.first,
                             part.growth | part.numK << 8,
                             bytes / 16 | part.firstK << 8});
    tables.maxValueBytes = std::max(tables.maxValueBytes, bytes);
    for (int32_t k = part.firstK; k < part.firstK + part.numK; ++k)
      writeValues(part, k);
  }

  /// Divides the windows of a group, those of a stage for all k one after the
  /// other, between warps.
  void addWarps(int32_t group, int32_t firstStage, int64_t firstValue,
                const std::vector<Part> &parts, int32_t warps) {
    const int64_t all = costOf(parts);
    int64_t done = 0, value = firstValue;
    Int4 next = {group, firstStage, 0, 0};
    int64_t nextValue = value;
    int32_t warp = 1;
    const auto finish = [&] {
      tables.parts.push_back(next);
      tables.partValues.push_back(
          static_cast<int32_t>(nextValue * sizeOfSum(type) / 16));
    };
    for (size_t i = 0; i < parts.size(); ++i)
      for (int32_t k = 0; k < parts[i].numK; ++k) {
        // A low window and its high one stay together.
        if (done * warps >= all * warp && parts[i].form != SumForm::high) {
          finish();
          next = {group, firstStage + static_cast<int32_t>(i), k, 0};
          nextValue = value;
          ++warp;
        }
        ++next.w;
        done += parts[i].cost();
        value += (tables.stages[firstStage + i].w & 255) * int64_t(stepTaps());
      }
    finish();
    for (next.w = 0; warp < warps; ++warp)
      finish();
  }

  void writeValues(const Part &part, int32_t k) {
    const int32_t steps = part.numSteps();
    const int64_t header =
        grow(tables.values, headerBytes(steps) / sizeOfSum(type), type) *
        sizeOfSum(type);
    const int32_t chunk = (part.place + part.first) / stepTaps();
    const int32_t left = std::min(part.firstK + part.numK - k, 0x7fff);
    const int32_t counts[] = {steps | (chunk & 255) << 8 |
                                  static_cast<int32_t>(part.form) << 16,
                              part.all | left << 16};
    std::memcpy(tables.values.data() + header, counts, sizeof counts);
    if (steps) // else a null pointer
      std::memcpy(tables.values.data() + header + sizeof counts,
                  part.masks.data(), steps * sizeof(int32_t));
    if (steps && part.form != SumForm::plain) {
      put(tables.values, grow(tables.values, stepTaps(), type), type,
          (*part.signs)[k]);
      const int64_t at = grow(tables.values, sumRows, type);
      for (int32_t r = 0; r < sumRows; ++r)
        if (const auto &taps = part.middle[r])
          put(tables.values, at + r, type, valueOf(taps->arc, taps->at, k));
    }
    for (int32_t step = 0; step < steps; ++step) {
      const int64_t at =
          grow(tables.values, int64_t(stepTaps()) * sumRows, type);
      for (int32_t r = 0; r < sumRows; ++r)
        for (int32_t i = 0; i < stepTaps(); ++i)
          if (part.masks[step] >> (4 * r + i) & 1) {
            const Taps &taps = *part.taps[step][r];
            put(tables.values, at + r * stepTaps() + i, type,
                valueOf(taps.arc, taps.at + i, k));
          }
    }
  }

  const disco_kernel_psi &psi;
  const Lattice &lattice;
  const SumType type;
  ContractSumTables &tables;
  const int32_t numBasis;
};

/// Neighbouring rows.
struct Group {
  int64_t taps;
  int32_t first, rows;
};

/// Those with most taps first.
std::vector<Group> groupRows(const Lattice &lattice, int64_t groupTaps) {
  std::vector<Group> groups;
  for (int32_t row = 0; row < lattice.numRows();) {
    Group group = {lattice.tapsOf(row), row, 1};
    for (; group.rows < sumRows && row + group.rows < lattice.numRows();
         ++group.rows) {
      const int64_t taps = lattice.tapsOf(row + group.rows);
      if (group.taps + taps > groupTaps)
        break;
      group.taps += taps;
    }
    groups.push_back(group);
    row += group.rows;
  }
  std::sort(groups.begin(), groups.end(), [](const Group &a, const Group &b) {
    return std::tie(b.taps, a.first) < std::tie(a.taps, b.first);
  });
  return groups;
}

int32_t sumTiles(const Lattice &lattice) {
  return (lattice.points + maxSumTile - 1) / maxSumTile;
}

} // namespace

/// A group takes about as long as a warp has to do on the average, if there is
/// enough to do, so that the last ones do not run alone.
SumBalance balanceOf(const Lattice &lattice, int64_t fieldBlocks,
                     int64_t warps) {
  int64_t taps = 0;
  for (int32_t row = 0; row < lattice.numRows(); ++row)
    taps += lattice.tapsOf(row);
  const int64_t each =
      taps * fieldBlocks * sumTiles(lattice) / std::max<int64_t>(warps, 1);
  return {std::clamp<int64_t>(each, 4, DISCO_CSR_GATHER_SUM_TAPS),
          std::clamp<int64_t>(each / sumWarps, 1,
                              DISCO_CSR_GATHER_SUM_TAPS / sumWarps)};
}

ContractSumTables makeContractSumTables(const disco_kernel_psi &psi,
                                        const Lattice &lattice, SumType type,
                                        const SumBalance &balance) {
  ContractSumTables tables;
  const int32_t points = lattice.points;
  tables.tiles = sumTiles(lattice);
  const int32_t balanced = (points + tables.tiles - 1) / tables.tiles;
  tables.tile = (balanced + sumPoints - 1) / sumPoints * sumPoints;
  tables.tiles = (points + tables.tile - 1) / tables.tile;
  ContractSumBuilder builder(psi, lattice, type, tables);
  for (const Group &group : groupRows(lattice, balance.groupTaps)) {
    const bool isSplit = group.taps > balance.splitTaps;
    tables.numSplit += isSplit;
    builder.addGroup(group.first, group.rows, isSplit);
  }
  // One more than there are, which is read ahead.
  tables.stages.push_back({0, 0, 0, 0});
  return tables;
}

} // namespace disco::cuda::csr
