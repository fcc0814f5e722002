//===- SphereSum.cpp - sums over rings, weight first ----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SphereSum.h"
#include "../ThreadPool.h"

#include <algorithm>
#include <new>

namespace disco::cpu_gather {

namespace {

/// Bytes of a mixed ring for all channels of a task, and of a row's sums.
constexpr int64_t ringBytes = DISCO_CPU_GATHER_RING_BYTES,
                  rowBytes = DISCO_CPU_GATHER_ROW_BYTES;
/// Bytes of the sums of a thread, if all rows of a task were in use at once.
constexpr int64_t sumsBytes = DISCO_CPU_GATHER_SUMS_BYTES;
/// Channels of a task at most: they share the lists of taps.
constexpr int64_t maxBlock = DISCO_CPU_GATHER_ROW_CHANNELS;
/// Tasks for each thread, at least, where there are rows enough.
constexpr int64_t tasksPerThread = DISCO_CPU_GATHER_TASKS_PER_THREAD;
/// Channels and longitudes of x that are mixed together.
constexpr int64_t mixChannels = DISCO_CPU_GATHER_MIX_CHANNELS,
                  mixColumns = DISCO_CPU_GATHER_MIX_COLUMNS;
/// Results of contract_sum do not stay in the caches while more is read.
constexpr int64_t streamBytes = 16 << 20;

} // namespace

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
  layoutFourier(arena);
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
    s.direct = arena.take<int32_t>(isPlain() ? 2 * list : 0);
    s.groupValues = arena.take<T>(maxGroup * psi.nlon_in * numBasis);
    s.tapOffsets = arena.take<int32_t>(psi.nlon_in);
    s.tapColumns = arena.take<int32_t>(psi.nlon_in);
    s.parity = arena.take<uint8_t>(numBasis);
    s.tapParts = arena.take<uint8_t>(psi.nlon_in);
    s.maps = arena.take<int32_t>(4 * numBasis);
    s.pieces = arena.take<Piece>(maxPieces);
    s.spans = arena.take<RingSpan>(maxPieces);
    s.slots = arena.take<int32_t>(rowChunk);
    s.freeSlots = arena.take<int32_t>(rowChunk);
    s.left = arena.take<int32_t>(rowChunk);
    layoutFourier(arena, s);
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
  chooseFourierRows();
  transformFilters();
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    cost[chunk] = 0;
    const int64_t end = lesser((chunk + 1) * rowChunk, tables.numRows);
    for (int64_t row = chunk * rowChunk; row < end; ++row)
      if (numRuns == 0 || firstTable[row] < 0)
        cost[chunk] += tables.tapsOfRow(row);
  }
  orderByCost(cost, order, chunks);
  // The long tasks first.
  const int64_t vectorsOfFields = divideUp(numFields(), kernels.lanes);
  const int64_t tasks = problem.batch * problem.groups * blocks * chunks;
  runtime::parallelTasks(problem.numThreads, tasks + numRuns * vectorsOfFields,
                         [&](int64_t task, int thread) {
                           if (task < tasks)
                             return computeTask(task, scratches[thread]);
                           task -= tasks;
                           computeRun(runs[task / vectorsOfFields],
                                      task % vectorsOfFields * kernels.lanes,
                                      scratches[thread]);
                         });
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
  task.firstTable = numRuns > 0 ? firstTable : nullptr;
  // The same rows of the last channels have left their lists.
  if (mixes() || scratch.listedRow != task.firstRow)
    makeLists(task);
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

