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
// that they read, from north to south. Each ring is computed or copied once,
//
//   u[channel, k, longitude]  =  z[channel, k]  or  sum over c: w[c, k] x[c]
//
// and then added to all rows that read it, while it is in the cache:
//
//   sums[row, channel] += taps of row in ring * u[channel]
//
// A row thus adds up its rings from north to south, and on each its arcs in
// order, in whichever task it is. Ring and row are extended periodically, so
// that no tap tests for the wrap:
//
//   u   [ -lattice/2 .. 0 | 0 .. lattice | one row's padding ]   per phase
//
// One row alone needs a load of u for each multiplication. Rows 2i and 2i + 1
// whose arcs on a ring overlap well are therefore added together, as two
// features of the taps of both arcs, with values of zero where a row has no
// tap. (A value that is not finite may so reach a point of the neighbouring
// row.)
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

/// Bytes of a ring for all channels of a task, and of a task's sums.
constexpr int64_t ringBytes = DISCO_CPU_GATHER_RING_BYTES, sumsBytes = 3 << 20;
/// Channels and longitudes of x that are mixed together.
constexpr int64_t mixChannels = 256, mixColumns = 96;
/// Taps times K that are applied together.
constexpr int64_t listSize = 4096;

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

  /// A thread's buffers.
  struct Scratch {
    T *ring = nullptr;  ///< u [block][K][stride][phaseSize]
    T *mixed = nullptr; ///< [block * K][nlonIn], stride > 1
    T *x = nullptr;     ///< panels of x
    T *row = nullptr;   ///< one ring of x
    T *sums = nullptr;  ///< [latitudes][phases][block][padded]
    T *values = nullptr;
    int32_t *offsets = nullptr;
    int64_t *next = nullptr; ///< [latitudes][phases]: the next arc
  };

  /// What a task computes.
  struct Task {
    int64_t batch, group, firstChannel, count; ///< channels in the group
    int64_t firstLat, numLats;
    Scratch *scratch;
  };

  void computeTask(int64_t task, Scratch &scratch);
  void addRing(const Task &task, int64_t lat);
  void addRow(const Task &task, int64_t row, int64_t lat);
  bool addPair(const Task &task, int64_t row, int64_t lat);
  /// The only arc of a row on the ring; null if it has none, or several.
  bool onlyArc(const Task &task, int64_t row, int64_t lat, Arc &arc) const;
  void addArc(const Task &task, const Arc &arc, T *sums);
  void addBoth(const Task &task, const Arc &first, const Arc &second,
               int64_t start, int64_t length, T *sums);
  void writeOffsets(int64_t start, int64_t count, int32_t *offsets) const;
  void loadValues(const Arc &arc, int64_t first, int64_t count, T *to) const;
  void loadRing(const Task &task, int64_t lat);
  void mixRing(const Task &task, int64_t lat);
  void copyRing(const Task &task, int64_t lat);
  void extend(T *map) const;
  void storeRows(const Task &task);

  const Problem &problem;
  const disco_kernel_call &call;
  const Kernels<T> &kernels;
  const SphereTables tables;
  const int64_t lattice, padded, phaseSize, mapSize;
  int64_t block = 1, blocks = 1; ///< channels of a task; tasks of a group
  int64_t latBlock = 1, chunks = 1;
  T *weight = nullptr;
  Scratch *scratches = nullptr;
  int64_t *cost = nullptr;
  int32_t *order = nullptr;
};

