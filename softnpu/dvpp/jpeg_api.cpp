// Functions on JPEG.

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/border.h"
#include "base/text.h"
#include "dvpp/channel.h"
#include "dvpp/jpeg_decoder.h"
#include "dvpp/jpeg_encoder.h"
#include "dvpp/picture.h"
#include "softnpu/softnpu.h"

using softnpu::api;
using softnpu::JpegInfo;
using softnpu::JpegPlane;
using softnpu::JpegPlanes;
using softnpu::Picture;
using softnpu::PixelLayout;
using softnpu::Plane;
using softnpu::require;
using softnpu::Status;
using softnpu::text;

namespace {

constexpr uint64_t kWidthAlignment = 128;
constexpr uint64_t kHeightAlignment = 16;
constexpr uint8_t kNoColor = 128;

// The format in which the picture's planes are stored as they are in the file.
acldvppPixelFormat own_format(acldvppJpegFormat format) {
  switch (format) {
    case ACL_JPEG_CSS_GRAY: return PIXEL_FORMAT_YUV_400;
    case ACL_JPEG_CSS_444: return PIXEL_FORMAT_YUV_SEMIPLANAR_444;
    case ACL_JPEG_CSS_422: return PIXEL_FORMAT_YUV_SEMIPLANAR_422;
    default: return PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  }
}

Status check_output(const PixelLayout& layout) {
  if (layout.channels == 1) return Status::ok();
  return {ACL_ERROR_FEATURE_UNSUPPORTED,
          text("JPEG is not decoded to ", layout.name, ": decode to YUV and call acldvppVpcConvertColorAsync")};
}

// The mean of the samples of `plane` that lie where the output's sample (x, y) does; it covers luma pixels of `widened`
// x `high`.
uint8_t sample(const JpegPlane& plane, int64_t x, int64_t y, int widened, int high) {
  const int64_t left = x * widened / plane.luma_width;
  const int64_t top = y * high / plane.luma_height;
  const int64_t right = std::min<int64_t>(plane.width, left + std::max(1, widened / plane.luma_width));
  const int64_t bottom = std::min<int64_t>(plane.height, top + std::max(1, high / plane.luma_height));
  int sum = 0;
  int count = 0;
  for (int64_t j = std::min(top, plane.height - 1); j < std::max(bottom, top + 1); ++j) {
    const uint8_t* row = plane.samples.data() + static_cast<size_t>(std::min(j, plane.height - 1)) * plane.stride;
    for (int64_t i = std::min(left, plane.width - 1); i < std::max(right, left + 1); ++i) {
      sum += row[std::min(i, plane.width - 1)];
      ++count;
    }
  }
  return static_cast<uint8_t>((sum + count / 2) / count);
}

void store(const JpegPlanes& from, const Picture& to) {
  const JpegPlane& luma = from.planes[0];
  for (int64_t y = 0; y < to.height; ++y) {
    const uint8_t* row = luma.samples.data() + static_cast<size_t>(std::min(y, luma.height - 1)) * luma.stride;
    uint8_t* out = to.planes[0].row(y);
    std::memcpy(out, row, static_cast<size_t>(std::min(to.width, luma.width)));
    if (to.width > luma.width) out[luma.width] = row[luma.width - 1];
  }
  if (to.plane_count() == 1) return;
  const Plane& chroma = to.planes[1];
  const PixelLayout& layout = *to.layout;
  for (int64_t y = 0; y < chroma.height; ++y) {
    uint8_t* out = chroma.row(y);
    for (int64_t x = 0; x < chroma.width; ++x) {
      for (int channel = 0; channel < 2; ++channel) {
        const int which = layout.is_reversed ? 2 - channel : 1 + channel;
        out[2 * x + channel] = from.planes.size() == 1 ? kNoColor
                                                       : sample(from.planes[static_cast<size_t>(which)], x, y,
                                                                layout.chroma_width, layout.chroma_height);
      }
    }
  }
}

// Programs give the picture's sizes, or the even ones around it.
bool fits(int64_t given, uint32_t own) { return given == own || given == own + own % 2; }

Status decode_into(const std::vector<uint8_t>& file, const softnpu::PictureFields& fields) {
  Picture picture;
  SOFTNPU_RETURN_IF_ERROR(softnpu::describe("the output", fields, softnpu::Sides::kAny, &picture));
  JpegPlanes planes;
  SOFTNPU_RETURN_IF_ERROR(softnpu::decode_jpeg(file.data(), file.size(), &planes));
  if (!fits(picture.width, planes.info.width) || !fits(picture.height, planes.info.height)) {
    return {ACL_ERROR_INVALID_PARAM, text("the output is ", picture.width, " x ", picture.height, ", the JPEG ",
                                          planes.info.width, " x ", planes.info.height)};
  }
  store(planes, picture);
  return Status::ok();
}

// A copy of `size` bytes, which may be the device's or the host's.
Status copy_file(const void* data, uint32_t size, std::vector<uint8_t>* out) {
  SOFTNPU_RETURN_IF_ERROR(require(data, "data"));
  if (size == 0) return {ACL_ERROR_INVALID_PARAM, "there are no bytes of a picture"};
  void* kernel = nullptr;
  if (softnpuProbeAddress(data, size, &kernel) != ACL_SUCCESS) {
    return {ACL_ERROR_INVALID_PARAM, text(data, " is not ", size, " bytes of device memory: use acldvppMalloc")};
  }
  const auto* first = static_cast<const uint8_t*>(kernel);
  out->assign(first, first + size);
  return Status::ok();
}

Status encode_into(const softnpu::PictureFields& fields, int quality, void* data, uint32_t capacity, uint32_t* size) {
  Picture picture;
  SOFTNPU_RETURN_IF_ERROR(softnpu::describe("the input", fields, softnpu::Sides::kAny, &picture));
  std::vector<uint8_t> file;
  SOFTNPU_RETURN_IF_ERROR(softnpu::encode_jpeg(picture, quality, &file));
  if (file.size() > capacity) {
    return {ACL_ERROR_INVALID_PARAM, text("the JPEG has ", file.size(), " bytes, the output ", capacity)};
  }
  void* kernel = nullptr;
  if (softnpuProbeAddress(data, capacity, &kernel) != ACL_SUCCESS) {
    return {ACL_ERROR_INVALID_PARAM, text("the output at ", data, " is not ", capacity, " bytes of device memory")};
  }
  std::memcpy(kernel, file.data(), file.size());
  *size = static_cast<uint32_t>(file.size());
  return Status::ok();
}

aclError info_of(const char* function, const void* data, uint32_t size, uint32_t* width, uint32_t* height,
                 int32_t* components, acldvppJpegFormat* format) {
  return api(function, [&] {
    SOFTNPU_RETURN_IF_ERROR(require(width, "width"));
    SOFTNPU_RETURN_IF_ERROR(require(height, "height"));
    SOFTNPU_RETURN_IF_ERROR(require(components, "components"));
    JpegInfo info;
    SOFTNPU_RETURN_IF_ERROR(softnpu::read_jpeg_info(data, size, &info));
    *width = info.width;
    *height = info.height;
    *components = info.components;
    if (format != nullptr) *format = info.format;
    return Status::ok();
  });
}

}  // namespace

