//===- Error.h - failures of the CUDA library -------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_CORE_ERROR_H
#define DISCO_LIB_RUNTIME_CUDA_CORE_ERROR_H

#include "disco/ABI/disco.h"

#include <cuda_runtime_api.h>
#include <new>

namespace disco::cuda {

/// Records why for the calling thread and returns `status`.
[[gnu::format(printf, 2, 3)]] disco_status fail(disco_status status,
                                                const char *format, ...);
const char *lastError();

/// OK, or the failure of what `what` says in words: "copying psi's values".
/// Also clears the error that the runtime remembers, so that it is not taken
/// for one of a later call.
disco_status check(cudaError_t error, const char *what);

/// Calls body(), turning exceptions into statuses.
template <typename Body> disco_status guarded(Body &&body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return fail(DISCO_OUT_OF_MEMORY, "out of memory on the host");
  } catch (...) {
    return fail(DISCO_INTERNAL, "unexpected exception in the CUDA library");
  }
}

} // namespace disco::cuda

#endif // DISCO_LIB_RUNTIME_CUDA_CORE_ERROR_H
