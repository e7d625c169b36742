#include "dvpp/jpeg_decoder.h"

#include <algorithm>

#include "base/text.h"
#include "dvpp/jpeg_errors.h"
#include "dvpp/picture.h"

namespace softnpu {
namespace {

constexpr int kMaxScans = 100;         // of a progressive file: each goes over all coefficients
constexpr int kMaxRows = 4 * DCTSIZE;  // of a component in one row of MCUs

Status failed(const JpegErrors& errors) {
  return {ACL_ERROR_INVALID_PARAM, text("the JPEG cannot be decoded: ", errors.message)};
}

acldvppJpegFormat format_of(const jpeg_decompress_struct& info) {
  if (info.num_components == 1) return ACL_JPEG_CSS_GRAY;
  if (info.num_components != 3) return ACL_JPEG_CSS_UNKNOWN;
  const jpeg_component_info* parts = info.comp_info;
  for (int i = 1; i < 3; ++i) {
    if (parts[i].h_samp_factor != 1 || parts[i].v_samp_factor != 1) return ACL_JPEG_CSS_UNKNOWN;
  }
  const int width = parts[0].h_samp_factor;
  const int height = parts[0].v_samp_factor;
  if (width == 1 && height == 1) return ACL_JPEG_CSS_444;
  if (width == 2 && height == 1) return ACL_JPEG_CSS_422;
  if (width == 2 && height == 2) return ACL_JPEG_CSS_420;
  if (width == 1 && height == 2) return ACL_JPEG_CSS_440;
  if (width == 4 && height == 1) return ACL_JPEG_CSS_411;
  return ACL_JPEG_CSS_UNKNOWN;
}

class Decoder {
 public:
  Decoder() { info_.err = errors_.set_up(); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { jpeg_destroy_decompress(&info_); }

  Status read_header(const void* data, size_t size, JpegInfo* out) {
    if (data == nullptr || size == 0) return {ACL_ERROR_INVALID_PARAM, "there are no bytes of a JPEG"};
    if (!try_header(static_cast<const unsigned char*>(data), size)) return failed(errors_);
    *out = {info_.image_width, info_.image_height, info_.num_components, format_of(info_)};
    if (out->width <= kMaxSide && out->height <= kMaxSide) return Status::ok();
    return {ACL_ERROR_INVALID_PARAM, text("the JPEG has ", out->width, " x ", out->height, " pixels: at most ",
                                          kMaxSide, " on each side are decoded")};
  }

  // After read_header().
  Status decode(JpegPlanes* out) {
    if (out->info.format == ACL_JPEG_CSS_UNKNOWN ||
        (info_.jpeg_color_space != JCS_YCbCr && info_.jpeg_color_space != JCS_GRAYSCALE)) {
      return {ACL_ERROR_FEATURE_UNSUPPORTED,
              "the JPEG's colors are not stored as gray or as YUV of 4:4:4, 4:2:2, 4:2:0, 4:4:0 or 4:1:1"};
    }
    if (!try_start()) return failed(errors_);
    allocate(out);
    return try_decode(out->planes.data()) ? Status::ok() : failed(errors_);
  }

 private:
  // Functions that libjpeg leaves by longjmp: no objects with destructors.
  bool try_header(const unsigned char* data, size_t size) {
    if (setjmp(errors_.jump) != 0) return false;  // NOLINT(cert-err52-cpp)
    jpeg_create_decompress(&info_);
    jpeg_mem_src(&info_, data, size);
    return jpeg_read_header(&info_, TRUE) == JPEG_HEADER_OK;
  }

  bool try_start() {
    if (setjmp(errors_.jump) != 0) return false;  // NOLINT(cert-err52-cpp)
    info_.raw_data_out = TRUE;
    info_.out_color_space = info_.jpeg_color_space;
    info_.do_fancy_upsampling = FALSE;
    info_.dct_method = JDCT_ISLOW;
    progress_.progress_monitor = [](j_common_ptr common) {
      const auto* info = reinterpret_cast<const jpeg_decompress_struct*>(common);
      if (info->input_scan_number > kMaxScans) common->err->error_exit(common);
    };
    info_.progress = &progress_;
    return jpeg_start_decompress(&info_) == TRUE;
  }

  void allocate(JpegPlanes* out) const {
    out->planes.resize(static_cast<size_t>(info_.num_components));
    for (int i = 0; i < info_.num_components; ++i) {
      const jpeg_component_info& part = info_.comp_info[i];
      JpegPlane& plane = out->planes[static_cast<size_t>(i)];
      const auto rows = align_up(part.height_in_blocks, static_cast<uint64_t>(part.v_samp_factor)) * DCTSIZE;
      plane.stride = align_up(part.width_in_blocks, static_cast<uint64_t>(part.h_samp_factor)) * DCTSIZE;
      plane.samples.resize(plane.stride * rows);
      plane.width = part.downsampled_width;
      plane.height = part.downsampled_height;
      plane.luma_width = info_.max_h_samp_factor / part.h_samp_factor;
      plane.luma_height = info_.max_v_samp_factor / part.v_samp_factor;
    }
  }

  bool try_decode(JpegPlane* planes) {
    JSAMPROW rows[3][kMaxRows];
    JSAMPARRAY parts[3] = {rows[0], rows[1], rows[2]};
    if (setjmp(errors_.jump) != 0) return false;  // NOLINT(cert-err52-cpp)
    const auto lines = static_cast<JDIMENSION>(info_.max_v_samp_factor * DCTSIZE);
    while (info_.output_scanline < info_.output_height) {
      const JDIMENSION mcu_row = info_.output_scanline / lines;
      for (int i = 0; i < info_.num_components; ++i) {
        const int count = info_.comp_info[i].v_samp_factor * DCTSIZE;
        for (int row = 0; row < count; ++row) {
          const size_t at = size_t{mcu_row} * static_cast<size_t>(count) + static_cast<size_t>(row);
          rows[i][row] = planes[i].samples.data() + at * planes[i].stride;
        }
      }
      (void)jpeg_read_raw_data(&info_, parts, lines);
    }
    return jpeg_finish_decompress(&info_) == TRUE;
  }

  JpegErrors errors_;
  jpeg_decompress_struct info_{};
  jpeg_progress_mgr progress_{};
};

}  // namespace

Status read_jpeg_info(const void* data, size_t size, JpegInfo* out) {
  Decoder decoder;
  return decoder.read_header(data, size, out);
}

Status decode_jpeg(const void* data, size_t size, JpegPlanes* out) {
  Decoder decoder;
  SOFTNPU_RETURN_IF_ERROR(decoder.read_header(data, size, &out->info));
  return decoder.decode(out);
}

}  // namespace softnpu
