//===- Conv.cpp - conv and conv_weight_grad from parts --------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   conv, filter_first         for each sample, block of latitudes:
//                                z [C,K,block] = contract(x)
//                                y [O,block]   = mix(weight, z)
//   conv, weight_first         for each sample, block of out-channels:
//                                u [block,K,in] = mix(weight, x)
//                                y [block,out]  = contract_sum(u)
//   conv_weight_grad           for each sample, block of latitudes:
//                                z = contract(x), or of gy (weight_first)
//                                parts += gy z^T, or z x^T
//                              y = the sum of the parts
//
// The blocks bound the workspace: the K-expanded tensor never exists as a
// whole. It is of the type of the fields, which f16 and bf16 products need. Its
// lines begin at multiples of 16 bytes, whatever the number of points. Every
// sum has a fixed order.
//
//===----------------------------------------------------------------------===//

#include "Conv.h"

#include "Filter.h"
#include "Mixer.h"

#include <algorithm>
#include <cinttypes>

namespace disco::cuda::csr {

namespace {

constexpr int64_t roundUp(int64_t a, int64_t b) { return (a + b - 1) / b * b; }
constexpr int64_t alignment = 256;
/// Elements from line to line of what has so many in a line.
constexpr int64_t pitchOf(int64_t elements) { return roundUp(elements, 8); }

const char *at(const void *memory, int64_t elements, int64_t size) {
  return static_cast<const char *>(memory) + elements * size;
}
char *at(void *memory, int64_t elements, int64_t size) {
  return static_cast<char *>(memory) + elements * size;
}

/// The numbers of a call, by shorter names.
struct Sizes {
  explicit Sizes(const disco_kernel_call &call)
      : batch(call.batch), channels(call.channels),
        outChannels(call.out_channels), groups(call.groups),
        groupIn(call.channels / call.groups),
        groupOut(call.out_channels / call.groups), numBasis(call.psi.num_basis),
        numIn(call.psi.nlat_in * call.psi.nlon_in),
        numOut(call.psi.nlat_out * call.psi.nlon_out), size(sizeOf(call.dtype)),
        sumSize(call.dtype == DISCO_F64 ? 8 : 4) {}

  /// Parts of a K-expanded element, and of a packed weight: a high and a low
  /// one.
  int64_t parts() const { return size == 2 ? 2 : 1; }

