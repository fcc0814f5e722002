//===- Layer.cpp - one layer without a module -----------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "disco/Filter/SphereOperator.h"
#include "disco/Runtime/KernelLayer.h"
#include "disco/Runtime/Reference.h"
#include "disco/Support/Progress.h"

#include <chrono>
#include <cstdio>
#include <optional>

namespace disco::run {

namespace {

using reference::Operator;
using reference::Tensor;

/// Everything that the files held, rounded to the layer's dtype.
struct LayerData {
  Tensor x, weight, bias, gradOutput;
  /// Types of the results: of the fields, and of the parameters' gradients.
  DType field = DType::f64, weightType = DType::f64, biasType = DType::f64;
  DType gradOutputType = DType::f64;
};

/// A result on its way to a file.
struct Pending {
  std::string name, path;
  Array array;
  double milliseconds;
};

/// Reads a file of floats; the type it had goes to `dtype`.
Status readTensor(const std::string &path, const Options &options,
                  Tensor &tensor, DType &dtype) {
  Result<Array> array = readNpy(path);
  if (!array)
    return array.error();
  if (!isFloat(array->dtype))
    return Error{path + ": expected a floating-point array, but got " +
                 describe(array->dtype, array->shape)};
  tensor = Tensor::from(*array);
  dtype = options.dtype.value_or(array->dtype);
  if (options.dtype)
    tensor = tensor.rounded(dtype);
  return {};
}

Result<LayerData> readData(const Options &options) {
  LayerData data;
  if (Status s = readTensor(options.inputs[0], options, data.x, data.field); !s)
    return s.error();
  if (Status s =
          readTensor(options.weight, options, data.weight, data.weightType);
      !s)
    return s.error();
  if (!options.bias.empty())
    if (Status s = readTensor(options.bias, options, data.bias, data.biasType);
        !s)
      return s.error();
  if (!options.gradOutput.empty())
    if (Status s = readTensor(options.gradOutput, options, data.gradOutput,
                              data.gradOutputType);
        !s)
      return s.error();
  if (options.bias.empty())
    data.biasType = data.weightType; // that of its gradient
  return data;
}

/// Modules and kernels take parameters of the type of x or f32. `user` names
/// who wants that.
Status checkParameterTypes(const LayerData &data, const std::string &user) {
  for (const auto &[name, type] :
       {std::pair("weight", data.weightType), std::pair("bias", data.biasType)})
    if (type != data.field && type != DType::f32)
      return Error{std::string("expected ") + name + " for " + user +
                   " to be of " + std::string(nameOf(data.field)) +
                   ", the type of the input" +
                   (data.field == DType::f32 ? "" : ", or f32") + ", but got " +
                   std::string(nameOf(type)) + " (--dtype rounds all to one)"};
  return {};
}

std::string gridText(const filter::Grid &grid) {
  return std::to_string(grid.nlat) + "x" + std::to_string(grid.nlon);
}

/// Element types in a module.
struct ModuleTypes {
  DType field, weight, bias;
};

/// The layer as a module with one public function, @layer.
std::string formatModule(const filter::SphereFilter &filter, Channels channels,
                         int64_t groups, bool bias, const ModuleTypes &types) {
  const std::string type(nameOf(types.field));
  const std::string in = gridText(filter.in), out = gridText(filter.out);
  const std::string k = std::to_string(filter.numBasis());
  const std::string outChannels = std::to_string(channels.out);
  const std::string psi =
      "!disco.psi<sphere, " + k + ", " + in + " -> " + out + ">";
  const std::string x =
      "tensor<?x" + std::to_string(channels.in) + "x" + in + "x" + type + ">";
  const std::string w = "tensor<" + outChannels + "x" +
                        std::to_string(channels.in / groups) + "x" + k + "x" +
                        std::string(nameOf(types.weight)) + ">";
  const std::string b =
      "tensor<" + outChannels + "x" + std::string(nameOf(types.bias)) + ">";
  const std::string y =
      "tensor<?x" + outChannels + "x" + out + "x" + type + ">";
  std::string text = "module {\n  func.func @layer(%x: " + x + ", %w: " + w;
  if (bias)
    text += ", %b: " + b;
  text += ") -> " + y + " {\n";
  text += "    %psi = disco.filter " + toString(filter) + "\n        -> " +
          psi + "\n";
  text += "    %y = disco.conv %x, %psi, %w";
  if (bias)
    text += " bias %b";
  if (groups != 1)
    text += " groups " + std::to_string(groups);
  text += "\n        : (" + x + ", " + psi + ", " + w;
  if (bias)
    text += ", " + b;
  text += ") -> " + y + "\n";
  return text + "    return %y : " + y + "\n  }\n}\n";
}

/// Writes the module to a file that is not committed yet.
Result<AtomicFile> stageModule(const Options &options,
                               const filter::SphereFilter &filter,
                               Channels channels, const ModuleTypes &types) {
  for (int64_t count : {channels.in, channels.out})
    if (count % options.groups != 0)
      return Error{"expected groups to divide the " +
                   std::to_string(channels.in) + " input and " +
                   std::to_string(channels.out) + " output channels, but got " +
                   std::to_string(options.groups)};
  Result<AtomicFile> file = AtomicFile::create(options.emitMlir);
  if (file)
    if (Status s = file->write(formatModule(filter, channels, options.groups,
                                            !options.bias.empty(), types));
        !s)
      return s.error();
  return file;
}

/// The channels that a weight [O, C/groups, K] implies.
Result<Channels> channelsOf(const Tensor &weight, int64_t groups,
                            int64_t numBasis) {
  if (weight.shape.size() != 3)
    return Error{"expected weight to have rank 3, but got " +
                 std::to_string(weight.shape.size())};
  if (weight.shape[2] != numBasis)
    return Error{"expected weight to have dimension 2 equal to " +
                 std::to_string(numBasis) + ", but got " +
                 std::to_string(weight.shape[2])};
  return Channels{weight.shape[1] * groups, weight.shape[0]};
}

/// Computes what was asked for.
class LayerRunner {
public:
  LayerRunner(const Options &options, const LayerData &data,
              const filter::SphereOperator &psi)
      : options(options), data(data), psi(psi) {}

