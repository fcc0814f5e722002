//===- GoldenTests.cpp - comparison with reference results ----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Grids and psi against the reference results that are kept in
// test/Integration/golden, and against the whole set where it lies beside the
// project.
//
//===----------------------------------------------------------------------===//

#include "Filters.h"
#include "GoldenCases.h"

#include <fstream>

using namespace disco;
using namespace disco::filter;
using namespace disco::golden;

namespace {

const std::string tables = DISCO_SOURCE_DIR "/test/Integration/golden";
const std::string fullData = DISCO_SOURCE_DIR "/../shared/golden";

bool haveFullData() {
  return std::ifstream(fullData + "/manifest.json").good();
}

Array toArray(const GridNodes &nodes) {
  auto n = static_cast<int64_t>(nodes.weights.size());
  Array array = *Array::create(DType::f64, {2, n});
  for (int64_t j = 0; j < n; ++j) {
    array.set(j, nodes.colatitudes[j]);
    array.set(n + j, nodes.weights[j]);
  }
  return array;
}

Array toArray(const PsiCoo &psi) {
  int64_t n = psi.size();
  Array array = *Array::create(DType::f64, {4, n});
  for (int64_t e = 0; e < n; ++e) {
    array.set(e, psi.k[e]);
    array.set(n + e, psi.row[e]);
    array.set(2 * n + e, static_cast<double>(psi.col[e]));
    array.set(3 * n + e, psi.values[e]);
  }
  return array;
}

/// Compares every grid; returns how many.
int compareGrids(const std::string &data) {
  auto cases = readGridCases(tables);
  if (!cases) {
    ADD_FAILURE() << cases.message();
    return 0;
  }
  int compared = 0;
  for (const GridCase &gridCase : *cases) {
    Result<Grid> grid = parseGrid(gridCase.grid);
    Result<Array> wanted = readNpy(data + "/" + gridCase.id + ".npy");
    if (!grid || !wanted) {
      ADD_FAILURE() << gridCase.id << ": "
                    << (grid ? wanted.message() : grid.message());
      continue;
    }
    auto error = largestDifference(toArray(computeNodes(*grid)), *wanted);
    if (!error)
      ADD_FAILURE() << gridCase.id << ": " << error.message();
    else
      EXPECT_LE(*error, gridTolerance) << gridCase.id;
    ++compared;
  }
  return compared;
}

struct Compared {
  int gated = 0, reported = 0;
};

/// Compares every psi with what `data` has of it.
Compared comparePsi(const std::string &data, bool full) {
  Compared compared;
  auto cases = readPsiCases(tables);
  if (!cases) {
    ADD_FAILURE() << cases.message();
    return compared;
  }
  for (const PsiCase &psiCase : *cases) {
    Result<Array> wanted = readNpy(data + "/" + psiCase.id + ".npy");
    if (!wanted) {
      ADD_FAILURE() << wanted.message();
      continue;
    }
    auto error = psiError(toArray(psiOf(psiCase.filter)), *wanted, psiCase,
                          full ? std::nullopt : psiCase.rows);
    if (!error) {
      ADD_FAILURE() << psiCase.id << ": " << error.message();
    } else if (psiCase.gated) {
      EXPECT_LE(*error, psiCase.tol) << psiCase.id << " " << psiCase.filter;
      ++compared.gated;
    } else {
      // Decided by the last bit: reported only.
      std::printf("%s: error %.3g (tolerance %.3g, not gated)\n",
                  psiCase.id.c_str(), *error, psiCase.tol);
      ++compared.reported;
    }
  }
  return compared;
}

TEST(GoldenTests, KeptGridsAgree) { EXPECT_EQ(compareGrids(tables), 16); }

TEST(GoldenTests, KeptPsiAgree) {
  Compared compared = comparePsi(tables, /*full=*/false);
  EXPECT_EQ(compared.gated, 82);
  EXPECT_EQ(compared.reported, 4);
}

TEST(GoldenTests, AllGridsAndPsiAgree) {
  if (!haveFullData())
    GTEST_SKIP() << "the full set is not at hand";
  EXPECT_EQ(compareGrids(fullData), 16);
  Compared compared = comparePsi(fullData, /*full=*/true);
  EXPECT_EQ(compared.gated, 82);
  EXPECT_EQ(compared.reported, 4);
}

Array psiArray(const std::vector<std::array<double, 4>> &entries) {
  auto n = static_cast<int64_t>(entries.size());
  Array array = *Array::create(DType::f64, {4, n});
  for (int64_t e = 0; e < n; ++e)
    for (int64_t field = 0; field < 4; ++field)
      array.set(field * n + e, entries[e][field]);
  return array;
}

TEST(GoldenTests, ComparisonSeesMissingExtraAndWrongEntries) {
  PsiCase psiCase;
  psiCase.largest = 4;
  Array wanted = psiArray({{0, 0, 1, 4}, {0, 1, 2, 1}});
  auto error = [&](const std::vector<std::array<double, 4>> &entries,
                   std::optional<std::vector<int64_t>> rows = std::nullopt) {
    return psiError(psiArray(entries), wanted, psiCase, rows);
  };
  EXPECT_EQ(*error({{0, 1, 2, 1}, {0, 0, 1, 4}}), 0);
  EXPECT_EQ(*error({{0, 0, 1, 4}}), 0.25);
  EXPECT_EQ(*error({{0, 0, 1, 4}, {0, 1, 2, 1}, {1, 1, 2, -2}}), 0.5);
  EXPECT_EQ(*error({{0, 0, 1, 4}, {0, 1, 2, 1.5}}), 0.125);
  EXPECT_EQ(*error({{0, 0, 1, 4}, {0, 1, 2, 1}, {1, 2, 2, -2}}, {{0, 1}}), 0);
  EXPECT_EQ(error({{0, 0, 1, 4}, {0, 0, 1, 4}}).message(),
            "expected each entry of psi once, but got two at basis 0.000000, "
            "row 0.000000, column 1.000000");
  EXPECT_EQ(error({}).message(),
            "expected entries of psi to compare, but got none");
  EXPECT_EQ(error({{0, 0, 1, NAN}}).message(),
            "expected element 3 of the psi array to be finite, but got nan");
}

TEST(GoldenTests, ComparisonRefusesOtherShapesAndEmptyArrays) {
  Array a = *Array::create(DType::f64, {2, 3});
  Array b = *Array::create(DType::f64, {3, 2});
  Array none = *Array::create(DType::f64, {0, 2});
  EXPECT_EQ(relativeL2(a, b).message(),
            "expected shape 3x2xf64, but got 2x3xf64");
  EXPECT_EQ(largestDifference(none, none).message(),
            "expected something to compare, but got no elements");
  EXPECT_EQ(*relativeL2(a, a), 0);
  b = a;
  b.set(0, 1);
  EXPECT_EQ(*relativeL2(b, a), HUGE_VAL);
  EXPECT_EQ(*relativeL2(a, b), 1);
}

} // namespace
