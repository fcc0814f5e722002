//===- StorageTests.cpp - CSR and K-packed forms of psi -------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Filters.h"

#include "disco/Filter/Statistics.h"

using namespace disco;
using namespace disco::filter;

namespace {

void expectSame(const PsiCoo &got, const PsiCoo &wanted,
                const std::string &what) {
  EXPECT_EQ(got.numBasis, wanted.numBasis) << what;
  EXPECT_EQ(got.k, wanted.k) << what;
  EXPECT_EQ(got.row, wanted.row) << what;
  EXPECT_EQ(got.col, wanted.col) << what;
  EXPECT_EQ(got.values, wanted.values) << what;
}

/// Entries given as (k, row, col); the values are 1, 2, ...
PsiCoo cooOf(int64_t numBasis,
             const std::vector<std::array<int64_t, 3>> &entries) {
  PsiCoo psi;
  psi.numBasis = numBasis;
  for (auto [k, row, col] : entries) {
    psi.k.push_back(static_cast<int32_t>(k));
    psi.row.push_back(static_cast<int32_t>(row));
    psi.col.push_back(col);
    psi.values.push_back(static_cast<double>(psi.k.size()));
  }
  return psi;
}

TEST(StorageTests, CsrRoundTrips) {
  for (const std::string &text : variedFilters()) {
    PsiCoo psi = psiOf(text);
    PsiCsr csr = csrFromCoo(psi);
    EXPECT_TRUE(std::is_sorted(csr.k.begin(), csr.k.end())) << text;
    Result<PsiCoo> back = cooFromCsr(csr, psiShape(filterOf(text)));
    ASSERT_TRUE(back.ok()) << text << ": " << back.message();
    expectSame(*back, psi, text);
  }
}

TEST(StorageTests, CsrKeepsApartEqualRowsOfNeighbouringFunctions) {
  // Function 0 ends on row 1, function 1 starts on it, and has no row 0.
  PsiCoo psi = cooOf(2, {{0, 0, 3}, {0, 1, 4}, {1, 1, 4}, {1, 1, 5}});
  PsiCsr csr = csrFromCoo(psi);
  EXPECT_EQ(csr.rowOffsets, (std::vector<int64_t>{0, 1, 2, 4}));
  EXPECT_EQ(csr.k, (std::vector<int64_t>{0, 0, 1, 1}));
  EXPECT_EQ(csr.row, (std::vector<int64_t>{0, 1, 1, 1}));
  Result<PsiCoo> back = cooFromCsr(csr, {2, 2, 8, 2, 8});
  ASSERT_TRUE(back.ok());
  expectSame(*back, psi, "two functions");
}

TEST(StorageTests, CsrOfOneRowHasOneSegmentPerFunction) {
  PsiCoo psi = cooOf(3, {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}});
  EXPECT_EQ(csrFromCoo(psi).rowOffsets, (std::vector<int64_t>{0, 1, 2, 3}));
}

TEST(StorageTests, EmptyCsrRoundTrips) {
  PsiCsr csr = csrFromCoo(cooOf(2, {}));
  EXPECT_EQ(csr.rowOffsets, (std::vector<int64_t>{0}));
  Result<PsiCoo> back = cooFromCsr(csr, {2, 2, 8, 2, 8});
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->size(), 0);
}

std::string csrError(const PsiCsr &csr) {
  Result<PsiCoo> psi = cooFromCsr(csr, {2, 2, 8, 3, 8});
  return psi ? "accepted" : psi.message();
}

