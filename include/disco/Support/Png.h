//===- Png.h - writing .png pictures ----------------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_SUPPORT_PNG_H
#define DISCO_SUPPORT_PNG_H

#include "disco/Support/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace disco {

/// One pixel of 8 bits a channel, sRGB.
struct Color {
  uint8_t red = 0, green = 0, blue = 0;
};

/// A picture, row by row from the top left.
struct Image {
  int width = 0, height = 0;
  std::vector<Color> pixels;

  Image(int width, int height, Color background = {255, 255, 255})
      : width(width), height(height),
        pixels(static_cast<size_t>(width) * height, background) {}

  bool contains(int x, int y) const {
    return x >= 0 && y >= 0 && x < width && y < height;
  }
  Color &at(int x, int y) { return pixels[static_cast<size_t>(y) * width + x]; }
  const Color &at(int x, int y) const {
    return pixels[static_cast<size_t>(y) * width + x];
  }
};

/// Writes to a temporary file beside `path` and renames it, so that a failure
/// leaves nothing half written.
Status writePng(const std::string &path, const Image &image);

} // namespace disco

#endif // DISCO_SUPPORT_PNG_H
