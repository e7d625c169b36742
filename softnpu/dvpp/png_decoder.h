#pragma once
// PNG: what a file says of its picture, and its pixels as RGB or RGBA.

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "dvpp/picture.h"

namespace softnpu {

struct PngInfo {
  uint32_t width = 0;
  uint32_t height = 0;
  int components = 0;  // 1 gray, 2 gray with alpha, 3 RGB, 4 RGBA; a palette counts as 3, with transparency as 4
};

Status read_png_info(const void* data, size_t size, PngInfo* out);
// Decodes to the picture, whose sizes are the file's: samples of 8 bits (of 16 the upper half), without gamma.
Status decode_png(const void* data, size_t size, const Picture& out);

}  // namespace softnpu
