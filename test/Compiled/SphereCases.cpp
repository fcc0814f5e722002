//===- SphereCases.cpp - layers on lat-lon grids --------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "disco/Filter/SphereOperator.h"

#include <cstdio>
#include <cstdlib>

using namespace disco;
using namespace disco::compiled;
using reference::Precision;

namespace {

struct Layer {
  const char *name, *filter;
};

constexpr Layer layers[] = {
    {"same", "#disco.sphere_filter<harmonic, [3, 3], cutoff = 5e-1, norm = "
             "mean, in = #disco.grid<legendre_gauss, 12x24>, out = "
             "#disco.grid<legendre_gauss, 12x24>>"},
    {"down", "#disco.sphere_filter<piecewise_linear, [3, 4], cutoff = 6e-1, "
             "norm = nodal, in = #disco.grid<equiangular, 13x24>, out = "
             "#disco.grid<legendre_gauss, 6x12>>"},
    {"up", "#disco.sphere_filter<harmonic, [2, 2], cutoff = 7e-1, norm = mean, "
           "in = #disco.grid<legendre_gauss, 6x8>, out = "
           "#disco.grid<equiangular, 9x24>, transpose>"},
    // The disks are smaller than the distance of the nearest points.
    {"empty", "#disco.sphere_filter<zernike, [2], cutoff = 1e-3, norm = none, "
              "in = #disco.grid<equiangular, 7x8>, out = "
              "#disco.grid<legendre_gauss, 4x8>>"},
};

constexpr int64_t channels = 4, outputs = 6;

struct Conv {
  const char *name;
  int64_t groups;
  bool weightFirst, adjoint, bias, residual;
  const char *activation;
  bool weightInF32, biasInF32; // whatever x is
};

const Conv convs[] = {
    {"plain", 1, false, false, false, false, "none", false, false},
    {"plain_wf", 1, true, false, false, false, "none", false, false},
    {"full", 2, false, false, true, true, "gelu", false, false},
    {"full_wf", 2, true, false, true, true, "gelu", true, true},
    {"relu", 2, false, false, true, false, "relu", true, false},
    {"gelu_tanh", 2, true, true, true, true, "gelu_tanh", false, true},
    {"silu", 2, false, true, false, true, "silu", false, false},
};

/// One filter in one element type: the module, and what it should compute.
class LayerCase {
public:
  LayerCase(Checker &checker, DType dtype, const Layer &layer)
      : checker(checker), dtype(dtype), layer(layer),
        sphere(build(layer.filter)), forward(Operator::fromSphere(sphere)),
        adjoint(forward.transposed()) {}
  void run();

private:
  static filter::SphereOperator build(const char *text);
  std::string psiType() const;
  std::string convFunction(const Conv &conv) const;
  std::string inputGradFunction(int64_t groups) const;
  std::string mlir() const;
  std::vector<int64_t> shape(int64_t batch, int64_t channelCount,
                             bool outputSide, bool features = false) const;
  DType parameterType(bool inF32) const { return inF32 ? DType::f32 : dtype; }
  void checkContractions(const Program &program, int64_t batch);
  void checkConv(const Program &program, const Conv &conv, int64_t batch);
  void checkInputGrad(const Program &program, int64_t groups, int64_t batch);
  void checkWeightGrad(const Program &program, int64_t batch);
  void compareEach(
      const std::string &name, const Program &program, const std::string &entry,
      const std::vector<Array> &inputs,
      const std::function<Result<std::vector<Tensor>>(Precision)> &expected);

  Checker &checker;
  DType dtype;
  const Layer &layer;
  filter::SphereOperator sphere;
  Operator forward, adjoint;
  Random random{7};
};

} // namespace

filter::SphereOperator LayerCase::build(const char *text) {
  Result<filter::SphereFilter> parsed = filter::parseSphereFilter(text);
  Result<filter::SphereOperator> built =
      parsed ? filter::buildOperator(*parsed)
             : Result<filter::SphereOperator>(parsed.error());
  if (!built) {
    std::printf("%s: %s\n", text, built.message().c_str());
    std::exit(1);
  }
  return std::move(*built);
}

static std::string points(int64_t nlat, int64_t nlon) {
  return std::to_string(nlat) + "x" + std::to_string(nlon);
}

