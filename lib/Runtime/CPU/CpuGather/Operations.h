//===- Operations.h - the operations of cpu_gather --------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each operation is an object that first lays out its workspace and then, when
// there is one, runs.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CPU_CPUGATHER_OPERATIONS_H
#define DISCO_LIB_RUNTIME_CPU_CPUGATHER_OPERATIONS_H

#include "Source.h"

namespace disco::cpu_gather {

class Operation {
public:
  virtual ~Operation() = default;
  virtual void layout(Arena &arena) = 0;
  virtual void run() = 0;
};

/// Storage for an object of any of the operations or sources: a run has no
/// heap.
struct Slot {
  alignas(64) unsigned char bytes[1024];
};

// Each constructs its result in `slot`; what it is given must outlive it.
template <typename T>
Source<T> *makeSource(const Problem &problem, const Kernels<T> &kernels,
                      const Field &field, Slot &slot);
template <typename T>
Operation *makeContract(const Problem &problem, const Kernels<T> &kernels,
                        Source<T> &source, Slot &slot);
template <typename T>
Operation *makeFilterFirst(const Problem &problem, const Kernels<T> &kernels,
                           Source<T> &source, Slot &slot);
template <typename T>
Operation *makeWeightGrad(const Problem &problem, const Kernels<T> &kernels,
                          Source<T> &source, Slot &slot);
/// contract_sum, and conv with the weight first.
template <typename T>
Operation *makeSphereSum(const Problem &problem, const Kernels<T> &kernels,
                         Slot &slot);
template <typename T>
Operation *makePointSum(const Problem &problem, const Kernels<T> &kernels,
                        Slot &slot);

/// Element [o, c, k] of the weight [O,C/G,K] that a conv applies.
class Weight {
public:
  explicit Weight(const Problem &problem);

  double operator()(int64_t o, int64_t c, int64_t k) const;

  /// to[row / rowBlock][d][row % rowBlock] for the rows o of a group and
  /// d = c * K + k; the last block is narrower.
  template <typename T> void packFilterFirst(int64_t group, T *to) const;
  /// The same for the rows o * K + k, o in [first, first + count), and d = c.
  template <typename T>
  void packWeightFirst(int64_t group, int64_t first, int64_t count,
                       T *to) const;

private:
  const Problem &problem;
  const disco_kernel_call &call;
};

} // namespace disco::cpu_gather

#endif // DISCO_LIB_RUNTIME_CPU_CPUGATHER_OPERATIONS_H
