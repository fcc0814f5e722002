//===- PropertyCases.cpp - what must hold whatever the numbers are --------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <cmath>

using namespace disco;
using namespace disco::compiled;

/// `array` [.., nlon] turned east by `shift` longitudes.
static Array turned(const Array &array, int64_t shift) {
  int64_t nlon = array.shape.back();
  return makeArray(array.dtype, array.shape, [&](int64_t i) {
    int64_t lon = i % nlon;
    return array.at(i - lon + (lon - shift % nlon + nlon) % nlon);
  });
}

static const char shiftModule[] = R"(
#same = #disco.sphere_filter<harmonic, [3, 3], cutoff = 5e-1, norm = mean, in = #disco.grid<legendre_gauss, 12x24>, out = #disco.grid<legendre_gauss, 12x24>>
#down = #disco.sphere_filter<piecewise_linear, [3, 4], cutoff = 6e-1, norm = nodal, in = #disco.grid<equiangular, 13x24>, out = #disco.grid<legendre_gauss, 6x12>>
#up = #disco.sphere_filter<harmonic, [2, 2], cutoff = 7e-1, norm = mean, in = #disco.grid<legendre_gauss, 6x8>, out = #disco.grid<equiangular, 9x24>, transpose>
func.func @same(%x: tensor<1x2x12x24xf32>, %w: tensor<3x2x9xf32>) -> tensor<1x3x12x24xf32> {
  %psi = disco.filter #same -> !disco.psi<sphere, 9, 12x24 -> 12x24>
  %y = disco.conv %x, %psi, %w activation gelu : (tensor<1x2x12x24xf32>, !disco.psi<sphere, 9, 12x24 -> 12x24>, tensor<3x2x9xf32>) -> tensor<1x3x12x24xf32>
  return %y : tensor<1x3x12x24xf32>
}
func.func @down(%x: tensor<1x2x13x24xbf16>, %w: tensor<3x2x5xbf16>) -> tensor<1x3x6x12xbf16> {
  %psi = disco.filter #down -> !disco.psi<sphere, 5, 13x24 -> 6x12>
  %y = disco.conv %x, %psi, %w activation silu plan <FAMILY, order = weight_first> : (tensor<1x2x13x24xbf16>, !disco.psi<sphere, 5, 13x24 -> 6x12>, tensor<3x2x5xbf16>) -> tensor<1x3x6x12xbf16>
  return %y : tensor<1x3x6x12xbf16>
}
func.func @up(%x: tensor<1x2x6x8xf16>, %w: tensor<3x2x4xf16>) -> tensor<1x3x9x24xf16> {
  %psi = disco.filter #up -> !disco.psi<sphere, 4, 6x8 -> 9x24>
  %y = disco.conv %x, %psi, %w : (tensor<1x2x6x8xf16>, !disco.psi<sphere, 4, 6x8 -> 9x24>, tensor<3x2x4xf16>) -> tensor<1x3x9x24xf16>
  return %y : tensor<1x3x9x24xf16>
}
)";

static std::string withFamily(const Checker &checker, std::string module) {
  const std::string word = "FAMILY";
  for (size_t at; (at = module.find(word)) != module.npos;)
    module.replace(at, word.size(), checker.family());
  return module;
}

/// Turning the input turns the output, bit for bit.
static void checkShifts(Checker &checker) {
  std::unique_ptr<Program> program =
      checker.compile("shift", withFamily(checker, shiftModule));
  if (!program)
    return;
  struct Case {
    const char *entry;
    DType dtype;
    std::vector<int64_t> x, w;
    int64_t inStep, outStep;
  };
  Random random(3);
  for (const Case &c :
       {Case{"same", DType::f32, {1, 2, 12, 24}, {3, 2, 9}, 1, 1},
        Case{"down", DType::bf16, {1, 2, 13, 24}, {3, 2, 5}, 2, 1},
        Case{"up", DType::f16, {1, 2, 6, 8}, {3, 2, 4}, 1, 3}}) {
    Array x = random.array(c.dtype, c.x), w = random.array(c.dtype, c.w);
    Result<std::vector<Array>> base = program->run(c.entry, {x, w});
    if (!base) {
      checker.check(c.entry, false, base.message());
      continue;
    }
    for (int64_t steps : {1, 3, 7}) {
      Result<std::vector<Array>> moved =
          program->run(c.entry, {turned(x, steps * c.inStep), w});
      std::string name =
          std::string("shift ") + c.entry + " by " + std::to_string(steps);
      if (!moved)
        checker.check(name, false, moved.message());
      else
        checker.check(
            name,
            same(moved->front(), turned(base->front(), steps * c.outStep)),
            "the outputs differ");
    }
  }
}