/// Lists the rings of a task; the last round is not added yet.
template <typename T> void SphereSum<T>::makeLists(const Task &task) {
  Scratch &s = *task.scratch;
  s.numFree = task.numRows;
  int64_t firstRing = call.psi.nlat_in, endRing = 0;
  for (int64_t row = 0; row < task.numRows; ++row) {
    const int64_t begin = tables.firstArc(task.firstRow + row);
    const int64_t end = tables.firstArc(task.firstRow + row + 1);
    s.slots[row] = -1;
    s.freeSlots[row] = static_cast<int32_t>(task.numRows - 1 - row);
    s.left[row] = static_cast<int32_t>(end - begin);
    if (begin < end && task.has(task.firstRow + row)) {
      firstRing = lesser(firstRing, tables.arc(begin).lat);
      endRing = greater(endRing, tables.arc(end - 1).lat + 1);
    }
  }
  emptyLists(s);
  s.listedRow = task.firstRow;
  for (int64_t lat = firstRing; lat < endRing; ++lat) {
    if (mixes()) {
      addRound(task);
      emptyLists(s);
    }
    addRing(task, lat);
  }
}

/// Adds the lists to the sums of all channels.
template <typename T> void SphereSum<T>::addRound(const Task &task) {
  Scratch &s = *task.scratch;
  if (s.numPieces == 0)
    return;
  measureRings(s);
  const Piece *end = s.pieces + s.numPieces;
  for (int64_t i = 0; i < task.count; ++i)
    for (const Piece *piece = s.pieces; piece < end;) {
      const RingSpan &span = s.spans[piece - s.pieces];
      const Piece *next = piece + span.numPieces;
      RingPlace place = placeRing(task, i, piece->lat, span);
      if (!mixes() && !place.x) { // what is copied next
        if (next < end)
          place.ahead = ringAhead(task, next->lat, i, span.steps);
        else if (i + 1 < task.count)
          place.ahead = ringAhead(task, s.pieces->lat, i + 1, span.steps);
      }
      for (; piece < next; ++piece)
        addPiece(task, *piece, i, place);
    }
}

/// Says of each ring of the round, at its first piece, which of its columns
/// read x: the same for all channels.
template <typename T> void SphereSum<T>::measureRings(Scratch &s) const {
  const int64_t end = origin + vectors * kernels.lanes;
  const int64_t block = kernels.addVectors[maxGroup - 1];
  for (int64_t at = 0, next = 0; at < s.numPieces; at = next) {
    int64_t lowest = 0, highest = 0, steps = 0;
    for (; next < s.numPieces && s.pieces[next].lat == s.pieces[at].lat;
         ++next) {
      const Piece &piece = s.pieces[next];
      lowest = lesser(lowest, piece.lowest);
      highest = greater(highest, piece.highest);
      steps += divideUp(vectors, kernels.addVectors[piece.numRows - 1]);
    }
    RingSpan span{};
    span.numPieces = static_cast<int32_t>(next - at);
    span.steps = static_cast<int32_t>(steps);
    span.lowest = static_cast<int32_t>(lowest);
    span.highest = static_cast<int32_t>(highest);
    const int64_t first = greater(roundUp(-lowest, kernels.lanes), origin);
    // If the vectors that read x are whole blocks, there may be less of these
    // in all.
    const int64_t most = greater(lattice - highest - first, 0) / kernels.lanes;
    const int64_t all = greater(end - first, 0) / kernels.lanes;
    const int64_t whole = most / block * block;
    const bool isWhole =
        divideUp(all - whole, block) <
        divideUp(most - whole, block) + divideUp(all - most, block);
    const int64_t endDirect = first + (isWhole ? whole : most) * kernels.lanes;
    // What follows the ring's end and what begins it.
    const int64_t head =
        divideUp(greater(first, end - lattice) + highest, kernels.lanes);
    const int64_t tail = divideUp(lattice - endDirect - lowest, kernels.lanes);
    if (readsDirectly() && most >= block &&
        lattice + head * kernels.lanes <= phaseSize - margin) {
      span.first = static_cast<int32_t>(first);
      span.end = static_cast<int32_t>(endDirect);
      span.head = static_cast<int32_t>(head);
      span.tail = static_cast<int32_t>(tail);
    }
    s.spans[at] = span;
  }
}

