//===- SphereSum.cpp - sums over rings, weight first ----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// contract_sum, and a conv with the weight first, sum K maps over the rings of
// psi. A task takes some out-latitudes and channels, and runs over the rings
// that they read, from north to south. Each ring is copied or computed once,
//
//   u[channel, k, longitude]  =  z[channel, k]  or  sum over c: w[c, k] x[c]
//
// and then added to all rows that read it, while it is in the cache:
//
//   sums[row, channel] += taps of row in ring * u[channel]
//
// A row thus adds up its rings from north to south, and on each its arcs in
// order, in whichever task it is. Ring and row are extended periodically, as
// far as the taps reach, so that no tap tests for the wrap:
//
//   u   [ .. lattice/2 .. | 0 .. lattice | .. one row's padding .. ]  per phase
//
// One row alone needs a load of u for each multiplication. Up to three rows
// that follow each other among those that read a ring, and whose arcs on it
// meet, are a *group*: each tap is a load for all of its rows that have it, and
// none for the others (GroupParts in Kernels.h). Taps that mirror each other
// for all rows of a group (Mirror.h) are one element, the sum or the difference
// of two longitudes. Groups and their elements depend on psi alone.
//
// The lists are made once for all channels of a task, as many as a thread has
// room for: a *round*. Then a channel after the other runs through the round,
// so that each of its K maps is read in one go, and the sums of few rows are in
// use at a time. A mixed ring holds all channels, and is a round.
//
//===----------------------------------------------------------------------===//

#include "../ThreadPool.h"
#include "Operations.h"
#include "Sphere.h"
#include "Values.h"

#include <algorithm>
#include <new>

