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
// overlap well, are a *group*: a list of the taps of all their arcs, with
// values of zero where a row has no tap. (A value that is not finite may so
// reach a point of another row of the group.) Groups depend on psi alone.
//
// The lists of a ring are made once for all channels of a task. Some rings are
// a *round*, so that what is copied of a channel is one long run; what does not
// fit the thread's room for lists is a further round.
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
/// Longitudes that a round copies of each map of a channel, about.
constexpr int64_t roundColumns = 720;
/// Channels of a task at most: they share the lists of taps.
constexpr int64_t maxBlock = DISCO_CPU_GATHER_ROW_CHANNELS;
/// Tasks for each thread, at least, where there are rows enough.
constexpr int64_t tasksPerThread = 8;
/// Channels and longitudes of x that are mixed together.
constexpr int64_t mixChannels = 256, mixColumns = 96;
/// Taps times K, and pieces of arcs, of a round.
constexpr int64_t listSize = 32768, maxPieces = 96;
/// Rows of a task, at least: its first and last rings are also read by others.
constexpr int64_t minRows = 8;

template <typename T> class SphereSum final : public Operation {
public:
  SphereSum(const Problem &problem, const Kernels<T> &kernels)
      : problem(problem), call(*problem.call), kernels(kernels),
        tables(problem), lattice(problem.lattice),
        padded(roundUp(problem.lattice, kernels.panel)),
        phaseSize(roundUp(problem.lattice + padded, kernels.panel)),
        mapSize(problem.stride * phaseSize) {}

  void layout(Arena &arena) override;
  void run() override;

private:
  bool mixes() const { return call.op == DISCO_OP_CONV; }
  int64_t channelSize() const { return problem.numBasis * mapSize; }
  int64_t ringPanels() const {
    return roundUp(call.psi.nlon_in, kernels.panel);
  }

  /// An arc as its ring sees it.
  struct Reader {
    int32_t row, arc;
  };

  /// Consecutive taps of the rows of a group.
  struct Piece {
    int32_t rows[maxGroup], numRows, first, count;
  };

  /// A thread's buffers.
  struct Scratch {
    T *ring = nullptr;  ///< u [block or rings of a round][K][stride][phaseSize]
    T *mixed = nullptr; ///< [block * K][nlonIn], stride > 1
    T *x = nullptr;     ///< panels of x
    T *row = nullptr;   ///< one ring of x
    T *sums = nullptr;  ///< [slot][block][padded]
    T *values = nullptr, *arcValues = nullptr;
    int32_t *offsets = nullptr;
    Piece *pieces = nullptr;
    int32_t *slots = nullptr;     ///< of rows; -1: none
    int32_t *freeSlots = nullptr; ///< a stack
    int32_t *left = nullptr;      ///< arcs of a row that are to be added
    // Of the present round:
    int64_t numPieces = 0, used = 0;
    int64_t firstLat = 0, endLat = 0;
    int64_t lowest = 0, highest = 0; ///< columns of u that taps start from
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
  int64_t groupAt(const Reader *begin, const Reader *end, int64_t &start,
                  int64_t &length) const;
  void addGroup(const Task &task, int64_t lat, const Reader *group,
                int64_t size, int64_t start, int64_t length);
  void addRound(const Task &task, int64_t nextLat);
  void addPieces(const Task &task, int64_t channel, const T *ring,
                 Ahead &ahead);
  void finishRows(const Task &task, int64_t firstLat, int64_t endLat);
  T *sumsOf(const Task &task, int64_t row);
  int64_t shiftOf(const Arc &from, const Arc &to) const;
  void writeOffsets(Scratch &s, int64_t start, int64_t count) const;
  void loadValues(const Arc &arc, int64_t first, int64_t count, T *to) const;
  void mixRing(const Task &task, int64_t lat);
  const char *mapOf(const Task &task, int64_t channel, int64_t k,
                    int64_t lat) const;
  void copyRings(const Task &task, int64_t channel);
  Ahead ringsAhead(const Task &task, int64_t lat, int64_t channel) const;
  void extend(const Scratch &s, T *map) const;
  void storeRow(const Task &task, int64_t row, const T *sums);

  const Problem &problem;
  const disco_kernel_call &call;
  const Kernels<T> &kernels;
  const SphereTables tables;
  const int64_t lattice, padded, phaseSize, mapSize;
  int64_t block = 1, blocks = 1; ///< channels of a task; tasks of a group
  int64_t rowChunk = 1, chunks = 1;
  int64_t roundRings = 1;
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
  if (!mixes())
    roundRings = greater(roundColumns / psi.nlon_in, 1);
  const int64_t list = greater(listSize, numBasis);
  for (int i = 0; i < problem.numThreads; ++i) {
    Scratch s;
    s.ring = arena.take<T>((mixes() ? block : roundRings) * channelSize());
    if (mixes() && problem.stride > 1)
      s.mixed = arena.take<T>(block * numBasis * ringPanels());
    if (mixes())
      s.x = arena.take<T>(lesser(mixChannels, problem.groupIn) *
                          roundUp(mixColumns, kernels.panel));
    s.row = arena.take<T>(greater(ringPanels(), mixColumns));
    s.sums = arena.take<T>(rowChunk * block * padded);
    s.values = arena.take<T>(maxGroup * list);
    s.arcValues = arena.take<T>(maxGroup * list);
    s.offsets = arena.take<int32_t>(list);
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

/// Sorts the arcs by ring.
template <typename T> void SphereSum<T>::indexReaders() {
  const int64_t numRings = call.psi.nlat_in;
  std::fill_n(firstReader, numRings + 1, int64_t(0));
  for (int64_t a = 0; a < call.psi.num_arcs; ++a)
    ++firstReader[tables.arc(a).lat + 1];
  for (int64_t lat = 0; lat < numRings; ++lat)
    firstReader[lat + 1] += firstReader[lat];
  for (int64_t row = 0; row < tables.numRows; ++row)
    for (int64_t a = tables.firstArc(row); a < tables.firstArc(row + 1); ++a)
      readers[firstReader[tables.arc(a).lat]++] = {static_cast<int32_t>(row),
                                                   static_cast<int32_t>(a)};
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
  scratch.firstLat = firstRing;
  int64_t unfinished = firstRing;
  for (int64_t lat = firstRing; lat < endRing; ++lat) {
    if (mixes() || lat - scratch.firstLat >= roundRings) {
      addRound(task, lat);
      finishRows(task, unfinished, lat);
      unfinished = lat;
    }
    addRing(task, lat);
  }
  addRound(task, endRing);
  finishRows(task, unfinished, endRing);
  for (int64_t row = task.firstRow; row < task.firstRow + task.numRows; ++row)
    if (tables.firstArc(row) == tables.firstArc(row + 1))
      storeRow(task, row, sumsOf(task, row));
}

/// The sums of a row, from zero on when it is asked for first. Rows come and go
/// with the rings, so that few slots, which stay in the cache, serve them all.
template <typename T> T *SphereSum<T>::sumsOf(const Task &task, int64_t row) {
  Scratch &s = *task.scratch;
  int32_t &slot = s.slots[row - task.firstRow];
  const int64_t size = block * padded;
  if (slot < 0) {
    slot = s.freeSlots[--s.numFree];
    std::fill_n(s.sums + slot * size, size, T(0));
  }
  return s.sums + slot * size;
}

/// Where an arc starts, seen from the start of another; the nearer way round.
template <typename T>
int64_t SphereSum<T>::shiftOf(const Arc &from, const Arc &to) const {
  const int64_t nlon = call.psi.nlon_in;
  const int64_t shift = (to.lonStart - from.lonStart + nlon) % nlon;
  return shift > nlon / 2 ? shift - nlon : shift;
}

/// The number of readers from `begin` on that are added together. Their taps
/// are `length` from `start` on, seen from the first arc's start.
template <typename T>
int64_t SphereSum<T>::groupAt(const Reader *begin, const Reader *end,
                              int64_t &start, int64_t &length) const {
  // The cost of a tap by the number of rows.
  static constexpr int64_t tapCost[maxGroup] = {8, 10, 15};
  const Arc first = tables.arc(begin->arc);
  start = 0;
  length = first.length;
  int64_t size = 1, low = 0, high = first.length;
  int64_t apart = tapCost[0] * first.length;
  for (int64_t i = 1; i < maxGroup && begin + i < end; ++i) {
    // A row with several arcs on the ring adds them one by one.
    const bool isOnly =
        begin + i + 1 >= end || begin[i + 1].row != begin[i].row;
    if (!isOnly || begin[i].row == begin[i - 1].row)
      break;
    const Arc arc = tables.arc(begin[i].arc);
    const int64_t shift = shiftOf(first, arc);
    low = lesser(low, shift);
    high = greater(high, shift + arc.length);
    apart += tapCost[0] * arc.length;
    if (tapCost[i] * (high - low) < apart) {
      size = i + 1;
      start = low;
      length = high - low;
      apart = tapCost[i] * length;
    }
  }
  return size;
}

/// Lists a ring for all rows of the task that read it.
template <typename T>
void SphereSum<T>::addRing(const Task &task, int64_t lat) {
  const Reader *end = readers + firstReader[lat + 1];
  bool isMixed = !mixes();
  for (const Reader *reader = readers + firstReader[lat]; reader < end;) {
    int64_t start, length;
    const int64_t size = groupAt(reader, end, start, length);
    bool isOurs = false;
    for (int64_t i = 0; i < size; ++i)
      isOurs |= task.has(reader[i].row);
    if (isOurs) {
      if (!isMixed)
        mixRing(task, lat);
      isMixed = true;
      addGroup(task, lat, reader, size, start, length);
    }
    reader += size;
  }
}

/// Appends the group's taps to the lists; rounds that are full are added.
template <typename T>
void SphereSum<T>::addGroup(const Task &task, int64_t lat, const Reader *group,
                            int64_t size, int64_t start, int64_t length) {
  Scratch &s = *task.scratch;
  const int64_t numBasis = problem.numBasis;
  const int64_t capacity = greater(listSize / numBasis, 1);
  const Arc first = tables.arc(group->arc);
  for (int64_t from = 0; from < length;) {
    if (s.used == capacity || s.numPieces == maxPieces)
      addRound(task, lat);
    if (s.numPieces == 0)
      s.firstLat = lat;
    s.endLat = lat + 1;
    const int64_t count = lesser(length - from, capacity - s.used);
    Piece &piece = s.pieces[s.numPieces++];
    piece.numRows = 0;
    piece.first = static_cast<int32_t>(s.used * numBasis);
    piece.count = static_cast<int32_t>(count * numBasis);
    for (int64_t i = 0; i < size; ++i) {
      if (!task.has(group[i].row))
        continue;
      const Arc arc = tables.arc(group[i].arc);
      loadValues(arc, start + from - shiftOf(first, arc), count,
                 s.arcValues + piece.numRows * piece.count);
      piece.rows[piece.numRows++] = group[i].row;
    }
    T *to = s.values + maxGroup * piece.first;
    for (int64_t t = 0; t < piece.count; ++t)
      for (int64_t i = 0; i < piece.numRows; ++i)
        *to++ = s.arcValues[i * piece.count + t];
    writeOffsets(s, first.lonStart + start + from, count);
    s.used += count;
    from += count;
  }
}

/// Appends where the taps of longitudes [start, start + count) find their
/// columns, for each k.
template <typename T>
void SphereSum<T>::writeOffsets(Scratch &s, int64_t start,
                                int64_t count) const {
  const int64_t stride = problem.stride, numBasis = problem.numBasis;
  const int64_t lon =
      (start % call.psi.nlon_in + call.psi.nlon_in) % call.psi.nlon_in;
  int32_t *offsets = s.offsets + s.used * numBasis;
  const int64_t slot = mixes() ? 0 : s.endLat - 1 - s.firstLat;
  int64_t phase = lon % stride, at = lon / stride;
  for (int64_t u = 0; u < count; ++u) {
    // Near the start of the ring at either end of it.
    const int64_t from = at >= lattice - lattice / 2 ? at - lattice : at;
    s.lowest = lesser(s.lowest, from);
    s.highest = greater(s.highest, from);
    const int64_t base =
        slot * channelSize() + phase * phaseSize + lattice / 2 + from;
    for (int64_t k = 0; k < numBasis; ++k)
      *offsets++ = static_cast<int32_t>(base + k * mapSize);
    if (++phase == stride) {
      phase = 0;
      if (++at == lattice)
        at = 0;
    }
  }
}

/// The values of taps [first, first + count) of an arc, zeros outside it.
template <typename T>
void SphereSum<T>::loadValues(const Arc &arc, int64_t first, int64_t count,
                              T *to) const {
  const int64_t numBasis = problem.numBasis;
  const int64_t begin = lesser(greater(first, 0), arc.length);
  const int64_t end = greater(lesser(first + count, arc.length), begin);
  if (end - begin < count)
    std::fill_n(to, count * numBasis, T(0));
  if (begin < end)
    kernels.load[call.psi.value_dtype](
        advance(call.psi.values, (arc.valueOffset + begin) * numBasis,
                sizeOfFloat(call.psi.value_dtype)),
        to + (begin - first) * numBasis, (end - begin) * numBasis);
}

/// Adds the lists to the sums of all channels, and empties them.
template <typename T>
void SphereSum<T>::addRound(const Task &task, int64_t nextLat) {
  Scratch &s = *task.scratch;
  const int64_t rings = mixes() ? 1 : s.endLat - s.firstLat;
  for (int64_t i = 0; s.numPieces > 0 && i < task.count; ++i) {
    T *ring = s.ring;
    Ahead ahead; // what is copied next
    if (mixes()) {
      ring += i * channelSize();
    } else {
      copyRings(task, i);
      ahead = i + 1 < task.count ? ringsAhead(task, s.firstLat, i + 1)
                                 : ringsAhead(task, nextLat, 0);
    }
    for (int64_t map = 0; map < rings * problem.numBasis; ++map)
      extend(s, ring + map * mapSize);
    addPieces(task, i, ring, ahead);
  }
  s.numPieces = s.used = 0;
  s.lowest = s.highest = 0;
  s.firstLat = nextLat;
}

template <typename T>
void SphereSum<T>::addPieces(const Task &task, int64_t channel, const T *ring,
                             Ahead &ahead) {
  Scratch &s = *task.scratch;
  for (int64_t i = 0; i < s.numPieces; ++i) {
    const Piece &piece = s.pieces[i];
    T *rows[maxGroup] = {};
    for (int64_t r = 0; r < piece.numRows; ++r)
      rows[r] = sumsOf(task, piece.rows[r]) + channel * padded;
    kernels.add({piece.count, piece.numRows, s.offsets + piece.first,
                 s.values + maxGroup * piece.first},
                ring, padded / kernels.lanes, rows, ahead);
  }
}

/// Stores the rows that have no arc beyond these rings.
template <typename T>
void SphereSum<T>::finishRows(const Task &task, int64_t firstLat,
                              int64_t endLat) {
  Scratch &s = *task.scratch;
  if (firstLat >= endLat)
    return;
  const Reader *end = readers + firstReader[endLat];
  for (const Reader *reader = readers + firstReader[firstLat]; reader < end;
       ++reader) {
    if (!task.has(reader->row))
      continue;
    const int64_t row = reader->row - task.firstRow;
    if (--s.left[row] > 0)
      continue;
    storeRow(task, reader->row, sumsOf(task, reader->row));
    s.freeSlots[s.numFree++] = s.slots[row];
  }
}

/// The lattice repeats on both sides of what was loaded, as far as it is read.
template <typename T>
void SphereSum<T>::extend(const Scratch &s, T *map) const {
  for (int64_t phase = 0; phase < problem.stride; ++phase) {
    T *first = map + phase * phaseSize + lattice / 2;
    std::copy_n(first + lattice + s.lowest, -s.lowest, first + s.lowest);
    const int64_t end = lesser(s.highest + padded, phaseSize - lattice / 2);
    for (int64_t i = lattice; i < end; i += lattice)
      std::copy_n(first, lesser(lattice, end - i), first + i);
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

/// What copyRings is to copy in a round from `lat` on, spread over the blocks
/// of columns of this one.
template <typename T>
Ahead SphereSum<T>::ringsAhead(const Task &task, int64_t lat,
                               int64_t channel) const {
  const Scratch &s = *task.scratch;
  const int64_t rings = lesser(roundRings, call.psi.nlat_in - lat);
  Ahead ahead;
  ahead.run = mapOf(task, channel, 0, lat);
  ahead.runs = rings > 0 ? problem.numBasis : 0;
  ahead.runStride = problem.numIn * problem.elementSize;
  ahead.runBytes = rings * call.psi.nlon_in * problem.elementSize;
  const int64_t lines = ahead.runs * divideUp(ahead.runBytes, lineBytes);
  int64_t steps = 0;
  for (int64_t i = 0; i < s.numPieces; ++i)
    steps += divideUp(padded / kernels.lanes,
                      kernels.addVectors[s.pieces[i].numRows - 1]);
  ahead.linesPerStep = lesser(divideUp(lines, steps), 8);
  return ahead;
}

template <typename T>
void SphereSum<T>::copyRings(const Task &task, int64_t channel) {
  Scratch &s = *task.scratch;
  const int64_t nlon = call.psi.nlon_in;
  for (int64_t k = 0; k < problem.numBasis; ++k)
    for (int64_t lat = s.firstLat; lat < s.endLat; ++lat) {
      const char *ring = mapOf(task, channel, k, lat);
      T *to = s.ring + (lat - s.firstLat) * channelSize() + k * mapSize +
              lattice / 2;
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
    product.c = (isDirect ? s.ring + lattice / 2 : s.mixed) + first;
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
                           s.ring + map * mapSize + lattice / 2, nlon,
                           problem.stride, phaseSize);
}

template <typename T>
void SphereSum<T>::storeRow(const Task &task, int64_t row, const T *sums) {
  StoreRow<T> out;
  out.count = lattice;
  out.outStride = problem.phases;
  out.activation = call.activation;
  for (int64_t i = 0; i < task.count; ++i) {
    const int64_t o = task.group * problem.groupOut + task.firstChannel + i;
    const int64_t element =
        (task.batch * problem.outChannels + o) * problem.numOut +
        row / problem.phases * call.psi.nlon_out + row % problem.phases;
    out.sums = sums + i * padded;
    out.out = const_cast<char *>(advance(call.y, element, problem.elementSize));
    if (call.has_residual)
      out.residual = advance(call.residual, element, problem.elementSize);
    out.bias = biasOf<T>(call, o);
    kernels.store[call.dtype](out);
  }
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