/// Makes a ring ready.
template <typename T>
typename SphereSum<T>::RingPlace
SphereSum<T>::placeRing(const Task &task, int64_t channel, int64_t lat,
                        const RingSpan &span) const {
  RingPlace place;
  place.staged = task.scratch->ring + (mixes() ? channel * channelSize() : 0);
  place.end = origin;
  if (mixes() || problem.stride > 1) {
    if (!mixes())
      copyRing(task, channel, lat);
    extend(place.staged, span.lowest, span.highest);
    return place;
  }
  if (span.end == 0) {
    stage(task, channel, lat, origin + span.lowest,
          origin + vectors * kernels.lanes + span.highest);
    return place;
  }
  place.first = span.first;
  place.end = span.end;
  place.x = reinterpret_cast<const T *>(mapOf(task, channel, 0, lat));
  T *to = place.staged + margin + lattice;
  kernels.copyMaps(place.x + lattice - span.tail * kernels.lanes, problem.numIn,
                   to - span.tail * kernels.lanes, mapSize, problem.numBasis,
                   span.tail, lattice);
  kernels.copyMaps(place.x, problem.numIn, to, mapSize, problem.numBasis,
                   span.head, lattice);
  return place;
}

template <typename T>
void SphereSum<T>::addPiece(const Task &task, const Piece &piece,
                            int64_t channel, RingPlace &place) {
  Scratch &s = *task.scratch;
  T *rows[maxGroup] = {};
  for (int32_t r = 0; r < piece.numRows; ++r) {
    rows[r] = s.sums + (channel * rowChunk + piece.slots[r]) * padded;
    if (piece.isFirst >> r & 1)
      std::fill_n(rows[r], padded, T(0));
  }
  GroupList<T> list;
  list.numRows = piece.numRows;
  list.numParts = piece.numParts;
  std::copy_n(piece.counts[0], 3 * GroupParts::maxParts, list.counts[0]);
  list.offsets = s.offsets + piece.firstOffset;
  list.values = s.values + piece.firstValue;
  kernels.add(list, place.staged, place.end, origin + vectors * kernels.lanes,
              rows, place.ahead);
  if (place.x) {
    if (place.first > origin)
      kernels.add(list, place.staged + lattice, origin, place.first, rows,
                  place.ahead);
    list.offsets = s.direct + piece.firstOffset;
    list.ahead = call.psi.nlon_in;
    kernels.add(list, place.x, place.first, place.end, rows, place.ahead);
  }
  for (int32_t r = 0; r < piece.numRows; ++r)
    if (piece.isLast >> r & 1) {
      std::copy_n(rows[r] + lattice, origin, rows[r]);
      storeRow(task, piece.rows[r], channel, rows[r]);
    }
}

/// The lattice of each map repeats on both sides of what was loaded, as far as
/// it is read.
template <typename T>
void SphereSum<T>::extend(T *maps, int64_t lowest, int64_t highest) const {
  const int64_t end = highest + vectors * kernels.lanes;
  for (int64_t i = 0; i < problem.numBasis * problem.stride; ++i) {
    T *first = maps + i * phaseSize + margin;
    for (int64_t j = lowest; j < 0; ++j)
      first[j] = first[j + lattice];
    for (int64_t j = lattice; j < end; ++j)
      first[j] = first[j - lattice];
  }
}

/// Copies columns [first, end) of each map of a ring, which repeats.
template <typename T>
void SphereSum<T>::stage(const Task &task, int64_t channel, int64_t lat,
                         int64_t first, int64_t end) const {
  for (int64_t k = 0; k < problem.numBasis; ++k) {
    const char *ring = mapOf(task, channel, k, lat);
    T *to = task.scratch->ring + k * mapSize + margin;
    for (int64_t j = first; j < end;) {
      const int64_t at = (j % lattice + lattice) % lattice;
      const int64_t count = lesser(end - j, lattice - at);
      kernels.load[call.dtype](ring + at * problem.elementSize, to + j, count);
      j += count;
    }
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
    kernels.load[call.dtype](ring, s.row, nlon);
    kernels.deinterleave(s.row, to, nlon, problem.stride, phaseSize);
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

template class SphereSum<float>;
template class SphereSum<double>;

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
