//===- Grid.h - latitude-longitude grids on the sphere ----------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The four families of tensor-product grids, their nodes and quadrature
// weights. Latitudes are colatitudes in radians, 0 at the north pole, in
// ascending order (north first); longitude p of nlon is 2 pi p / nlon.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_FILTER_GRID_H
#define DISCO_FILTER_GRID_H

#include "disco/Support/Result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace disco::filter {

enum class GridKind : uint8_t {
  equiangular,
  legendre_gauss,
  lobatto,
  equiangular_trapezoidal
};

/// The word of the grammar, as "legendre_gauss".
std::string_view nameOf(GridKind kind);

struct Grid {
  GridKind kind = GridKind::equiangular;
  int64_t nlat = 0;
  int64_t nlon = 0;

  int64_t numPoints() const { return nlat * nlon; }
};

inline bool operator==(const Grid &a, const Grid &b) {
  return a.kind == b.kind && a.nlat == b.nlat && a.nlon == b.nlon;
}
inline bool operator!=(const Grid &a, const Grid &b) { return !(a == b); }
size_t hash_value(const Grid &grid);

/// The largest nlat that is accepted; nodes cost O(nlat^2) to compute.
constexpr int64_t maxNumLatitudes = 65536;

/// nlat in [2, maxNumLatitudes], nlon >= 1 and nlat * nlon < 2^31.
Status verify(const Grid &grid);

/// Parses and verifies "#disco.grid<legendre_gauss, 360x720>"; "#disco." is
/// optional, and nothing but white space may follow. Syntax errors name the
/// offset in bytes.
Result<Grid> parseGrid(std::string_view text);

/// "#disco.grid<legendre_gauss, 360x720>".
std::string toString(const Grid &grid);

/// Colatitudes [nlat] in radians and quadrature weights [nlat] in cos(theta),
/// which sum to 2.
struct GridNodes {
  std::vector<double> colatitudes;
  std::vector<double> weights;
};

/// The nodes of a grid that verifies.
GridNodes computeNodes(const Grid &grid);

} // namespace disco::filter

#endif // DISCO_FILTER_GRID_H