std::string LayerCase::psiType() const {
  return "!disco.psi<sphere, " + std::to_string(sphere.numBasis) + ", " +
         points(sphere.nlatIn, sphere.nlonIn) + " -> " +
         points(sphere.nlatOut, sphere.nlonOut) + ">";
}

std::vector<int64_t> LayerCase::shape(int64_t batch, int64_t channelCount,
                                      bool outputSide, bool features) const {
  std::vector<int64_t> dims{batch, channelCount};
  if (features)
    dims.push_back(sphere.numBasis);
  dims.push_back(outputSide ? sphere.nlatOut : sphere.nlatIn);
  dims.push_back(outputSide ? sphere.nlonOut : sphere.nlonIn);
  return dims;
}

std::string LayerCase::convFunction(const Conv &conv) const {
  DType parameters = parameterType(conv.weightInF32);
  std::string x = tensorType(dtype, shape(-1, channels, conv.adjoint));
  std::string y = tensorType(dtype, shape(-1, outputs, !conv.adjoint));
  std::string w = tensorType(
      parameters, {outputs, channels / conv.groups, sphere.numBasis});
  std::string b = tensorType(parameterType(conv.biasInF32), {outputs});
  std::string psi = psiType();
  if (conv.adjoint)
    psi = "!disco.psi<sphere, " + std::to_string(sphere.numBasis) + ", " +
          points(sphere.nlatOut, sphere.nlonOut) + " -> " +
          points(sphere.nlatIn, sphere.nlonIn) + ">";
  std::string text =
      "func.func @conv_" + std::string(conv.name) + "(%x: " + x + ", %w: " + w;
  if (conv.bias)
    text += ", %b: " + b;
  if (conv.residual)
    text += ", %r: " + y;
  text += ") -> " + y + " {\n  %psi = disco.filter #f -> " + psiType() + "\n";
  if (conv.adjoint)
    text += "  %used = disco.adjoint %psi : " + psiType() + "\n";
  text += "  %y = disco.conv %x, " +
          std::string(conv.adjoint ? "%used" : "%psi") + ", %w" +
          (conv.bias ? " bias %b" : "") +
          (conv.residual ? " residual %r" : "") + " groups " +
          std::to_string(conv.groups) + " activation " + conv.activation +
          " plan <" + checker.family() +
          ", order = " + (conv.weightFirst ? "weight_first" : "filter_first") +
          "> : (" + x + ", " + psi + ", " + w + (conv.bias ? ", " + b : "") +
          (conv.residual ? ", " + y : "") + ") -> " + y +
          "\n  return %y : " + y + "\n}\n";
  return text;
}

/// The gradient with respect to the input: the weight is transposed in its
/// groups.
std::string LayerCase::inputGradFunction(int64_t groups) const {
  const int64_t o = outputs / groups, c = channels / groups,
                k = sphere.numBasis;
  std::string gx = tensorType(dtype, shape(-1, channels, false));
  std::string gy = tensorType(dtype, shape(-1, outputs, true));
  std::string w = tensorType(dtype, {outputs, c, k});
  std::string t = tensorType(dtype, {channels, o, k});
  std::string split = tensorType(dtype, {groups, o, c, k});
  std::string turned = tensorType(dtype, {groups, c, o, k});
  std::string adjointType = "!disco.psi<sphere, " + std::to_string(k) + ", " +
                            points(sphere.nlatOut, sphere.nlonOut) + " -> " +
                            points(sphere.nlatIn, sphere.nlonIn) + ">";
  std::string text = "func.func @input_grad_" + std::to_string(groups) +
                     "(%gy: " + gy + ", %w: " + w + ") -> " + gx +
                     " {\n  %psi = disco.filter #f -> " + psiType() +
                     "\n  %a = disco.adjoint %psi : " + psiType() + "\n";
  if (groups == 1)
    text += "  %e = tensor.empty() : " + t +
            "\n  %t = linalg.transpose ins(%w : " + w + ") outs(%e : " + t +
            ") permutation = [1, 0, 2]\n";
  else
    text += "  %s = tensor.expand_shape %w [[0, 1], [2], [3]] output_shape [" +
            std::to_string(groups) + ", " + std::to_string(o) + ", " +
            std::to_string(c) + ", " + std::to_string(k) + "] : " + w +
            " into " + split + "\n  %e = tensor.empty() : " + turned +
            "\n  %u = linalg.transpose ins(%s : " + split +
            ") outs(%e : " + turned +
            ") permutation = [0, 2, 1, 3]\n  %t = "
            "tensor.collapse_shape %u [[0, 1], [2], [3]] : " +
            turned + " into " + t + "\n";
  return text + "  %gx = disco.conv %gy, %a, %t groups " +
         std::to_string(groups) + " : (" + gy + ", " + adjointType + ", " + t +
         ") -> " + gx + "\n  return %gx : " + gx + "\n}\n";
}

