//===- disco-inspect.cpp - look at grids, filters and fields --------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "FilterPlot.h"
#include "Report.h"

#include "disco/Support/Npy.h"
#include "disco/Support/Plot.h"
#include "disco/Support/Progress.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace disco;
using namespace disco::filter;
using namespace disco::inspect;

static constexpr char usage[] =
    R"(usage: disco-inspect grid '<grid>' [--npy OUT.npy]
       disco-inspect filter '<filter>' [--npy OUT.npy] [--plot OUT.png] [--json]
       disco-inspect field X.npy --plot OUT.png [options]

Looks at the grids, filters and fields of spherical layers.

grid    prints the latitudes of a grid with their quadrature weights.
  --npy OUT.npy   writes them, float64 [2, nlat]: colatitudes in radians, weights

filter  prints what a filter costs: taps and rings per row, arcs, bytes of each
        storage form, and why it is or is not K-packable.
  --npy OUT.npy   writes its tensor psi, float64 [4, entries]: basis index, row,
                  input latitude * nlon + input longitude, value
  --plot OUT.png  draws its functions at three latitudes and on a world map
  --json          prints the statistics as one line of JSON

field   draws one field of an array [B, C, nlat, nlon], [C, nlat, nlon] or
        [nlat, nlon], longitude 0 first and north first.
  --plot OUT.png          where the picture goes
  --projection P          equirectangular (default) or orthographic
  --batch B, --channel C  which field; 0 by default
  --title TEXT            a line above the picture
  --range LOW,HIGH        of the colours; fitted to the field by default
  --center LON,LAT        what the globe shows, in degrees; 0,30 by default
  --grid '<grid>'         the latitudes; evenly spaced with poles by default

<grid> and <filter> are spelled as in MLIR; "#disco." may be left out:
  'grid<legendre_gauss, 360x720>'
  'sphere_filter<harmonic, [3, 3], cutoff = 0.017, norm = mean,
                 in = grid<equiangular, 721x1440>,
                 out = grid<legendre_gauss, 360x720>>'

The environment variable DISCO_NUM_THREADS sets the number of threads; results
do not depend on it. The exit code is 0 on success, 1 on an error and 2 on wrong
usage.
)";

namespace {
enum ExitCode { success = 0, failure = 1, wrongUsage = 2 };
} // namespace

static int fail(const std::string &message) {
  std::fprintf(stderr, "disco-inspect: error: %s\n", message.c_str());
  return failure;
}

static int failUsage(const std::string &message) {
  std::fprintf(stderr, "disco-inspect: error: %s (see --help)\n",
               message.c_str());
  return wrongUsage;
}

static int print(const std::string &text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
    return fail("cannot write to the standard output: " +
                std::string(std::strerror(errno)));
  return success;
}

/// Shows on a terminal what takes its time, where it does.
static void showProgress(std::optional<Progress> &progress, bool isLong,
                         const char *label) {
  if (isLong)
    progress.emplace(label);
}

static Status writeGrid(const std::string &path, const GridNodes &nodes) {
  auto n = static_cast<int64_t>(nodes.weights.size());
  Result<Array> array = Array::create(DType::f64, {2, n});
  if (!array)
    return array.error();
  for (int64_t j = 0; j < n; ++j) {
    array->set(j, nodes.colatitudes[j]);
    array->set(n + j, nodes.weights[j]);
  }
  return writeNpy(path, *array);
}

static Status writePsi(const std::string &path, const PsiCoo &psi) {
  int64_t n = psi.size();
  Result<Array> array = Array::create(DType::f64, {4, n});
  if (!array)
    return array.error();
  for (int64_t e = 0; e < n; ++e) {
    array->set(e, psi.k[e]);
    array->set(n + e, psi.row[e]);
    array->set(2 * n + e, static_cast<double>(psi.col[e]));
    array->set(3 * n + e, psi.values[e]);
  }
  return writeNpy(path, *array);
}

