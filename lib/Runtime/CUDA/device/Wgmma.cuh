//===- Wgmma.cuh - products of a warpgroup on tensor cores ------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// D [64, N] += A [64, 16] B [16, N], f32 sums of f16 or bf16, by the four warps
// of a warpgroup. A and B are in shared memory without swizzle, made of 8 x 8
// core matrices of 128 contiguous bytes:
//
//   A   K-major: a core matrix has 8 rows of A, 8 columns contiguous in each
//   B   N-major: a core matrix has 8 rows of B (the reduction), 8 columns of B
//       contiguous in each
//
// `leading` is the distance of core matrices along the reduction, `stride` that
// along the rows of A or the columns of B, in units of 16 bytes. Core matrices
// may overlap.
//
// Thread l of warp w holds, for j < N / 8,
//
//   sums[4 j], sums[4 j + 1]       row 16 w + l / 4,     columns 8 j + 2 (l %
//   4) sums[4 j + 2], sums[4 j + 3]   row 16 w + l / 4 + 8  and the one after
//   it
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_DEVICE_WGMMA_CUH
#define DISCO_LIB_RUNTIME_CUDA_DEVICE_WGMMA_CUH

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace disco::cuda::device {

/// The high word of a descriptor of shared memory.
__device__ __forceinline__ uint32_t descriptorHigh(uint32_t stride) {
  return stride;
}
/// The low word; `address` is in units of 16 bytes, too.
__device__ __forceinline__ uint32_t descriptorLow(uint32_t address,
                                                  uint32_t leading) {
  return address | leading << 16;
}
__device__ __forceinline__ uint64_t descriptor(uint32_t high, uint32_t low) {
  return static_cast<uint64_t>(high) << 32 | low;
}

/// Before the first product, and between other accesses to the sums and a
/// product.
__device__ __forceinline__ void fenceProducts() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void commitProducts() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until all committed products are done.
__device__ __forceinline__ void waitProducts() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

/// product(sums, a, b, add): sums = A B, plus sums when `add` is not 0. The
/// descriptors a and b are of A and B.
template <typename T, int N> struct Product;

/// The sums of a thread as operands of the asm statement, and how the statement
/// names them. Each size adds to the one before.
#define DISCO_SUMS_8(s) "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
#define DISCO_NAMES_8 "%0, %1, %2, %3"
#define DISCO_DESCRIPTORS_8 "%4, %5"
#define DISCO_ADD_8 "%6"

#define DISCO_SUMS_16(s)                                                       \
  DISCO_SUMS_8(s), "+f"(s[4]), "+f"(s[5]), "+f"(s[6]), "+f"(s[7])
#define DISCO_NAMES_16                                                         \
  DISCO_NAMES_8 ", "                                                           \
                "%4, %5, %6, %7"
#define DISCO_DESCRIPTORS_16 "%8, %9"
#define DISCO_ADD_16 "%10"

#define DISCO_SUMS_32(s)                                                       \
  DISCO_SUMS_16(s), "+f"(s[8]), "+f"(s[9]), "+f"(s[10]), "+f"(s[11]),          \
      "+f"(s[12]), "+f"(s[13]), "+f"(s[14]), "+f"(s[15])
#define DISCO_NAMES_32                                                         \
  DISCO_NAMES_16 ", "                                                          \
                 "%8, %9, %10, %11, %12, %13, %14, %15"
#define DISCO_DESCRIPTORS_32 "%16, %17"
#define DISCO_ADD_32 "%18"

#define DISCO_SUMS_72(s)                                                       \
  DISCO_SUMS_32(s), "+f"(s[16]), "+f"(s[17]), "+f"(s[18]), "+f"(s[19]),        \
      "+f"(s[20]), "+f"(s[21]), "+f"(s[22]), "+f"(s[23]), "+f"(s[24]),         \
      "+f"(s[25]), "+f"(s[26]), "+f"(s[27]), "+f"(s[28]), "+f"(s[29]),         \
      "+f"(s[30]), "+f"(s[31]), "+f"(s[32]), "+f"(s[33]), "+f"(s[34]),         \
      "+f"(s[35])
#define DISCO_NAMES_72                                                         \
  DISCO_NAMES_32                                                               \
      ", "                                                                     \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, " \
      "%30, %31, %32, %33, %34, %35"
#define DISCO_DESCRIPTORS_72 "%36, %37"
#define DISCO_ADD_72 "%38"

#define DISCO_SUMS_144(s)                                                      \
  DISCO_SUMS_72(s), "+f"(s[36]), "+f"(s[37]), "+f"(s[38]), "+f"(s[39]),        \
      "+f"(s[40]), "+f"(s[41]), "+f"(s[42]), "+f"(s[43]), "+f"(s[44]),         \
      "+f"(s[45]), "+f"(s[46]), "+f"(s[47]), "+f"(s[48]), "+f"(s[49]),         \
      "+f"(s[50]), "+f"(s[51]), "+f"(s[52]), "+f"(s[53]), "+f"(s[54]),         \
      "+f"(s[55]), "+f"(s[56]), "+f"(s[57]), "+f"(s[58]), "+f"(s[59]),         \
      "+f"(s[60]), "+f"(s[61]), "+f"(s[62]), "+f"(s[63]), "+f"(s[64]),         \
      "+f"(s[65]), "+f"(s[66]), "+f"(s[67]), "+f"(s[68]), "+f"(s[69]),         \
      "+f"(s[70]), "+f"(s[71])
#define DISCO_NAMES_144                                                        \
  DISCO_NAMES_72                                                               \
      ", "                                                                     \
      "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, " \
      "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
      "%64, %65, %66, %67, %68, %69, %70, %71"
#define DISCO_DESCRIPTORS_144 "%72, %73"
#define DISCO_ADD_144 "%74"

#define DISCO_PRODUCT(T, NAME, N)                                              \
  template <> struct Product<T, N> {                                           \
    static __device__ __forceinline__ void                                     \
    issue(float (&sums)[N / 2], uint64_t a, uint64_t b, uint32_t add) {        \
      asm volatile("{\n"                                                       \
                   ".reg .pred add;\n"                                         \
                   "setp.ne.b32 add, " DISCO_ADD_##N                           \
                   ", 0;\n"                                                    \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." NAME      \
                   "." NAME " {" DISCO_NAMES_##N "}, " DISCO_DESCRIPTORS_##N   \
                   ", add, 1, 1, 0, 1;\n}"                                     \
                   : DISCO_SUMS_##N(sums)                                      \
                   : "l"(a), "l"(b), "r"(add)                                  \
                   : "memory");                                                \
    }                                                                          \
  }

#define DISCO_PRODUCTS(N)                                                      \
  DISCO_PRODUCT(__nv_bfloat16, "bf16", N);                                     \
  DISCO_PRODUCT(__half, "f16", N)

DISCO_PRODUCTS(8);
DISCO_PRODUCTS(16);
DISCO_PRODUCTS(32);
DISCO_PRODUCTS(72);
DISCO_PRODUCTS(144);

#undef DISCO_PRODUCTS
#undef DISCO_PRODUCT

} // namespace disco::cuda::device

#endif // DISCO_LIB_RUNTIME_CUDA_DEVICE_WGMMA_CUH