std::string LayerCase::mlir() const {
  std::string x = tensorType(dtype, shape(-1, channels, false));
  std::string z = tensorType(dtype, shape(-1, channels, true, true));
  std::string gy = tensorType(dtype, shape(-1, outputs, true));
  std::string gw = tensorType(dtype == DType::f64 ? dtype : DType::f32,
                              {outputs, channels / 2, sphere.numBasis});
  std::string gb = tensorType(dtype, {outputs});
  std::string psi = psiType();
  std::string adjointType = "!disco.psi<sphere, " +
                            std::to_string(sphere.numBasis) + ", " +
                            points(sphere.nlatOut, sphere.nlonOut) + " -> " +
                            points(sphere.nlatIn, sphere.nlonIn) + ">";
  std::string filter = "  %psi = disco.filter #f -> " + psi + "\n";
  std::string text = "#f = " + std::string(layer.filter) + "\n";
  text += "func.func @contract(%x: " + x + ") -> " + z + " {\n" + filter +
          "  %z = disco.contract %x, %psi : (" + x + ", " + psi + ") -> " + z +
          "\n  return %z : " + z + "\n}\n";
  text += "func.func @contract_sum(%z: " + z + ") -> " + x + " {\n" + filter +
          "  %a = disco.adjoint %psi : " + psi +
          "\n  %x = disco.contract_sum %z, %a : (" + z + ", " + adjointType +
          ") -> " + x + "\n  return %x : " + x + "\n}\n";
  for (const Conv &conv : convs)
    text += convFunction(conv);
  for (const char *order : {"filter_first", "weight_first"})
    if (std::string(order) == "filter_first" || checker.filtersGradients())
      text += "func.func @grad_" + std::string(order) + "(%x: " + x +
              ", %gy: " + gy + ") -> (" + gw + ", " + gb + ") {\n" + filter +
              "  %gw, %gb = disco.conv_weight_grad %x, %gy, %psi groups 2 plan "
              "<" +
              checker.family() + ", order = " + order + "> : (" + x + ", " +
              gy + ", " + psi + ") -> (" + gw + ", " + gb +
              ")\n  return %gw, %gb : " + gw + ", " + gb + "\n}\n";
  return text + inputGradFunction(1) + inputGradFunction(2);
}

/// Runs an entry and compares all its results.
void LayerCase::compareEach(
    const std::string &name, const Program &program, const std::string &entry,
    const std::vector<Array> &inputs,
    const std::function<Result<std::vector<Tensor>>(Precision)> &expected) {
  std::string label = std::string(layer.name) + " " + name;
  Result<std::vector<Array>> actual = program.run(entry, inputs);
  if (!actual)
    return checker.check(label, false, actual.message());
  Result<std::vector<Tensor>> exact = expected({});
  Result<std::vector<Tensor>> naive =
      reference::needsNaive(dtype)
          ? expected({dtype})
          : Result<std::vector<Tensor>>(std::vector<Tensor>());
  if (!exact || !naive)
    return checker.check(label, false, "the reference failed");
  for (size_t i = 0; i < exact->size(); ++i)
    checker.compare(label + " result " + std::to_string(i), dtype, (*exact)[i],
                    (*actual)[i], naive->empty() ? nullptr : &(*naive)[i]);
}

/// One tensor as the list of results.
static Result<std::vector<Tensor>> single(Result<Tensor> tensor) {
  if (!tensor)
    return tensor.error();
  return std::vector<Tensor>{std::move(*tensor)};
}

