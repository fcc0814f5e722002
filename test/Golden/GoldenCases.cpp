//===- GoldenCases.cpp - tables of reference results ----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GoldenCases.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

using namespace disco;
using namespace disco::golden;

namespace {

/// One line of a table by column name; remembers the first error.
class Row {
public:
  Row(const std::vector<std::string> &columns,
      const std::vector<std::string> &cells) {
    for (size_t i = 0; i < columns.size(); ++i)
      values[columns[i]] = cells[i];
  }

  std::string text(const char *column) {
    auto it = values.find(column);
    if (it == values.end()) {
      fail(column, "a column", "none");
      return "";
    }
    return it->second;
  }

  template <typename T> T number(const char *column) {
    std::string cell = text(column);
    T value{};
    const char *end = cell.data() + cell.size();
    auto [next, code] = std::from_chars(cell.data(), end, value);
    if (code != std::errc() || next != end)
      fail(column, "a number", cell);
    return value;
  }

  bool flag(const char *column) {
    std::string cell = text(column);
    if (cell != "yes" && cell != "no")
      fail(column, "yes or no", cell);
    return cell == "yes";
  }

  std::optional<std::vector<int64_t>> rows(const char *column) {
    std::string cell = text(column);
    if (cell == "all")
      return std::nullopt;
    std::vector<int64_t> result;
    std::istringstream stream(cell);
    for (std::string word; std::getline(stream, word, ',');) {
      int64_t value = 0;
      const char *end = word.data() + word.size();
      auto [next, code] = std::from_chars(word.data(), end, value);
      if (code != std::errc() || next != end)
        fail(column, "all or numbers", cell);
      result.push_back(value);
    }
    return result;
  }

  std::string failure;

private:
  void fail(const std::string &column, const std::string &wanted,
            const std::string &got) {
    if (failure.empty())
      failure =
          "expected " + column + " to be " + wanted + ", but got '" + got + "'";
  }

  std::map<std::string, std::string> values;
};

std::vector<std::string> splitCells(const std::string &line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, '\t');)
    cells.push_back(cell);
  return cells;
}

} // namespace

/// Parses every line after the first, which names the columns.
template <typename Case, typename Parse>
static Result<std::vector<Case>> readTable(const std::string &path,
                                           Parse parse) {
  std::ifstream file(path);
  if (!file)
    return Error{"cannot open '" + path + "'"};
  std::string line;
  std::getline(file, line);
  std::vector<std::string> columns = splitCells(line);
  std::vector<Case> cases;
  for (int number = 2; std::getline(file, line); ++number) {
    std::string where = path + ":" + std::to_string(number) + ": ";
    std::vector<std::string> cells = splitCells(line);
    if (cells.size() != columns.size())
      return Error{where + "expected " + std::to_string(columns.size()) +
                   " cells, but got " + std::to_string(cells.size())};
    Row row(columns, cells);
    cases.push_back(parse(row));
    if (!row.failure.empty())
      return Error{where + row.failure};
  }
  if (cases.empty())
    return Error{path + ": expected at least 1 case, but got 0"};
  return cases;
}

Result<std::vector<GridCase>>
disco::golden::readGridCases(const std::string &folder) {
  return readTable<GridCase>(folder + "/grids.tsv", [](Row &row) {
    return GridCase{row.text("id"), row.text("grid")};
  });
}

Result<std::vector<PsiCase>>
disco::golden::readPsiCases(const std::string &folder) {
  return readTable<PsiCase>(folder + "/psi.tsv", [](Row &row) {
    PsiCase result;
    result.id = row.text("id");
    result.filter = row.text("filter");
    result.tol = row.number<double>("tol");
    result.gated = row.flag("gated");
    result.largest = row.number<double>("largest");
    result.rows = row.rows("rows");
    return result;
  });
}

