//===- Parallel.h - loops over threads --------------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A parallel loop whose iterations are independent: which thread runs one never
// shows in the result, as long as each iteration writes only its own output.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_SUPPORT_PARALLEL_H
#define DISCO_SUPPORT_PARALLEL_H

#include <cstdint>
#include <functional>

namespace disco {

/// The number of threads of parallelFor: that of setNumThreads, else the
/// environment variable DISCO_NUM_THREADS, else that of the hardware.
int numThreads();

/// Overrides the number of threads; 0 restores the default.
void setNumThreads(int count);

/// Calls body(i) once for every i in [0, count), on up to numThreads() threads
/// that take chunks of `grain` iterations. Runs on the calling thread alone
/// where threads cannot be started. If bodies throw, one of the exceptions is
/// rethrown here after all threads have stopped.
void parallelFor(int64_t count, int64_t grain,
                 const std::function<void(int64_t)> &body);

} // namespace disco

#endif // DISCO_SUPPORT_PARALLEL_H
