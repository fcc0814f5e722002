//===- Plot.cpp - pictures of fields on the sphere ------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Support/Plot.h"

#include "disco/Support/Parallel.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace disco;

static constexpr Color ink{40, 44, 52};
static constexpr Color notFinite{230, 0, 200};

// Dark at both ends and neutral in the middle.
static constexpr Color divergingStops[] = {
    {26, 40, 105},   {44, 93, 172},   {103, 158, 210},
    {181, 212, 232}, {247, 247, 245}, {247, 201, 176},
    {226, 128, 101}, {184, 48, 57},   {103, 8, 38}};
// From dark to light, so that it reads in grey as well.
static constexpr Color sequentialStops[] = {
    {28, 16, 68},   {58, 45, 122},  {49, 92, 141},  {38, 133, 142},
    {48, 171, 124}, {122, 202, 83}, {205, 222, 62}, {252, 240, 120}};

template <size_t n>
static Color interpolate(const Color (&stops)[n], double position) {
  double scaled = std::min(1.0, std::max(0.0, position)) * (n - 1);
  auto lower = std::min<size_t>(static_cast<size_t>(scaled), n - 2);
  return blend(stops[lower], stops[lower + 1],
               scaled - static_cast<double>(lower));
}

ColorScale ColorScale::fitTo(const std::vector<double> &values) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (double value : values)
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  ColorScale scale;
  if (low > high)
    return scale;
  // A value or two just across zero do not make a field diverging.
  double reach = std::max(-low, high);
  scale.diverging = low < -0.02 * reach && high > 0.02 * reach;
  if (scale.diverging) {
    scale.low = -reach;
    scale.high = reach;
  } else {
    // A constant field still needs a scale of some width.
    double pad = low < high ? 0 : std::max(1e-300, std::abs(low) * 0.5);
    scale.low = low - pad;
    scale.high = high + pad;
  }
  return scale;
}

Color ColorScale::colorOf(double value) const {
  if (!std::isfinite(value))
    return notFinite;
  // Halved first, as high - low may overflow.
  double position = (value / 2 - low / 2) / (high / 2 - low / 2);
  return diverging ? interpolate(divergingStops, position)
                   : interpolate(sequentialStops, position);
}

std::vector<double> ColorScale::ticks(int wanted) const {
  std::vector<double> result;
  double width = high - low;
  if (!(width > 0) || !std::isfinite(width))
    return {low, high};
  double raw = width / std::max(wanted, 1);
  double power = std::pow(10, std::floor(std::log10(raw)));
  double step = power;
  for (double factor : {1.0, 2.0, 5.0, 10.0}) {
    step = factor * power;
    if (step >= 0.8 * raw)
      break;
  }
  auto first = std::ceil(low / step - 1e-9);
  // Bounded, for a range that is narrow beside its values.
  for (int i = 0; i < 4 * wanted + 8; ++i) {
    double tick = (first + i) * step;
    if (tick > high + 1e-9 * width)
      break;
    result.push_back(tick);
  }
  return result;
}

std::string disco::tickLabel(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.6g", value == 0 ? 0.0 : value);
  return buffer;
}

void disco::drawColorBar(Image &image, int x, int y, int width, int height,
                         const ColorScale &scale) {
  for (int row = 0; row < height; ++row) {
    double position = 1 - (row + 0.5) / height;
    double value = scale.low * (1 - position) + scale.high * position;
    fillRect(image, x, y + row, width, 1, scale.colorOf(value));
  }
  drawFrame(image, x, y, width, height, ink);
  for (double tick : scale.ticks(height / 70)) {
    double position = (tick - scale.low) / (scale.high - scale.low);
    int row = y + static_cast<int>(std::lround((1 - position) * (height - 1)));
    fillRect(image, x + width + 1, row, 6, 1, ink);
    drawText(image, x + width + 12, row - textHeight, tickLabel(tick), ink);
  }
}

