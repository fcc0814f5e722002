//===- CsrGather.cpp - gather on CUDA cores -------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// contract: one CTA computes one (row, block of fields, longitude tile) for all
// K. Ring windows are staged in shared memory once, for all features; taps are
// read once for all fields of the block. contract_sum: one warp computes some
// rows, fields and a longitude tile, and slides over windows. conv runs them
// over blocks of rows (or channels), with a matrix product after (or before).
// What there are kernels for is in disco/ABI/Families/CsrGather.h.
//
//===----------------------------------------------------------------------===//

#include "disco/ABI/Families/CsrGather.h"
#include "../Models.h"
#include "disco/ABI/Families/CsrGatherMix.h"

#include <algorithm>
#include <cmath>
#include <iterator>

using namespace disco;
using namespace disco::planning;

static constexpr FieldInfo fields[DISCO_CSR_GATHER_NUM_FIELDS] = {
    {"fields",
     "fields (batch times channels) of a CTA, of a warp where features are "
     "summed",
     "fields", 1, 8, 1},
    {"features",
     "features that a thread sums at a time; 0 where they are summed, and on "
     "points",
     "features", 0, 11, 1},
    {"block_mib",
     "MiB of the K-expanded tensor between filter and mix; 0: no mix", "MiB", 0,
     DISCO_CSR_GATHER_MAX_BLOCK_MIB, 1},
};
static constexpr FieldTable table = {fields, DISCO_CSR_GATHER_NUM_FIELDS};

static bool mixesChannels(const Problem &p) {
  return p.op == DISCO_OP_CONV || p.op == DISCO_OP_CONV_WEIGHT_GRAD;
}

/// Whether the filter is applied as contract_sum.
static bool sumsFeatures(const Problem &p, int32_t order) {
  return order == DISCO_WEIGHT_FIRST && p.op != DISCO_OP_CONV_WEIGHT_GRAD;
}

static bool isSphere(const Problem &p) { return p.structure == DISCO_SPHERE; }
static bool isDouble(const Problem &p) { return dtypeOf(p) == DType::f64; }

static int64_t maxFields(const Problem &p, int32_t order) {
  return disco_csr_gather_max_fields(isSphere(p), sumsFeatures(p, order),
                                     isDouble(p));
}

//===----------------------------------------------------------------------===//
// What the kernels' code and counters say (one H200, ncu; see
// docs/Families/csr_gather.md)
//===----------------------------------------------------------------------===//

/// The share of the cycles in which they issue: contract 64 %, contract_sum
/// 67 %, the f32 product 69 % on self256; and that of a block which is alone,
/// from the time of the longest rows (contract and contract_sum of 16 channels,
/// 90x180: 33.5 and 42 us).
static constexpr double issueShare = 0.66;
static constexpr double aloneShare = 0.4, sumAloneShare = 0.2;
/// Instructions round the taps of contract for each sum of a thread: storing
/// it, its address, its share of the staging (1306 million in all on self256).
static constexpr double storeSlots = 15;
/// Instructions of contract_sum for each tap and k besides multiply-adds and
/// loads (a step, of a tap to six, takes 24, finding the taps of its rows up to
/// 18), and for each ring and k besides staging (119 for a window, which 2 to 3
/// rows share).
static constexpr double sumTapSlots = 2, sumRingSlots = 30;
/// Of the two multiply-adds of a pair of mirrored taps, what adding their words
/// first saves: a group's rows, 2 to 3 on a ring, share the addition. Narrow
/// arcs, of so many pairs, are not mirrored. (self256: 834 million
/// multiply-adds were 703.)
static constexpr double mirroredSaving = 0.5, narrowPairs = 3;
/// The share of the multiply-add pipes (f32: 54 %, with the stores) and of the
/// tensor units that the product fills. Those do each product with a high and a
/// low part.
static constexpr double productFmaShare = 0.57, productTensorShare = 0.31;
static constexpr double productParts = 2;
/// Storing a tile takes as long as so many steps of its sums: products of 256
/// channels (the weight first) and of 2304 compared, f32 and 16 bits.
static constexpr double productStoreSteps = 150, narrowStoreSteps = 400;
/// Of each block of rows but the last, of which launches follow each other: the
/// last blocks of threads run alone. weight_grad of self256 takes 48 us more
/// for each block more in f32, 32 us in bf16.
static constexpr double blockMicroseconds = 40;

