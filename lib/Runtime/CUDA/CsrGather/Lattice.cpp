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
#include <cstring>
#include <numeric>
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

/// Out-points of a warp, and taps of a window.
constexpr int32_t maxSumTile = 32 * sumPoints,
                  maxSumTaps = DISCO_CSR_GATHER_SUM_PIECE_TAPS;
/// Windows begin at multiples of this, where 16 bytes of f32 do.
constexpr int32_t windowAlignment = 4;
/// A group has one row, or as many as have so many taps together: rows near the
/// poles are enough work for a warp alone.
constexpr int64_t maxGroupTaps = DISCO_CSR_GATHER_SUM_TAPS;

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

  void addGroup(int32_t firstRow, int32_t numRows) {
    const auto firstStage = static_cast<int32_t>(tables.stages.size());
    parts.clear();
    for (const Window &window : windowsOf(firstRow, numRows))
      for (int32_t begin = 0; begin < window.taps; begin += maxSumTaps)
        addStage(window, begin);
    tables.rows.push_back(
        {firstStage, static_cast<int32_t>(tables.stages.size()) - firstStage,
         static_cast<int32_t>(tables.rowPlaces.size()), numRows});
    for (int32_t r = 0; r < numRows; ++r)
      tables.rowPlaces.push_back(lattice.places[firstRow + r]);
    tables.groupValues.push_back(
        static_cast<int32_t>(grow(tables.values, 0, type)));
    for (int64_t k = 0; k < psi.num_basis; ++k)
      for (const Part &part : parts)
        writeValues(part, k);
  }

private:
  /// The taps of a row in a step: tap u of the row's arc is tap `at` + u.
  struct Taps {
    const LatticeArc arc;
    int32_t at;
  };
  /// A stage: its masks, and the taps that they name in their order.
  struct Part {
    std::vector<int32_t> masks;
    std::vector<Taps> taps;
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
    for (Window &window : windows) {
      const int32_t before = window.first % windowAlignment;
      window.first -= before;
      window.taps += before;
      for (Piece &piece : window.pieces)
        piece.offset += before;
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

  /// Taps [begin, begin + maxSumTaps) of a window.
  void addStage(const Window &window, int32_t begin) {
    Part part;
    const int32_t end = std::min(begin + maxSumTaps, window.taps);
    for (int32_t at = begin; at < end; at += stepTaps()) {
      int32_t mask = 0;
      for (const Piece &piece : window.pieces) {
        int32_t has = 0;
        for (int32_t i = 0; i < stepTaps(); ++i)
          if (at + i >= piece.offset && at + i < piece.offset + piece.arc.taps)
            has |= 1 << i;
        if (has)
          part.taps.push_back({piece.arc, at - piece.offset});
        mask |= has << 4 * piece.row;
      }
      part.masks.push_back(mask);
    }
    while (!part.masks.empty() && part.masks.back() == 0)
      part.masks.pop_back();
    if (part.masks.empty())
      return;
    const auto steps = static_cast<int32_t>(part.masks.size());
    const int32_t bytes =
        headerBytes(steps) + 16 * static_cast<int32_t>(part.taps.size());
    tables.stages.push_back({window.place,
                             (window.first + begin) % lattice.points, steps,
                             bytes / 16});
    tables.maxSteps = std::max(tables.maxSteps, steps);
    tables.maxValueBytes = std::max(tables.maxValueBytes, bytes);
    parts.push_back(std::move(part));
  }

  void writeValues(const Part &part, int64_t k) {
    const auto steps = static_cast<int32_t>(part.masks.size());
    const int64_t header =
        grow(tables.values, headerBytes(steps) / sizeOfSum(type), type) *
        sizeOfSum(type);
    std::memcpy(tables.values.data() + header, &steps, sizeof steps);
    std::memcpy(tables.values.data() + header + sizeof steps, part.masks.data(),
                steps * sizeof(int32_t));
    for (const Taps &taps : part.taps) {
      const int64_t at = grow(tables.values, stepTaps(), type);
      for (int32_t i = 0; i < stepTaps(); ++i) {
        const int32_t u = taps.at + i;
        if (u >= 0 && u < taps.arc.taps)
          put(tables.values, at + i, type,
              valueAt(psi, taps.arc.value + int64_t(u) * lattice.stride, k));
      }
    }
  }

  const disco_kernel_psi &psi;
  const Lattice &lattice;
  const SumType type;
  ContractSumTables &tables;
  std::vector<Part> parts; ///< of the group
};

/// Groups of neighbouring rows {first, rows}, those with most taps first.
std::vector<std::pair<int32_t, int32_t>> groupRows(const Lattice &lattice) {
  std::vector<std::tuple<int64_t, int32_t, int32_t>> groups;
  for (int32_t row = 0; row < lattice.numRows();) {
    int64_t taps = lattice.tapsOf(row);
    int32_t rows = 1;
    while (rows < sumRows && row + rows < lattice.numRows() &&
           taps + lattice.tapsOf(row + rows) <= maxGroupTaps)
      taps += lattice.tapsOf(row + rows++);
    groups.push_back({-taps, row, rows});
    row += rows;
  }
  std::sort(groups.begin(), groups.end());
  std::vector<std::pair<int32_t, int32_t>> ordered;
  ordered.reserve(groups.size());
  for (const auto &[taps, row, rows] : groups)
    ordered.push_back({row, rows});
  return ordered;
}

} // namespace

ContractSumTables makeContractSumTables(const disco_kernel_psi &psi,
                                        const Lattice &lattice, SumType type) {
  ContractSumTables tables;
  const int32_t points = lattice.points;
  tables.tiles = (points + maxSumTile - 1) / maxSumTile;
  const int32_t balanced = (points + tables.tiles - 1) / tables.tiles;
  tables.tile = (balanced + sumPoints - 1) / sumPoints * sumPoints;
  tables.tiles = (points + tables.tile - 1) / tables.tile;
  ContractSumBuilder builder(psi, lattice, type, tables);
  for (const auto &[row, rows] : groupRows(lattice))
    builder.addGroup(row, rows);
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
