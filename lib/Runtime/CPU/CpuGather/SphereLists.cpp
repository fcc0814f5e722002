//===- SphereLists.cpp - the lists of taps of sums over rings -------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SphereSum.h"

namespace disco::cpu_gather {

/// Sorts the arcs by ring, phase and row.
template <typename T> void SphereSum<T>::indexReaders() {
  const int64_t numRings = call.psi.nlat_in;
  std::fill_n(firstReader, numRings + 1, int64_t(0));
  for (int64_t a = 0; a < call.psi.num_arcs; ++a)
    ++firstReader[tables.arc(a).lat + 1];
  for (int64_t lat = 0; lat < numRings; ++lat)
    firstReader[lat + 1] += firstReader[lat];
  // Rows of a phase follow each other: their arcs have the same middle.
  for (int64_t i = 0; i < tables.numRows; ++i) {
    const int64_t row =
        i % call.psi.nlat_out * problem.phases + i / call.psi.nlat_out;
    for (int64_t a = tables.firstArc(row); a < tables.firstArc(row + 1); ++a)
      readers[firstReader[tables.arc(a).lat]++] = {static_cast<int32_t>(row),
                                                   static_cast<int32_t>(a)};
  }
  // Each is now where the next should be.
  for (int64_t lat = numRings; lat > 0; --lat)
    firstReader[lat] = firstReader[lat - 1];
  firstReader[0] = 0;
}

/// Where an arc starts, seen from the start of another; the nearer way round.
template <typename T>
int64_t SphereSum<T>::shiftOf(const Arc &from, const Arc &to) const {
  const int64_t nlon = call.psi.nlon_in;
  const int64_t shift = (to.lonStart - from.lonStart + nlon) % nlon;
  return shift > nlon / 2 ? shift - nlon : shift;
}

/// The readers from `begin` on that are added together.
template <typename T>
typename SphereSum<T>::Group SphereSum<T>::groupAt(const Reader *begin,
                                                   const Reader *end) const {
  const int64_t nlon = call.psi.nlon_in;
  const Arc first = tables.arc(begin->arc);
  Group group;
  int64_t low = 0, high = first.length;
  for (const Reader *next = begin; next < end && group.size < maxGroup;
       ++next) {
    const Arc arc = tables.arc(next->arc);
    const int64_t shift = shiftOf(first, arc);
    if (next > begin) {
      // A row with several arcs on the ring adds them one by one.
      const bool isOnly = next + 1 >= end || next[1].row != next->row;
      if (!isOnly || next->row == next[-1].row ||
          next->row % problem.phases != begin->row % problem.phases ||
          shift > high || shift + arc.length < low)
        break;
    }
    low = lesser(low, shift);
    high = greater(high, shift + arc.length);
    if (arc.length == nlon && !group.isRing) {
      group.isRing = true;
      group.start = arc.lonStart;
    }
    int64_t at = group.size++;
    for (; at > 0 && tables.arc(group.readers[at - 1].arc).length < arc.length;
         --at)
      group.readers[at] = group.readers[at - 1];
    group.readers[at] = *next;
  }
  group.length = lesser(high - low, nlon);
  if (!group.isRing)
    group.start = (first.lonStart + low + nlon) % nlon;
  group.isRing = group.length == nlon;
  return group;
}

/// Lists a ring for all rows of the task that read it.
template <typename T>
void SphereSum<T>::addRing(const Task &task, int64_t lat) {
  const Reader *end = readers + firstReader[lat + 1];
  bool isMixed = !mixes();
  for (const Reader *reader = readers + firstReader[lat]; reader < end;) {
    const Group group = groupAt(reader, end);
    bool isOurs = false;
    for (int64_t i = 0; i < group.size; ++i)
      isOurs |= task.has(group.readers[i].row);
    if (isOurs) {
      if (!isMixed)
        mixRing(task, lat);
      isMixed = true;
      addGroup(task, lat, group);
    }
    reader += group.size;
  }
}

/// Begins a piece that is like another, and a round if this one is full. Rows
/// that have no sums yet get a slot: few are in use at a time.
template <typename T>
typename SphereSum<T>::Piece &SphereSum<T>::startPiece(const Task &task,
                                                       const Piece &like) {
  Scratch &s = *task.scratch;
  Piece piece = like; // addRound does not move pieces, but they are used again
  if (s.numPieces == maxPieces ||
      s.used + problem.numBasis > greater(listSize, problem.numBasis)) {
    addRound(task);
    emptyLists(s);
  }
  piece.firstOffset = static_cast<int32_t>(s.usedOffsets);
  piece.firstValue = static_cast<int32_t>(s.usedValues);
  std::fill_n(piece.counts[0], 3 * GroupParts::maxParts, 0);
  piece.numParts = 1;
  piece.isFirst = piece.isLast = 0;
  for (int32_t r = 0; r < piece.numRows; ++r) {
    int32_t &slot = s.slots[piece.rows[r] - task.firstRow];
    if (slot < 0) {
      slot = s.freeSlots[--s.numFree];
      piece.isFirst = static_cast<uint8_t>(piece.isFirst | 1 << r);
    }
    piece.slots[r] = slot;
  }
  return s.pieces[s.numPieces++] = piece;
}

/// The parts of a group that a tap belongs to: bit r of `rows` says whether row
/// r has it.
static uint8_t partsOf(int rows, int size) {
  const bool isShared =
      rows == GroupParts::rowsOf(size, 0) || (size == maxGroup && rows == 3);
  int parts = 0;
  for (int part = 0; part < GroupParts::numParts(size); ++part) {
    const int own = GroupParts::rowsOf(size, part);
    const bool isAlone = (own & (own - 1)) == 0;
    if (isShared ? rows == own : isAlone && (rows & own))
      parts |= 1 << part;
  }
  return static_cast<uint8_t>(parts);
}

/// Reads the values of a group, which rows have which taps, and what is
/// mirrored. Whether or not a row is the task's: who adds it changes no bit.
template <typename T>
void SphereSum<T>::loadGroup(Scratch &s, const Group &group) const {
  const int64_t numBasis = problem.numBasis, length = group.length;
  const int64_t nlon = call.psi.nlon_in;
  std::fill_n(s.parity, numBasis, uint8_t(even | odd));
  std::fill_n(s.tapParts, length, uint8_t(0)); // at first the rows
  for (int64_t i = 0; i < group.size; ++i) {
    const Arc arc = tables.arc(group.readers[i].arc);
    T *values = s.groupValues + i * length * numBasis;
    // Within a ring the arc may go on at its start.
    const int64_t at = (arc.lonStart - group.start + nlon) % nlon;
    const int64_t before = lesser(arc.length, length - at);
    if (arc.length < length)
      std::fill_n(values, length * numBasis, T(0));
    loadValues(arc, 0, before, values + at * numBasis);
    loadValues(arc, before, arc.length - before, values);
    for (int64_t u = 0; u < arc.length; ++u)
      s.tapParts[u < before ? at + u : u - before] |=
          static_cast<uint8_t>(1 << i);
    narrowParity(values, length, numBasis, group.isRing, s.parity);
  }
  chooseKinds(s, group);
}

/// Sorts the maps by the kind of their elements, and the taps by parts.
template <typename T>
void SphereSum<T>::chooseKinds(Scratch &s, const Group &group) const {
  const int64_t numBasis = problem.numBasis, length = group.length;
  bool isMirrored = true;
  for (int64_t u = 0; u < length; ++u)
    isMirrored &=
        s.tapParts[u] == s.tapParts[mirrorOf(u, length, group.isRing)];
  std::fill_n(s.numMaps, 4, int64_t(0));
  for (int64_t k = 0; k < numBasis; ++k) {
    const Kind kind = !isMirrored || s.parity[k] == neither ? single
                      : s.parity[k] & even                  ? sum
                                                            : difference;
    for (const Kind list : {kind, allKinds})
      s.maps[list * numBasis + s.numMaps[list]++] = static_cast<int32_t>(k);
  }
  uint8_t parts[1 << maxGroup];
  for (int rows = 0; rows < 1 << maxGroup; ++rows)
    parts[rows] = partsOf(rows, static_cast<int>(group.size));
  for (int64_t u = 0; u < length; ++u)
    s.tapParts[u] = parts[s.tapParts[u]];
}

/// The bits of `rows` that are set in `ours`, close together.
static int closeUp(int rows, int ours) {
  int result = 0;
  for (int r = 0, at = 0; r < maxGroup; ++r)
    if (ours >> r & 1)
      result |= (rows >> r & 1) << at++;
  return result;
}

/// Appends the elements of a kind that belong to a part of a group, for those
/// of its rows that are ours.
template <typename T>
void SphereSum<T>::addElements(const Task &task, Piece *&piece,
                               const Group &group, Kind kind, int part,
                               int ours) {
  Scratch &s = *task.scratch;
  const int64_t numBasis = problem.numBasis, length = group.length;
  const int rows =
      GroupParts::rowsOf(static_cast<int>(group.size), part) & ours;
  if (!rows)
    return;
  const bool isDirect = readsDirectly();
  const T *values[maxGroup];
  int numValues = 0;
  for (int r = 0; r < group.size; ++r)
    if (rows >> r & 1)
      values[numValues++] = s.groupValues + r * length * numBasis;
  int to = 0; // its number among the parts of the piece
  while (GroupParts::rowsOf(piece->numRows, to) != closeUp(rows, ours))
    ++to;
  for (int64_t u = 0; u < length; ++u) {
    if (!(s.tapParts[u] >> part & 1))
      continue;
    const int64_t other = mirrorOf(u, length, group.isRing);
    if (kind != single && other <= u)
      continue;
    const Kind list = kind == single && other == u ? allKinds : kind;
    const int64_t count = s.numMaps[list];
    if (count == 0)
      continue;
    if (s.used + count > greater(listSize, numBasis))
      piece = &startPiece(task, *piece);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t k = s.maps[list * numBasis + i];
      for (int r = 0; r < numValues; ++r)
        s.values[s.usedValues++] = values[r][u * numBasis + k];
      const auto map = static_cast<int32_t>(k * mapSize);
      const auto columns = static_cast<int32_t>(k * problem.numIn);
      for (const int64_t tap : {u, other}) {
        if (isDirect)
          s.direct[s.usedOffsets] = s.tapColumns[tap] + columns;
        s.offsets[s.usedOffsets++] = s.tapOffsets[tap] + map;
        if (kind == single)
          break;
      }
    }
    piece->counts[kind][to] += static_cast<int32_t>(count);
    piece->numParts = std::max(piece->numParts, to + 1);
    s.used += count;
  }
}