  int64_t batch, channels, outChannels, groups, groupIn, groupOut;
  int64_t numBasis, numIn, numOut;
  int64_t size, sumSize; ///< bytes of an element of fields and of sums
};

disco_status checkCounts(const Sizes &s) {
  const int64_t counts[] = {s.channels * s.numBasis, s.outChannels * s.numBasis,
                            s.groupIn * s.numBasis * s.groupOut};
  for (const int64_t count : counts)
    if (count > INT32_MAX)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected channels times basis functions to be fewer than "
                  "2^31, but got %" PRId64,
                  count);
  return DISCO_OK;
}

/// Latitudes (points) of a block for which the features of `fields` fields are
/// computed.
int64_t latitudesOfBlock(const disco_kernel_call &call, int64_t fields,
                         int64_t blockBytes) {
  const disco_kernel_psi &psi = call.psi;
  const bool isSphere = psi.form == DISCO_FORM_ARCS;
  const int64_t rowPoints = isSphere ? psi.nlon_out : 1;
  const int64_t bytes =
      std::max<int64_t>(fields * psi.num_basis * rowPoints * Sizes(call).size *
                            Sizes(call).parts(),
                        1);
  const int64_t rows = std::max<int64_t>(blockBytes / bytes, 1);
  return isSphere ? rows : roundUp(rows, pointThreads);
}

/// Of at most `most` latitudes (points), how many a block has.
int64_t balancedLatitudes(const Device &on, const disco_kernel_call &call,
                          int64_t most) {
  const Sizes s(call);
  const bool isSphere = call.psi.form == DISCO_FORM_ARCS;
  const int64_t rows = isSphere ? call.psi.nlat_out : s.numOut;
  const ProductTile tile = mixTile(s.groupOut, static_cast<int>(s.size));
  return disco_csr_gather_balanced_rows(
      rows, isSphere ? call.psi.nlon_out : 1,
      std::min(most, std::max<int64_t>(rows, 1)), isSphere ? 1 : pointThreads,
      s.groups * (roundUp(s.groupOut, tile.m) / tile.m), tile.n,
      int64_t(on.traits().multiprocessors) * mixBlocks);
}

/// Makes a filter for contract of so many fields of each sample.
disco_status makeFilter(const Device &on, const disco_kernel_call &call,
                        int64_t fields, Filter &filter) {
  FilterOptions options;
  if (disco_status s = readChoices(call, options.choices))
    return s;
  options.dtype = call.dtype;
  options.minFields = fields;
  options.blockLatitudes =
      latitudesOfBlock(call, fields, options.choices.blockBytes);
  if (call.op == DISCO_OP_CONV)
    options.blockLatitudes =
        balancedLatitudes(on, call, options.blockLatitudes);
  return Filter::make(on, call.psi, options, filter);
}

/// The weight of a conv, packed for a mix: once when it is constant, else in
/// each run, at the beginning of the workspace.
class PackedWeight {
public:
  disco_status make(const Device &device, const Mixer &mixer,
                    const disco_kernel_call &call) {
    const Sizes s(call);
    const bool isWeightFirst = call.schedule.order == DISCO_WEIGHT_FIRST;
    params.groups = static_cast<int32_t>(s.groups);
    params.groupIn = static_cast<int32_t>(s.groupIn);
    params.groupOut = static_cast<int32_t>(s.groupOut);
    params.numBasis = static_cast<int32_t>(s.numBasis);
    params.isWeightFirst = isWeightFirst;
    params.isTransposed = call.transpose_weight;
    params.weightIsF32 =
        call.weight_dtype == DISCO_F32 && call.dtype != DISCO_F64;
    const int64_t columns = isWeightFirst ? s.groupIn : s.groupIn * s.numBasis;
    pitch = pitchOf(std::max<int64_t>(columns, 1));
    params.pitch = static_cast<int32_t>(pitch);
    params.size = s.outChannels * (isWeightFirst ? s.numBasis : 1) * pitch;
    if (params.weightIsF32 && s.size == 2)
      params.low = params.size;
    packedBytes = (params.size + params.low) * s.size;
    const int64_t weightSize = sizeOf(call.weight_dtype);
    const int64_t count = s.outChannels * s.groupIn * s.numBasis;
    if (call.has_bias && call.bias)
      if (disco_status status =
              bias.upload(device, call.bias, s.outChannels * weightSize))
        return status;
    if (!call.weight || count == 0)
      return DISCO_OK;
    DeviceMemory raw;
    if (disco_status status =
            raw.upload(device, call.weight, count * weightSize))
      return status;
    if (disco_status status = constant.allocate(device, packedBytes))
      return status;
    if (disco_status status =
            pack(mixer, raw.as<void>(), constant.as<void>(), device.stream()))
      return status;
    return cuda::check(cudaStreamSynchronize(device.stream()),
                       "packing the weight");
  }

  /// Of the workspace.
  int64_t bytes() const { return roundUp(packedBytes, alignment); }

  /// Where the weight of a run is.
  disco_status get(const Mixer &mixer, const disco_kernel_call &call,
                   cudaStream_t stream, void *workspace,
                   const void *&packed) const {
    if (!call.weight) {
      packed = constant.as<void>();
      return DISCO_OK;
    }
    packed = workspace;
    return pack(mixer, call.weight, workspace, stream);
  }

  /// The epilogue of a conv for the channels from `first` on.
  Epilogue epilogueOf(const disco_kernel_call &call, int64_t first) const {
    Epilogue e = {};
    if (call.has_bias)
      e.bias = at(call.bias ? call.bias : bias.as<void>(), first,
                  sizeOf(call.weight_dtype));
    e.biasIsF32 = params.weightIsF32;
    e.activation = call.activation;
    e.channels = static_cast<int32_t>(call.out_channels);
    return e;
  }

  int64_t low() const { return params.low; }