static int inspectGrid(const Arguments &arguments) {
  Result<Grid> grid = parseGrid(arguments.operands[0]);
  if (!grid)
    return fail("grid: " + grid.message());
  std::optional<Progress> progress;
  showProgress(progress, grid->nlat > 8192, "computing the nodes");
  GridNodes nodes = computeNodes(*grid);
  progress.reset();
  if (arguments.has("--npy"))
    if (Status status = writeGrid(arguments.get("--npy"), nodes); !status)
      return fail(status.message());
  return print(describeGrid(*grid, nodes));
}

static int inspectFilter(const Arguments &arguments) {
  Result<SphereFilter> filter = parseSphereFilter(arguments.operands[0]);
  if (!filter)
    return fail("filter: " + filter.message());
  std::optional<Progress> progress;
  showProgress(progress,
               filter->in.numPoints() + filter->out.numPoints() > 500000,
               "evaluating the filter");
  Result<PsiCoo> psi = buildPsi(*filter);
  if (!psi)
    return fail("filter: " + psi.message());
  if (arguments.has("--npy"))
    if (Status status = writePsi(arguments.get("--npy"), *psi); !status)
      return fail(status.message());
  if (arguments.has("--plot"))
    if (Status status =
            writePng(arguments.get("--plot"), plotFilter(*filter, *psi));
        !status)
      return fail(status.message());
  Result<FilterStatistics> statistics =
      computeStatistics(*psi, psiShape(*filter));
  if (!statistics)
    return fail("filter: " + statistics.message());
  progress.reset();
  return print(arguments.has("--json") ? filterAsJson(*filter, *statistics)
                                       : describeFilter(*filter, *statistics));
}

/// Parses "A,B".
static Result<std::pair<double, double>> parsePair(const std::string &option,
                                                   const std::string &text) {
  std::pair<double, double> pair;
  const char *end = text.data() + text.size();
  auto first = std::from_chars(text.data(), end, pair.first);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == ',') {
    auto second = std::from_chars(first.ptr + 1, end, pair.second);
    if (second.ec == std::errc() && second.ptr == end &&
        std::isfinite(pair.first) && std::isfinite(pair.second))
      return pair;
  }
  return Error{"expected " + option +
               " to be two numbers with a comma between, but got '" + text +
               "'"};
}

/// The picture that the options ask for.
static Result<PlotOptions> parsePlotOptions(const Arguments &arguments) {
  PlotOptions options;
  options.title = arguments.get("--title");
  std::string projection = arguments.get("--projection");
  if (projection == "orthographic")
    options.projection = Projection::orthographic;
  else if (arguments.has("--projection") && projection != "equirectangular")
    return Error{"expected --projection to be equirectangular or orthographic, "
                 "but got '" +
                 projection + "'"};
  if (arguments.has("--center")) {
    auto center = parsePair("--center", arguments.get("--center"));
    if (!center)
      return center.error();
    if (!(std::abs(center->first) <= 1e6 && std::abs(center->second) <= 90))
      return Error{"expected --center to have a longitude in [-1000000, "
                   "1000000] and a latitude in [-90, 90], but got '" +
                   arguments.get("--center") + "'"};
    std::tie(options.centerLongitude, options.centerLatitude) = *center;
  }
  if (arguments.has("--range")) {
    auto range = parsePair("--range", arguments.get("--range"));
    if (!range)
      return range.error();
    if (!(range->first < range->second))
      return Error{"expected --range to ascend, but got '" +
                   arguments.get("--range") + "'"};
    options.range = *range;
  }
  return options;
}

/// Takes one [nlat, nlon] slice out of [nlat, nlon], [C, nlat, nlon] or
/// [B, C, nlat, nlon].
static Result<SphereField> sliceField(const Array &array, int64_t batch,
                                      int64_t channel) {
  size_t rank = array.shape.size();
  if (rank < 2 || rank > 4)
    return Error{"expected the field to have 2, 3 or 4 dimensions, but got " +
                 std::to_string(rank)};
  int64_t numBatches = rank == 4 ? array.shape[0] : 1;
  int64_t numChannels = rank >= 3 ? array.shape[rank - 3] : 1;
  SphereField field;
  field.nlat = array.shape[rank - 2];
  field.nlon = array.shape[rank - 1];
  if (array.numElements() < 1)
    return Error{"expected the field to have points, but got shape " +
                 describe(array.dtype, array.shape)};
  if (batch >= numBatches)
    return Error{"expected --batch to be less than " +
                 std::to_string(numBatches) + ", but got " +
                 std::to_string(batch)};
  if (channel >= numChannels)
    return Error{"expected --channel to be less than " +
                 std::to_string(numChannels) + ", but got " +
                 std::to_string(channel)};
  int64_t numPoints = field.nlat * field.nlon;
  int64_t offset = (batch * numChannels + channel) * numPoints;
  field.values.resize(numPoints);
  for (int64_t i = 0; i < numPoints; ++i)
    field.values[i] = array.at(offset + i);
  return field;
}

