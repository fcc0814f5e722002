//===- Filter.cpp - psi on a device ---------------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Filter.h"

#include "../Core/Family.h"
#include "Blobs.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>

namespace disco::cuda::csr {

static const char *nameOf(int32_t dtype) {
  static constexpr const char *names[] = {"f64", "f32", "f16", "bf16"};
  return names[dtype];
}

/// The features that a thread of contract sums at a time: what wastes least of
/// what there are kernels for. Each pass also reads x again.
static int32_t chooseKTile(int64_t numBasis, int32_t dtype, int64_t minFields) {
  const bool isDouble = dtype == DISCO_F64;
  if (minFields < (isDouble ? 4 : 8))
    return 9;
  const std::vector<int32_t> tiles =
      isDouble ? std::vector<int32_t>{4, 9} : std::vector<int32_t>{4, 9, 11};
  int32_t best = 9;
  int64_t bestCost = INT64_MAX;
  for (const int32_t tile : tiles) {
    const int64_t cost = (numBasis + tile - 1) / tile * (tile + 2);
    if (cost < bestCost) {
      bestCost = cost;
      best = tile;
    }
  }
  return best;
}

disco_status Filter::make(const Device &device, const disco_kernel_psi &psi,
                          int32_t dtype, FilterOp op, int64_t minFields,
                          int64_t blockLatitudes, Filter &filter) {
  Filter made;
  made.op = op;
  made.dtype = dtype;
  made.isSphere = psi.form == DISCO_FORM_ARCS;
  if (disco_status s = made.make(device, psi, minFields, blockLatitudes))
    return s;
  if (disco_status s = made.checkKernels(device))
    return s;
  filter = std::move(made);
  return DISCO_OK;
}

disco_status Filter::make(const Device &device, const disco_kernel_psi &psi,
                          int64_t minFields, int64_t blockLatitudes) {
  const int64_t planes[] = {psi.nlat_in * psi.nlon_in,
                            psi.nlat_out * psi.nlon_out};
  for (const int64_t plane : planes)
    if (plane > INT32_MAX)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected psi to have fewer than 2^31 points on each side, "
                  "but got %" PRId64,
                  plane);
  kTile = chooseKTile(psi.num_basis, dtype, minFields);
  const int32_t widest = static_cast<int32_t>(std::min<int64_t>(minFields, 8));
  if (!isSphere) {
    if (disco_status s = makePoints(device, psi, blockLatitudes))
      return s;
    const std::string stem = op == FilterOp::contract
                                 ? "csr_contract_points_"
                                 : "csr_contract_sum_points_";
    return addVariants(device, pointsBlob(dtype), {4, 1}, widest, stem, "", 0,
                       0);
  }
  const Lattice lattice = toLattice(psi);
  const int64_t sum = sizeOfSum(sumType());
  if (op == FilterOp::contract) {
    if (disco_status s = makeContract(device, psi, lattice, blockLatitudes))
      return s;
    const std::vector<int32_t> widths = dtype == DISCO_F64
                                            ? std::vector<int32_t>{4, 1}
                                            : std::vector<int32_t>{8, 4, 1};
    return addVariants(
        device, contractBlob(dtype), widths, widest, "csr_contract_",
        "_k" + std::to_string(kTile), contract.columns * sum,
        maxTaps * recordSize(kTile, static_cast<int>(sum)) * sum);
  }
  if (disco_status s = makeContractSum(device, psi, lattice))
    return s;
  const std::vector<int32_t> widths = dtype == DISCO_F64
                                          ? std::vector<int32_t>{2, 1}
                                          : std::vector<int32_t>{4, 1};
  return addVariants(device, contractSumBlob(dtype), widths, widest,
                     "csr_contract_sum_", "", contractSum.columns * sum,
                     16 + contractSum.maxWords * sum +
                         maxPieces * int64_t(sizeof(Int4)));
}

/// Kernels for each width, as far as a launch of `minFields` or more fields may
/// use them.
disco_status Filter::addVariants(const Device &device, const Blob &blob,
                                 const std::vector<int32_t> &widths,
                                 int64_t minFields, const std::string &stem,
                                 const std::string &end, int64_t smemOfField,
                                 int64_t smemRest) {
  for (const int32_t width : widths) {
    Variant variant;
    variant.fields = width;
    const std::string name =
        stem + nameOf(dtype) + "_bc" + std::to_string(width) + end;
    if (disco_status s = findKernel(
            device, blob, name, smemOfField * width + smemRest, variant.kernel))
      return s;
    variants.push_back(variant);
    if (width <= minFields)
      break;
  }
  return DISCO_OK;
}

