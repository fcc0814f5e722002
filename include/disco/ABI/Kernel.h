/*===- Kernel.h - how code calls a kernel of the runtime ------------*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * One operation is one disco_kernel_call: a plain struct that says what to
 * compute, how, and where the operands are. A family F of kernels exports
 *
 *   disco_F_workspace_bytes(call, &bytes)          pointers are not read
 *   disco_F_run(call, workspace, workspace_bytes)
 *
 * An artifact keeps a constant disco_kernel_call for each of its operations,
 * copies it to the stack, fills in the batch and the pointers, and calls.
 *
 *   operation         reads                              writes (dtype)
 *   contract          x [B,C,in...]                      y [B,C,K,out...]
 *   contract_sum      x [B,C,K,in...]                    y [B,C,out...]
 *   conv              x [B,C,in...], weight [O,C/G,K],   y [B,O,out...]
 *                     bias [O]?, residual [B,O,out...]?
 *     y = activation(conv + bias) + residual
 *   conv_weight_grad  x [B,C,in...], gy [B,O,out...]     y [O,C/G,K],
 *                                                        grad_bias [O]?
 *
 * All tensors are dense and row-major, and aligned to their elements. y and
 * grad_bias overlap neither each other nor anything that is read, psi's tables
 * included, but y may be the residual itself; the workspace overlaps nothing.
 * x, gy, residual and y are of `dtype`; weight, bias and the gradients of both
 * are of `weight_dtype`, which is `dtype` or f32 (f64 with f64). Sums are in
 * f64 for f64 and else in f32; the results are rounded once. psi's values may
 * have any float type.
 *
 * Sums may add or subtract two elements before these are multiplied, where two
 * taps have values that are equal but for the sign. So a result is infinite or
 * NaN where elements beyond half of the largest number of the sums' type come
 * together, even if it would be finite.
 *
 * What an operation does not use is 0. Of the numbers that is checked, but for
 * `groups` and `weight_dtype` of contract and contract_sum, and psi's
 * value_dtype for onehot, which are ignored; pointers to operands that are not
 * used are not looked at.
 *
 * psi maps in-points to out-points, and is stored as disco/ABI/Probe.h says:
 *
 *   form    offsets     indices          values
 *   arcs    [rows+1]    [num_arcs,4]     [num_taps,K]
 *   csr     [nOut+1]    [num_taps]       [num_taps,K]
 *   table   -           [nOut,degree]    [nOut,degree,K]
 *   onehot  -           [nOut,degree]    bins [nOut,degree] of index_dtype
 *
 * The arcs of a row ascend in latitude. For csr, table and onehot, `adjoint`
 * says that the operator is the transpose (of each of the K maps) of what is
 * stored; in- and out-points are still those of the operator, so that the
 * tables have nIn rows and point to out-points.
 *
 * Errors come as a status, with disco_last_error() telling why; before an error
 * in the arguments nothing is written. Every offset and index of psi is checked
 * in each run. A run allocates no memory but for the threads of the process,
 * which the first one starts, and may overlap with other runs that have their
 * own outputs and workspaces. Results do not depend on the number of threads,
 * all of which compute in the floating-point mode of the calling one (how it
 * rounds, and whether subnormal numbers are zeros). The threads block all
 * signals. After a fork() the child has threads of its own, whatever the
 * parent's were doing.
 *
 *===------------------------------------------------------------------------===*/

#ifndef DISCO_ABI_KERNEL_H
#define DISCO_ABI_KERNEL_H

#include "disco/ABI/Schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  DISCO_FORM_ARCS = 0,
  DISCO_FORM_CSR = 1,
  DISCO_FORM_TABLE = 2,
  DISCO_FORM_ONEHOT = 3
};

enum {
  DISCO_ACTIVATION_NONE = 0,
  DISCO_ACTIVATION_RELU = 1,
  DISCO_ACTIVATION_GELU = 2, /**< with erf */
  DISCO_ACTIVATION_GELU_TANH = 3,
  DISCO_ACTIVATION_SILU = 4
};

/** psi and its tables. */
typedef struct disco_kernel_psi {
  int32_t form;        /**< DISCO_FORM_* */
  int32_t adjoint;     /**< 0 or 1; 0 for arcs */
  int32_t index_dtype; /**< DISCO_I32 or DISCO_I64; also of offsets and bins */
  int32_t value_dtype; /**< ignored for onehot */
  int64_t num_basis;   /**< K */
  /** The points: nlat x nlon for arcs, one of which nlons divides the other;
   * else 1 x n. */
  int64_t nlat_in, nlon_in, nlat_out, nlon_out;
  int64_t num_arcs; /**< arcs */
  int64_t num_taps; /**< arcs, csr */
  int64_t degree;   /**< table, onehot */
  const void *offsets;
  const void *indices;
  const void *values;
} disco_kernel_psi;

typedef struct disco_kernel_call {
  uint64_t struct_size; /**< sizeof(disco_kernel_call) */
  int32_t op;           /**< DISCO_OP_* */
  disco_dtype dtype;
  disco_dtype weight_dtype; /**< conv, conv_weight_grad */
  int32_t activation;       /**< conv: DISCO_ACTIVATION_* */
  /** conv: `weight` is the weight [C,O/G,K] of the layer of which this is the
   * gradient with respect to the input; within each group it is transposed. */
  int32_t transpose_weight;
  int32_t has_bias;     /**< conv: reads bias; conv_weight_grad: writes it */
  int32_t has_residual; /**< conv */
  /** Host: 1 to 256, or 0 for DISCO_NUM_THREADS (1 to 256, digits only), or if
   * that is unset or empty all processors that the process may use, but no more
   * than 256. Anything else is an error. */
  int32_t num_threads;
  int64_t batch, channels;
  int64_t out_channels, groups; /**< conv, conv_weight_grad */
  disco_kernel_psi psi;
  /** As planning scored it; its provider is DISCO_RUNTIME. Without fields, or
   * with 0 in one of them, the family chooses (the fields of F are those of
   * disco/ABI/Families/F.h). conv_weight_grad with the weight first: `psi` *is*
   * the adjoint, from the points of gy to those of x. */
  disco_schedule schedule;
  const void *x;
  const void *gy;       /**< conv_weight_grad */
  const void *weight;   /**< conv */
  const void *bias;     /**< conv */
  const void *residual; /**< conv */
  void *y;
  void *grad_bias; /**< conv_weight_grad */
} disco_kernel_call;

/** The bytes of workspace that disco_cpu_gather_run needs for `call`. Errors:
 * sizes, types and numbers that do not fit; pointers are not looked at. */
DISCO_API disco_status disco_cpu_gather_workspace_bytes(
    const disco_kernel_call *call, uint64_t *bytes);

/** Runs `call`. `workspace` is aligned to DISCO_ALIGNMENT and has at least that
 * many bytes, which a change of DISCO_NUM_THREADS, or of the processors that
 * the process may use, in between would change. */
DISCO_API disco_status disco_cpu_gather_run(const disco_kernel_call *call,
                                            void *workspace,
                                            uint64_t workspace_bytes);

/** Sets `count` to the number of threads that a run whose num_threads is
 * `num_threads` would use now. Errors: those of that run that come from its
 * number of threads or from the environment. */
DISCO_API disco_status disco_cpu_gather_threads(int32_t num_threads,
                                                int32_t *count);

/** The instructions that the kernels use on this processor: "avx512", "avx2" or
 * "baseline". The environment variable DISCO_CPU_ISA, one of these names,
 * lowers the choice; a run with another value in it is an error. */
DISCO_API const char *disco_cpu_gather_isa(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DISCO_ABI_KERNEL_H */
