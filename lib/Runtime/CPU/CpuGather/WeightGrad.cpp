//===- WeightGrad.cpp - the gradients of a conv's parameters --------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   gw[o, c, k] = sum over batches and out-points n: gy[o, n] (psi_k x_c)[n]
//               = sum over batches and in-points m:  (psi_k^T gy_o)[m] x_c[m]
//
// Either way one field is *filtered* and multiplied with the *other*, summed
// over points. A task owns some channels of the filtered field and every n-th
// row; how rows are dealt out depends on the problem alone, and the tasks' sums
// are added in a fixed order.
//
//===----------------------------------------------------------------------===//

#include "../ThreadPool.h"
#include "Operations.h"
#include "Values.h"

#include <algorithm>
#include <new>

namespace disco::cpu_gather {

namespace {

constexpr int64_t depthTarget = DISCO_CPU_GATHER_DEPTH_TARGET,
                  tileTarget = DISCO_CPU_GATHER_TILE_TARGET;
/// Tasks to have, if their sums need no more memory than this.
constexpr int64_t taskTarget = DISCO_CPU_GATHER_TASK_TARGET,
                  partialBytes = DISCO_CPU_GATHER_PARTIAL_BYTES;

template <typename T> class WeightGrad final : public Operation {
public:
  WeightGrad(const Problem &problem, const Kernels<T> &kernels,
             Source<T> &source)
      : problem(problem), call(*problem.call), kernels(kernels), source(source),
        filtersX(call.schedule.order == DISCO_FILTER_FIRST),
        filtered(filtersX ? problem.groupIn : problem.groupOut),
        others(filtersX ? problem.groupOut : problem.groupIn) {}

  void layout(Arena &arena) override;
  void run() override;

private:
  int64_t numTasks() const { return problem.groups * blocks * splits; }
  int64_t depth() const { return block * problem.numBasis; }
  int64_t depthPadded() const { return roundUp(depth(), kernels.panel); }
  int64_t sumsSize() const { return others * depthPadded(); }

  /// A thread's buffers.
  struct Scratch {
    T *z = nullptr;      ///< [block * K][tile]
    T *panels = nullptr; ///< [block * K / panel][column][panel]
    T *other = nullptr;  ///< [rowBlock][tile]
    T *packed = nullptr; ///< [others / rowBlock][column][rowBlock]
    T *span = nullptr;   ///< [tile * stride]
  };

  void addRow(int64_t task, int64_t row, int64_t batch, int thread);
  void addTile(Scratch &s, T *sums, int64_t count, int64_t columns);
  void packOther(Scratch &s, int64_t batch, int64_t group, int64_t element,
                 int64_t stride, int64_t columns);
  void storeGroup(int64_t group);
  void addBias(int64_t channel);

  const Problem &problem;
  const disco_kernel_call &call;
  const Kernels<T> &kernels;
  Source<T> &source;
  const bool filtersX;
  const int64_t filtered, others; ///< channels in a group
  int64_t block = 1, blocks = 1, splits = 1, tile = 0;
  Scratch *scratches = nullptr;
  T *partials = nullptr; ///< [tasks][others][depthPadded]
};

template <typename T> void WeightGrad<T>::layout(Arena &arena) {
  const int64_t panel = kernels.panel;
  tile = problem.tile ? problem.tile : tileTarget;
  tile = lesser(roundUp(tile, panel), roundUp(source.maxColumns(), panel));
  block = problem.channelBlock ? problem.channelBlock
                               : greater(depthTarget / problem.numBasis, 1);
  block = greater(lesser(block, filtered), 1);
  blocks = divideUp(filtered, block);
  const int64_t channelTasks = greater(problem.groups * blocks, 1);
  splits = divideUp(taskTarget, channelTasks);
  const int64_t bytes = channelTasks * sumsSize() * int64_t(sizeof(T));
  splits = greater(lesser(splits, partialBytes / greater(bytes, 1)), 1);
  source.layout(arena, tile, false);
  partials = arena.take<T>(numTasks() * sumsSize());
  scratches = arena.take<Scratch>(problem.numThreads);
  for (int i = 0; i < problem.numThreads; ++i) {
    Scratch s;
    s.z = arena.take<T>(depth() * tile);
    s.panels = arena.take<T>(depthPadded() * tile);
    s.other = arena.take<T>(rowBlock * tile);
    s.packed = arena.take<T>(roundUp(others, rowBlock) * tile);
    s.span = arena.take<T>(2 * tile * problem.phases);
    if (scratches)
      new (scratches + i) Scratch(s);
  }
}

template <typename T> void WeightGrad<T>::run() {
  std::fill_n(partials, numTasks() * sumsSize(), T(0));
  const int64_t step = source.batchesPerPass();
  for (int64_t b0 = 0; b0 < problem.batch; b0 += step) {
    source.prepare(b0);
    const int64_t end = lesser(b0 + step, problem.batch);
    runtime::parallelTasks(problem.numThreads, numTasks(),
                           [&](int64_t task, int thread) {
                             for (int64_t row = task % splits;
                                  row < source.numRows(); row += splits)
                               for (int64_t batch = b0; batch < end; ++batch)
                                 addRow(task, row, batch, thread);
                           });
  }
  runtime::parallelTasks(problem.numThreads, problem.groups,
                         [&](int64_t group, int) { storeGroup(group); });
  if (call.has_bias)
    runtime::parallelTasks(problem.numThreads, problem.outChannels,
                           [&](int64_t channel, int) { addBias(channel); });
}

template <typename T>
void WeightGrad<T>::addRow(int64_t task, int64_t row, int64_t batch,
                           int thread) {
  const int64_t group = task / splits / blocks;
  const int64_t first = task / splits % blocks * block;
  const int64_t count = lesser(block, filtered - first);
  const RowPlace place = source.place(row);
  Scratch &s = scratches[thread];
  for (int64_t column = 0; column < place.columns; column += tile) {
    const int64_t columns = lesser(tile, place.columns - column);
    source.fill(thread, row, batch, group * filtered + first, count, column,
                roundUp(columns, kernels.panel), {s.z, kernels.panel, tile},
                problem.numBasis * tile);
    packOther(s, batch, group, place.first + column * place.stride,
              place.stride, columns);
    addTile(s, partials + task * sumsSize(), count, columns);
  }
}

/// Longitudes become the summed dimension: both operands are transposed.
template <typename T>
void WeightGrad<T>::addTile(Scratch &s, T *sums, int64_t count,
                            int64_t columns) {
  const int64_t panel = kernels.panel, maps = count * problem.numBasis;
  for (int64_t d = 0; d < maps; d += panel)
    kernels.transpose(s.z + d * tile, tile, s.panels + d * columns, panel,
                      columns, lesser(panel, maps - d));
  Product<T> product;
  product.a = s.packed;
  product.aBlockStride = columns * rowBlock;
  product.b = s.panels;
  product.bPanelStride = columns * panel;
  product.c = sums;
  product.cRowStride = depthPadded();
  product.cPanelStride = panel;
  product.rows = others;
  product.panels = divideUp(maps, panel);
  product.depth = columns;
  product.accumulate = true;
  kernels.multiply(product);
}

template <typename T>
void WeightGrad<T>::packOther(Scratch &s, int64_t batch, int64_t group,
                              int64_t element, int64_t stride,
                              int64_t columns) {
  const void *data = filtersX ? call.gy : call.x;
  const int64_t channels = filtersX ? problem.outChannels : problem.channels;
  for (int64_t h = 0; h < others; h += rowBlock) {
    const int64_t rows = lesser(rowBlock, others - h);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t channel = batch * channels + group * others + h + r;
      const char *from = advance(data, channel * problem.numOut + element,
                                 problem.elementSize);
      T *to = s.other + r * tile;
      if (stride == 1) {
        kernels.load[call.dtype](from, to, columns);
        continue;
      }
      const int64_t count = (columns - 1) * stride + 1;
      T *phases = s.span + tile * stride;
      kernels.load[call.dtype](from, s.span, count);
      kernels.deinterleave(s.span, phases, count, stride, tile);
      std::copy_n(phases, columns, to);
    }
    kernels.transpose(s.other, tile, s.packed + h * columns, rows, columns,
                      rows);
  }
}

template <typename T> void WeightGrad<T>::storeGroup(int64_t group) {
  const int64_t numBasis = problem.numBasis;
  T *total = partials + group * blocks * splits * sumsSize();
  for (int64_t b = 0; b < blocks; ++b)
    for (int64_t split = 1; split < splits; ++split) {
      const T *part = total + (b * splits + split) * sumsSize();
      T *to = total + b * splits * sumsSize();
      for (int64_t i = 0; i < sumsSize(); ++i)
        to[i] += part[i];
    }
  for (int64_t h = 0; h < others; ++h)
    for (int64_t f = 0; f < filtered; ++f) {
      const int64_t o = filtersX ? h : f, c = filtersX ? f : h;
      StoreRow<T> out;
      out.sums = total + f / block * splits * sumsSize() + h * depthPadded() +
                 f % block * numBasis;
      out.count = numBasis;
      const int64_t row = (group * problem.groupOut + o) * problem.groupIn + c;
      out.out = const_cast<char *>(
          advance(call.y, row * numBasis, sizeOfFloat(call.weight_dtype)));
      kernels.store[call.weight_dtype](out);
    }
}

template <typename T> void WeightGrad<T>::addBias(int64_t channel) {
  constexpr int64_t chunk = 256, lanes = 8;
  const int64_t points = filtersX ? problem.numOut : problem.numIn;
  double sums[lanes] = {};
  for (int64_t b = 0; b < problem.batch; ++b)
    for (int64_t first = 0; first < points; first += chunk) {
      T values[chunk] = {};
      const int64_t count = lesser(chunk, points - first);
      kernels.load[call.dtype](
          advance(call.gy, (b * problem.outChannels + channel) * points + first,
                  problem.elementSize),
          values, count);
      for (int64_t i = 0; i < chunk; i += lanes)
        for (int64_t lane = 0; lane < lanes; ++lane)
          sums[lane] += values[i + lane];
    }
  T sum = T(((sums[0] + sums[1]) + (sums[2] + sums[3])) +
            ((sums[4] + sums[5]) + (sums[6] + sums[7])));
  StoreRow<T> out;
  out.sums = &sum;
  out.count = 1;
  out.out = const_cast<char *>(
      advance(call.grad_bias, channel, sizeOfFloat(call.weight_dtype)));
  kernels.store[call.weight_dtype](out);
}

} // namespace

template <typename T>
Operation *makeWeightGrad(const Problem &problem, const Kernels<T> &kernels,
                          Source<T> &source, Slot &slot) {
  static_assert(sizeof(WeightGrad<T>) <= sizeof(Slot));
  return new (slot.bytes) WeightGrad<T>(problem, kernels, source);
}

template Operation *makeWeightGrad(const Problem &, const Kernels<float> &,
                                   Source<float> &, Slot &);
template Operation *makeWeightGrad(const Problem &, const Kernels<double> &,
                                   Source<double> &, Slot &);

} // namespace disco::cpu_gather
