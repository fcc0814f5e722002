//===- Flow.h - a Rossby-Haurwitz wave with a jet ---------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The atmosphere of the demo, in closed form: the Rossby-Haurwitz wave of
// zonal wavenumber 4 that tests shallow-water models, and on top of it a zonal
// jet at 45 degrees north. Wind and height of each are in balance; those of
// the sum are nearly so. Everything is smooth, poles included, and has an
// analytic gradient. The jet makes north and south differ, so that a picture
// that is upside down shows it.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_EXAMPLES_FLOW_H
#define DISCO_EXAMPLES_FLOW_H

namespace disco::demo {

constexpr double earthRadiusMetres = 6.37122e6;

/// The flow at one point.
struct FlowSample {
  double eastwardWind = 0;  // m/s
  double northwardWind = 0; // m/s
  double height = 0;        // m
  double vorticity = 0;     // 1/s
  double heightEast = 0;    // m/m, the height's derivative towards the east
  double heightNorth = 0;   // m/m, and towards the north
};

/// Latitude in [-pi/2, pi/2] and longitude in radians.
FlowSample sampleFlow(double latitude, double longitude);

} // namespace disco::demo

#endif // DISCO_EXAMPLES_FLOW_H