aclError acldvppJpegGetImageInfo(const void* data, uint32_t size, uint32_t* width, uint32_t* height,
                                 int32_t* components) {
  return info_of("acldvppJpegGetImageInfo", data, size, width, height, components, nullptr);
}

aclError acldvppJpegGetImageInfoV2(const void* data, uint32_t size, uint32_t* width, uint32_t* height,
                                   int32_t* components, acldvppJpegFormat* format) {
  return info_of("acldvppJpegGetImageInfoV2", data, size, width, height, components, format);
}

aclError acldvppJpegPredictDecSize(const void* data, uint32_t dataSize, acldvppPixelFormat outputPixelFormat,
                                   uint32_t* decSize) {
  return api("acldvppJpegPredictDecSize", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(decSize, "decSize"));
    JpegInfo info;
    SOFTNPU_RETURN_IF_ERROR(softnpu::read_jpeg_info(data, dataSize, &info));
    const auto format = outputPixelFormat == PIXEL_FORMAT_UNKNOWN ? own_format(info.format) : outputPixelFormat;
    const PixelLayout* layout = softnpu::find_layout(format);
    if (layout == nullptr) return softnpu::unknown_format("the output", format);
    SOFTNPU_RETURN_IF_ERROR(check_output(*layout));
    *decSize = static_cast<uint32_t>(softnpu::picture_bytes(*layout, softnpu::align_up(info.width, kWidthAlignment),
                                                            softnpu::align_up(info.height, kHeightAlignment)));
    return Status::ok();
  });
}

