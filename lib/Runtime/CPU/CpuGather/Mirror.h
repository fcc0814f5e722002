//===- Mirror.h - taps with the same or opposite values ---------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The maps of most filters on a sphere are even or odd functions of the
// longitude: of the taps of an arc the first has the value of the last, or that
// value's opposite, and so on towards the middle. On a whole ring tap 0 is the
// middle, and tap u mirrors tap n - u:
//
//   arc         a b m b a       even      a b m -b -a      odd
//   whole ring  m a b n b a     even      m a b n -b -a    odd
//
// What is the same is told from the values themselves, bit for bit but for the
// sign of a zero. A tap in the middle may have any value: that of an odd map is
// often not quite 0.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CPU_CPUGATHER_MIRROR_H
#define DISCO_LIB_RUNTIME_CPU_CPUGATHER_MIRROR_H

#include <cstdint>

namespace disco::cpu_gather {

/// What a map is on an arc; zeros and single taps are both.
enum Parity : uint8_t { neither = 0, even = 1, odd = 2 };

/// The tap that mirrors tap `u` of an arc.
inline int64_t mirrorOf(int64_t u, int64_t length, bool isRing) {
  return isRing && u == 0 ? 0 : length - u - (isRing ? 0 : 1);
}

/// parity[k] &= that of map k on an arc with `values` [length][numBasis].
template <typename T>
void narrowParity(const T *values, int64_t length, int64_t numBasis,
                  bool isRing, uint8_t *parity) {
  for (int64_t u = 0; u < length; ++u) {
    const int64_t other = mirrorOf(u, length, isRing);
    if (other <= u)
      continue;
    const T *a = values + u * numBasis, *b = values + other * numBasis;
    for (int64_t k = 0; k < numBasis; ++k)
      parity[k] = static_cast<uint8_t>(
          parity[k] & ((a[k] == b[k] ? even : 0) | (a[k] == -b[k] ? odd : 0)));
  }
}

} // namespace disco::cpu_gather

#endif // DISCO_LIB_RUNTIME_CPU_CPUGATHER_MIRROR_H