/// Appends a group to the lists.
template <typename T>
void SphereSum<T>::addGroup(const Task &task, int64_t lat, const Group &group) {
  Scratch &s = *task.scratch;
  Piece like{};
  like.lat = static_cast<int32_t>(lat);
  int ours = 0;
  for (int r = 0; r < group.size; ++r)
    if (task.has(group.readers[r].row)) {
      like.rows[like.numRows++] = group.readers[r].row;
      ours |= 1 << r;
    }
  loadGroup(s, group);
  writeOffsets(s, group.start, group.length, like);
  Piece *piece = &startPiece(task, like);
  int parts = 0;
  for (int64_t u = 0; u < group.length; ++u)
    parts |= s.tapParts[u];
  for (const Kind kind : {single, sum, difference})
    for (int part = 0; parts >> part; ++part)
      if (parts >> part & 1)
        addElements(task, piece, group, kind, part, ours);
  for (int32_t r = 0; r < piece->numRows; ++r) {
    const int64_t row = piece->rows[r] - task.firstRow;
    if (--s.left[row] > 0)
      continue;
    piece->isLast = static_cast<uint8_t>(piece->isLast | 1 << r);
    s.freeSlots[s.numFree++] = s.slots[row];
  }
}

/// Writes where the taps of longitudes [start, start + length) find their
/// columns of map 0.
template <typename T>
void SphereSum<T>::writeOffsets(Scratch &s, int64_t start, int64_t length,
                                Piece &piece) const {
  const int64_t stride = problem.stride, nlon = call.psi.nlon_in;
  const int64_t lon = (start % nlon + nlon) % nlon;
  int64_t phase = lon % stride, at = lon / stride;
  for (int64_t u = 0; u < length; ++u) {
    // Near the start of the ring at either end of it.
    const auto from =
        static_cast<int32_t>(at >= lattice - lattice / 2 ? at - lattice : at);
    piece.lowest = from < piece.lowest ? from : piece.lowest;
    piece.highest = from > piece.highest ? from : piece.highest;
    s.tapOffsets[u] = static_cast<int32_t>(phase * phaseSize + margin + from);
    s.tapColumns[u] = from;
    if (++phase == stride) {
      phase = 0;
      if (++at == lattice)
        at = 0;
    }
  }
}

/// The values of taps [first, first + count) of an arc.
template <typename T>
void SphereSum<T>::loadValues(const Arc &arc, int64_t first, int64_t count,
                              T *to) const {
  const int64_t numBasis = problem.numBasis;
  if (count > 0)
    kernels.load[call.psi.value_dtype](
        advance(call.psi.values, (arc.valueOffset + first) * numBasis,
                sizeOfFloat(call.psi.value_dtype)),
        to, count * numBasis);
}

template class SphereSum<float>;
template class SphereSum<double>;

} // namespace disco::cpu_gather