namespace disco::cpu_gather {

namespace {

/// Bytes of a mixed ring for all channels of a task, and of a row's sums.
constexpr int64_t ringBytes = DISCO_CPU_GATHER_RING_BYTES,
                  rowBytes = DISCO_CPU_GATHER_ROW_BYTES;
/// Bytes of the sums of a thread, if all rows of a task were in use at once.
constexpr int64_t sumsBytes = 16 << 20;
/// Channels of a task at most: they share the lists of taps.
constexpr int64_t maxBlock = DISCO_CPU_GATHER_ROW_CHANNELS;
/// Tasks for each thread, at least, where there are rows enough.
constexpr int64_t tasksPerThread = 8;
/// Channels and longitudes of x that are mixed together.
constexpr int64_t mixChannels = 256, mixColumns = 96;
/// Results of contract_sum do not stay in the caches while more is read.
constexpr int64_t streamBytes = 16 << 20;
/// Elements (taps or pairs of them, for each k) and pieces of a round.
constexpr int64_t listSize = 32768, maxPieces = 1024;
/// Rows of a task, at least: its first and last rings are also read by others.
constexpr int64_t minRows = 8;

template <typename T> class SphereSum final : public Operation {
public:
  SphereSum(const Problem &problem, const Kernels<T> &kernels)
      : problem(problem), call(*problem.call), kernels(kernels),
        tables(problem), lattice(problem.lattice),
        padded(roundUp(problem.lattice, kernels.panel)),
        vectors(divideUp(problem.lattice, kernels.lanes)),
        margin(roundUp(problem.lattice / 2, kernels.panel)),
        phaseSize(margin + padded +
                  roundUp(divideUp(problem.lattice, 2), kernels.panel)),
        mapSize(problem.stride * phaseSize) {}

  void layout(Arena &arena) override;
  void run() override;

private:
  bool mixes() const { return call.op == DISCO_OP_CONV; }
  int64_t channelSize() const { return problem.numBasis * mapSize; }
  int64_t ringPanels() const {
    return roundUp(call.psi.nlon_in, kernels.panel);
  }

  /// What an element of a list is.
  enum Kind { single, sum, difference, allKinds };

  /// An arc as its ring sees it.
  struct Reader {
    int32_t row, arc;
  };

  /// Readers of a ring that are added together, the longest arc first, and the
  /// longitudes of all their taps. With a whole ring, they start where it does.
  struct Group {
    Reader readers[maxGroup];
    int64_t size = 0;
    int64_t start = 0, length = 0;
    bool isRing = false;
  };

  /// Consecutive elements of a group.
  struct Piece {
    int32_t lat;
    int32_t rows[maxGroup], slots[maxGroup], numRows;
    int32_t firstOffset, firstValue;
    int32_t counts[3][GroupParts::maxParts];
    int32_t lowest, highest; ///< columns of u that taps start from
    uint8_t isFirst, isLast; ///< bit r: of row r
  };

  /// A thread's buffers.
  struct Scratch {
    T *ring = nullptr;   ///< u [block or 1][K][stride][phaseSize]
    T *mixed = nullptr;  ///< [block * K][nlonIn], stride > 1
    T *x = nullptr;      ///< panels of x
    T *row = nullptr;    ///< one ring of x
    T *sums = nullptr;   ///< [block][slot][padded]
    T *values = nullptr; ///< of elements, [element][row of its part]
    int32_t *offsets = nullptr;
    T *groupValues = nullptr;      ///< [row][tap][K]
    int32_t *tapOffsets = nullptr; ///< of a group
    uint8_t *parity = nullptr;     ///< [K]
    uint8_t *tapParts = nullptr;   ///< of a group: bit p: in part p
    int32_t *maps = nullptr;       ///< [kind or all][K]
    int64_t numMaps[4] = {};
    Piece *pieces = nullptr;
    int32_t *slots = nullptr;     ///< of rows; -1: none
    int32_t *freeSlots = nullptr; ///< a stack
    int32_t *left = nullptr;      ///< arcs of a row that are to be added
    // Of the present round:
    int64_t numPieces = 0, used = 0, usedOffsets = 0, usedValues = 0;
    int64_t numFree = 0;
  };

  /// What a task computes.
  struct Task {
    int64_t batch, group, firstChannel, count; ///< channels in the group
    int64_t firstRow, numRows;
    Scratch *scratch;

    bool has(int64_t row) const {
      return row >= firstRow && row < firstRow + numRows;
    }
  };

  void indexReaders();
  void computeTask(int64_t task, Scratch &scratch);
  void addRing(const Task &task, int64_t lat);
  Group groupAt(const Reader *begin, const Reader *end) const;
  void addGroup(const Task &task, int64_t lat, const Group &group);
  void loadGroup(Scratch &s, const Group &group) const;
  void chooseKinds(Scratch &s, const Group &group) const;
  void addElements(const Task &task, Piece *&piece, const Group &group,
                   Kind kind, int part, int ours);
  Piece &startPiece(const Task &task, const Piece &like);
  void writeOffsets(Scratch &s, int64_t start, int64_t length,
                    Piece &piece) const;
  void loadValues(const Arc &arc, int64_t first, int64_t count, T *to) const;
  int64_t shiftOf(const Arc &from, const Arc &to) const;
  void addRound(const Task &task);
  void addPiece(const Task &task, const Piece &piece, int64_t channel,
                const T *ring, Ahead &ahead);
  void mixRing(const Task &task, int64_t lat);
  const char *mapOf(const Task &task, int64_t channel, int64_t k,
                    int64_t lat) const;
  void copyRing(const Task &task, int64_t channel, int64_t lat) const;
  Ahead ringAhead(const Task &task, int64_t lat, int64_t channel,
                  int64_t steps) const;
  void extend(T *maps, int64_t lowest, int64_t highest) const;
  void storeRow(const Task &task, int64_t row, int64_t channel, const T *sums);

  const Problem &problem;
  const disco_kernel_call &call;
  const Kernels<T> &kernels;
  const SphereTables tables;
  const int64_t lattice, padded, vectors, margin, phaseSize, mapSize;
  int64_t block = 1, blocks = 1; ///< channels of a task; tasks of a group
  int64_t rowChunk = 1, chunks = 1;
  bool isStreamed = false; ///< results go around the caches
  T *weight = nullptr;
  Scratch *scratches = nullptr;
  int64_t *cost = nullptr;
  int32_t *order = nullptr;
  int64_t *firstReader = nullptr; ///< of each ring
  Reader *readers = nullptr;      ///< by ring, then by row and arc
};

template <typename T> void SphereSum<T>::layout(Arena &arena) {
  const disco_kernel_psi &psi = call.psi;
  const int64_t numBasis = problem.numBasis;
  const int64_t size = sizeof(T);
  // Each block of channels of a mix reads all of the group's x again: many of
  // them deserve a larger one.
  const int64_t room =
      problem.groupIn >= DISCO_CPU_GATHER_WIDE_MIX ? 4 * ringBytes : ringBytes;
  const int64_t fit = mixes() ? room / (channelSize() * size)
                              : lesser(rowBytes / (padded * size), maxBlock);
  block = problem.channelBlock ? problem.channelBlock : fit;
  block = greater(lesser(block, problem.groupOut), 1);
  blocks = divideUp(problem.groupOut, block);
  const int64_t tasks = greater(problem.batch * problem.groups * blocks, 1);
  chunks = greater(divideUp(tasksPerThread * problem.numThreads, tasks),
                   divideUp(tables.numRows * block * padded * size, sumsBytes));
  rowChunk = greater(divideUp(tables.numRows, chunks), minRows);
  chunks = divideUp(tables.numRows, rowChunk);
  cost = arena.take<int64_t>(chunks);
  order = arena.take<int32_t>(chunks);
  firstReader = arena.take<int64_t>(psi.nlat_in + 1);
  readers = arena.take<Reader>(psi.num_arcs);
  scratches = arena.take<Scratch>(problem.numThreads);
  if (mixes())
    weight = arena.take<T>(problem.outChannels * problem.groupIn * numBasis);
  const int64_t list = greater(listSize, numBasis);
  for (int i = 0; i < problem.numThreads; ++i) {
    Scratch s;
    s.ring = arena.take<T>((mixes() ? block : 1) * channelSize());
    if (mixes() && problem.stride > 1)
      s.mixed = arena.take<T>(block * numBasis * ringPanels());
    if (mixes())
      s.x = arena.take<T>(lesser(mixChannels, problem.groupIn) *
                          roundUp(mixColumns, kernels.panel));
    s.row = arena.take<T>(greater(ringPanels(), mixColumns));
    s.sums = arena.take<T>(rowChunk * block * padded);
    s.values = arena.take<T>(maxGroup * list);
    s.offsets = arena.take<int32_t>(2 * list);
    s.groupValues = arena.take<T>(maxGroup * psi.nlon_in * numBasis);
    s.tapOffsets = arena.take<int32_t>(psi.nlon_in);
    s.parity = arena.take<uint8_t>(numBasis);
    s.tapParts = arena.take<uint8_t>(psi.nlon_in);
    s.maps = arena.take<int32_t>(4 * numBasis);
    s.pieces = arena.take<Piece>(maxPieces);
    s.slots = arena.take<int32_t>(rowChunk);
    s.freeSlots = arena.take<int32_t>(rowChunk);
    s.left = arena.take<int32_t>(rowChunk);
    if (scratches)
      new (scratches + i) Scratch(s);
  }
}

template <typename T> void SphereSum<T>::run() {
  if (mixes()) {
    const Weight values(problem);
    runtime::parallelTasks(
        problem.numThreads, problem.groups * blocks, [&](int64_t i, int) {
          const int64_t group = i / blocks, first = i % blocks * block;
          values.packWeightFirst(
              group, first, lesser(block, problem.groupOut - first),
              weight + (group * problem.groupOut + first) * problem.groupIn *
                           problem.numBasis);
        });
  }
  // Streaming needs elements that are sums, one after the other.
  isStreamed = call.dtype == (sizeof(T) == 8 ? DISCO_F64 : DISCO_F32) &&
               !mixes() && problem.phases == 1 &&
               reinterpret_cast<uintptr_t>(call.y) % sizeof(T) == 0 &&
               problem.batch * problem.channels * problem.numBasis *
                       problem.numIn * problem.elementSize >=
                   streamBytes;
  indexReaders();
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    cost[chunk] = 0;
    const int64_t end = lesser((chunk + 1) * rowChunk, tables.numRows);
    for (int64_t row = chunk * rowChunk; row < end; ++row)
      cost[chunk] += tables.tapsOfRow(row);
  }
  orderByCost(cost, order, chunks);
  runtime::parallelTasks(
      problem.numThreads, problem.batch * problem.groups * blocks * chunks,
      [&](int64_t task, int thread) { computeTask(task, scratches[thread]); });
}

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

template <typename T>
void SphereSum<T>::computeTask(int64_t number, Scratch &scratch) {
  const int64_t perChunk = problem.batch * problem.groups * blocks;
  Task task;
  task.firstRow = order[number / perChunk] * rowChunk;
  task.numRows = lesser(rowChunk, tables.numRows - task.firstRow);
  task.firstChannel = number % blocks * block;
  task.count = lesser(block, problem.groupOut - task.firstChannel);
  task.group = number / blocks % problem.groups;
  task.batch = number / blocks / problem.groups % problem.batch;
  task.scratch = &scratch;
  scratch.numFree = task.numRows;
  int64_t firstRing = call.psi.nlat_in, endRing = 0;
  for (int64_t row = 0; row < task.numRows; ++row) {
    const int64_t begin = tables.firstArc(task.firstRow + row);
    const int64_t end = tables.firstArc(task.firstRow + row + 1);
    scratch.slots[row] = -1;
    scratch.freeSlots[row] = static_cast<int32_t>(task.numRows - 1 - row);
    scratch.left[row] = static_cast<int32_t>(end - begin);
    if (begin < end) {
      firstRing = lesser(firstRing, tables.arc(begin).lat);
      endRing = greater(endRing, tables.arc(end - 1).lat + 1);
    }
  }
  scratch.numPieces = scratch.used = 0;
  scratch.usedOffsets = scratch.usedValues = 0;
  for (int64_t lat = firstRing; lat < endRing; ++lat) {
    if (mixes())
      addRound(task);
    addRing(task, lat);
  }
  addRound(task);
  for (int64_t row = task.firstRow; row < task.firstRow + task.numRows; ++row)
    if (tables.firstArc(row) == tables.firstArc(row + 1)) {
      std::fill_n(scratch.sums, padded, T(0));
      for (int64_t i = 0; i < task.count; ++i)
        storeRow(task, row, i, scratch.sums);
    }
  if (isStreamed)
    kernels.fence();
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
      s.used + problem.numBasis > greater(listSize, problem.numBasis))
    addRound(task);
  piece.firstOffset = static_cast<int32_t>(s.usedOffsets);
  piece.firstValue = static_cast<int32_t>(s.usedValues);
  std::fill_n(piece.counts[0], 3 * GroupParts::maxParts, 0);
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
      s.offsets[s.usedOffsets++] = s.tapOffsets[u] + map;
      if (kind != single)
        s.offsets[s.usedOffsets++] = s.tapOffsets[other] + map;
    }
    piece->counts[kind][to] += static_cast<int32_t>(count);
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