double SphereField::sample(double colatitude, double longitude) const {
  auto below =
      std::upper_bound(colatitudes.begin(), colatitudes.end(), colatitude);
  int64_t south = std::min<int64_t>(below - colatitudes.begin(), nlat - 1);
  int64_t north = std::max<int64_t>((below - colatitudes.begin()) - 1, 0);
  double down = north == south ? 0
                               : (colatitude - colatitudes[north]) /
                                     (colatitudes[south] - colatitudes[north]);
  double turn = longitude / (2 * M_PI);
  double column = (turn - std::floor(turn)) * static_cast<double>(nlon);
  int64_t west = static_cast<int64_t>(column) % nlon, east = (west + 1) % nlon;
  double right = column - std::floor(column);
  auto row = [&](int64_t i) {
    const double *ring = values.data() + i * nlon;
    // A weight of zero does not let a value that is not finite through.
    return right == 0 ? ring[west]
                      : ring[west] * (1 - right) + ring[east] * right;
  };
  return down == 0 ? row(north) : row(north) * (1 - down) + row(south) * down;
}

void disco::drawEquirectangular(Image &image, int x, int y, int width,
                                int height, const SphereField &field,
                                const ColorScale &scale) {
  parallelFor(height, 8, [&](int64_t row) {
    double theta = M_PI * (static_cast<double>(row) + 0.5) / height;
    for (int column = 0; column < width; ++column) {
      double lambda = 2 * M_PI * (column + 0.5) / width;
      int px = x + column, py = y + static_cast<int>(row);
      if (image.contains(px, py))
        image.at(px, py) = scale.colorOf(field.sample(theta, lambda));
    }
  });
  drawFrame(image, x, y, width, height, ink);
}

namespace {

/// A point of the globe under a pixel, and how it faces the viewer.
struct GlobePoint {
  double colatitude, longitude, facing;
};

/// The orthographic projection, inverted.
class Globe {
public:
  Globe(double centerLongitude, double centerLatitude)
      : longitude(std::fmod(centerLongitude, 360) * M_PI / 180),
        sinTilt(std::sin(centerLatitude * M_PI / 180)),
        cosTilt(std::cos(centerLatitude * M_PI / 180)) {}

  /// (u, v) in the unit disk, v up.
  GlobePoint at(double u, double v) const {
    double facing = std::sqrt(std::max(0.0, 1 - u * u - v * v));
    double up = v * cosTilt + facing * sinTilt;
    double forward = facing * cosTilt - v * sinTilt;
    return {std::acos(std::min(1.0, std::max(-1.0, up))),
            longitude + std::atan2(u, forward), facing};
  }

private:
  double longitude, sinTilt, cosTilt;
};

/// Whether a point lies on a parallel or meridian at a multiple of 30 degrees.
bool isOnGraticule(const GlobePoint &point) {
  constexpr double spacing = M_PI / 6, halfWidth = 0.0028;
  auto distance = [](double angle) {
    return std::abs(std::remainder(angle, spacing));
  };
  double sine = std::sin(point.colatitude);
  return distance(point.colatitude) < halfWidth ||
         (sine > 0.06 && distance(point.longitude) * sine < halfWidth);
}

} // namespace

/// The colour of the globe under one sample.
static Color shadeGlobe(const GlobePoint &point, const SphereField &field,
                        const ColorScale &scale) {
  Color color = scale.colorOf(field.sample(point.colatitude, point.longitude));
  if (isOnGraticule(point))
    color = blend(color, {20, 22, 28}, 0.45);
  // A little darker towards the limb, as a ball is; the colours stay readable.
  double light = 0.78 + 0.22 * std::pow(point.facing, 0.55);
  return blend({8, 10, 18}, color, light);
}

