//===- FilterPlot.cpp - pictures of filters -------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FilterPlot.h"

#include "disco/Support/Parallel.h"
#include "disco/Support/Plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unordered_map>

using namespace disco;
using namespace disco::filter;

namespace {

constexpr Color ink{40, 44, 52}, faint{120, 125, 133}, paper{228, 230, 233};
constexpr int margin = 24, gap = 10, barWidth = 18, barLabels = 76;
constexpr int maxPanels = 60, panelsPerLine = 10;

/// One function at one output latitude: column -> value, largest magnitude 1.
using Footprint = std::unordered_map<int64_t, double>;

class FilterPlot {
public:
  FilterPlot(const SphereFilter &filter, const PsiCoo &psi)
      : filter(filter), psi(psi), coarse(computeNodes(filter.coarse())),
        fine(computeNodes(filter.fine())),
        numShown(std::min<int64_t>(psi.numBasis, maxPanels)),
        radius(filter.effectiveCutoff()) {
    numLines = static_cast<int>((numShown + panelsPerLine - 1) / panelsPerLine);
    perLine = static_cast<int>((numShown + numLines - 1) / numLines);
    panelSize = std::min(230, std::max(96, 1150 / perLine - gap));
  }

  Image draw() {
    int panelsWidth = perLine * (panelSize + gap) - gap;
    int width = std::max(960, panelsWidth);
    int blockHeight = 34 + numLines * (panelSize + gap + 18);
    std::vector<int64_t> rows = panelRows();
    auto numBlocks = static_cast<int>(rows.size());
    // Blocks of few functions stand side by side.
    bool beside = numBlocks * (panelsWidth + 3 * gap) <= width;
    int blockStep = width / numBlocks, mapHeight = width / 2, top = 86;
    int y = top + (beside ? 1 : numBlocks) * blockHeight;
    Image image(2 * margin + width + gap + barWidth + barLabels,
                y + 44 + mapHeight + margin);
    drawHeader(image);
    for (int j = 0; j < numBlocks; ++j)
      drawBlock(image, margin + (beside ? j * blockStep : 0),
                top + (beside ? 0 : j * blockHeight), rows[j]);
    drawColorBar(image, margin + width + gap, top + 34, barWidth,
                 std::min(260, y - top - 60), ColorScale());
    drawMap(image, y, width, mapHeight);
    return image;
  }

private:
  void drawHeader(Image &image) const {
    std::string shape;
    for (int64_t value : filter.shape)
      shape += (shape.empty() ? "" : ", ") + std::to_string(value);
    char cutoff[32];
    std::snprintf(cutoff, sizeof(cutoff), "%.4g", radius * 180 / M_PI);
    std::string title = std::string(nameOf(filter.basis)) + " [" + shape +
                        "], " + std::to_string(psi.numBasis) +
                        (psi.numBasis == 1 ? " function" : " functions") +
                        ", cutoff " + cutoff + "\xc2\xb0, norm " +
                        std::string(nameOf(filter.norm));
    drawText(image, margin, 20, title, ink);
    drawText(image, margin, 44, toString(filter), faint, 1);
    drawText(
        image, margin, 58,
        "psi without its quadrature weights, as seen from above a point of "
        "the given latitude (north up, east right); each panel scaled to "
        "a largest magnitude of 1",
        faint, 1);
  }

  int64_t rowNearest(double latitude) const {
    double theta = (90 - latitude) * M_PI / 180;
    int64_t best = 0;
    for (size_t t = 0; t < coarse.colatitudes.size(); ++t)
      if (std::abs(coarse.colatitudes[t] - theta) <
          std::abs(coarse.colatitudes[best] - theta))
        best = static_cast<int64_t>(t);
    return best;
  }

  /// The northernmost row, one in the middle latitudes and one at the equator.
  std::vector<int64_t> panelRows() const {
    std::vector<int64_t> rows{rowNearest(90), rowNearest(50), rowNearest(0)};
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
  }

  Footprint footprint(int64_t k, int64_t row) const {
    Footprint result;
    int64_t nlon = filter.fine().nlon;
    auto first = std::lower_bound(psi.row.begin(), psi.row.end(), row);
    double largest = 0;
    for (auto e = first - psi.row.begin(); e < psi.size() && psi.row[e] == row;
         ++e) {
      if (psi.k[e] != k)
        continue;
      // When transposed the weight is that of the row, the same everywhere.
      double weight = filter.transpose ? 1 : fine.weights[psi.col[e] / nlon];
      double value = weight > 0 ? psi.values[e] / weight : psi.values[e];
      result[psi.col[e]] = value;
      largest = std::max(largest, std::abs(value));
    }
    if (largest > 0)
      for (auto &entry : result)
        entry.second /= largest;
    return result;
  }

  static std::string latitudeLabel(double colatitude) {
    double latitude = 90 - colatitude * 180 / M_PI;
    char text[32];
    std::snprintf(text, sizeof(text), "%.1f\xc2\xb0%s", std::abs(latitude),
                  std::abs(latitude) < 0.05 ? ""
                  : latitude > 0            ? "N"
                                            : "S");
    return text;
  }

