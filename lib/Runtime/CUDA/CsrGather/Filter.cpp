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

static int32_t divideUp(int64_t a, int64_t b) {
  return static_cast<int32_t>((a + b - 1) / b);
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
                          const FilterOptions &options, Filter &filter) {
  const Choices &choices = options.choices;
  // All that the tables depend on. Those of contract do from 8 fields on, which
  // is the widest kernel, no longer on how many; blocks end with the latitudes.
  const bool isContract = options.op == FilterOp::contract;
  const auto key = keyOf(
      "csr_gather", psi,
      {options.dtype, static_cast<int64_t>(options.op), choices.fields,
       choices.features,
       isContract ? std::min<int64_t>(options.minFields, 8) : options.minFields,
       isContract ? 0 : options.fields,
       std::min(options.blockLatitudes, psi.nlat_out * psi.nlon_out)});
  if (device.pool())
    if (const auto *shared = device.pool()->find<Filter>(key)) {
      filter = *shared;
      return DISCO_OK;
    }
  Filter made;
  made.options = options;
  made.isSphere = psi.form == DISCO_FORM_ARCS;
  made.kTile =
      choices.features
          ? choices.features
          : chooseKTile(psi.num_basis, options.dtype,
                        choices.fields ? choices.fields : options.minFields);
  if (disco_status s = made.make(device, psi))
    return s;
  if (disco_status s = made.checkKernels(device))
    return s;
  if (device.pool())
    device.pool()->add(key, made);
  filter = std::move(made);
  return DISCO_OK;
}

disco_status Filter::make(const Device &device, const disco_kernel_psi &psi) {
  const int64_t planes[] = {psi.nlat_in * psi.nlon_in,
                            psi.nlat_out * psi.nlon_out};
  for (const int64_t plane : planes)
    if (plane > INT32_MAX)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected psi to have fewer than 2^31 points on each side, "
                  "but got %" PRId64,
                  plane);
  const int32_t dtype = options.dtype;
  const bool isDouble = dtype == DISCO_F64;
  if (!isSphere) {
    if (disco_status s = makePoints(device, psi))
      return s;
    return addVariants(
        device, pointsBlob(dtype), {4, 1},
        (sums() ? "csr_contract_sum_points_" : "csr_contract_points_"), "",
        [](int32_t) { return 0; });
  }
  const Lattice lattice = toLattice(psi);
  const int64_t sum = sizeOfSum(sumType());
  if (!sums()) {
    if (disco_status s = makeContract(device, psi, lattice))
      return s;
    // Elements of 16 bits are staged faster for 4 fields than for 8 (measured:
    // 1.88 against 2.03 ms on self256).
    const bool isNarrow =
        sizeOf(dtype) == 2 && kTile == 9 && options.choices.fields == 0;
    return addVariants(
        device, contractBlob(dtype),
        isDouble || isNarrow ? std::vector<int32_t>{4, 1}
                             : std::vector<int32_t>{8, 4, 1},
        "csr_contract_", "_k" + std::to_string(kTile), [&](int32_t width) {
          return sum * (width * contract.columns +
                        maxTaps * recordSize(kTile, static_cast<int>(sum)));
        });
  }
  if (disco_status s = makeContractSum(device, psi, lattice))
    return s;
  return addVariants(
      device, contractSumBlob(dtype),
      isDouble ? std::vector<int32_t>{1} : std::vector<int32_t>{2, 1},
      "csr_contract_sum_", "",
      [&](int32_t width) { return sumWarps * sumBuffer(width).warp; });
}

/// Shared memory for a window of so many fields and its values. A warp's sums
/// take the place of its windows.
Filter::SumBuffer Filter::sumBuffer(int32_t fields) const {
  const auto sum = static_cast<int>(sizeOfSum(sumType()));
  const auto size = static_cast<int>(sizeOf(options.dtype));
  SumBuffer buffer;
  // The lanes of a warp read a word of the header each.
  buffer.bytes = int64_t(fields) * sumFieldChunks(size, sum) * size * 16 / sum +
                 std::max(sumValueBytes, 32 * 4);
  buffer.warp = std::max(sumStages * buffer.bytes,
                         int64_t(sumRows) * fields * 32 * sumPoints * sum) +
                sumGroupBytes;
  return buffer;
}