void disco::drawOrthographic(Image &image, int centerX, int centerY, int radius,
                             double centerLongitude, double centerLatitude,
                             const SphereField &field,
                             const ColorScale &scale) {
  Globe globe(centerLongitude, centerLatitude);
  constexpr int samples = 3;
  parallelFor(2 * radius + 2, 8, [&](int64_t line) {
    int py = centerY - radius - 1 + static_cast<int>(line);
    for (int px = centerX - radius - 1; px <= centerX + radius; ++px) {
      if (!image.contains(px, py))
        continue;
      double red = 0, green = 0, blue = 0;
      int inside = 0;
      for (int s = 0; s < samples * samples; ++s) {
        int sx = s % samples, sy = s / samples;
        double u = (px - centerX + (sx + 0.5) / samples) / radius;
        double v = (centerY - py - (sy + 0.5) / samples) / radius;
        if (u * u + v * v > 1)
          continue;
        Color color = shadeGlobe(globe.at(u, v), field, scale);
        red += color.red;
        green += color.green;
        blue += color.blue;
        ++inside;
      }
      if (!inside)
        continue;
      auto mean = [&](double sum) {
        return static_cast<uint8_t>(std::lround(sum / inside));
      };
      image.at(px, py) =
          blend(image.at(px, py), {mean(red), mean(green), mean(blue)},
                static_cast<double>(inside) / (samples * samples));
    }
  });
}

/// Labels every 30 degrees of latitude and every 60 of longitude.
static void drawAxes(Image &image, int x, int y, int width, int height) {
  for (int latitude = 90; latitude >= -90; latitude -= 30) {
    int row = y + (90 - latitude) * height / 180;
    row = std::min(row, y + height - 1);
    fillRect(image, x - 7, row, 6, 1, ink);
    std::string label = std::to_string(std::abs(latitude)) + "\xc2\xb0" +
                        (latitude > 0   ? "N"
                         : latitude < 0 ? "S"
                                        : "");
    drawText(image, x - 11, row - textHeight, label, ink, 2, Align::right);
  }
  for (int longitude = 0; longitude <= 360; longitude += 60) {
    int column = std::min(x + longitude * width / 360, x + width - 1);
    fillRect(image, column, y + height + 1, 1, 6, ink);
    drawText(image, column, y + height + 11,
             std::to_string(longitude) + "\xc2\xb0", ink, 2, Align::center);
  }
}

/// The longest beginning of a title that fits, with an ellipsis if cut.
static std::string fitTitle(std::string title, int width) {
  if (textWidth(title, 2) <= width)
    return title;
  while (!title.empty() && textWidth(title + "...", 2) > width)
    title.pop_back();
  return title + "...";
}

Image disco::plotField(const SphereField &field, const PlotOptions &options) {
  ColorScale scale = ColorScale::fitTo(field.values);
  if (options.range) {
    scale.low = options.range->first;
    scale.high = options.range->second;
    scale.diverging = scale.low < 0 && scale.high > 0;
  }
  constexpr int top = 48, bar = 20, labels = 118;
  if (options.projection == Projection::equirectangular) {
    constexpr int left = 68, bottom = 44, width = 1080, height = 540;
    Image image(left + width + 24 + bar + labels, top + height + bottom);
    drawText(image, left, 18, fitTitle(options.title, image.width - left - 8),
             ink);
    drawEquirectangular(image, left, top, width, height, field, scale);
    drawAxes(image, left, top, width, height);
    drawColorBar(image, left + width + 24, top, bar, height, scale);
    return image;
  }
  constexpr int radius = 330, margin = 24;
  Image image(2 * margin + 2 * radius + 24 + bar + labels,
              top + 2 * radius + margin);
  drawText(image, margin, 18, fitTitle(options.title, image.width - margin - 8),
           ink);
  drawOrthographic(image, margin + radius, top + radius, radius,
                   options.centerLongitude, options.centerLatitude, field,
                   scale);
  drawColorBar(image, 2 * margin + 2 * radius + 8, top + 40, bar,
               2 * radius - 80, scale);
  return image;
}
