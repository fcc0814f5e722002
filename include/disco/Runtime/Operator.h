//===- Operator.h - psi as K gathers ----------------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The filter operator psi as the reference engine applies it: K linear maps
// from a field on the input points to fields on the output points, as a gather.
// It is built from any storage form, by the semantics in disco/ABI/Probe.h.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_RUNTIME_OPERATOR_H
#define DISCO_RUNTIME_OPERATOR_H

#include "disco/Support/Npy.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace disco {
namespace filter {
struct SphereOperator;
} // namespace filter

namespace reference {

/// K, and the shapes of the input and output points ([nlat, nlon] or [n]).
struct OperatorShape {
  int64_t numBasis = 0;
  std::vector<int64_t> in, out;

  int64_t numIn() const;
  int64_t numOut() const;
};

/// Non-negative sizes whose products fit, at least one dimension each, K >= 1.
Status verify(const OperatorShape &shape);

class Operator {
public:
  /// The storage forms of disco/ABI/Probe.h. Every offset and index is checked;
  /// the message names the first that is wrong.
  static Result<Operator> fromArcs(const OperatorShape &shape,
                                   const Array &offsets, const Array &arcs,
                                   const Array &values);
  static Result<Operator> fromCsr(const OperatorShape &shape,
                                  const Array &offsets, const Array &cols,
                                  const Array &values);
  static Result<Operator> fromTable(const OperatorShape &shape,
                                    const Array &index, const Array &values);
  static Result<Operator> fromOneHot(const OperatorShape &shape,
                                     const Array &index, const Array &bins);
  static Operator fromSphere(const filter::SphereOperator &sphere);

  /// Each of the K maps transposed. A row of the result sums its taps in the
  /// order (output point, tap), as a scatter of this operator would.
  Operator transposed() const;

  /// With all values rounded to `dtype`.
  Operator rounded(DType dtype) const;

  const OperatorShape &shape() const { return dims; }
  int64_t numBasis() const { return dims.numBasis; }
  int64_t numIn() const { return inPoints; }
  int64_t numOut() const { return outPoints; }

  /// Calls visit(input point, values[K]) for every tap of an output point.
  template <typename Visit> void forEachTap(int64_t row, Visit &&visit) const {
    if (stride > 0)
      forEachArcTap(row, visit);
    else
      for (int64_t tap = offsets[row]; tap < offsets[row + 1]; ++tap)
        visit(cols[tap], values.data() + valueRows[tap] * dims.numBasis);
  }

private:
  struct Arc {
    int64_t lat, lonStart, length, valueOffset;
  };

  explicit Operator(const OperatorShape &shape)
      : dims(shape), inPoints(shape.numIn()), outPoints(shape.numOut()) {}

  /// Adds the taps of a table; valueRow(i) says where entry i has its values.
  Status readTable(const Array &index,
                   const std::function<Result<int64_t>(int64_t)> &valueRow);

  template <typename Visit>
  void forEachArcTap(int64_t row, Visit &&visit) const {
    const int64_t nlonIn = dims.in[1], nlonOut = dims.out[1];
    const int64_t t = row / nlonOut, w = row % nlonOut;
    const int64_t arcRow = t * phases + w % phases;
    const int64_t shift = stride * (w / phases);
    for (int64_t a = offsets[arcRow]; a < offsets[arcRow + 1]; ++a) {
      const Arc &arc = arcs[a];
      int64_t lon = (arc.lonStart + shift) % nlonIn;
      const double *value = values.data() + arc.valueOffset * dims.numBasis;
      for (int64_t u = 0; u < arc.length; ++u, value += dims.numBasis) {
        visit(arc.lat * nlonIn + lon, value);
        lon = lon + 1 == nlonIn ? 0 : lon + 1;
      }
    }
  }

  OperatorShape dims;
  int64_t inPoints, outPoints;
  /// Arcs: offsets [nlatOut * phases + 1] into `arcs`. Otherwise stride is 0,
  /// and offsets [numOut + 1] are into `cols` and `valueRows`.
  int64_t stride = 0, phases = 1;
  std::vector<int64_t> offsets;
  std::vector<Arc> arcs;
  std::vector<int64_t> cols, valueRows;
  std::vector<double> values; // [.., K]
};

} // namespace reference
} // namespace disco

#endif // DISCO_RUNTIME_OPERATOR_H