/// The rows of `--grid`, or else evenly spaced from pole to pole.
static Result<std::vector<double>> latitudesOf(const SphereField &field,
                                               const Arguments &arguments) {
  if (!arguments.has("--grid")) {
    if (field.nlat == 1)
      return std::vector<double>{M_PI / 2};
    std::vector<double> colatitudes(field.nlat);
    for (int64_t i = 0; i < field.nlat; ++i)
      colatitudes[i] =
          M_PI * static_cast<double>(i) / static_cast<double>(field.nlat - 1);
    return colatitudes;
  }
  Result<Grid> grid = parseGrid(arguments.get("--grid"));
  if (!grid)
    return Error{"grid: " + grid.message()};
  if (grid->nlat != field.nlat || grid->nlon != field.nlon)
    return Error{"expected the field to be " + std::to_string(grid->nlat) +
                 "x" + std::to_string(grid->nlon) + " as its grid, but got " +
                 std::to_string(field.nlat) + "x" + std::to_string(field.nlon)};
  return computeNodes(*grid).colatitudes;
}

static int inspectField(const Arguments &arguments) {
  Result<PlotOptions> options = parsePlotOptions(arguments);
  if (!options)
    return failUsage(options.message());
  Result<int64_t> batch = arguments.getIndex("--batch", 0);
  if (!batch)
    return failUsage(batch.message());
  Result<int64_t> channel = arguments.getIndex("--channel", 0);
  if (!channel)
    return failUsage(channel.message());
  if (!arguments.has("--plot"))
    return failUsage("expected --plot, but got none");
  const std::string &path = arguments.operands[0];
  Result<Array> array = readNpy(path);
  if (!array)
    return fail(array.message());
  Result<SphereField> field = sliceField(*array, *batch, *channel);
  if (!field)
    return fail(path + ": " + field.message());
  Result<std::vector<double>> colatitudes = latitudesOf(*field, arguments);
  if (!colatitudes)
    return fail(colatitudes.message());
  field->colatitudes = *colatitudes;
  if (Status status =
          writePng(arguments.get("--plot"), plotField(*field, *options));
      !status)
    return fail(status.message());
  return success;
}

namespace {
struct Command {
  const char *name;
  const char *operand;
  std::vector<std::string> valued, flags;
  int (*run)(const Arguments &);
};
} // namespace

static int runCommand(const Command &command,
                      const std::vector<std::string> &words) {
  Result<Arguments> arguments =
      parseArguments(words, command.valued, command.flags);
  if (!arguments)
    return failUsage(arguments.message());
  if (arguments->has("--help"))
    return print(usage);
  if (arguments->operands.size() != 1)
    return failUsage("expected one " + std::string(command.operand) +
                     ", but got " + std::to_string(arguments->operands.size()));
  return command.run(*arguments);
}

int main(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty())
    return failUsage("expected a command, but got none");
  std::string name = words.front();
  words.erase(words.begin());
  if (name == "--help" || name == "-h" || name == "help")
    return print(usage);
  const Command commands[] = {
      {"grid", "grid", {"--npy"}, {"--help"}, inspectGrid},
      {"filter",
       "filter",
       {"--npy", "--plot"},
       {"--help", "--json"},
       inspectFilter},
      {"field",
       "file",
       {"--plot", "--projection", "--channel", "--batch", "--title", "--range",
        "--center", "--grid"},
       {"--help"},
       inspectField}};
  for (const Command &command : commands)
    if (name == command.name)
      return runCommand(command, words);
  return failUsage("unknown command '" + name + "'");
}
