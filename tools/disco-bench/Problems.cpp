//===- Problems.cpp - what is measured ------------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Problems.h"

#include <algorithm>
#include <cmath>

namespace disco::bench {

static std::string harmonic(const std::string &in, const std::string &out,
                            const std::string &rest) {
  return "sphere_filter<harmonic, [3, 3], " + rest + "in = grid<" + in +
         ">, out = grid<" + out + ">>";
}

/// Large layers and, with -q, a quarter of their latitudes and longitudes with
/// four times the cutoff: as many taps in a row.
const std::vector<NamedLayer> &namedLayers() {
  static const std::vector<NamedLayer> layers = [] {
    const std::string lg = "legendre_gauss, 360x720";
    const std::string lgq = "legendre_gauss, 90x180";
    const std::string eq = "equiangular, 721x1440";
    const std::string eqq = "equiangular, 181x360";
    const std::string narrow = "cutoff = 0.017, ", wide = "cutoff = 0.02772, ";
    const std::string narrowq = "cutoff = 0.068, ",
                      wideq = "cutoff = 0.11088, ";
    const std::string local = "cutoff = 0.02771993517873347, ";
    const std::string deg1 = "legendre_gauss, 180x360";
    const std::string demo = "cutoff = 7e-2, norm = mean, ";
    std::vector<NamedLayer> list = {
        {"self256", harmonic(lg, lg, narrow), 256, 256, 1},
        {"self512", harmonic(lg, lg, narrow), 512, 512, 1},
        {"down", harmonic(eq, lg, narrow), 80, 512, 1},
        {"local828", harmonic(lg, lg, local), 828, 828, 1},
        {"encoder", harmonic(eq, lg, wide), 65, 780, 65},
        {"deg1", harmonic(deg1, deg1, "cutoff = 0.03, "), 64, 64, 1},
        {"decoder", harmonic(eq, eq, wide), 780, 65, 65},
        {"self256-q", harmonic(lgq, lgq, narrowq), 256, 256, 1},
        {"self512-q", harmonic(lgq, lgq, narrowq), 512, 512, 1},
        {"down-q", harmonic(eqq, lgq, narrowq), 80, 512, 1},
        {"local828-q", harmonic(lgq, lgq, wideq), 828, 828, 1},
        {"encoder-q", harmonic(eqq, lgq, wideq), 65, 780, 65},
        {"decoder-q", harmonic(eqq, eqq, wideq), 780, 65, 65},
        {"depthwise", harmonic(lg, lg, narrow), 256, 256, 256},
        {"demo-encoder", harmonic(eqq, lgq, demo), 4, 16, 4},
        {"demo-block1",
         "sphere_filter<piecewise_linear, [3, 4], " + demo + "in = grid<" +
             lgq + ">, out = grid<" + lgq + ">>",
         16, 16, 1},
        {"demo-block2", harmonic(lgq, lgq, demo), 16, 16, 1},
        {"demo-decoder",
         "sphere_filter<harmonic, [3, 3], " + demo + "in = grid<" + lgq +
             ">, out = grid<" + eqq + ">, transpose>",
         16, 4, 4},
        {"knn-small", "", 16, 32, 1, 1024, 256, 9, 9},
        {"knn-large", "", 64, 64, 1, 16384, 16384, 16, 9}};
    return list;
  }();
  return layers;
}

static constexpr struct {
  const char *name;
  Direction direction;
} directions[] = {{"contract", Direction::contract},
                  {"contract_sum", Direction::contractSum},
                  {"conv", Direction::conv},
                  {"input_grad", Direction::inputGrad},
                  {"weight_grad", Direction::weightGrad}};

std::optional<Direction> parseDirection(std::string_view name) {
  for (const auto &entry : directions)
    if (name == entry.name)
      return entry.direction;
  return std::nullopt;
}

std::string_view nameOf(Direction direction) {
  return directions[static_cast<int>(direction)].name;
}

//===----------------------------------------------------------------------===//
// psi
//===----------------------------------------------------------------------===//

/// Point `i` of a spiral of `n` points that covers the sphere evenly.
static std::array<double, 3> spiralPoint(int64_t i, int64_t n) {
  const double z =
      1 - (2 * static_cast<double>(i) + 1) / static_cast<double>(n);
  const double r = std::sqrt(1 - z * z);
  const double angle = static_cast<double>(i) * M_PI * (3 - std::sqrt(5.0));
  return {r * std::cos(angle), r * std::sin(angle), z};
}

/// The nearest in-points of each out-point; bins by their rank.
static Result<LayerPsi> buildTable(const NamedLayer &layer) {
  Result<Array> index = Array::create(DType::i32, {layer.numOut, layer.degree});
  Result<Array> bins = Array::create(DType::i32, {layer.numOut, layer.degree});
  if (!index || !bins)
    return index ? bins.error() : index.error();
  std::vector<std::pair<double, int64_t>> distance;
  for (int64_t n = 0; n < layer.numOut; ++n) {
    const auto at = spiralPoint(n, layer.numOut);
    // Neighbours on the spiral lie in a band of z around the point.
    const double middle = (1 - at[2]) / 2 * static_cast<double>(layer.numIn);
    const auto band = static_cast<int64_t>(
        4 * std::sqrt(static_cast<double>(layer.numIn * layer.degree)) + 8);
    const int64_t begin =
        std::max<int64_t>(0, static_cast<int64_t>(middle) - band);
    const int64_t end =
        std::min(layer.numIn, static_cast<int64_t>(middle) + band);
    distance.clear();
    for (int64_t m = begin; m < end; ++m) {
      const auto p = spiralPoint(m, layer.numIn);
      distance.push_back({-(p[0] * at[0] + p[1] * at[1] + p[2] * at[2]), m});
    }
    std::partial_sort(distance.begin(), distance.begin() + layer.degree,
                      distance.end());
    for (int64_t i = 0; i < layer.degree; ++i) {
      index->set(n * layer.degree + i, static_cast<double>(distance[i].second));
      const int64_t bin = i * layer.numBasis / layer.degree;
      bins->set(n * layer.degree + i, static_cast<double>(bin));
    }
  }
  Result<reference::Operator> op = reference::Operator::fromOneHot(
      {layer.numBasis, {layer.numIn}, {layer.numOut}}, *index, *bins);
  if (!op)
    return op.error();
  reference::Operator transposed = op->transposed();
  const auto problem = [&](int64_t in, int64_t out) {
    planning::Problem p = planning::makeProblem(DISCO_OP_CONV);
    p.structure = DISCO_TABLE;
    p.num_basis = layer.numBasis;
    p.in_shape[0] = in;
    p.out_shape[0] = out;
    p.in_shape[1] = p.out_shape[1] = 1;
    p.filter =
        planning::assumedCounts(DISCO_TABLE, p.num_basis, p.in_shape,
                                p.out_shape, layer.degree * layer.numOut / out);
    return p;
  };
  return LayerPsi{PsiTables::fromOneHot(layer.numIn, layer.numOut, *index,
                                        *bins, layer.numBasis, false),
                  PsiTables::fromOneHot(layer.numOut, layer.numIn, *index,
                                        *bins, layer.numBasis, true),
                  std::move(*op),
                  std::move(transposed),
                  problem(layer.numIn, layer.numOut),
                  problem(layer.numOut, layer.numIn)};
}

Result<LayerPsi> buildPsi(const NamedLayer &layer, DType dtype) {
  if (layer.filter.empty())
    return buildTable(layer);
  Result<filter::SphereFilter> filter = filter::parseSphereFilter(layer.filter);
  if (!filter)
    return filter.error();
  Result<filter::SphereOperator> op = filter::buildOperator(*filter);
  if (!op)
    return op.error();
  const DType valueType = dtype == DType::f64 ? DType::f64 : DType::f32;
  const filter::SphereOperator transposed = filter::adjoint(*op);
  Result<PsiTables> tables = PsiTables::fromSphere(*op, valueType);
  Result<PsiTables> adjoint = PsiTables::fromSphere(transposed, valueType);
  if (!tables || !adjoint)
    return tables ? adjoint.error() : tables.error();
  Result<planning::Problem> problem =
      planning::makeSphereProblem(DISCO_OP_CONV, *filter);
  Result<planning::Problem> adjointProblem =
      planning::makeSphereProblem(DISCO_OP_CONV, *filter, true);
  if (!problem || !adjointProblem)
    return problem ? adjointProblem.error() : problem.error();
  return LayerPsi{std::move(*tables),
                  std::move(*adjoint),
                  reference::Operator::fromSphere(*op),
                  reference::Operator::fromSphere(transposed),
                  *problem,
                  *adjointProblem};
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

static int64_t countTaps(const disco_kernel_psi &psi) {
  if (psi.form != DISCO_FORM_ARCS)
    return psi.form == DISCO_FORM_CSR
               ? psi.num_taps
               : psi.degree * (psi.adjoint ? psi.nlon_in : psi.nlon_out);
  // num_taps counts those of one longitude of each row.
  return psi.num_taps * std::min(psi.nlon_in, psi.nlon_out);
}

static double product(const std::vector<int64_t> &shape) {
  double count = shape.empty() ? 0 : 1;
  for (int64_t dim : shape)
    count *= static_cast<double>(dim);
  return count;
}

static void setShapes(Work &work, Direction direction) {
  const auto join = [](std::vector<int64_t> head,
                       const std::vector<int64_t> &tail) {
    head.insert(head.end(), tail.begin(), tail.end());
    return head;
  };
  const auto &shape = work.psi->shape();
  const int64_t K = shape.numBasis, B = work.batch, C = work.channels;
  switch (direction) {
  case Direction::contract:
    work.xShape = join({B, C}, shape.in);
    work.yShape = join({B, C, K}, shape.out);
    return;
  case Direction::contractSum:
    work.xShape = join({B, C, K}, shape.in);
    work.yShape = join({B, C}, shape.out);
    return;
  case Direction::conv:
  case Direction::inputGrad:
    work.xShape = join({B, C}, shape.in);
    work.yShape = join({B, work.outChannels}, shape.out);
    work.weightShape =
        work.transposeWeight
            ? std::vector<int64_t>{C, work.outChannels / work.groups, K}
            : std::vector<int64_t>{work.outChannels, C / work.groups, K};
    return;
  case Direction::weightGrad: {
    const bool filtersX = work.order == DISCO_FILTER_FIRST;
    work.xShape = join({B, C}, filtersX ? shape.in : shape.out);
    work.gyShape = join({B, work.outChannels}, filtersX ? shape.out : shape.in);
    work.yShape = {work.outChannels, C / work.groups, K};
    return;
  }
  }
}

/// [filter, mix] in FLOP, when C or O channels are filtered.
static std::pair<double, double> flopOf(const Work &work,
                                        const reference::Operator &psi,
                                        double taps, int32_t order,
                                        Direction direction) {
  const double K = static_cast<double>(psi.numBasis());
  const double B = static_cast<double>(work.batch);
  const double C = static_cast<double>(work.channels);
  const double O = static_cast<double>(work.outChannels);
  if (direction == Direction::contract || direction == Direction::contractSum)
    return {2 * B * C * K * taps, 0};
  const double filtered = order == DISCO_FILTER_FIRST ? C : O;
  // The mix is on the out-points of what is filtered, or for a conv with the
  // weight first on its in-points.
  const double points = static_cast<double>(
      order == DISCO_WEIGHT_FIRST && direction != Direction::weightGrad
          ? psi.numIn()
          : psi.numOut());
  return {2 * B * filtered * K * taps,
          2 * B * O * C / static_cast<double>(work.groups) * K * points};
}

Work makeWork(const NamedLayer &layer, const LayerPsi &psi,
              const Settings &settings) {
  const Direction direction = settings.direction;
  Work work;
  work.batch = settings.batch;
  work.groups = layer.groups;
  work.channels = layer.channels;
  work.outChannels = layer.outChannels;
  work.op = direction == Direction::contract      ? DISCO_OP_CONTRACT
            : direction == Direction::contractSum ? DISCO_OP_CONTRACT_SUM
            : direction == Direction::weightGrad  ? DISCO_OP_CONV_WEIGHT_GRAD
                                                  : DISCO_OP_CONV;
  if (direction == Direction::inputGrad) {
    std::swap(work.channels, work.outChannels);
    work.transposeWeight = true;
  }
  bool usesAdjoint =
      direction == Direction::contractSum || direction == Direction::inputGrad;
  const double taps = static_cast<double>(countTaps(psi.tables.view()));
  const bool mixes = work.op >= DISCO_OP_CONV;
  if (mixes) {
    const auto cost = [&](int32_t order) {
      const bool adjoint = usesAdjoint || (direction == Direction::weightGrad &&
                                           order == DISCO_WEIGHT_FIRST);
      const auto [filter, mix] = flopOf(work, adjoint ? psi.adjointOp : psi.op,
                                        taps, order, direction);
      return filter + mix;
    };
    work.order = settings.order.value_or(cost(DISCO_WEIGHT_FIRST) <
                                                 cost(DISCO_FILTER_FIRST)
                                             ? DISCO_WEIGHT_FIRST
                                             : DISCO_FILTER_FIRST);
    usesAdjoint |=
        direction == Direction::weightGrad && work.order == DISCO_WEIGHT_FIRST;
  } else {
    work.outChannels = work.channels;
    work.groups = 1;
  }
  work.tables = usesAdjoint ? &psi.adjointTables : &psi.tables;
  work.psi = usesAdjoint ? &psi.adjointOp : &psi.op;
  setShapes(work, direction);
  std::tie(work.filterFlop, work.mixFlop) =
      flopOf(work, *work.psi, taps, work.order, direction);
  work.bytes = static_cast<double>(sizeOf(settings.dtype)) *
               (product(work.xShape) + product(work.gyShape) +
                product(work.weightShape) + product(work.yShape));
  return work;
}

} // namespace disco::bench
