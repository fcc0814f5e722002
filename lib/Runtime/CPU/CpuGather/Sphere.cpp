//===- Sphere.cpp - features from arcs ------------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sphere.h"
#include "Values.h"

#include <algorithm>
#include <new>

namespace disco::cpu_gather {

/// Taps and pieces of a chunk, at most. The longest rows of filters in use have
/// about 10,000 taps, and each ring is one piece.
static constexpr int64_t chunkTaps = DISCO_CPU_GATHER_CHUNK_TAPS,
                         chunkPieces = DISCO_CPU_GATHER_CHUNK_PIECES;
/// Bytes of all longitudes that a row needs of a channel, to be staged at once.
static constexpr int64_t wholeBytes = DISCO_CPU_GATHER_WHOLE_BYTES;

void orderByCost(const int64_t *cost, int32_t *order, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    order[i] = static_cast<int32_t>(i);
  std::sort(order, order + count, [&](int32_t a, int32_t b) {
    return cost[a] != cost[b] ? cost[a] > cost[b] : a < b;
  });
}

template <typename T>
void SphereSource<T>::layout(Arena &arena, int64_t columns, bool tilesFollow) {
  tile = columns;
  byChannel = tilesFollow;
  const disco_kernel_psi &psi = tables.psi;
  maxTaps = greater(lesser(psi.num_taps, chunkTaps), 1);
  maxPieces = greater(lesser(psi.num_arcs, chunkPieces), 1);
  cost = arena.take<int64_t>(tables.numRows);
  order = arena.take<int32_t>(tables.numRows);
  chunks = arena.take<Chunk>(problem.numThreads);
  const int64_t stagedSize =
      greater(maxTaps + maxPieces * problem.stride * (tile + 1),
              byChannel ? wholeBytes / int64_t(sizeof(T)) : 0);
  for (int i = 0; i < problem.numThreads; ++i) {
    Chunk chunk;
    chunk.pieces = arena.take<Piece>(maxPieces);
    chunk.offsets = arena.take<int32_t>(maxTaps);
    chunk.values = arena.take<T>(maxTaps * problem.numBasis);
    chunk.parity = arena.take<uint8_t>(maxPieces * problem.numBasis);
    chunk.features = arena.take<int32_t>(problem.numBasis);
    for (int32_t *&offsets : chunk.listOffsets)
      offsets = arena.take<int32_t>(maxTaps);
    chunk.listValues = arena.take<T>(maxTaps * problem.numBasis);
    chunk.staged = arena.take<T>(stagedSize);
    if (problem.stride > 1)
      chunk.ring = arena.take<T>(
          psi.nlon_in +
          problem.stride *
              (greater(tile, byChannel ? roundUp(problem.lattice, kernels.panel)
                                       : 0) +
               1));
    if (chunks)
      new (chunks + i) Chunk(chunk);
  }
}

template <typename T> void SphereSource<T>::prepare(int64_t firstBatch) {
  if (firstBatch > 0)
    return;
  for (int64_t row = 0; row < tables.numRows; ++row)
    cost[row] = tables.tapsOfRow(row);
  orderByCost(cost, order, tables.numRows);
}

template <typename T>
void SphereSource<T>::loadValues(Chunk &chunk, int64_t first, int64_t count,
                                 int64_t at) const {
  const int64_t numBasis = problem.numBasis;
  kernels.load[tables.psi.value_dtype](
      advance(tables.psi.values, first * numBasis,
              sizeOfFloat(tables.psi.value_dtype)),
      chunk.values + at * numBasis, count * numBasis);
}

/// Whether all columns of a row's pieces can be staged at once.
template <typename T> bool SphereSource<T>::fitsWhole(int64_t arcRow) const {
  const int64_t arcs = tables.firstArc(arcRow + 1) - tables.firstArc(arcRow);
  const int64_t taps = tables.tapsOfRow(arcRow);
  const int64_t columns = roundUp(problem.lattice, kernels.panel) + 1;
  return byChannel && arcs <= maxPieces && taps <= maxTaps &&
         (taps + arcs * problem.stride * columns) * int64_t(sizeof(T)) <=
             wholeBytes;
}

/// Reads a chunk that starts at a tap of an arc.
template <typename T>
void SphereSource<T>::load(Chunk &chunk, int64_t arcRow, int64_t arc,
                           int64_t tap) const {
  chunk.arcRow = arcRow;
  chunk.arc = arc;
  chunk.tap = tap;
  chunk.numPieces = 0;
  chunk.stagedBatch = chunk.stagedChannel = -1;
  chunk.width =
      fitsWhole(arcRow) ? roundUp(problem.lattice, kernels.panel) : tile;
  int64_t taps = 0, staged = 0;
  const int64_t end = tables.firstArc(arcRow + 1);
  while (arc < end && taps < maxTaps && chunk.numPieces < maxPieces) {
    const Arc whole = tables.arc(arc);
    const int64_t length = lesser(whole.length - tap, maxTaps - taps);
    const int64_t size = phaseSize(length, chunk.width);
    if (length > 0) {
      chunk.pieces[chunk.numPieces++] = {
          static_cast<int32_t>(whole.lat),
          static_cast<int32_t>((whole.lonStart + tap) % tables.psi.nlon_in),
          static_cast<int32_t>(length),
          static_cast<int32_t>(taps),
          length == tables.psi.nlon_in,
          false};
      for (int64_t u = 0, phase = 0, at = 0; u < length; ++u) {
        chunk.offsets[taps + u] =
            static_cast<int32_t>(staged + phase * size + at);
        if (++phase == problem.stride) {
          phase = 0;
          ++at;
        }
      }
      loadValues(chunk, whole.valueOffset + tap, length, taps);
      taps += length;
      staged += problem.stride * size;
    }
    tap += length;
    if (tap >= whole.length) {
      ++arc;
      tap = 0;
    }
  }
  chunk.nextArc = arc;
  chunk.nextTap = tap;
  chunk.isLast = arc >= end;
  chooseMirrored(chunk);
  makeList(chunk, false, chunk.listOffsets[0], chunk.listValues);
  makeList(chunk, true, chunk.listOffsets[1],
           chunk.listValues + taps * chunk.lists[0].numBasis);
}

/// Says which maps are even and which odd, on most taps, and which pieces have
/// them all so.
template <typename T> void SphereSource<T>::chooseMirrored(Chunk &chunk) const {
  const int64_t numBasis = problem.numBasis;
  for (int64_t i = 0; i < chunk.numPieces; ++i) {
    const Piece &piece = chunk.pieces[i];
    uint8_t *parity = chunk.parity + i * numBasis;
    std::fill_n(parity, numBasis, uint8_t(even | odd));
    narrowParity(chunk.values + piece.firstTap * numBasis, piece.length,
                 numBasis, piece.isRing, parity);
    chunk.pieces[i].isMirrored = true;
  }
  int64_t numEven = 0, numOdd = 0;
  for (int64_t k = 0; k < numBasis; ++k) {
    int64_t more = 0; // odd taps than even ones
    for (int64_t i = 0; i < chunk.numPieces; ++i) {
      const uint8_t parity = chunk.parity[i * numBasis + k];
      const int64_t length = chunk.pieces[i].length;
      more += parity == odd ? length : parity == even ? -length : 0;
    }
    const bool isOdd = more > 0;
    for (int64_t i = 0; i < chunk.numPieces; ++i)
      if (!(chunk.parity[i * numBasis + k] & (isOdd ? odd : even)))
        chunk.pieces[i].isMirrored = false;
    // Even ones from the front, odd ones from the back.
    chunk.features[isOdd ? numBasis - ++numOdd : numEven++] =
        static_cast<int32_t>(k);
  }
  chunk.lists[0] = {0, numEven};
  chunk.lists[0].features = chunk.features;
  chunk.lists[1] = {0, numOdd};
  chunk.lists[1].features = chunk.features + numEven;
}

/// Fills one of the two lists.
template <typename T>
void SphereSource<T>::makeList(Chunk &chunk, bool isOdd, int32_t *offsets,
                               T *values) const {
  TapList<T> &list = chunk.lists[isOdd];
  list.offsets = offsets;
  list.values = values;
  const auto append = [&](int64_t tap) {
    *offsets++ = chunk.offsets[tap];
    for (int64_t i = 0; i < list.numBasis; ++i)
      *values++ = chunk.values[tap * problem.numBasis + list.features[i]];
  };
  for (int64_t i = 0; i < chunk.numPieces; ++i) {
    const Piece &piece = chunk.pieces[i];
    for (int64_t u = 0; u < piece.length; ++u) {
      if (piece.isMirrored && mirrorOf(u, piece.length, piece.isRing) != u)
        continue;
      append(piece.firstTap + u);
      ++list.numSingles;
    }
  }
  int64_t &numPairs = isOdd ? list.numDifferences : list.numSums;
  for (int64_t i = 0; i < chunk.numPieces; ++i) {
    const Piece &piece = chunk.pieces[i];
    for (int64_t u = 0; piece.isMirrored && u < piece.length; ++u) {
      const int64_t other = mirrorOf(u, piece.length, piece.isRing);
      if (other <= u)
        continue;
      append(piece.firstTap + u);
      *offsets++ = chunk.offsets[piece.firstTap + other];
      ++numPairs;
    }
  }
}

/// `count` longitudes from `first` on, modulo nlon.
template <typename T>
void SphereSource<T>::loadRing(const char *ring, int64_t first, int64_t count,
                               T *to) const {
  const int64_t nlon = tables.psi.nlon_in;
  while (count > 0) {
    const int64_t part = lesser(count, nlon - first);
    kernels.load[field.dtype](ring + first * field.elementSize, to, part);
    to += part;
    count -= part;
    first = 0;
  }
}

template <typename T>
void SphereSource<T>::stage(Chunk &chunk, int64_t batch, int64_t channel,
                            int64_t firstColumn, int64_t columns) const {
  const int64_t nlon = tables.psi.nlon_in, stride = problem.stride;
  const char *base =
      advance(field.data, (batch * field.channels + channel) * field.numPoints,
              field.elementSize);
  T *to = chunk.staged;
  for (int64_t i = 0; i < chunk.numPieces; ++i) {
    const Piece &piece = chunk.pieces[i];
    const char *ring = base + piece.lat * nlon * field.elementSize;
    const int64_t first = (piece.lonStart + firstColumn * stride) % nlon;
    const int64_t size = phaseSize(piece.length, columns);
    const int64_t room = phaseSize(piece.length, chunk.width);
    // The same longitudes of the next channel.
    prefetch(ring + (field.numPoints + first) * field.elementSize,
             lesser(size * stride, nlon - first) * field.elementSize);
    if (stride == 1) {
      loadRing(ring, first, size, to);
    } else {
      loadRing(ring, first, size * stride, chunk.ring);
      kernels.deinterleave(chunk.ring, to, size * stride, stride, room);
    }
    to += room * stride;
  }
}

/// Where columns from `firstColumn` on of the pieces are.
template <typename T>
const T *SphereSource<T>::stageColumns(Chunk &chunk, int64_t batch,
                                       int64_t channel, int64_t firstColumn,
                                       int64_t columns) const {
  const int64_t whole = roundUp(problem.lattice, kernels.panel);
  if (!byChannel || chunk.width < whole || !chunk.isLast) {
    stage(chunk, batch, channel, firstColumn, columns);
    return chunk.staged;
  }
  if (chunk.stagedBatch != batch || chunk.stagedChannel != channel) {
    stage(chunk, batch, channel, 0, whole);
    chunk.stagedBatch = batch;
    chunk.stagedChannel = channel;
  }
  return chunk.staged + firstColumn;
}

template <typename T>
void SphereSource<T>::fill(int thread, int64_t row, int64_t batch,
                           int64_t channel, int64_t count, int64_t firstColumn,
                           int64_t columns, const Features<T> &z,
                           int64_t channelStride) {
  Chunk &chunk = chunks[thread];
  const int64_t arcRow = order[row];
  const int64_t firstArc = tables.firstArc(arcRow);
  if (chunk.arcRow != arcRow || chunk.arc != firstArc || chunk.tap != 0)
    load(chunk, arcRow, firstArc, 0);
  for (bool accumulate = false;; accumulate = true) {
    for (int64_t i = 0; i < count; ++i) {
      const T *x =
          stageColumns(chunk, batch, channel + i, firstColumn, columns);
      Features<T> to = z;
      to.data += i * channelStride;
      for (const TapList<T> &list : chunk.lists)
        kernels.expand(list, x, columns / kernels.lanes, to, accumulate);
    }
    if (chunk.isLast)
      return;
    load(chunk, arcRow, chunk.nextArc, chunk.nextTap);
  }
}

template class SphereSource<float>;
template class SphereSource<double>;

} // namespace disco::cpu_gather
