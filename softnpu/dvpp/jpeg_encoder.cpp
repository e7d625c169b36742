#include "dvpp/jpeg_encoder.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/text.h"
#include "dvpp/jpeg_errors.h"

namespace softnpu {
namespace {

constexpr size_t kMcu = 2 * DCTSIZE;  // luma pixels of an MCU of 4:2:0 on each side

struct Component {
  std::vector<uint8_t> samples;
  size_t stride = 0;
};

// Channel `channel` of the plane, its last column and row repeated up to multiples of `multiple`.
Component padded(const Plane& plane, int channel, size_t multiple) {
  Component out;
  out.stride = align_up(static_cast<uint64_t>(plane.width), multiple);
  const size_t rows = align_up(static_cast<uint64_t>(plane.height), multiple);
  out.samples.resize(out.stride * rows);
  for (size_t y = 0; y < rows; ++y) {
    const uint8_t* from = plane.row(std::min(static_cast<int64_t>(y), plane.height - 1));
    uint8_t* to = out.samples.data() + y * out.stride;
    for (size_t x = 0; x < out.stride; ++x) {
      to[x] = from[std::min(static_cast<int64_t>(x), plane.width - 1) * plane.channels + channel];
    }
  }
  return out;
}

class Encoder {
 public:
  Encoder() { info_.err = errors_.set_up(); }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() {
    jpeg_destroy_compress(&info_);
    std::free(bytes_);  // NOLINT(cppcoreguidelines-no-malloc): libjpeg allocated it
  }

  Status encode(const std::vector<Component>& parts, const Picture& picture, int quality, std::vector<uint8_t>* out) {
    if (!try_encode(parts.data(), static_cast<int>(parts.size()), static_cast<JDIMENSION>(picture.width),
                    static_cast<JDIMENSION>(picture.height), quality)) {
      return {ACL_ERROR_FAILURE, text("the picture cannot be encoded: ", errors_.message)};
    }
    out->assign(bytes_, bytes_ + size_);
    return Status::ok();
  }

 private:
  // libjpeg leaves it by longjmp: no objects with destructors.
  bool try_encode(const Component* parts, int count, JDIMENSION width, JDIMENSION height, int quality) {
    JSAMPROW rows[3][kMcu];
    JSAMPARRAY arrays[3] = {rows[0], rows[1], rows[2]};
    if (setjmp(errors_.jump) != 0) return false;  // NOLINT(cert-err52-cpp)
    jpeg_create_compress(&info_);
    jpeg_mem_dest(&info_, &bytes_, &size_);
    info_.image_width = width;
    info_.image_height = height;
    info_.input_components = count;
    info_.in_color_space = count == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, quality, TRUE);
    info_.raw_data_in = TRUE;
    info_.dct_method = JDCT_ISLOW;
    const int luma = count == 1 ? 1 : 2;
    info_.comp_info[0].h_samp_factor = luma;
    info_.comp_info[0].v_samp_factor = luma;
    jpeg_start_compress(&info_, TRUE);
    const auto lines = static_cast<JDIMENSION>(luma * DCTSIZE);
    for (JDIMENSION y = 0; y < height; y += lines) {
      for (int i = 0; i < count; ++i) {
        const size_t in_mcu = i == 0 ? lines : DCTSIZE;
        for (size_t row = 0; row < in_mcu; ++row) {
          const size_t at = y / lines * in_mcu + row;
          rows[i][row] = const_cast<JSAMPROW>(parts[i].samples.data() + at * parts[i].stride);
        }
      }
      (void)jpeg_write_raw_data(&info_, arrays, lines);
    }
    jpeg_finish_compress(&info_);
    return true;
  }

  JpegErrors errors_;
  jpeg_compress_struct info_{};
  unsigned char* bytes_ = nullptr;
  unsigned long size_ = 0;  // NOLINT(google-runtime-int): libjpeg's type
};

}  // namespace

Status encode_jpeg(const Picture& picture, int quality, std::vector<uint8_t>* out) {
  const PixelLayout& layout = *picture.layout;
  const bool is_gray = layout.channels == 1 && layout.chroma_width == 0;
  if (!is_gray && !(layout.chroma_width == 2 && layout.chroma_height == 2)) {
    return {ACL_ERROR_FEATURE_UNSUPPORTED,
            text("pictures of ", layout.name, " are not encoded: convert them to YUV_SEMIPLANAR_420 first")};
  }
  std::vector<Component> parts;
  parts.push_back(padded(picture.planes[0], 0, is_gray ? DCTSIZE : kMcu));
  if (!is_gray) {
    for (const int channel : {layout.is_reversed ? 1 : 0, layout.is_reversed ? 0 : 1}) {
      parts.push_back(padded(picture.planes[1], channel, DCTSIZE));
    }
  }
  Encoder encoder;
  return encoder.encode(parts, picture, quality, out);
}

}  // namespace softnpu
