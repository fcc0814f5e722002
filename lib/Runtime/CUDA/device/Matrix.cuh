//===- Matrix.cuh - 8 x 8 matrices between registers and shared memory *- C++
//-*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// stmatrix and ldmatrix move 8 x 8 matrices of 16-bit elements. Lane l gives
// the address of row l % 8 (16 bytes) of matrix l / 8, and holds for each
// matrix a pair of neighbours:
//
//   stored as it is     row l / 4, columns 2 (l % 4) and 2 (l % 4) + 1
//   loaded transposed   column l / 4, rows 2 (l % 4) and 2 (l % 4) + 1
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_DEVICE_MATRIX_CUH
#define DISCO_LIB_RUNTIME_CUDA_DEVICE_MATRIX_CUH

#include <cstdint>

namespace disco::cuda::device {

__device__ __forceinline__ void storeMatrices(uint32_t address, uint32_t m0,
                                              uint32_t m1, uint32_t m2,
                                              uint32_t m3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], "
               "{%1, %2, %3, %4};" ::"r"(address),
               "r"(m0), "r"(m1), "r"(m2), "r"(m3)
               : "memory");
}

__device__ __forceinline__ void storeMatrices(uint32_t address, uint32_t m0,
                                              uint32_t m1) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared::cta.b16 [%0], "
               "{%1, %2};" ::"r"(address),
               "r"(m0), "r"(m1)
               : "memory");
}

__device__ __forceinline__ void
loadMatricesTransposed(uint32_t address, uint32_t (&matrices)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 "
               "{%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]),
                 "=r"(matrices[3])
               : "r"(address)
               : "memory");
}

/// The transpose of a matrix that is held as stored above: lane l gets row
/// l / 4, columns 2 (l % 4) and 2 (l % 4) + 1 of it.
__device__ __forceinline__ uint32_t transpose(uint32_t matrix) {
  uint32_t result;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"
      : "=r"(result)
      : "r"(matrix));
  return result;
}

} // namespace disco::cuda::device

#endif // DISCO_LIB_RUNTIME_CUDA_DEVICE_MATRIX_CUH