template <typename T> void SphereSum<T>::layout(Arena &arena) {
  const disco_kernel_psi &psi = call.psi;
  const int64_t numBasis = problem.numBasis, phases = problem.phases;
  const int64_t bytes = channelSize() * int64_t(sizeof(T));
  // Each block of channels reads all of the group's x again: many of them
  // deserve a larger one.
  const int64_t room = problem.groupIn >= DISCO_CPU_GATHER_WIDE_MIX && mixes()
                           ? 4 * ringBytes
                           : ringBytes;
  block =
      problem.channelBlock ? problem.channelBlock : greater(room / bytes, 1);
  block = greater(lesser(block, problem.groupOut), 1);
  blocks = divideUp(problem.groupOut, block);
  const int64_t tasks = greater(problem.batch * problem.groups * blocks, 1);
  chunks = greater(
      divideUp(4 * problem.numThreads, tasks),
      divideUp(psi.nlat_out * phases * block * padded * int64_t(sizeof(T)),
               sumsBytes));
  // Even, so that which rows are pairs does not depend on it.
  latBlock = roundUp(greater(divideUp(psi.nlat_out, chunks), 1), 2);
  chunks = divideUp(psi.nlat_out, latBlock);
  cost = arena.take<int64_t>(chunks);
  order = arena.take<int32_t>(chunks);
  scratches = arena.take<Scratch>(problem.numThreads);
  if (mixes())
    weight = arena.take<T>(problem.outChannels * problem.groupIn * numBasis);
  for (int i = 0; i < problem.numThreads; ++i) {
    Scratch s;
    s.ring = arena.take<T>(block * channelSize());
    if (problem.stride > 1)
      s.mixed = arena.take<T>(block * numBasis * ringPanels());
    if (mixes())
      s.x = arena.take<T>(lesser(mixChannels, problem.groupIn) *
                          roundUp(mixColumns, kernels.panel));
    s.row = arena.take<T>(greater(ringPanels(), mixColumns));
    s.sums = arena.take<T>(latBlock * phases * block * padded);
    s.values = arena.take<T>(4 * greater(listSize, numBasis));
    s.offsets = arena.take<int32_t>(greater(listSize, numBasis));
    s.next = arena.take<int64_t>(latBlock * phases);
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
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    cost[chunk] = 0;
    const int64_t end =
        lesser((chunk + 1) * latBlock, call.psi.nlat_out) * problem.phases;
    for (int64_t row = chunk * latBlock * problem.phases; row < end; ++row)
      cost[chunk] += tables.tapsOfRow(row);
  }
  orderByCost(cost, order, chunks);
  runtime::parallelTasks(
      problem.numThreads, problem.batch * problem.groups * blocks * chunks,
      [&](int64_t task, int thread) { computeTask(task, scratches[thread]); });
}

template <typename T>
void SphereSum<T>::computeTask(int64_t number, Scratch &scratch) {
  const int64_t perChunk = problem.batch * problem.groups * blocks;
  Task task;
  task.firstLat = order[number / perChunk] * latBlock;
  task.numLats = lesser(latBlock, call.psi.nlat_out - task.firstLat);
  task.firstChannel = number % blocks * block;
  task.count = lesser(block, problem.groupOut - task.firstChannel);
  task.group = number / blocks % problem.groups;
  task.batch = number / blocks / problem.groups % problem.batch;
  task.scratch = &scratch;
  const int64_t rows = task.numLats * problem.phases;
  const int64_t firstRow = task.firstLat * problem.phases;
  std::fill_n(scratch.sums, rows * block * padded, T(0));
  int64_t firstRing = call.psi.nlat_in, endRing = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t begin = tables.firstArc(firstRow + row);
    const int64_t end = tables.firstArc(firstRow + row + 1);
    scratch.next[row] = begin;
    if (begin < end) {
      firstRing = lesser(firstRing, tables.arc(begin).lat);
      endRing = greater(endRing, tables.arc(end - 1).lat + 1);
    }
  }
  for (int64_t lat = firstRing; lat < endRing; ++lat)
    addRing(task, lat);
  storeRows(task);
}

