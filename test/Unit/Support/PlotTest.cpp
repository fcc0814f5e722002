//===- PlotTest.cpp - pictures of fields on the sphere --------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Support/Plot.h"

#include <cmath>
#include <gtest/gtest.h>
#include <png.h>
#include <unistd.h>

using namespace disco;

namespace {

int sumOf(Color color) { return color.red + color.green + color.blue; }

bool isEqual(Color a, Color b) {
  return a.red == b.red && a.green == b.green && a.blue == b.blue;
}

/// 3 x 4 points, both poles among them.
SphereField smallField() {
  return {3, 4, {0, M_PI / 2, M_PI}, {1, 1, 1, 1, 0, 10, 20, 30, 2, 2, 2, 2}};
}

TEST(PlotTest, ScaleOfValuesOnBothSidesOfZeroIsSymmetric) {
  ColorScale scale = ColorScale::fitTo({-1, 0.5, 3, NAN, HUGE_VAL});
  EXPECT_TRUE(scale.diverging);
  EXPECT_EQ(scale.low, -3);
  EXPECT_EQ(scale.high, 3);
  EXPECT_GT(sumOf(scale.colorOf(0)), 700);
}

TEST(PlotTest, ScaleOfOtherValuesSpansThem) {
  ColorScale scale = ColorScale::fitTo({8000, 9000, 10500});
  EXPECT_FALSE(scale.diverging);
  EXPECT_EQ(scale.low, 8000);
  EXPECT_EQ(scale.high, 10500);
  // Lighter is more.
  int before = -1;
  for (double value = 8000; value <= 10500; value += 250) {
    int light = sumOf(scale.colorOf(value));
    EXPECT_GT(light, before);
    before = light;
  }
}

TEST(PlotTest, ScaleOfConstantOrNoValuesHasSomeWidth) {
  for (const std::vector<double> &values :
       {std::vector<double>{5, 5}, std::vector<double>{0},
        std::vector<double>{-2}, std::vector<double>{NAN},
        std::vector<double>{}}) {
    ColorScale scale = ColorScale::fitTo(values);
    EXPECT_LT(scale.low, scale.high);
    EXPECT_FALSE(scale.ticks(5).empty());
  }
}

TEST(PlotTest, ValuesOutsideTheScaleGetTheEndsAndNanAColourOfItsOwn) {
  ColorScale scale;
  EXPECT_TRUE(isEqual(scale.colorOf(-7), scale.colorOf(-1)));
  EXPECT_TRUE(isEqual(scale.colorOf(1e300), scale.colorOf(1)));
  EXPECT_TRUE(isEqual(scale.colorOf(NAN), scale.colorOf(HUGE_VAL)));
  for (double value = -1; value <= 1; value += 0.01)
    EXPECT_FALSE(isEqual(scale.colorOf(NAN), scale.colorOf(value)));
}

TEST(PlotTest, TicksAreRoundAndInside) {
  ColorScale scale;
  scale.low = -1;
  scale.high = 1;
  EXPECT_EQ(scale.ticks(4), (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
  scale.low = 8042;
  scale.high = 10560;
  EXPECT_EQ(scale.ticks(5),
            (std::vector<double>{8500, 9000, 9500, 10000, 10500}));
  // Ticks that the values cannot resolve do not go on for ever.
  scale.low = 1e17;
  scale.high = std::nextafter(1e17, 2e17);
  EXPECT_LT(scale.ticks(5).size(), 40u);
  scale.low = -HUGE_VAL;
  EXPECT_EQ(scale.ticks(5).size(), 2u);
}

TEST(PlotTest, LabelsAreShort) {
  EXPECT_EQ(tickLabel(0.1 + 0.2), "0.3");
  EXPECT_EQ(tickLabel(10000), "10000");
  EXPECT_EQ(tickLabel(-1e-05), "-1e-05");
  EXPECT_EQ(tickLabel(-0.0), "0");
}

TEST(PlotTest, SamplesInterpolateAndWrapAround) {
  SphereField field = smallField();
  EXPECT_DOUBLE_EQ(field.sample(M_PI / 2, M_PI / 2), 10);
  EXPECT_DOUBLE_EQ(field.sample(M_PI / 2, M_PI / 4), 5);
  // Between the last longitude and the first one.
  EXPECT_NEAR(field.sample(M_PI / 2, 7 * M_PI / 4), 15, 1e-12);
  EXPECT_NEAR(field.sample(M_PI / 2, -M_PI / 4), 15, 1e-12);
  EXPECT_NEAR(field.sample(M_PI / 4, M_PI / 2), 5.5, 1e-12);
  EXPECT_DOUBLE_EQ(field.sample(0, 1), 1);
  EXPECT_DOUBLE_EQ(field.sample(M_PI, 1), 2);
}

TEST(PlotTest, SamplesBeyondTheOutermostRowsAreConstant) {
  SphereField field{2, 1, {1, 2}, {3, 4}};
  EXPECT_EQ(field.sample(0.2, 1), 3);
  EXPECT_EQ(field.sample(3, 1), 4);
  SphereField one{1, 1, {M_PI / 2}, {5}};
  EXPECT_EQ(one.sample(0, 0), 5);
  EXPECT_EQ(one.sample(M_PI, 6), 5);
}

TEST(PlotTest, ValuesThatAreNotFiniteDoNotSpreadFromPointsOfNoWeight) {
  SphereField field = smallField();
  field.values[6] = NAN;
  EXPECT_DOUBLE_EQ(field.sample(M_PI / 2, M_PI / 2), 10);
  EXPECT_TRUE(std::isnan(field.sample(M_PI / 2, 3)));
}

TEST(PlotTest, TextHasFixedWidthAndIsClipped) {
  EXPECT_EQ(textWidth("", 2), 0);
  EXPECT_EQ(textWidth("a", 2), 10);
  EXPECT_EQ(textWidth("30\xc2\xb0N", 1), 4 * 6 - 1);
  Image image(10, 10);
  drawText(image, -20, -5, "outside", {0, 0, 0});
  drawText(image, 7, 8, "outside\xff\x01", {0, 0, 0});
  Image letter(5, 7), other(5, 7);
  drawText(letter, 0, 0, "E", {0, 0, 0}, 1);
  drawText(other, 0, 0, "F", {0, 0, 0}, 1);
  int dark = 0, differing = 0;
  for (size_t i = 0; i < letter.pixels.size(); ++i) {
    dark += letter.pixels[i].red == 0;
    differing += !isEqual(letter.pixels[i], other.pixels[i]);
  }
  EXPECT_GT(dark, 10);
  EXPECT_EQ(differing, 4);
}

TEST(PlotTest, MapHasNorthAtTheTopAndLongitudeZeroAtTheLeft) {
  Image image(8, 6);
  ColorScale scale = ColorScale::fitTo({0, 30});
  drawEquirectangular(image, 0, 0, 8, 6, smallField(), scale);
  SphereField field = smallField();
  for (int y = 1; y < 5; ++y)
    for (int x = 1; x < 7; ++x)
      EXPECT_TRUE(isEqual(image.at(x, y),
                          scale.colorOf(field.sample(
                              M_PI * (y + 0.5) / 6, 2 * M_PI * (x + 0.5) / 8))))
          << x << " " << y;
}

TEST(PlotTest, GlobeShowsItsCentreAndLeavesTheRestAlone) {
  Image image(101, 101, {1, 2, 3});
  SphereField field{3, 4, {0, M_PI / 2, M_PI}, std::vector<double>(12, 0.0)};
  // The northern hemisphere is positive.
  for (int i = 0; i < 4; ++i)
    field.values[i] = 1;
  ColorScale scale;
  drawOrthographic(image, 50, 50, 40, 10, 40, field, scale);
  Color centre = image.at(52, 52), wanted = scale.colorOf(40.0 / 90);
  EXPECT_NEAR(centre.red, wanted.red, 12);
  EXPECT_NEAR(centre.blue, wanted.blue, 12);
  EXPECT_TRUE(isEqual(image.at(0, 0), {1, 2, 3}));
  EXPECT_TRUE(isEqual(image.at(50, 5), {1, 2, 3}));
  // Redder towards the north.
  EXPECT_LT(image.at(57, 25).blue, image.at(57, 60).blue);
}

TEST(PlotTest, GlobeFarAroundIsTheGlobeReduced) {
  const auto draw = [](double centerLongitude) {
    Image image(41, 41, {1, 2, 3});
    drawOrthographic(image, 20, 20, 18, centerLongitude, 40, smallField(),
                     ColorScale::fitTo({0, 30}));
    std::vector<int> sums;
    for (int y = 0; y < 41; ++y)
      for (int x = 0; x < 41; ++x)
        sums.push_back(sumOf(image.at(x, y)));
    return sums;
  };
  EXPECT_NE(draw(10), draw(100));
  EXPECT_EQ(draw(10), draw(10 + 360e9));
  EXPECT_EQ(draw(std::fmod(1e300, 360)), draw(1e300));
}

TEST(PlotTest, PicturesOfBothProjectionsHaveRoomForTheirParts) {
  PlotOptions options;
  options.title = std::string(500, 'x');
  Image map = plotField(smallField(), options);
  EXPECT_GT(map.width, 1080);
  EXPECT_GT(map.height, 540);
  options.projection = Projection::orthographic;
  options.range = {{5, 6}};
  Image globe = plotField(smallField(), options);
  EXPECT_GT(globe.width, 660);
  // Neither is blank, nor does the title run off the edge.
  for (const Image &image : {map, globe}) {
    int dark = 0;
    for (int y = 0; y < image.height; ++y)
      dark += sumOf(image.at(image.width - 1, y)) < 600;
    EXPECT_EQ(dark, 0);
    dark = 0;
    for (const Color &pixel : image.pixels)
      dark += sumOf(pixel) < 600;
    EXPECT_GT(dark, 10000);
  }
}

TEST(PlotTest, FilesHoldThePixelsThatWereWritten) {
  Image image(3, 2);
  for (int i = 0; i < 6; ++i)
    image.pixels[i] = {static_cast<uint8_t>(10 * i),
                       static_cast<uint8_t>(255 - i),
                       static_cast<uint8_t>(40 * i)};
  std::string path =
      testing::TempDir() + "disco-plot-" + std::to_string(::getpid()) + ".png";
  Status status = writePng(path, image);
  ASSERT_TRUE(status.ok()) << status.message();
  png_image reader{};
  reader.version = PNG_IMAGE_VERSION;
  ASSERT_TRUE(png_image_begin_read_from_file(&reader, path.c_str()));
  reader.format = PNG_FORMAT_RGB;
  ASSERT_EQ(reader.width, 3u);
  ASSERT_EQ(reader.height, 2u);
  Image read(3, 2);
  ASSERT_TRUE(
      png_image_finish_read(&reader, nullptr, read.pixels.data(), 0, nullptr));
  for (size_t i = 0; i < image.pixels.size(); ++i)
    EXPECT_TRUE(isEqual(read.pixels[i], image.pixels[i])) << "pixel " << i;
  std::remove(path.c_str());
}

TEST(PlotTest, PicturesThatCannotBeWrittenAreErrors) {
  EXPECT_EQ(writePng("x.png", Image(0, 4)).message(),
            "expected the picture to have pixels, but got 0x4");
  EXPECT_FALSE(
      writePng(testing::TempDir() + "no/such/folder/x.png", Image(2, 2)).ok());
}

} // namespace
