//===- Lattice.cpp - operators in lattice form ----------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lattice.h"

#include "../../CPU/CpuGather/Values.h"
#include "TableValues.h"

#include <algorithm>
#include <cstring>
#include <numeric>

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