/// Adds a ring to all rows that read it.
template <typename T>
void SphereSum<T>::addRing(const Task &task, int64_t lat) {
  const int64_t rows = task.numLats * problem.phases;
  const int64_t firstRow = task.firstLat * problem.phases;
  const auto reads = [&](int64_t row) {
    const int64_t a = task.scratch->next[row];
    return a < tables.firstArc(firstRow + row + 1) && tables.arc(a).lat == lat;
  };
  bool isLoaded = false;
  for (int64_t row = 0; row < rows; ++row) {
    if (!reads(row))
      continue;
    if (!isLoaded)
      loadRing(task, lat);
    isLoaded = true;
    if (row % 2 == 0 && row + 1 < rows && addPair(task, row, lat))
      ++row;
    else
      addRow(task, row, lat);
  }
}

template <typename T>
void SphereSum<T>::addRow(const Task &task, int64_t row, int64_t lat) {
  const int64_t end = tables.firstArc(task.firstLat * problem.phases + row + 1);
  for (int64_t &a = task.scratch->next[row]; a < end; ++a) {
    const Arc arc = tables.arc(a);
    if (arc.lat != lat)
      return;
    addArc(task, arc, task.scratch->sums + row * block * padded);
  }
}

template <typename T>
bool SphereSum<T>::onlyArc(const Task &task, int64_t row, int64_t lat,
                           Arc &arc) const {
  const int64_t a = task.scratch->next[row];
  const int64_t end = tables.firstArc(task.firstLat * problem.phases + row + 1);
  if (a >= end || (arc = tables.arc(a)).lat != lat)
    return false;
  return a + 1 >= end || tables.arc(a + 1).lat != lat;
}

/// Adds the ring to rows `row` and `row` + 1 where that is worth it.
template <typename T>
bool SphereSum<T>::addPair(const Task &task, int64_t row, int64_t lat) {
  Arc arcs[2];
  if (!onlyArc(task, row, lat, arcs[0]) ||
      !onlyArc(task, row + 1, lat, arcs[1]))
    return false;
  // Where the second arc starts, seen from the first; the nearer way round.
  const int64_t nlon = call.psi.nlon_in;
  int64_t shift = (arcs[1].lonStart - arcs[0].lonStart + nlon) % nlon;
  if (shift > nlon / 2)
    shift -= nlon;
  const int64_t start = lesser(0, shift);
  const int64_t length =
      greater(arcs[0].length, shift + arcs[1].length) - start;
  // A tap of two rows costs 1.4 times that of one.
  if (10 * length > 7 * (arcs[0].length + arcs[1].length))
    return false;
  addBoth(task, arcs[0], arcs[1], start, length,
          task.scratch->sums + row * block * padded);
  ++task.scratch->next[row];
  ++task.scratch->next[row + 1];
  return true;
}

