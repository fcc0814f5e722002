//===- Problem.h - a checked call and its workspace -------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CPU_CPUGATHER_PROBLEM_H
#define DISCO_LIB_RUNTIME_CPU_CPUGATHER_PROBLEM_H

#include "disco/ABI/Families/CpuGather.h"
#include "disco/ABI/Kernel.h"

#include <cstddef>
#include <cstdint>

namespace disco::cpu_gather {

constexpr int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t roundUp(int64_t a, int64_t b) { return divideUp(a, b) * b; }
constexpr int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }
constexpr int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }

/// A call whose numbers have been checked, and what follows from them.
struct Problem {
  const disco_kernel_call *call = nullptr;
  int64_t batch = 0, channels = 0, numBasis = 0;
  int64_t outChannels = 0, groups = 1, groupIn = 0, groupOut = 0;
  int64_t numIn = 0, numOut = 0;
  /// Arcs: out-longitude w = phases * j + phase reads in-longitudes shifted by
  /// stride * j; `lattice` is the number of j.
  int64_t stride = 1, phases = 1, lattice = 0;
  int64_t elementSize = 0;
  int numThreads = 1;
  /// Fields of the schedule; 0: the operation chooses.
  int64_t tile = 0, channelBlock = 0;

  bool isSphere() const { return call->psi.form == DISCO_FORM_ARCS; }
};

/// Checks every number in `call` but those of the schedule that each family has
/// its own rules for (layouts, fields), and no pointer and no table. Does not
/// set the number of threads.
disco_status readNumbers(const disco_kernel_call *call, Problem &problem);

/// Checks every number in `call`, but no pointer and no table; finds the number
/// of threads.
disco_status readProblem(const disco_kernel_call *call, Problem &problem);

/// Checks the pointers to psi's tables, its offsets and its indices.
disco_status checkPsi(const Problem &problem);

/// The same, and the pointers to all other operands.
disco_status checkOperands(const Problem &problem);

/// Checks that the workspace of `bytes` shares no byte with an operand or a
/// table of psi.
disco_status checkWorkspace(const Problem &problem, const void *workspace,
                            uint64_t bytes);

/// Element `i` of a table of i32 or i64.
inline int64_t indexAt(const void *table, int32_t dtype, int64_t i) {
  return dtype == DISCO_I64 ? static_cast<const int64_t *>(table)[i]
                            : static_cast<const int32_t *>(table)[i];
}

inline const char *advance(const void *base, int64_t elements,
                           int64_t elementSize) {
  return static_cast<const char *>(base) + elements * elementSize;
}

/// Asks for memory that is read soon. Rows of different channels are far apart,
/// so the processor does not see them coming.
inline void prefetch(const char *memory, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64)
    __builtin_prefetch(memory + i);
}

/// Hands out parts of the workspace. Without memory it only counts, so that the
/// same code says how much is needed.
class Arena {
public:
  explicit Arena(void *memory) : base(static_cast<char *>(memory)) {}

  /// Room for `count` elements, and a vector more, so that whole vectors may be
  /// read and written at its end.
  template <typename T> T *take(int64_t count) {
    size_t bytes;
    if (count < 0 ||
        __builtin_mul_overflow(static_cast<size_t>(count), sizeof(T), &bytes) ||
        __builtin_add_overflow(used, roundUp64(bytes) + 64, &used)) {
      overflow = true;
      return nullptr;
    }
    if (!base)
      return nullptr;
    return reinterpret_cast<T *>(base + used - roundUp64(bytes) - 64);
  }

  uint64_t size() const { return used; }
  bool overflowed() const { return overflow; }

private:
  static size_t roundUp64(size_t bytes) { return (bytes + 63) / 64 * 64; }

  char *base;
  size_t used = 0;
  bool overflow = false;
};

} // namespace disco::cpu_gather

#endif // DISCO_LIB_RUNTIME_CPU_CPUGATHER_PROBLEM_H
