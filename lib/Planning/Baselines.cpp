//===- Baselines.cpp - predictions of kernels to be beaten ----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Planning/Baselines.h"

#include "Models.h"

#include <algorithm>

using namespace disco;
using namespace disco::planning;

static constexpr double threads = 64, lanes = 32;

/// The loop over taps loads a value, and an index, with one wavefront each.
static constexpr double tapLoads = 2;

Cost planning::harmonicsCsrCost(const Problem &p, const Target &target) {
  GatherShape shape;
  shape.threads = threads;
  shape.lonPerThread = ceilDiv(pointsPerRow(p), threads);
  shape.restage = true;
  shape.wholeRing = true;
  shape.tapLoads = tapLoads;
  Cost cost;
  cost.stages.push_back(gatherStage(p, target, DISCO_FILTER_FIRST, shape));
  return cost;
}

Cost planning::harmonicsCsrTransposeCost(const Problem &p,
                                         const Target &target) {
  Stage stage;
  stage.name = "scatter";
  Counts &c = stage.counts;
  const FilterCounts &f = p.filter;
  const double e = elementBytes(p), K = real(p.num_basis);
  const double fields = filteredFields(p, DISCO_FILTER_FIRST);
  const double vector = target[TargetField::vector_bytes];
  const double perThread = ceilDiv(pointsPerRow(p), threads);
  const double warps = ceilDiv(pointsPerRow(p), lanes * perThread);
  const double conflict =
      std::max(1.0, ceilDiv(lanes * real(f.stride) * e, vector));

  // A tap reads, adds to and writes one word for each longitude, then all
  // threads meet: the next tap touches the same words.
  const double warpTaps = real(f.taps) * warps * K * fields;
  constexpr double readAndWrite = 2, overhead = 10;
  c.smemWavefronts =
      warpTaps * (perThread * readAndWrite * conflict + tapLoads);
  c.issueSlots = warpTaps * (perThread * 3 + tapLoads + overhead);

  // A ring is cleared, and flushed with atomics: a read and a write in L2.
  const double ringWords = real(f.rings) * K * fields * real(p.in_shape[1]);
  c.smemWavefronts += 2 * ringWords / lanes;
  c.l1Requests = ringWords / lanes;
  c.l2Bytes = 2 * ringWords * e;
  c.issueSlots += 6 * ringWords / lanes;

  c.usefulFlop = sparseFlop(p, DISCO_FILTER_FIRST);
  Work work;
  work.fmaDType = dtypeOf(p);
  work.fmaFlop = 2 * lanes * warpTaps * perThread;
  c.paddedFlop = work.fmaFlop;
  c.dramReadBytes = expandedElements(p, DISCO_FILTER_FIRST) * e;
  c.dramWriteBytes = inputBytes(p);
  c.threads = threads;
  c.registersPerThread = 32 + perThread;
  c.smemBytes = real(p.in_shape[1]) * e;
  c.ctas = std::max(1.0, real(f.rows - f.empty_rows) * K * fields);
  c.ctasPerCore =
      residentCtas(target, threads, c.registersPerThread, c.smemBytes);
  c.tapImbalance = tapImbalance(f);
  // The longest row alone: instructions, and a trip to L2 for each ring.
  work.chainSeconds =
      real(f.max_taps) * (perThread * 3 + overhead) /
          (1e9 * target[TargetField::clock_ghz]) +
      1e-9 * real(f.max_rings) * target[TargetField::l2_latency_ns];
  setTimes(stage, target, work);
  Cost cost;
  cost.stages.push_back(stage);
  return cost;
}

Cost planning::harmonicsKPackedCost(const Problem &p, const Target &target) {
  const Family &family = *findFamily("kpacked_wgmma");
  Schedule schedule =
      makeSchedule(family.fields(), DISCO_FILTER_FIRST, DISCO_CODEGEN);
  // The least value of each field: not staged, one chunk in flight.
  return family.impl->cost(p, target, schedule);
}

Cost planning::harmonicsEinsumCost(const Problem &p, const Target &target) {
  Cost cost;
  // One group multiplies the features where they lie; more than one are
  // permuted to be batches of products, which reads and writes them once more.
  const double expanded =
      expandedElements(p, DISCO_FILTER_FIRST) * elementBytes(p);
  if (p.groups > 1)
    addRepack(cost, target, "permute", expanded, expanded);
  cost.stages.push_back(
      einsumStage(p, target, DISCO_FILTER_FIRST, Expanded::dram));
  return cost;
}