/// Adds the lists to the sums of all channels, and empties them.
template <typename T> void SphereSum<T>::addRound(const Task &task) {
  Scratch &s = *task.scratch;
  const Piece *end = s.pieces + s.numPieces;
  for (int64_t i = 0; s.numPieces > 0 && i < task.count; ++i) {
    T *ring = mixes() ? s.ring + i * channelSize() : s.ring;
    for (const Piece *piece = s.pieces; piece < end;) {
      // The pieces of a ring.
      const Piece *next = piece;
      int64_t lowest = 0, highest = 0, steps = 0;
      for (; next < end && next->lat == piece->lat; ++next) {
        lowest = lesser(lowest, next->lowest);
        highest = greater(highest, next->highest);
        steps += divideUp(vectors, kernels.addVectors[next->numRows - 1]);
      }
      Ahead ahead; // what is copied next
      if (!mixes()) {
        copyRing(task, i, piece->lat);
        if (next < end)
          ahead = ringAhead(task, next->lat, i, steps);
        else if (i + 1 < task.count)
          ahead = ringAhead(task, s.pieces->lat, i + 1, steps);
      }
      extend(ring, lowest, highest);
      for (; piece < next; ++piece)
        addPiece(task, *piece, i, ring, ahead);
    }
  }
  s.numPieces = s.used = s.usedOffsets = s.usedValues = 0;
}

