//===- Lattice.cpp - operators in lattice form ----------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lattice.h"

#include "../../CPU/CpuGather/Values.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <tuple>

namespace disco::cuda::csr {

static int64_t indexAt(const void *table, int32_t dtype, int64_t i) {
  return dtype == DISCO_I64 ? static_cast<const int64_t *>(table)[i]
                            : static_cast<const int32_t *>(table)[i];
}

double valueAt(const disco_kernel_psi &psi, int64_t tap, int64_t k) {
  return cpu_gather::valueAt(psi.values, psi.value_dtype,
                             tap * psi.num_basis + k);
}

int64_t Lattice::tapsOf(int32_t row) const {
  int64_t taps = 0;
  for (int32_t a = offsets[row]; a < offsets[row + 1]; ++a)
    taps += arcs[a].taps;
  return taps;
}

Lattice toLattice(const disco_kernel_psi &psi) {
  Lattice lattice;
  const int64_t points = std::min(psi.nlon_in, psi.nlon_out);
  lattice.points = static_cast<int32_t>(points);
  lattice.stride = static_cast<int32_t>(psi.nlon_in / points);
  lattice.phases = static_cast<int32_t>(psi.nlon_out / points);
  lattice.numBasis = psi.num_basis;
  lattice.offsets.push_back(0);
  const int64_t stride = lattice.stride;
  for (int64_t row = 0; row < psi.nlat_out * lattice.phases; ++row) {
    const int64_t end = indexAt(psi.offsets, psi.index_dtype, row + 1);
    for (int64_t a = indexAt(psi.offsets, psi.index_dtype, row); a < end; ++a) {
      const auto at = [&](int64_t i) {
        return indexAt(psi.indices, psi.index_dtype, 4 * a + i);
      };
      const int64_t lat = at(0), start = at(1), length = at(2);
      for (int64_t u = 0; u < std::min(stride, length); ++u) {
        const int64_t lon = (start + u) % psi.nlon_in;
        lattice.arcs.push_back(
            {static_cast<int32_t>(lat * psi.nlon_in + lon % stride),
             static_cast<int32_t>(lon / stride),
             static_cast<int32_t>((length - u + stride - 1) / stride),
             at(3) + u});
      }
    }
    lattice.offsets.push_back(static_cast<int32_t>(lattice.arcs.size()));
    lattice.places.push_back(static_cast<int32_t>(
        row / lattice.phases * psi.nlon_out + row % lattice.phases));
  }
  return lattice;
}

/// Appends `count` zeros of the type of sums, and says where.
static int64_t grow(std::vector<char> &values, int64_t count, SumType type) {
  const int64_t at = static_cast<int64_t>(values.size()) / sizeOfSum(type);
  values.resize(values.size() + count * sizeOfSum(type));
  return at;
}

static void put(std::vector<char> &values, int64_t at, SumType type,
                double value) {
  if (type == SumType::f64) {
    std::memcpy(values.data() + at * 8, &value, 8);
    return;
  }
  const auto narrow = static_cast<float>(value);
  std::memcpy(values.data() + at * 4, &narrow, 4);
}

/// Arcs cut to pieces of at most `longest` taps.
static std::vector<LatticeArc> cutArcs(const Lattice &lattice, int32_t row,
                                       int32_t longest) {
  std::vector<LatticeArc> pieces;
  for (int32_t a = lattice.offsets[row]; a < lattice.offsets[row + 1]; ++a) {
    LatticeArc arc = lattice.arcs[a];
    while (arc.taps > 0) {
      LatticeArc piece = arc;
      piece.taps = std::min(arc.taps, longest);
      pieces.push_back(piece);
      arc.taps -= piece.taps;
      arc.value += int64_t(piece.taps) * lattice.stride;
      arc.first = (arc.first + piece.taps) % lattice.points;
    }
  }
  return pieces;
}

//===----------------------------------------------------------------------===//
// contract
//===----------------------------------------------------------------------===//

namespace {

/// Shared memory of a block of contract: at most this many columns and taps in
/// a stage, unless one window needs more.
constexpr int32_t maxColumns = 1024, maxStageTaps = 128,
                  maxPieceTaps = DISCO_CSR_GATHER_PIECE_TAPS;

class ContractBuilder {
public:
  ContractBuilder(const disco_kernel_psi &psi, const Lattice &lattice,
                  SumType type, ContractTables &tables)
      : psi(psi), lattice(lattice), type(type), tables(tables) {}