// Three bytes a pixel and 4 KiB are more than any quality makes of 4:2:0.
aclError acldvppJpegPredictEncSize(const acldvppPicDesc* inputDesc, const acldvppJpegeConfig* config, uint32_t* size) {
  return api("acldvppJpegPredictEncSize", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(size, "size"));
    std::shared_ptr<acldvppPicDesc> picture;
    SOFTNPU_RETURN_IF_ERROR(softnpu::pictures().find(inputDesc, &picture));
    std::shared_ptr<acldvppJpegeConfig> found;
    SOFTNPU_RETURN_IF_ERROR(softnpu::jpeg_configs().find(config, &found));
    if (picture->width == 0 || picture->height == 0 || picture->width > softnpu::kMaxSide ||
        picture->height > softnpu::kMaxSide) {
      return {ACL_ERROR_INVALID_PARAM, text("the input is ", picture->width, " x ", picture->height, " pixels")};
    }
    *size = static_cast<uint32_t>(softnpu::align_up(picture->width, 16) * softnpu::align_up(picture->height, 16) * 3 +
                                  4096);
    return Status::ok();
  });
}

aclError acldvppJpegDecodeAsync(acldvppChannelDesc* channelDesc, const void* data, uint32_t size,
                                acldvppPicDesc* outputDesc, aclrtStream stream) {
  return api("acldvppJpegDecodeAsync", [&] {
    std::shared_ptr<acldvppChannelDesc> channel;
    SOFTNPU_RETURN_IF_ERROR(softnpu::find_channel(channelDesc, DVPP_CHNMODE_JPEGD, &channel));
    std::shared_ptr<acldvppPicDesc> output;
    SOFTNPU_RETURN_IF_ERROR(softnpu::pictures().find(outputDesc, &output));
    Picture picture;
    const softnpu::PictureFields fields = softnpu::fields_of(*output);
    SOFTNPU_RETURN_IF_ERROR(softnpu::describe("the output", fields, softnpu::Sides::kAny, &picture));
    SOFTNPU_RETURN_IF_ERROR(check_output(*picture.layout));
    SOFTNPU_RETURN_IF_ERROR(require(data, "data"));
    auto work = [data, size, fields] {
      std::vector<uint8_t> file;
      SOFTNPU_RETURN_IF_ERROR(copy_file(data, size, &file));
      return decode_into(file, fields);
    };
    return softnpu::launch_picture_work("acldvppJpegDecodeAsync", stream, std::move(work), std::move(output),
                                        picture.address, picture.bytes);
  });
}

aclError acldvppJpegEncodeAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc, const void* data,
                                uint32_t* size, acldvppJpegeConfig* config, aclrtStream stream) {
  return api("acldvppJpegEncodeAsync", [&] {
    std::shared_ptr<acldvppChannelDesc> channel;
    SOFTNPU_RETURN_IF_ERROR(softnpu::find_channel(channelDesc, DVPP_CHNMODE_JPEGE, &channel));
    std::shared_ptr<acldvppPicDesc> input;
    SOFTNPU_RETURN_IF_ERROR(softnpu::pictures().find(inputDesc, &input));
    std::shared_ptr<acldvppJpegeConfig> found;
    SOFTNPU_RETURN_IF_ERROR(softnpu::jpeg_configs().find(config, &found));
    SOFTNPU_RETURN_IF_ERROR(require(data, "data"));
    SOFTNPU_RETURN_IF_ERROR(require(size, "size"));
    Picture picture;
    const softnpu::PictureFields fields = softnpu::fields_of(*input);
    SOFTNPU_RETURN_IF_ERROR(softnpu::describe("the input", fields, softnpu::Sides::kAny, &picture));
    auto work = [fields, quality = static_cast<int>(found->level), data, capacity = *size, size] {
      return encode_into(fields, quality, const_cast<void*>(data), capacity, size);
    };
    return softnpu::launch_picture_work("acldvppJpegEncodeAsync", stream, std::move(work), std::move(input), data,
                                        *size);
  });
}