static double dot(const Array &a, const Array &b) {
  double sum = 0;
  for (int64_t i = 0, n = a.numElements(); i < n; ++i)
    sum += a.at(i) * b.at(i);
  return sum;
}

static const char adjointModule[] = R"(
#down = #disco.sphere_filter<piecewise_linear, [3, 4], cutoff = 6e-1, norm = nodal, in = #disco.grid<equiangular, 13x24>, out = #disco.grid<legendre_gauss, 6x12>>
func.func @sphere(%x: tensor<2x3x13x24xf64>, %z: tensor<2x3x5x6x12xf64>) -> (tensor<2x3x5x6x12xf64>, tensor<2x3x13x24xf64>) {
  %psi = disco.filter #down -> !disco.psi<sphere, 5, 13x24 -> 6x12>
  %a = disco.adjoint %psi : !disco.psi<sphere, 5, 13x24 -> 6x12>
  %0 = disco.contract %x, %psi : (tensor<2x3x13x24xf64>, !disco.psi<sphere, 5, 13x24 -> 6x12>) -> tensor<2x3x5x6x12xf64>
  %1 = disco.contract_sum %z, %a : (tensor<2x3x5x6x12xf64>, !disco.psi<sphere, 5, 6x12 -> 13x24>) -> tensor<2x3x13x24xf64>
  return %0, %1 : tensor<2x3x5x6x12xf64>, tensor<2x3x13x24xf64>
}
func.func @table(%x: tensor<2x3x20xf64>, %z: tensor<2x3x4x7xf64>, %i: tensor<7x5xi32>, %v: tensor<7x5x4xf64>) -> (tensor<2x3x4x7xf64>, tensor<2x3x20xf64>) {
  %psi = disco.assemble knn(%i, %v) : (tensor<7x5xi32>, tensor<7x5x4xf64>) -> !disco.psi<table<5>, 4, 20 -> 7>
  %a = disco.adjoint %psi : !disco.psi<table<5>, 4, 20 -> 7>
  %0 = disco.contract %x, %psi : (tensor<2x3x20xf64>, !disco.psi<table<5>, 4, 20 -> 7>) -> tensor<2x3x4x7xf64>
  %1 = disco.contract_sum %z, %a : (tensor<2x3x4x7xf64>, !disco.psi<table<5>, 4, 7 -> 20>) -> tensor<2x3x20xf64>
  return %0, %1 : tensor<2x3x4x7xf64>, tensor<2x3x20xf64>
}
func.func @csr(%x: tensor<2x3x20xf64>, %z: tensor<2x3x4x7xf64>, %r: tensor<8xi64>, %i: tensor<?xi64>, %v: tensor<?x4xf64>) -> (tensor<2x3x4x7xf64>, tensor<2x3x20xf64>) {
  %psi = disco.assemble csr(%r, %i, %v) : (tensor<8xi64>, tensor<?xi64>, tensor<?x4xf64>) -> !disco.psi<csr, 4, 20 -> 7>
  %a = disco.adjoint %psi : !disco.psi<csr, 4, 20 -> 7>
  %0 = disco.contract %x, %psi : (tensor<2x3x20xf64>, !disco.psi<csr, 4, 20 -> 7>) -> tensor<2x3x4x7xf64>
  %1 = disco.contract_sum %z, %a : (tensor<2x3x4x7xf64>, !disco.psi<csr, 4, 7 -> 20>) -> tensor<2x3x20xf64>
  return %0, %1 : tensor<2x3x4x7xf64>, tensor<2x3x20xf64>
}
)";