  int64_t pitch = 0;

private:
  disco_status pack(const Mixer &mixer, const void *weight, void *packed,
                    cudaStream_t stream) const {
    PackParams p = params;
    p.weight = weight;
    p.packed = packed;
    return mixer.pack(p, stream);
  }

  PackParams params = {};
  int64_t packedBytes = 0;
  DeviceMemory constant, bias;
};

//===----------------------------------------------------------------------===//
// filter_first
//===----------------------------------------------------------------------===//

class FilterFirst : public disco_prepared {
public:
  disco_status make(const Device &on, const disco_kernel_call &c) {
    if (disco_status s = checkCounts(Sizes(c)))
      return s;
    if (disco_status s = Mixer::make(on, c.dtype, mixer))
      return s;
    if (disco_status s = weight.make(on, mixer, c))
      return s;
    return makeFilter(on, c, c.channels, filter);
  }

  disco_status workspaceBytes(const disco_kernel_call &c,
                              uint64_t &bytes) const override {
    const Sizes s(c);
    bytes = static_cast<uint64_t>(weight.bytes() +
                                  s.channels * s.numBasis *
                                      pitchOf(filter.maxBlockPoints()) *
                                      s.parts() * s.size);
    return DISCO_OK;
  }

  disco_status run(const disco_kernel_call &c, cudaStream_t stream,
                   void *workspace) const override {
    const Sizes s(c);
    const void *packed;
    if (disco_status status = weight.get(mixer, c, stream, workspace, packed))
      return status;
    void *z = at(workspace, weight.bytes(), 1);
    for (int64_t b = 0; b < s.batch; ++b)
      for (int32_t block = 0; block < filter.numBlocks(); ++block) {
        if (disco_status status = contract(c, b, block, z, stream))
          return status;
        if (disco_status status = mix(c, b, block, packed, z, stream))
          return status;
      }
    return DISCO_OK;
  }

private:
  int64_t pointsOf(int32_t block) const {
    return filter.firstPoint(block + 1) - filter.firstPoint(block);
  }

  disco_status contract(const disco_kernel_call &c, int64_t b, int32_t block,
                        void *z, cudaStream_t stream) const {
    const Sizes s(c);
    Fields fields = {};
    fields.x = at(c.x, b * s.channels * s.numIn, s.size);
    fields.y = z;
    fields.numFields = static_cast<int32_t>(s.channels);
    fields.numBasis = static_cast<int32_t>(s.numBasis);
    fields.xField = s.numIn;
    fields.yBasis = pitchOf(pointsOf(block));
    fields.yField = s.numBasis * fields.yBasis;
    fields.low = (s.parts() - 1) * s.channels * fields.yField;
    return filter.launch(fields, block, stream);
  }

  disco_status mix(const disco_kernel_call &c, int64_t b, int32_t block,
                   const void *packed, const void *z,
                   cudaStream_t stream) const {
    const Sizes s(c);
    const int64_t points = pointsOf(block);
    const int64_t first =
        b * s.outChannels * s.numOut + filter.firstPoint(block);
    MixParams p = {};
    p.a = packed;
    p.b = z;
    p.d = at(c.y, first, s.size);
    p.m = static_cast<int32_t>(s.groupOut);
    p.n = static_cast<int32_t>(points);
    p.r = static_cast<int32_t>(s.groupIn * s.numBasis);
    p.aPitch = static_cast<int32_t>(weight.pitch);
    p.aGroup = s.groupOut * weight.pitch;
    p.bPitch = pitchOf(points);
    p.bGroup = s.groupIn * s.numBasis * p.bPitch;
    p.aLow = weight.low();
    p.bLow = (s.parts() - 1) * s.channels * s.numBasis * p.bPitch;
    p.dPitch = s.numOut;
    p.dGroup = s.groupOut * s.numOut;
    p.groups = static_cast<int32_t>(s.groups);
    p.epilogue = weight.epilogueOf(c, 0);
    if (c.has_residual)
      p.epilogue.residual = at(c.residual, first, s.size);
    return mixer.mix(p, stream);
  }

