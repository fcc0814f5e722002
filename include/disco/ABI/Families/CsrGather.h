/*===- CsrGather.h - schedules of csr_gather ------------------------*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * The fields of the family's schedules, which planning scores and the kernels
 * read, and what there are kernels for. 0 in any of them leaves the choice to
 * the family. A field is a sample and channel.
 *
 * The filter is applied as contract (contract, conv with the filter first,
 * conv_weight_grad) or as contract_sum (contract_sum, conv with the weight
 * first).
 *
 *===------------------------------------------------------------------------===*/

#ifndef DISCO_ABI_FAMILIES_CSRGATHER_H
#define DISCO_ABI_FAMILIES_CSRGATHER_H

#include <stdint.h>

enum {
  /** Fields of a block of threads (contract, points) or of a warp
   * (contract_sum). */
  DISCO_CSR_GATHER_FIELDS = 0,
  /** Features that a thread of contract on a sphere sums at a time; 0 for what
   * else there is. */
  DISCO_CSR_GATHER_FEATURES = 1,
  /** MiB of the K-expanded tensor between filter and matrix product, unless one
   * row (or channel) needs more; 0 without a matrix product. */
  DISCO_CSR_GATHER_BLOCK_MIB = 2,
  DISCO_CSR_GATHER_NUM_FIELDS = 3
};

enum {
  DISCO_CSR_GATHER_DEFAULT_BLOCK_MIB = 192,
  DISCO_CSR_GATHER_MAX_BLOCK_MIB = 4096,
  /** contract on a sphere: longitudes of a block, one a thread. */
  DISCO_CSR_GATHER_LONGITUDES = 128,
  /** contract_sum on a sphere: longitudes of a thread, rows of a warp at most,
   * and warps of a block, which work alone. */
  DISCO_CSR_GATHER_SUM_LONGITUDES = 8,
  DISCO_CSR_GATHER_SUM_ROWS = 4,
  DISCO_CSR_GATHER_SUM_WARPS = 4,
  /** Rows make a group of contract_sum while they have so many taps together,
   * or fewer where there is less to do. */
  DISCO_CSR_GATHER_SUM_TAPS = 8192,
  /** Arcs are cut to pieces of so many taps at most; of half as many in
   * contract_sum in f64. */
  DISCO_CSR_GATHER_PIECE_TAPS = 96,
  DISCO_CSR_GATHER_SUM_PIECE_TAPS = 96,
  /** Points of a block, one a thread. */
  DISCO_CSR_GATHER_POINTS = 128
};

/** The most fields that a kernel takes at a time. */
static inline int64_t disco_csr_gather_max_fields(int is_sphere, int is_sum,
                                                  int is_f64) {
  if (!is_sphere)
    return 4;
  return is_sum ? (is_f64 ? 1 : 2) : (is_f64 ? 4 : 8);
}

/** Whether there is a kernel for so many fields. */
static inline int disco_csr_gather_has_fields(int is_sphere, int is_sum,
                                              int is_f64, int64_t fields) {
  return fields == 1 ||
         fields == disco_csr_gather_max_fields(is_sphere, is_sum, is_f64) ||
         (is_sphere && !is_sum && fields == 4);
}

/** Whether there is one of contract on a sphere for so many features. */
static inline int disco_csr_gather_has_features(int is_f64, int64_t fields,
                                                int64_t features) {
  return features == 9 ||
         (fields == disco_csr_gather_max_fields(1, 0, is_f64) &&
          (features == 4 || (features == 11 && !is_f64)));
}

#endif /* DISCO_ABI_FAMILIES_CSRGATHER_H */