TEST(StorageTests, CsrIndicesAndOffsetsAreChecked) {
  const PsiCsr good{{0, 2, 3}, {0, 0, 1}, {0, 0, 2}, {4, 5, 15}, {1, 2, 3}};
  EXPECT_EQ(csrError(good), "accepted");
  PsiCsr csr = good;
  csr.k.pop_back();
  EXPECT_EQ(csrError(csr),
            "expected the number of basis indices to be 3, but got 2");
  csr = good;
  csr.row.push_back(0);
  EXPECT_EQ(csrError(csr), "expected the number of rows to be 3, but got 4");
  csr = good;
  csr.col.clear();
  EXPECT_EQ(csrError(csr), "expected the number of columns to be 3, but got 0");
  csr = good;
  csr.rowOffsets.clear();
  EXPECT_EQ(csrError(csr), "expected at least 1 row offset, but got 0");
  csr = good;
  csr.rowOffsets[0] = 1;
  EXPECT_EQ(csrError(csr), "expected the first row offset to be 0, but got 1");
  csr = good;
  csr.rowOffsets[2] = 4;
  EXPECT_EQ(csrError(csr), "expected the last row offset to be 3, but got 4");
  csr = good;
  csr.rowOffsets = {0, 2, 1, 3};
  EXPECT_EQ(csrError(csr), "expected row offset 2 to be at least 2, but got 1");
  csr = good;
  csr.rowOffsets = {0, 3};
  EXPECT_EQ(csrError(csr),
            "expected segment 0 to hold basis 0, row 0 only, but "
            "got basis 1, row 2");
  csr = good;
  csr.k[2] = 2;
  EXPECT_EQ(csrError(csr),
            "expected the basis index of entry 2 to be in [0, 2), but got 2");
  csr = good;
  csr.k[2] = 4294967296;
  EXPECT_EQ(csrError(csr), "expected the basis index of entry 2 to be in [0, "
                           "2), but got 4294967296");
  csr = good;
  csr.row[2] = -1;
  EXPECT_EQ(csrError(csr),
            "expected the row of entry 2 to be in [0, 3), but got -1");
  csr = good;
  csr.col[2] = 16;
  EXPECT_EQ(csrError(csr),
            "expected the column of entry 2 to be in [0, 16), but got 16");
  csr = good;
  csr.col[1] = 4;
  EXPECT_EQ(csrError(csr), "expected each entry to occur once, but got two of "
                           "basis 0, row 0, column 4");
}

TEST(StorageTests, KPackedRoundTripsForFullDisks) {
  int packed = 0;
  for (const std::string &text : variedFilters()) {
    PsiCoo psi = psiOf(text);
    PsiShape shape = psiShape(filterOf(text));
    Result<PsiKPacked> form = kPackedFromCoo(psi, shape);
    bool sameSupport =
        text.find("piecewise") == std::string::npos || psi.numBasis == 1;
    ASSERT_EQ(form.ok(), sameSupport) << text;
    if (!form)
      continue;
    ++packed;
    EXPECT_EQ(form->kPad % 8, 0);
    EXPECT_GE(form->kPad, psi.numBasis);
    EXPECT_LT(form->kPad, psi.numBasis + 8);
    EXPECT_EQ(form->values.size(), form->lat.size() * form->kPad);
    for (size_t j = 0; j < form->lat.size(); ++j)
      for (int64_t k = form->numBasis; k < form->kPad; ++k)
        EXPECT_EQ(form->values[j * form->kPad + k], 0);
    Result<PsiCoo> back = cooFromKPacked(*form, shape);
    ASSERT_TRUE(back.ok()) << text << ": " << back.message();
    expectSame(*back, psi, text);
  }
  EXPECT_EQ(packed, 9);
}

TEST(StorageTests, KPackingRefusesSupportsThatDifferWithTheReason) {
  PsiShape shape{2, 2, 8, 2, 8};
  EXPECT_EQ(kPackedFromCoo(cooOf(2, {{0, 0, 3}, {1, 0, 3}, {0, 1, 4}}), shape)
                .message(),
            "expected all basis functions to share their support, but in row 1 "
            "basis 0 has 1 taps and basis 1 has 0");
  EXPECT_EQ(kPackedFromCoo(cooOf(2, {{0, 1, 3}, {1, 1, 4}}), shape).message(),
            "expected all basis functions to share their support, but in row 1 "
            "basis 0 has column 3 where basis 1 has column 4");
}

TEST(StorageTests, KPackingIsLegalWithEmptyRows) {
  PsiShape shape{2, 2, 8, 3, 8};
  auto form = kPackedFromCoo(cooOf(2, {{0, 1, 11}, {1, 1, 11}}), shape);
  ASSERT_TRUE(form.ok());
  EXPECT_EQ(form->rowOffsets, (std::vector<int32_t>{0, 0, 1, 1}));
  EXPECT_EQ(form->lat, (std::vector<int32_t>{1}));
  EXPECT_EQ(form->lon, (std::vector<int32_t>{3}));
}