  Mixer mixer;
  PackedWeight weight;
  Filter filter;
};

//===----------------------------------------------------------------------===//
// weight_first
//===----------------------------------------------------------------------===//

class WeightFirst : public disco_prepared {
public:
  disco_status make(const Device &on, const disco_kernel_call &c) {
    const Sizes s(c);
    if (disco_status status = checkCounts(s))
      return status;
    if (disco_status status = Mixer::make(on, c.dtype, mixer))
      return status;
    if (disco_status status = weight.make(on, mixer, c))
      return status;
    FilterOptions options;
    if (disco_status status = readChoices(c, options.choices))
      return status;
    // As many out-channels as fit; whole groups, or a part of one.
    const int64_t bytes = std::max<int64_t>(
        s.numBasis * pitchOf(s.numIn) * s.parts() * s.size, 1);
    const int64_t fit =
        std::max<int64_t>(options.choices.blockBytes / bytes, 1);
    const int64_t width = std::max<int64_t>(s.groupOut, 1);
    block = fit >= width ? std::min(fit / width * width, s.outChannels) : fit;
    // The last block, or the last of a group, may be narrow.
    const int64_t last = block >= width
                             ? s.outChannels % std::max<int64_t>(block, 1)
                             : width % block;
    options.dtype = c.dtype;
    options.op = FilterOp::contractSum;
    options.minFields = last ? last : block;
    options.fields = block;
    return Filter::make(on, c.psi, options, filter);
  }

  disco_status workspaceBytes(const disco_kernel_call &c,
                              uint64_t &bytes) const override {
    const Sizes s(c);
    bytes = static_cast<uint64_t>(weight.bytes() + block * s.numBasis *
                                                       pitchOf(s.numIn) *
                                                       s.parts() * s.size);
    return DISCO_OK;
  }

  disco_status run(const disco_kernel_call &c, cudaStream_t stream,
                   void *workspace) const override {
    const Sizes s(c);
    const void *packed;
    if (disco_status status = weight.get(mixer, c, stream, workspace, packed))
      return status;
    void *u = at(workspace, weight.bytes(), 1);
    const bool isPartOfGroup = block < s.groupOut;
    for (int64_t b = 0; b < s.batch; ++b)
      for (int64_t o = 0; o < s.outChannels;) {
        const int64_t end =
            isPartOfGroup ? (o / s.groupOut + 1) * s.groupOut : s.outChannels;
        const int64_t count = std::min(block, end - o);
        if (disco_status status = mix(c, b, o, count, packed, u, stream))
          return status;
        if (disco_status status = sum(c, b, o, count, u, stream))
          return status;
        o += count;
      }
    return DISCO_OK;
  }

private:
  disco_status mix(const disco_kernel_call &c, int64_t b, int64_t o,
                   int64_t count, const void *packed, void *u,
                   cudaStream_t stream) const {
    const Sizes s(c);
    const int64_t group = o / s.groupOut;
    const int64_t groups = std::max<int64_t>(count / s.groupOut, 1);
    MixParams p = {};
    p.a = at(packed, o * s.numBasis * weight.pitch, s.size);
    p.b = at(c.x, (b * s.channels + group * s.groupIn) * s.numIn, s.size);
    p.d = u;
    p.m = static_cast<int32_t>(std::min(count, s.groupOut) * s.numBasis);
    p.n = static_cast<int32_t>(s.numIn);
    p.r = static_cast<int32_t>(s.groupIn);
    p.aPitch = static_cast<int32_t>(weight.pitch);
    p.aGroup = s.groupOut * s.numBasis * weight.pitch;
    p.bPitch = s.numIn;
    p.bGroup = s.groupIn * s.numIn;
    p.dPitch = pitchOf(s.numIn);
    p.dGroup = s.groupOut * s.numBasis * p.dPitch;
    p.aLow = weight.low();
    p.dLow = (s.parts() - 1) * count * s.numBasis * p.dPitch;
    p.groups = static_cast<int32_t>(groups);
    p.epilogue.channels = 1;
    return mixer.mix(p, stream);
  }

