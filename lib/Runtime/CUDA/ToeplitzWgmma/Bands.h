//===- Bands.h - psi as banded Toeplitz matrices ----------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For T consecutive longitudes of an output row, psi is a banded Toeplitz
// matrix A times a rectangle of x, because the taps of a row on a ring are one
// arc. Rows of A and columns, for a ring whose arc (of all rows in a block and
// all their phases) has n taps:
//
//   row m     (plane q, longitude t < T, phase p) = q Te + t phases + p,
//             Te = T phases; a plane is a feature k (contract) or an output
//             latitude of a block of R (contract_sum)
//   column u  point start + u of the ring, u < n + stride (T - 1)
//
//                u  0 1 2 3 4 5 6          (n = 3, stride 1, T = 4)
//       A  t = 0    a b c . . . .
//          t = 1    . a b c . . .
//          t = 2    . . a b c . .
//          t = 3    . . . a b c .
//
// In contract_sum the features are part of the reduction: a ring is one
// latitude of one feature. A arc that would reach around the ring is folded to
// exactly one turn. Columns of a ring are padded to blocks of 8; two blocks, of
// the same or of two rings, are a step of the tensor cores. The steps of a
// block of rows are cut into pieces, each of which fits into a stage of the
// kernel's pipeline:
//
//   band of a piece (bytes)
//   0     header   128: steps, flags, first output latitude, planes, then for
//                  each step the points of its two blocks in the slab
//   128   step 0   2048: [2 blocks][8 groups of rows][8 rows][8 columns]
//   ...
//
//   slab of a piece: the windows of its rings one after another. Group g of T
//   longitudes reads block u at point u + g T stride of a window, so a window
//   of c columns has c + (G - 1) T stride points.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_BANDS_H
#define DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_BANDS_H

#include "Params.h"

#include "disco/ABI/Kernel.h"
#include "disco/Support/DType.h"
#include "disco/Support/Result.h"

#include <vector>

namespace disco::toeplitz_wgmma {

/// The fields of a schedule; 0 leaves the choice to buildBands.
struct Choice {
  int64_t rows = 0, groups = 0, stages = 0;
};

/// psi as the kernel reads it.
struct Bands {
  Shape shape = {};
  std::vector<uint8_t> bands;
  std::vector<Piece> pieces;
  std::vector<Window> windows;
  /// The pieces of block i are blockPieces[i] ... blockPieces[i + 1] - 1.
  std::vector<uint32_t> blockPieces;
  /// Blocks of rows in the order in which they are computed.
  std::vector<uint32_t> order;
};

/// Packs psi, whose form is arcs and whose tables have been checked, for
/// contract or contract_sum (`sum`), values rounded to `type` (f16 or bf16).
/// Errors: more than 64 rows of A for one longitude, or a choice that does not
/// fit into shared memory.
Result<Bands> buildBands(const disco_kernel_psi &psi, bool sum, DType type,
                         const Choice &choice);

} // namespace disco::toeplitz_wgmma

#endif // DISCO_LIB_RUNTIME_CUDA_TOEPLITZWGMMA_BANDS_H