void LayerCase::checkContractions(const Program &program, int64_t batch) {
  std::string suffix = " batch " + std::to_string(batch);
  Array x = random.array(dtype, shape(batch, channels, false));
  Array z = random.array(dtype, shape(batch, channels, true, true));
  compareEach(
      "contract" + suffix, program, "contract", {x}, [&](Precision precision) {
        return single(reference::contract(forward, Tensor::from(x), precision));
      });
  compareEach("contract_sum" + suffix, program, "contract_sum", {z},
              [&](Precision precision) {
                return single(reference::contractSum(adjoint, Tensor::from(z),
                                                     precision));
              });
}

void LayerCase::checkConv(const Program &program, const Conv &conv,
                          int64_t batch) {
  DType parameters = parameterType(conv.weightInF32);
  std::vector<Array> inputs{
      random.array(dtype, shape(batch, channels, conv.adjoint)),
      random.array(parameters,
                   {outputs, channels / conv.groups, sphere.numBasis})};
  size_t biasAt = inputs.size();
  if (conv.bias)
    inputs.push_back(random.array(parameterType(conv.biasInF32), {outputs}));
  size_t residualAt = inputs.size();
  if (conv.residual)
    inputs.push_back(random.array(dtype, shape(batch, outputs, !conv.adjoint)));
  compareEach(
      std::string("conv_") + conv.name + " batch " + std::to_string(batch),
      program, std::string("conv_") + conv.name, inputs,
      [&](Precision precision) {
        std::vector<Tensor> tensors;
        for (const Array &input : inputs)
          tensors.push_back(Tensor::from(input));
        reference::ConvOptions options;
        options.groups = conv.groups;
        options.activation = *reference::parseActivation(conv.activation);
        options.order = conv.weightFirst ? reference::Order::weightFirst
                                         : reference::Order::filterFirst;
        return single(
            reference::conv(conv.adjoint ? adjoint : forward, tensors[0],
                            tensors[1], conv.bias ? &tensors[biasAt] : nullptr,
                            conv.residual ? &tensors[residualAt] : nullptr,
                            options, precision));
      });
}

void LayerCase::checkWeightGrad(const Program &program, int64_t batch) {
  Array x = random.array(dtype, shape(batch, channels, false));
  Array gy = random.array(dtype, shape(batch, outputs, true));
  for (std::string entry : {"grad_filter_first", "grad_weight_first"})
    if (entry == "grad_filter_first" || checker.filtersGradients())
      compareEach(
          entry + " batch " + std::to_string(batch), program, entry, {x, gy},
          [&](Precision precision) -> Result<std::vector<Tensor>> {
            auto grads = reference::convWeightGrad(
                forward, Tensor::from(x), Tensor::from(gy), 2, precision);
            if (!grads)
              return grads.error();
            return std::vector<Tensor>{grads->weight, grads->bias};
          });
}

void LayerCase::checkInputGrad(const Program &program, int64_t groups,
                               int64_t batch) {
  Array gy = random.array(dtype, shape(batch, outputs, true));
  Array w = random.array(dtype, {outputs, channels / groups, sphere.numBasis});
  std::string entry = "input_grad_" + std::to_string(groups);
  compareEach(
      entry + " batch " + std::to_string(batch), program, entry, {gy, w},
      [&](Precision precision) {
        return single(reference::convInputGrad(
            adjoint, Tensor::from(gy), Tensor::from(w), groups, precision));
      });
}

void LayerCase::run() {
  std::unique_ptr<Program> program = checker.compile(
      std::string(layer.name) + "_" + std::string(nameOf(dtype)), mlir());
  if (!program)
    return;
  for (int64_t batch : {0, 1, 3}) {
    checkContractions(*program, batch);
    for (const Conv &conv : convs)
      checkConv(*program, conv, batch);
    checkWeightGrad(*program, batch);
    for (int64_t groups : {1, 2})
      checkInputGrad(*program, groups, batch);
  }
  // The batches of two inputs have to be the same.
  Array x = random.array(dtype, shape(2, channels, false));
  Array gy = random.array(dtype, shape(3, outputs, true));
  Result<std::vector<Array>> mismatch =
      program->run("grad_filter_first", {x, gy});
  checker.check(std::string(layer.name) + " batches that differ", !mismatch,
                "expected an error, but got none");
}

void compiled::checkSpheres(Checker &checker, DType dtype) {
  for (const Layer &layer : layers)
    LayerCase(checker, dtype, layer).run();
}
