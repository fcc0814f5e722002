/*===- Probe.h - watching the operations of an artifact -------------*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * An instrumented artifact (disco-compile --instrument) calls, around every
 * disco operation, in the thread that runs the entry:
 *
 *   disco_probe_begin(id)
 *   disco_probe_operand(id, 0 ... num_operands - 1)   before it computes
 *       the operation
 *   disco_probe_operand(id, num_operands ... num_operands + num_results - 1)
 *   disco_probe_end(id)
 *
 * For a step on a GPU the runtime does it, in the thread that calls disco_run:
 * artifacts for GPUs need not be instrumented. Operands are tensors of the
 * device, but for what was packed when the entry was prepared, which lies on
 * the host. A step has been put on the context's stream when disco_probe_end is
 * called, and need not have ended.
 *
 * `id` is the index in the artifact's table of probes. The runtime hands the
 * calls to the hooks of the calling thread, if there are any. A hook that wants
 * an operand's content later copies it: the memory may be reused.
 *
 * Attributes
 * ----------
 * `attributes` of a probe says what the operation computes, well enough to
 * recompute it. It is one line of key=value, separated by single spaces:
 *
 *   kind=contract|contract_sum|conv|conv_weight_grad|repack
 *   groups=G                                  conv, conv_weight_grad; default 1
 *   activation=none|relu|gelu|gelu_tanh|silu  conv; default none
 *   order=filter_first|weight_first           conv; default filter_first
 *   bias=0|1        conv: has a bias; conv_weight_grad: has a second result
 *   residual=0|1    conv
 *   form=arcs|csr|table|onehot                how psi is stored
 *   k=K             the number of basis functions
 *   in=16x32        the shape of psi's input points (one number or several)
 *   out=8x16        of its output points
 *   degree=D        table, onehot: neighbours of an output point
 *   adjoint=0|1     the operator is the transpose (each of the K maps) of the
 *                   stored one; in and out are the stored one's. Default 0.
 *
 *   family=NAME     what computes it: csr_gather for example. Default none
 *   transpose_weight=0|1   conv: W is [C,O/groups,K], and within each group the
 *                   transpose of the weight. Default 0
 *   x=nchw|nhwc|c8  the layout of the first operand, and of the first result;
 * c8 y=nchw|nhwc|c8  is [B,C/8 rounded up,...,8]. Default nchw channels=C  the
 * channels of x and y without those that fill up blocks; required with c8
 *
 * Keys may come in any order; a key that is not listed is an error; kind, form,
 * k, in and out (and degree) are required; a repack has only kind, x, y and
 * channels.
 *
 * Operands, in this order (S stands for those of the storage):
 *
 *   contract          x [B,C,in...], S          -> [B,C,K,out...]
 *   contract_sum      z [B,C,K,in...], S        -> [B,C,out...]
 *   conv              x [B,C,in...], S, W [O,C/groups,K], [bias [O]],
 *                     [residual [B,O,out...]]   -> [B,O,out...]
 *   conv_weight_grad  x [B,C,in...], gy [B,O,out...], S
 *                                               -> [O,C/groups,K], [[O]]
 *   repack            [B,C,...]                 -> the same in another layout
 * or element type
 *
 * Storage (index types i32 or i64, value types any float):
 *
 *   arcs    offsets [rows+1]      rows = nlatOut * phases
 *           arcs [numArcs,4]      (lat, lonStart, length, valueOffset)
 *           values [taps,K]
 *     With nlonIn = stride * nlonOut, phases = 1, or nlonOut = phases * nlonIn,
 *     stride = 1:
 *     y[b,c,k,(t,w)] = sum over arcs a of row t*phases + w%phases, u < length
 * of values[valueOffset+u, k]
 *         * x[b,c,(lat, (lonStart + u + stride*(w/phases)) mod nlonIn)]
 *   csr     offsets [nOut+1], cols [nnz], values [nnz,K]
 *   table   index [nOut,degree] (nIn: padding), values [nOut,degree,K]
 *   onehot  index [nOut,degree] (nIn: padding), bins [nOut,degree] in [0,K):
 *           the value is 1 for k = bin, else 0
 *
 *===------------------------------------------------------------------------===*/

#ifndef DISCO_ABI_PROBE_H
#define DISCO_ABI_PROBE_H

#include "disco/ABI/Artifact.h"

#ifdef __cplusplus
extern "C" {
#endif

/** For an artifact's code. `descriptor` is a memref descriptor of that rank. */
DISCO_API void disco_probe_begin(int64_t id);
DISCO_API void disco_probe_operand(int64_t id, int32_t index, int32_t dtype,
                                   int64_t rank, void *descriptor);
DISCO_API void disco_probe_end(int64_t id);

/** Called in the thread that runs the entry. Each may be NULL. */
typedef struct disco_probe_hooks {
  void *user; /**< passed to all */
  void (*begin)(void *user, int64_t id);
  void (*operand)(void *user, int64_t id, int32_t index,
                  const disco_tensor *tensor);
  void (*end)(void *user, int64_t id);
} disco_probe_hooks;

/** Installs hooks for the calling thread; NULL removes them. `hooks` is copied.
 */
DISCO_API void disco_set_probe_hooks(const disco_probe_hooks *hooks);

/** 0 for an artifact that is not instrumented. */
DISCO_API int32_t disco_artifact_num_probes(const disco_artifact *artifact);
/** Probe `index`. The artifact owns what `probe` points to. */
DISCO_API disco_status disco_artifact_probe(const disco_artifact *artifact,
                                            int32_t index,
                                            disco_abi_probe *probe);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DISCO_ABI_PROBE_H */
