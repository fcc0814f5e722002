//===- CpuGatherTestUtil.cpp - random problems for kernels ----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuGatherTestUtil.h"

#include <algorithm>
#include <cmath>

using namespace disco;
using namespace disco::test;
using reference::Operator;
using reference::Tensor;

static const KernelFamily *testedFamily = findKernelFamily("cpu_gather");

void disco::test::setTestedFamily(const KernelFamily &family) {
  testedFamily = &family;
}

static int64_t below(std::mt19937 &random, int64_t limit) {
  return std::uniform_int_distribution<int64_t>(0, limit - 1)(random);
}

filter::SphereOperator
disco::test::randomSphere(std::mt19937 &random, int64_t numBasis,
                          int64_t nlatIn, int64_t nlonIn, int64_t nlatOut,
                          int64_t nlonOut, int64_t longest) {
  filter::SphereOperator op;
  op.numBasis = numBasis;
  op.nlatIn = nlatIn;
  op.nlonIn = nlonIn;
  op.nlatOut = nlatOut;
  op.nlonOut = nlonOut;
  op.stride = nlonIn % nlonOut == 0 ? nlonIn / nlonOut : 1;
  op.phases = nlonIn % nlonOut == 0 ? 1 : nlonOut / nlonIn;
  op.rowOffsets.push_back(0);
  int32_t taps = 0;
  for (int64_t row = 0; row < op.numRows(); ++row) {
    for (int64_t lat = 0; below(random, 5) > 0 && lat < nlatIn; ++lat) {
      // Up to two arcs that do not touch: no tap may occur twice.
      int64_t at = below(random, nlonIn), left = nlonIn;
      const bool isWhole = below(random, 4) == 0;
      for (int64_t n = isWhole ? 1 : below(random, 3); n > 0 && left > 1; --n) {
        filter::Arc arc;
        arc.lat = static_cast<int32_t>(lat);
        arc.lonStart = static_cast<int32_t>(at % nlonIn);
        arc.length = static_cast<int32_t>(
            isWhole ? nlonIn : std::min(longest, 1 + below(random, left - 1)));
        arc.valueOffset = taps;
        taps += arc.length;
        at += arc.length + 1;
        left -= arc.length + 1;
        op.arcs.push_back(arc);
      }
    }
    op.rowOffsets.push_back(static_cast<int32_t>(op.arcs.size()));
  }
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < taps * numBasis; ++i)
    op.values.push_back(normal(random));
  return op;
}

filter::SphereOperator
disco::test::mirroredSphere(std::mt19937 &random, int64_t numBasis,
                            int64_t nlatIn, int64_t nlonIn, int64_t nlatOut,
                            int64_t nlonOut, int64_t longest) {
  filter::SphereOperator op =
      randomSphere(random, numBasis, nlatIn, nlonIn, nlatOut, nlonOut, longest);
  std::vector<double> sign(numBasis);
  for (double &s : sign)
    s = below(random, 3) == 0 ? -1 : 1;
  for (size_t a = 0; a < op.arcs.size(); ++a) {
    filter::Arc &arc = op.arcs[a];
    const bool isAlone =
        (a == 0 || op.arcs[a - 1].lat != arc.lat) &&
        (a + 1 == op.arcs.size() || op.arcs[a + 1].lat != arc.lat);
    const int64_t n = arc.length;
    const bool isRing = n == nlonIn;
    // With one middle, arcs of different rows are mirrored as a group.
    if (isAlone && (isRing || n % 2 == 1))
      arc.lonStart = static_cast<int32_t>(
          (arc.lat * 3 + (isRing ? 0 : nlonIn - n / 2)) % nlonIn);
    if (below(random, 12) == 0)
      continue;
    double *values = op.values.data() + arc.valueOffset * numBasis;
    for (int64_t u = isRing ? 1 : 0; u < n; ++u) {
      const int64_t other = n - u - (isRing ? 0 : 1);
      for (int64_t k = 0; u < other && k < numBasis; ++k)
        values[other * numBasis + k] = sign[k] * values[u * numBasis + k];
    }
  }
  return op;
}

