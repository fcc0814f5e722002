//===- GoldenLayers.cpp - kernels against the golden layers ---------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GoldenLayers.h"

#include "CpuGatherTestUtil.h"

#include "disco/Runtime/KernelLayer.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace disco;
using namespace disco::test;
using reference::Tensor;

namespace {

/// The files that are kept with the sources; elsewhere on a machine that has
/// only binaries.
std::string folderOfKept() {
  const char *given = std::getenv("DISCO_GOLDEN_FOLDER");
  return given ? given : GOLDEN_FOLDER;
}

/// A row of conv.tsv.
struct GoldenCase {
  std::string id, filter;
  double tol = 0;
  bool isKept = false, bias = false;
  int64_t groups = 1;
};

std::vector<GoldenCase> readCases() {
  std::ifstream file(folderOfKept() + "conv.tsv");
  std::vector<GoldenCase> cases;
  std::string line;
  std::getline(file, line); // the header
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string tol, gated, kept, groups, bias;
    GoldenCase c;
    for (std::string *field :
         {&c.id, &tol, &gated, &kept, &groups, &bias, &c.filter})
      std::getline(fields, *field, '\t');
    c.tol = std::stod(tol);
    c.groups = std::stoll(groups);
    c.isKept = kept == "yes";
    c.bias = bias == "yes";
    if (gated == "yes")
      cases.push_back(c);
  }
  return cases;
}

/// All arrays where they are, else those kept here.
std::string folder() {
  const std::string kept = folderOfKept(),
                    all = kept + "../../../../shared/golden/";
  return std::ifstream(all + "conv_000.x.npy") ? all : kept;
}

struct Layer {
  filter::SphereOperator psi;
  Tensor x, weight, bias, gy;
};

Tensor read(const GoldenCase &c, const char *what) {
  const Result<Array> array = readNpy(folder() + c.id + "." + what + ".npy");
  EXPECT_TRUE(array) << array.message();
  return array ? Tensor::from(*array) : Tensor();
}

/// The results in the order y, gx, gw, gb.
std::vector<Result<Tensor>> compute(const KernelFamily &family,
                                    const GoldenCase &c, const Layer &layer,
                                    DType dtype) {
  const KernelLayer kernels(family, layer.psi, c.groups, dtype, dtype);
  std::vector<Result<Tensor>> results;
  results.push_back(
      kernels.forward(layer.x, layer.weight, c.bias ? &layer.bias : nullptr));
  results.push_back(kernels.inputGrad(layer.gy, layer.weight));
  const auto gradients = kernels.parameterGrads(layer.x, layer.gy);
  if (!gradients) {
    results.push_back(gradients.error());
    return results;
  }
  results.push_back(gradients->weight);
  if (c.bias)
    results.push_back(gradients->bias);
  return results;
}

/// The same by the reference, exactly or naively in a type.
std::vector<Tensor> computeReference(const GoldenCase &c, const Layer &layer,
                                     reference::Precision precision) {
  using reference::Operator;
  const Operator op = Operator::fromSphere(layer.psi);
  const Operator adjoint = Operator::fromSphere(filter::adjoint(layer.psi));
  reference::ConvOptions options;
  options.groups = c.groups;
  std::vector<Tensor> results;
  results.push_back(*reference::conv(op, layer.x, layer.weight,
                                     c.bias ? &layer.bias : nullptr, nullptr,
                                     options, precision));
  results.push_back(*reference::convInputGrad(adjoint, layer.gy, layer.weight,
                                              c.groups, precision));
  const auto gradients =
      reference::convWeightGrad(op, layer.x, layer.gy, c.groups, precision);
  results.push_back(gradients->weight);
  if (c.bias)
    results.push_back(gradients->bias);
  return results;
}

Layer readLayer(const GoldenCase &c) {
  Layer layer;
  layer.psi = *filter::buildOperator(*filter::parseSphereFilter(c.filter));
  layer.x = read(c, "x");
  layer.weight = read(c, "w");
  layer.gy = read(c, "gy");
  if (c.bias)
    layer.bias = read(c, "b");
  return layer;
}

} // namespace

int disco::test::countGolden() {
  const bool hasAll = folder() != folderOfKept();
  int count = 0, kept = 0;
  for (const GoldenCase &c : readCases()) {
    count += c.bias ? 4 : 3;
    kept += c.isKept ? (c.bias ? 4 : 3) : 0;
  }
  // The table of the sources.
  EXPECT_EQ(count, 95);
  EXPECT_EQ(kept, 54);
  return hasAll ? count : kept;
}

int disco::test::checkGoldenF64(const KernelFamily &family) {
  static constexpr const char *names[] = {"y", "gx", "gw", "gb"};
  int compared = 0;
  for (const GoldenCase &c : readCases()) {
    if (!c.isKept && folder() == folderOfKept())
      continue;
    SCOPED_TRACE(c.id);
    const auto results = compute(family, c, readLayer(c), DType::f64);
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i]) {
        ADD_FAILURE() << results[i].message();
        return compared;
      }
      const Tensor expected = read(c, names[i]);
      EXPECT_EQ(results[i]->shape, expected.shape);
      EXPECT_TRUE(reference::compare(expected, *results[i]).within(c.tol))
          << names[i];
      ++compared;
    }
  }
  return compared;
}

int disco::test::checkGoldenNarrow(const KernelFamily &family,
                                   const std::vector<DType> &dtypes) {
  int compared = 0;
  for (const GoldenCase &c : readCases()) {
    if (!c.isKept && folder() == folderOfKept())
      continue;
    const Layer exact = readLayer(c);
    for (DType dtype : dtypes) {
      SCOPED_TRACE(c.id + " in " + std::string(nameOf(dtype)));
      Layer layer = exact;
      for (Tensor *tensor : {&layer.x, &layer.weight, &layer.bias, &layer.gy})
        *tensor = tensor->rounded(dtype);
      const auto results = compute(family, c, layer, dtype);
      const auto expected = computeReference(c, layer, {});
      const auto naive = computeReference(c, layer, {dtype});
      EXPECT_EQ(results.size(), expected.size());
      for (size_t i = 0; i < results.size(); ++i) {
        if (!results[i]) {
          ADD_FAILURE() << results[i].message();
          return compared;
        }
        const Tensor rounded = naive[i].rounded(dtype);
        EXPECT_EQ(judge(expected[i], &rounded, *results[i]->to(dtype)), "");
        ++compared;
      }
    }
  }
  return compared;
}
