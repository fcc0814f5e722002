//===- make-demo-inputs.cpp - fields and weights of the examples ----------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   make-demo-inputs DIR [NLATxNLON]        (default 181x360)
//
// Writes into DIR, as f32 unless noted, on an equiangular grid:
//
//   field.npy       [1, 4, nlat, nlon]  eastward wind (m/s), northward wind
//                                       (m/s), height (m), vorticity (1e-5 1/s)
//   x.npy           the same with mean 0 and variance 1 over the sphere
//   height.npy      [1, 1, nlat, nlon]  height less its mean (m)
//   slope.npy       [1, 2, nlat, nlon]  f64: derivative of the height towards
//                                       the east and the north (m/km)
//   slope_weight.npy                    what gradient.mlir mixes features with
//   LAYER_weight.npy, LAYER_bias.npy    random parameters of network.mlir
//
//===----------------------------------------------------------------------===//

#include "Flow.h"

#include "disco/Filter/Grid.h"
#include "disco/Support/Npy.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace disco;
using namespace disco::demo;

namespace {

constexpr double pi = 3.14159265358979323846;
/// The cutoff in gradient.mlir, 3.5 degrees.
constexpr double slopeCutoff = 0.061;

Status writeArray(const std::string &path, DType dtype,
                  std::vector<int64_t> shape,
                  const std::vector<double> &values) {
  Result<Array> array = Array::create(dtype, std::move(shape));
  if (!array)
    return array.error();
  for (size_t i = 0; i < values.size(); ++i)
    array->set(static_cast<int64_t>(i), values[i]);
  return writeNpy(path, *array);
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

struct Moments {
  double mean = 0, deviation = 0;
};

/// Those over the sphere, by the grid's quadrature, of one channel [nlat,
/// nlon].
Moments moments(const filter::Grid &grid, const filter::GridNodes &nodes,
                const double *channel) {
  double mean = 0, square = 0;
  for (int64_t t = 0; t < grid.nlat; ++t) {
    const double weight = nodes.weights[t] / (2.0 * grid.nlon);
    for (int64_t p = 0; p < grid.nlon; ++p) {
      mean += weight * channel[t * grid.nlon + p];
      square += weight * std::pow(channel[t * grid.nlon + p], 2);
    }
  }
  return {mean, std::sqrt(square - mean * mean)};
}

/// Shifts and scales one channel to mean 0 and variance 1.
void standardise(const filter::Grid &grid, const filter::GridNodes &nodes,
                 double *channel) {
  const Moments of = moments(grid, nodes, channel);
  for (int64_t i = 0; i < grid.numPoints(); ++i)
    channel[i] = (channel[i] - of.mean) / of.deviation;
}

Status writeFields(const std::string &directory, const filter::Grid &grid) {
  const int64_t points = grid.numPoints();
  const filter::GridNodes nodes = filter::computeNodes(grid);
  std::vector<double> field(4 * points), slope(2 * points);
  for (int64_t t = 0; t < grid.nlat; ++t)
    for (int64_t p = 0; p < grid.nlon; ++p) {
      const FlowSample sample =
          sampleFlow(pi / 2 - nodes.colatitudes[t], 2 * pi * p / grid.nlon);
      const int64_t i = t * grid.nlon + p;
      field[i] = sample.eastwardWind;
      field[points + i] = sample.northwardWind;
      field[2 * points + i] = sample.height;
      field[3 * points + i] = 1e5 * sample.vorticity;
      slope[i] = 1e3 * sample.heightEast;
      slope[points + i] = 1e3 * sample.heightNorth;
    }
  std::vector<double> height(field.begin() + 2 * points,
                             field.begin() + 3 * points);
  const double mean = moments(grid, nodes, height.data()).mean;
  for (double &value : height)
    value -= mean;
  if (Status status = writeArray(directory + "/field.npy", DType::f32,
                                 {1, 4, grid.nlat, grid.nlon}, field);
      !status)
    return status;
  if (Status status = writeArray(directory + "/height.npy", DType::f32,
                                 {1, 1, grid.nlat, grid.nlon}, height);
      !status)
    return status;
  if (Status status = writeArray(directory + "/slope.npy", DType::f64,
                                 {1, 2, grid.nlat, grid.nlon}, slope);
      !status)
    return status;
  for (int64_t c = 0; c < 4; ++c)
    standardise(grid, nodes, field.data() + c * points);
  return writeArray(directory + "/x.npy", DType::f32,
                    {1, 4, grid.nlat, grid.nlon}, field);
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Standard normal numbers: splitmix64 and the Box-Muller transform. A fixed
/// seed for each layer, so that all machines make the same weights.
class Normal {
public:
  explicit Normal(uint64_t seed) : state(seed) {}

  double operator()() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * pi * uniform());
  }

private:
  /// In [0, 1), with 53 bits.
  double uniform() {
    state += 0x9e3779b97f4a7c15u;
    uint64_t bits = state;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    bits ^= bits >> 31;
    return static_cast<double>(bits >> 11) * 0x1p-53;
  }

  uint64_t state;
};

struct Layer {
  const char *name;
  int64_t outChannels, inChannelsPerGroup, numBasis;
};

/// Those of network.mlir.
constexpr std::array<Layer, 4> layers = {{{"encoder", 16, 1, 9},
                                          {"block1", 16, 16, 5},
                                          {"block2", 16, 16, 9},
                                          {"decoder", 4, 4, 1}}};

/// Weights of variance 1 / (channels per group * K), small biases.
Status writeLayer(const std::string &directory, const Layer &layer,
                  uint64_t seed) {
  Normal normal(seed);
  const std::string prefix = directory + "/" + layer.name;
  std::vector<double> weight(layer.outChannels * layer.inChannelsPerGroup *
                             layer.numBasis);
  const double scale =
      1 /
      std::sqrt(static_cast<double>(layer.inChannelsPerGroup * layer.numBasis));
  for (double &value : weight)
    value = scale * normal();
  if (Status status = writeArray(
          prefix + "_weight.npy", DType::f32,
          {layer.outChannels, layer.inChannelsPerGroup, layer.numBasis},
          weight);
      !status)
    return status;
  std::vector<double> bias(layer.outChannels);
  for (double &value : bias)
    value = 0.1 * normal();
  return writeArray(prefix + "_bias.npy", DType::f32, {layer.outChannels},
                    bias);
}

/// The features of harmonic [2, 2] are a bump, the bump times sin(pi x) and
/// sin(pi y), and times both; x is the distance to the east and y to the south,
/// in units of the disk's radius. Without normalisation a feature of first
/// order filters a field of slope g, per radian, to
///
///   g radius^3 / (4 pi) * integral over the unit disk of v x,
///   v = cos^2(pi u / 2) sin(pi x) / its L2 norm
///
/// from which follow the weights that make it the gradient, in m/km for a
/// height in m.
Status writeSlopeWeight(const std::string &directory, double radius) {
  constexpr int numRadii = 400, numAngles = 400;
  constexpr double area = 2 * pi / (static_cast<double>(numRadii) * numAngles);
  double moment = 0, square = 0;
  for (int i = 0; i < numRadii; ++i)
    for (int j = 0; j < numAngles; ++j) {
      const double u = (i + 0.5) / numRadii;
      const double x = u * std::sin(2 * pi * (j + 0.5) / numAngles);
      const double value = std::pow(std::cos(pi * u / 2), 2) * std::sin(pi * x);
      moment += value * x * u * area;
      square += value * value * u * area;
    }
  const double perRadian =
      4 * pi * std::sqrt(square) / (moment * std::pow(radius, 3));
  const double factor = perRadian / (1e-3 * earthRadiusMetres);
  return writeArray(directory + "/slope_weight.npy", DType::f32, {2, 1, 4},
                    {0, factor, 0, 0, 0, 0, -factor, 0});
}

Result<filter::Grid> parseSize(std::string_view text) {
  return filter::parseGrid("grid<equiangular, " + std::string(text) + ">");
}

Status run(int argc, char **argv) {
  if (argc < 2 || argc > 3)
    return Error{"usage: make-demo-inputs DIR [NLATxNLON]"};
  const std::string directory = argv[1];
  Result<filter::Grid> grid = parseSize(argc == 3 ? argv[2] : "181x360");
  if (!grid)
    return grid.error();
  if (Status status = writeFields(directory, *grid); !status)
    return status;
  for (size_t i = 0; i < layers.size(); ++i)
    if (Status status = writeLayer(directory, layers[i], i + 1); !status)
      return status;
  return writeSlopeWeight(directory, 1.001 * slopeCutoff);
}

} // namespace

int main(int argc, char **argv) {
  const Status status = run(argc, argv);
  if (!status)
    std::fprintf(stderr, "make-demo-inputs: %s\n", status.message().c_str());
  return status ? 0 : 1;
}