TestPsi disco::test::sphereCase(const filter::SphereOperator &op,
                                DType valueType) {
  filter::SphereOperator rounded = op;
  for (double &value : rounded.values)
    value = roundTo(valueType, value);
  const filter::SphereOperator transposed = filter::adjoint(rounded);
  return {std::move(*PsiTables::fromSphere(rounded, valueType)),
          std::move(*PsiTables::fromSphere(transposed, valueType)),
          Operator::fromSphere(rounded), Operator::fromSphere(transposed)};
}

Array disco::test::randomArray(std::mt19937 &random, DType dtype,
                               std::vector<int64_t> shape) {
  Array array = *Array::create(dtype, std::move(shape));
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < array.numElements(); ++i)
    array.set(i, normal(random));
  return array;
}

Array disco::test::nanArray(DType dtype, std::vector<int64_t> shape) {
  Array array = *Array::create(dtype, std::move(shape));
  std::fill(array.bytes.begin(), array.bytes.end(), uint8_t(0xff));
  return array;
}

TestPsi disco::test::pointCase(std::mt19937 &random, PointForm form,
                               int64_t numBasis, int64_t numIn, int64_t numOut,
                               int64_t degree, bool adjoint, DType valueType,
                               DType indexType) {
  const int64_t rows = adjoint ? numIn : numOut;
  const int64_t points = adjoint ? numOut : numIn;
  const reference::OperatorShape shape{numBasis, {points}, {rows}};
  const auto build = [&](const Operator &stored, const auto &tables) {
    Operator applied = adjoint ? stored.transposed() : stored;
    Operator transposed = adjoint ? stored : stored.transposed();
    return TestPsi{tables(adjoint), tables(!adjoint), applied, transposed};
  };
  const auto sizes = [&](bool asAdjoint) {
    return asAdjoint ? std::pair(rows, points) : std::pair(points, rows);
  };
  if (form == PointForm::csr) {
    std::vector<int64_t> columns;
    Array offsets = *Array::create(indexType, {rows + 1});
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t n = below(random, degree + 1); n > 0; --n)
        columns.push_back(below(random, points));
      offsets.set(row + 1, static_cast<double>(columns.size()));
    }
    const auto taps = static_cast<int64_t>(columns.size());
    Array cols = *Array::create(indexType, {taps});
    for (int64_t i = 0; i < taps; ++i)
      cols.set(i, static_cast<double>(columns[i]));
    const Array values = randomArray(random, valueType, {taps, numBasis});
    return build(
        *Operator::fromCsr(shape, offsets, cols, values), [&](bool asAdjoint) {
          const auto [in, out] = sizes(asAdjoint);
          return PsiTables::fromCsr(in, out, offsets, cols, values, asAdjoint);
        });
  }
  Array index = *Array::create(indexType, {rows, degree});
  Array bins = *Array::create(indexType, {rows, degree});
  for (int64_t i = 0; i < rows * degree; ++i) {
    index.set(i, static_cast<double>(below(random, points + 1)));
    bins.set(i, static_cast<double>(below(random, numBasis)));
  }
  if (form == PointForm::oneHot)
    return build(*Operator::fromOneHot(shape, index, bins),
                 [&](bool asAdjoint) {
                   const auto [in, out] = sizes(asAdjoint);
                   return PsiTables::fromOneHot(in, out, index, bins, numBasis,
                                                asAdjoint);
                 });
  const Array values = randomArray(random, valueType, {rows, degree, numBasis});
  return build(*Operator::fromTable(shape, index, values), [&](bool asAdjoint) {
    const auto [in, out] = sizes(asAdjoint);
    return PsiTables::fromTable(in, out, index, values, asAdjoint);
  });
}

