#include "dvpp/picture.h"

#include "base/no_destroy.h"
#include "base/text.h"
#include "softnpu/softnpu.h"

namespace softnpu {
namespace {

constexpr std::array kLayouts = {
    PixelLayout{PIXEL_FORMAT_YUV_400, "YUV_400", 1, 0, 0, false},
    PixelLayout{PIXEL_FORMAT_YUV_SEMIPLANAR_420, "YUV_SEMIPLANAR_420", 1, 2, 2, false},
    PixelLayout{PIXEL_FORMAT_YVU_SEMIPLANAR_420, "YVU_SEMIPLANAR_420", 1, 2, 2, true},
    PixelLayout{PIXEL_FORMAT_YUV_SEMIPLANAR_422, "YUV_SEMIPLANAR_422", 1, 2, 1, false},
    PixelLayout{PIXEL_FORMAT_YVU_SEMIPLANAR_422, "YVU_SEMIPLANAR_422", 1, 2, 1, true},
    PixelLayout{PIXEL_FORMAT_YUV_SEMIPLANAR_444, "YUV_SEMIPLANAR_444", 1, 1, 1, false},
    PixelLayout{PIXEL_FORMAT_YVU_SEMIPLANAR_444, "YVU_SEMIPLANAR_444", 1, 1, 1, true},
    PixelLayout{PIXEL_FORMAT_RGB_888, "RGB_888", 3, 0, 0, false},
    PixelLayout{PIXEL_FORMAT_BGR_888, "BGR_888", 3, 0, 0, true},
    PixelLayout{PIXEL_FORMAT_RGBA_8888, "RGBA_8888", 4, 0, 0, false},
    PixelLayout{PIXEL_FORMAT_BGRA_8888, "BGRA_8888", 4, 0, 0, true},
};

// The bytes of a chroma row for each byte of a luma row: 4:4:4 has two.
uint64_t chroma_rows_factor(const PixelLayout& layout) { return layout.chroma_width == 1 ? 2 : 1; }

Status check_sides(const char* role, const PictureFields& fields, const PixelLayout& layout, Sides sides) {
  if (fields.width == 0 || fields.height == 0 || fields.width > kMaxSide || fields.height > kMaxSide) {
    return {ACL_ERROR_INVALID_PARAM,
            text(role, " is ", fields.width, " x ", fields.height, " pixels: each side is from 1 to ", kMaxSide)};
  }
  const bool is_odd =
      (layout.chroma_width == 2 && fields.width % 2 != 0) || (layout.chroma_height == 2 && fields.height % 2 != 0);
  if (sides == Sides::kEven && is_odd) {
    return {ACL_ERROR_INVALID_PARAM, text(role, " is ", fields.width, " x ", fields.height, " pixels: pictures of ",
                                          layout.name, " have even sizes")};
  }
  return Status::ok();
}

Status check_strides(const char* role, const PictureFields& fields, const PixelLayout& layout) {
  const uint64_t row = uint64_t{fields.width} * static_cast<uint64_t>(layout.channels);
  const uint64_t needed = layout.chroma_width == 2 ? align_up(row, 2) : row;
  if (fields.width_stride < needed || fields.width_stride % kStrideAlignment != 0) {
    return {ACL_ERROR_INVALID_PARAM, text(role, " has the width stride ", fields.width_stride, ": a multiple of ",
                                          kStrideAlignment, " from ", needed, " on is needed")};
  }
  const uint64_t rows = layout.chroma_height == 2 ? align_up(fields.height, 2) : fields.height;
  if (fields.height_stride < rows || fields.height_stride % 2 != 0) {
    return {ACL_ERROR_INVALID_PARAM, text(role, " has the height stride ", fields.height_stride,
                                          ": an even number from ", rows, " on is needed")};
  }
  return Status::ok();
}

}  // namespace

Handles<acldvppPicDesc>& pictures() {
  static NoDestroy<Handles<acldvppPicDesc>> instance("picture's description");
  return instance.get();
}

const PixelLayout* find_layout(acldvppPixelFormat format) {
  for (const PixelLayout& layout : kLayouts) {
    if (layout.format == format) return &layout;
  }
  return nullptr;
}

Status unknown_format(const char* role, acldvppPixelFormat format) {
  std::string known;
  for (const PixelLayout& layout : kLayouts) known += text(known.empty() ? "" : ", ", layout.name);
  return {ACL_ERROR_INVALID_PARAM,
          text(role, " has the format ", static_cast<int>(format), ": implemented are ", known)};
}

PictureFields fields_of(const acldvppPicDesc& desc) {
  return {desc.data, desc.size, desc.format, desc.width, desc.height, desc.width_stride, desc.height_stride};
}

uint64_t picture_bytes(const PixelLayout& layout, uint64_t width_stride, uint64_t height_stride) {
  const uint64_t luma = width_stride * height_stride;
  if (layout.chroma_width == 0) return luma;
  return luma + luma / static_cast<uint64_t>(layout.chroma_height) * chroma_rows_factor(layout);
}

Status describe(const char* role, const PictureFields& fields, Sides sides, Picture* out) {
  const PixelLayout* layout = find_layout(fields.format);
  if (layout == nullptr) return unknown_format(role, fields.format);
  SOFTNPU_RETURN_IF_ERROR(check_sides(role, fields, *layout, sides));
  SOFTNPU_RETURN_IF_ERROR(check_strides(role, fields, *layout));
  const uint64_t bytes = picture_bytes(*layout, fields.width_stride, fields.height_stride);
  if (fields.size < bytes) {
    return {ACL_ERROR_INVALID_PARAM, text(role, " has ", fields.size, " bytes, where ", bytes, " are needed")};
  }
  if (reinterpret_cast<uintptr_t>(fields.data) % kStrideAlignment != 0) {
    return {ACL_ERROR_INVALID_PARAM, text(role, " is at ", fields.data, ", which is no multiple of ", kStrideAlignment,
                                          ": allocate it with acldvppMalloc")};
  }
  void* kernel = nullptr;
  if (softnpuProbeAddress(fields.data, bytes, &kernel) != ACL_SUCCESS) {
    return {ACL_ERROR_INVALID_PARAM,
            text(role, " at ", fields.data, " is not ", bytes, " bytes of device memory: use acldvppMalloc")};
  }
  auto* first = static_cast<uint8_t*>(kernel);
  *out = Picture{layout, fields.width, fields.height, {}, fields.data, bytes};
  out->planes[0] = {first, fields.width_stride, out->width, out->height, layout->channels};
  if (layout->chroma_width != 0) {
    out->planes[1] = {first + size_t{fields.width_stride} * fields.height_stride,
                      fields.width_stride * chroma_rows_factor(*layout),
                      (out->width + layout->chroma_width - 1) / layout->chroma_width,
                      (out->height + layout->chroma_height - 1) / layout->chroma_height, 2};
  }
  return Status::ok();
}

}  // namespace softnpu
