#pragma once
// Pictures in device memory: what a description makes of it, plane by plane.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "acl/ops/acl_dvpp.h"
#include "base/handles.h"
#include "base/status.h"

struct acldvppPicDesc {
  void* data = nullptr;
  uint32_t size = 0;
  acldvppPixelFormat format = PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t width_stride = 0;
  uint32_t height_stride = 0;
  std::atomic<uint32_t> ret_code{0};  // of the last work that wrote the picture
};

namespace softnpu {

Handles<acldvppPicDesc>& pictures();

// How elements of a format are stored.
struct PixelLayout {
  acldvppPixelFormat format;
  const char* name;
  int channels;      // of the first plane: Y, or RGB with or without alpha
  int chroma_width;  // luma pixels per chroma sample; 0: no second plane
  int chroma_height;
  bool is_reversed;  // VU in place of UV, BGR in place of RGB
};

// The row of a format; null if pictures of it are not implemented.
const PixelLayout* find_layout(acldvppPixelFormat format);
// An error that names the format and those that are implemented.
Status unknown_format(const char* role, acldvppPixelFormat format);

// Elements of `channels` bytes; rows begin `stride` bytes apart.
struct Plane {
  uint8_t* data = nullptr;
  size_t stride = 0;
  int64_t width = 0;
  int64_t height = 0;
  int channels = 1;

  uint8_t* row(int64_t y) const { return data + static_cast<size_t>(y) * stride; }
};

struct Picture {
  const PixelLayout* layout = nullptr;
  int64_t width = 0;
  int64_t height = 0;
  std::array<Plane, 2> planes;  // the second is chroma, if the layout has it
  const void* address = nullptr;
  size_t bytes = 0;

  size_t plane_count() const { return layout->chroma_width == 0 ? 1 : 2; }
};

// A copy of a description's fields that a task keeps.
struct PictureFields {
  void* data;
  uint32_t size;
  acldvppPixelFormat format;
  uint32_t width, height, width_stride, height_stride;
};
PictureFields fields_of(const acldvppPicDesc& desc);

enum class Sides { kAny, kEven };  // whether pictures of subsampled chroma may have odd sizes

constexpr uint32_t kMaxSide = 16384;
constexpr size_t kStrideAlignment = 16;

// Checks everything of the description, `role` in errors: format, sizes, strides, size, address. The memory must be
// device memory that is live now.
Status describe(const char* role, const PictureFields& fields, Sides sides, Picture* out);

// Bytes of a picture with these strides.
uint64_t picture_bytes(const PixelLayout& layout, uint64_t width_stride, uint64_t height_stride);

constexpr uint64_t align_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace softnpu