Result<std::vector<ConvCase>>
disco::golden::readConvCases(const std::string &folder) {
  return readTable<ConvCase>(folder + "/conv.tsv", [](Row &row) {
    ConvCase result;
    result.id = row.text("id");
    result.filter = row.text("filter");
    result.tol = row.number<double>("tol");
    result.gated = row.flag("gated");
    result.kept = row.flag("kept");
    result.bias = row.flag("bias");
    result.groups = row.number<int64_t>("groups");
    return result;
  });
}

static Status checkFinite(const Array &array, const char *name) {
  for (int64_t i = 0, size = array.numElements(); i < size; ++i)
    if (!std::isfinite(array.at(i)))
      return Error{"expected element " + std::to_string(i) + " of the " + name +
                   " array to be finite, but got " +
                   std::to_string(array.at(i))};
  return Status();
}

static Status checkComparable(const Array &got, const Array &wanted) {
  if (got.shape != wanted.shape)
    return Error{"expected shape " + describe(wanted.dtype, wanted.shape) +
                 ", but got " + describe(got.dtype, got.shape)};
  if (wanted.numElements() == 0)
    return Error{"expected something to compare, but got no elements"};
  if (Status status = checkFinite(wanted, "reference"); !status)
    return status;
  return checkFinite(got, "result");
}

Result<double> disco::golden::largestDifference(const Array &got,
                                                const Array &wanted) {
  if (Status status = checkComparable(got, wanted); !status)
    return status.error();
  double largest = 0;
  for (int64_t i = 0, size = wanted.numElements(); i < size; ++i)
    largest = std::max(largest, std::abs(got.at(i) - wanted.at(i)));
  return largest;
}

Result<double> disco::golden::relativeL2(const Array &got,
                                         const Array &wanted) {
  if (Status status = checkComparable(got, wanted); !status)
    return status.error();
  double difference = 0, norm = 0;
  for (int64_t i = 0, size = wanted.numElements(); i < size; ++i) {
    difference += std::pow(got.at(i) - wanted.at(i), 2);
    norm += std::pow(wanted.at(i), 2);
  }
  if (norm == 0)
    return difference == 0 ? 0.0 : HUGE_VAL;
  return std::sqrt(difference / norm);
}

namespace {
using SparseMap = std::map<std::tuple<double, double, double>, double>;
} // namespace

/// The entries of the given rows; an error for an entry that occurs twice.
static Result<SparseMap> toMap(const Array &array,
                               const std::optional<std::set<double>> &rows) {
  if (array.shape.size() != 2 || array.shape[0] != 4)
    return Error{"expected psi to have shape 4xN, but got " +
                 describe(array.dtype, array.shape)};
  if (Status status = checkFinite(array, "psi"); !status)
    return status.error();
  int64_t n = array.shape[1];
  SparseMap map;
  for (int64_t e = 0; e < n; ++e) {
    double k = array.at(e), row = array.at(n + e), col = array.at(2 * n + e);
    if (rows && !rows->count(row))
      continue;
    if (!map.emplace(std::make_tuple(k, row, col), array.at(3 * n + e)).second)
      return Error{"expected each entry of psi once, but got two at basis " +
                   std::to_string(k) + ", row " + std::to_string(row) +
                   ", column " + std::to_string(col)};
  }
  if (map.empty())
    return Error{"expected entries of psi to compare, but got none"};
  return map;
}

Result<double>
disco::golden::psiError(const Array &got, const Array &wanted,
                        const PsiCase &psiCase,
                        const std::optional<std::vector<int64_t>> &rows) {
  std::optional<std::set<double>> chosen;
  if (rows)
    chosen.emplace(rows->begin(), rows->end());
  Result<SparseMap> a = toMap(got, chosen), b = toMap(wanted, chosen);
  if (!a)
    return a.error();
  if (!b)
    return b.error();
  double largest = 0;
  for (const auto &[key, value] : *a) {
    auto it = b->find(key);
    double other = it == b->end() ? 0 : it->second;
    largest = std::max(largest, std::abs(value - other));
  }
  for (const auto &[key, value] : *b)
    if (!a->count(key))
      largest = std::max(largest, std::abs(value));
  return largest / psiCase.largest;
}