template <typename T>
void SphereSum<T>::addPiece(const Task &task, const Piece &piece,
                            int64_t channel, const T *ring, Ahead &ahead) {
  Scratch &s = *task.scratch;
  T *rows[maxGroup] = {};
  for (int32_t r = 0; r < piece.numRows; ++r) {
    rows[r] = s.sums + (channel * rowChunk + piece.slots[r]) * padded;
    if (piece.isFirst >> r & 1)
      std::fill_n(rows[r], padded, T(0));
  }
  GroupList<T> list;
  list.numRows = piece.numRows;
  std::copy_n(piece.counts[0], 3 * GroupParts::maxParts, list.counts[0]);
  list.offsets = s.offsets + piece.firstOffset;
  list.values = s.values + piece.firstValue;
  kernels.add(list, ring, vectors, rows, ahead);
  for (int32_t r = 0; r < piece.numRows; ++r)
    if (piece.isLast >> r & 1)
      storeRow(task, piece.rows[r], channel, rows[r]);
}

/// The lattice of each map repeats on both sides of what was loaded, as far as
/// it is read.
template <typename T>
void SphereSum<T>::extend(T *maps, int64_t lowest, int64_t highest) const {
  const int64_t end = highest + vectors * kernels.lanes;
  constexpr int64_t few = 8;
  for (int64_t i = 0; i < problem.numBasis * problem.stride; ++i) {
    T *first = maps + i * phaseSize + margin, *last = first + lattice;
    if (lowest >= -few && end <= lattice + 2 * few && lattice >= 2 * few) {
      std::copy_n(last - few, few, first - few);
      std::copy_n(first, 2 * few, last);
      continue;
    }
    for (int64_t j = lowest; j < 0; ++j)
      first[j] = first[j + lattice];
    for (int64_t j = lattice; j < end; ++j)
      first[j] = first[j - lattice];
  }
}

