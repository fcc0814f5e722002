//===- Png.cpp - writing .png pictures ------------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Support/Png.h"

#include "disco/Support/AtomicFile.h"

#include <csetjmp>
#include <png.h>

using namespace disco;

namespace {

/// What libpng hands back to its callbacks.
struct PngOutput {
  std::string bytes;
  std::string failure;
};

extern "C" {

static void appendBytes(png_structp png, png_bytep data, png_size_t size) {
  auto *output = static_cast<PngOutput *>(png_get_io_ptr(png));
  output->bytes.append(reinterpret_cast<const char *>(data), size);
}

static void flushNothing(png_structp) {}

static void recordError(png_structp png, png_const_charp message) {
  static_cast<PngOutput *>(png_get_error_ptr(png))->failure = message;
  longjmp(png_jmpbuf(png), 1);
}

static void ignoreWarning(png_structp, png_const_charp) {}
}

} // namespace

/// Encodes into `output`; false on failure. Holds no object with a destructor,
/// as libpng leaves it by longjmp.
static bool encode(png_structp png, png_infop info, const Image &image) {
  if (setjmp(png_jmpbuf(png)))
    return false;
  png_set_IHDR(png, info, image.width, image.height, 8, PNG_COLOR_TYPE_RGB,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  for (int y = 0; y < image.height; ++y)
    png_write_row(png, reinterpret_cast<png_const_bytep>(&image.at(0, y)));
  png_write_end(png, nullptr);
  return true;
}

Status disco::writePng(const std::string &path, const Image &image) {
  static_assert(sizeof(Color) == 3, "rows are passed to libpng as they are");
  if (image.width < 1 || image.height < 1)
    return Error{"expected the picture to have pixels, but got " +
                 std::to_string(image.width) + "x" +
                 std::to_string(image.height)};
  PngOutput output;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &output,
                                            recordError, ignoreWarning);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  bool encoded = false;
  if (info) {
    png_set_write_fn(png, &output, appendBytes, flushNothing);
    encoded = encode(png, info, image);
  }
  png_destroy_write_struct(&png, &info);
  if (!encoded)
    return Error{"cannot encode '" + path + "': " +
                 (output.failure.empty() ? "no memory" : output.failure)};

  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file)
    return file.error();
  if (Status status = file->write(output.bytes); !status)
    return status;
  return file->commit();
}
