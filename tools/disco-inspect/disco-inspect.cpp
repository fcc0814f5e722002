//===- disco-inspect.cpp - look at grids, filters and fields --------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Report.h"

#include "disco/Support/Npy.h"

#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace disco;
using namespace disco::filter;
using namespace disco::inspect;

static constexpr char usage[] =
    R"(usage: disco-inspect grid '<grid>' [--npy OUT.npy]
       disco-inspect filter '<filter>' [--npy OUT.npy] [--json]

Looks at the grids and filters of spherical layers.

grid    prints the latitudes of a grid with their quadrature weights.
  --npy OUT.npy   writes them, float64 [2, nlat]: colatitudes in radians, weights

filter  prints what a filter costs: taps and rings per row, arcs, bytes of each
        storage form, and why it is or is not K-packable.
  --npy OUT.npy   writes its tensor psi, float64 [4, entries]: basis index, row,
                  input latitude * nlon + input longitude, value
  --json          prints the statistics as one line of JSON

<grid> and <filter> are spelled as in MLIR; "#disco." may be left out:
  'grid<legendre_gauss, 360x720>'
  'sphere_filter<harmonic, [3, 3], cutoff = 0.017, norm = mean,
                 in = grid<equiangular, 721x1440>,
                 out = grid<legendre_gauss, 360x720>>'

The exit code is 0 on success, 1 on an error and 2 on wrong usage.
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

/// A line on the terminal while something takes its time; gone afterwards.
namespace {
class Progress {
public:
  explicit Progress(bool isLong, const char *what)
      : shown(isLong && isatty(STDERR_FILENO)) {
    if (shown)
      std::fprintf(stderr, "%s ...", what);
  }
  ~Progress() {
    if (shown)
      std::fprintf(stderr, "\r\033[K");
  }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

private:
  bool shown;
};
} // namespace

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
  GridNodes nodes;
  {
    Progress progress(grid->nlat > 8192, "computing the nodes");
    nodes = computeNodes(*grid);
  }
  if (arguments.has("--npy"))
    if (Status status = writeGrid(arguments.get("--npy"), nodes); !status)
      return fail(status.message());
  return print(describeGrid(*grid, nodes));
}

static int inspectFilter(const Arguments &arguments) {
  Result<SphereFilter> filter = parseSphereFilter(arguments.operands[0]);
  if (!filter)
    return fail("filter: " + filter.message());
  Progress progress(filter->in.numPoints() + filter->out.numPoints() > 500000,
                    "evaluating the filter");
  Result<PsiCoo> psi = buildPsi(*filter);
  if (!psi)
    return fail("filter: " + psi.message());
  if (arguments.has("--npy"))
    if (Status status = writePsi(arguments.get("--npy"), *psi); !status)
      return fail(status.message());
  Result<FilterStatistics> statistics =
      computeStatistics(*psi, psiShape(*filter));
  if (!statistics)
    return fail("filter: " + statistics.message());
  return print(arguments.has("--json") ? filterAsJson(*filter, *statistics)
                                       : describeFilter(*filter, *statistics));
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
      {"filter", "filter", {"--npy"}, {"--help", "--json"}, inspectFilter}};
  for (const Command &command : commands)
    if (name == command.name)
      return runCommand(command, words);
  return failUsage("unknown command '" + name + "'");
}
