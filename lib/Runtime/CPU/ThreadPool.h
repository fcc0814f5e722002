//===- ThreadPool.h - the threads of the runtime ----------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops over independent tasks on threads that the process keeps. Plain threads
// instead of OpenMP: an artifact then needs no library but libdisco_runtime,
// several threads may run loops at once and share the same workers, and no
// second OpenMP runtime competes with that of the program.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CPU_THREADPOOL_H
#define DISCO_LIB_RUNTIME_CPU_THREADPOOL_H

#include "disco/ABI/disco.h"

#include <cstdint>

namespace disco::runtime {

/// Sets `count` to `requested`, or if that is 0 the environment variable
/// DISCO_NUM_THREADS, or where it is unset or empty the number of processors
/// that this process may use, or 256 where they are more. Errors: a request
/// that is not in [0, 256], a variable that is no number in [1, 256].
disco_status resolveThreads(int requested, int &count);

/// Calls body(context, task, thread) once for every task in [0, count), tasks
/// in ascending order of their start; 0 <= thread < numThreads is the same for
/// no two calls at once. The calling thread takes part, and does it all where
/// threads cannot be started. All compute in the calling thread's
/// floating-point mode. Workers block all signals. The child of a fork() has
/// workers of its own, whatever other threads were doing. The body must not
/// throw.
void parallelTasks(int numThreads, int64_t count,
                   void (*body)(void *context, int64_t task, int thread),
                   void *context);

template <typename Body>
void parallelTasks(int numThreads, int64_t count, Body &&body) {
  parallelTasks(
      numThreads, count,
      [](void *context, int64_t task, int thread) {
        (*static_cast<Body *>(context))(task, thread);
      },
      &body);
}

} // namespace disco::runtime

#endif // DISCO_LIB_RUNTIME_CPU_THREADPOOL_H