/// <contract(x), z> = <x, contract_sum(z, adjoint)>
static void checkAdjoints(Checker &checker) {
  std::unique_ptr<Program> program = checker.compile("adjoint", adjointModule);
  if (!program)
    return;
  Random random(5);
  auto numbers = [&](std::vector<int64_t> shape) {
    return random.array(DType::f64, shape);
  };
  auto indices = [&](DType dtype, std::vector<int64_t> shape, int64_t bound) {
    return makeArray(dtype, shape, [&](int64_t) {
      return static_cast<double>(random.below(bound));
    });
  };
  const int64_t offsets[] = {0, 0, 3, 9, 10, 10, 14, 21};
  std::vector<std::pair<const char *, std::vector<Array>>> cases{
      {"sphere", {numbers({2, 3, 13, 24}), numbers({2, 3, 5, 6, 12})}},
      {"table",
       {numbers({2, 3, 20}), numbers({2, 3, 4, 7}),
        indices(DType::i32, {7, 5}, 21), numbers({7, 5, 4})}},
      {"csr",
       {numbers({2, 3, 20}), numbers({2, 3, 4, 7}),
        makeArray(DType::i64, {8},
                  [&](int64_t i) { return static_cast<double>(offsets[i]); }),
        indices(DType::i64, {21}, 20), numbers({21, 4})}}};
  for (const auto &[entry, inputs] : cases) {
    Result<std::vector<Array>> results = program->run(entry, inputs);
    if (!results) {
      checker.check(entry, false, results.message());
      continue;
    }
    double left = dot((*results)[0], inputs[1]),
           right = dot(inputs[0], (*results)[1]);
    double scale = std::sqrt(dot((*results)[0], (*results)[0]) *
                             dot(inputs[1], inputs[1]));
    checker.check(std::string("adjoint of ") + entry,
                  std::fabs(left - right) <= 1e-13 * scale,
                  "expected " + std::to_string(left) + ", but got " +
                      std::to_string(right));
  }
}

static const char stridedModule[] = R"(
#f = #disco.sphere_filter<harmonic, [2, 2], cutoff = 6e-1, in = #disco.grid<equiangular, 7x8>, out = #disco.grid<equiangular, 7x8>>
func.func @layer(%x: tensor<?x2x7x8xf16>, %w: tensor<2x2x4xf32>, %b: tensor<2xf32>) -> (tensor<?x2x7x8xf16>, tensor<?x2x7x8xf16>) {
  %psi = disco.filter #f -> !disco.psi<sphere, 4, 7x8 -> 7x8>
  %y = disco.conv %x, %psi, %w bias %b residual %x activation relu : (tensor<?x2x7x8xf16>, !disco.psi<sphere, 4, 7x8 -> 7x8>, tensor<2x2x4xf32>, tensor<2xf32>, tensor<?x2x7x8xf16>) -> tensor<?x2x7x8xf16>
  return %y, %x : tensor<?x2x7x8xf16>, tensor<?x2x7x8xf16>
}
)";

/// Layouts do not change results.
static void checkStrides(Checker &checker) {
  std::unique_ptr<Program> program =
      checker.compile("strided", stridedModule, "--strided");
  if (!program)
    return;
  Random random(9);
  std::vector<Array> inputs{random.array(DType::f16, {3, 2, 7, 8}),
                            random.array(DType::f32, {2, 2, 4}),
                            random.array(DType::f32, {2})};
  Result<std::vector<Array>> dense = program->run("layer", inputs);
  Result<std::vector<Array>> spread = program->runSpread("layer", inputs, 3);
  if (!dense || !spread)
    return checker.check("strides", false,
                         dense ? spread.message() : dense.message());
  for (size_t i = 0; i < dense->size(); ++i)
    checker.check("strides, output " + std::to_string(i),
                  same((*dense)[i], (*spread)[i]), "the outputs differ");
  // Without --strided the runtime refuses what is not dense.
  std::unique_ptr<Program> denseOnly = checker.compile("dense", stridedModule);
  if (denseOnly)
    checker.checkError("strides that are not dense",
                       denseOnly->runSpread("layer", inputs, 3),
                       "output shapes: expected input 0 to have stride 3 equal "
                       "to 1 (entry 'layer' takes dense row-major arrays), but "
                       "got 3");
  checker.check("an input that is a result", same((*dense)[1], inputs[0]),
                "the copy differs");
}

