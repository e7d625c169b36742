#pragma once
// JPEG: what a file says of its picture, and its planes as they are stored, without conversion of colors.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/ops/acl_dvpp.h"
#include "base/status.h"

namespace softnpu {

struct JpegInfo {
  uint32_t width = 0;
  uint32_t height = 0;
  int components = 0;
  acldvppJpegFormat format = ACL_JPEG_CSS_UNKNOWN;
};

// One component; rows are `stride` bytes apart, and what is beyond its size is padding.
struct JpegPlane {
  std::vector<uint8_t> samples;
  size_t stride = 0;
  int64_t width = 0;
  int64_t height = 0;
  int luma_width = 1;  // luma pixels per sample
  int luma_height = 1;
};

struct JpegPlanes {
  JpegInfo info;
  std::vector<JpegPlane> planes;  // Y, or Y, U, V
};

Status read_jpeg_info(const void* data, size_t size, JpegInfo* out);
// Fails for damaged files too: of what is missing nothing is made up.
Status decode_jpeg(const void* data, size_t size, JpegPlanes* out);

}  // namespace softnpu
