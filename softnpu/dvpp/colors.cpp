#include "dvpp/colors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/text.h"

namespace softnpu {
namespace {

// Weights of red and blue in luma, by ITU-R BT.601-7, BT.709-6 and BT.2020-2.
struct Standard {
  double red;
  double blue;
};
constexpr std::array kStandards = {Standard{0.299, 0.114}, Standard{0.2126, 0.0722}, Standard{0.2627, 0.0593}};

struct Yuv {
  double y, u, v;
};
struct Rgb {
  double r, g, b;
};

class Matrix {
 public:
  explicit Matrix(uint32_t number)
      : standard_(kStandards.at(number / 2)),
        luma_range_(number % 2 == 0 ? 255 : 219),
        chroma_range_(number % 2 == 0 ? 255 : 224),
        black_(number % 2 == 0 ? 0 : 16) {}

  Rgb to_rgb(const Yuv& of) const {
    const double y = (of.y - black_) * 255 / luma_range_;
    const double u = (of.u - 128) * 255 / chroma_range_;
    const double v = (of.v - 128) * 255 / chroma_range_;
    const double r = y + 2 * (1 - standard_.red) * v;
    const double b = y + 2 * (1 - standard_.blue) * u;
    return {r, (y - standard_.red * r - standard_.blue * b) / green(), b};
  }

  Yuv to_yuv(const Rgb& of) const {
    const double y = standard_.red * of.r + green() * of.g + standard_.blue * of.b;
    const double u = (of.b - y) / (2 * (1 - standard_.blue));
    const double v = (of.r - y) / (2 * (1 - standard_.red));
    return {black_ + y * luma_range_ / 255, 128 + u * chroma_range_ / 255, 128 + v * chroma_range_ / 255};
  }

 private:
  double green() const { return 1 - standard_.red - standard_.blue; }

  Standard standard_;
  double luma_range_;
  double chroma_range_;
  double black_;
};

uint8_t rounded(double value) { return static_cast<uint8_t>(std::clamp(std::lround(value), 0L, 255L)); }

bool is_rgb(const PixelLayout& layout) { return layout.channels >= 3; }

Yuv yuv_at(const Picture& picture, int64_t x, int64_t y) {
  const double luma = picture.planes[0].row(y)[x];
  if (picture.plane_count() == 1) return {luma, 128, 128};
  const PixelLayout& layout = *picture.layout;
  const uint8_t* chroma = picture.planes[1].row(y / layout.chroma_height) + 2 * (x / layout.chroma_width);
  return {luma, static_cast<double>(chroma[layout.is_reversed ? 1 : 0]),
          static_cast<double>(chroma[layout.is_reversed ? 0 : 1])};
}

Rgb rgb_at(const Picture& picture, int64_t x, int64_t y) {
  const uint8_t* pixel = picture.planes[0].row(y) + x * picture.layout->channels;
  const bool reversed = picture.layout->is_reversed;
  return {static_cast<double>(pixel[reversed ? 2 : 0]), static_cast<double>(pixel[1]),
          static_cast<double>(pixel[reversed ? 0 : 2])};
}

void put_rgb(const Rgb& value, uint8_t alpha, const Picture& to, int64_t x, int64_t y) {
  uint8_t* pixel = to.planes[0].row(y) + x * to.layout->channels;
  const bool reversed = to.layout->is_reversed;
  pixel[reversed ? 2 : 0] = rounded(value.r);
  pixel[1] = rounded(value.g);
  pixel[reversed ? 0 : 2] = rounded(value.b);
  if (to.layout->channels == 4) pixel[3] = alpha;
}

void to_rgb(const Picture& from, const Picture& to, const Matrix& matrix) {
  for (int64_t y = 0; y < to.height; ++y) {
    for (int64_t x = 0; x < to.width; ++x) {
      const bool has_rgb = is_rgb(*from.layout);
      const uint8_t alpha = from.layout->channels == 4 ? from.planes[0].row(y)[4 * x + 3] : 255;
      put_rgb(has_rgb ? rgb_at(from, x, y) : matrix.to_rgb(yuv_at(from, x, y)), alpha, to, x, y);
    }
  }
}

void to_yuv(const Picture& from, const Picture& to, const Matrix& matrix) {
  const auto value_at = [&](int64_t x, int64_t y) {
    return is_rgb(*from.layout) ? matrix.to_yuv(rgb_at(from, x, y)) : yuv_at(from, x, y);
  };
  for (int64_t y = 0; y < to.height; ++y) {
    for (int64_t x = 0; x < to.width; ++x) to.planes[0].row(y)[x] = rounded(value_at(x, y).y);
  }
  if (to.plane_count() == 1) return;
  const PixelLayout& layout = *to.layout;
  const Plane& chroma = to.planes[1];
  for (int64_t y = 0; y < chroma.height; ++y) {
    for (int64_t x = 0; x < chroma.width; ++x) {
      double u = 0;
      double v = 0;
      int count = 0;
      for (int64_t j = y * layout.chroma_height; j < std::min(to.height, (y + 1) * layout.chroma_height); ++j) {
        for (int64_t i = x * layout.chroma_width; i < std::min(to.width, (x + 1) * layout.chroma_width); ++i) {
          const Yuv value = value_at(i, j);
          u += value.u;
          v += value.v;
          ++count;
        }
      }
      uint8_t* out = chroma.row(y) + 2 * x;
      out[layout.is_reversed ? 1 : 0] = rounded(u / count);
      out[layout.is_reversed ? 0 : 1] = rounded(v / count);
    }
  }
}

}  // namespace

Status convert_colors(const Picture& from, const Picture& to, uint32_t matrix) {
  if (from.width != to.width || from.height != to.height) {
    return {ACL_ERROR_INVALID_PARAM,
            text("the input is ", from.width, " x ", from.height, " pixels, the output ", to.width, " x ", to.height)};
  }
  const Matrix numbers(matrix);
  if (is_rgb(*to.layout)) {
    to_rgb(from, to, numbers);
  } else {
    to_yuv(from, to, numbers);
  }
  return Status::ok();
}

}  // namespace softnpu
