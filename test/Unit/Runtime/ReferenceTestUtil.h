//===- ReferenceTestUtil.h - random problems --------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random tensors and operators of every structure.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TEST_UNIT_RUNTIME_REFERENCETESTUTIL_H
#define DISCO_TEST_UNIT_RUNTIME_REFERENCETESTUTIL_H

#include "disco/Filter/SphereOperator.h"
#include "disco/Runtime/Reference.h"

#include <gtest/gtest.h>
#include <random>
#include <string>

namespace disco::reference {

using Random = std::mt19937_64;

inline Tensor randomTensor(std::vector<int64_t> shape, Random &random) {
  std::normal_distribution<double> normal;
  Tensor tensor = Tensor::zeros(std::move(shape));
  for (double &value : tensor.data)
    value = normal(random);
  return tensor;
}

template <typename T>
Array arrayOf(DType dtype, std::vector<int64_t> shape,
              const std::vector<T> &elements) {
  Array array = *Array::create(dtype, std::move(shape));
  EXPECT_EQ(array.numElements(), static_cast<int64_t>(elements.size()));
  for (size_t i = 0; i < elements.size(); ++i)
    array.set(static_cast<int64_t>(i), static_cast<double>(elements[i]));
  return array;
}

/// A neighbour table: every output point has `degree` entries of which `pads`
/// in all are padding. The last output point has nothing but padding; the first
/// has one neighbour twice.
struct Table {
  int64_t numIn, numOut, degree, numBasis;
  std::vector<int64_t> index, bins;
  std::vector<double> values;

  Table(int64_t numIn, int64_t numOut, int64_t degree, int64_t numBasis,
        int64_t pads, Random &random)
      : numIn(numIn), numOut(numOut), degree(degree), numBasis(numBasis) {
    std::uniform_int_distribution<int64_t> point(0, numIn - 1),
        bin(0, numBasis - 1), entry(1, (numOut - 1) * degree - 1);
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < numOut * degree; ++i) {
      index.push_back(point(random));
      bins.push_back(bin(random));
    }
    for (int64_t i = 0; i < numOut * degree * numBasis; ++i)
      values.push_back(normal(random));
    index[1] = index[0];
    bins[1] = bins[0]; // for one-hot values: a repeated bin as well
    for (int64_t i = 0; i < degree; ++i)
      index[(numOut - 1) * degree + i] = numIn;
    for (int64_t placed = degree; placed < pads;) {
      int64_t &at = index[entry(random)];
      if (&at != &index[1] && at != numIn) {
        at = numIn;
        ++placed;
      }
    }
  }

  OperatorShape shape() const { return {numBasis, {numIn}, {numOut}}; }
  Array indexArray() const {
    return arrayOf(DType::i32, {numOut, degree}, index);
  }
  Array binArray() const { return arrayOf(DType::i64, {numOut, degree}, bins); }
  Array valueArray() const {
    return arrayOf(DType::f64, {numOut, degree, numBasis}, values);
  }
  Operator dense() const {
    return *Operator::fromTable(shape(), indexArray(), valueArray());
  }
  Operator oneHot() const {
    return *Operator::fromOneHot(shape(), indexArray(), binArray());
  }
  /// The same taps as compressed rows.
  Operator csr() const {
    std::vector<int64_t> offsets = {0}, cols;
    std::vector<double> kept;
    for (int64_t i = 0; i < numOut * degree; ++i) {
      if (index[i] < numIn) {
        cols.push_back(index[i]);
        kept.insert(kept.end(), values.begin() + i * numBasis,
                    values.begin() + (i + 1) * numBasis);
      }
      if ((i + 1) % degree == 0)
        offsets.push_back(static_cast<int64_t>(cols.size()));
    }
    const auto taps = static_cast<int64_t>(cols.size());
    return *Operator::fromCsr(shape(),
                              arrayOf(DType::i64, {numOut + 1}, offsets),
                              arrayOf(DType::i32, {taps}, cols),
                              arrayOf(DType::f64, {taps, numBasis}, kept));
  }
  /// psi[k, n, m], dense, from the table's own meaning.
  std::vector<double> matrix(bool useBins) const {
    std::vector<double> result(static_cast<size_t>(numBasis * numOut * numIn));
    for (int64_t n = 0; n < numOut; ++n)
      for (int64_t d = 0; d < degree; ++d) {
        const int64_t at = n * degree + d;
        if (index[at] == numIn)
          continue;
        for (int64_t k = 0; k < numBasis; ++k)
          result[(k * numOut + n) * numIn + index[at]] +=
              useBins ? (bins[at] == k ? 1.0 : 0.0) : values[at * numBasis + k];
      }
    return result;
  }
};

inline filter::SphereOperator sphere(const std::string &text) {
  Result<filter::SphereFilter> filter = filter::parseSphereFilter(text);
  EXPECT_TRUE(filter.ok()) << filter.message();
  Result<filter::SphereOperator> op = filter::buildOperator(*filter);
  EXPECT_TRUE(op.ok()) << op.message();
  return *op;
}

inline const char *const sphereFilters[] = {
    // the same grid, downsampling, and upsampling
    "#disco.sphere_filter<harmonic, [2, 2], cutoff = 0.5, norm = mean, in = "
    "#disco.grid<legendre_gauss, 8x16>, out = #disco.grid<legendre_gauss, "
    "8x16>>",
    "#disco.sphere_filter<piecewise_linear, [3, 4], cutoff = 0.6, norm = "
    "nodal, in = #disco.grid<equiangular, 13x24>, out = #disco.grid<lobatto, "
    "6x8>>",
    "#disco.sphere_filter<harmonic, [3, 3], cutoff = 0.7, norm = support, in = "
    "#disco.grid<legendre_gauss, 6x8>, out = #disco.grid<equiangular, 13x24>, "
    "transpose>"};

inline double dot(const Tensor &a, const Tensor &b) {
  EXPECT_EQ(a.shape, b.shape);
  long double sum = 0;
  for (size_t i = 0; i < a.data.size(); ++i)
    sum += static_cast<long double>(a.data[i]) * b.data[i];
  return static_cast<double>(sum);
}

inline double norm(const Tensor &a) { return std::sqrt(dot(a, a)); }

/// ||a - b|| / ||b||.
inline double relativeError(const Tensor &a, const Tensor &b) {
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_FALSE(b.data.empty());
  Tensor difference = a;
  for (size_t i = 0; i < a.data.size(); ++i)
    difference.data[i] -= b.data[i];
  return norm(difference) / norm(b);
}

} // namespace disco::reference

#endif // DISCO_TEST_UNIT_RUNTIME_REFERENCETESTUTIL_H
