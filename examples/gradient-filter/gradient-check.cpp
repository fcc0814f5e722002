//===- gradient-check.cpp - a filter's gradient and the analytic one ------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   gradient-check SLOPE.npy GRADIENT.npy [STEEPNESS.npy]
//
// Compares the output of gradient.mlir with the derivative that
// make-demo-inputs wrote, both [1, 2, nlat, nlon] on an equiangular grid:
// correlation and relative L2 error over the sphere. The filter smooths over
// its disk, so that they are near each other, not equal: exit code 1 when the
// correlation is below 0.999 or the error above 0.02. With STEEPNESS.npy the
// analytic gradient's magnitude [1, 1, nlat, nlon] is written.
//
//===----------------------------------------------------------------------===//

#include "disco/Filter/Grid.h"
#include "disco/Support/Npy.h"

#include <cmath>
#include <cstdio>

using namespace disco;

namespace {

struct Agreement {
  double correlation = 0, relativeError = 0;
};

/// Of one channel, by the grid's quadrature.
Agreement agreement(const Array &expected, const Array &actual, int64_t channel,
                    int64_t nlon, const std::vector<double> &weights) {
  double e = 0, a = 0, ee = 0, aa = 0, ea = 0, dd = 0;
  const auto nlat = static_cast<int64_t>(weights.size());
  for (int64_t t = 0; t < nlat; ++t)
    for (int64_t p = 0; p < nlon; ++p) {
      const int64_t i = (channel * nlat + t) * nlon + p;
      const double weight = weights[t] / (2.0 * nlon);
      const double x = expected.at(i), y = actual.at(i);
      e += weight * x;
      a += weight * y;
      ee += weight * x * x;
      aa += weight * y * y;
      ea += weight * x * y;
      dd += weight * (y - x) * (y - x);
    }
  return {(ea - e * a) / std::sqrt((ee - e * e) * (aa - a * a)),
          std::sqrt(dd / ee)};
}

Status writeSteepness(const std::string &path, const Array &slope) {
  const int64_t points = slope.shape[2] * slope.shape[3];
  Result<Array> steepness =
      Array::create(DType::f32, {1, 1, slope.shape[2], slope.shape[3]});
  if (!steepness)
    return steepness.error();
  for (int64_t i = 0; i < points; ++i)
    steepness->set(i, std::hypot(slope.at(i), slope.at(points + i)));
  return writeNpy(path, *steepness);
}

Status run(int argc, char **argv) {
  if (argc < 3 || argc > 4)
    return Error{
        "usage: gradient-check SLOPE.npy GRADIENT.npy [STEEPNESS.npy]"};
  Result<Array> expected = readNpy(argv[1]);
  if (!expected)
    return expected.error();
  Result<Array> actual = readNpy(argv[2]);
  if (!actual)
    return actual.error();
  const std::vector<int64_t> &shape = expected->shape;
  if (shape.size() != 4 || shape[0] != 1 || shape[1] != 2)
    return Error{"expected '" + std::string(argv[1]) +
                 "' to be 1x2xNLATxNLON, but got " +
                 describe(expected->dtype, shape)};
  if (actual->shape != shape)
    return Error{"expected '" + std::string(argv[2]) + "' to be " +
                 describe(actual->dtype, shape) + ", but got " +
                 describe(actual->dtype, actual->shape)};
  const filter::Grid grid = {filter::GridKind::equiangular, shape[2], shape[3]};
  if (Status status = filter::verify(grid); !status)
    return status;

  const std::vector<double> weights = filter::computeNodes(grid).weights;
  bool good = true;
  for (int64_t channel = 0; channel < 2; ++channel) {
    const Agreement found =
        agreement(*expected, *actual, channel, grid.nlon, weights);
    std::printf("derivative to the %s: correlation %.5f, relative L2 error "
                "%.4f against the analytic one\n",
                channel ? "north" : "east ", found.correlation,
                found.relativeError);
    // Not-a-number fails too.
    good = good && found.correlation > 0.999 && found.relativeError < 0.02;
  }
  if (!good)
    return Error{"expected correlations above 0.999 and errors below 0.02"};
  return argc == 4 ? writeSteepness(argv[3], *expected) : Status();
}

} // namespace

int main(int argc, char **argv) {
  const Status status = run(argc, argv);
  if (!status)
    std::fprintf(stderr, "gradient-check: %s\n", status.message().c_str());
  return status ? 0 : 1;
}
