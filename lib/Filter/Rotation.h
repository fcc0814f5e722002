//===- Rotation.h - polar coordinates around an output point ----*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_FILTER_ROTATION_H
#define DISCO_LIB_FILTER_ROTATION_H

namespace disco::filter {

struct SineCosine {
  double sin, cos;
};

/// Distance r in [0, pi] and bearing phi in [0, 2 pi] of a point as seen from
/// an output point.
struct Polar {
  double r, phi;
};

/// The point at (`inTheta`, `inLambda`) seen from (`outTheta`, 0): the rotation
/// that takes the output point to the north pole. Coincident points give (0,
/// 0).
Polar rotate(SineCosine outTheta, SineCosine inTheta, SineCosine inLambda);

} // namespace disco::filter

#endif // DISCO_LIB_FILTER_ROTATION_H
