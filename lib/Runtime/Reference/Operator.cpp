//===- Operator.cpp - psi as K gathers ------------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Runtime/Operator.h"

#include "disco/Filter/SphereOperator.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace disco::reference {

static int64_t product(const std::vector<int64_t> &dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t(1),
                         std::multiplies<>());
}

int64_t OperatorShape::numIn() const { return product(in); }
int64_t OperatorShape::numOut() const { return product(out); }

Status verify(const OperatorShape &shape) {
  if (shape.numBasis < 1)
    return Error{"expected psi to have at least 1 basis function, but got " +
                 std::to_string(shape.numBasis)};
  for (const auto *dims : {&shape.in, &shape.out}) {
    const char *name = dims == &shape.in ? "input" : "output";
    if (dims->empty())
      return Error{std::string("expected psi's ") + name +
                   " points to have at least 1 dimension, but got 0"};
    int64_t count = 1;
    for (int64_t dim : *dims) {
      if (dim < 0)
        return Error{std::string("expected psi's ") + name +
                     " points to have non-negative dimensions, but got " +
                     std::to_string(dim)};
      // K features of 8 bytes a point must stay addressable as well.
      if (__builtin_mul_overflow(count, dim, &count) ||
          count > (int64_t(1) << 40))
        return Error{std::string("expected psi's ") + name +
                     " points to be at most 2^40, but they are more"};
    }
  }
  return {};
}

