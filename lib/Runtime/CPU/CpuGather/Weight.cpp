//===- Weight.cpp - packing the weight ------------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packing is a permutation of O * C/G * K numbers, and each of them is used at
// every point: with the 2048 points of a 32x64 grid it is 0.05 % of the
// multiplications, and less on larger grids.
//
//===----------------------------------------------------------------------===//

#include "Operations.h"
#include "Values.h"

namespace disco::cpu_gather {

Weight::Weight(const Problem &problem)
    : problem(problem), call(*problem.call) {}

double Weight::operator()(int64_t o, int64_t c, int64_t k) const {
  const int64_t group = o / problem.groupOut;
  const int64_t row = call.transpose_weight
                          ? (group * problem.groupIn + c) * problem.groupOut +
                                o % problem.groupOut
                          : o * problem.groupIn + c;
  return valueAt(call.weight, call.weight_dtype, row * problem.numBasis + k);
}

/// Calls put(row, d) for all elements in the order of the packed layout.
template <typename Put>
static void forEachPacked(int64_t rows, int64_t depth, Put &&put) {
  for (int64_t first = 0; first < rows; first += rowBlock)
    for (int64_t d = 0; d < depth; ++d)
      for (int64_t r = first; r < lesser(first + rowBlock, rows); ++r)
        put(r, d);
}

template <typename T> void Weight::packFilterFirst(int64_t group, T *to) const {
  const int64_t numBasis = problem.numBasis;
  forEachPacked(problem.groupOut, problem.groupIn * numBasis,
                [&](int64_t row, int64_t d) {
                  *to++ = static_cast<T>((*this)(group * problem.groupOut + row,
                                                 d / numBasis, d % numBasis));
                });
}

template <typename T>
void Weight::packWeightFirst(int64_t group, int64_t first, int64_t count,
                             T *to) const {
  const int64_t numBasis = problem.numBasis;
  forEachPacked(count * numBasis, problem.groupIn, [&](int64_t row, int64_t c) {
    *to++ = static_cast<T>((*this)(
        group * problem.groupOut + first + row / numBasis, c, row % numBasis));
  });
}

#define INSTANTIATE(T)                                                         \
  template void Weight::packFilterFirst(int64_t, T *) const;                   \
  template void Weight::packWeightFirst(int64_t, int64_t, int64_t, T *) const;
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

} // namespace disco::cpu_gather
