//===- Bands.cpp - psi as banded Toeplitz matrices ------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bands.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

using namespace disco;
using namespace disco::toeplitz_wgmma;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t padTo(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

//===----------------------------------------------------------------------===//
// psi's tables
//===----------------------------------------------------------------------===//

namespace {

struct Arc {
  int64_t lat, start, taps, value;
};

/// psi's arcs.
struct Arcs {
  int64_t stride, phases;
  std::vector<int64_t> offsets; ///< [rows + 1]
  std::vector<Arc> arcs;
};

} // namespace

static int64_t integerAt(const void *table, disco_dtype type, int64_t i) {
  return type == DISCO_I64 ? static_cast<const int64_t *>(table)[i]
                           : static_cast<const int32_t *>(table)[i];
}

static Arcs readArcs(const disco_kernel_psi &psi) {
  Arcs result;
  result.stride = std::max<int64_t>(1, psi.nlon_in / psi.nlon_out);
  result.phases = std::max<int64_t>(1, psi.nlon_out / psi.nlon_in);
  const auto at = [&](const void *table, int64_t i) {
    return integerAt(table, psi.index_dtype, i);
  };
  for (int64_t i = 0; i <= psi.nlat_out * result.phases; ++i)
    result.offsets.push_back(at(psi.offsets, i));
  for (int64_t i = 0; i < result.offsets.back(); ++i)
    result.arcs.push_back({at(psi.indices, 4 * i), at(psi.indices, 4 * i + 1),
                           at(psi.indices, 4 * i + 2),
                           at(psi.indices, 4 * i + 3)});
  return result;
}

//===----------------------------------------------------------------------===//
// Covers: the columns of a block of rows
//===----------------------------------------------------------------------===//

namespace {

/// One latitude of a block of rows: the shortest run of points that has the
/// taps of all its rows.
struct Cover {
  int64_t lat, start, taps;
};

/// Columns of A for a cover; `folded` when they are one turn of the ring.
struct Columns {
  int64_t count;
  bool folded;
};

} // namespace

static Columns columnsOf(const Cover &cover, int64_t nlonIn, int64_t stride,
                         int64_t longitudes) {
  const int64_t count = cover.taps + stride * (longitudes - 1);
  return {std::min(count, nlonIn), count >= nlonIn};
}

static int64_t blocksOf(const Cover &cover, const Shape &s) {
  return ceilDiv(columnsOf(cover, s.nlonIn, s.stride, s.longitudes).count,
                 blockColumns);
}

/// The cover of arcs of one latitude, which are sorted by their start.
static Cover coverOf(const std::vector<Arc> &arcs, size_t begin, size_t end,
                     int64_t nlonIn) {
  // The longest gap lies before arc `first`, after the end of all before it.
  const int64_t lat = arcs[begin].lat;
  int64_t reach = 0;
  for (size_t i = begin; i < end; ++i)
    reach = std::max(reach, arcs[i].start + arcs[i].taps - nlonIn);
  int64_t longest = 0, start = 0;
  for (size_t i = begin; i < end; ++i) {
    if (arcs[i].start - reach > longest) {
      longest = arcs[i].start - reach;
      start = arcs[i].start;
    }
    reach = std::max(reach, arcs[i].start + arcs[i].taps);
  }
  // The gap that ends at the first arc goes around longitude 0.
  const int64_t around = arcs[begin].start + nlonIn - reach;
  if (around > longest) {
    longest = around;
    start = arcs[begin].start;
  }
  return {lat, start, nlonIn - longest};
}

/// The covers of `rows` output latitudes from `firstRow`, by latitude.
static std::vector<Cover> coversOf(const Arcs &arcs, int64_t firstRow,
                                   int64_t rows, int64_t nlonIn) {
  std::vector<Arc> sorted;
  const int64_t first = arcs.offsets[firstRow * arcs.phases];
  const int64_t last = arcs.offsets[(firstRow + rows) * arcs.phases];
  for (int64_t i = first; i < last; ++i)
    if (arcs.arcs[i].taps > 0)
      sorted.push_back(arcs.arcs[i]);
  std::sort(sorted.begin(), sorted.end(), [](const Arc &a, const Arc &b) {
    return a.lat != b.lat ? a.lat < b.lat : a.start < b.start;
  });
  std::vector<Cover> covers;
  for (size_t begin = 0, end; begin < sorted.size(); begin = end) {
    for (end = begin; end < sorted.size(); ++end)
      if (sorted[end].lat != sorted[begin].lat)
        break;
    covers.push_back(coverOf(sorted, begin, end, nlonIn));
  }
  return covers;
}

//===----------------------------------------------------------------------===//
// The choice of the shape
//===----------------------------------------------------------------------===//

static int64_t halo(const Shape &s) {
  return disco_toeplitz_wgmma_halo(s.groups, s.longitudes, s.stride);
}

/// Shares shared memory out to stages. False when not even one block of columns
/// fits.
static bool setStage(Shape &s, int32_t stages) {
  s.stages = stages;
  s.resultBytes = disco_toeplitz_wgmma_result_bytes(s.groups, s.groupPoints);
  s.bandBytes = headerBytes + DISCO_TOEPLITZ_WGMMA_BAND_STEPS * stepBytes;
  s.slabBytes =
      disco_toeplitz_wgmma_slab_bytes(s.groups, s.groupPoints, stages);
  return s.slabBytes / pointBytes >=
         disco_toeplitz_wgmma_least_points(s.groups, s.longitudes, s.stride);
}

/// As many stages as are asked for, or the best number that fits.
static bool setStages(Shape &s, int64_t asked) {
  if (asked)
    return asked >= DISCO_TOEPLITZ_WGMMA_MIN_STAGES && asked <= maxStages &&
           setStage(s, static_cast<int32_t>(asked));
  for (int32_t stages = DISCO_TOEPLITZ_WGMMA_BEST_STAGES;
       stages >= DISCO_TOEPLITZ_WGMMA_MIN_STAGES; --stages)
    if (setStage(s, stages))
      return true;
  return false;
}

static Shape makeShape(const disco_kernel_psi &psi, const Arcs &arcs, bool sum,
                       int64_t rows, int64_t groups) {
  Shape s = {};
  s.numBasis = static_cast<int32_t>(psi.num_basis);
  s.sum = sum;
  s.stride = static_cast<int32_t>(arcs.stride);
  s.phases = static_cast<int32_t>(arcs.phases);
  s.planes = static_cast<int32_t>(sum ? rows : psi.num_basis);
  s.longitudes = tileRows / (s.planes * s.phases);
  s.groups = static_cast<int32_t>(groups);
  s.groupPoints = s.longitudes * s.phases;
  s.nlatIn = static_cast<int32_t>(psi.nlat_in);
  s.nlonIn = static_cast<int32_t>(psi.nlon_in);
  s.nlatOut = static_cast<int32_t>(psi.nlat_out);
  s.nlonOut = static_cast<int32_t>(psi.nlon_out);
  s.blocks = static_cast<int32_t>(ceilDiv(psi.nlat_out, sum ? rows : 1));
  return s;
}

/// Cycles of a multiprocessor for one channel block, by the slower of tensor
/// cores and loads. What the constants stand for: a product of N columns takes
/// N / 2 cycles, or what its operands take from shared memory, and 26 bytes a
/// cycle come from the L2.
static double cyclesOf(const Shape &s, const std::vector<Cover> &covers) {
  const double columns = 8.0 * s.groups;
  const double product = std::max(columns / 2, 16 + columns / 4);
  double blocks = 0, points = 0;
  for (const Cover &cover : covers) {
    const Columns c = columnsOf(cover, s.nlonIn, s.stride, s.longitudes);
    const double padded = static_cast<double>(padTo(c.count, blockColumns));
    blocks += padded / blockColumns;
    points += padded + static_cast<double>(halo(s));
  }
  const double repeats = s.sum ? s.numBasis : 1;
  const double steps = repeats * blocks / 2;
  const double compute = steps * product;
  const double load =
      (repeats * points * pointBytes + steps * stepBytes / mathGroups) / 26;
  const double tiles = static_cast<double>(
      ceilDiv(ceilDiv(s.nlonOut / s.phases, s.longitudes), s.groups));
  return tiles * (std::max(compute, load) + std::min(compute, load) / 4);
}

static Result<Shape> chooseShape(const disco_kernel_psi &psi, const Arcs &arcs,
                                 bool sum, const Choice &choice) {
  if (!sum && psi.num_basis * arcs.phases > tileRows)
    return Error{"expected K times the phases to be at most 64, the rows of a "
                 "tensor tile, but got " +
                 std::to_string(psi.num_basis) + " times " +
                 std::to_string(arcs.phases)};
  std::optional<Shape> best;
  double bestCycles = std::numeric_limits<double>::infinity();
  for (int64_t rows : rowChoices) {
    const int64_t planes = sum ? rows : psi.num_basis;
    if ((!sum && rows > 1) || (choice.rows && choice.rows != rows) ||
        planes * arcs.phases > tileRows ||
        (rows > psi.nlat_out && rows > 1 && !choice.rows))
      continue;
    std::vector<std::vector<Cover>> covers;
    for (int64_t row = 0; row < psi.nlat_out; row += rows)
      covers.push_back(
          coversOf(arcs, row, std::min(rows, psi.nlat_out - row), psi.nlon_in));
    for (int64_t groups : groupChoices) {
      if (choice.groups && choice.groups != groups)
        continue;
      Shape s = makeShape(psi, arcs, sum, rows, groups);
      if (!setStages(s, choice.stages))
        continue;
      double cycles = 0;
      for (const std::vector<Cover> &block : covers)
        cycles += cyclesOf(s, block);
      if (cycles < bestCycles) {
        bestCycles = cycles;
        best = s;
      }
    }
  }
  if (best)
    return *best;
  return Error{"expected rows " + std::to_string(choice.rows) +
               ", lon_groups " + std::to_string(choice.groups) +
               " and stages " + std::to_string(choice.stages) +
               " (0: free) to fit 64 rows of a tensor tile and the shared "
               "memory of a CTA, but they do not for " +
               std::to_string(arcs.phases) + " phases and stride " +
               std::to_string(arcs.stride)};
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

namespace {

/// What a piece holds so far.
struct Filling {
  int64_t blocks = 0, points = 0, windows = 0;

  /// How many of `wanted` blocks of a ring fit into one more window.
  int64_t room(const Shape &s, int64_t maxBlocks, int64_t wanted) const {
    if (windows == maxWindows)
      return 0;
    const int64_t free = s.slabBytes / pointBytes - points - halo(s);
    return std::max<int64_t>(
        0, std::min({wanted, maxBlocks - blocks, free / blockColumns}));
  }
  void add(const Shape &s, int64_t count) {
    blocks += count;
    points += count * blockColumns + halo(s);
    ++windows;
  }
};

/// Packs one block of rows after the other.
class Packer {
public:
  Packer(const disco_kernel_psi &psi, const Arcs &arcs, DType type,
         Bands &result)
      : psi(psi), arcs(arcs), type(type), result(result), shape(result.shape) {}

  /// The steps of block `block`.
  int64_t pack(int64_t block);

private:
  void balance(const std::vector<Cover> &covers);
  void openPiece(int64_t firstRow, int64_t rows);
  void closePiece(uint32_t flags);
  void addRing(int64_t plane, const Cover &cover);
  void addBlock(int64_t index, int64_t point);
  void fillArc(int64_t row, const Arc &arc, const Cover &cover,
               int64_t firstRing, int64_t ringsPerFeature);
  uint32_t *header() {
    return reinterpret_cast<uint32_t *>(result.bands.data() + bandBegin);
  }

  const disco_kernel_psi &psi;
  const Arcs &arcs;
  DType type;
  Bands &result;
  const Shape &shape;

  int64_t firstRow = 0;
  size_t bandBegin = 0;
  Filling piece;
  int64_t maxBlocks = 0;  ///< of a piece of this block of rows
  int64_t firstPoint = 0; ///< of the first block of the open step
  /// Where in `bands` the blocks of the rings of this block of rows are; those
  /// of ring r begin at ringBlocks[r].
  std::vector<size_t> places, ringBlocks;
};

} // namespace

void Packer::openPiece(int64_t row, int64_t rows) {
  bandBegin = result.bands.size();
  result.bands.resize(bandBegin + headerBytes);
  header()[2] = static_cast<uint32_t>(row);
  header()[3] = static_cast<uint32_t>(shape.sum ? rows : shape.planes);
  piece = {};
}

void Packer::closePiece(uint32_t flags) {
  const int64_t steps = ceilDiv(piece.blocks, 2);
  header()[0] = static_cast<uint32_t>(steps);
  header()[1] = flags;
  result.pieces.push_back(
      {static_cast<uint32_t>(bandBegin / headerBytes),
       static_cast<uint32_t>(steps),
       static_cast<uint32_t>(result.windows.size() - piece.windows),
       static_cast<uint32_t>(piece.windows)});
  result.shape.windowPoints += piece.points;
}

/// Adds a block of 8 columns that begins at a point of the slab. The second
/// block of a step is given by its distance from the first; until there is one,
/// it is the first again, with zeros in A.
void Packer::addBlock(int64_t index, int64_t point) {
  uint32_t &word = header()[headerWords + index / 2];
  if (index % 2 == 0) {
    places.push_back(result.bands.size());
    word = static_cast<uint32_t>(point);
    firstPoint = point;
    result.bands.resize(result.bands.size() + stepBytes);
  } else {
    places.push_back(result.bands.size() - stepBytes / 2);
    word |= static_cast<uint32_t>(point - firstPoint) << 16;
  }
}

/// Adds the columns of a ring, to several pieces if they do not fit into one.
void Packer::addRing(int64_t plane, const Cover &cover) {
  ringBlocks.push_back(places.size());
  const int64_t blocks = blocksOf(cover, shape);
  for (int64_t done = 0; done < blocks;) {
    const int64_t count = piece.room(shape, maxBlocks, blocks - done);
    if (count == 0) {
      const int64_t rows = header()[3];
      closePiece(0);
      openPiece(firstRow, rows);
      continue;
    }
    const Filling before = piece;
    piece.add(shape, count);
    result.windows.push_back(
        {static_cast<int32_t>(plane),
         static_cast<int32_t>((cover.start + done * blockColumns) %
                              shape.nlonIn),
         static_cast<int32_t>(piece.points - before.points),
         static_cast<int32_t>(before.points)});
    for (int64_t i = 0; i < count; ++i)
      addBlock(before.blocks + i, before.points + i * blockColumns);
    done += count;
  }
}

/// Sets maxBlocks so that the pieces of a block of rows are about equal: as
/// many as are needed when each is filled as far as it goes.
void Packer::balance(const std::vector<Cover> &covers) {
  const int64_t limit = 2 * (shape.bandBytes - headerBytes) / stepBytes;
  Filling filling;
  int64_t pieces = 1, total = 0;
  for (int64_t k = 0; k < (shape.sum ? shape.numBasis : 1); ++k)
    for (const Cover &cover : covers) {
      const int64_t blocks = blocksOf(cover, shape);
      total += blocks;
      for (int64_t done = 0; done < blocks;) {
        const int64_t count = filling.room(shape, limit, blocks - done);
        if (count == 0) {
          filling = {};
          ++pieces;
          continue;
        }
        filling.add(shape, count);
        done += count;
      }
    }
  maxBlocks = std::min(limit, padTo(ceilDiv(total, pieces), 2));
}

/// Writes the values of an arc of `row` into its Toeplitz band.
void Packer::fillArc(int64_t row, const Arc &arc, const Cover &cover,
                     int64_t firstRing, int64_t ringsPerFeature) {
  const int64_t K = shape.numBasis, phase = row % shape.phases;
  const Columns columns =
      columnsOf(cover, shape.nlonIn, shape.stride, shape.longitudes);
  int64_t first = arc.start - cover.start;
  if (first < 0)
    first += shape.nlonIn;
  for (int64_t u = 0; u < arc.taps; ++u) {
    for (int64_t k = 0; k < K; ++k) {
      const double value =
          loadAsDouble(psi.values, static_cast<DType>(psi.value_dtype),
                       (arc.value + u) * K + k);
      const uint16_t bits =
          type == DType::bf16 ? toBFloat16Bits(value) : toHalfBits(value);
      const int64_t plane = shape.sum ? row / shape.phases - firstRow : k;
      const size_t *blocks =
          places.data() + ringBlocks[firstRing + k * ringsPerFeature];
      for (int64_t t = 0; t < shape.longitudes; ++t) {
        int64_t column = first + u + shape.stride * t;
        if (columns.folded)
          column %= shape.nlonIn;
        const int64_t m = plane * shape.groupPoints + t * shape.phases + phase;
        const int64_t element = m * blockColumns + column % blockColumns;
        reinterpret_cast<uint16_t *>(result.bands.data() +
                                     blocks[column / blockColumns])[element] =
            bits;
      }
    }
  }
}

int64_t Packer::pack(int64_t block) {
  const int64_t rowsPerBlock = shape.sum ? shape.planes : 1;
  firstRow = block * rowsPerBlock;
  const int64_t rows = std::min(rowsPerBlock, shape.nlatOut - firstRow);
  const std::vector<Cover> covers =
      coversOf(arcs, firstRow, rows, shape.nlonIn);
  places.clear();
  ringBlocks.clear();
  const size_t firstPiece = result.pieces.size();
  result.blockPieces.push_back(static_cast<uint32_t>(firstPiece));

  balance(covers);
  openPiece(firstRow, rows);
  for (int64_t k = 0; k < (shape.sum ? shape.numBasis : 1); ++k)
    for (const Cover &cover : covers)
      addRing(k * shape.nlatIn + cover.lat, cover);
  if (covers.empty()) { // a product with zeros, whose result is not used
    piece.blocks = 1;
    addBlock(0, 0);
  }
  closePiece(pieceLast | (covers.empty() ? pieceEmpty : 0u));

  const int64_t rings = static_cast<int64_t>(covers.size());
  for (int64_t row = firstRow * shape.phases;
       row < (firstRow + rows) * shape.phases; ++row) {
    for (int64_t a = arcs.offsets[row]; a < arcs.offsets[row + 1]; ++a) {
      const Arc &arc = arcs.arcs[a];
      const auto cover = std::lower_bound(
          covers.begin(), covers.end(), arc.lat,
          [](const Cover &c, int64_t lat) { return c.lat < lat; });
      if (arc.taps > 0)
        fillArc(row, arc, *cover, cover - covers.begin(),
                shape.sum ? rings : 0);
    }
  }
  int64_t steps = 0;
  for (size_t i = firstPiece; i < result.pieces.size(); ++i)
    steps += result.pieces[i].steps;
  return steps;
}

/// Blocks that take more than twice the median first, longest first; then from
/// the poles to the equator, so that neighbours read the same rings of x while
/// the L2 has them. The shortest rows of a layer are at the equator.
static std::vector<uint32_t> orderOf(const std::vector<int64_t> &steps) {
  const size_t n = steps.size();
  std::vector<int64_t> sorted = steps;
  std::nth_element(sorted.begin(), sorted.begin() + n / 2, sorted.end());
  const int64_t limit = 2 * sorted[n / 2];
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  const auto fromPole = [&](uint32_t i) {
    return std::min<size_t>(i, n - 1 - i);
  };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const int64_t costA = steps[a] > limit ? steps[a] : 0;
    const int64_t costB = steps[b] > limit ? steps[b] : 0;
    if (costA != costB)
      return costA > costB;
    if (fromPole(a) != fromPole(b))
      return fromPole(a) < fromPole(b);
    return a < b;
  });
  return order;
}

Result<Bands> toeplitz_wgmma::buildBands(const disco_kernel_psi &psi, bool sum,
                                         DType type, const Choice &choice) {
  const Arcs arcs = readArcs(psi);
  Result<Shape> shape = chooseShape(psi, arcs, sum, choice);
  if (!shape)
    return shape.error();
  Bands result;
  result.shape = *shape;
  Packer packer(psi, arcs, type, result);
  std::vector<int64_t> steps;
  for (int64_t block = 0; block < shape->blocks; ++block) {
    steps.push_back(packer.pack(block));
    result.shape.steps += steps.back();
  }
  result.blockPieces.push_back(static_cast<uint32_t>(result.pieces.size()));
  result.order = orderOf(steps);
  return result;
}
