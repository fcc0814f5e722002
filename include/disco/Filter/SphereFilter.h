//===- SphereFilter.h - analytic filters on the sphere ----------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The description of a filter: what the attribute #disco.sphere_filter and
// the command lines of the tools spell. There is one grammar, parsed here:
//
//   filter ::= "#disco."? "sphere_filter" "<" basis "," "[" int ("," int)* "]"
//              ("," option)* ">"
//   option ::= "cutoff" "=" number | "norm" "=" norm
//            | "in" "=" grid | "out" "=" grid | "transpose"
//   grid   ::= "#disco."? "grid" "<" kind "," int "x" int ">"
//
// Each option at most once and in any order; `in` and `out` are required.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_FILTER_SPHEREFILTER_H
#define DISCO_FILTER_SPHEREFILTER_H

#include "disco/Filter/Grid.h"

#include <functional>
#include <optional>

namespace disco::filter {

enum class Basis : uint8_t {
  piecewise_linear,
  harmonic,
  morlet,
  zernike,
  fourier_bessel
};

/// How the K features are scaled, per basis index and output latitude.
enum class Norm : uint8_t { nodal, modal, mean, support, geometric, none };

std::string_view nameOf(Basis basis);
std::string_view nameOf(Norm norm);

/// K localised functions on a disk around each output point, sampled on the
/// input grid. With `transpose`, `in` is the coarse and `out` the fine grid.
struct SphereFilter {
  Basis basis = Basis::harmonic;
  std::vector<int64_t> shape;
  /// Radius of the disk in radians.
  std::optional<double> cutoff;
  Norm norm = Norm::nodal;
  Grid in, out;
  bool transpose = false;

  /// `cutoff`, or else pi / (nlat - 1) of the output grid (of the coarse grid
  /// when transposed).
  double effectiveCutoff() const;

  /// K; 0 for a shape that does not verify.
  int64_t numBasis() const;

  /// The grid whose points carry the disks: `out`, or `in` when transposed.
  const Grid &coarse() const { return transpose ? in : out; }
  /// The grid that is sampled inside the disks: `in`, or `out`.
  const Grid &fine() const { return transpose ? out : in; }
};

bool operator==(const SphereFilter &a, const SphereFilter &b);
inline bool operator!=(const SphereFilter &a, const SphereFilter &b) {
  return !(a == b);
}
size_t hash_value(const SphereFilter &filter);

/// The largest K that is accepted.
constexpr int64_t maxNumBasis = 4096;

/// Arity and ranges of the shape, 0 < cutoff <= pi, both grids, and that nlon
/// of the fine grid is a multiple of nlon of the coarse one.
Status verify(const SphereFilter &filter);

/// Parses and verifies; the whole text must be consumed. Syntax errors name
/// the offset in bytes.
Result<SphereFilter> parseSphereFilter(std::string_view text);

/// The canonical spelling, which parses back to an equal filter: options in
/// the order of the grammar, `norm` always written, numbers in the shortest
/// form that round-trips.
std::string toString(const SphereFilter &filter);

} // namespace disco::filter

template <> struct std::hash<disco::filter::Grid> {
  size_t operator()(const disco::filter::Grid &grid) const {
    return disco::filter::hash_value(grid);
  }
};
template <> struct std::hash<disco::filter::SphereFilter> {
  size_t operator()(const disco::filter::SphereFilter &filter) const {
    return disco::filter::hash_value(filter);
  }
};

#endif // DISCO_FILTER_SPHEREFILTER_H
