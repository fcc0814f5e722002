/*===- ToeplitzWgmma.h - schedules of toeplitz_wgmma ----------------*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * The fields of the family's schedules. 0 in any of them leaves the choice to
 * the family.
 *
 *===------------------------------------------------------------------------===*/

#ifndef DISCO_ABI_FAMILIES_TOEPLITZWGMMA_H
#define DISCO_ABI_FAMILIES_TOEPLITZWGMMA_H

enum {
  /** Output latitudes in the rows of a tensor tile, where features lie in the
   * reduction (contract_sum): 1, 2, 4, 8 or 16. */
  DISCO_TOEPLITZ_WGMMA_ROWS = 0,
  /** Groups of T longitudes of a tile, at most: the kernels have 18, 9, 4, 2 or
   * 1, of which the largest that is not above is used. */
  DISCO_TOEPLITZ_WGMMA_LON_GROUPS = 1,
  /** Stages of the pipeline, at most: fewer where slabs are wide. */
  DISCO_TOEPLITZ_WGMMA_STAGES = 2
};

#endif /* DISCO_ABI_FAMILIES_TOEPLITZWGMMA_H */