  disco_status sum(const disco_kernel_call &c, int64_t b, int64_t o,
                   int64_t count, const void *u, cudaStream_t stream) const {
    const Sizes s(c);
    const int64_t first = (b * s.outChannels + o) * s.numOut;
    Fields fields = {};
    fields.x = u;
    fields.y = at(c.y, first, s.size);
    fields.numFields = static_cast<int32_t>(count);
    fields.numBasis = static_cast<int32_t>(s.numBasis);
    fields.xBasis = pitchOf(s.numIn);
    fields.xField = s.numBasis * fields.xBasis;
    fields.low = (s.parts() - 1) * count * fields.xField;
    fields.yField = s.numOut;
    Epilogue epilogue = weight.epilogueOf(c, o);
    if (c.has_residual)
      epilogue.residual = at(c.residual, first, s.size);
    return filter.launch(fields, 0, stream, epilogue);
  }

  Mixer mixer;
  PackedWeight weight;
  Filter filter;
  int64_t block = 1; ///< out-channels at a time
};

//===----------------------------------------------------------------------===//
// conv_weight_grad
//===----------------------------------------------------------------------===//

class WeightGrad : public disco_prepared {
public:
  disco_status make(const Device &on, const disco_kernel_call &c) {
    const Sizes s(c);
    if (disco_status status = checkCounts(s))
      return status;
    if (disco_status status = Mixer::make(on, c.dtype, mixer))
      return status;
    isWeightFirst = c.schedule.order == DISCO_WEIGHT_FIRST;
    filtered = isWeightFirst ? s.outChannels : s.channels;
    const ProductTile tile = productTile(static_cast<int>(s.size), false);
    const int64_t tiles = s.groups * roundUp(rows(s), tile.m) / tile.m *
                          (roundUp(columns(s), tile.n) / tile.n);
    // Two blocks for every multiprocessor, but not more parts than that.
    const int64_t wanted = 2 * on.traits().multiprocessors;
    splits = std::clamp<int64_t>(wanted / std::max<int64_t>(tiles, 1), 1, 256);
    return makeFilter(on, c, filtered, filter);
  }

  disco_status workspaceBytes(const disco_kernel_call &c,
                              uint64_t &bytes) const override {
    const Sizes s(c);
    bytes = static_cast<uint64_t>(partBytes(s) +
                                  filtered * s.numBasis *
                                      pitchOf(filter.maxBlockPoints()) *
                                      s.parts() * s.size);
    return DISCO_OK;
  }

  disco_status run(const disco_kernel_call &c, cudaStream_t stream,
                   void *workspace) const override {
    const Sizes s(c);
    void *z = at(workspace, partBytes(s), 1);
    bool adds = false;
    if (s.batch * s.numOut == 0 || filter.numBlocks() == 0)
      if (disco_status status =
              cuda::check(cudaMemsetAsync(workspace, 0, partBytes(s), stream),
                          "clearing the gradient"))
        return status;
    for (int64_t b = 0; b < s.batch; ++b)
      for (int32_t block = 0; block < filter.numBlocks(); ++block) {
        if (disco_status status = contract(c, b, block, z, stream))
          return status;
        if (disco_status status =
                addOuter(c, b, block, z, workspace, adds, stream))
          return status;
        adds = true;
      }
    if (disco_status status = collect(c, workspace, stream))
      return status;
    return c.has_bias ? sumBias(c, stream) : disco_status(DISCO_OK);
  }

private:
  // Of a part, in each group: [o, (c, k)] or [(o, k), c].
  int64_t rows(const Sizes &s) const {
    return s.groupOut * (isWeightFirst ? s.numBasis : 1);
  }
  int64_t columns(const Sizes &s) const {
    return s.groupIn * (isWeightFirst ? 1 : s.numBasis);
  }
  int64_t partSize(const Sizes &s) const {
    return s.outChannels * s.groupIn * s.numBasis;
  }
  int64_t partBytes(const Sizes &s) const {
    return roundUp(splits * partSize(s) * s.sumSize, alignment);
  }

  disco_status contract(const disco_kernel_call &c, int64_t b, int32_t block,
                        void *z, cudaStream_t stream) const {
    const Sizes s(c);
    Fields fields = {};
    fields.x = at(isWeightFirst ? c.gy : c.x, b * filtered * s.numIn, s.size);
    fields.y = z;
    fields.numFields = static_cast<int32_t>(filtered);
    fields.numBasis = static_cast<int32_t>(s.numBasis);
    fields.xField = s.numIn;
    fields.yBasis =
        pitchOf(filter.firstPoint(block + 1) - filter.firstPoint(block));
    fields.yField = s.numBasis * fields.yBasis;
    fields.low = (s.parts() - 1) * filtered * fields.yField;
    return filter.launch(fields, block, stream);
  }

