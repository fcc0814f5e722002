//===- GrammarTests.cpp - the text form of grids and filters --------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Filters.h"

#include <unordered_set>

using namespace disco;
using namespace disco::filter;

namespace {

constexpr char canonical[] =
    "#disco.sphere_filter<harmonic, [3, 3], cutoff = 0.017, norm = mean, in = "
    "#disco.grid<equiangular, 721x1440>, out = #disco.grid<legendre_gauss, "
    "360x720>>";

TEST(GrammarTests, CanonicalTextParsesAndPrintsUnchanged) {
  SphereFilter filter = filterOf(canonical);
  EXPECT_EQ(filter.basis, Basis::harmonic);
  EXPECT_EQ(filter.shape, (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(filter.cutoff, 0.017);
  EXPECT_EQ(filter.norm, Norm::mean);
  EXPECT_EQ(filter.in, (Grid{GridKind::equiangular, 721, 1440}));
  EXPECT_EQ(filter.out, (Grid{GridKind::legendre_gauss, 360, 720}));
  EXPECT_FALSE(filter.transpose);
  EXPECT_EQ(toString(filter), canonical);
}

TEST(GrammarTests, PrefixesSpacesAndOrderOfOptionsAreFree) {
  EXPECT_EQ(filterOf(canonical),
            filterOf(" sphere_filter <harmonic,[3,3],out=grid<legendre_gauss, "
                     "360x720>,\n norm=mean\t,in=#disco.grid<equiangular,"
                     "721x1440>, cutoff=1.7e-2 > "));
}

TEST(GrammarTests, DefaultsAreNodalNormAndCutoffOfTheCoarseGrid) {
  SphereFilter down = filterOf(
      "sphere_filter<zernike, [2], in = grid<equiangular, 9x16>, out = "
      "grid<equiangular, 5x8>>");
  EXPECT_EQ(down.norm, Norm::nodal);
  EXPECT_FALSE(down.cutoff.has_value());
  EXPECT_DOUBLE_EQ(down.effectiveCutoff(), M_PI / 4);
  SphereFilter up =
      filterOf("sphere_filter<zernike, [2], in = grid<equiangular, 5x8>, out = "
               "grid<equiangular, 9x16>, transpose>");
  EXPECT_TRUE(up.transpose);
  EXPECT_DOUBLE_EQ(up.effectiveCutoff(), M_PI / 4);
}

TEST(GrammarTests, PrintingAndParsingRoundTripsEveryKind) {
  std::unordered_set<SphereFilter> seen;
  for (const char *basis :
       {"piecewise_linear", "harmonic", "morlet", "zernike", "fourier_bessel"})
    for (const char *norm :
         {"nodal", "modal", "mean", "support", "geometric", "none"})
      for (const char *kind : {"equiangular", "legendre_gauss", "lobatto",
                               "equiangular_trapezoidal"})
        for (const char *end : {"", ", transpose"}) {
          std::string text = std::string("#disco.sphere_filter<") + basis +
                             ", [2], norm = " + norm + ", in = #disco.grid<" +
                             kind + ", 4x6>, out = #disco.grid<lobatto, 3x6>" +
                             end + ">";
          SphereFilter filter = filterOf(text);
          EXPECT_EQ(toString(filter), text);
          EXPECT_TRUE(seen.insert(filter).second) << text;
        }
  EXPECT_EQ(seen.size(), 5u * 6 * 4 * 2);
}

TEST(GrammarTests, NumbersPrintInTheShortestFormThatRoundTrips) {
  auto printed = [](const std::string &number) {
    std::string text =
        toString(filterOf("sphere_filter<zernike, [2], cutoff = " + number +
                          ", in = grid<lobatto, 3x6>, out = grid<lobatto, "
                          "3x6>>"));
    size_t begin = text.find("cutoff = ") + 9;
    return text.substr(begin, text.find(',', begin) - begin);
  };
  EXPECT_EQ(printed("1e-05"), "1e-05");
  EXPECT_EQ(printed("0.00001"), "1e-05");
  EXPECT_EQ(printed("2"), "2");
  EXPECT_EQ(printed("2.0"), "2");
  EXPECT_EQ(printed(".5"), "0.5");
  EXPECT_EQ(printed("0.45"), "0.45");
  EXPECT_EQ(printed("0.02771993517873347"), "0.02771993517873347");
  EXPECT_EQ(printed("0.1000000000000000055511151231257827"), "0.1");
}

TEST(GrammarTests, FiltersThatDifferInOnePartAreNotEqual) {
  const SphereFilter filter = filterOf(canonical);
  std::vector<SphereFilter> others(8, filter);
  others[0].basis = Basis::morlet;
  others[1].shape = {3, 4};
  others[2].cutoff = 0.018;
  others[3].cutoff.reset();
  others[4].norm = Norm::none;
  others[5].in.nlat = 720;
  others[6].out.kind = GridKind::lobatto;
  others[7].transpose = true;
  for (const SphereFilter &other : others) {
    EXPECT_NE(filter, other) << toString(other);
    EXPECT_NE(hash_value(filter), hash_value(other)) << toString(other);
  }
  EXPECT_EQ(hash_value(filter), hash_value(filterOf(canonical)));
}

/// The message of a text that must not parse.
std::string filterError(const std::string &text) {
  Result<SphereFilter> filter = parseSphereFilter(text);
  return filter ? "parsed as " + toString(*filter) : filter.message();
}

std::string gridError(const std::string &text) {
  Result<Grid> grid = parseGrid(text);
  return grid ? "parsed as " + toString(*grid) : grid.message();
}

TEST(GrammarTests, SyntaxErrorsOfGridsNameWhatWhereAndWhy) {
  EXPECT_EQ(gridError(""),
            "expected 'grid', but got the end of the text at offset 0");
  EXPECT_EQ(gridError("#disco.sphere_filter<harmonic>"),
            "expected 'grid', but got 'sphere_filter' at offset 7");
  EXPECT_EQ(gridError("grid(lobatto, 3x4)"),
            "expected '<', but got '(' at offset 4");
  EXPECT_EQ(gridError("grid<gauss, 3x4>"),
            "expected the grid to be equiangular, legendre_gauss, lobatto or "
            "equiangular_trapezoidal, but got 'gauss' at offset 5");
  EXPECT_EQ(gridError("grid<lobatto 3x4>"),
            "expected ',', but got '3x4' at offset 13");
  EXPECT_EQ(gridError("grid<lobatto, x4>"),
            "expected nlat to be an integer, but got 'x4' at offset 14");
  EXPECT_EQ(gridError("grid<lobatto, 3 x4>"),
            "expected 'x', but got 'x4' at offset 16");
  EXPECT_EQ(gridError("grid<lobatto, 3x 4>"),
            "expected nlon to be an integer, but got '4' at offset 17");
  EXPECT_EQ(gridError("grid<lobatto, 3x>"),
            "expected nlon to be an integer, but got '>' at offset 16");
  EXPECT_EQ(gridError("grid<lobatto, 3x4"),
            "expected '>', but got the end of the text at offset 17");
  EXPECT_EQ(gridError("grid<lobatto, 3x4> x"),
            "expected the end of the text, but got 'x' at offset 19");
  EXPECT_EQ(gridError("grid<lobatto, 3x4>\x01"),
            "expected the end of the text, but got byte 0x01 at offset 18");
  EXPECT_EQ(
      gridError("grid<lobatto, 99999999999999999999x4>"),
      "expected nlat to fit in 64 bits, but got '99999999999999999999' at "
      "offset 14");
}

TEST(GrammarTests, GridsOutOfRangeAreRefused) {
  EXPECT_EQ(gridError("grid<lobatto, 1x4>"),
            "expected nlat to be at least 2, but got 1");
  EXPECT_EQ(gridError("grid<lobatto, -3x4>"),
            "expected nlat to be at least 2, but got -3");
  EXPECT_EQ(gridError("grid<lobatto, 65537x4>"),
            "expected nlat to be at most 65536, but got 65537");
  EXPECT_EQ(gridError("grid<lobatto, 3x0>"),
            "expected nlon to be at least 1, but got 0");
  EXPECT_EQ(gridError("grid<lobatto, 65536x32768>"),
            "expected the number of grid points to be at most 2147483647, but "
            "got 65536x32768");
  EXPECT_EQ(gridError("grid<lobatto, 2x9223372036854775807>"),
            "expected the number of grid points to be at most 2147483647, but "
            "got 2x9223372036854775807");
  EXPECT_TRUE(parseGrid("grid<lobatto, 65536x32767>").ok());
}

TEST(GrammarTests, SyntaxErrorsOfFiltersNameWhatWhereAndWhy) {
  const std::string grids = "in = grid<lobatto, 3x6>, out = grid<lobatto, 3x6>";
  EXPECT_EQ(filterError("filter<harmonic, [3], " + grids + ">"),
            "expected 'sphere_filter', but got 'filter' at offset 0");
  EXPECT_EQ(filterError("sphere_filter<gabor, [3], " + grids + ">"),
            "expected the basis to be piecewise_linear, harmonic, morlet, "
            "zernike or fourier_bessel, but got 'gabor' at offset 14");
  EXPECT_EQ(filterError("sphere_filter<harmonic, 3, " + grids + ">"),
            "expected '[', but got '3' at offset 24");
  EXPECT_EQ(
      filterError("sphere_filter<harmonic, [], " + grids + ">"),
      "expected the shape's entry to be an integer, but got ']' at offset "
      "25");
  EXPECT_EQ(filterError("sphere_filter<harmonic, [3 3], " + grids + ">"),
            "expected ',' or ']', but got '3' at offset 27");
  EXPECT_EQ(filterError("sphere_filter<harmonic, [1,1,1,1,1,1,1,1,1], " +
                        grids + ">"),
            "expected at most 8 numbers in the shape, but got '1' at offset "
            "41");
  EXPECT_EQ(filterError("sphere_filter<harmonic, [3] " + grids + ">"),
            "expected ',' or '>', but got 'in' at offset 28");
  EXPECT_EQ(filterError("sphere_filter<harmonic, [3], size = 3>"),
            "expected cutoff, norm, in, out or transpose, but got 'size' at "
            "offset 29");
  EXPECT_EQ(
      filterError("sphere_filter<harmonic, [3], norm = l2, " + grids + ">"),
      "expected the norm to be nodal, modal, mean, support, geometric or "
      "none, but got 'l2' at offset 36");
  EXPECT_EQ(
      filterError("sphere_filter<harmonic, [3], norm mean, " + grids + ">"),
      "expected '=', but got 'mean' at offset 34");
  EXPECT_EQ(
      filterError("sphere_filter<harmonic, [3], cutoff = inf, " + grids + ">"),
      "expected cutoff to be a number, but got 'inf' at offset 38");
  EXPECT_EQ(
      filterError("sphere_filter<harmonic, [3], cutoff = 1e, " + grids + ">"),
      "expected cutoff to be a number, but got '1e' at offset 38");
  EXPECT_EQ(filterError("sphere_filter<harmonic, [3], cutoff = 1e999, " +
                        grids + ">"),
            "expected cutoff to be in the range of float64, but got '1e999' at "
            "offset 38");
  EXPECT_EQ(filterError("sphere_filter<harmonic, [3], norm = none, norm = "
                        "none, " +
                        grids + ">"),
            "expected each option at most once, but got 'norm' at offset 42");
  EXPECT_EQ(filterError("sphere_filter<harmonic, [3], in = grid<lobatto, "
                        "3x6>>"),
            "expected a grid 'out = ...', but got none at offset 53");
  EXPECT_EQ(filterError("sphere_filter<harmonic, [3], out = grid<lobatto, "
                        "3x6>>"),
            "expected a grid 'in = ...', but got none at offset 54");
  EXPECT_EQ(filterError("sphere_filter<harmonic, [3], " + grids + ">>"),
            "expected the end of the text, but got '>' at offset 79");
}

TEST(GrammarTests, FiltersOutOfRangeAreRefused) {
  auto error = [](const std::string &head, const std::string &in = "3x6",
                  const std::string &out = "3x6", const std::string &end = "") {
    return filterError("sphere_filter<" + head + ", in = grid<lobatto, " + in +
                       ">, out = grid<lobatto, " + out + ">" + end + ">");
  };
  EXPECT_EQ(error("harmonic, [3, 3, 3]"),
            "expected the shape of harmonic to be 1 or 2 numbers, but got 3");
  EXPECT_EQ(error("zernike, [3, 3]"),
            "expected the shape of zernike to be 1 number, but got 2");
  EXPECT_EQ(error("harmonic, [3, 0]"),
            "expected entry 1 of the shape of harmonic to be at least 1, but "
            "got 0");
  EXPECT_EQ(error("piecewise_linear, [-2]"),
            "expected entry 0 of the shape of piecewise_linear to be at least "
            "1, but got -2");
  EXPECT_EQ(error("fourier_bessel, [2, -1]"),
            "expected entry 1 of the shape of fourier_bessel to be at least 0, "
            "but got -1");
  EXPECT_EQ(error("morlet, [4097]"),
            "expected entry 0 of the shape of morlet to be at most 4096, but "
            "got 4097");
  EXPECT_EQ(
      error("harmonic, [64, 65]"),
      "expected the number of basis functions to be at most 4096, but got "
      "4160");
  EXPECT_EQ(error("harmonic, [3], cutoff = 0"),
            "expected cutoff to be positive and finite, but got 0");
  EXPECT_EQ(error("harmonic, [3], cutoff = -0.5"),
            "expected cutoff to be positive and finite, but got -0.5");
  EXPECT_EQ(error("harmonic, [3], cutoff = 100"),
            "expected cutoff to be at most pi, but got 100");
  EXPECT_EQ(error("harmonic, [3]", "1x6"),
            "input grid: expected nlat to be at least 2, but got 1");
  EXPECT_EQ(error("harmonic, [3]", "3x6", "3x0"),
            "output grid: expected nlon to be at least 1, but got 0");
  EXPECT_EQ(error("harmonic, [3]", "3x6", "3x4"),
            "expected nlon of the input grid to be a multiple of nlon of the "
            "output grid, but got 6 and 4");
  EXPECT_EQ(error("harmonic, [3]", "3x6", "3x12"),
            "expected nlon of the input grid to be a multiple of nlon of the "
            "output grid, but got 6 and 12");
  EXPECT_EQ(error("harmonic, [3]", "3x12", "3x6", ", transpose"),
            "expected nlon of the output grid to be a multiple of nlon of the "
            "input grid, but got 6 and 12");
}

TEST(GrammarTests, FiltersBuiltInCodeAreVerifiedBeforeUse) {
  SphereFilter filter = filterOf(canonical);
  filter.shape.clear();
  EXPECT_EQ(filter.numBasis(), 0);
  EXPECT_EQ(verify(filter).message(),
            "expected the shape of harmonic to be 1 or 2 numbers, but got 0");
  EXPECT_EQ(buildPsi(filter).message(), verify(filter).message());
  EXPECT_EQ(buildOperator(filter).message(), verify(filter).message());
  filter.shape = {3};
  filter.cutoff = NAN;
  EXPECT_EQ(verify(filter).message(),
            "expected cutoff to be positive and finite, but got nan");
  filter.cutoff = 3.2;
  EXPECT_EQ(verify(filter).message(),
            "expected cutoff to be at most pi, but got 3.2");
  EXPECT_EQ(buildPsi(filter).message(), verify(filter).message());
}

TEST(GrammarTests, TooManyEntriesAreRefusedBeforeAnyIsComputed) {
  // 8 TB of them, of a basis on the full disk and of one that is not.
  for (const char *basis : {"harmonic, [3, 3]", "piecewise_linear, [4]"}) {
    const SphereFilter filter =
        filterOf("sphere_filter<" + std::string(basis) +
                 ", cutoff = 3, in = grid<legendre_gauss, 8192x16384>, out = "
                 "grid<legendre_gauss, 8192x16384>>");
    EXPECT_EQ(buildPsi(filter).message(),
              "expected the number of entries of the filter to be at most "
              "2147483647, but got more");
  }
}

TEST(GrammarTests, CutoffMayBeAllOfTheSphereInEitherPrecision) {
  SphereFilter filter = filterOf(canonical);
  filter.cutoff = M_PI;
  EXPECT_TRUE(verify(filter).ok());
  filter.cutoff = static_cast<double>(static_cast<float>(M_PI));
  EXPECT_TRUE(verify(filter).ok());
  filter.cutoff = 3.1415929;
  EXPECT_FALSE(verify(filter).ok());
}

} // namespace
