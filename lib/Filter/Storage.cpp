//===- Storage.cpp - CSR and K-packed forms of psi ------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Filter/Psi.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

using namespace disco;
using namespace disco::filter;

static std::string str(int64_t value) { return std::to_string(value); }

/// The positions of the entries in ascending (key(e)...) order.
template <typename Key>
static std::vector<int64_t> sortedBy(int64_t numEntries, Key key) {
  std::vector<int64_t> order(numEntries);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return key(a) < key(b); });
  return order;
}

/// The entries of psi in the order (row, k, column).
static std::vector<int64_t> cooOrder(const PsiCoo &psi) {
  return sortedBy(psi.size(), [&](int64_t e) {
    return std::make_tuple(psi.row[e], psi.k[e], psi.col[e]);
  });
}

static PsiCoo inCooOrder(const PsiCoo &psi) {
  PsiCoo result;
  result.numBasis = psi.numBasis;
  for (int64_t e : cooOrder(psi)) {
    result.k.push_back(psi.k[e]);
    result.row.push_back(psi.row[e]);
    result.col.push_back(psi.col[e]);
    result.values.push_back(psi.values[e]);
  }
  return result;
}

PsiCsr disco::filter::csrFromCoo(const PsiCoo &psi) {
  std::vector<int64_t> order = sortedBy(psi.size(), [&](int64_t e) {
    return std::make_tuple(psi.k[e], psi.row[e], psi.col[e]);
  });
  PsiCsr csr;
  for (int64_t e : order) {
    // A segment ends where k or the row changes: comparing rows alone would
    // merge the last row of k with an equal first row of k + 1.
    if (csr.k.empty() || csr.k.back() != psi.k[e] ||
        csr.row.back() != psi.row[e])
      csr.rowOffsets.push_back(static_cast<int64_t>(csr.k.size()));
    csr.k.push_back(psi.k[e]);
    csr.row.push_back(psi.row[e]);
    csr.col.push_back(psi.col[e]);
    csr.values.push_back(psi.values[e]);
  }
  csr.rowOffsets.push_back(psi.size());
  return csr;
}

/// Lengths and ascending offsets, before any index is used.
static Status verifyOffsets(const PsiCsr &csr) {
  auto size = static_cast<int64_t>(csr.values.size());
  const std::pair<const char *, size_t> lengths[] = {
      {"basis indices", csr.k.size()},
      {"rows", csr.row.size()},
      {"columns", csr.col.size()}};
  for (auto [what, length] : lengths)
    if (static_cast<int64_t>(length) != size)
      return Error{"expected the number of " + std::string(what) + " to be " +
                   str(size) + ", but got " +
                   str(static_cast<int64_t>(length))};
  if (csr.rowOffsets.empty())
    return Error{"expected at least 1 row offset, but got 0"};
  if (csr.rowOffsets.front() != 0)
    return Error{"expected the first row offset to be 0, but got " +
                 str(csr.rowOffsets.front())};
  if (csr.rowOffsets.back() != size)
    return Error{"expected the last row offset to be " + str(size) +
                 ", but got " + str(csr.rowOffsets.back())};
  for (size_t s = 1; s < csr.rowOffsets.size(); ++s)
    if (csr.rowOffsets[s] < csr.rowOffsets[s - 1])
      return Error{"expected row offset " + str(static_cast<int64_t>(s)) +
                   " to be at least " + str(csr.rowOffsets[s - 1]) +
                   ", but got " + str(csr.rowOffsets[s])};
  return Status();
}

/// Every segment holds one (k, row).
static Status verifySegments(const PsiCsr &csr) {
  for (size_t s = 0; s + 1 < csr.rowOffsets.size(); ++s)
    for (int64_t e = csr.rowOffsets[s] + 1; e < csr.rowOffsets[s + 1]; ++e)
      if (csr.k[e] != csr.k[e - 1] || csr.row[e] != csr.row[e - 1])
        return Error{"expected segment " + str(static_cast<int64_t>(s)) +
                     " to hold basis " + str(csr.k[e - 1]) + ", row " +
                     str(csr.row[e - 1]) + " only, but got basis " +
                     str(csr.k[e]) + ", row " + str(csr.row[e])};
  return Status();
}