TEST(StorageTests, KPackedTablesAreChecked) {
  PsiShape shape{2, 2, 8, 2, 8};
  const PsiKPacked good = *kPackedFromCoo(
      cooOf(2, {{0, 0, 3}, {1, 0, 3}, {0, 1, 12}, {1, 1, 12}}), shape);
  auto error = [&](auto change) {
    PsiKPacked form = good;
    change(form);
    Result<PsiCoo> psi = cooFromKPacked(form, shape);
    return psi ? std::string("accepted") : psi.message();
  };
  EXPECT_EQ(error([](PsiKPacked &) {}), "accepted");
  EXPECT_EQ(error([](PsiKPacked &form) { form.numBasis = 3; }),
            "expected the number of basis functions to be 2, but got 3");
  EXPECT_EQ(error([](PsiKPacked &form) { form.kPad = 16; }),
            "expected the padded number of basis functions to be 8, but got "
            "16");
  EXPECT_EQ(error([](PsiKPacked &form) { form.rowOffsets.pop_back(); }),
            "expected the number of row offsets to be 3, but got 2");
  EXPECT_EQ(error([](PsiKPacked &form) { form.lon.push_back(0); }),
            "expected the number of longitudes to be 2, but got 3");
  EXPECT_EQ(error([](PsiKPacked &form) { form.values.pop_back(); }),
            "expected the number of values to be 16, but got 15");
  EXPECT_EQ(error([](PsiKPacked &form) { form.rowOffsets[0] = 1; }),
            "expected the first row offset to be 0, but got 1");
  EXPECT_EQ(error([](PsiKPacked &form) { form.rowOffsets[2] = 1; }),
            "expected the last row offset to be 2, but got 1");
  EXPECT_EQ(error([](PsiKPacked &form) { form.rowOffsets[1] = 7; }),
            "expected row offset 2 to be at least 7, but got 2");
  EXPECT_EQ(error([](PsiKPacked &form) { form.lon[1] = 8; }),
            "expected the longitude of point 1 to be in [0, 8), but got 8");
  EXPECT_EQ(error([](PsiKPacked &form) { form.lat[0] = -1; }),
            "expected the latitude of point 0 to be in [0, 2), but got -1");
  EXPECT_EQ(error([](PsiKPacked &form) {
              form.rowOffsets = {0, 2, 2};
              form.lat[1] = form.lat[0];
              form.lon[1] = form.lon[0];
            }),
            "expected each entry to occur once, but got two of basis 0, row 0, "
            "column 3");
}

TEST(StorageTests, StatisticsCountTapsRingsArcsAndBytes) {
  // Row 0: an arc of 3 on ring 0 and two of 1 on ring 1. Row 1: a whole ring.
  // Row 2: nothing.
  PsiCoo psi = cooOf(1, {{0, 0, 0},
                         {0, 0, 1},
                         {0, 0, 3},
                         {0, 0, 4},
                         {0, 0, 6},
                         {0, 1, 4},
                         {0, 1, 5},
                         {0, 1, 6},
                         {0, 1, 7}});
  auto statistics = computeStatistics(psi, {1, 2, 4, 3, 2});
  ASSERT_TRUE(statistics.ok());
  EXPECT_EQ(statistics->numEntries, 9);
  EXPECT_EQ(statistics->numTaps, 9);
  EXPECT_EQ(statistics->numArcs, 4);
  EXPECT_EQ(statistics->numGaps, 1);
  EXPECT_EQ(statistics->numWholeRings, 1);
  EXPECT_EQ(statistics->numEmptyRows, 1);
  EXPECT_EQ(statistics->longestArc, 4);
  EXPECT_DOUBLE_EQ(statistics->meanTaps, 3);
  EXPECT_EQ(statistics->medianTaps, 4);
  EXPECT_EQ(statistics->maxTaps, 5);
  EXPECT_DOUBLE_EQ(statistics->meanRings, 1);
  EXPECT_EQ(statistics->maxRings, 2);
  EXPECT_EQ(statistics->kPad, 8);
  EXPECT_EQ(statistics->notKPackable, "");
  EXPECT_EQ(statistics->cooBytes, 9 * 24);
  EXPECT_EQ(statistics->csrBytes, 9 * 32 + 3 * 8);
  EXPECT_EQ(statistics->kPackedBytes, 4 * 4 + 9 * (8 + 64));
  EXPECT_EQ(statistics->arcBytes, 4 * 4 + 4 * 16 + 9 * 8);
}

TEST(StorageTests, StatisticsOfAnEvenNumberOfRowsTakeTheMiddle) {
  PsiCoo psi =
      cooOf(2, {{0, 0, 0}, {0, 1, 1}, {0, 1, 2}, {0, 1, 3}, {1, 1, 3}});
  auto statistics = computeStatistics(psi, {2, 1, 4, 2, 4});
  ASSERT_TRUE(statistics.ok());
  EXPECT_EQ(statistics->medianTaps, 2);
  EXPECT_EQ(statistics->numTaps, 4);
  EXPECT_EQ(statistics->kPackedBytes, 0);
  EXPECT_EQ(statistics->notKPackable,
            "expected all basis functions to share their support, but in row 0 "
            "basis 0 has 1 taps and basis 1 has 0");
  psi.col[0] = 4;
  EXPECT_EQ(computeStatistics(psi, {2, 1, 4, 2, 4}).message(),
            "expected the column of entry 0 to be in [0, 4), but got 4");
}

} // namespace
