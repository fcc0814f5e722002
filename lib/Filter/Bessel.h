//===- Bessel.h - Bessel functions and their roots --------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_FILTER_BESSEL_H
#define DISCO_LIB_FILTER_BESSEL_H

#include <cstdint>
#include <vector>

namespace disco::filter {

/// J_order(x), order >= 0, x >= 0.
double besselJ(int64_t order, double x);

/// One function J_order(root u) times cos or sin of (order phi).
struct BesselMode {
  int64_t order;
  double root;
  bool isSine;
};

/// The modes of order 0..maxOrder whose root is at most the numRadial-th root
/// of J_0, by ascending root, each cosine before its sine. Stops with more than
/// `limit` modes as soon as there are more.
std::vector<BesselMode> besselModes(int64_t numRadial, int64_t maxOrder,
                                    int64_t limit);

} // namespace disco::filter

#endif // DISCO_LIB_FILTER_BESSEL_H
