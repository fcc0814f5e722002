//===- TestKernels.cu - kernels for the tests of the core -----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

/// Each of 10 blocks writes 100 numbers.
extern "C" __global__ void test_writes_all(float *y) {
  if (threadIdx.x < 100)
    y[blockIdx.x * 100 + threadIdx.x] = 1;
}

/// One of the blocks does nothing, as a body compiled out would.
extern "C" __global__ void test_skips_a_tile(float *y) {
  if (threadIdx.x < 100 && blockIdx.x != 7)
    y[blockIdx.x * 100 + threadIdx.x] = 1;
}
