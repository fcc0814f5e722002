//===- FilterGrammarFuzzer.cpp - random texts as filters ------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What parses prints to a text that parses to an equal value, verifies, and has
// the properties that verification promises; a small filter can be evaluated.
//
//===----------------------------------------------------------------------===//

#include "disco/Filter/SphereOperator.h"

#include <cstdlib>

using namespace disco;
using namespace disco::filter;

static void require(bool condition) {
  if (!condition)
    std::abort();
}

static void checkGrid(std::string_view text) {
  Result<Grid> grid = parseGrid(text);
  if (!grid) {
    require(!grid.message().empty());
    return;
  }
  require(verify(*grid).ok());
  Result<Grid> again = parseGrid(toString(*grid));
  require(again.ok() && *again == *grid);
  require(hash_value(*again) == hash_value(*grid));
  if (grid->nlat <= 64)
    require(computeNodes(*grid).weights.size() ==
            static_cast<size_t>(grid->nlat));
}

static void checkFilter(std::string_view text) {
  Result<SphereFilter> filter = parseSphereFilter(text);
  if (!filter) {
    require(!filter.message().empty());
    return;
  }
  require(verify(*filter).ok());
  require(filter->numBasis() > 0 && filter->numBasis() <= maxNumBasis);
  require(filter->effectiveCutoff() > 0);
  std::string printed = toString(*filter);
  Result<SphereFilter> again = parseSphereFilter(printed);
  require(again.ok() && *again == *filter && toString(*again) == printed);
  require(hash_value(*again) == hash_value(*filter));
  // Small enough to evaluate thousands of them.
  int64_t work = filter->in.numPoints() * filter->coarse().nlat;
  if (filter->in.numPoints() <= 64 && filter->out.numPoints() <= 64 &&
      filter->numBasis() <= 16 && work <= 2000) {
    Result<SphereOperator> op = buildOperator(*filter);
    require(op.ok());
    require(adjoint(adjoint(*op)) == *op);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  checkGrid(text);
  checkFilter(text);
  return 0;
}