/// An int32 index, or -1 where it does not fit, which no range contains.
static int32_t narrow(int64_t index) {
  return index < 0 || index > INT32_MAX ? -1 : static_cast<int32_t>(index);
}

Result<PsiCoo> disco::filter::cooFromCsr(const PsiCsr &csr,
                                         const PsiShape &shape) {
  if (Status status = verifyOffsets(csr); !status)
    return status.error();
  for (size_t e = 0; e < csr.values.size(); ++e) {
    // Narrowing below would hide the value that was given.
    if (csr.k[e] < 0 || csr.k[e] >= shape.numBasis)
      return Error{"expected the basis index of entry " +
                   str(static_cast<int64_t>(e)) + " to be in [0, " +
                   str(shape.numBasis) + "), but got " + str(csr.k[e])};
    if (csr.row[e] < 0 || csr.row[e] >= shape.nlatOut)
      return Error{"expected the row of entry " + str(static_cast<int64_t>(e)) +
                   " to be in [0, " + str(shape.nlatOut) + "), but got " +
                   str(csr.row[e])};
  }
  if (Status status = verifySegments(csr); !status)
    return status.error();
  PsiCoo psi;
  psi.numBasis = shape.numBasis;
  for (size_t e = 0; e < csr.values.size(); ++e) {
    psi.k.push_back(narrow(csr.k[e]));
    psi.row.push_back(narrow(csr.row[e]));
  }
  psi.col = csr.col;
  psi.values = csr.values;
  if (Status status = verify(psi, shape); !status)
    return status.error();
  return inCooOrder(psi);
}

