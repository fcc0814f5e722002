/*===- CpuGather.h - schedules of cpu_gather ------------------------*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * The fields of the family's schedules, which planning scores and the kernels
 * read, and the sizes that both know. Neither changes a bit of a result, but
 * for conv_weight_grad, where the channel block decides how sums are split.
 *
 *===------------------------------------------------------------------------===*/

#ifndef DISCO_ABI_FAMILIES_CPUGATHER_H
#define DISCO_ABI_FAMILIES_CPUGATHER_H

enum {
  /** Longitudes (points) whose features are computed together. contract, conv
   * with the filter first, conv_weight_grad. */
  DISCO_CPU_GATHER_TILE = 0,
  /** Channels whose features are computed together. All but contract. */
  DISCO_CPU_GATHER_CHANNEL_BLOCK = 1,
  DISCO_CPU_GATHER_NUM_FIELDS = 2
};

enum {
  /** Sums in registers while taps are added: so many features by so many
   * vectors; for less features more vectors, not above their product. */
  DISCO_CPU_GATHER_SUM_FEATURES = 3,
  DISCO_CPU_GATHER_SUM_VECTORS = 4,
  /** A panel is so many vectors of columns; the matrix product takes so many
   * rows by one panel at a time. */
  DISCO_CPU_GATHER_PANEL_VECTORS = 2,
  DISCO_CPU_GATHER_PRODUCT_ROWS = 6,
  /** Where the family chooses, conv and conv_weight_grad filter so many
   * longitudes, and channels whose features are so many, at a time. */
  DISCO_CPU_GATHER_TILE_TARGET = 96,
  DISCO_CPU_GATHER_DEPTH_TARGET = 288,
  /** contract: bytes of features of a channel (of POINT_CHANNELS on points). */
  DISCO_CPU_GATHER_CONTRACT_BYTES = 4 << 10,
  DISCO_CPU_GATHER_POINT_CHANNELS = 16,
  /** conv with the weight first: bytes of a ring of all features of a block of
   * channels; four times that for a wide mix. contract_sum: bytes of the sums
   * of a row of a block of channels, and channels of a block. On points
   * channels of a block. */
  DISCO_CPU_GATHER_RING_BYTES = 192 << 10,
  DISCO_CPU_GATHER_WIDE_MIX = 64,
  DISCO_CPU_GATHER_ROW_BYTES = 64 << 10,
  DISCO_CPU_GATHER_ROW_CHANNELS = 8,
  DISCO_CPU_GATHER_SUM_CHANNELS = 64
};

#endif /* DISCO_ABI_FAMILIES_CPUGATHER_H */