  void addRow(int32_t row) {
    const auto firstStage = static_cast<int32_t>(tables.stages.size());
    columns = taps = 0;
    isOpen = false;
    for (const LatticeArc &piece : cutArcs(lattice, row, maxPieceTaps))
      addPiece(piece);
    const auto numStages =
        static_cast<int32_t>(tables.stages.size()) - firstStage;
    tables.rows.push_back({firstStage, numStages, lattice.places[row],
                           static_cast<int32_t>(lattice.tapsOf(row))});
  }

  /// Records of all taps, once every row is there.
  void writeValues() {
    const int record = recordSize(tables.kTile, sizeOfSum(type));
    tables.numTaps = static_cast<int32_t>(records.size());
    int64_t at = grow(tables.values,
                      int64_t(tables.kTiles) * tables.numTaps * record, type);
    for (int32_t tile = 0; tile < tables.kTiles; ++tile)
      for (const Record &r : records) {
        for (int64_t k = 0; k < tables.kTile; ++k) {
          const int64_t basis = int64_t(tile) * tables.kTile + k;
          if (basis < psi.num_basis)
            put(tables.values, at + k, type, valueAt(psi, r.value, basis));
        }
        // The bits of an integer; of a double's, the lower half.
        std::memcpy(tables.values.data() +
                        (at + tables.kTile) * sizeOfSum(type),
                    &r.column, sizeof r.column);
        at += record;
      }
  }

private:
  struct Record {
    int64_t value;
    int32_t column;
  };

  void addPiece(const LatticeArc &piece) {
    const int32_t size = tables.tile + piece.taps - 1;
    if (!isOpen || columns + size > maxColumns ||
        taps + piece.taps > maxStageTaps) {
      tables.stages.push_back({static_cast<int32_t>(tables.windows.size()), 0,
                               static_cast<int32_t>(records.size()), 0});
      columns = taps = 0;
      isOpen = true;
    }
    tables.windows.push_back({piece.place, piece.first, piece.taps, columns});
    for (int32_t u = 0; u < piece.taps; ++u)
      records.push_back(
          {piece.value + int64_t(u) * lattice.stride, columns + u});
    columns += size;
    taps += piece.taps;
    Int4 &stage = tables.stages.back();
    ++stage.y;
    stage.w = taps;
    tables.columns = std::max(tables.columns, columns);
    tables.maxTaps = std::max(tables.maxTaps, taps);
  }

  const disco_kernel_psi &psi;
  const Lattice &lattice;
  const SumType type;
  ContractTables &tables;
  std::vector<Record> records;
  int32_t columns = 0, taps = 0;
  bool isOpen = false;
};

/// Rows [begin, end), those with most taps first.
std::vector<int32_t> longestFirst(const Lattice &lattice, int32_t begin,
                                  int32_t end) {
  std::vector<int32_t> order(end - begin);
  std::iota(order.begin(), order.end(), begin);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return std::pair(lattice.tapsOf(b), a) < std::pair(lattice.tapsOf(a), b);
  });
  return order;
}

} // namespace

ContractTables makeContractTables(const disco_kernel_psi &psi,
                                  const Lattice &lattice, SumType type,
                                  int32_t tile, int32_t kTile,
                                  int64_t blockLatitudes) {
  ContractTables tables;
  tables.tile = std::min(tile, lattice.points);
  tables.kTile = kTile;
  tables.kTiles = static_cast<int32_t>((psi.num_basis + kTile - 1) / kTile);
  ContractBuilder builder(psi, lattice, type, tables);
  const int32_t numRows = lattice.numRows();
  const auto step = static_cast<int32_t>(
      blockLatitudes == 0
          ? std::max(numRows, 1)
          : std::min<int64_t>(blockLatitudes * lattice.phases, numRows));
  tables.blockOffsets.push_back(0);
  for (int32_t begin = 0; begin < numRows; begin += step) {
    for (int32_t row :
         longestFirst(lattice, begin, std::min(begin + step, numRows)))
      builder.addRow(row);
    tables.blockOffsets.push_back(static_cast<int32_t>(tables.rows.size()));
  }
  builder.writeValues();
  return tables;
}

//===----------------------------------------------------------------------===//
// contract_sum
//===----------------------------------------------------------------------===//

namespace {

/// Out-points of a warp.
constexpr int32_t maxSumTile = 32 * sumPoints;
/// Windows begin at multiples of this, where 16 bytes of f32 do.
constexpr int32_t windowAlignment = 4;

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

class ContractSumBuilder {
public:
  ContractSumBuilder(const disco_kernel_psi &psi, const Lattice &lattice,
                     SumType type, ContractSumTables &tables)
      : psi(psi), lattice(lattice), type(type), tables(tables) {}