  disco_status addOuter(const disco_kernel_call &c, int64_t b, int32_t block,
                        const void *z, void *partial, bool adds,
                        cudaStream_t stream) const {
    const Sizes s(c);
    const int64_t first = filter.firstPoint(block);
    const int64_t points = filter.firstPoint(block + 1) - first;
    const int64_t plain = isWeightFirst ? s.channels : s.outChannels;
    const void *other =
        at(isWeightFirst ? c.x : c.gy, b * plain * s.numOut + first, s.size);
    OuterParams p = {};
    p.partial = partial;
    p.m = static_cast<int32_t>(rows(s));
    p.n = static_cast<int32_t>(columns(s));
    p.a = isWeightFirst ? z : other;
    p.b = isWeightFirst ? other : z;
    p.aPitch = isWeightFirst ? pitchOf(points) : s.numOut;
    p.bPitch = isWeightFirst ? s.numOut : pitchOf(points);
    p.aGroup = p.m * p.aPitch;
    p.bGroup = p.n * p.bPitch;
    (isWeightFirst ? p.aLow : p.bLow) =
        (s.parts() - 1) * filtered * s.numBasis * pitchOf(points);
    p.r = points;
    p.step = roundUp((points + splits - 1) / splits, 32);
    p.groups = static_cast<int32_t>(s.groups);
    p.splits = static_cast<int32_t>(splits);
    p.adds = adds;
    return mixer.outer(p, stream);
  }

  disco_status collect(const disco_kernel_call &c, const void *partial,
                       cudaStream_t stream) const {
    const Sizes s(c);
    CollectParams p = {};
    p.partial = partial;
    p.y = c.y;
    p.size = partSize(s);
    p.splits = static_cast<int32_t>(splits);
    p.groupIn = static_cast<int32_t>(s.groupIn);
    p.groupOut = static_cast<int32_t>(s.groupOut);
    p.numBasis = static_cast<int32_t>(s.numBasis);
    p.isWeightFirst = isWeightFirst;
    p.yIsF32 = c.weight_dtype == DISCO_F32 && c.dtype != DISCO_F64;
    return mixer.collect(p, stream);
  }

  disco_status sumBias(const disco_kernel_call &c, cudaStream_t stream) const {
    const Sizes s(c);
    BiasParams p = {};
    p.gy = c.gy;
    p.bias = c.grad_bias;
    p.batch = s.batch;
    p.points = isWeightFirst ? s.numIn : s.numOut;
    p.channels = static_cast<int32_t>(s.outChannels);
    p.biasIsF32 = c.weight_dtype == DISCO_F32 && c.dtype != DISCO_F64;
    return mixer.sumBias(p, stream);
  }

  Mixer mixer;
  Filter filter;
  bool isWeightFirst = false;
  int64_t filtered = 0; ///< channels of what is filtered
  int64_t splits = 1;
};

template <typename T>
disco_status prepareAs(const Device &device, const disco_kernel_call &call,
                       std::unique_ptr<disco_prepared> &prepared) {
  auto made = std::make_unique<T>();
  if (disco_status s = made->make(device, call))
    return s;
  prepared = std::move(made);
  return DISCO_OK;
}

} // namespace

disco_status prepareConv(const Device &device, const disco_kernel_call &call,
                         std::unique_ptr<disco_prepared> &prepared) {
  return call.schedule.order == DISCO_WEIGHT_FIRST
             ? prepareAs<WeightFirst>(device, call, prepared)
             : prepareAs<FilterFirst>(device, call, prepared);
}

disco_status prepareWeightGrad(const Device &device,
                               const disco_kernel_call &call,
                               std::unique_ptr<disco_prepared> &prepared) {
  return prepareAs<WeightGrad>(device, call, prepared);
}

} // namespace disco::cuda::csr
