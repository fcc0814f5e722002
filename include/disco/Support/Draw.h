//===- Draw.h - text, lines and areas in pictures ---------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_SUPPORT_DRAW_H
#define DISCO_SUPPORT_DRAW_H

#include "disco/Support/Png.h"

#include <string_view>

namespace disco {

/// Where a text stands relative to its anchor.
enum class Align { left, center, right };

/// Height in pixels of a line of text at scale 1, without spacing.
constexpr int textHeight = 7;

/// Width in pixels of a text.
int textWidth(std::string_view text, int scale);

/// Draws printable ASCII and the degree sign (UTF-8) in a fixed 5x7 font of
/// `scale` pixels a dot. `y` is the top of the letters.
void drawText(Image &image, int x, int y, std::string_view text, Color color,
              int scale = 2, Align align = Align::left);

/// Fills the pixels [x, x + width) x [y, y + height), clipped.
void fillRect(Image &image, int x, int y, int width, int height, Color color);

/// The frame one pixel outside of [x, x + width) x [y, y + height), clipped.
void drawFrame(Image &image, int x, int y, int width, int height, Color color);

/// `alpha` of b over a, alpha in [0, 1].
Color blend(Color a, Color b, double alpha);

} // namespace disco

#endif // DISCO_SUPPORT_DRAW_H