std::string disco::test::describe(const ConvCase &c) {
  return "batch " + std::to_string(c.batch) + ", channels " +
         std::to_string(c.channels) + " -> " + std::to_string(c.outChannels) +
         ", groups " + std::to_string(c.groups) + ", " +
         std::string(nameOf(c.dtype)) + "/" +
         std::string(nameOf(c.weightType)) + ", activation " +
         std::to_string(c.activation) + ", order " + std::to_string(c.order) +
         (c.bias ? ", bias" : "") + (c.residual ? ", residual" : "") +
         ", threads " + std::to_string(c.threads) + ", tile " +
         std::to_string(c.tile) + ", channel block " +
         std::to_string(c.channelBlock);
}

std::string disco::test::judge(const Tensor &expected, const Tensor *naive,
                               const Array &actual) {
  if (expected.shape != actual.shape || expected.size() == 0)
    return "compares nothing";
  const double naiveError =
      naive ? reference::compare(expected, *naive).relativeL2 : 0;
  const double bound = reference::errorBound(actual.dtype, naiveError);
  const reference::Difference difference =
      reference::compare(expected, Tensor::from(actual));
  if (difference.within(bound))
    return "";
  return "error " + std::to_string(difference.relativeL2 * 1e6) +
         "e-6 beyond " + std::to_string(bound * 1e6) + "e-6, worst at " +
         reference::describeIndex(difference.worstIndex, expected.shape);
}

