//===- Plot.h - pictures of fields on the sphere ----------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_SUPPORT_PLOT_H
#define DISCO_SUPPORT_PLOT_H

#include "disco/Support/Draw.h"

#include <optional>
#include <utility>

namespace disco {

/// Colours for values in [low, high]; what lies outside gets the end's colour,
/// what is not finite a colour of its own. Diverging scales are for values on
/// both sides of a neutral middle.
struct ColorScale {
  double low = -1, high = 1;
  bool diverging = true;

  /// Symmetric about zero if the values lie on both sides of it, else from the
  /// smallest to the largest one. Ignores what is not finite.
  static ColorScale fitTo(const std::vector<double> &values);

  Color colorOf(double value) const;
  /// Round numbers inside [low, high], about `wanted` of them.
  std::vector<double> ticks(int wanted) const;
};

/// "0.25", "-1e-05": at most 6 significant digits.
std::string tickLabel(double value);

/// A vertical bar with ticks and labels to its right.
void drawColorBar(Image &image, int x, int y, int width, int height,
                  const ColorScale &scale);

/// A field on latitude rows and equidistant longitudes.
struct SphereField {
  int64_t nlat = 0, nlon = 0;
  /// [nlat], radians from the north pole, ascending.
  std::vector<double> colatitudes;
  /// [nlat, nlon].
  std::vector<double> values;

  /// Bilinear between the four points around (radians), constant beyond the
  /// outermost rows.
  double sample(double colatitude, double longitude) const;
};

/// Longitude 0 to 360 degrees from the left, north at the top.
void drawEquirectangular(Image &image, int x, int y, int width, int height,
                         const SphereField &field, const ColorScale &scale);

/// A shaded globe with a graticule every 30 degrees, seen from above the point
/// (centerLongitude, centerLatitude), in degrees.
void drawOrthographic(Image &image, int centerX, int centerY, int radius,
                      double centerLongitude, double centerLatitude,
                      const SphereField &field, const ColorScale &scale);

enum class Projection { equirectangular, orthographic };

struct PlotOptions {
  Projection projection = Projection::equirectangular;
  std::string title;
  /// Of the colours; fitted to the values when absent.
  std::optional<std::pair<double, double>> range;
  /// Of the globe, in degrees.
  double centerLongitude = 0, centerLatitude = 30;
};

/// A picture with title, labelled axes and a colour bar. The field must have at
/// least one row and one longitude.
Image plotField(const SphereField &field, const PlotOptions &options);

} // namespace disco

#endif // DISCO_SUPPORT_PLOT_H
