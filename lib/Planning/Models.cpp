//===- Models.cpp - what the cost functions of families share -------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include <algorithm>
#include <cmath>

using namespace disco;
using namespace disco::planning;

using F = TargetField;

double planning::ceilDiv(double value, double tile) {
  return std::ceil(value / tile);
}

double planning::elementBytes(const Problem &p) {
  return static_cast<double>(sizeOf(dtypeOf(p)));
}

double planning::accumulatorBytes(const Problem &p) {
  return std::max(4.0, elementBytes(p));
}

double planning::storedChannels(double channels, int32_t layout) {
  return layout == DISCO_C8 ? padTo(channels, 8) : channels;
}

double planning::inputBytes(const Problem &p, int32_t layout) {
  double maps = p.op == DISCO_OP_CONTRACT_SUM ? real(p.num_basis) : 1;
  return real(p.batch) * storedChannels(real(p.channels), layout) * maps *
         inPoints(p) * elementBytes(p);
}

double planning::outputBytes(const Problem &p, int32_t layout) {
  if (p.op == DISCO_OP_CONV_WEIGHT_GRAD)
    return weightBytes(p);
  double maps = p.op == DISCO_OP_CONTRACT ? real(p.num_basis) : 1;
  return real(p.batch) * storedChannels(real(p.out_channels), layout) * maps *
         outPoints(p) * elementBytes(p);
}

double planning::storedExpanded(const Problem &p, int32_t order,
                                int32_t layout) {
  const double channels = filteredChannels(p, order);
  return expandedElements(p, order) / channels *
         storedChannels(channels, layout);
}

double planning::weightBytes(const Problem &p) {
  if (p.op == DISCO_OP_CONTRACT || p.op == DISCO_OP_CONTRACT_SUM)
    return 0;
  return real(p.out_channels) * real(p.channels / p.groups) *
         real(p.num_basis) *
         static_cast<double>(sizeOf(static_cast<DType>(p.parameter_dtype)));
}

double planning::gyBytes(const Problem &p, int32_t layout) {
  return real(p.batch) * storedChannels(real(p.out_channels), layout) *
         outPoints(p) * elementBytes(p);
}

double planning::biasBytes(const Problem &p) {
  if (!(p.epilogue & DISCO_EPILOGUE_BIAS))
    return 0;
  return real(p.out_channels) *
         static_cast<double>(sizeOf(static_cast<DType>(p.parameter_dtype)));
}

double planning::psiBytes(const Problem &p, double valueBytes) {
  constexpr double index = 4, arcWords = 4;
  const FilterCounts &f = p.filter;
  const double taps = real(f.taps), K = real(p.num_basis);
  // A tap of a one-hot table has the number of its feature for values.
  const bool isOneHot =
      p.structure == DISCO_TABLE && p.num_basis > 1 && f.entries == f.taps;
  const double values = isOneHot ? taps * index : taps * K * valueBytes;
  const double offsets = index * (real(f.rows) + 1);
  if (p.structure == DISCO_SPHERE)
    return offsets + index * arcWords * real(f.arcs) + values;
  return (p.structure == DISCO_CSR ? offsets : 0) + index * taps + values;
}