static GatherShape shapeOf(const Problem &p, const Schedule &s) {
  GatherShape shape;
  shape.bcTile = real(get(s, DISCO_CSR_GATHER_FIELDS));
  shape.sumOverK = sumsFeatures(p, s.order);
  // A block of contract waits for what it stages; its neighbours do not.
  shape.pipelined = shape.sumOverK;
  if (!isSphere(p)) {
    shape.kTile = real(std::min<int64_t>(8, p.num_basis));
    shape.threads = DISCO_CSR_GATHER_POINTS;
  } else if (shape.sumOverK) {
    // Warps work alone; a word that is loaded serves the taps of some
    // longitudes and rows.
    shape.threads = 32;
    shape.lonPerThread = DISCO_CSR_GATHER_SUM_LONGITUDES;
    shape.reuse = DISCO_CSR_GATHER_SUM_ROWS;
    shape.pieceTaps = DISCO_CSR_GATHER_SUM_PIECE_TAPS;
    // The warps of a block share what has many taps.
    shape.splitTaps =
        std::max(1.0, real(p.filter.max_taps) / DISCO_CSR_GATHER_SUM_WARPS);
  } else {
    // A thread sums so many, whether they exist or not.
    shape.kTile = real(get(s, DISCO_CSR_GATHER_FEATURES));
    shape.threads = DISCO_CSR_GATHER_LONGITUDES;
    shape.pieceTaps = DISCO_CSR_GATHER_PIECE_TAPS;
  }
  shape.loadElements = 4 / elementBytes(p) < 1 ? 1 : 4 / elementBytes(p);
  // K values of a tap as 16-byte broadcasts.
  shape.tapLoads = ceilDiv(shape.kTile * accumulatorBytes(p), 16);
  shape.tapOverhead =
      isSphere(p) && shape.sumOverK ? sumTapSlots * real(p.num_basis) : 4;
  return shape;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static std::optional<RuleFailure> checkArch(const Problem &,
                                            const Target &target, int32_t) {
  return checkFeatures(target, featureAsyncCopy);
}

static std::optional<RuleFailure> checkIndices(const Problem &p,
                                               const Target &target, int32_t) {
  return checkExtents(p, target);
}

/// "1, 4 or 8": the fields that there are kernels for.
static std::string knownFields(const Problem &p, int32_t order) {
  const int64_t most = maxFields(p, order);
  std::string names = "1";
  for (const int64_t width : {int64_t(4), most})
    if (width <= most && width > 1 &&
        names.find(text(width)) == std::string::npos &&
        disco_csr_gather_has_fields(isSphere(p), sumsFeatures(p, order),
                                    isDouble(p), width))
      names += (width == most ? " or " : ", ") + text(width);
  return names;
}

static std::optional<RuleFailure> checkKernel(const Problem &p, const Target &,
                                              const Schedule &s) {
  const bool sums = sumsFeatures(p, s.order);
  const int64_t width = get(s, DISCO_CSR_GATHER_FIELDS);
  const int64_t features = get(s, DISCO_CSR_GATHER_FEATURES);
  const bool contracts = isSphere(p) && !sums;
  if (!disco_csr_gather_has_fields(isSphere(p), sums, isDouble(p), width))
    return failure("expected fields to be " + knownFields(p, s.order) +
                       ", but got " + text(width),
                   "use fields=" + text(maxFields(p, s.order)));
  if (!contracts && features != 0)
    return failure("expected features to be 0 where a thread has no features "
                   "of its own, but got " +
                       text(features),
                   "use features=0");
  if (contracts && !disco_csr_gather_has_features(isDouble(p), width, features))
    return failure("expected features to be " +
                       std::string(width < maxFields(p, s.order) ? "9"
                                   : isDouble(p) ? "4 or 9"
                                                 : "4, 9 or 11") +
                       " for " + text(width) + " fields, but got " +
                       text(features),
                   "use features=9");
  return std::nullopt;
}

static std::optional<RuleFailure> checkBlocks(const Problem &p, const Target &,
                                              const Schedule &s) {
  const int64_t block = get(s, DISCO_CSR_GATHER_BLOCK_MIB);
  if ((block != 0) == mixesChannels(p))
    return std::nullopt;
  if (block == 0)
    return failure("expected block_mib to be at least 1 for " +
                       std::string(nameOfOp(p.op)) + ", but got 0",
                   "use block_mib=" +
                       text(int64_t(DISCO_CSR_GATHER_DEFAULT_BLOCK_MIB)));
  return failure("expected block_mib to be 0 for " +
                     std::string(nameOfOp(p.op)) + ", but got " + text(block),
                 "leave block_mib at 0");
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Bytes of the K-expanded tensor of a block, and how many blocks there are.
/// Narrow types have a high and a low part of each element. Blocks are whole
/// rows of a sample, or channels where features are summed.
struct Blocks {
  double bytes, count;
};

static Blocks blocksOf(const Problem &p, const Schedule &s) {
  const double parts = elementBytes(p) == 2 ? 2 : 1;
  const double sample =
      expandedElements(p, s.order) / real(p.batch) * elementBytes(p) * parts;
  const double units = sumsFeatures(p, s.order)
                           ? filteredChannels(p, s.order)
                           : real(appliedFilter(p, s.order)
                                      .problem.out_shape[isSphere(p) ? 0 : 1]) *
                                 (isSphere(p) ? 1 : outPoints(p));
  const double wanted =
      real(get(s, DISCO_CSR_GATHER_BLOCK_MIB)) * double(1 << 20);
  const double unit = sample / std::max(units, 1.0);
  const double perBlock = std::clamp(std::floor(wanted / std::max(unit, 1.0)),
                                     1.0, std::max(units, 1.0));
  return {perBlock * unit, ceilDiv(units, perBlock) * real(p.batch)};
}

/// The widest kernel that the fields fill; samples are mixed one by one.
static int64_t widestFor(const Problem &p, int32_t order) {
  const double all =
      mixesChannels(p) ? filteredChannels(p, order) : filteredFields(p, order);
  int64_t width = maxFields(p, order);
  while (real(width) > all && width > 1)
    width = width == 8 ? 4 : 1;
  return width;
}

static void candidates(const Problem &p, const Target &, int32_t order,
                       int32_t provider, std::vector<Schedule> &schedules) {
  const bool contracts = isSphere(p) && !sumsFeatures(p, order);
  const int64_t widest = widestFor(p, order);
  const auto add = [&](int64_t width, int64_t features) {
    Schedule s = makeSchedule(table, order, provider);
    s.fields[DISCO_CSR_GATHER_FIELDS].value = width;
    s.fields[DISCO_CSR_GATHER_FEATURES].value = features;
    s.fields[DISCO_CSR_GATHER_BLOCK_MIB].value =
        mixesChannels(p) ? DISCO_CSR_GATHER_DEFAULT_BLOCK_MIB : 0;
    schedules.push_back(s);
  };
  if (!contracts)
    return add(widest, 0);
  for (const int64_t features : {9, 11, 4}) {
    // Elements of 16 bits are staged faster by fours: 1.88 against 2.04 ms.
    const int64_t width = features == 9 && elementBytes(p) == 2
                              ? std::min<int64_t>(widest, 4)
                              : widest;
    if (disco_csr_gather_has_features(isDouble(p), width, features))
      add(width, features);
  }
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

namespace {

/// The product of a group: [rows, columns], of the weight's gradient or else of
/// the points of a block.
struct Product {
  double rows, columns, tileRows, tileColumns;
};

} // namespace

static Product productOf(const Problem &p, int32_t order) {
  const auto size = static_cast<int>(elementBytes(p));
  const double in = real(p.channels / p.groups);
  const double out = real(p.out_channels / p.groups), K = real(p.num_basis);
  const bool isFirst = order == DISCO_WEIGHT_FIRST;
  const bool isGradient = p.op == DISCO_OP_CONV_WEIGHT_GRAD;
  Product product{};
  product.rows = out * (isFirst ? K : 1);
  product.columns = isGradient ? in * (isFirst ? 1 : K)
                               : (isFirst ? inPoints(p) : outPoints(p));
  const bool isFlat =
      !isGradient && product.rows <= DISCO_CSR_GATHER_FLAT_MAX_ROWS;
  product.tileRows = real(disco_csr_gather_mix_rows(isFlat));
  product.tileColumns = real(disco_csr_gather_mix_columns(size, isFlat));
  return product;
}

/// Blocks of rows as they are launched.
static Blocks launchedBlocks(const Problem &p, const Target &target,
                             const Schedule &s) {
  const Blocks whole = blocksOf(p, s);
  if (p.op != DISCO_OP_CONV || sumsFeatures(p, s.order) || !isSphere(p))
    return whole;
  const Product product = productOf(p, s.order);
  const double rows = real(p.out_shape[0]);
  const double row = expandedElements(p, s.order) / (real(p.batch) * rows) *
                     elementBytes(p) * (elementBytes(p) == 2 ? 2 : 1);
  const double slots =
      DISCO_CSR_GATHER_GRADIENT_BLOCKS * target[TargetField::cores];
  const double block = real(disco_csr_gather_balanced_rows(
      p.out_shape[0], p.out_shape[1],
      static_cast<int64_t>(std::round(whole.bytes / row)), 1,
      static_cast<int64_t>(real(p.groups) *
                           ceilDiv(product.rows, product.tileRows)),
      static_cast<int64_t>(product.tileColumns), static_cast<int64_t>(slots)));
  return {block * row, ceilDiv(rows, block) * real(p.batch)};
}

/// Besides a block: the packed weight with a low part where narrow types have a
/// wide weight, or the parts of the weight's gradient.
static double mixBytes(const Problem &p, const Target &target, int32_t order) {
  const Product product = productOf(p, order);
  const double groups = real(p.groups);
  if (p.op == DISCO_OP_CONV_WEIGHT_GRAD) {
    const double tiles = groups * ceilDiv(product.rows, product.tileRows) *
                         ceilDiv(product.columns, product.tileColumns);
    const double parts =
        std::clamp(std::floor(DISCO_CSR_GATHER_GRADIENT_BLOCKS *
                              target[TargetField::cores] / tiles),
                   1.0, double(DISCO_CSR_GATHER_GRADIENT_PARTS));
    return parts * groups * product.rows * product.columns *
           accumulatorBytes(p);
  }
  const double line = real(p.channels / p.groups) *
                      (order == DISCO_WEIGHT_FIRST ? 1 : real(p.num_basis));
  const bool hasLow = elementBytes(p) == 2 && p.parameter_dtype == DISCO_F32;
  return groups * product.rows * padTo(line, DISCO_CSR_GATHER_LINE_ELEMENTS) *
         elementBytes(p) * (hasLow ? 2 : 1);
}

/// Pairs of taps that contract_sum adds before it multiplies them, for each
/// tap. Where grids differ, most arcs have no middle at a longitude.
static double mirroredShare(const Problem &p) {
  if (!isSphere(p) || p.in_shape[1] != p.out_shape[1] || isDouble(p))
    return 0;
  const FilterCounts &f = p.filter;
  const double wide = real(f.mirrored_pairs) - narrowPairs * real(f.rings);
  return std::max(0.0, wide) / std::max(1.0, real(f.taps));
}

/// What gatherStage does not count, and how fast instructions are issued.
static void addContractionTimes(Stage &stage, const Problem &p,
                                const Target &target, const GatherShape &shape,
                                bool mixes, double blocks) {
  Counts &c = stage.counts;
  // What a product wrote in 16 bits has a low part, which is summed likewise.
  if (mixes && shape.sumOverK && elementBytes(p) == 2)
    c.issueSlots *= productParts;
  if (isSphere(p)) {
    constexpr double lanes = 32;
    const double K = real(p.num_basis), warps = shape.threads / lanes;
    c.issueSlots += shape.sumOverK
                        ? c.ctas / std::max(1.0, real(p.filter.rows)) *
                              real(p.filter.rings) * K * sumRingSlots
                        : c.ctas * warps * K * shape.bcTile * storeSlots;
    if (shape.sumOverK)
      c.issueSlots -=
          mirroredSaving * mirroredShare(p) * c.paddedFlop / (2 * lanes);
  }
  const double idle =
      target[TargetField::cores] / std::min(target[TargetField::cores], c.ctas);
  stage[BoundClass::issue] =
      1e6 * idle * c.issueSlots /
      (target.coreClocks() * target[TargetField::issue_per_clock] * issueShare);
  stage[BoundClass::latency] /= shape.sumOverK ? sumAloneShare : aloneShare;
  c.launches = blocks;
  stage[BoundClass::launch] *= blocks;
  // Launches of blocks of rows take longer than what bounds the work of all.
  for (const BoundClass bound : {BoundClass::issue, BoundClass::lsu})
    stage[bound] += (blocks - 1) * blockMicroseconds;
}

/// The product of the family itself, by tiles of threads' blocks: whole tiles
/// are multiplied, and a launch takes as long as its fullest multiprocessor.
static void setProductTimes(Stage &stage, const Problem &p,
                            const Target &target, const Schedule &s,
                            double blocks) {
  const bool isGradient = p.op == DISCO_OP_CONV_WEIGHT_GRAD;
  const bool isWeightFirst = s.order == DISCO_WEIGHT_FIRST;
  const double K = real(p.num_basis);
  const Product product = productOf(p, s.order);
  const double points =
      (isWeightFirst ? inPoints(p) : outPoints(p)) * real(p.batch);
  const double n = isGradient ? product.columns : points / blocks;
  const double r = isGradient
                       ? points
                       : real(p.channels / p.groups) * (isWeightFirst ? 1 : K);
  Counts &c = stage.counts;
  const double tiles = real(p.groups) *
                       ceilDiv(product.rows, product.tileRows) *
                       ceilDiv(n, product.tileColumns);
  // A gradient is split over points until there are enough of them.
  const double slots =
      DISCO_CSR_GATHER_GRADIENT_BLOCKS * target[TargetField::cores];
  const double waves = isGradient ? 1 : std::max(0.5, tiles / slots);
  const double launched = isGradient ? std::max(tiles, slots) : waves * slots;
  const bool onTensor = elementBytes(p) == 2;
  const double stored = isGradient ? 0
                        : onTensor ? narrowStoreSteps
                                   : productStoreSteps;
  const double flop = 2 * product.tileRows * product.tileColumns *
                      (r + stored) * (isGradient ? tiles : launched * blocks);
  c.paddedFlop = flop;
  c.ctas = tiles * (isGradient ? 1 : blocks);
  c.issuedFlop = onTensor ? productParts * flop : flop;
  const BoundClass unit = onTensor ? BoundClass::tensor : BoundClass::fma;
  const double rate = onTensor
                          ? target.tensorRate(dtypeOf(p)) * productTensorShare
                          : target.fmaRate(dtypeOf(p)) * productFmaShare;
  for (const BoundClass bound :
       {BoundClass::tensor, BoundClass::fma, BoundClass::issue})
    stage[bound] = 0;
  stage[unit] = rate > 0 ? 1e6 * c.issuedFlop / rate : 0;
  // A gradient has a second stage, the sum of the parts in their order.
  c.launches = blocks + (isGradient ? 1 : 0);
  stage[BoundClass::launch] *= c.launches;
}

static Cost cost(const Problem &p, const Target &target, const Schedule &s) {
  GatherShape shape = shapeOf(p, s);
  Cost cost;
  const bool mixes = mixesChannels(p);
  double blocks = 1;
  if (mixes) {
    const Blocks b = launchedBlocks(p, target, s);
    blocks = b.count;
    cost.workspaceBytes = b.bytes + mixBytes(p, target, s.order);
    shape.expanded = b.bytes <= target[TargetField::l2_bytes] / 2
                         ? Expanded::sharedCache
                         : Expanded::dram;
  }
  const AppliedFilter applied = appliedFilter(p, s.order);
  Stage contraction =
      gatherStage(applied.problem, target, applied.order, shape);
  addContractionTimes(contraction, applied.problem, target, shape, mixes,
                      blocks);
  addInputRepack(cost, target, p, s);
  if (mixes) {
    Stage einsum = einsumStage(p, target, s.order, shape.expanded);
    setProductTimes(einsum, p, target, s, blocks);
    cost.stages.push_back(einsum);
  }
  // In the order in which they run: the mix first where features are summed.
  const bool isFirst = mixes && !shape.sumOverK;
  cost.stages.insert(cost.stages.end() - (isFirst ? 1 : 0), contraction);
  addOutputRepack(cost, target, p, s);
  return cost;
}

static void describe(const Problem &p, const Target &target, const Schedule &s,
                     Description &d) {
  const GatherShape shape = shapeOf(p, s);
  const AppliedFilter applied = appliedFilter(p, s.order);
  const bool sphere = isSphere(p);
  const std::string point = sphere ? "longitude" : "point";
  const auto points = static_cast<int64_t>(
      sphere ? pointsPerRow(applied.problem) : outPoints(applied.problem));
  const auto all = static_cast<int64_t>(filteredFields(p, s.order));
  const int64_t width = get(s, DISCO_CSR_GATHER_FIELDS);
  const std::string group =
      "fields 0.." + text(std::min(width, all) - 1) + ", tile ";
  if (sphere && shape.sumOverK) {
    constexpr int64_t each = DISCO_CSR_GATHER_SUM_LONGITUDES;
    constexpr int64_t most = 32 * each;
    // Tiles share the ring evenly, in whole threads.
    const int64_t tiles = (points + most - 1) / most;
    const int64_t tile =
        ((points + tiles - 1) / tiles + each - 1) / each * each;
    d.threads = {
        "a warp is (up to " + text(int64_t(DISCO_CSR_GATHER_SUM_ROWS)) +
            " output rows, " + text(width) + " fields, tile of " + text(tile) +
            " longitudes); a field is a sample and " + "channel; the " +
            text(int64_t(DISCO_CSR_GATHER_SUM_WARPS)) +
            " warps of a CTA work alone",
        "thread i sums longitudes " + text(each) + " i to " + text(each) +
            " i + " + text(each - 1) + " of the tile, for all rows and fields"};
    const int64_t last = (points - 1) / tile;
    d.example = {"warp (rows 0.., " + group + text(last) +
                 "), thread 0: longitudes " + text(last * tile) + ".." +
                 text(std::min(last * tile + each, points) - 1)};
  } else {
    const auto tile = static_cast<int64_t>(shape.threads);
    d.threads = {std::string("a CTA is (") + (sphere ? "output row, " : "") +
                     text(width) + " fields, tile of " + text(tile) + " " +
                     point + "s); a field is a sample and channel",
                 "thread i sums " + point + " i of the tile, for all " +
                     text(width) + " fields" +
                     (shape.sumOverK ? std::string()
                                     : " and " + text(shape.kTile) +
                                           " features at a time")};
    const int64_t last = tile < points ? 1 : 0;
    const int64_t thread = std::min<int64_t>(5, points - last * tile - 1);
    d.example = {std::string("CTA (") + (sphere ? "row 0, " : "") + group +
                 text(last) + "), thread " + text(thread) + ": " + point + " " +
                 text(last * tile + thread)};
  }
  const std::string from = nameOfFiltered(p, s.order);
  d.loads =
      sphere
          ? std::vector<std::string>{from + ": each ring window once into "
                                            "shared memory",
                                     "psi: " + text(shape.tapLoads) +
                                         " broadcast(s) of 16 B for each tap"}
          : std::vector<std::string>{
                from + ": each tap's element of each field from global memory; "
                       "threads of a warp read other points",
                "psi: " + text(shape.tapLoads) +
                    " load(s) of 16 B for each tap, of the thread's own row"};
  d.computation = {"multiply-adds in registers, no atomics"};
  if (mixesChannels(p)) {
    const Blocks b = launchedBlocks(p, target, s);
    d.computation.push_back(
        "filter and matrix product by turns, over " + text(b.count) +
        " block(s) of " + text(std::ceil(b.bytes / double(1 << 20))) + " MiB");
  }
  if (mixesChannels(p)) {
    const Product product = productOf(p, s.order);
    const auto size = static_cast<int>(elementBytes(p));
    d.mix = {"a CTA of " + text(int64_t(DISCO_CSR_GATHER_MIX_THREADS)) +
                 " threads computes a tile of " + text(product.tileRows) +
                 " x " + text(product.tileColumns) +
                 (p.op == DISCO_OP_CONV_WEIGHT_GRAD
                      ? " of the gradient's " + text(product.rows) + " x " +
                            text(product.columns) +
                            " in a group, for a part of "
                            "the points; parts are added "
                            "in a fixed order"
                      : " of " + text(product.rows) +
                            " channels in a group by the points of a block"),
             text(disco_csr_gather_mix_stages(size)) + " stages of " +
                 text(disco_csr_gather_mix_depth(size)) +
                 " steps of the sum are in shared memory"};
  }
  d.stores = {"neighbouring threads store neighbouring " + point +
              "s, each element once"};
}

static constexpr Rule rules[] = {
    {10, "the architecture is sm_80 or later", checkArch, nullptr},
    {11, "planes and values have fewer than 2^31 elements", checkIndices,
     nullptr},
    {12, "there is a kernel for so many fields and features", nullptr,
     checkKernel},
    {13, "block_mib only where channels are mixed", nullptr, checkBlocks},
};

namespace disco::planning::impls {
extern const FamilyImpl csr_gather;
const FamilyImpl csr_gather = {rules, std::size(rules), table, candidates,
                               cost,  describe};
} // namespace disco::planning::impls