  std::vector<Pending> results;

  Status run() {
    if (Status s = checkOutputGradient(); !s)
      return s;
    if (options.device.kind == DISCO_CUDA || findKernelFamily(options.family))
      if (Status s = checkKernelTypes(); !s)
        return s;
    if (!options.outputs.empty())
      if (Status s = add("y", options.outputs[0], data.field,
                         [&] { return forward(); });
          !s)
        return s;
    if (!options.gradInput.empty())
      if (Status s = add("gx", options.gradInput, data.field,
                         [&] { return inputGradient(); });
          !s)
        return s;
    return parameterGradients();
  }

private:
  template <typename Compute>
  Status add(const char *name, const std::string &path, DType dtype,
             Compute &&compute) {
    const auto start = std::chrono::steady_clock::now();
    Result<Tensor> tensor = compute();
    if (!tensor)
      return tensor.error();
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    Result<Array> array = tensor->to(dtype);
    if (!array)
      return array.error();
    results.push_back({name, path, std::move(*array), elapsed.count()});
    return {};
  }

  /// Its channels and batch must be those of the layer's output.
  Status checkOutputGradient() {
    if (options.gradOutput.empty() || data.weight.shape.empty() ||
        data.x.shape.empty() || data.gradOutput.shape.size() < 2)
      return {}; // the operations report the ranks
    const int64_t expected[] = {data.x.shape[0], data.weight.shape[0]};
    for (int i = 0; i < 2; ++i)
      if (data.gradOutput.shape[i] != expected[i])
        return Error{"expected output gradient to have dimension " +
                     std::to_string(i) + " equal to " +
                     std::to_string(expected[i]) + ", but got " +
                     std::to_string(data.gradOutput.shape[i])};
    return {};
  }

  /// The reference computes in f64 whatever comes; kernels do not.
  Status checkKernelTypes() const {
    const std::string user = "the kernels of " + options.family;
    if (!options.gradOutput.empty() && data.gradOutputType != data.field)
      return Error{"expected the output gradient for " + user + " to be of " +
                   std::string(nameOf(data.field)) +
                   ", the type of the input, but got " +
                   std::string(nameOf(data.gradOutputType)) +
                   " (--dtype rounds all to one)"};
    return checkParameterTypes(data, user);
  }

  /// Kernels know one type for weight and bias: that of x, where both have it
  /// or it is f64, else f32, which holds both.
  DType parameterType() const {
    const bool isOne =
        data.weightType == data.field && data.biasType == data.field;
    return isOne || data.field == DType::f64 ? data.field : DType::f32;
  }

  /// The layer by the kernels that --family names; none for the reference.
  std::optional<KernelLayer> kernels() const {
    const KernelFamily *family = findKernelFamily(options.family);
    if (options.device.kind == DISCO_CUDA)
      return KernelLayer(
          [this](const disco_kernel_call &call) {
            return runKernelOnDevice(options.family, options.device.id, call);
          },
          psi, options.groups, data.field, parameterType());
    if (!family)
      return std::nullopt;
    return KernelLayer(*family, psi, options.groups, data.field,
                       parameterType());
  }

  Result<Tensor> forward() {
    if (const std::optional<KernelLayer> layer = kernels())
      return layer->forward(data.x, data.weight,
                            options.bias.empty() ? nullptr : &data.bias);
    reference::ConvOptions conv;
    conv.groups = options.groups;
    return reference::conv(Operator::fromSphere(psi), data.x, data.weight,
                           options.bias.empty() ? nullptr : &data.bias, nullptr,
                           conv);
  }

