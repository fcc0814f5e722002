/*===- ToeplitzWgmma.h - schedules of toeplitz_wgmma ----------------*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * The fields of the family's schedules, and the sizes that planning and the
 * kernels both know. 0 in a field leaves the choice to the family; any other
 * value is used as it is or is an error.
 *
 *===------------------------------------------------------------------------===*/

#ifndef DISCO_ABI_FAMILIES_TOEPLITZWGMMA_H
#define DISCO_ABI_FAMILIES_TOEPLITZWGMMA_H

#include <stdint.h>

enum {
  /** Output latitudes in the rows of a tensor tile, where features lie in the
   * reduction (contract_sum): one of ..._ROW_CHOICES. 1 in contract. */
  DISCO_TOEPLITZ_WGMMA_ROWS = 0,
  /** Groups of T longitudes of a tile: one of ..._GROUP_CHOICES. */
  DISCO_TOEPLITZ_WGMMA_LON_GROUPS = 1,
  /** Stages of the pipeline, each a band and a slab for each warpgroup:
   * ..._MIN_STAGES to ..._MAX_STAGES, as far as slabs fit. */
  DISCO_TOEPLITZ_WGMMA_STAGES = 2
};

#define DISCO_TOEPLITZ_WGMMA_ROW_CHOICES {1, 2, 4, 8, 16}
#define DISCO_TOEPLITZ_WGMMA_GROUP_CHOICES {18, 9, 4, 2, 1}

enum {
  DISCO_TOEPLITZ_WGMMA_MIN_STAGES = 2,
  DISCO_TOEPLITZ_WGMMA_MAX_STAGES = 8,
  /** What the family chooses, where it fits. */
  DISCO_TOEPLITZ_WGMMA_BEST_STAGES = 3,
  /** A product is [rows of A, columns of a step] by [columns of a step, groups
   * x channels]; arcs are padded to blocks of columns. */
  DISCO_TOEPLITZ_WGMMA_TILE_ROWS = 64,
  DISCO_TOEPLITZ_WGMMA_STEP_COLUMNS = 16,
  DISCO_TOEPLITZ_WGMMA_BLOCK_COLUMNS = 8,
  DISCO_TOEPLITZ_WGMMA_CHANNELS = 8,
  /** Warpgroups that compute, each a tile of its own with the same band. */
  DISCO_TOEPLITZ_WGMMA_MATH_GROUPS = 3,
  DISCO_TOEPLITZ_WGMMA_THREADS = 512,
  DISCO_TOEPLITZ_WGMMA_REGISTERS = 128,
  /** Steps of a band at most. */
  DISCO_TOEPLITZ_WGMMA_BAND_STEPS = 8,
  DISCO_TOEPLITZ_WGMMA_STEP_BYTES = 64 * 16 * 2,
  DISCO_TOEPLITZ_WGMMA_HEADER_BYTES = 128,
  /** A point of CHANNELS channels. */
  DISCO_TOEPLITZ_WGMMA_POINT_BYTES = 16,
  /** Shared memory of a CTA on sm_90, less what the barriers take. */
  DISCO_TOEPLITZ_WGMMA_SMEM_BYTES = 232448 - 1024
};

/** Points of shared memory from one plane of results to the next. In c8
 * (`blocked`) 8 rows of A are in different banks, also where they belong to two
 * planes. */
static inline int32_t disco_toeplitz_wgmma_pitch(int32_t groups,
                                                 int32_t group_points,
                                                 int32_t blocked) {
  const int32_t points = groups * group_points;
  const int32_t residue = blocked ? group_points % 8 : 0;
  return points + (residue - points % 8 + 8) % 8;
}

/** Bytes of the results of one tile, whose groups have `group_points` points,
 * those of all phases. */
static inline int32_t disco_toeplitz_wgmma_result_bytes(int32_t groups,
                                                        int32_t group_points) {
  /* Rows of A that are not used go to planes beyond; loads of 32 points at once
   * reach past a plane. */
  const int32_t planes =
      (DISCO_TOEPLITZ_WGMMA_TILE_ROWS + group_points - 1) / group_points;
  const int32_t nchw = disco_toeplitz_wgmma_pitch(groups, group_points, 0);
  const int32_t c8 = disco_toeplitz_wgmma_pitch(groups, group_points, 1);
  const int32_t points = planes * (nchw > c8 ? nchw : c8) + 32;
  return (points * DISCO_TOEPLITZ_WGMMA_POINT_BYTES + 127) / 128 * 128;
}

/** Bytes of a slab when shared memory is shared out to so many stages: 0 or
 * less where there is none. */
static inline int32_t disco_toeplitz_wgmma_slab_bytes(int32_t groups,
                                                      int32_t group_points,
                                                      int32_t stages) {
  const int32_t results =
      DISCO_TOEPLITZ_WGMMA_MATH_GROUPS *
      disco_toeplitz_wgmma_result_bytes(groups, group_points);
  const int32_t band =
      DISCO_TOEPLITZ_WGMMA_HEADER_BYTES +
      DISCO_TOEPLITZ_WGMMA_BAND_STEPS * DISCO_TOEPLITZ_WGMMA_STEP_BYTES;
  const int32_t slabs =
      (DISCO_TOEPLITZ_WGMMA_SMEM_BYTES - results) / stages - band;
  return slabs / DISCO_TOEPLITZ_WGMMA_MATH_GROUPS / 128 * 128;
}

/** Points of x of a window of shared memory beyond its columns of A: what the
 * last group begins after the first. */
static inline int64_t
disco_toeplitz_wgmma_halo(int32_t groups, int32_t longitudes, int64_t stride) {
  return (int64_t)(groups - 1) * longitudes * stride;
}

/** Points that a slab must have: one block of columns. */
static inline int64_t disco_toeplitz_wgmma_least_points(int32_t groups,
                                                        int32_t longitudes,
                                                        int64_t stride) {
  return disco_toeplitz_wgmma_halo(groups, longitudes, stride) +
         DISCO_TOEPLITZ_WGMMA_BLOCK_COLUMNS;
}

#endif /* DISCO_ABI_FAMILIES_TOEPLITZWGMMA_H */