namespace {

using Shape = std::vector<int64_t>;

Status checkOperand(const char *name, const Array &array, const Shape &shape,
                    bool integers) {
  if (isFloat(array.dtype) == integers)
    return Error{std::string("expected psi's ") + name + " to be of " +
                 (integers ? "an integer" : "a floating-point") +
                 " type, but got " + std::string(nameOf(array.dtype))};
  if (array.shape != shape)
    return Error{std::string("expected psi's ") + name + " to be " +
                 describe(array.dtype, shape) + ", but got " +
                 describe(array.dtype, array.shape)};
  return {};
}

int64_t leading(const Array &array) {
  return array.shape.empty() ? 0 : array.shape[0];
}

int64_t integerAt(const Array &array, int64_t index) {
  if (array.dtype == DType::i64)
    return reinterpret_cast<const int64_t *>(array.bytes.data())[index];
  return reinterpret_cast<const int32_t *>(array.bytes.data())[index];
}

std::vector<double> valuesOf(const Array &array) {
  std::vector<double> values(static_cast<size_t>(array.numElements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = array.at(static_cast<int64_t>(i));
  return values;
}

Error outOfRange(const std::string &what, int64_t limit, int64_t got) {
  return Error{"expected " + what + " to be in [0, " + std::to_string(limit) +
               "), but got " + std::to_string(got)};
}

/// "[3, 1]" for an entry of a table with `degree` columns.
std::string describeEntry(int64_t at, int64_t degree) {
  return "[" + std::to_string(at / degree) + ", " +
         std::to_string(at % degree) + "]";
}

/// Whether a psi without taps is stored: constants need an element, so that
/// its tables have one row of zeros, which no offset reaches.
bool isPadded(const std::vector<int64_t> &offsets, int64_t rows, int64_t taps) {
  return rows == 1 && taps == 1 && !offsets.empty() && offsets.back() == 0;
}

/// Offsets that start at 0, never decrease and end at `total`, the rows of the
/// table that they index; those of a padded psi of `taps` rows end at 0.
Result<std::vector<int64_t>> readOffsets(const Array &array, int64_t total,
                                         int64_t taps) {
  std::vector<int64_t> offsets(static_cast<size_t>(leading(array)));
  for (size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] = integerAt(array, static_cast<int64_t>(i));
    const int64_t low = i == 0 ? 0 : offsets[i - 1];
    if (offsets[i] < low || offsets[i] > (i == 0 ? 0 : total))
      return Error{"expected psi's offset " + std::to_string(i) +
                   " to be in [" + std::to_string(low) + ", " +
                   std::to_string(i == 0 ? 0 : total) + "], but got " +
                   std::to_string(offsets[i])};
  }
  if (!offsets.empty() && offsets.back() != total &&
      !isPadded(offsets, total, taps))
    return Error{"expected psi's last offset to be " + std::to_string(total) +
                 ", but got " + std::to_string(offsets.back())};
  return offsets;
}

} // namespace

Result<Operator> Operator::fromArcs(const OperatorShape &shape,
                                    const Array &offsets, const Array &arcs,
                                    const Array &values) {
  if (Status s = verify(shape); !s)
    return s.error();
  if (shape.in.size() != 2 || shape.out.size() != 2)
    return Error{"expected psi with arcs to map between grids of 2 dimensions, "
                 "but got " +
                 std::to_string(shape.in.size()) + " and " +
                 std::to_string(shape.out.size())};
  const int64_t nlonIn = shape.in[1], nlonOut = shape.out[1];
  if (nlonIn < 1 || nlonOut < 1 ||
      (nlonIn % nlonOut != 0 && nlonOut % nlonIn != 0))
    return Error{"expected one nlon of psi to divide the other, but got " +
                 std::to_string(nlonIn) + " and " + std::to_string(nlonOut)};
  Operator op(shape);
  op.stride = nlonIn % nlonOut == 0 ? nlonIn / nlonOut : 1;
  op.phases = nlonIn % nlonOut == 0 ? 1 : nlonOut / nlonIn;
  const int64_t rows = shape.out[0] * op.phases;
  const int64_t numArcs = leading(arcs), taps = leading(values);
  if (Status s = checkOperand("offsets", offsets, {rows + 1}, true); !s)
    return s.error();
  if (Status s = checkOperand("arcs", arcs, {numArcs, 4}, true); !s)
    return s.error();
  if (Status s = checkOperand("values", values, {taps, shape.numBasis}, false);
      !s)
    return s.error();
  Result<std::vector<int64_t>> read = readOffsets(offsets, numArcs, taps);
  if (!read)
    return read.error();
  op.offsets = std::move(*read);
  for (int64_t i = 0; i < numArcs; ++i) {
    const Arc arc{integerAt(arcs, 4 * i), integerAt(arcs, 4 * i + 1),
                  integerAt(arcs, 4 * i + 2), integerAt(arcs, 4 * i + 3)};
    const std::string name = "of psi's arc " + std::to_string(i);
    if (arc.lat < 0 || arc.lat >= shape.in[0])
      return outOfRange("latitude " + name, shape.in[0], arc.lat);
    if (arc.lonStart < 0 || arc.lonStart >= nlonIn)
      return outOfRange("start " + name, nlonIn, arc.lonStart);
    if (arc.length < 0 || arc.length > nlonIn)
      return outOfRange("length " + name, nlonIn + 1, arc.length);
    if (arc.valueOffset < 0 || arc.valueOffset > taps - arc.length)
      return outOfRange("value offset " + name, taps - arc.length + 1,
                        arc.valueOffset);
    op.arcs.push_back(arc);
  }
  op.values = valuesOf(values);
  return op;
}

Result<Operator> Operator::fromCsr(const OperatorShape &shape,
                                   const Array &offsets, const Array &cols,
                                   const Array &values) {
  if (Status s = verify(shape); !s)
    return s.error();
  Operator op(shape);
  const int64_t taps = leading(cols);
  if (Status s = checkOperand("offsets", offsets, {op.numOut() + 1}, true); !s)
    return s.error();
  if (Status s = checkOperand("columns", cols, {taps}, true); !s)
    return s.error();
  if (Status s = checkOperand("values", values, {taps, shape.numBasis}, false);
      !s)
    return s.error();
  Result<std::vector<int64_t>> read = readOffsets(offsets, taps, taps);
  if (!read)
    return read.error();
  op.offsets = std::move(*read);
  // Padding has column 0 even where there are no points.
  const int64_t numCols = isPadded(op.offsets, taps, taps)
                              ? std::max<int64_t>(op.numIn(), 1)
                              : op.numIn();
  for (int64_t i = 0; i < taps; ++i) {
    const int64_t col = integerAt(cols, i);
    if (col < 0 || col >= numCols)
      return outOfRange("psi's column " + std::to_string(i), numCols, col);
    op.cols.push_back(col);
    op.valueRows.push_back(i);
  }
  op.values = valuesOf(values);
  return op;
}

Status
Operator::readTable(const Array &index,
                    const std::function<Result<int64_t>(int64_t)> &valueRow) {
  const int64_t degree = index.shape.size() == 2 ? index.shape[1] : 0;
  if (Status s = checkOperand("index", index, {numOut(), degree}, true); !s)
    return s;
  offsets.push_back(0);
  for (int64_t i = 0; i < numOut(); ++i) {
    for (int64_t at = i * degree; at < (i + 1) * degree; ++at) {
      const int64_t col = integerAt(index, at);
      // numIn itself marks padding.
      if (col < 0 || col > numIn())
        return outOfRange("psi's index " + describeEntry(at, degree),
                          numIn() + 1, col);
      if (col == numIn())
        continue;
      Result<int64_t> row = valueRow(at);
      if (!row)
        return row.error();
      cols.push_back(col);
      valueRows.push_back(*row);
    }
    offsets.push_back(static_cast<int64_t>(cols.size()));
  }
  return {};
}

Result<Operator> Operator::fromTable(const OperatorShape &shape,
                                     const Array &index, const Array &values) {
  if (Status s = verify(shape); !s)
    return s.error();
  Operator op(shape);
  std::vector<int64_t> expected = index.shape;
  expected.push_back(shape.numBasis);
  if (Status s = checkOperand("values", values, expected, false); !s)
    return s.error();
  if (Status s = op.readTable(index, [](int64_t at) { return at; }); !s)
    return s.error();
  op.values = valuesOf(values);
  return op;
}

Result<Operator> Operator::fromOneHot(const OperatorShape &shape,
                                      const Array &index, const Array &bins) {
  if (Status s = verify(shape); !s)
    return s.error();
  Operator op(shape);
  if (Status s = checkOperand("bins", bins, index.shape, true); !s)
    return s.error();
  const int64_t numBasis = shape.numBasis;
  const auto bin = [&](int64_t at) -> Result<int64_t> {
    const int64_t k = integerAt(bins, at);
    if (k < 0 || k >= numBasis)
      return outOfRange("psi's bin " + describeEntry(at, index.shape[1]),
                        numBasis, k);
    return k;
  };
  if (Status s = op.readTable(index, bin); !s)
    return s.error();
  // Bin k takes row k of the identity.
  op.values.assign(static_cast<size_t>(numBasis * numBasis), 0.0);
  for (int64_t k = 0; k < numBasis; ++k)
    op.values[k * numBasis + k] = 1.0;
  return op;
}

Operator Operator::fromSphere(const filter::SphereOperator &sphere) {
  OperatorShape shape{sphere.numBasis,
                      {sphere.nlatIn, sphere.nlonIn},
                      {sphere.nlatOut, sphere.nlonOut}};
  Operator op(shape);
  op.stride = sphere.stride;
  op.phases = sphere.phases;
  op.offsets.assign(sphere.rowOffsets.begin(), sphere.rowOffsets.end());
  for (const filter::Arc &arc : sphere.arcs)
    op.arcs.push_back({arc.lat, arc.lonStart, arc.length, arc.valueOffset});
  op.values = sphere.values;
  return op;
}

Operator Operator::transposed() const {
  Operator result({dims.numBasis, dims.out, dims.in});
  result.values = values;
  // A counting sort by column keeps the order (output point, tap).
  result.offsets.assign(static_cast<size_t>(inPoints + 1), 0);
  for (int64_t row = 0; row < outPoints; ++row)
    forEachTap(row,
               [&](int64_t col, const double *) { ++result.offsets[col + 1]; });
  std::partial_sum(result.offsets.begin(), result.offsets.end(),
                   result.offsets.begin());
  result.cols.resize(static_cast<size_t>(result.offsets.back()));
  result.valueRows.resize(result.cols.size());
  std::vector<int64_t> next(result.offsets.begin(), result.offsets.end() - 1);
  for (int64_t row = 0; row < outPoints; ++row)
    forEachTap(row, [&](int64_t col, const double *value) {
      const int64_t at = next[col]++;
      result.cols[at] = row;
      result.valueRows[at] = (value - values.data()) / dims.numBasis;
    });
  return result;
}

Operator Operator::rounded(DType dtype) const {
  Operator result = *this;
  for (double &value : result.values)
    value = roundTo(dtype, value);
  return result;
}

} // namespace disco::reference