  void drawBlock(Image &image, int left, int y, int64_t row) const {
    std::string label = "latitude " + latitudeLabel(coarse.colatitudes[row]);
    if (filter.transpose)
      label += " of the coarse grid";
    if (numShown < psi.numBasis)
      label += ", first " + std::to_string(numShown) + " functions";
    drawText(image, left, y + 8, label, ink);
    for (int64_t k = 0; k < numShown; ++k) {
      int line = static_cast<int>(k / perLine);
      int x = left + static_cast<int>(k % perLine) * (panelSize + gap);
      int panelY = y + 34 + line * (panelSize + gap + 18);
      drawPanel(image, x, panelY, row, footprint(k, row));
      drawText(image, x + panelSize / 2, panelY + panelSize + 4,
               "k=" + std::to_string(k), faint, 1, Align::center);
    }
  }

  /// Each pixel shows the grid point nearest to it, so that the sampling of the
  /// function can be seen.
  void drawPanel(Image &image, int x, int y, int64_t row,
                 const Footprint &values) const {
    double theta = coarse.colatitudes[row];
    double sine = std::sin(theta), cosine = std::cos(theta);
    double reach = 1.06 * radius;
    ColorScale scale;
    parallelFor(panelSize, 4, [&](int64_t line) {
      for (int column = 0; column < panelSize; ++column) {
        double east = ((column + 0.5) / panelSize * 2 - 1) * reach;
        double south =
            ((static_cast<double>(line) + 0.5) / panelSize * 2 - 1) * reach;
        double r = std::min(M_PI, std::hypot(east, south));
        double phi = std::atan2(east, south);
        // The frame of the output point, turned back about the y axis.
        double lx = std::sin(r) * std::cos(phi), lz = std::cos(r);
        double px = cosine * lx + sine * lz, pz = cosine * lz - sine * lx;
        double py = std::sin(r) * std::sin(phi);
        auto found = values.find(nearestColumn(
            std::acos(std::min(1.0, std::max(-1.0, pz))), std::atan2(py, px)));
        image.at(x + column, y + static_cast<int>(line)) =
            found == values.end() ? paper : scale.colorOf(found->second);
      }
    });
    drawFrame(image, x, y, panelSize, panelSize, faint);
  }

  int64_t nearestColumn(double colatitude, double longitude) const {
    const std::vector<double> &thetas = fine.colatitudes;
    auto south = std::lower_bound(thetas.begin(), thetas.end(), colatitude);
    if (south == thetas.end() || (south != thetas.begin() &&
                                  colatitude - south[-1] < *south - colatitude))
      --south;
    int64_t nlon = filter.fine().nlon;
    double turn = longitude / (2 * M_PI);
    auto p = static_cast<int64_t>(std::floor(
        (turn - std::floor(turn)) * static_cast<double>(nlon) + 0.5));
    return (south - thetas.begin()) * nlon + p % nlon;
  }

  void drawMap(Image &image, int y, int width, int height) const {
    int64_t k = psi.numBasis > 1 ? 1 : 0;
    drawText(image, margin, y + 14,
             "function k=" + std::to_string(k) +
                 " at several points of the world map",
             ink);
    int64_t nlon = filter.fine().nlon, nlonCoarse = filter.coarse().nlon;
    SphereField field{filter.fine().nlat, nlon, fine.colatitudes, {}};
    field.values.assign(filter.fine().numPoints(), 0.0);
    constexpr double latitudes[] = {80, 55, 30, 0, -30, -55, -80};
    constexpr int count = sizeof(latitudes) / sizeof(double);
    for (int j = 0; j < count; ++j) {
      // Spread over the longitudes by the shift that all rows share.
      int64_t w = nlonCoarse * (2 * j + 1) / (2 * count);
      int64_t shift = w * (nlon / nlonCoarse);
      for (auto [col, value] : footprint(k, rowNearest(latitudes[j]))) {
        int64_t i = col / nlon, p = (col % nlon + shift) % nlon;
        field.values[i * nlon + p] = value;
      }
    }
    drawEquirectangular(image, margin, y + 40, width, height, field,
                        ColorScale());
    for (int degree = 30; degree < 360; degree += 30) {
      drawMapLine(image, margin + width * degree / 360, y + 40, 1, height);
      if (degree < 180)
        drawMapLine(image, margin, y + 40 + height * degree / 180, width, 1);
    }
  }

  static void drawMapLine(Image &image, int x, int y, int width, int height) {
    for (int row = y; row < y + height; ++row)
      for (int column = x; column < x + width; ++column)
        image.at(column, row) = blend(image.at(column, row), ink, 0.18);
  }

  const SphereFilter &filter;
  const PsiCoo &psi;
  GridNodes coarse, fine;
  int64_t numShown;
  double radius;
  int numLines = 1, perLine = 1, panelSize = 0;
};

} // namespace

Image disco::inspect::plotFilter(const SphereFilter &filter,
                                 const PsiCoo &psi) {
  return FilterPlot(filter, psi).draw();
}
