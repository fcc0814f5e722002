/*===- CsrGatherMix.h - the channel mix of csr_gather ---------------*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * The tiles of the matrix products of conv and conv_weight_grad. A unit test
 * compares them with those that the kernels are built from.
 *
 *===------------------------------------------------------------------------===*/

#ifndef DISCO_ABI_FAMILIES_CSRGATHERMIX_H
#define DISCO_ABI_FAMILIES_CSRGATHERMIX_H

#include <stdint.h>

enum {
  DISCO_CSR_GATHER_MIX_THREADS = 256,
  /** Products of at most so many rows have flat tiles. */
  DISCO_CSR_GATHER_FLAT_MAX_ROWS = 32,
  /** Lines of operands and of the K-expanded tensor are padded to so many
   * elements. */
  DISCO_CSR_GATHER_LINE_ELEMENTS = 8,
  /** conv_weight_grad: blocks of threads for each multiprocessor, and parts of
   * the sum at most. */
  DISCO_CSR_GATHER_GRADIENT_BLOCKS = 2,
  DISCO_CSR_GATHER_GRADIENT_PARTS = 256
};

/** Rows and columns of the result that a block of threads computes. */
static inline int64_t disco_csr_gather_mix_rows(int is_flat) {
  return is_flat ? 16 : 128;
}
static inline int64_t disco_csr_gather_mix_columns(int element_bytes,
                                                   int is_flat) {
  return is_flat ? 256 : element_bytes == 8 ? 64 : 128;
}
/** Steps of the sum that are in shared memory at a time, and how many such. */
static inline int64_t disco_csr_gather_mix_depth(int element_bytes) {
  return element_bytes == 8 ? 8 : element_bytes == 4 ? 16 : 32;
}
static inline int64_t disco_csr_gather_mix_stages(int element_bytes) {
  return element_bytes == 2 ? 3 : 2;
}

/** Waves of blocks of threads, of which `slots` run at a time, that the product
 * of so many points takes. A column of tiles has `row_tiles`. */
static inline int64_t disco_csr_gather_mix_waves(int64_t points,
                                                 int64_t row_tiles,
                                                 int64_t tile_columns,
                                                 int64_t slots) {
  const int64_t tiles =
      row_tiles * ((points + tile_columns - 1) / tile_columns);
  return (tiles + slots - 1) / slots;
}

/** conv with the filter first: how many of `rows` rows (latitudes of `points`
 * points, or points) a block of them has, in steps of `step` from `most` down,
 * so that the products of all blocks, which run one after the other, take the
 * fewest waves. More blocks than twice as many would be slow for other reasons.
 */
static inline int64_t
disco_csr_gather_balanced_rows(int64_t rows, int64_t points, int64_t most,
                               int64_t step, int64_t row_tiles,
                               int64_t tile_columns, int64_t slots) {
  int64_t best = most, best_waves = INT64_MAX;
  for (int64_t n = most; 2 * n >= most && n > 0; n -= step) {
    const int64_t waves =
        rows / n *
            disco_csr_gather_mix_waves(n * points, row_tiles, tile_columns,
                                       slots) +
        disco_csr_gather_mix_waves(rows % n * points, row_tiles, tile_columns,
                                   slots);
    if (waves < best_waves) {
      best = n;
      best_waves = waves;
    }
  }
  return best;
}

#endif /* DISCO_ABI_FAMILIES_CSRGATHERMIX_H */
