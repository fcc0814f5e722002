/*===- Problem.h - what one op computes, as plain data --------------*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * The problem that rules, schedules and costs are functions of, and that a
 * kernel of the runtime is launched for. Plain data without pointers; C11 and
 * C++ accept this header. disco/Planning/Problem.h checks, hashes and prints
 * it, and computes the statistics.
 *
 *   contract:          x [B, C, in]            -> [B, C, K, out]
 *   contract_sum:      x [B, C, K, in]         -> [B, C, out]
 *   conv:              x [B, C, in], W [O, C/groups, K] -> [B, O, out]
 *   conv_weight_grad:  x [B, C, in], gy [B, O, out] -> gW [O, C/groups, K]
 *
 *===------------------------------------------------------------------------===*/

#ifndef DISCO_ABI_PROBLEM_H
#define DISCO_ABI_PROBLEM_H

#include "disco/ABI/disco.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The four contractions. */
enum {
  DISCO_OP_CONTRACT = 0,
  DISCO_OP_CONTRACT_SUM = 1,
  DISCO_OP_CONV = 2,
  DISCO_OP_CONV_WEIGHT_GRAD = 3,
  DISCO_NUM_OPS = 4
};

/** What the op is to the layer that it belongs to. The arithmetic of an input
 * gradient is that of a forward op with the adjoint filter, so this only names
 * the row of a report; families do not read it. */
enum {
  DISCO_FORWARD = 0,
  DISCO_INPUT_GRADIENT = 1,
  DISCO_WEIGHT_GRADIENT = 2,
  DISCO_NUM_DIRECTIONS = 3
};

/** How the taps of the filter are found. */
enum {
  DISCO_SPHERE = 0,
  DISCO_TABLE = 1,
  DISCO_CSR = 2,
  DISCO_NUM_STRUCTURES = 3
};

/** What float32 arithmetic may be replaced by. A permission: a family that
 * computes in plain float32 satisfies all of them. */
enum {
  DISCO_PRECISION_IEEE = 0,
  DISCO_PRECISION_TF32 = 1,
  DISCO_PRECISION_BF16X3 = 2,
  DISCO_NUM_PRECISIONS = 3
};

/** Physical shape of an activation: [B, C, H, W], [B, H, W, C] or
 * [B, C/8, H, W, 8] with zeros in the padding channels. */
enum { DISCO_NCHW = 0, DISCO_NHWC = 1, DISCO_C8 = 2, DISCO_NUM_LAYOUTS = 3 };

/** What follows the channel mix of a conv, as bits of `epilogue`; the bias of a
 * conv_weight_grad is its gradient, which is written. */
enum {
  DISCO_EPILOGUE_BIAS = 1,
  DISCO_EPILOGUE_ACTIVATION = 2,
  DISCO_EPILOGUE_RESIDUAL = 4,
  DISCO_EPILOGUE_ALL = 7
};

/** Bins of the tap histogram: bin 0 counts rows without taps, bin i > 0 those
 * with 2^(i-1) <= taps < 2^i; the last bin has no upper end. */
#define DISCO_TAP_BINS 24

/** Counts over the rows of the operator that is applied: for an adjoint filter
 * those of the adjoint. A row is an output latitude (and longitude phase, when
 * phases > 1) of a sphere, an output point otherwise. Each row of a sphere
 * serves nlon_out / phases output points.
 *
 *   ring of a row   ----####------###-----   2 arcs, 1 gap of gap_taps = 6
 */
typedef struct disco_filter_statistics {
  int64_t exact;          /**< 1: counted on a constant filter, 0: assumed */
  int64_t shared_support; /**< 1: all K features have the same taps */
  int64_t rows, empty_rows;
  int64_t taps;    /**< summed over rows; a point with an entry for any k */
  int64_t entries; /**< (tap, k) pairs that exist: taps K if shared */
  int64_t min_taps, max_taps;
  double median_taps;
  int64_t rings, max_rings; /**< (row, input latitude) pairs with taps */
  int64_t arcs, gaps, whole_rings, longest_arc;
  /** Points between the arcs of a ring that one covering arc would add. */
  int64_t gap_taps;
  /** Pairs of taps of an arc that have the same, or opposite, values for each
   * feature in f32: the filter is even or odd in the longitude there. */
  int64_t mirrored_pairs;
  /** Input longitudes per output longitude, and output longitudes per input
   * longitude; one of them is 1. 1 and 1 for table and csr. */
  int64_t stride, phases;
  int64_t histogram_rows[DISCO_TAP_BINS];
  int64_t histogram_taps[DISCO_TAP_BINS];
} disco_filter_statistics;

typedef struct disco_problem {
  int32_t op;                  /**< DISCO_OP_* */
  int32_t direction;           /**< DISCO_FORWARD, ... */
  int32_t structure;           /**< DISCO_SPHERE, ... */
  disco_dtype dtype;           /**< of x, y and the residual */
  disco_dtype parameter_dtype; /**< of W, bias and their gradients */
  int32_t precision;           /**< DISCO_PRECISION_* */
  int32_t deterministic;       /**< 1: two runs are bit-equal */
  int32_t epilogue;            /**< DISCO_EPILOGUE_* bits */
  /** How x arrives and how y must be delivered: a family whose kernel wants
   * another layout pays for a repack. */
  int32_t in_layout, out_layout;
  int32_t batch_assumed; /**< 1: batch is dynamic and `batch` is a guess */
  int32_t reserved;      /**< 0 */
  int64_t num_basis;     /**< K */
  /** [nlat, nlon] of a sphere, [points, 1] otherwise. */
  int64_t in_shape[2], out_shape[2];
  int64_t batch;        /**< B */
  int64_t channels;     /**< C, of x */
  int64_t out_channels; /**< O; equal to C for contract and contract_sum */
  int64_t groups;       /**< 1 for contract and contract_sum */
  disco_filter_statistics filter;
  /** Of the adjoint operator, from the points of gy to those of x, which a
   * conv_weight_grad applies in the order weight_first; zeros for other ops. */
  disco_filter_statistics adjoint;
} disco_problem;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DISCO_ABI_PROBLEM_H */