/// The kernel of the width that the schedule names, else one for each width, as
/// far as a launch of `minFields` or more fields may use it.
disco_status Filter::addVariants(const Device &device, const Blob &blob,
                                 const std::vector<int32_t> &widths,
                                 const std::string &stem,
                                 const std::string &end,
                                 const std::function<int64_t(int32_t)> &smem) {
  for (const int32_t width : widths) {
    if (options.choices.fields && width != options.choices.fields)
      continue;
    Variant variant;
    variant.fields = width;
    std::string name = stem;
    name.append(nameOfFloat(options.dtype))
        .append("_bc")
        .append(std::to_string(width))
        .append(end);
    if (disco_status s =
            findKernel(device, blob, name, smem(width), variant.kernel))
      return s;
    variants.push_back(variant);
    if (width <= options.minFields)
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
                                  const Lattice &lattice) {
  const ContractTables tables = makeContractTables(
      psi, lattice, sumType(), contractThreads, kTile, options.blockLatitudes);
  if (disco_status s = uploadSphere(device, tables.rows, tables.stages,
                                    tables.windows, tables.values))
    return s;
  contract.sphere = sphereOf(lattice, rows, stages, windows, values);
  contract.sphere.tile = tables.tile;
  contract.sphere.tiles = (lattice.points + tables.tile - 1) / tables.tile;
  contract.kTiles = tables.kTiles;
  contract.numTaps = tables.numTaps;
  // Records begin at multiples of 16 bytes.
  contract.columns = (tables.columns + 3) / 4 * 4;
  maxTaps = tables.maxTaps;
  blockRows = tables.blockOffsets;
  if (blockRows.size() == 1)
    blockRows.push_back(0); // no latitudes: one block of none
  for (const int32_t row : blockRows)
    blockPoints.push_back(row / lattice.phases * psi.nlon_out);
  return DISCO_OK;
}

disco_status Filter::makeContractSum(const Device &device,
                                     const disco_kernel_psi &psi,
                                     const Lattice &lattice) {
  // Of the widest kernel that a launch fills.
  const int64_t fields = std::max(options.fields, options.minFields);
  const int64_t widest = sumType() == SumType::f64 ? 1 : 2;
  const int64_t width = options.choices.fields ? options.choices.fields
                        : fields < widest      ? 1
                                               : widest;
  const int64_t fieldBlocks = divideUp(fields, width);
  const ContractSumTables tables = makeContractSumTables(
      psi, lattice, sumType(),
      balanceOf(lattice, fieldBlocks,
                int64_t(device.traits().multiprocessors) * sumWarps * 4));
  if (disco_status s =
          uploadSphere(device, tables.groups, tables.stages, {}, tables.values))
    return s;
  if (disco_status s = parts.upload(device, tables.parts))
    return s;
  if (disco_status s = partValues.upload(device, tables.partValues))
    return s;
  if (disco_status s = rowPlaces.upload(device, tables.rowPlaces))
    return s;
  contractSum.sphere = sphereOf(lattice, rows, stages, windows, values);
  contractSum.sphere.tile = tables.tile;
  contractSum.sphere.tiles = tables.tiles;
  contractSum.numGroups = static_cast<int32_t>(tables.groups.size());
  contractSum.numSplit = tables.numSplit;
  contractSum.parts = parts.as<const Int4>();
  contractSum.partValues = partValues.as<const int32_t>();
  contractSum.rowPlaces = rowPlaces.as<const int32_t>();
  sumValueBytes = tables.maxValueBytes;
  blockRows = {0, contractSum.numGroups};
  blockPoints = {0, psi.nlat_out * psi.nlon_out};
  return DISCO_OK;
}

disco_status Filter::makePoints(const Device &device,
                                const disco_kernel_psi &psi) {
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
      options.blockLatitudes ? std::min(options.blockLatitudes, count) : count,
      1);
  blockPoints.push_back(0);
  for (int64_t first = step; first < count; first += step)
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

static void advance(void *&memory, int64_t bytes) {
  memory = static_cast<char *>(memory) + bytes;
}

disco_status Filter::launch(const Fields &fields, int32_t block,
                            cudaStream_t stream,
                            const Epilogue &epilogue) const {
  for (const Variant &variant : variants)
    if (variant.fields <= fields.numFields)
      return launch(variant, fields, block, stream, epilogue);
  return launch(variants.back(), fields, block, stream, epilogue);
}

disco_status Filter::launch(const Variant &variant, const Fields &fields,
                            int32_t block, cudaStream_t stream,
                            const Epilogue &epilogue) const {
  if (fields.numFields == 0 || blockPoints[block] == blockPoints[block + 1])
    return DISCO_OK;
  if (!isSphere)
    return launchPoints(variant, fields, block, stream, epilogue);
  return sums() ? launchContractSum(variant, fields, stream, epilogue)
                : launchContract(variant, fields, block, stream);
}

disco_status Filter::launchContract(const Variant &variant,
                                    const Fields &fields, int32_t block,
                                    cudaStream_t stream) const {
  ContractParams params = contract;
  params.fields = fields;
  // Rows have their place in the whole plane.
  advance(params.fields.y, -blockPoints[block] * sizeOf(options.dtype));
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
                                       cudaStream_t stream,
                                       const Epilogue &epilogue) const {
  ContractSumParams params = contractSum;
  params.fields = fields;
  params.epilogue = epilogue;
  Sphere &sphere = params.sphere;
  const int64_t chunk = 16 / sizeOfSum(sumType());
  params.isAligned =
      sphere.stride == 1 && sphere.lattice % chunk == 0 &&
      sphere.lattice >= 32 * chunk && fields.xField % chunk == 0 &&
      fields.xBasis % chunk == 0 &&
      reinterpret_cast<uintptr_t>(fields.x) % (chunk * sizeOf(options.dtype)) ==
          0;
  sphere.fieldBlocks = divideUp(fields.numFields, variant.fields);
  Launch launch;
  unsigned all = 0;
  if (disco_status s =
          countBlocks(params.numGroups, sphere.fieldBlocks, sphere.tiles, all))
    return s;
  const unsigned split = all / static_cast<unsigned>(params.numGroups) *
                         static_cast<unsigned>(params.numSplit);
  launch.blocks =
      split + static_cast<unsigned>(divideUp(all - split, sumWarps));
  const SumBuffer buffer = sumBuffer(variant.fields);
  params.bufferBytes = static_cast<int32_t>(buffer.bytes);
  params.warpBytes = static_cast<int32_t>(buffer.warp);
  launch.threads = contractSumThreads;
  launch.smemBytes = static_cast<unsigned>(variant.kernel.smemLimit);
  launch.stream = stream;
  return cuda::launch(variant.kernel, launch, &params);
}

disco_status Filter::launchPoints(const Variant &variant, const Fields &fields,
                                  int32_t block, cudaStream_t stream,
                                  const Epilogue &epilogue) const {
  PointParams params = points;
  params.fields = fields;
  params.epilogue = epilogue;
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

/// Filters fields of ones, so that an out-point is its row's sum of values.
disco_status Filter::checkKernel(const Device &device,
                                 const Variant &variant) const {
  // The longer ring is for what is copied chunk by chunk.
  for (const int64_t n : {2 * contractThreads + 5, 4 * contractThreads + 8})
    if (disco_status s = checkKernel(device, variant, n))
      return s;
  return DISCO_OK;
}

disco_status Filter::checkKernel(const Device &device, const Variant &variant,
                                 int64_t n) const {
  const int64_t K = kTile + 1;
  const CanaryPsi canaryPsi = makeCanaryPsi(isSphere, K, n);
  Filter filter;
  filter.options = options;
  filter.options.choices.fields = variant.fields;
  filter.options.blockLatitudes = 0;
  filter.isSphere = isSphere;
  filter.kTile = kTile;
  if (disco_status s = filter.make(device, canaryPsi.psi))
    return s;
  const int64_t numIn = canaryPsi.psi.nlat_in * n;
  const int64_t numOut = canaryPsi.psi.nlat_out * n;
  Fields fields = {};
  fields.numFields = variant.fields + 1;
  fields.numBasis = static_cast<int32_t>(K);
  fields.xBasis = numIn;
  fields.xField = sums() ? K * numIn : numIn;
  fields.yBasis = numOut;
  fields.yField = sums() ? numOut : K * numOut;
  DeviceMemory x;
  if (disco_status s = x.upload(
          device, onesOf(options.dtype, fields.numFields * fields.xField)))
    return s;
  fields.x = x.as<void>();
  const int64_t elements = fields.numFields * fields.yField;
  std::vector<char> y(elements * sizeOf(options.dtype));
  const auto run = [&](void *memory) -> disco_status {
    Fields out = fields;
    out.y = memory;
    return filter.launch(out, 0, device.stream());
  };
  if (disco_status s = canary(device, variant.kernel.name, options.dtype,
                              elements, run, y.data()))
    return s;
  for (int64_t i = 0; i < elements; ++i) {
    const int64_t row = isSphere ? i % numOut / n : i % numOut;
    double expected = 0;
    for (int64_t k = 0; k < K; ++k)
      if (sums() || i / numOut % K == k)
        expected += canaryPsi.rowSums[row * K + k];
    const double got = elementAt(y.data(), options.dtype, i);
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
