//===- Lattice.h - operators in lattice form --------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_CSRGATHER_LATTICE_H
#define DISCO_LIB_RUNTIME_CUDA_CSRGATHER_LATTICE_H

#include "Params.h"

#include "disco/ABI/Kernel.h"

#include <cstddef>
#include <vector>

namespace disco::cuda::csr {

/// A run of taps on a ring, each one point further than the last.
struct LatticeArc {
  int32_t place; ///< of the ring's first point in a plane of x: lat, phi
  int32_t first; ///< point that the first tap reads for out-point 0
  int32_t taps;
  int64_t value; ///< of the first tap, in taps; then every `stride` further
};

/// An operator on a sphere in the form that Params.h describes.
struct Lattice {
  int32_t points = 0, stride = 1, phases = 1;
  int64_t numBasis = 0;
  /// [rows + 1] into arcs; row t * phases + phase.
  std::vector<int32_t> offsets;
  std::vector<LatticeArc> arcs;
  /// Of a row's first out-point, in a plane of y.
  std::vector<int32_t> places;

  int32_t numRows() const { return static_cast<int32_t>(places.size()); }
  int64_t tapsOf(int32_t row) const;
};

/// psi's tables have been checked.
Lattice toLattice(const disco_kernel_psi &psi);

/// psi's value of a tap and feature.
double valueAt(const disco_kernel_psi &psi, int64_t tap, int64_t k);

/// The element type of sums: float or double.
enum class SumType { f32, f64 };
inline int64_t sizeOfSum(SumType type) { return type == SumType::f64 ? 8 : 4; }

/// The tables of contract. Rows are in `blocks` of latitudes, which can be
/// launched apart; the longest come first in each.
struct ContractTables {
  std::vector<Int4> rows, stages, windows;
  std::vector<int32_t> blockOffsets; ///< [blocks + 1] into rows
  std::vector<char> values;
  int32_t tile = 0, kTile = 0, kTiles = 0, numTaps = 0;
  int32_t columns = 0, maxTaps = 0; ///< of a stage, at most
};

/// `tile`: out-points of a block of threads; `blockLatitudes`: 0 for one block.
ContractTables makeContractTables(const disco_kernel_psi &psi,
                                  const Lattice &lattice, SumType type,
                                  int32_t tile, int32_t kTile,
                                  int64_t blockLatitudes);

/// The tables of contract_sum. Groups with most taps come first.
struct ContractSumTables {
  std::vector<Int4> groups, parts, stages;
  std::vector<int32_t> partValues, rowPlaces;
  std::vector<char> values;
  int32_t numSplit = 0; ///< groups that the warps of a block share
  int32_t tile = 0, tiles = 0;
  int32_t maxValueBytes = 0; ///< of a stage and k
};

/// Rows make a group while they have `groupTaps` or fewer together. Groups of
/// more than `splitTaps` are shared by the warps of a block.
struct SumBalance {
  int64_t groupTaps, splitTaps;
};
/// For so many warps that a device holds, and blocks of fields.
SumBalance balanceOf(const Lattice &lattice, int64_t fieldBlocks,
                     int64_t warps);

ContractSumTables makeContractSumTables(const disco_kernel_psi &psi,
                                        const Lattice &lattice, SumType type,
                                        const SumBalance &balance);

/// The taps of every out-point of a point set, in order; adjoint tables
/// transposed, one-hot ones with values.
struct PointTables {
  std::vector<int32_t> offsets, columns;
  std::vector<char> values;
};
PointTables makePointTables(const disco_kernel_psi &psi, SumType type);

} // namespace disco::cuda::csr

#endif // DISCO_LIB_RUNTIME_CUDA_CSRGATHER_LATTICE_H