static const char errorModule[] = R"(
func.func @onehot(%x: tensor<?x1x4xf32>, %i: tensor<2x3xi64>, %b: tensor<2x3xi32>) -> tensor<?x1x5x2xf32> {
  %psi = disco.assemble knn_onehot(%i, %b) : (tensor<2x3xi64>, tensor<2x3xi32>) -> !disco.psi<table<3>, 5, 4 -> 2>
  %z = disco.contract %x, %psi : (tensor<?x1x4xf32>, !disco.psi<table<3>, 5, 4 -> 2>) -> tensor<?x1x5x2xf32>
  return %z : tensor<?x1x5x2xf32>
}
func.func @csr(%x: tensor<?x1x4xf32>, %o: tensor<3xi32>, %i: tensor<?xi32>, %v: tensor<?x5xf32>) -> tensor<?x1x5x2xf32> {
  %psi = disco.assemble csr(%o, %i, %v) : (tensor<3xi32>, tensor<?xi32>, tensor<?x5xf32>) -> !disco.psi<csr, 5, 4 -> 2>
  %z = disco.contract %x, %psi : (tensor<?x1x4xf32>, !disco.psi<csr, 5, 4 -> 2>) -> tensor<?x1x5x2xf32>
  return %z : tensor<?x1x5x2xf32>
}
func.func @large(%x: tensor<?x1x4xf32>, %w: tensor<1x1x5xf32>, %o: tensor<3xi32>, %i: tensor<1xi32>, %v: tensor<1x5xf32>) -> tensor<?x1x2xf32> {
  %psi = disco.assemble csr(%o, %i, %v) : (tensor<3xi32>, tensor<1xi32>, tensor<1x5xf32>) -> !disco.psi<csr, 5, 4 -> 2>
  %y = disco.conv %x, %psi, %w plan <FAMILY, order = weight_first> : (tensor<?x1x4xf32>, !disco.psi<csr, 5, 4 -> 2>, tensor<1x1x5xf32>) -> tensor<?x1x2xf32>
  return %y : tensor<?x1x2xf32>
}
)";

/// Tables and sizes that would lead out of memory.
static void checkErrors(Checker &checker) {
  std::unique_ptr<Program> program =
      checker.compile("errors", withFamily(checker, errorModule));
  if (!program)
    return;
  auto numbers = [](DType dtype, std::vector<int64_t> shape,
                    std::vector<double> values) {
    return makeArray(dtype, shape, [&](int64_t i) { return values[i]; });
  };
  Random random(4);
  Array x = random.array(DType::f32, {1, 1, 4});
  Array index = numbers(DType::i64, {2, 3}, {0, 1, 4, 4, 3, 2});
  // The bins 2 and 3 belong to no neighbour.
  Array bin = numbers(DType::i32, {2, 3}, {0, 4, -7, 99, 1, 1});
  checker.check("tables in range",
                bool(program->run("onehot", {x, index, bin})),
                "expected no error, but got one");
  auto onehot = [&](Array index, Array bin) {
    return program->run("onehot", {x, std::move(index), std::move(bin)});
  };
  Array far = index, negative = index, large = bin;
  far.set(5, 5);
  negative.set(1, -1);
  large.set(4, 5);
  const std::string run = "run: entry 'onehot': ";
  checker.checkError("index too large", onehot(far, bin),
                     run + "expected index 5 of input 1 to be in [0, 5), but "
                           "got 5");
  checker.checkError("index negative", onehot(negative, bin),
                     run + "expected index 1 of input 1 to be in [0, 5), but "
                           "got -1");
  checker.checkError("bin too large", onehot(index, large),
                     run + "expected bin 4 of input 2 to be in [0, 5), but "
                           "got 5");
  auto csr = [&](std::vector<double> offsets, std::vector<double> columns,
                 int64_t taps) {
    return program->run("csr", {x, numbers(DType::i32, {3}, std::move(offsets)),
                                numbers(DType::i32, {2}, std::move(columns)),
                                random.array(DType::f32, {taps, 5})});
  };
  const std::string offset = "run: entry 'csr': expected row offset ",
                    ascend = " of input 1 to ascend from 0 to the number of "
                             "taps, but got ";
  checker.check("csr in range", bool(csr({0, 1, 2}, {0, 3}, 2)),
                "expected no error, but got one");
  checker.checkError("offsets that start late", csr({1, 1, 2}, {0, 3}, 2),
                     offset + "0" + ascend + "1");
  checker.checkError("offsets that descend", csr({0, -1, 2}, {0, 3}, 2),
                     offset + "1" + ascend + "-1");
  checker.checkError("offsets that overshoot", csr({0, 5, 2}, {0, 3}, 2),
                     offset + "1" + ascend + "5");
  checker.checkError("offsets that end early", csr({0, 1, 1}, {0, 3}, 2),
                     offset + "2" + ascend + "1");
  checker.checkError("column", csr({0, 1, 2}, {0, 4}, 2),
                     "run: entry 'csr': expected column 1 of input 2 to be in "
                     "[0, 4), but got 4");
  checker.check("taps that differ", !csr({0, 1, 2}, {0, 3}, 3),
                "expected an error, but got none");
  // 2^58 fields of 16 bytes; the workspace of loops needs 80 bytes of each.
  checker.checkError(
      "workspace",
      program->workspaceBytes(
          "large", {{int64_t(1) << 58, 1, 4}, {1, 1, 5}, {3}, {1}, {1, 5}}),
      "workspace: entry 'large' (workspace size): expected " +
          std::string(checker.family() == "loops"
                          ? "the workspace for these input shapes to be "
                            "smaller than 2^63 bytes, but it is not"
                          : "batch to be in [0, 2147483647], but got "
                            "288230376151711744"));
}