/// Where the taps of longitudes [start, start + count) find their columns, for
/// each k.
template <typename T>
void SphereSum<T>::writeOffsets(int64_t start, int64_t count,
                                int32_t *offsets) const {
  const int64_t stride = problem.stride, numBasis = problem.numBasis;
  const int64_t lon =
      (start % call.psi.nlon_in + call.psi.nlon_in) % call.psi.nlon_in;
  int64_t phase = lon % stride, at = lon / stride;
  for (int64_t u = 0; u < count; ++u) {
    // Near the start of the ring at either end of it.
    const int64_t from = at >= lattice - lattice / 2 ? at - lattice : at;
    const int64_t base = phase * phaseSize + lattice / 2 + from;
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

template <typename T>
void SphereSum<T>::addArc(const Task &task, const Arc &arc, T *sums) {
  Scratch &s = *task.scratch;
  const int64_t numBasis = problem.numBasis;
  const int64_t step = greater(listSize / numBasis, 1);
  for (int64_t first = 0; first < arc.length; first += step) {
    const int64_t count = lesser(step, arc.length - first);
    writeOffsets(arc.lonStart + first, count, s.offsets);
    loadValues(arc, first, count, s.values);
    const TapList<T> taps{count * numBasis, 1, s.offsets, s.values};
    for (int64_t i = 0; i < task.count; ++i)
      kernels.expand(taps, s.ring + i * channelSize(), padded / kernels.lanes,
                     {sums + i * padded, kernels.panel, 0}, true);
  }
}

/// The taps from `start`, seen from the first arc's start, for both arcs.
template <typename T>
void SphereSum<T>::addBoth(const Task &task, const Arc &first,
                           const Arc &second, int64_t start, int64_t length,
                           T *sums) {
  Scratch &s = *task.scratch;
  const int64_t numBasis = problem.numBasis, nlon = call.psi.nlon_in;
  const int64_t step = greater(listSize / numBasis, 1);
  int64_t shift = (second.lonStart - first.lonStart + nlon) % nlon;
  if (shift > nlon / 2)
    shift -= nlon;
  T *both = s.values, *one = s.values + 2 * step * numBasis;
  T *other = one + step * numBasis;
  for (int64_t from = 0; from < length; from += step) {
    const int64_t count = lesser(step, length - from);
    writeOffsets(first.lonStart + start + from, count, s.offsets);
    loadValues(first, start + from, count, one);
    loadValues(second, start + from - shift, count, other);
    for (int64_t i = 0; i < count * numBasis; ++i) {
      both[2 * i] = one[i];
      both[2 * i + 1] = other[i];
    }
    const TapList<T> taps{count * numBasis, 2, s.offsets, both};
    for (int64_t i = 0; i < task.count; ++i)
      kernels.expand(taps, s.ring + i * channelSize(), padded / kernels.lanes,
                     {sums + i * padded, kernels.panel, block * padded}, true);
  }
}

/// The lattice repeats on both sides of what was loaded.
template <typename T> void SphereSum<T>::extend(T *map) const {
  for (int64_t phase = 0; phase < problem.stride; ++phase) {
    T *first = map + phase * phaseSize + lattice / 2;
    std::copy_n(first + lattice - lattice / 2, lattice / 2,
                first - lattice / 2);
    const int64_t end = phaseSize - lattice / 2;
    for (int64_t i = lattice; i < end; i += lattice)
      std::copy_n(first, lesser(lattice, end - i), first + i);
  }
}

template <typename T>
void SphereSum<T>::loadRing(const Task &task, int64_t lat) {
  if (mixes())
    mixRing(task, lat);
  else
    copyRing(task, lat);
  for (int64_t map = 0; map < task.count * problem.numBasis; ++map)
    extend(task.scratch->ring + map * mapSize);
}

template <typename T>
void SphereSum<T>::copyRing(const Task &task, int64_t lat) {
  Scratch &s = *task.scratch;
  const int64_t nlon = call.psi.nlon_in;
  const int64_t channel = task.batch * problem.channels + task.firstChannel;
  for (int64_t map = 0; map < task.count * problem.numBasis; ++map) {
    const char *ring = advance(
        call.x, (channel * problem.numBasis + map) * problem.numIn + lat * nlon,
        problem.elementSize);
    T *to = s.ring + map * mapSize + lattice / 2;
    prefetch(ring + 3 * problem.numIn * problem.elementSize,
             nlon * problem.elementSize);
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

template <typename T> void SphereSum<T>::storeRows(const Task &task) {
  StoreRow<T> out;
  out.count = lattice;
  out.outStride = problem.phases;
  out.activation = call.activation;
  for (int64_t row = 0; row < task.numLats * problem.phases; ++row)
    for (int64_t i = 0; i < task.count; ++i) {
      const int64_t o = task.group * problem.groupOut + task.firstChannel + i;
      const int64_t element =
          (task.batch * problem.outChannels + o) * problem.numOut +
          (task.firstLat + row / problem.phases) * call.psi.nlon_out +
          row % problem.phases;
      out.sums = task.scratch->sums + (row * block + i) * padded;
      out.out =
          const_cast<char *>(advance(call.y, element, problem.elementSize));
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
