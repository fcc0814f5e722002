//===- PointSum.cpp - sums over points, weight first ----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// contract_sum, and a conv with the weight first, on csr and tables. For some
// out-channels at a time, the K maps of all in-points are computed or copied,
// with channels last (see Points.h),
//
//   u[point][k][channel]  =  z[channel, k]  or  sum over c: w[c, k] x[c]
//
// and then gathered: a tap and its K values are K taps of one feature.
//
//===----------------------------------------------------------------------===//

#include "../ThreadPool.h"
#include "Operations.h"
#include "Points.h"
#include "Values.h"

#include <algorithm>
#include <new>

namespace disco::cpu_gather {

namespace {

/// Bytes of u, unless one vector of channels needs more.
constexpr int64_t mapBytes = 24 << 20;
constexpr int64_t mixChannels = DISCO_CPU_GATHER_MIX_CHANNELS;

template <typename T> class PointSum final : public Operation {
public:
  PointSum(const Problem &problem, const Kernels<T> &kernels)
      : problem(problem), call(*problem.call), kernels(kernels),
        tables(problem) {}

  void layout(Arena &arena) override;
  void run() override;

private:
  struct Scratch {
    T *x = nullptr;    ///< panels of x [mixChannels][pointBlock]
    T *maps = nullptr; ///< [channels][K][pointBlock]
    T *sums = nullptr; ///< [pointBlock][channels] and transposed
    T *values = nullptr;
    int32_t *offsets = nullptr;
  };

  bool mixes() const { return call.op == DISCO_OP_CONV; }
  void loadMaps(Scratch &s, int64_t batch, int64_t first, int64_t count,
                int64_t point);
  void mixGroup(Scratch &s, int64_t batch, int64_t group, int64_t first,
                int64_t count, int64_t point, int64_t points, T *to);
  void sumPoints(Scratch &s, int64_t batch, int64_t first, int64_t count,
                 int64_t point);
  void storePoints(Scratch &s, int64_t batch, int64_t first, int64_t count,
                   int64_t point, int64_t points);
  /// Calls body(group, first channel in the group, count, channels before).
  template <typename Body>
  void forEachGroup(int64_t first, int64_t count, Body &&body) const;

  const Problem &problem;
  const disco_kernel_call &call;
  const Kernels<T> &kernels;
  PointTables tables;
  int64_t block = 1; ///< out-channels of a pass, a multiple of the lanes
  T *weight = nullptr, *maps = nullptr;
  Scratch *scratches = nullptr;
};

template <typename T> void PointSum<T>::layout(Arena &arena) {
  const int64_t numBasis = problem.numBasis, lanes = kernels.lanes;
  const int64_t bytes = problem.numIn * numBasis * lanes * int64_t(sizeof(T));
  const int64_t fit = greater(mapBytes / greater(bytes, 1), 1) * lanes;
  block = problem.channelBlock ? roundUp(problem.channelBlock, lanes)
                               : lesser(fit, DISCO_CPU_GATHER_SUM_CHANNELS);
  block = greater(lesser(block, roundUp(problem.outChannels, lanes)), lanes);
  tables.layout(arena);
  maps = arena.take<T>(problem.numIn * numBasis * block);
  if (mixes())
    weight = arena.take<T>(problem.outChannels * problem.groupIn * numBasis);
  scratches = arena.take<Scratch>(problem.numThreads);
  const int64_t list = tables.listTaps() * numBasis;
  for (int i = 0; i < problem.numThreads; ++i) {
    Scratch s;
    s.x = arena.take<T>(mixChannels * pointBlock);
    s.maps = arena.take<T>(block * numBasis * pointBlock);
    s.sums = arena.take<T>(2 * block * pointBlock);
    s.values = arena.take<T>(list);
    s.offsets = arena.take<int32_t>(list);
    if (scratches)
      new (scratches + i) Scratch(s);
  }
}

template <typename T>
template <typename Body>
void PointSum<T>::forEachGroup(int64_t first, int64_t count,
                               Body &&body) const {
  for (int64_t o = first; o < first + count;) {
    const int64_t group = o / problem.groupOut, inGroup = o % problem.groupOut;
    const int64_t part = lesser(problem.groupOut - inGroup, first + count - o);
    body(group, inGroup, part, o - first);
    o += part;
  }
}

template <typename T> void PointSum<T>::run() {
  tables.build();
  const int64_t perOut = problem.groupIn * problem.numBasis;
  const int64_t passes = divideUp(problem.outChannels, block);
  if (mixes()) {
    const Weight values(problem);
    runtime::parallelTasks(problem.numThreads, passes, [&](int64_t pass, int) {
      const int64_t o = pass * block;
      forEachGroup(
          o, lesser(block, problem.outChannels - o),
          [&](int64_t group, int64_t first, int64_t count, int64_t before) {
            values.packWeightFirst(group, first, count,
                                   weight + (o + before) * perOut);
          });
    });
  }
  for (int64_t batch = 0; batch < problem.batch; ++batch)
    for (int64_t o = 0; o < problem.outChannels; o += block) {
      const int64_t count = lesser(block, problem.outChannels - o);
      runtime::parallelTasks(
          problem.numThreads, divideUp(problem.numIn, pointBlock),
          [&](int64_t task, int thread) {
            loadMaps(scratches[thread], batch, o, count, task * pointBlock);
          });
      runtime::parallelTasks(
          problem.numThreads, divideUp(problem.numOut, pointBlock),
          [&](int64_t task, int thread) {
            sumPoints(scratches[thread], batch, o, count, task * pointBlock);
          });
    }
}

template <typename T>
void PointSum<T>::loadMaps(Scratch &s, int64_t batch, int64_t first,
                           int64_t count, int64_t point) {
  const int64_t numBasis = problem.numBasis;
  const int64_t points = lesser(pointBlock, problem.numIn - point);
  if (mixes())
    forEachGroup(
        first, count,
        [&](int64_t group, int64_t inGroup, int64_t part, int64_t before) {
          mixGroup(s, batch, group, inGroup, part, point, points,
                   s.maps + before * numBasis * pointBlock);
        });
  else
    for (int64_t i = 0; i < count * numBasis; ++i)
      kernels.load[call.dtype](
          advance(call.x,
                  ((batch * problem.channels + first) * numBasis + i) *
                          problem.numIn +
                      point,
                  problem.elementSize),
          s.maps + i * pointBlock, points);
  for (int64_t k = 0; k < numBasis; ++k)
    kernels.transpose(s.maps + k * pointBlock, numBasis * pointBlock,
                      maps + (point * numBasis + k) * block, numBasis * block,
                      points, count);
}

template <typename T>
void PointSum<T>::mixGroup(Scratch &s, int64_t batch, int64_t group,
                           int64_t first, int64_t count, int64_t point,
                           int64_t points, T *to) {
  const int64_t panel = kernels.panel, numBasis = problem.numBasis;
  Product<T> product;
  product.a =
      weight + (group * problem.groupOut + first) * problem.groupIn * numBasis;
  product.aBlockStride = problem.groupIn * rowBlock;
  product.b = s.x;
  product.c = to;
  product.cRowStride = pointBlock;
  product.cPanelStride = panel;
  product.rows = count * numBasis;
  product.panels = divideUp(points, panel);
  if (problem.groupIn == 0)
    std::fill_n(to, product.rows * pointBlock, T(0));
  for (int64_t c0 = 0; c0 < problem.groupIn; c0 += mixChannels) {
    product.aFirst = c0;
    product.depth = lesser(mixChannels, problem.groupIn - c0);
    product.bPanelStride = product.depth * panel;
    for (int64_t c = 0; c < product.depth; ++c) {
      const int64_t channel =
          batch * problem.channels + group * problem.groupIn + c0 + c;
      const char *from =
          advance(call.x, channel * problem.numIn + point, problem.elementSize);
      for (int64_t j = 0; j < points; j += panel)
        kernels.load[call.dtype](from + j * problem.elementSize,
                                 s.x + j * product.depth + c * panel,
                                 lesser(panel, points - j));
    }
    kernels.multiply(product);
    product.accumulate = true;
  }
}

template <typename T>
void PointSum<T>::sumPoints(Scratch &s, int64_t batch, int64_t first,
                            int64_t count, int64_t point) {
  const int64_t numBasis = problem.numBasis;
  const int64_t points = lesser(pointBlock, problem.numOut - point);
  const int64_t vectors = divideUp(count, kernels.lanes);
  for (int64_t j = 0; j < points; ++j) {
    const int64_t begin = tables.first(point + j), end = tables.end(point + j);
    int64_t tap = begin;
    do { // once for a point without taps, to write its zeros
      const int64_t taps = lesser(end - tap, tables.listTaps());
      for (int64_t t = 0; t < taps; ++t)
        for (int64_t k = 0; k < numBasis; ++k)
          s.offsets[t * numBasis + k] = static_cast<int32_t>(
              (tables.columns()[tap + t] * numBasis + k) * block);
      const TapList<T> list{taps * numBasis, 1, s.offsets,
                            tables.values(kernels, tap, taps, s.values)};
      kernels.expand(list, maps, vectors,
                     {s.sums + j * block, kernels.panel, 0}, tap > begin);
      tap += taps;
    } while (tap < end);
  }
  storePoints(s, batch, first, count, point, points);
}

template <typename T>
void PointSum<T>::storePoints(Scratch &s, int64_t batch, int64_t first,
                              int64_t count, int64_t point, int64_t points) {
  T *rows = s.sums + block * pointBlock;
  kernels.transpose(s.sums, block, rows, pointBlock, count, points);
  StoreRow<T> out;
  out.count = points;
  out.activation = call.activation;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t element =
        (batch * problem.outChannels + first + i) * problem.numOut + point;
    out.sums = rows + i * pointBlock;
    out.out = const_cast<char *>(advance(call.y, element, problem.elementSize));
    if (call.has_residual)
      out.residual = advance(call.residual, element, problem.elementSize);
    out.bias = biasOf<T>(call, first + i);
    kernels.store[call.dtype](out);
  }
}

} // namespace

template <typename T>
Operation *makePointSum(const Problem &problem, const Kernels<T> &kernels,
                        Slot &slot) {
  static_assert(sizeof(PointSum<T>) <= sizeof(Slot));
  return new (slot.bytes) PointSum<T>(problem, kernels);
}

template Operation *makePointSum(const Problem &, const Kernels<float> &,
                                 Slot &);
template Operation *makePointSum(const Problem &, const Kernels<double> &,
                                 Slot &);

} // namespace disco::cpu_gather