static const char callModule[] = R"(
!psi = !disco.psi<sphere, 1, 2x4 -> 2x4>
func.func @twice(%x: tensor<1x1x2x4xf32>, %o: tensor<3xi32>, %a: tensor<2x4xi32>, %v: tensor<1x1xf32>) -> tensor<1x1x1x2x4xf32> {
  %z = disco.contract %x, (%o, %a, %v) storage <arcs, !psi> plan <cpu_gather, schedule = {tile = 32, channel_block = 0}> : (tensor<1x1x2x4xf32>, tensor<3xi32>, tensor<2x4xi32>, tensor<1x1xf32>) -> tensor<1x1x1x2x4xf32>
  %y = tensor.collapse_shape %z [[0], [1, 2], [3], [4]] : tensor<1x1x1x2x4xf32> into tensor<1x1x2x4xf32>
  %t = disco.contract %y, (%o, %a, %v) storage <arcs, !psi> plan <cpu_gather, schedule = {tile = 32, channel_block = 0}> : (tensor<1x1x2x4xf32>, tensor<3xi32>, tensor<2x4xi32>, tensor<1x1xf32>) -> tensor<1x1x1x2x4xf32>
  return %t : tensor<1x1x1x2x4xf32>
}
)";

/// What a kernel refuses is the entry's error.
static void checkCalls(Checker &checker) {
  std::unique_ptr<Program> program = checker.compile("calls", callModule);
  if (!program)
    return;
  auto indices = [](std::vector<int64_t> shape, std::vector<double> values) {
    return makeArray(DType::i32, shape, [&](int64_t i) { return values[i]; });
  };
  Random random(6);
  Array x = random.array(DType::f32, {1, 1, 2, 4});
  Array offsets = indices({3}, {0, 1, 2});
  // Row t is ring t, turned by one longitude and multiplied by 3.
  Array arcs = indices({2, 4}, {0, 1, 1, 0, 1, 1, 1, 0});
  Array values = makeArray(DType::f32, {1, 1}, [](int64_t) { return 3.0; });
  Result<std::vector<Array>> fine =
      program->run("twice", {x, offsets, arcs, values});
  if (!fine)
    return checker.check("calls", false, fine.message());
  bool agrees = true;
  for (int64_t i = 0; i < 8; ++i)
    agrees &= fine->front().at(i) ==
              static_cast<float>(
                  3 * static_cast<float>(3 * x.at(i / 4 * 4 + (i + 2) % 4)));
  checker.check("calls", agrees, "the output differs");
  arcs.set(4, 2);
  checker.checkError("latitude of an arc",
                     program->run("twice", {x, offsets, arcs, values}),
                     "run: entry 'twice': expected the latitude of psi's arc 1 "
                     "to be in [0, 1], but got 2");
}

void compiled::checkProperties(Checker &checker) {
  if (checker.family() == "cpu_gather")
    checkCalls(checker);
  checkErrors(checker);
  checkShifts(checker);
  checkAdjoints(checker);
  checkStrides(checker);
}