disco_status Filter::uploadSphere(const Device &device,
                                  const std::vector<Int4> &hostRows,
                                  const std::vector<Int4> &hostStages,
                                  const std::vector<Int4> &hostWindows,
                                  const std::vector<char> &hostValues) {
  if (static_cast<int64_t>(hostValues.size()) / sizeOfSum(sumType()) >
      INT32_MAX)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected psi to have fewer than 2^31 values, but got %zu "
                "bytes of them",
                hostValues.size());
  if (disco_status s = rows.upload(device, hostRows))
    return s;
  if (disco_status s = stages.upload(device, hostStages))
    return s;
  if (disco_status s = windows.upload(device, hostWindows))
    return s;
  return values.upload(device, hostValues);
}

static Sphere sphereOf(const Lattice &lattice, const DeviceMemory &rows,
                       const DeviceMemory &stages, const DeviceMemory &windows,
                       const DeviceMemory &values) {
  Sphere sphere = {};
  sphere.lattice = lattice.points;
  sphere.stride = lattice.stride;
  sphere.phases = lattice.phases;
  sphere.rows = rows.as<const Int4>();
  sphere.stages = stages.as<const Int4>();
  sphere.windows = windows.as<const Int4>();
  sphere.values = values.as<const void>();
  return sphere;
}

disco_status Filter::makeContract(const Device &device,
                                  const disco_kernel_psi &psi,
                                  const Lattice &lattice,
                                  int64_t blockLatitudes) {
  const ContractTables tables = makeContractTables(
      psi, lattice, sumType(), contractThreads, kTile, blockLatitudes);
  if (disco_status s = uploadSphere(device, tables.rows, tables.stages,
                                    tables.windows, tables.values))
    return s;
  contract.sphere = sphereOf(lattice, rows, stages, windows, values);
  contract.sphere.tile = tables.tile;
  contract.sphere.tiles = (lattice.points + tables.tile - 1) / tables.tile;
  contract.kTiles = tables.kTiles;
  contract.numTaps = tables.numTaps;
  contract.columns = tables.columns;
  maxTaps = tables.maxTaps;
  blockRows = tables.blockOffsets;
  for (const int32_t row : blockRows)
    blockPoints.push_back(row / lattice.phases * psi.nlon_out);
  return DISCO_OK;
}

disco_status Filter::makeContractSum(const Device &device,
                                     const disco_kernel_psi &psi,
                                     const Lattice &lattice) {
  const ContractSumTables tables =
      makeContractSumTables(psi, lattice, sumType());
  if (disco_status s = uploadSphere(device, tables.rows, tables.stages,
                                    tables.windows, tables.values))
    return s;
  if (disco_status s = pieces.upload(device, tables.pieces))
    return s;
  if (disco_status s = pieceOffsets.upload(device, tables.pieceOffsets))
    return s;
  if (disco_status s = rowPlaces.upload(device, tables.rowPlaces))
    return s;
  contractSum.sphere = sphereOf(lattice, rows, stages, windows, values);
  contractSum.sphere.tile = tables.tile;
  contractSum.sphere.tiles = tables.tiles;
  contractSum.sphere.pieces = pieces.as<const Int4>();
  contractSum.sphere.pieceOffsets = pieceOffsets.as<const int32_t>();
  contractSum.rowPlaces = rowPlaces.as<const int32_t>();
  contractSum.rowsPerBlock = tables.rowsPerBlock;
  contractSum.lanes = tables.lanes;
  contractSum.columns = tables.columns;
  contractSum.maxWords = tables.maxWords;
  maxPieces = tables.maxPieces;
  blockRows = {0, static_cast<int32_t>(tables.rows.size())};
  blockPoints = {0, psi.nlat_out * psi.nlon_out};
  return DISCO_OK;
}

disco_status Filter::makePoints(const Device &device,
                                const disco_kernel_psi &psi,
                                int64_t pointsOfBlock) {
  const PointTables tables = makePointTables(psi, sumType());
  if (disco_status s = offsets.upload(device, tables.offsets))
    return s;
  if (disco_status s = columns.upload(device, tables.columns))
    return s;
  if (disco_status s = values.upload(device, tables.values))
    return s;
  points.offsets = offsets.as<const int32_t>();
  points.columns = columns.as<const int32_t>();
  points.values = values.as<const void>();
  const int64_t count = psi.nlon_out;
  const int64_t step = std::max<int64_t>(
      pointsOfBlock ? std::min(pointsOfBlock, count) : count, 1);
  for (int64_t first = 0; first < count; first += step)
    blockPoints.push_back(first);
  blockPoints.push_back(count);
  return DISCO_OK;
}