double planning::filteredFields(const Problem &p, int32_t order) {
  return real(p.batch) * filteredChannels(p, order);
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

static double timeOf(double amount, double rate) {
  return amount > 0 && rate > 0 ? amount / rate : 0;
}

void planning::setTimes(Stage &stage, const Target &target, const Work &work) {
  Counts &c = stage.counts;
  c.issuedFlop = work.fmaFlop + work.tensorFlop;
  c.waves = c.ctas / (target[F::cores] * c.ctasPerCore);
  const double idle = target[F::cores] / std::min(target[F::cores], c.ctas);
  const double clocks = target.coreClocks();
  stage[BoundClass::dram] =
      timeOf(c.dramReadBytes + c.dramWriteBytes, 1e9 * target[F::dram_gbps]);
  // Ports of CPU cores to the shared cache are their own.
  const double idlePorts = target.kind == TargetKind::cpu ? idle : 1;
  stage[BoundClass::l2] =
      idlePorts * timeOf(c.l2Bytes, 1e9 * target[F::l2_gbps]);
  stage[BoundClass::lsu] = idle * timeOf(c.l1Requests + c.smemWavefronts,
                                         clocks * target[F::lsu_per_clock]);
  stage[BoundClass::tensor] =
      idle * timeOf(work.tensorFlop, target.tensorRate(work.tensorDType));
  stage[BoundClass::fma] =
      idle * timeOf(work.fmaFlop, target.fmaRate(work.fmaDType));
  stage[BoundClass::issue] =
      idle * timeOf(c.issueSlots, clocks * target[F::issue_per_clock]);
  stage[BoundClass::latency] = work.chainSeconds;
  stage[BoundClass::launch] = 1e-6 * c.launches * target[F::launch_us];
  for (double &time : stage.microseconds)
    time *= 1e6;
}

double planning::tapImbalance(const FilterCounts &f) {
  return f.taps ? real(f.max_taps) * real(f.rows) / real(f.taps) : 1;
}

double planning::residentCtas(const Target &target, double threads,
                              double registers, double smemBytes) {
  // Shared memory is handed out with 1 KiB of the system's own for each CTA.
  constexpr double systemBytes = 1024;
  return std::min(
      {target[F::max_ctas], std::floor(target[F::max_threads] / threads),
       std::floor(target[F::registers] / (registers * threads)),
       std::floor(target[F::smem_bytes] / (smemBytes + systemBytes))});
}

//===----------------------------------------------------------------------===//
// The channel mix
//===----------------------------------------------------------------------===//

namespace {

/// groups products of [m, k] and [k, n].
struct Gemm {
  double m, n, k, groups;
};

} // namespace

static Gemm gemmOf(const Problem &p, int32_t order) {
  const double og = real(p.out_channels / p.groups);
  const double cg = real(p.channels / p.groups);
  const double K = real(p.num_basis), groups = real(p.groups);
  const double points =
      real(p.batch) *
      (order == DISCO_WEIGHT_FIRST ? inPoints(p) : outPoints(p));
  if (p.op == DISCO_OP_CONV_WEIGHT_GRAD)
    return order == DISCO_WEIGHT_FIRST ? Gemm{og * K, cg, points, groups}
                                       : Gemm{og, cg * K, points, groups};
  return order == DISCO_WEIGHT_FIRST ? Gemm{og * K, points, cg, groups}
                                     : Gemm{og, points, cg * K, groups};
}

/// The unit: rate, type, and products for each product (three-term splitting).
static void chooseUnit(const Problem &p, const Target &target, double flop,
                       double paddedFlop, Work &work) {
  const DType dtype = dtypeOf(p);
  work.fmaDType = dtype;
  const bool splitting =
      dtype == DType::f32 && p.precision == DISCO_PRECISION_BF16X3;
  const bool plain = dtype == DType::f32 && p.precision == DISCO_PRECISION_IEEE;
  const DType unit = splitting ? DType::bf16 : dtype;
  const double tensorFlop = splitting ? 3 * paddedFlop : paddedFlop;
  const double tensor = timeOf(tensorFlop, target.tensorRate(unit));
  if (plain || tensor == 0 || tensor > timeOf(flop, target.fmaRate(dtype))) {
    work.fmaFlop = flop;
    return;
  }
  work.tensorFlop = tensorFlop;
  work.tensorDType = unit;
}

/// Each tensor of the mix once: the K-expanded one where it is in device
/// memory, the other activation, W, the bias and the residual. Returns the
/// bytes of the other activation.
static double countEinsumTensors(const Problem &p, int32_t order,
                                 Expanded expanded, int32_t layout, double z,
                                 Counts &c) {
  const bool isGradient = p.op == DISCO_OP_CONV_WEIGHT_GRAD;
  const bool isFirst = order == DISCO_WEIGHT_FIRST;
  const double other = isFirst      ? inputBytes(p, layout)
                       : isGradient ? gyBytes(p, layout)
                                    : outputBytes(p, layout);
  const bool writesOther = !isGradient && !isFirst;
  (writesOther ? c.dramWriteBytes : c.dramReadBytes) += other;
  if (p.epilogue & DISCO_EPILOGUE_RESIDUAL)
    c.dramReadBytes += outputBytes(p, layout);
  (isGradient ? c.dramWriteBytes : c.dramReadBytes) +=
      weightBytes(p) + biasBytes(p);
  if (expanded == Expanded::dram)
    (!isGradient && isFirst ? c.dramWriteBytes : c.dramReadBytes) += z;
  return other;
}

namespace {

/// What a CTA of the mix computes.
struct EinsumTile {
  double m, n;
  static constexpr double threads = 256, stages = 3;
};

} // namespace

/// The smallest tensor tile is 16 x 8 x 16; a CTA covers at most 128 x 256.
static EinsumTile einsumTile(const Gemm &g) {
  return {std::min(128.0, padTo(g.m, 16)), std::min(256.0, padTo(g.n, 8))};
}

std::vector<std::string> planning::describeEinsum(const Problem &p,
                                                  int32_t order) {
  const Gemm g = gemmOf(p, order);
  const EinsumTile tile = einsumTile(g);
  return {text(g.groups) + " product(s) of [" + text(g.m) + ", " + text(g.k) +
              "] and [" + text(g.k) + ", " + text(g.n) + "]",
          "a CTA of " + text(EinsumTile::threads) + " threads is a tile of " +
              text(tile.m) + " x " + text(tile.n) + " of the result, with " +
              text(EinsumTile::stages) + " stages of both operands in flight"};
}

Stage planning::einsumStage(const Problem &p, const Target &target,
                            int32_t order, Expanded expanded, int32_t layout) {
  Stage stage;
  stage.name = "einsum";
  Counts &c = stage.counts;
  const Gemm g = gemmOf(p, order);
  const double e = elementBytes(p);
  const auto [tileM, tileN] = einsumTile(g);
  // Two CTAs of a cluster share the second operand.
  const double sharing = target.has(featureCluster) ? 2 : 1;
  c.usefulFlop = einsumFlop(p, order);
  c.paddedFlop = 2 * padTo(g.m, 16) * padTo(g.n, 8) * padTo(g.k, 16) * g.groups;
  Work work;
  chooseUnit(p, target, c.usefulFlop, c.paddedFlop, work);
  const bool onTensor = work.tensorFlop > 0;
  if (!onTensor)
    c.paddedFlop = c.usefulFlop;

  const double z = storedExpanded(p, order, layout) * e;
  const double other = countEinsumTensors(p, order, expanded, layout, z, c);
  const double tilesM = ceilDiv(g.m, tileM), tilesN = ceilDiv(g.n, tileN);
  // From the shared cache, each time that a tile needs them.
  const double operands =
      (g.m * tilesN + g.n * ceilDiv(tilesM, sharing)) * g.k * g.groups * e;
  c.l2Bytes = operands + other;

  // Operands pass through shared memory once for each tile that uses them.
  const double vector = target[F::vector_bytes];
  c.smemWavefronts = c.paddedFlop / 2 * e * (1 / tileM + 1 / tileN) / vector;
  c.l1Requests = (operands + z) / vector;
  c.tensorInstructions = onTensor ? c.paddedFlop / (2 * 16 * 8 * 16) : 0;
  // Tiles of a warpgroup (n >= 32) and of tensor memory do four times as much
  // as the instructions of a warp, which are counted.
  const double perIssue =
      target.has(featureWgmma) || target.has(featureTcgen05) ? 4 : 1;
  c.issueSlots = onTensor ? c.tensorInstructions / perIssue
                          : c.paddedFlop / 2 / (vector / accumulatorBytes(p));
  c.threads = EinsumTile::threads;
  c.registersPerThread = 128;
  // A cache line of each row of both operands at a time.
  c.smemBytes = EinsumTile::stages * (tileM + tileN) * vector;
  c.ctas = tilesM * tilesN * g.groups;
  if (p.op == DISCO_OP_CONV_WEIGHT_GRAD) // split over pixels to fill the cores
    c.ctas = std::max(c.ctas, std::min(target[F::cores], ceilDiv(g.k, 4096)));
  setTimes(stage, target, work);
  return stage;
}

void planning::addRepack(Cost &cost, const Target &target, const char *name,
                         double bytesRead, double bytesWritten) {
  Stage stage;
  stage.name = name;
  Counts &c = stage.counts;
  c.dramReadBytes = bytesRead;
  c.dramWriteBytes = bytesWritten;
  c.l2Bytes = bytesRead + bytesWritten;
  // Read, transposed through shared memory, written.
  const double bytes = std::max(bytesRead, bytesWritten);
  const double vectors = bytes / target[F::vector_bytes];
  c.l1Requests = 2 * vectors;
  c.smemWavefronts = 2 * vectors;
  c.issueSlots = 4 * vectors + 4 * vectors;
  c.ctas = ceilDiv(bytes, 16384);
  c.threads = 256;
  setTimes(stage, target, {});
  cost.stages.push_back(stage);
}

void planning::addInputRepack(Cost &cost, const Target &target,
                              const Problem &p, const Schedule &s) {
  if (p.in_layout != s.in_layout)
    addRepack(cost, target,
              p.op == DISCO_OP_CONTRACT_SUM ? "repack z" : "repack x",
              inputBytes(p, p.in_layout), inputBytes(p, s.in_layout));
}

void planning::addOutputRepack(Cost &cost, const Target &target,
                               const Problem &p, const Schedule &s) {
  if (p.out_layout != s.out_layout)
    addRepack(cost, target, p.op == DISCO_OP_CONTRACT ? "repack z" : "repack y",
              outputBytes(p, s.out_layout), outputBytes(p, p.out_layout));
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

/// Points of a ring that a longitude tile needs.
static double windowPoints(const Problem &p, const GatherShape &shape) {
  const double nlon = real(p.in_shape[1]);
  if (shape.wholeRing || p.filter.rings == 0)
    return nlon;
  const double arc = real(p.filter.taps) / real(p.filter.rings);
  const double tile =
      std::min(shape.threads * shape.lonPerThread, pointsPerRow(p));
  return std::min(nlon, arc + real(p.filter.stride) * (tile - 1));
}

double planning::gatherRegisters(const Problem &p, const GatherShape &shape) {
  constexpr double besides = 40;
  const double sums =
      shape.lonPerThread * shape.bcTile * (shape.sumOverK ? 1 : shape.kTile);
  return besides + sums * accumulatorBytes(p) / 4;
}

double planning::gatherSmemBytes(const Problem &p, const GatherShape &shape) {
  if (p.structure != DISCO_SPHERE)
    return 0;
  // The longest arc decides, not the mean one.
  const double tile =
      std::min(shape.threads * shape.lonPerThread, pointsPerRow(p));
  const double window =
      shape.wholeRing
          ? real(p.in_shape[1])
          : std::min(real(p.in_shape[1]),
                     shape.pieceTaps > 0
                         ? std::min(shape.pieceTaps, real(p.filter.longest_arc))
                         : real(p.filter.longest_arc)) +
                real(p.filter.stride) * (tile - 1);
  return window * elementBytes(p) * shape.bcTile * (shape.pipelined ? 2 : 1);
}

namespace {

/// How a gather is cut.
struct GatherTiles {
  double fields;  ///< batch times channels
  double rows;    ///< of the filter that have taps; of points, groups of lanes
  double rowTaps; ///< taps of those
  double warps;   ///< of a row
  double tiles;   ///< CTAs of a row
  double blocks;  ///< of fields
  double groups;  ///< of features
  double planes;  ///< of a field: K where features are summed
};

constexpr double lanes = 32;

} // namespace

/// On a sphere the longitudes of a row lie along the threads; otherwise rows.
static GatherTiles tilesOf(const Problem &p, int32_t order,
                           const GatherShape &s) {
  const FilterCounts &f = p.filter;
  const bool sphere = p.structure == DISCO_SPHERE;
  const double taps = real(f.taps), points = pointsPerRow(p);
  GatherTiles t;
  t.fields = filteredFields(p, order);
  t.rows = sphere ? real(f.rows - f.empty_rows) : ceilDiv(real(f.rows), lanes);
  t.rowTaps = sphere ? taps : ceilDiv(taps, lanes);
  t.warps = sphere ? ceilDiv(points, lanes * s.lonPerThread) : 1;
  t.tiles = sphere ? ceilDiv(points, s.threads * s.lonPerThread) : 1;
  t.blocks = ceilDiv(t.fields, s.bcTile);
  t.groups = s.sumOverK ? 1 : ceilDiv(real(p.num_basis), s.kTile);
  t.planes = s.sumOverK ? real(p.num_basis) : 1;
  return t;
}

/// The loop over taps. Returns the instructions of a warp for one tap: all
/// features of all channels of the block.
static double countTaps(const Problem &p, const Target &target,
                        const GatherShape &s, const GatherTiles &t, Counts &c) {
  const bool sphere = p.structure == DISCO_SPHERE;
  const double e = elementBytes(p);
  const double reads =
      s.lonPerThread * s.bcTile * t.planes * t.groups / s.reuse;
  const double conflict =
      sphere ? std::max(1.0, ceilDiv(lanes * real(p.filter.stride) * e,
                                     target[F::vector_bytes]))
             : lanes;
  const double fma = s.lonPerThread * s.bcTile *
                     (s.sumOverK ? real(p.num_basis) : s.kTile * t.groups);
  const double loads = s.tapLoads * t.groups;
  const double warpTaps = t.rowTaps * t.warps * t.blocks;
  (sphere ? c.smemWavefronts : c.l1Requests) += warpTaps * reads * conflict;
  c.smemWavefronts += warpTaps * loads;
  const double convert = e < 4 ? 1 : 0;
  const double tapSlots =
      reads * (1 + convert) + fma + loads + t.groups * s.tapOverhead;
  c.issueSlots += warpTaps * tapSlots;
  c.paddedFlop = 2 * lanes * warpTaps * fma;
  return tapSlots;
}

/// What taps read: the rings of a row, for each channel and plane.
static void countStaging(const Problem &p, const Target &target,
                         const GatherShape &s, const GatherTiles &t,
                         Counts &c) {
  const double e = elementBytes(p);
  if (p.structure != DISCO_SPHERE) {
    c.l2Bytes += real(p.filter.taps) * t.fields * t.planes *
                 std::max(e, 32.0 / s.bcTile);
    return;
  }
  const double stagings = real(p.filter.rings) * t.tiles * t.blocks * s.bcTile *
                          t.planes * (s.restage ? t.groups : 1);
  const double window = windowPoints(p, s);
  const double loads = ceilDiv(window, lanes * s.loadElements);
  const double requests = loads * std::max(1.0, lanes * s.loadElements * e /
                                                    target[F::vector_bytes]);
  c.l1Requests += stagings * requests;
  c.smemWavefronts += stagings * requests;
  c.issueSlots += stagings * 4 * loads;
  c.l2Bytes += stagings * window * e;
}

/// Each tensor once, psi for each tile, and what stores request.
static void countTensors(const Problem &p, const Target &target, int32_t order,
                         const GatherShape &s, const GatherTiles &t,
                         Counts &c) {
  const double psi = psiBytes(p, accumulatorBytes(p));
  c.l2Bytes += psi * t.tiles * t.blocks;
  const double expanded = expandedElements(p, order) * elementBytes(p);
  const double result = s.sumOverK ? outputBytes(p) : expanded;
  const bool inDram = s.expanded == Expanded::dram;
  c.dramReadBytes = psi;
  if (!s.sumOverK || inDram)
    c.dramReadBytes += s.sumOverK ? expanded : inputBytes(p);
  if (s.sumOverK || inDram)
    c.dramWriteBytes = result;
  c.l2Bytes += result;
  c.l1Requests += result / target[F::vector_bytes];
}

/// The longest row (or piece of it) alone on a core: its instructions, and a
/// trip to the shared cache for each ring unless the next one is under way.
static double chainSeconds(const Problem &p, const Target &target,
                           const GatherShape &s, double tapSlots) {
  const double longest = real(p.filter.max_taps);
  const double piece =
      s.splitTaps > 0 ? std::min(s.splitTaps, longest) : longest;
  const double warpsOfCta = std::max(1.0, s.threads / lanes);
  const double chainClocks =
      piece * tapSlots * std::max(1.0, warpsOfCta / target[F::issue_per_clock]);
  const double trips =
      s.pipelined ? 1 : std::max(1.0, real(p.filter.max_rings));
  return chainClocks / (1e9 * target[F::clock_ghz]) +
         1e-9 * trips * target[F::l2_latency_ns];
}

Stage planning::gatherStage(const Problem &p, const Target &target,
                            int32_t order, const GatherShape &s) {
  Stage stage;
  stage.name = "contraction";
  Counts &c = stage.counts;
  const FilterCounts &f = p.filter;
  const GatherTiles t = tilesOf(p, order, s);
  const double tapSlots = countTaps(p, target, s, t, c);
  countStaging(p, target, s, t, c);
  countTensors(p, target, order, s, t, c);
  c.usefulFlop = sparseFlop(p, order);
  Work work;
  work.fmaDType = dtypeOf(p);
  work.fmaFlop = c.paddedFlop;
  c.threads = s.threads;
  c.registersPerThread = gatherRegisters(p, s);
  c.smemBytes = gatherSmemBytes(p, s);
  // A CTA is a tile of a row's longitudes, or of the points.
  const double rowTiles =
      p.structure == DISCO_SPHERE
          ? t.rows * t.tiles
          : ceilDiv(real(f.rows), s.threads * s.lonPerThread);
  c.ctas = std::max(1.0, rowTiles * t.blocks * (s.restage ? t.groups : 1));
  c.ctasPerCore =
      residentCtas(target, c.threads, c.registersPerThread, c.smemBytes);
  c.tapImbalance = tapImbalance(f);
  work.chainSeconds =
      chainSeconds(p, target, s, tapSlots / (s.restage ? t.groups : 1));
  setTimes(stage, target, work);
  return stage;
}
