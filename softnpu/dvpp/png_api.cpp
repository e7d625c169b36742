// Functions on PNG.

#include <memory>
#include <utility>
#include <vector>

#include "base/border.h"
#include "base/text.h"
#include "dvpp/channel.h"
#include "dvpp/picture.h"
#include "dvpp/png_decoder.h"
#include "softnpu/softnpu.h"

using softnpu::api;
using softnpu::Picture;
using softnpu::PixelLayout;
using softnpu::PngInfo;
using softnpu::require;
using softnpu::Status;
using softnpu::text;

namespace {

constexpr uint64_t kWidthAlignment = 128;
constexpr uint64_t kHeightAlignment = 16;

Status check_output(const PixelLayout& layout) {
  if (layout.channels > 1) return Status::ok();
  return {ACL_ERROR_FEATURE_UNSUPPORTED, text("PNG is decoded to RGB, BGR, RGBA or BGRA, not to ", layout.name)};
}

}  // namespace

aclError acldvppPngGetImageInfo(const void* data, uint32_t dataSize, uint32_t* width, uint32_t* height,
                                int32_t* components) {
  return api("acldvppPngGetImageInfo", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(width, "width"));
    SOFTNPU_RETURN_IF_ERROR(require(height, "height"));
    SOFTNPU_RETURN_IF_ERROR(require(components, "components"));
    PngInfo info;
    SOFTNPU_RETURN_IF_ERROR(softnpu::read_png_info(data, dataSize, &info));
    *width = info.width;
    *height = info.height;
    *components = info.components;
    return Status::ok();
  });
}

aclError acldvppPngPredictDecSize(const void* data, uint32_t dataSize, acldvppPixelFormat outputPixelFormat,
                                  uint32_t* decSize) {
  return api("acldvppPngPredictDecSize", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(decSize, "decSize"));
    PngInfo info;
    SOFTNPU_RETURN_IF_ERROR(softnpu::read_png_info(data, dataSize, &info));
    const bool has_alpha = info.components % 2 == 0;
    const auto own = has_alpha ? PIXEL_FORMAT_RGBA_8888 : PIXEL_FORMAT_RGB_888;
    const auto format = outputPixelFormat == PIXEL_FORMAT_UNKNOWN ? own : outputPixelFormat;
    const PixelLayout* layout = softnpu::find_layout(format);
    if (layout == nullptr) return softnpu::unknown_format("the output", format);
    SOFTNPU_RETURN_IF_ERROR(check_output(*layout));
    const uint64_t row = softnpu::align_up(info.width, kWidthAlignment) * static_cast<uint64_t>(layout->channels);
    *decSize =
        static_cast<uint32_t>(softnpu::picture_bytes(*layout, row, softnpu::align_up(info.height, kHeightAlignment)));
    return Status::ok();
  });
}

aclError acldvppPngDecodeAsync(acldvppChannelDesc* channelDesc, const void* data, uint32_t size,
                               acldvppPicDesc* outputDesc, aclrtStream stream) {
  return api("acldvppPngDecodeAsync", [&]() -> Status {
    std::shared_ptr<acldvppChannelDesc> channel;
    SOFTNPU_RETURN_IF_ERROR(softnpu::find_channel(channelDesc, DVPP_CHNMODE_PNGD, &channel));
    std::shared_ptr<acldvppPicDesc> output;
    SOFTNPU_RETURN_IF_ERROR(softnpu::pictures().find(outputDesc, &output));
    SOFTNPU_RETURN_IF_ERROR(require(data, "data"));
    Picture picture;
    const softnpu::PictureFields fields = softnpu::fields_of(*output);
    SOFTNPU_RETURN_IF_ERROR(softnpu::describe("the output", fields, softnpu::Sides::kAny, &picture));
    SOFTNPU_RETURN_IF_ERROR(check_output(*picture.layout));
    auto work = [data, size, fields]() -> Status {
      void* kernel = nullptr;
      if (softnpuProbeAddress(data, size, &kernel) != ACL_SUCCESS) {
        return {ACL_ERROR_INVALID_PARAM, text(data, " is not ", size, " bytes of device memory: use acldvppMalloc")};
      }
      Picture to;
      SOFTNPU_RETURN_IF_ERROR(softnpu::describe("the output", fields, softnpu::Sides::kAny, &to));
      return softnpu::decode_png(kernel, size, to);
    };
    return softnpu::launch_picture_work("acldvppPngDecodeAsync", stream, std::move(work), std::move(output),
                                        picture.address, picture.bytes);
  });
}