int64_t Filter::maxBlockPoints() const {
  int64_t most = 0;
  for (int32_t block = 0; block < numBlocks(); ++block)
    most = std::max(most, blockPoints[block + 1] - blockPoints[block]);
  return most;
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

/// The blocks of a grid, if they can be counted.
static disco_status countBlocks(int64_t a, int64_t b, int64_t c,
                                unsigned &blocks) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product) ||
      __builtin_mul_overflow(product, c, &product) || product > INT32_MAX)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected the call to take fewer than 2^31 blocks of threads, "
                "but got %" PRId64 " x %" PRId64 " x %" PRId64,
                a, b, c);
  blocks = static_cast<unsigned>(product);
  return DISCO_OK;
}

static int32_t divideUp(int64_t a, int64_t b) {
  return static_cast<int32_t>((a + b - 1) / b);
}

static void advance(void *&memory, int64_t bytes) {
  memory = static_cast<char *>(memory) + bytes;
}

disco_status Filter::launch(Fields fields, int32_t block,
                            cudaStream_t stream) const {
  for (const Variant &variant : variants)
    if (variant.fields <= fields.numFields)
      return launch(variant, fields, block, stream);
  return launch(variants.back(), fields, block, stream);
}

disco_status Filter::launch(const Variant &variant, const Fields &fields,
                            int32_t block, cudaStream_t stream) const {
  if (fields.numFields == 0 || blockPoints[block] == blockPoints[block + 1])
    return DISCO_OK;
  if (!isSphere)
    return launchPoints(variant, fields, block, stream);
  return op == FilterOp::contract
             ? launchContract(variant, fields, block, stream)
             : launchContractSum(variant, fields, stream);
}

disco_status Filter::launchContract(const Variant &variant,
                                    const Fields &fields, int32_t block,
                                    cudaStream_t stream) const {
  ContractParams params = contract;
  params.fields = fields;
  // Rows have their place in the whole plane.
  advance(params.fields.y, -blockPoints[block] * sizeOf(dtype));
  Sphere &sphere = params.sphere;
  sphere.rows += blockRows[block];
  sphere.fieldBlocks = divideUp(fields.numFields, variant.fields);
  Launch launch;
  if (disco_status s =
          countBlocks(blockRows[block + 1] - blockRows[block],
                      sphere.fieldBlocks, sphere.tiles, launch.blocks))
    return s;
  launch.threads = static_cast<unsigned>(divideUp(sphere.tile, 32)) * 32;
  launch.smemBytes = static_cast<unsigned>(variant.kernel.smemLimit);
  launch.stream = stream;
  return cuda::launch(variant.kernel, launch, &params);
}

disco_status Filter::launchContractSum(const Variant &variant,
                                       const Fields &fields,
                                       cudaStream_t stream) const {
  ContractSumParams params = contractSum;
  params.fields = fields;
  Sphere &sphere = params.sphere;
  sphere.fieldBlocks = divideUp(fields.numFields, variant.fields);
  Launch launch;
  if (disco_status s = countBlocks(blockRows[1], sphere.fieldBlocks,
                                   sphere.tiles, launch.blocks))
    return s;
  launch.threads =
      static_cast<unsigned>(contractSum.rowsPerBlock * contractSum.lanes);
  launch.smemBytes = static_cast<unsigned>(variant.kernel.smemLimit);
  launch.stream = stream;
  return cuda::launch(variant.kernel, launch, &params);
}

disco_status Filter::launchPoints(const Variant &variant, const Fields &fields,
                                  int32_t block, cudaStream_t stream) const {
  PointParams params = points;
  params.fields = fields;
  params.offsets += blockPoints[block];
  params.numPoints =
      static_cast<int32_t>(blockPoints[block + 1] - blockPoints[block]);
  params.pointBlocks = divideUp(params.numPoints, pointThreads);
  params.fieldBlocks = divideUp(fields.numFields, variant.fields);
  Launch launch;
  if (disco_status s =
          countBlocks(params.pointBlocks, params.fieldBlocks, 1, launch.blocks))
    return s;
  launch.threads = pointThreads;
  launch.stream = stream;
  return cuda::launch(variant.kernel, launch, &params);
}

//===----------------------------------------------------------------------===//
// Canary
//===----------------------------------------------------------------------===//