template <typename T>
const char *SphereSum<T>::mapOf(const Task &task, int64_t channel, int64_t k,
                                int64_t lat) const {
  const int64_t c = task.batch * problem.channels + task.firstChannel + channel;
  return advance(call.x,
                 (c * problem.numBasis + k) * problem.numIn +
                     lat * call.psi.nlon_in,
                 problem.elementSize);
}

/// What copyRing is to copy next, asked for in some steps.
template <typename T>
Ahead SphereSum<T>::ringAhead(const Task &task, int64_t lat, int64_t channel,
                              int64_t steps) const {
  Ahead ahead;
  ahead.run = mapOf(task, channel, 0, lat);
  ahead.runs = problem.numBasis;
  ahead.runStride = problem.numIn * problem.elementSize;
  ahead.runBytes = call.psi.nlon_in * problem.elementSize;
  const int64_t lines = ahead.runs * divideUp(ahead.runBytes, lineBytes);
  ahead.linesPerStep = divideUp(lines, greater(steps, 1));
  return ahead;
}

template <typename T>
void SphereSum<T>::copyRing(const Task &task, int64_t channel,
                            int64_t lat) const {
  Scratch &s = *task.scratch;
  const int64_t nlon = call.psi.nlon_in;
  for (int64_t k = 0; k < problem.numBasis; ++k) {
    const char *ring = mapOf(task, channel, k, lat);
    T *to = s.ring + k * mapSize + margin;
    if (problem.stride == 1) {
      kernels.load[call.dtype](ring, to, nlon);
    } else {
      kernels.load[call.dtype](ring, s.row, nlon);
      kernels.deinterleave(s.row, to, nlon, problem.stride, phaseSize);
    }
  }
}

