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

/** Sizes of buffers in the workspace. */
enum {
  /** Features of a sphere: taps and pieces of arcs of a chunk of a row. */
  DISCO_CPU_GATHER_CHUNK_TAPS = 16384,
  DISCO_CPU_GATHER_CHUNK_PIECES = 128,
  /** contract: bytes of all longitudes that a row needs of a channel. */
  DISCO_CPU_GATHER_WHOLE_BYTES = 12 << 10,
  /** Points that are computed together, channels that are transposed together,
   * and values of a list of taps. */
  DISCO_CPU_GATHER_POINT_BLOCK = 96,
  DISCO_CPU_GATHER_FILL_CHANNELS = 32,
  DISCO_CPU_GATHER_LIST_VALUES = 4096,
  /** Sums over k: channels and longitudes of x that are mixed together. */
  DISCO_CPU_GATHER_MIX_CHANNELS = 256,
  DISCO_CPU_GATHER_MIX_COLUMNS = 96,
  /** On a sphere: rows that share loads; elements and pieces of a round; bytes
   * of the sums of a thread if all rows of a task were in use; tasks for each
   * thread, and rows of a task, at least. */
  DISCO_CPU_GATHER_SUM_ROWS = 3,
  DISCO_CPU_GATHER_ROUND_ELEMENTS = 32768,
  DISCO_CPU_GATHER_ROUND_PIECES = 1024,
  DISCO_CPU_GATHER_SUMS_BYTES = 16 << 20,
  DISCO_CPU_GATHER_TASKS_PER_THREAD = 8,
  DISCO_CPU_GATHER_TASK_ROWS = 8,
  /** contract_sum by transforms of rings: taps of an arc from which on, if
   * channels fill the vectors; bytes of the spectra of filters; rows of a task.
   */
  DISCO_CPU_GATHER_FOURIER_TAPS = 24,
  DISCO_CPU_GATHER_FOURIER_BYTES = 4 << 20,
  DISCO_CPU_GATHER_FOURIER_ROWS = 16,
  /** conv_weight_grad: tasks to have, if their sums need no more bytes. */
  DISCO_CPU_GATHER_TASK_TARGET = 32,
  DISCO_CPU_GATHER_PARTIAL_BYTES = 24 << 20
};

#endif /* DISCO_ABI_FAMILIES_CPUGATHER_H */