/// A whole ring, an arc round the end of one, and a row without taps; points:
/// one with many taps, then some with few and some without.
CanaryPsi makeCanaryPsi(bool isSphere, int64_t numBasis, int64_t points) {
  CanaryPsi c;
  c.psi.num_basis = numBasis;
  c.psi.index_dtype = DISCO_I32;
  c.psi.value_dtype = DISCO_F64;
  std::vector<int64_t> taps;
  const auto n = static_cast<int32_t>(points);
  if (isSphere) {
    c.psi.form = DISCO_FORM_ARCS;
    c.psi.nlat_in = 2;
    c.psi.nlat_out = 3;
    c.psi.nlon_in = c.psi.nlon_out = points;
    taps = {n, std::min(n, 5), 0};
    c.offsets = {0, 1, 2, 2};
    c.indices = {0, 0, n, 0, 1, std::max(0, n - 2), std::min(n, 5), n};
    c.psi.num_arcs = 2;
  } else {
    c.psi.form = DISCO_FORM_CSR;
    c.psi.nlat_in = c.psi.nlat_out = 1;
    c.psi.nlon_in = c.psi.nlon_out = points;
    c.offsets.push_back(0);
    for (int32_t i = 0; i < n; ++i) {
      taps.push_back(i == 0 ? 40 : i % 4);
      for (int64_t t = 0; t < taps.back(); ++t)
        c.indices.push_back(static_cast<int32_t>((i + t) % n));
      c.offsets.push_back(static_cast<int32_t>(c.indices.size()));
    }
  }
  for (const int64_t count : taps) {
    c.rowSums.resize(c.rowSums.size() + numBasis);
    double *sums = c.rowSums.data() + c.rowSums.size() - numBasis;
    for (int64_t t = 0; t < count; ++t)
      for (int64_t k = 0; k < numBasis; ++k) {
        c.values.push_back(static_cast<double>((t + 3 * k) % 7 - 2) / 8);
        sums[k] += c.values.back();
      }
    c.psi.num_taps += count;
  }
  c.psi.offsets = c.offsets.data();
  c.psi.indices = c.indices.data();
  c.psi.values = c.values.data();
  return c;
}

disco_status Filter::checkKernels(const Device &device) const {
  for (const Variant &variant : variants)
    if (disco_status s = checkOnce(device, variant.kernel.name, [&] {
          return checkKernel(device, variant);
        }))
      return s;
  return DISCO_OK;
}

/// Ones, of a type.
static std::vector<char> ones(int32_t dtype, int64_t count) {
  const uint64_t bits[] = {0x3ff0000000000000, 0x3f800000, 0x3c00, 0x3f80};
  const int64_t size = sizeOf(dtype);
  std::vector<char> memory(count * size);
  for (int64_t i = 0; i < count; ++i)
    std::copy_n(reinterpret_cast<const char *>(&bits[dtype]), size,
                memory.data() + i * size);
  return memory;
}

/// Filters fields of ones, so that an out-point is its row's sum of values.
disco_status Filter::checkKernel(const Device &device,
                                 const Variant &variant) const {
  const int64_t K = kTile + 1, n = 2 * contractThreads + 5;
  const CanaryPsi canaryPsi = makeCanaryPsi(isSphere, K, n);
  Filter filter;
  filter.op = op;
  filter.dtype = dtype;
  filter.isSphere = isSphere;
  if (disco_status s = filter.make(device, canaryPsi.psi, variant.fields, 0))
    return s;
  const bool sums = op == FilterOp::contractSum;
  const int64_t numIn = canaryPsi.psi.nlat_in * n;
  const int64_t numOut = canaryPsi.psi.nlat_out * n;
  Fields fields = {};
  fields.numFields = variant.fields + 1;
  fields.numBasis = static_cast<int32_t>(K);
  fields.xBasis = numIn;
  fields.xField = sums ? K * numIn : numIn;
  fields.yBasis = numOut;
  fields.yField = sums ? numOut : K * numOut;
  DeviceMemory x;
  if (disco_status s =
          x.upload(device, ones(dtype, fields.numFields * fields.xField)))
    return s;
  fields.x = x.as<void>();
  const int64_t elements = fields.numFields * fields.yField;
  std::vector<char> y(elements * sizeOf(dtype));
  const auto run = [&](void *memory) -> disco_status {
    Fields out = fields;
    out.y = memory;
    for (const Variant &v : filter.variants)
      if (v.fields == variant.fields)
        return filter.launch(v, out, 0, device.stream());
    return fail(DISCO_INTERNAL, "no kernel %s", variant.kernel.name);
  };
  if (disco_status s =
          canary(device, variant.kernel.name, dtype, elements, run, y.data()))
    return s;
  for (int64_t i = 0; i < elements; ++i) {
    const int64_t row = isSphere ? i % numOut / n : i % numOut;
    double expected = 0;
    for (int64_t k = 0; k < K; ++k)
      if (sums || i / numOut % K == k)
        expected += canaryPsi.rowSums[row * K + k];
    const double got = elementAt(y.data(), dtype, i);
    if (!(std::abs(got - expected) <= 0.01 * std::abs(expected) + 0.01))
      return fail(DISCO_EXECUTION_FAILED,
                  "expected kernel %s to compute %g for element %" PRId64
                  " on cuda:%d (%s), but got %g",
                  variant.kernel.name, expected, i, device.index(),
                  device.traits().name, got);
  }
  return DISCO_OK;
}

} // namespace disco::cuda::csr
