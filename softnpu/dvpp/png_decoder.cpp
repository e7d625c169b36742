#include "dvpp/png_decoder.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <vector>

#include "base/text.h"

namespace softnpu {
namespace {

constexpr png_uint_32 kMaxChunks = 1000;
constexpr png_alloc_size_t kMaxChunkBytes = 8 << 20;  // of a compressed text or profile

struct Source {
  const unsigned char* next;
  size_t left;
};

// libpng leaves its functions by longjmp: those that call setjmp have no objects with destructors.
class Decoder {
 public:
  Decoder(const void* data, size_t size) : source_{static_cast<const unsigned char*>(data), size} {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &fail, [](png_structp, png_const_charp) {});
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { png_destroy_read_struct(&png_, &info_, nullptr); }

  Status read_header(PngInfo* out) {
    if (source_.next == nullptr || source_.left == 0) {
      return {ACL_ERROR_INVALID_PARAM, "there are no bytes of a PNG"};
    }
    if (info_ == nullptr) return {ACL_ERROR_BAD_ALLOC, "out of host memory"};
    if (!try_header()) return failed();
    const int type = png_get_color_type(png_, info_);
    const bool has_alpha = (type & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
    const int colors = (type & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1;
    *out = {png_get_image_width(png_, info_), png_get_image_height(png_, info_), colors + (has_alpha ? 1 : 0)};
    return Status::ok();
  }

  // After read_header().
  Status decode(const Picture& out) {
    std::vector<png_bytep> rows(static_cast<size_t>(out.height));
    for (int64_t y = 0; y < out.height; ++y) rows[static_cast<size_t>(y)] = out.planes[0].row(y);
    return try_decode(rows.data(), out.layout->channels == 4, out.layout->is_reversed) ? Status::ok() : failed();
  }

 private:
  [[noreturn]] static void fail(png_structp png, png_const_charp message) {
    auto* self = static_cast<Decoder*>(png_get_error_ptr(png));
    std::strncpy(self->message_, message, sizeof self->message_ - 1);
    png_longjmp(png, 1);
  }

  Status failed() const { return {ACL_ERROR_INVALID_PARAM, text("the PNG cannot be decoded: ", message_)}; }

  bool try_header() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;  // NOLINT(cert-err52-cpp)
    png_set_user_limits(png_, kMaxSide, kMaxSide);
    png_set_chunk_cache_max(png_, kMaxChunks);
    png_set_chunk_malloc_max(png_, kMaxChunkBytes);
    png_set_read_fn(png_, &source_, [](png_structp png, png_bytep to, size_t count) {
      auto* source = static_cast<Source*>(png_get_io_ptr(png));
      if (count > source->left) png_error(png, "the file ends too early");
      std::memcpy(to, source->next, count);
      source->next += count;
      source->left -= count;
    });
    png_read_info(png_, info_);
    return true;
  }

  bool try_decode(png_bytepp rows, bool keeps_alpha, bool is_reversed) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;  // NOLINT(cert-err52-cpp)
    png_set_expand(png_);
    png_set_strip_16(png_);
    png_set_gray_to_rgb(png_);
    if (is_reversed) png_set_bgr(png_);
    if (keeps_alpha) {
      png_set_add_alpha(png_, 0xff, PNG_FILLER_AFTER);
    } else {
      png_set_strip_alpha(png_);
    }
    (void)png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    png_read_image(png_, rows);
    png_read_end(png_, nullptr);
    return true;
  }

  Source source_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  char message_[256] = {};
};

}  // namespace

Status read_png_info(const void* data, size_t size, PngInfo* out) {
  Decoder decoder(data, size);
  return decoder.read_header(out);
}

Status decode_png(const void* data, size_t size, const Picture& out) {
  Decoder decoder(data, size);
  PngInfo info;
  SOFTNPU_RETURN_IF_ERROR(decoder.read_header(&info));
  if (out.width != info.width || out.height != info.height) {
    return {ACL_ERROR_INVALID_PARAM,
            text("the output is ", out.width, " x ", out.height, ", the PNG ", info.width, " x ", info.height)};
  }
  return decoder.decode(out);
}

}  // namespace softnpu
