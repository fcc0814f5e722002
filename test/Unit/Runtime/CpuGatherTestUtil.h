//===- CpuGatherTestUtil.h - random problems for kernels --------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TEST_UNIT_RUNTIME_CPUGATHERTESTUTIL_H
#define DISCO_TEST_UNIT_RUNTIME_CPUGATHERTESTUTIL_H

#include "disco/Runtime/Accuracy.h"
#include "disco/Runtime/KernelCall.h"
#include "disco/Runtime/Reference.h"

#include <random>
#include <string>

namespace disco::test {

/// An operator with random arcs: some rows are empty, some arcs are whole rings
/// or cross longitude 0.
filter::SphereOperator randomSphere(std::mt19937 &random, int64_t numBasis,
                                    int64_t nlatIn, int64_t nlonIn,
                                    int64_t nlatOut, int64_t nlonOut,
                                    int64_t longest = INT64_MAX);

/// The same, with maps that are even or odd about a longitude of each ring, on
/// all but a few arcs.
filter::SphereOperator mirroredSphere(std::mt19937 &random, int64_t numBasis,
                                      int64_t nlatIn, int64_t nlonIn,
                                      int64_t nlatOut, int64_t nlonOut,
                                      int64_t longest = INT64_MAX);

/// A structure in both representations: of the kernel, and of the reference.
/// `adjointOperator` is the transpose, for the gradients.
struct TestPsi {
  PsiTables tables, adjointTables;
  reference::Operator op, adjointOp;
};
TestPsi sphereCase(const filter::SphereOperator &op, DType valueType);
enum class PointForm { csr, table, oneHot };
/// Random lists with up to `degree` taps a point, stored as the transpose of
/// what is applied when `adjoint`.
TestPsi pointCase(std::mt19937 &random, PointForm form, int64_t numBasis,
                  int64_t numIn, int64_t numOut, int64_t degree, bool adjoint,
                  DType valueType, DType indexType);

/// Normally distributed values, rounded to `dtype`.
Array randomArray(std::mt19937 &random, DType dtype,
                  std::vector<int64_t> shape);
/// Every byte of it 0xff: NaN in all floating-point types.
Array nanArray(DType dtype, std::vector<int64_t> shape);

/// A conv and its operands; fields that are not asked for are empty.
struct ConvCase {
  int64_t batch = 1, channels = 1, outChannels = 1, groups = 1;
  DType dtype = DType::f32, weightType = DType::f32;
  int32_t activation = DISCO_ACTIVATION_NONE;
  int32_t order = DISCO_FILTER_FIRST;
  bool bias = false, residual = false;
  int32_t threads = 2;
  int64_t tile = 0, channelBlock = 0;
};

std::string describe(const ConvCase &c);

/// What the checks below test; cpu_gather unless changed. Another family gets
/// calls whose schedules have no fields.
void setTestedFamily(const KernelFamily &family);

/// Each runs an operation on random operands, with the output full of NaN and
/// the workspace exactly as large as it must be, and compares with float64. ""
/// when the accuracy rule holds, else what is wrong.
std::string checkContract(std::mt19937 &random, const TestPsi &psi,
                          const ConvCase &c);
std::string checkContractSum(std::mt19937 &random, const TestPsi &psi,
                             const ConvCase &c);
std::string checkConv(std::mt19937 &random, const TestPsi &psi,
                      const ConvCase &c);
/// conv with the weight of the forward layer transposed.
std::string checkInputGrad(std::mt19937 &random, const TestPsi &psi,
                           const ConvCase &c);
std::string checkWeightGrad(std::mt19937 &random, const TestPsi &psi,
                            const ConvCase &c);

/// "" when `actual` is within the bound for `dtype`.
std::string judge(const reference::Tensor &expected,
                  const reference::Tensor *naive, const Array &actual);

} // namespace disco::test

#endif // DISCO_TEST_UNIT_RUNTIME_CPUGATHERTESTUTIL_H
