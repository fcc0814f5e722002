//===- Baselines.h - predictions of kernels to be beaten --------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels of torch-harmonics with the schedules that they have, predicted
// by the models that score our own. Where these agree with measurements the
// models can be trusted to rank.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_PLANNING_BASELINES_H
#define DISCO_PLANNING_BASELINES_H

#include "disco/Planning/Cost.h"

namespace disco::planning {

/// The contraction through a CSR table. A CTA of 64 threads computes one (k,
/// row, channel); it stages every ring that the row touches, whole, for each k
/// again, and reads one word of shared memory for each multiply-add. `problem`
/// is a contract.
Cost harmonicsCsrCost(const Problem &problem, const Target &target);

/// Its transpose, for the same (not the adjoint) problem: a scatter into rings
/// in shared memory with a barrier for each tap, flushed with atomics.
Cost harmonicsCsrTransposeCost(const Problem &problem, const Target &target);

/// The K-packed tensor-core contraction: kpacked_wgmma with its elements loaded
/// one at a time from global memory and one chunk in flight. K_pad is 8 or 16.
Cost harmonicsKPackedCost(const Problem &problem, const Target &target);

/// The channel mix on the output grid, from a K-expanded tensor in memory,
/// which a pass of its own permutes when there are groups.
Cost harmonicsEinsumCost(const Problem &problem, const Target &target);

} // namespace disco::planning

#endif // DISCO_PLANNING_BASELINES_H