static std::vector<int64_t> join(std::vector<int64_t> head,
                                 const std::vector<int64_t> &tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

static disco_kernel_call callOf(int32_t op, const PsiTables &psi,
                                const ConvCase &c) {
  disco_kernel_call call = makeKernelCall(op, psi, c.dtype);
  call.batch = c.batch;
  call.channels = c.channels;
  call.num_threads = c.threads;
  setFields(call, {c.tile, c.channelBlock});
  return call;
}

/// Runs the call with results of NaN, and compares.
template <typename Reference>
static std::string checkResult(disco_kernel_call &call, const ConvCase &c,
                               DType type, Reference &&compute) {
  const Result<Tensor> expected = compute(reference::Precision{});
  if (!expected)
    return expected.message();
  Array y = nanArray(type, expected->shape);
  call.y = y.bytes.data();
  if (Status s = runKernel(*testedFamily, call); !s)
    return s.message();
  if (!reference::needsNaive(type))
    return judge(*expected, nullptr, y);
  const Result<Tensor> naive = compute(reference::Precision{c.dtype});
  const Tensor rounded = naive->rounded(type);
  return judge(*expected, &rounded, y);
}

std::string disco::test::checkContract(std::mt19937 &random, const TestPsi &psi,
                                       const ConvCase &c) {
  const Array x = randomArray(random, c.dtype,
                              join({c.batch, c.channels}, psi.op.shape().in));
  disco_kernel_call call = callOf(DISCO_OP_CONTRACT, psi.tables, c);
  call.x = x.bytes.data();
  return checkResult(call, c, c.dtype, [&](reference::Precision precision) {
    return reference::contract(psi.op, Tensor::from(x), precision);
  });
}

std::string disco::test::checkContractSum(std::mt19937 &random,
                                          const TestPsi &psi,
                                          const ConvCase &c) {
  const Array x = randomArray(
      random, c.dtype,
      join({c.batch, c.channels, psi.op.numBasis()}, psi.op.shape().in));
  disco_kernel_call call = callOf(DISCO_OP_CONTRACT_SUM, psi.tables, c);
  call.x = x.bytes.data();
  return checkResult(call, c, c.dtype, [&](reference::Precision precision) {
    return reference::contractSum(psi.op, Tensor::from(x), precision);
  });
}

static reference::ConvOptions optionsOf(const ConvCase &c) {
  reference::ConvOptions options;
  options.groups = c.groups;
  options.activation = static_cast<reference::Activation>(c.activation);
  options.order = static_cast<reference::Order>(c.order);
  return options;
}

static void setConv(disco_kernel_call &call, const ConvCase &c) {
  call.weight_dtype = static_cast<disco_dtype>(c.weightType);
  call.out_channels = c.outChannels;
  call.groups = c.groups;
  call.activation = c.activation;
  call.schedule.order = c.order;
  call.has_bias = c.bias;
  call.has_residual = c.residual;
}

std::string disco::test::checkConv(std::mt19937 &random, const TestPsi &psi,
                                   const ConvCase &c) {
  const Array x = randomArray(random, c.dtype,
                              join({c.batch, c.channels}, psi.op.shape().in));
  const Array weight =
      randomArray(random, c.weightType,
                  {c.outChannels, c.channels / c.groups, psi.op.numBasis()});
  const Array bias = randomArray(random, c.weightType, {c.outChannels});
  const Array residual = randomArray(
      random, c.dtype, join({c.batch, c.outChannels}, psi.op.shape().out));
  disco_kernel_call call = callOf(DISCO_OP_CONV, psi.tables, c);
  setConv(call, c);
  call.x = x.bytes.data();
  call.weight = weight.bytes.data();
  call.bias = bias.bytes.data();
  call.residual = residual.bytes.data();
  const Tensor biasTensor = Tensor::from(bias);
  const Tensor residualTensor = Tensor::from(residual);
  return checkResult(call, c, c.dtype, [&](reference::Precision precision) {
    return reference::conv(psi.op, Tensor::from(x), Tensor::from(weight),
                           c.bias ? &biasTensor : nullptr,
                           c.residual ? &residualTensor : nullptr, optionsOf(c),
                           precision);
  });
}

std::string disco::test::checkInputGrad(std::mt19937 &random,
                                        const TestPsi &psi, const ConvCase &c) {
  const Array gy = randomArray(
      random, c.dtype, join({c.batch, c.outChannels}, psi.op.shape().out));
  const Array weight =
      randomArray(random, c.weightType,
                  {c.outChannels, c.channels / c.groups, psi.op.numBasis()});
  disco_kernel_call call = callOf(DISCO_OP_CONV, psi.adjointTables, c);
  setConv(call, c);
  call.has_bias = call.has_residual = call.activation = 0;
  call.transpose_weight = 1;
  std::swap(call.channels, call.out_channels);
  call.x = gy.bytes.data();
  call.weight = weight.bytes.data();
  return checkResult(call, c, c.dtype, [&](reference::Precision precision) {
    return reference::convInputGrad(psi.adjointOp, Tensor::from(gy),
                                    Tensor::from(weight), c.groups, precision);
  });
}

std::string disco::test::checkWeightGrad(std::mt19937 &random,
                                         const TestPsi &psi,
                                         const ConvCase &c) {
  const Array x = randomArray(random, c.dtype,
                              join({c.batch, c.channels}, psi.op.shape().in));
  const Array gy = randomArray(
      random, c.dtype, join({c.batch, c.outChannels}, psi.op.shape().out));
  const PsiTables &tables =
      c.order == DISCO_WEIGHT_FIRST ? psi.adjointTables : psi.tables;
  disco_kernel_call call = callOf(DISCO_OP_CONV_WEIGHT_GRAD, tables, c);
  setConv(call, c);
  call.activation = call.has_residual = 0;
  call.has_bias = 1;
  call.x = x.bytes.data();
  call.gy = gy.bytes.data();
  Array bias = nanArray(c.weightType, {c.outChannels});
  call.grad_bias = bias.bytes.data();
  const auto compute = [&](reference::Precision precision) {
    return *reference::convWeightGrad(psi.op, Tensor::from(x), Tensor::from(gy),
                                      c.groups, precision);
  };
  std::string failure =
      checkResult(call, c, c.weightType, [&](reference::Precision precision) {
        return Result<Tensor>(compute(precision).weight);
      });
  if (!failure.empty())
    return failure;
  const Tensor expected = compute({}).bias;
  const Tensor naive =
      compute({c.dtype == DType::f64 ? std::optional<DType>() : c.dtype})
          .bias.rounded(c.weightType);
  failure = judge(expected, &naive, bias);
  return failure.empty() ? "" : "bias: " + failure;
}