  Result<Tensor> inputGradient() {
    if (const std::optional<KernelLayer> layer = kernels())
      return layer->inputGrad(data.gradOutput, data.weight);
    return reference::convInputGrad(Operator::fromSphere(filter::adjoint(psi)),
                                    data.gradOutput, data.weight,
                                    options.groups);
  }

  Status parameterGradients() {
    if (options.gradWeight.empty() && options.gradBias.empty())
      return {};
    const auto start = std::chrono::steady_clock::now();
    const std::optional<KernelLayer> layer = kernels();
    Result<reference::ParameterGradients> gradients =
        layer ? layer->parameterGrads(data.x, data.gradOutput)
              : reference::convWeightGrad(Operator::fromSphere(psi), data.x,
                                          data.gradOutput, options.groups);
    if (!gradients)
      return gradients.error();
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    const struct {
      const char *name;
      const std::string &path;
      const Tensor &tensor;
      DType dtype;
    } both[] = {{"gw", options.gradWeight, gradients->weight, data.weightType},
                {"gb", options.gradBias, gradients->bias, data.biasType}};
    for (const auto &one : both) {
      if (one.path.empty())
        continue;
      Result<Array> array = one.tensor.to(one.dtype);
      if (!array)
        return array.error();
      results.push_back(
          {one.name, one.path, std::move(*array), elapsed.count()});
    }
    return {};
  }

  const Options &options;
  const LayerData &data;
  const filter::SphereOperator &psi;
};

Status compute(const Options &options, const filter::SphereFilter &filter,
               const LayerData &data, std::vector<Pending> &results) {
  if (options.outputs.empty() && options.gradOutput.empty())
    return {};
  if (options.device.kind == DISCO_CUDA)
    if (const Result<disco_device_properties> device =
            queryDevice(options.device);
        !device)
      return device.error();
  std::optional<Progress> progress("computing the layer");
  const auto start = std::chrono::steady_clock::now();
  Result<filter::SphereOperator> psi = filter::buildOperator(filter);
  if (!psi)
    return psi.error();
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  LayerRunner runner(options, data, *psi);
  if (Status s = runner.run(); !s)
    return s;
  results = std::move(runner.results);
  progress.reset(); // its line is gone before anything is printed
  std::printf("psi: %lld basis functions, %s -> %s, %lld taps, %.3f ms\n",
              static_cast<long long>(psi->numBasis),
              gridText(filter.in).c_str(), gridText(filter.out).c_str(),
              static_cast<long long>(psi->numTaps()), elapsed.count());
  return {};
}

Status runWithData(const Options &options, const filter::SphereFilter &filter) {
  Result<LayerData> data = readData(options);
  if (!data)
    return data.error();
  if (!options.emitMlir.empty())
    if (Status s = checkParameterTypes(*data, "--emit-mlir"); !s)
      return s;
  std::vector<Pending> results;
  if (Status s = compute(options, filter, *data, results); !s)
    return s;
  // Nothing appears before everything has been written.
  std::vector<AtomicFile> files;
  for (const Pending &result : results) {
    Result<AtomicFile> file = stageNpy(result.path, result.array);
    if (!file)
      return file.error();
    files.push_back(std::move(*file));
  }
  if (!options.emitMlir.empty()) {
    Result<Channels> channels =
        channelsOf(data->weight, options.groups, filter.numBasis());
    if (!channels)
      return channels.error();
    Result<AtomicFile> file =
        stageModule(options, filter, *channels,
                    {data->field, data->weightType, data->biasType});
    if (!file)
      return file.error();
    files.push_back(std::move(*file));
  }
  for (AtomicFile &file : files)
    if (Status s = file.commit(); !s)
      return s;
  for (const Pending &result : results)
    std::printf("%s: %s, %.3f ms\n", result.name.c_str(),
                describe(result.array.dtype, result.array.shape).c_str(),
                result.milliseconds);
  return {};
}

Status emitWithoutData(const Options &options,
                       const filter::SphereFilter &filter) {
  const DType dtype = *options.dtype;
  Result<AtomicFile> file =
      stageModule(options, filter, *options.shape, {dtype, dtype, dtype});
  return file ? file->commit() : Status(file.error());
}

} // namespace

int runLayer(const Options &options) {
  Result<filter::SphereFilter> filter =
      filter::parseSphereFilter(options.layer);
  if (!filter)
    return reportError(filter.message());
  const Status status = options.shape ? emitWithoutData(options, *filter)
                                      : runWithData(options, *filter);
  return status ? exitOk : reportError(status.message());
}

} // namespace disco::run