  void addGroup(int32_t firstRow, int32_t numRows, bool isSplit) {
    const auto group = static_cast<int32_t>(tables.groups.size());
    std::vector<Part> parts;
    const int32_t shift = fillParts(firstRow, numRows, parts);
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
  /// The taps of a row in a step: tap u of the row's arc is tap `at` + u.
  struct Taps {
    LatticeArc arc;
    int32_t at;
  };
  /// A stage: the taps that rows have in each step, and where they are.
  struct Part {
    int32_t place, first, all = 0;
    std::vector<int32_t> masks;
    std::vector<std::array<std::optional<Taps>, sumRows>> taps;

    int32_t numSteps() const { return static_cast<int32_t>(masks.size()); }
    /// About how many instructions of a warp it takes for each k.
    int64_t cost() const {
      int64_t sum = 100;
      for (const int32_t mask : masks) {
        int32_t taps = 0, rows = 0;
        for (int32_t r = 0; r < sumRows; ++r) {
          const int32_t has = mask >> 4 * r & 15;
          rows += has != 0;
          for (int32_t i = 0; i < 4; ++i)
            taps += has >> i & 1;
        }
        sum += 20 + 16 * taps + (mask == all ? 2 : 8) * rows;
      }
      return sum;
    }
  };

  /// Taps of a step, 16 bytes of values.
  int32_t stepTaps() const {
    return static_cast<int32_t>(16 / sizeOfSum(type));
  }

  /// The windows of a group of rows. Arcs of several rows on a ring that are
  /// near each other share one; the order of each row's pieces is that of its
  /// arcs' rings.
  std::vector<Window> windowsOf(int32_t firstRow, int32_t numRows) const {
    std::vector<Window> windows;
    for (int32_t r = 0; r < numRows; ++r)
      for (int32_t a = lattice.offsets[firstRow + r];
           a < lattice.offsets[firstRow + r + 1]; ++a) {
        const LatticeArc &arc = lattice.arcs[a];
        if (arc.taps > 0 && !share(windows, arc, r))
          windows.push_back({arc.place, arc.first, arc.taps, {{arc, r, 0}}});
      }
    std::sort(windows.begin(), windows.end(),
              [](const Window &a, const Window &b) {
                return std::tie(a.place, a.first, a.taps) <
                       std::tie(b.place, b.first, b.taps);
              });
    return windows;
  }

  /// Adds the arc to a window that is there, if that grows little.
  bool share(std::vector<Window> &windows, const LatticeArc &arc,
             int32_t row) const {
    for (Window &window : windows) {
      if (window.place != arc.place || window.pieces.back().row == row)
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

  /// The stages of a group. Returns the lattice point at which its tiles
  /// begin: the one of 4 from which the steps of rows hold most of their taps.
  int32_t fillParts(int32_t firstRow, int32_t numRows,
                    std::vector<Part> &best) const {
    const std::vector<Window> windows = windowsOf(firstRow, numRows);
    int32_t bestShift = 0;
    int64_t bestCost = INT64_MAX;
    for (int32_t shift = 0; shift < std::min(windowAlignment, lattice.points);
         ++shift) {
      std::vector<Part> parts;
      int64_t cost = 0;
      for (const Window &window : windows)
        cut(window, shift, parts);
      for (const Part &part : parts)
        cost += part.cost();
      if (cost < bestCost) {
        best = std::move(parts);
        bestCost = cost;
        bestShift = shift;
      }
    }
    return bestShift;
  }

  /// Stages of a window, for tiles that begin at a lattice point.
  void cut(const Window &window, int32_t shift,
           std::vector<Part> &parts) const {
    const int32_t taps = sumMaxSteps * stepTaps();
    const int32_t first = (window.first + shift) % lattice.points;
    const int32_t before = first % windowAlignment;
    for (int32_t begin = 0; begin < window.taps + before; begin += taps) {
      Part part = {
          window.place, (first - before + begin) % lattice.points, 0, {}, {}};
      const int32_t end = std::min(begin + taps, window.taps + before);
      for (int32_t at = begin; at < end; at += stepTaps())
        addStep(window, at - before, part);
      while (!part.masks.empty() && part.masks.back() == 0) {
        part.masks.pop_back();
        part.taps.pop_back();
      }
      if (!part.masks.empty())
        parts.push_back(std::move(part));
    }
  }

  /// The taps of rows from tap `at` of the window on.
  void addStep(const Window &window, int32_t at, Part &part) const {
    const int32_t full = (1 << stepTaps()) - 1;
    int32_t mask = 0;
    auto &taps = part.taps.emplace_back();
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

  void addStage(const Part &part) {
    const int32_t steps = part.numSteps();
    const int32_t bytes = headerBytes(steps) + 16 * steps * sumRows;
    tables.stages.push_back({part.place, part.first, steps, bytes / 16});
    tables.maxSteps = std::max(tables.maxSteps, steps);
    tables.maxValueBytes = std::max(tables.maxValueBytes, bytes);
    for (int64_t k = 0; k < psi.num_basis; ++k)
      writeValues(part, k);
  }

  /// Divides the windows of a group, those of a stage for all k one after the
  /// other, between warps.
  void addWarps(int32_t group, int32_t firstStage, int64_t firstValue,
                const std::vector<Part> &parts, int32_t warps) {
    const auto K = static_cast<int32_t>(psi.num_basis);
    int64_t all = 0, done = 0, value = firstValue;
    for (const Part &part : parts)
      all += part.cost() * K;
    Int4 next = {group, firstStage, 0, 0};
    int64_t nextValue = value;
    int32_t warp = 1;
    const auto finish = [&] {
      tables.parts.push_back(next);
      tables.partValues.push_back(
          static_cast<int32_t>(nextValue * sizeOfSum(type) / 16));
    };
    for (size_t i = 0; i < parts.size(); ++i)
      for (int32_t k = 0; k < K; ++k) {
        if (done * warps >= all * warp) {
          finish();
          next = {group, firstStage + static_cast<int32_t>(i), k, 0};
          nextValue = value;
          ++warp;
        }
        ++next.w;
        done += parts[i].cost();
        value += tables.stages[firstStage + i].w * int64_t(stepTaps());
      }
    finish();
    for (next.w = 0; warp < warps; ++warp)
      finish();
  }

  void writeValues(const Part &part, int64_t k) {
    const int32_t steps = part.numSteps();
    const int64_t header =
        grow(tables.values, headerBytes(steps) / sizeOfSum(type), type) *
        sizeOfSum(type);
    const int32_t chunk = (part.place + part.first) / stepTaps();
    const int32_t counts[] = {steps | (chunk & 255) << 8, part.all};
    std::memcpy(tables.values.data() + header, counts, sizeof counts);
    std::memcpy(tables.values.data() + header + sizeof counts,
                part.masks.data(), steps * sizeof(int32_t));
    for (const auto &rows : part.taps)
      for (const std::optional<Taps> &taps : rows) {
        const int64_t at = grow(tables.values, stepTaps(), type);
        for (int32_t i = 0; taps && i < stepTaps(); ++i) {
          const int32_t u = taps->at + i;
          if (u >= 0 && u < taps->arc.taps)
            put(tables.values, at + i, type,
                valueAt(psi, taps->arc.value + int64_t(u) * lattice.stride, k));
        }
      }
  }

  const disco_kernel_psi &psi;
  const Lattice &lattice;
  const SumType type;
  ContractSumTables &tables;
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

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

PointTables makePointTables(const disco_kernel_psi &psi, SumType type) {
  PointTables tables;
  const bool isCsr = psi.form == DISCO_FORM_CSR;
  const int64_t numIn = psi.nlon_in, numOut = psi.nlon_out;
  const int64_t storedRows = psi.adjoint ? numIn : numOut;
  const int64_t padding = psi.adjoint ? numOut : numIn;
  const auto forEachStored = [&](auto &&visit) {
    for (int64_t row = 0; row < storedRows; ++row) {
      const int64_t begin =
          isCsr ? indexAt(psi.offsets, psi.index_dtype, row) : row * psi.degree;
      const int64_t end = isCsr ? indexAt(psi.offsets, psi.index_dtype, row + 1)
                                : begin + psi.degree;
      for (int64_t tap = begin; tap < end; ++tap) {
        const int64_t col = indexAt(psi.indices, psi.index_dtype, tap);
        if (col != padding)
          psi.adjoint ? visit(col, row, tap) : visit(row, col, tap);
      }
    }
  };
  std::vector<int32_t> next(numOut + 2);
  forEachStored([&](int64_t out, int64_t, int64_t) { ++next[out + 2]; });
  std::partial_sum(next.begin(), next.end(), next.begin());
  tables.offsets.assign(next.begin() + 1, next.end());
  tables.columns.resize(tables.offsets.back());
  const int64_t K = psi.num_basis;
  grow(tables.values, int64_t(tables.columns.size()) * K, type);
  forEachStored([&](int64_t out, int64_t in, int64_t tap) {
    const int32_t at = next[out + 1]++;
    tables.columns[at] = static_cast<int32_t>(in);
    if (psi.form == DISCO_FORM_ONEHOT) {
      const int64_t bin = indexAt(psi.values, psi.index_dtype, tap);
      put(tables.values, at * K + bin, type, 1);
    } else {
      for (int64_t k = 0; k < K; ++k)
        put(tables.values, at * K + k, type, valueAt(psi, tap, k));
    }
  });
  return tables;
}

} // namespace disco::cuda::csr
