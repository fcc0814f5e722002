//===- picture-grid.cpp - several fields in one picture -------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   picture-grid OUT.png COLUMNS PANEL...
//   PANEL: map|globe X.npy CHANNEL LOW,HIGH|auto TITLE
//
// Draws channels of [1, C, nlat, nlon] arrays on equiangular grids side by
// side, as `disco-inspect field` draws one, at half its size.
//
//===----------------------------------------------------------------------===//

#include "disco/Filter/Grid.h"
#include "disco/Support/Npy.h"
#include "disco/Support/Plot.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <numeric>

using namespace disco;

namespace {

template <typename T> Result<T> parseNumber(std::string_view text) {
  T value{};
  const auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size())
    return Error{"expected a number, but got '" + std::string(text) + "'"};
  return value;
}

Result<SphereField> readField(const std::string &path, int64_t channel) {
  Result<Array> array = readNpy(path);
  if (!array)
    return array.error();
  const std::vector<int64_t> &shape = array->shape;
  if (shape.size() != 4 || shape[0] != 1 || channel < 0 || channel >= shape[1])
    return Error{"expected '" + path + "' to be 1xCxNLATxNLON with C above " +
                 std::to_string(channel) + ", but got " +
                 describe(array->dtype, shape)};
  const filter::Grid grid = {filter::GridKind::equiangular, shape[2], shape[3]};
  if (Status status = filter::verify(grid); !status)
    return status.error();
  SphereField field;
  field.nlat = grid.nlat;
  field.nlon = grid.nlon;
  field.colatitudes = filter::computeNodes(grid).colatitudes;
  for (int64_t i = 0; i < grid.numPoints(); ++i)
    field.values.push_back(array->at(channel * grid.numPoints() + i));
  return field;
}

/// The means of squares of 2 x 2 pixels.
Image halved(const Image &image) {
  Image half(image.width / 2, image.height / 2);
  for (int y = 0; y < half.height; ++y)
    for (int x = 0; x < half.width; ++x) {
      int red = 2, green = 2, blue = 2;
      for (int i = 0; i < 4; ++i) {
        const Color &color = image.at(2 * x + i % 2, 2 * y + i / 2);
        red += color.red;
        green += color.green;
        blue += color.blue;
      }
      half.at(x, y) = {static_cast<uint8_t>(red / 4),
                       static_cast<uint8_t>(green / 4),
                       static_cast<uint8_t>(blue / 4)};
    }
  return half;
}

/// `words` are the five of a panel.
Result<Image> drawPanel(char **words) {
  PlotOptions options;
  const std::string projection = words[0], range = words[3];
  if (projection != "map" && projection != "globe")
    return Error{"expected map or globe, but got '" + projection + "'"};
  if (projection == "globe")
    options.projection = Projection::orthographic;
  Result<int64_t> channel = parseNumber<int64_t>(words[2]);
  if (!channel)
    return channel.error();
  if (range != "auto") {
    const size_t comma = range.find(',');
    if (comma == std::string::npos)
      return Error{"expected LOW,HIGH or auto, but got '" + range + "'"};
    const std::string_view text = range;
    Result<double> low = parseNumber<double>(text.substr(0, comma));
    if (!low)
      return low.error();
    Result<double> high = parseNumber<double>(text.substr(comma + 1));
    if (!high)
      return high.error();
    options.range = {*low, *high};
  }
  options.title = words[4];
  Result<SphereField> field = readField(words[1], *channel);
  if (!field)
    return field.error();
  return halved(plotField(*field, options));
}

Status run(int argc, char **argv) {
  constexpr int wordsPerPanel = 5, gap = 6;
  if (argc < 3 + wordsPerPanel || (argc - 3) % wordsPerPanel != 0)
    return Error{"usage: picture-grid OUT.png COLUMNS "
                 "{map|globe X.npy CHANNEL LOW,HIGH|auto TITLE}..."};
  Result<int> columns = parseNumber<int>(argv[2]);
  if (!columns)
    return columns.error();
  if (*columns < 1)
    return Error{"expected the number of columns to be positive, but got " +
                 std::to_string(*columns)};

  std::vector<Image> panels;
  for (int word = 3; word < argc; word += wordsPerPanel) {
    Result<Image> panel = drawPanel(argv + word);
    if (!panel)
      return panel.error();
    panels.push_back(std::move(*panel));
  }
  // Panel i is in row i / columns; a column is as wide as its widest panel.
  const int numPanels = static_cast<int>(panels.size());
  std::vector<int> left(std::min(*columns, numPanels) + 1);
  std::vector<int> top((numPanels - 1) / *columns + 2);
  for (int i = 0; i < numPanels; ++i) {
    int &width = left[i % *columns + 1], &height = top[i / *columns + 1];
    width = std::max(width, panels[i].width + gap);
    height = std::max(height, panels[i].height + gap);
  }
  std::partial_sum(left.begin(), left.end(), left.begin());
  std::partial_sum(top.begin(), top.end(), top.begin());
  Image whole(left.back(), top.back());
  for (int i = 0; i < numPanels; ++i)
    for (int y = 0; y < panels[i].height; ++y)
      for (int x = 0; x < panels[i].width; ++x)
        whole.at(left[i % *columns] + x, top[i / *columns] + y) =
            panels[i].at(x, y);
  return writePng(argv[1], whole);
}

} // namespace

int main(int argc, char **argv) {
  const Status status = run(argc, argv);
  if (!status)
    std::fprintf(stderr, "picture-grid: %s\n", status.message().c_str());
  return status ? 0 : 1;
}
