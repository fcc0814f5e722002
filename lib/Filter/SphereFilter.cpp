//===- SphereFilter.cpp - properties and rules of a filter ----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Filter/SphereFilter.h"

#include "Basis.h"

#include <charconv>
#include <cmath>

using namespace disco;
using namespace disco::filter;

static std::string str(int64_t value) { return std::to_string(value); }

static std::string str(double value) {
  char buffer[32];
  return std::string(buffer,
                     std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
}

static Error expected(const std::string &what, const std::string &requirement,
                      const std::string &got) {
  return Error{"expected " + what + " to be " + requirement + ", but got " +
               got};
}

Status disco::filter::verify(const Grid &grid) {
  if (grid.nlat < 2)
    return expected("nlat", "at least 2", str(grid.nlat));
  if (grid.nlat > maxNumLatitudes)
    return expected("nlat", "at most " + str(maxNumLatitudes), str(grid.nlat));
  if (grid.nlon < 1)
    return expected("nlon", "at least 1", str(grid.nlon));
  if (grid.nlon > INT32_MAX / grid.nlat)
    return expected("the number of grid points",
                    "at most " + str(int64_t(INT32_MAX)),
                    str(grid.nlat) + "x" + str(grid.nlon));
  return Status();
}

/// Arity and positivity of the kernel shape.
static Status verifyShape(const SphereFilter &filter) {
  std::string name(nameOf(filter.basis));
  size_t arity = filter.shape.size();
  bool onlyOne = filter.basis == Basis::zernike;
  if (arity < 1 || arity > (onlyOne ? 1 : 2))
    return expected("the shape of " + name,
                    onlyOne ? "1 number" : "1 or 2 numbers",
                    str(static_cast<int64_t>(arity)));
  for (size_t i = 0; i < arity; ++i) {
    // The largest angular order of fourier_bessel may be 0: radial only.
    int64_t least = filter.basis == Basis::fourier_bessel && i == 1 ? 0 : 1;
    int64_t value = filter.shape[i];
    std::string what =
        "entry " + str(static_cast<int64_t>(i)) + " of the shape of " + name;
    if (value < least)
      return expected(what, "at least " + str(least), str(value));
    // Before K is computed, which costs time in some bases.
    if (value > maxNumBasis)
      return expected(what, "at most " + str(maxNumBasis), str(value));
  }
  int64_t numBasis = filter.numBasis();
  if (numBasis > maxNumBasis)
    return expected("the number of basis functions",
                    "at most " + str(maxNumBasis), str(numBasis));
  return Status();
}

Status disco::filter::verify(const SphereFilter &filter) {
  if (Status status = verifyShape(filter); !status)
    return status;
  if (filter.cutoff && !(*filter.cutoff > 0 && std::isfinite(*filter.cutoff)))
    return expected("cutoff", "positive and finite", str(*filter.cutoff));
  // No two points of the sphere are farther apart. Rounded to single precision
  // pi is greater than pi.
  if (filter.cutoff && *filter.cutoff > static_cast<double>(float(M_PI)))
    return expected("cutoff", "at most pi", str(*filter.cutoff));
  if (Status status = verify(filter.in); !status)
    return Error{"input grid: " + status.message()};
  if (Status status = verify(filter.out); !status)
    return Error{"output grid: " + status.message()};
  if (filter.fine().nlon % filter.coarse().nlon != 0) {
    const char *fine = filter.transpose ? "output" : "input";
    const char *coarse = filter.transpose ? "input" : "output";
    return expected(
        "nlon of the " + std::string(fine) + " grid",
        "a multiple of nlon of the " + std::string(coarse) + " grid",
        str(filter.fine().nlon) + " and " + str(filter.coarse().nlon));
  }
  return Status();
}

double SphereFilter::effectiveCutoff() const {
  return cutoff ? *cutoff : M_PI / static_cast<double>(coarse().nlat - 1);
}

int64_t SphereFilter::numBasis() const { return countBasis(basis, shape); }

bool disco::filter::operator==(const SphereFilter &a, const SphereFilter &b) {
  return a.basis == b.basis && a.shape == b.shape && a.cutoff == b.cutoff &&
         a.norm == b.norm && a.in == b.in && a.out == b.out &&
         a.transpose == b.transpose;
}

static void combine(size_t &seed, size_t value) {
  seed ^= value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2);
}

size_t disco::filter::hash_value(const Grid &grid) {
  size_t seed = static_cast<size_t>(grid.kind);
  combine(seed, std::hash<int64_t>()(grid.nlat));
  combine(seed, std::hash<int64_t>()(grid.nlon));
  return seed;
}

size_t disco::filter::hash_value(const SphereFilter &filter) {
  size_t seed = static_cast<size_t>(filter.basis);
  for (int64_t value : filter.shape)
    combine(seed, std::hash<int64_t>()(value));
  combine(seed, filter.cutoff ? std::hash<double>()(*filter.cutoff) : 1);
  combine(seed, static_cast<size_t>(filter.norm));
  combine(seed, hash_value(filter.in));
  combine(seed, hash_value(filter.out));
  combine(seed, filter.transpose);
  return seed;
}
