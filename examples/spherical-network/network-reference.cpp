//===- network-reference.cpp - network.mlir in float64, by hand -----------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   network-reference network.mlir DIR Y.npy
//
// Computes the network with the reference engine, without any MLIR, from the
// files that make-demo-inputs wrote into DIR, and compares Y.npy with it. Only
// the filters' texts are taken from network.mlir; the layers are spelled out
// below. Exit code 1 when Y.npy is not within the bound of its type.
//
//===----------------------------------------------------------------------===//

#include "disco/Filter/SphereOperator.h"
#include "disco/Runtime/Accuracy.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

using namespace disco;
using namespace disco::reference;

namespace {

/// The filter of the line "#NAME = #disco.sphere_filter<...>".
Result<Operator> readFilter(const std::string &module, const std::string &name,
                            const std::string &path) {
  const std::string start = "\n#" + name + " = ";
  const size_t found = module.find(start);
  if (found == std::string::npos)
    return Error{"expected '" + path + "' to define #" + name};
  const size_t begin = found + start.size();
  const std::string text =
      module.substr(begin, module.find('\n', begin) - begin);
  Result<filter::SphereFilter> parsed = filter::parseSphereFilter(text);
  if (!parsed)
    return Error{"#" + name + " of '" + path + "': " + parsed.message()};
  Result<filter::SphereOperator> sphere = filter::buildOperator(*parsed);
  if (!sphere)
    return sphere.error();
  return Operator::fromSphere(*sphere);
}

Result<Tensor> readTensor(const std::string &path) {
  Result<Array> array = readNpy(path);
  if (!array)
    return array.error();
  return Tensor::from(*array);
}

/// One layer of the network with its parameters.
struct Layer {
  std::string module, path, directory;

  Result<Tensor> operator()(const std::string &name, const Tensor &x,
                            const ConvOptions &options,
                            const Tensor *residual = nullptr) const {
    Result<Operator> psi = readFilter(module, name, path);
    if (!psi)
      return psi.error();
    Result<Tensor> weight = readTensor(directory + "/" + name + "_weight.npy");
    if (!weight)
      return weight.error();
    Result<Tensor> bias = readTensor(directory + "/" + name + "_bias.npy");
    if (!bias)
      return bias.error();
    return conv(*psi, x, *weight, &*bias, residual, options);
  }
};

Result<Tensor> runNetwork(const Layer &layer, const Tensor &x) {
  const ConvOptions grouped = {/*groups=*/4};
  const ConvOptions gelu = {/*groups=*/1, Activation::gelu};
  Result<Tensor> h0 = layer("encoder", x, grouped);
  if (!h0)
    return h0;
  Result<Tensor> h1 = layer("block1", *h0, gelu);
  if (!h1)
    return h1;
  Result<Tensor> h2 = layer("block2", *h1, gelu, &*h0);
  if (!h2)
    return h2;
  // The decoder has few channels: mixing first is cheaper, and the same.
  return layer("decoder", *h2,
               {/*groups=*/4, Activation::none, Order::weightFirst});
}

Status run(int argc, char **argv) {
  if (argc != 4)
    return Error{"usage: network-reference network.mlir DIR Y.npy"};
  std::ifstream file(argv[1]);
  std::stringstream module;
  module << file.rdbuf();
  if (!file)
    return Error{std::string("cannot read '") + argv[1] + "'"};
  Result<Tensor> x = readTensor(std::string(argv[2]) + "/x.npy");
  if (!x)
    return x.error();
  Result<Array> actual = readNpy(argv[3]);
  if (!actual)
    return actual.error();

  const auto start = std::chrono::steady_clock::now();
  Result<Tensor> expected = runNetwork({module.str(), argv[1], argv[2]}, *x);
  if (!expected)
    return expected.error();
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;

  if (actual->shape != expected->shape)
    return Error{"expected '" + std::string(argv[3]) + "' to be " +
                 describe(actual->dtype, expected->shape) + ", but got " +
                 describe(actual->dtype, actual->shape)};
  const Tensor result = Tensor::from(*actual);
  const Difference difference = compare(*expected, result);
  const double bound = errorBound(actual->dtype, 0);
  const int64_t worst = difference.worstIndex;
  std::printf(
      "float64 reference: %.2f s\n"
      "relative L2 error: %.2e (bound %.0e), worst latitude %.2e, "
      "largest difference %.2e\n",
      seconds.count(), difference.relativeL2, bound, difference.worstRow,
      worst < 0 ? 0.0 : std::fabs(result.data[worst] - expected->data[worst]));
  if (result.size() == 0)
    return Error{"expected '" + std::string(argv[3]) +
                 "' to have elements, but got none"};
  if (!difference.within(bound))
    return Error{"expected '" + std::string(argv[3]) +
                 "' to be within the bound, but got an element that is " +
                 (difference.finite ? "too far off" : "not finite") + " at " +
                 describeIndex(worst, actual->shape)};
  return {};
}

} // namespace

int main(int argc, char **argv) {
  const Status status = run(argc, argv);
  if (!status)
    std::fprintf(stderr, "network-reference: %s\n", status.message().c_str());
  return status ? 0 : 1;
}
