//===- Error.cpp - failures of the CUDA library ---------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Error.h"

#include "../../Core/ErrorText.h"

static thread_local disco::runtime::ErrorText last;

namespace disco::cuda {

disco_status fail(disco_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  last.format(format, arguments);
  va_end(arguments);
  return status;
}

const char *lastError() { return last.text; }

static disco_status statusOf(cudaError_t error) {
  switch (error) {
  case cudaErrorMemoryAllocation:
    return DISCO_OUT_OF_MEMORY;
  case cudaErrorInvalidDevice:
  case cudaErrorInvalidValue:
    return DISCO_INVALID_ARGUMENT;
  case cudaErrorNoDevice:
  case cudaErrorInsufficientDriver:
  case cudaErrorNoKernelImageForDevice:
  case cudaErrorUnsupportedPtxVersion:
  case cudaErrorJitCompilerNotFound:
    return DISCO_UNSUPPORTED_TARGET;
  default:
    return DISCO_EXECUTION_FAILED;
  }
}

disco_status check(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return DISCO_OK;
  cudaGetLastError();
  return fail(statusOf(error), "%s failed: %s (%s)", what,
              cudaGetErrorString(error), cudaGetErrorName(error));
}

} // namespace disco::cuda
