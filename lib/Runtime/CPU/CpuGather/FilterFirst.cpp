//===- FilterFirst.cpp - features, and their product with the weight ------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// contract stores features. A conv with the filter first multiplies them with
// the weight while they are in the cache: a thread takes a row, and for each
// group and tile of columns
//
//   for each block of channels:  z = features      [channels * K, columns]
//                                sums += weight * z   [O / G, columns]
//   y = act(sums + bias) + residual
//
//===----------------------------------------------------------------------===//

#include "../ThreadPool.h"
#include "Operations.h"
#include "Values.h"

#include <algorithm>
#include <new>

namespace disco::cpu_gather {

namespace {

/// Bytes of features that a thread computes before it stores them. Few, so that
/// the processor writes some while it computes the next.
constexpr int64_t contractBytes = DISCO_CPU_GATHER_CONTRACT_BYTES;
/// Products of this depth keep their panel of features in the first cache.
constexpr int64_t depthTarget = DISCO_CPU_GATHER_DEPTH_TARGET;
constexpr int64_t tileTarget = DISCO_CPU_GATHER_TILE_TARGET;
/// Results larger than this do not stay in the caches anyway.
constexpr int64_t streamBytes = 16 << 20;

template <typename T> class Contract final : public Operation {
public:
  Contract(const Problem &problem, const Kernels<T> &kernels, Source<T> &source)
      : problem(problem), kernels(kernels), source(source) {}

  void layout(Arena &arena) override {
    const int64_t panel = kernels.panel, widest = source.maxColumns();
    const int64_t fit =
        contractBytes / (problem.numBasis * int64_t(sizeof(T)) * block());
    // Tiles of the same width, but for the last.
    const int64_t tiles = greater(widest / greater(fit, 2 * panel), 1);
    tile = problem.tile ? problem.tile : divideUp(widest, tiles);
    tile = lesser(roundUp(greater(tile, 2 * panel), panel),
                  roundUp(widest, panel));
    source.layout(arena, tile, true);
    z = arena.take<T>(problem.numThreads * zSize());
  }

  void run() override {
    const disco_kernel_call &call = *problem.call;
    const int64_t blocks = divideUp(problem.channels, taskChannels);
    const int64_t step = source.batchesPerPass();
    // Streaming needs elements that are sums, one after the other.
    stream = call.dtype == (sizeof(T) == 8 ? DISCO_F64 : DISCO_F32) &&
             problem.phases == 1 &&
             reinterpret_cast<uintptr_t>(call.y) % sizeof(T) == 0 &&
             problem.batch * problem.channels * problem.numBasis *
                     problem.numOut * problem.elementSize >=
                 streamBytes;
    for (int64_t b0 = 0; b0 < problem.batch; b0 += step) {
      source.prepare(b0);
      const int64_t batches = lesser(step, problem.batch - b0);
      runtime::parallelTasks(
          problem.numThreads, source.numRows() * batches * blocks,
          [&](int64_t task, int thread) {
            const int64_t channel = task % blocks * taskChannels;
            const int64_t batch = b0 + task / blocks % batches;
            const int64_t end =
                lesser(channel + taskChannels, problem.channels);
            for (int64_t c = channel; c < end; c += block())
              computeChannels(call, thread, task / blocks / batches, batch, c,
                              lesser(block(), end - c));
          });
    }
  }

private:
  static constexpr int64_t taskChannels = 32;
  /// Points have their channels in the vectors.
  int64_t block() const {
    return problem.isSphere() ? 1 : DISCO_CPU_GATHER_POINT_CHANNELS;
  }
  /// Features of a tile follow a line that streaming keeps.
  static constexpr int64_t keep = lineBytes / int64_t(sizeof(T));
  int64_t rowSize() const { return keep + tile; }
  int64_t zSize() const { return block() * problem.numBasis * rowSize(); }

  void computeChannels(const disco_kernel_call &call, int thread, int64_t row,
                       int64_t batch, int64_t channel, int64_t count) {
    const RowPlace place = source.place(row);
    const int64_t rows = count * problem.numBasis;
    T *features = z + thread * zSize() + keep;
    char *out =
        const_cast<char *>(advance(call.y,
                                   (batch * problem.channels + channel) *
                                           problem.numBasis * problem.numOut +
                                       place.first,
                                   problem.elementSize));
    for (int64_t first = 0; first < place.columns; first += tile) {
      const int64_t columns = lesser(tile, place.columns - first);
      source.fill(thread, row, batch, channel, count, first,
                  roundUp(columns, kernels.panel),
                  {features, kernels.panel, rowSize()},
                  problem.numBasis * rowSize());
      if (stream) {
        kernels.stream({features, reinterpret_cast<T *>(out) + first, rowSize(),
                        problem.numOut, rows, columns, first == 0,
                        first + tile >= place.columns});
        continue;
      }
      StoreRow<T> one;
      one.count = columns;
      one.outStride = place.stride;
      for (int64_t i = 0; i < rows; ++i) {
        one.sums = features + i * rowSize();
        one.out = out + (i * problem.numOut + first * place.stride) *
                            problem.elementSize;
        kernels.store[call.dtype](one);
      }
    }
    if (stream)
      kernels.fence();
  }

  const Problem &problem;
  const Kernels<T> &kernels;
  Source<T> &source;
  T *z = nullptr;
  int64_t tile = 0;
  bool stream = false;
};

template <typename T> class FilterFirst final : public Operation {
public:
  FilterFirst(const Problem &problem, const Kernels<T> &kernels,
              Source<T> &source)
      : problem(problem), kernels(kernels), source(source) {}

  void layout(Arena &arena) override {
    const int64_t panel = kernels.panel, widest = source.maxColumns();
    tile = problem.tile ? problem.tile : tileTarget;
    tile = lesser(roundUp(tile, panel), roundUp(widest, panel));
    block = problem.channelBlock ? problem.channelBlock
                                 : greater(depthTarget / problem.numBasis, 1);
    block = greater(lesser(block, problem.groupIn), 1);
    source.layout(arena, tile, false);
    weight = arena.take<T>(problem.groups * groupWeight());
    z = arena.take<T>(problem.numThreads * zSize());
    sums = arena.take<T>(problem.numThreads * sumsSize());
  }

  void run() override {
    const Weight values(problem);
    runtime::parallelTasks(
        problem.numThreads, problem.groups, [&](int64_t group, int) {
          values.packFilterFirst(group, weight + group * groupWeight());
        });
    const int64_t step = source.batchesPerPass();
    for (int64_t b0 = 0; b0 < problem.batch; b0 += step) {
      source.prepare(b0);
      const int64_t batches = lesser(step, problem.batch - b0);
      runtime::parallelTasks(
          problem.numThreads, source.numRows() * batches,
          [&](int64_t task, int thread) {
            const int64_t row = task / batches;
            const int64_t columns = source.place(row).columns;
            for (int64_t group = 0; group < problem.groups; ++group)
              for (int64_t first = 0; first < columns; first += tile)
                computeTile(thread, row, b0 + task % batches, group, first,
                            lesser(tile, columns - first));
          });
    }
  }

private:
  int64_t groupWeight() const {
    return problem.groupOut * problem.groupIn * problem.numBasis;
  }
  int64_t zSize() const { return block * problem.numBasis * tile; }
  int64_t sumsSize() const { return problem.groupOut * tile; }

  void computeTile(int thread, int64_t row, int64_t batch, int64_t group,
                   int64_t first, int64_t columns) {
    const int64_t padded = roundUp(columns, kernels.panel);
    const int64_t depth = problem.groupIn * problem.numBasis;
    Product<T> product;
    product.aBlockStride = depth * rowBlock;
    product.b = z + thread * zSize();
    product.c = sums + thread * sumsSize();
    product.cRowStride = tile;
    product.cPanelStride = kernels.panel;
    product.rows = problem.groupOut;
    product.panels = padded / kernels.panel;
    for (int64_t c = 0; c < problem.groupIn; c += block) {
      const int64_t count = lesser(block, problem.groupIn - c);
      product.depth = count * problem.numBasis;
      product.bPanelStride = product.depth * kernels.panel;
      source.fill(thread, row, batch, group * problem.groupIn + c, count, first,
                  padded,
                  {z + thread * zSize(), product.bPanelStride, kernels.panel},
                  problem.numBasis * kernels.panel);
      product.a = weight + group * groupWeight();
      product.aFirst = c * problem.numBasis;
      kernels.multiply(product);
      product.accumulate = true;
    }
    if (depth == 0)
      std::fill_n(product.c, sumsSize(), T(0));
    storeTile(thread, row, batch, group, first, columns);
  }

  void storeTile(int thread, int64_t row, int64_t batch, int64_t group,
                 int64_t first, int64_t columns) {
    const disco_kernel_call &call = *problem.call;
    const RowPlace place = source.place(row);
    StoreRow<T> out;
    out.count = columns;
    out.outStride = place.stride;
    out.activation = call.activation;
    for (int64_t i = 0; i < problem.groupOut; ++i) {
      const int64_t o = group * problem.groupOut + i;
      const int64_t element =
          (batch * problem.outChannels + o) * problem.numOut + place.first +
          first * place.stride;
      out.sums = sums + thread * sumsSize() + i * tile;
      out.out =
          const_cast<char *>(advance(call.y, element, problem.elementSize));
      if (call.has_residual)
        out.residual = advance(call.residual, element, problem.elementSize);
      out.bias = biasOf<T>(call, o);
      kernels.store[call.dtype](out);
    }
  }

  const Problem &problem;
  const Kernels<T> &kernels;
  Source<T> &source;
  T *weight = nullptr, *z = nullptr, *sums = nullptr;
  int64_t tile = 0, block = 0;
};

} // namespace

template <typename T>
Operation *makeContract(const Problem &problem, const Kernels<T> &kernels,
                        Source<T> &source, Slot &slot) {
  static_assert(sizeof(Contract<T>) <= sizeof(Slot));
  return new (slot.bytes) Contract<T>(problem, kernels, source);
}

template <typename T>
Operation *makeFilterFirst(const Problem &problem, const Kernels<T> &kernels,
                           Source<T> &source, Slot &slot) {
  static_assert(sizeof(FilterFirst<T>) <= sizeof(Slot));
  return new (slot.bytes) FilterFirst<T>(problem, kernels, source);
}

#define INSTANTIATE(T)                                                         \
  template Operation *makeContract(const Problem &, const Kernels<T> &,        \
                                   Source<T> &, Slot &);                       \
  template Operation *makeFilterFirst(const Problem &, const Kernels<T> &,     \
                                      Source<T> &, Slot &);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

} // namespace disco::cpu_gather
