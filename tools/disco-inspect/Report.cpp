//===- Report.cpp - what disco-inspect prints -----------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <numeric>

using namespace disco;
using namespace disco::filter;

__attribute__((format(printf, 1, 2))) static std::string
format(const char *pattern, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(buffer, sizeof(buffer), pattern, arguments);
  va_end(arguments);
  return buffer;
}

static long long ll(int64_t value) { return value; }

static double degrees(double radians) { return radians * 180 / M_PI; }

std::string disco::inspect::describeGrid(const Grid &grid,
                                         const GridNodes &nodes) {
  int64_t n = grid.nlat;
  double sum = std::accumulate(nodes.weights.begin(), nodes.weights.end(), 0.0);
  bool poles = grid.kind != GridKind::legendre_gauss;
  std::string text = toString(grid) + "\n";
  text += format("points            %lld (%lld latitudes x %lld longitudes)\n",
                 ll(grid.numPoints()), ll(n), ll(grid.nlon));
  text += format("poles             %s\n", poles ? "yes" : "no");
  text += format("sum of weights    %.17g\n", sum);
  text += "latitude        colatitude, rad      degrees      weight\n";
  constexpr int64_t shown = 4;
  bool all = n <= 4 * shown;
  for (int64_t j = 0; j < n; ++j) {
    if (!all && j == shown) {
      text += "     ...\n";
      j = n - shown;
    }
    text +=
        format("%8lld  %21.17f  %11.6f  %.17g\n", ll(j), nodes.colatitudes[j],
               degrees(nodes.colatitudes[j]), nodes.weights[j]);
  }
  return text;
}

static std::string describeBytes(int64_t bytes) {
  auto value = static_cast<double>(bytes);
  return bytes < 10000      ? format("%lld B", ll(bytes))
         : bytes < 10000000 ? format("%.1f kB", value / 1e3)
                            : format("%.1f MB", value / 1e6);
}

std::string disco::inspect::describeFilter(const SphereFilter &filter,
                                           const FilterStatistics &statistics) {
  const FilterStatistics &s = statistics;
  std::string text = toString(filter) + "\n";
  double cutoff = filter.effectiveCutoff();
  text += format("basis functions   %lld (K_pad %lld)\n", ll(s.shape.numBasis),
                 ll(s.kPad));
  text += format("cutoff            %.9g rad, %.6g degrees%s\n", cutoff,
                 degrees(cutoff), filter.cutoff ? "" : " (default)");
  text +=
      format("longitude ratio   %lld\n", ll(s.shape.nlonIn / s.shape.nlonOut));
  text += format("rows              %lld, of which empty %lld\n",
                 ll(s.shape.nlatOut), ll(s.numEmptyRows));
  text += format("entries           %lld\n", ll(s.numEntries));
  text += format("taps              %lld, per row: mean %.1f, median %g, max "
                 "%lld\n",
                 ll(s.numTaps), s.meanTaps, s.medianTaps, ll(s.maxTaps));
  text += format("rings per row     mean %.1f, max %lld\n", s.meanRings,
                 ll(s.maxRings));
  text += format("arcs              %lld, longest %lld, whole rings %lld, gaps "
                 "%lld\n",
                 ll(s.numArcs), ll(s.longestArc), ll(s.numWholeRings),
                 ll(s.numGaps));
  text += "K-packable        " +
          (s.notKPackable.empty() ? "yes" : "no: " + s.notKPackable) + "\n";
  text += "float64 bytes     COO " + describeBytes(s.cooBytes) + ", CSR " +
          describeBytes(s.csrBytes) + ", K-packed " +
          (s.notKPackable.empty() ? describeBytes(s.kPackedBytes) : "-") +
          ", arcs " + describeBytes(s.arcBytes) + "\n";
  return text;
}

static std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c;
  }
  return result + '"';
}

/// The shortest form that round-trips.
static std::string number(double value) {
  char buffer[32];
  return std::string(buffer,
                     std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
}

std::string disco::inspect::filterAsJson(const SphereFilter &filter,
                                         const FilterStatistics &statistics) {
  const FilterStatistics &s = statistics;
  std::string json = "{\"filter\": " + quoted(toString(filter));
  auto add = [&](const char *name, const std::string &value) {
    json += std::string(", \"") + name + "\": " + value;
  };
  const std::pair<const char *, int64_t> counts[] = {
      {"num_basis", s.shape.numBasis},
      {"k_pad", s.kPad},
      {"nlat_in", s.shape.nlatIn},
      {"nlon_in", s.shape.nlonIn},
      {"nlat_out", s.shape.nlatOut},
      {"nlon_out", s.shape.nlonOut},
      {"entries", s.numEntries},
      {"taps", s.numTaps},
      {"max_taps", s.maxTaps},
      {"max_rings", s.maxRings},
      {"empty_rows", s.numEmptyRows},
      {"arcs", s.numArcs},
      {"longest_arc", s.longestArc},
      {"whole_rings", s.numWholeRings},
      {"gaps", s.numGaps},
      {"coo_bytes", s.cooBytes},
      {"csr_bytes", s.csrBytes},
      {"arc_bytes", s.arcBytes}};
  for (auto [name, value] : counts)
    add(name, std::to_string(value));
  add("cutoff", number(filter.effectiveCutoff()));
  add("mean_taps", number(s.meanTaps));
  add("median_taps", number(s.medianTaps));
  add("mean_rings", number(s.meanRings));
  bool packable = s.notKPackable.empty();
  add("k_packable", packable ? "true" : "false");
  if (packable)
    add("k_packed_bytes", std::to_string(s.kPackedBytes));
  else
    add("not_k_packable", quoted(s.notKPackable));
  return json + "}\n";
}