template <typename T>
void SphereSum<T>::mixRing(const Task &task, int64_t lat) {
  Scratch &s = *task.scratch;
  const int64_t nlon = call.psi.nlon_in, panel = kernels.panel;
  const bool isDirect = problem.stride == 1;
  const int64_t maps = task.count * problem.numBasis;
  const int64_t tile = roundUp(mixColumns, panel);
  Product<T> product;
  product.a = weight + (task.group * problem.groupOut + task.firstChannel) *
                           problem.groupIn * problem.numBasis;
  product.aBlockStride = problem.groupIn * rowBlock;
  product.b = s.x;
  product.cRowStride = isDirect ? mapSize : ringPanels();
  product.cPanelStride = panel;
  product.rows = maps;
  if (problem.groupIn == 0) // sums of nothing
    std::fill_n(isDirect ? s.ring : s.mixed,
                isDirect ? maps * mapSize : maps * ringPanels(), T(0));
  for (int64_t first = 0; first < nlon; first += tile) {
    const int64_t columns = lesser(tile, nlon - first);
    product.c = (isDirect ? s.ring + margin : s.mixed) + first;
    product.panels = divideUp(columns, panel);
    product.accumulate = false;
    for (int64_t c0 = 0; c0 < problem.groupIn; c0 += mixChannels) {
      product.aFirst = c0;
      product.depth = lesser(mixChannels, problem.groupIn - c0);
      product.bPanelStride = product.depth * panel;
      for (int64_t c = 0; c < product.depth; ++c) {
        const int64_t channel = task.batch * problem.channels +
                                task.group * problem.groupIn + c0 + c;
        const char *from =
            advance(call.x, channel * problem.numIn + lat * nlon + first,
                    problem.elementSize);
        prefetch(from + 4 * problem.numIn * problem.elementSize,
                 columns * problem.elementSize);
        for (int64_t j = 0; j < columns; j += panel)
          kernels.load[call.dtype](from + j * problem.elementSize,
                                   s.x + j * product.depth + c * panel,
                                   lesser(panel, columns - j));
      }
      kernels.multiply(product);
      product.accumulate = true;
    }
  }
  if (!isDirect)
    for (int64_t map = 0; map < maps; ++map)
      kernels.deinterleave(s.mixed + map * ringPanels(),
                           s.ring + map * mapSize + margin, nlon,
                           problem.stride, phaseSize);
}

template <typename T>
void SphereSum<T>::storeRow(const Task &task, int64_t row, int64_t channel,
                            const T *sums) {
  const int64_t o = task.group * problem.groupOut + task.firstChannel + channel;
  const int64_t element =
      (task.batch * problem.outChannels + o) * problem.numOut +
      row / problem.phases * call.psi.nlon_out + row % problem.phases;
  char *to = const_cast<char *>(advance(call.y, element, problem.elementSize));
  if (isStreamed) {
    StreamRows<T> rows;
    rows.sums = const_cast<T *>(sums);
    rows.out = reinterpret_cast<T *>(to);
    rows.rows = 1;
    rows.count = lattice;
    rows.isFirst = rows.isLast = true;
    kernels.stream(rows);
    return;
  }
  StoreRow<T> out;
  out.count = lattice;
  out.outStride = problem.phases;
  out.activation = call.activation;
  out.sums = sums;
  out.out = to;
  if (call.has_residual)
    out.residual = advance(call.residual, element, problem.elementSize);
  out.bias = biasOf<T>(call, o);
  kernels.store[call.dtype](out);
}

} // namespace

template <typename T>
Operation *makeSphereSum(const Problem &problem, const Kernels<T> &kernels,
                         Slot &slot) {
  static_assert(sizeof(SphereSum<T>) <= sizeof(Slot));
  return new (slot.bytes) SphereSum<T>(problem, kernels);
}

template Operation *makeSphereSum(const Problem &, const Kernels<float> &,
                                  Slot &);
template Operation *makeSphereSum(const Problem &, const Kernels<double> &,
                                  Slot &);

} // namespace disco::cpu_gather
