//===- CudaLibrary.h - what libdisco_runtime_cuda exports -------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between libdisco_runtime and libdisco_runtime_cuda, which are built together:
// one table of functions, those of disco/ABI/DeviceKernel.h. Arguments that the
// CUDA library gets are checked as far as that needs no device: pointers to
// structs are not null, sizes of structs are right, numbers and tables of a
// call to prepare have passed cpu_gather's checks, and its numbers those too in
// the other calls.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CORE_CUDALIBRARY_H
#define DISCO_LIB_RUNTIME_CORE_CUDALIBRARY_H

#include "disco/ABI/DeviceKernel.h"

/// What was made of psi's tables while calls are prepared whose tables lie at
/// the same addresses as long as it lives: calls that need the same share it.
typedef struct disco_prepare_pool disco_prepare_pool;

/// The exported symbol, a `const disco_cuda_library`.
#define DISCO_CUDA_LIBRARY_SYMBOL "disco_cuda_library_root"

struct disco_cuda_library {
  uint64_t struct_size;
  /// Of the calling thread, after a failure.
  const char *(*last_error)();
  disco_status (*count)(int32_t *);
  disco_status (*query)(int32_t, disco_device_properties *);
  disco_status (*allocate)(const disco_device_context *, uint64_t, void **);
  void (*release)(const disco_device_context *, void *, uint64_t);
  disco_status (*copy)(const disco_device_context *, void *, const void *,
                       uint64_t);
  disco_status (*synchronize)(const disco_device_context *);
  /// That so many bytes are memory of the device; the text says what they are.
  disco_status (*check_memory)(const disco_device_context *, const char *,
                               const void *, uint64_t, uint64_t);
  const char *(*family)(int32_t);
  disco_status (*make_pool)(disco_prepare_pool **);
  void (*destroy_pool)(disco_prepare_pool *);
  /// The pool may be null.
  disco_status (*prepare)(const char *, const disco_device_context *,
                          const disco_kernel_call *, disco_prepare_pool *,
                          disco_prepared **);
  void (*destroy)(disco_prepared *);
  disco_status (*workspace_bytes)(const disco_prepared *,
                                  const disco_kernel_call *, uint64_t *);
  disco_status (*run)(const disco_prepared *, const disco_kernel_call *, void *,
                      void *, uint64_t);
  disco_status (*prepare_repack)(const disco_device_context *,
                                 const disco_repack *,
                                 disco_prepared_repack **);
  void (*destroy_repack)(disco_prepared_repack *);
  disco_status (*run_repack)(const disco_prepared_repack *, int64_t,
                             const void *, void *, void *);
};

#endif // DISCO_LIB_RUNTIME_CORE_CUDALIBRARY_H