namespace {

/// The entries [begin, end) of one (row, k).
struct Segment {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

} // namespace

/// Why the supports of basis functions 0 and k of row t, both sorted by column,
/// differ; nothing if they are equal.
static std::optional<Error> supportsDiffer(const PsiCoo &psi, int64_t t,
                                           int64_t k, Segment first,
                                           Segment other) {
  std::string who = "expected all basis functions to share their support, but "
                    "in row " +
                    str(t) + " basis 0 has ";
  if (first.size() != other.size())
    return Error{who + str(first.size()) + " taps and basis " + str(k) +
                 " has " + str(other.size())};
  for (int64_t j = 0; j < first.size(); ++j)
    if (psi.col[first.begin + j] != psi.col[other.begin + j])
      return Error{who + "column " + str(psi.col[first.begin + j]) +
                   " where basis " + str(k) + " has column " +
                   str(psi.col[other.begin + j])};
  return std::nullopt;
}

Result<PsiKPacked> disco::filter::kPackedFromCoo(const PsiCoo &unordered,
                                                 const PsiShape &shape) {
  if (Status status = verify(unordered, shape); !status)
    return status.error();
  PsiCoo psi = inCooOrder(unordered);
  PsiKPacked packed;
  packed.numBasis = psi.numBasis;
  packed.kPad = paddedNumBasis(psi.numBasis);
  packed.rowOffsets.push_back(0);
  int64_t e = 0;
  for (int64_t t = 0; t < shape.nlatOut; ++t) {
    std::vector<Segment> segments;
    for (int64_t k = 0; k < psi.numBasis; ++k) {
      int64_t begin = e;
      while (e < psi.size() && psi.row[e] == t && psi.k[e] == k)
        ++e;
      segments.push_back({begin, e});
      if (auto error = supportsDiffer(psi, t, k, segments[0], segments[k]))
        return *error;
    }
    for (int64_t j = 0; j < segments[0].size(); ++j) {
      int64_t col = psi.col[segments[0].begin + j];
      packed.lat.push_back(static_cast<int32_t>(col / shape.nlonIn));
      packed.lon.push_back(static_cast<int32_t>(col % shape.nlonIn));
      size_t at = packed.values.size();
      packed.values.resize(at + packed.kPad);
      for (int64_t k = 0; k < psi.numBasis; ++k)
        packed.values[at + k] = psi.values[segments[k].begin + j];
    }
    if (packed.lat.size() > INT32_MAX)
      return Error{"expected the number of taps to be at most " +
                   str(INT32_MAX) + ", but got more"};
    packed.rowOffsets.push_back(static_cast<int32_t>(packed.lat.size()));
  }
  return packed;
}

/// Sizes that agree with each other and with the shape.
static Status verifySizes(const PsiKPacked &packed, const PsiShape &shape) {
  auto numPoints = static_cast<int64_t>(packed.lat.size());
  const std::tuple<const char *, int64_t, int64_t> sizes[] = {
      {"the number of basis functions", shape.numBasis, packed.numBasis},
      {"the padded number of basis functions", paddedNumBasis(shape.numBasis),
       packed.kPad},
      {"the number of row offsets", shape.nlatOut + 1,
       static_cast<int64_t>(packed.rowOffsets.size())},
      {"the number of longitudes", numPoints,
       static_cast<int64_t>(packed.lon.size())},
      {"the number of values", numPoints * packed.kPad,
       static_cast<int64_t>(packed.values.size())}};
  for (auto [what, wanted, got] : sizes)
    if (wanted != got)
      return Error{"expected " + std::string(what) + " to be " + str(wanted) +
                   ", but got " + str(got)};
  if (packed.rowOffsets.front() != 0)
    return Error{"expected the first row offset to be 0, but got " +
                 str(packed.rowOffsets.front())};
  if (packed.rowOffsets.back() != numPoints)
    return Error{"expected the last row offset to be " + str(numPoints) +
                 ", but got " + str(packed.rowOffsets.back())};
  for (size_t t = 1; t < packed.rowOffsets.size(); ++t)
    if (packed.rowOffsets[t] < packed.rowOffsets[t - 1])
      return Error{"expected row offset " + str(static_cast<int64_t>(t)) +
                   " to be at least " + str(packed.rowOffsets[t - 1]) +
                   ", but got " + str(packed.rowOffsets[t])};
  return Status();
}

Result<PsiCoo> disco::filter::cooFromKPacked(const PsiKPacked &packed,
                                             const PsiShape &shape) {
  if (Status status = verifySizes(packed, shape); !status)
    return status.error();
  for (size_t j = 0; j < packed.lat.size(); ++j) {
    // A longitude out of range could pass as a column of another ring.
    if (packed.lon[j] < 0 || packed.lon[j] >= shape.nlonIn)
      return Error{"expected the longitude of point " +
                   str(static_cast<int64_t>(j)) + " to be in [0, " +
                   str(shape.nlonIn) + "), but got " + str(packed.lon[j])};
    if (packed.lat[j] < 0 || packed.lat[j] >= shape.nlatIn)
      return Error{"expected the latitude of point " +
                   str(static_cast<int64_t>(j)) + " to be in [0, " +
                   str(shape.nlatIn) + "), but got " + str(packed.lat[j])};
  }
  PsiCoo psi;
  psi.numBasis = shape.numBasis;
  for (int64_t t = 0; t < shape.nlatOut; ++t)
    for (int64_t k = 0; k < shape.numBasis; ++k)
      for (int32_t j = packed.rowOffsets[t]; j < packed.rowOffsets[t + 1];
           ++j) {
        psi.k.push_back(static_cast<int32_t>(k));
        psi.row.push_back(static_cast<int32_t>(t));
        psi.col.push_back(packed.lat[j] * shape.nlonIn + packed.lon[j]);
        psi.values.push_back(packed.values[j * packed.kPad + k]);
      }
  if (Status status = verify(psi, shape); !status)
    return status.error();
  return inCooOrder(psi);
}
