//===- Rotation.cpp - polar coordinates around an output point ------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled without contraction to fused multiply-add: the last bit of r and phi
// decides which grid points on the edge of a support have an entry, and it must
// be the same on every machine.
//
//===----------------------------------------------------------------------===//

#include "Rotation.h"

#include <algorithm>
#include <cmath>

using namespace disco::filter;

Polar disco::filter::rotate(SineCosine outTheta, SineCosine inTheta,
                            SineCosine inLambda) {
  // The rotation is by alpha = -theta of the output point.
  double sinAlpha = -outTheta.sin, cosAlpha = outTheta.cos;
  double sinBeta = inLambda.sin, cosBeta = inLambda.cos;
  double sinGamma = inTheta.sin, cosGamma = inTheta.cos;

  double x = (cosAlpha * cosBeta) * sinGamma + cosGamma * sinAlpha;
  double y = sinBeta * sinGamma;
  double z = ((-cosBeta) * sinAlpha) * sinGamma + cosAlpha * cosGamma;
  double norm = std::sqrt(x * x + y * y + z * z);
  x /= norm;
  y /= norm;
  z /= norm;

  double r = std::acos(std::min(1.0, std::max(-1.0, z)));
  if (r < 1e-9)
    return {0, 0};
  double phi = std::atan2(y, x);
  return {r, phi < 0 ? phi + 2 * M_PI : phi};
}
