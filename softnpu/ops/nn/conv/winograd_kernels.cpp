#include "ops/nn/conv/winograd_kernels.h"

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/nn/conv/winograd_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, kWinogradChannels>;
using Vector = hn::Vec<Tag>;

HWY_INLINE Vector number(float value) { return hn::Set(Tag(), value); }

// The one-dimensional transforms for tiles that produce kOutput values: `read(i)` returns input i, `put(i, value)`
// takes output i.
template <int64_t kOutput>
struct ImageLine;
template <int64_t kOutput>
struct ResultLine;
template <int64_t kOutput>
struct FilterLine;
template <int64_t kOutput>
struct ResultGradientLine;
template <int64_t kOutput>
struct FilterGradientLine;

template <>
struct ImageLine<2> {
  static constexpr int64_t kFrom = 4, kTo = 4;
  template <typename Read, typename Put>
  HWY_INLINE static void run(Read&& read, Put&& put) {
    const Vector d0 = read(0), d1 = read(1), d2 = read(2), d3 = read(3);
    put(0, hn::Sub(d0, d2));
    put(1, hn::Add(d1, d2));
    put(2, hn::Sub(d2, d1));
    put(3, hn::Sub(d1, d3));
  }
};

template <>
struct ResultLine<2> {
  static constexpr int64_t kFrom = 4, kTo = 2;
  template <typename Read, typename Put>
  HWY_INLINE static void run(Read&& read, Put&& put) {
    const Vector m0 = read(0), m1 = read(1), m2 = read(2), m3 = read(3);
    put(0, hn::Add(m0, hn::Add(m1, m2)));
    put(1, hn::Sub(hn::Sub(m1, m2), m3));
  }
};

template <>
struct FilterLine<2> {
  static constexpr int64_t kFrom = 3, kTo = 4;
  template <typename Read, typename Put>
  HWY_INLINE static void run(Read&& read, Put&& put) {
    const Vector g0 = read(0), g1 = read(1), g2 = read(2);
    const Vector half = number(0.5F);
    const Vector near = hn::Mul(half, hn::Add(g0, g2));
    put(0, g0);
    put(1, hn::MulAdd(half, g1, near));
    put(2, hn::NegMulAdd(half, g1, near));
    put(3, g2);
  }
};

template <>
struct ResultGradientLine<2> {
  static constexpr int64_t kFrom = 2, kTo = 4;
  template <typename Read, typename Put>
  HWY_INLINE static void run(Read&& read, Put&& put) {
    const Vector y0 = read(0), y1 = read(1);
    put(0, y0);
    put(1, hn::Add(y0, y1));
    put(2, hn::Sub(y0, y1));
    put(3, hn::Neg(y1));
  }
};

template <>
struct FilterGradientLine<2> {
  static constexpr int64_t kFrom = 4, kTo = 3;
  template <typename Read, typename Put>
  HWY_INLINE static void run(Read&& read, Put&& put) {
    const Vector m0 = read(0), m1 = read(1), m2 = read(2), m3 = read(3);
    const Vector half = number(0.5F);
    const Vector sum = hn::Mul(half, hn::Add(m1, m2));
    put(0, hn::Add(m0, sum));
    put(1, hn::Mul(half, hn::Sub(m1, m2)));
    put(2, hn::Add(sum, m3));
  }
};

template <>
struct ImageLine<4> {
  static constexpr int64_t kFrom = 6, kTo = 6;
  template <typename Read, typename Put>
  HWY_INLINE static void run(Read&& read, Put&& put) {
    const Vector d0 = read(0), d1 = read(1), d2 = read(2), d3 = read(3), d4 = read(4), d5 = read(5);
    const Vector four = number(4), five = number(5), two = number(2);
    const Vector even = hn::NegMulAdd(four, d2, d4);
    const Vector odd = hn::NegMulAdd(four, d1, d3);
    const Vector near = hn::Sub(d4, d2);
    const Vector far = hn::Mul(two, hn::Sub(d3, d1));
    put(0, hn::MulAdd(four, d0, hn::NegMulAdd(five, d2, d4)));
    put(1, hn::Add(even, odd));
    put(2, hn::Sub(even, odd));
    put(3, hn::Add(near, far));
    put(4, hn::Sub(near, far));
    put(5, hn::MulAdd(four, d1, hn::NegMulAdd(five, d3, d5)));
  }
};

template <>
struct ResultLine<4> {
  static constexpr int64_t kFrom = 6, kTo = 4;
  template <typename Read, typename Put>
  HWY_INLINE static void run(Read&& read, Put&& put) {
    const Vector m0 = read(0), m1 = read(1), m2 = read(2), m3 = read(3), m4 = read(4), m5 = read(5);
    const Vector sum = hn::Add(m1, m2), far_sum = hn::Add(m3, m4);
    const Vector difference = hn::Sub(m1, m2), far_difference = hn::Sub(m3, m4);
    put(0, hn::Add(m0, hn::Add(sum, far_sum)));
    put(1, hn::MulAdd(number(2), far_difference, difference));
    put(2, hn::MulAdd(number(4), far_sum, sum));
    put(3, hn::Add(m5, hn::MulAdd(number(8), far_difference, difference)));
  }
};

template <>
struct FilterLine<4> {
  static constexpr int64_t kFrom = 3, kTo = 6;
  template <typename Read, typename Put>
  HWY_INLINE static void run(Read&& read, Put&& put) {
    const Vector g0 = read(0), g1 = read(1), g2 = read(2);
    const Vector sixth = number(1.0F / 6);
    const Vector near = hn::Mul(sixth, hn::Add(g0, g2));
    const Vector far = hn::MulAdd(number(1.0F / 24), g0, hn::Mul(sixth, g2));
    put(0, hn::Mul(number(0.25F), g0));
    put(1, hn::NegMulSub(sixth, g1, near));
    put(2, hn::MulSub(sixth, g1, near));
    put(3, hn::MulAdd(number(1.0F / 12), g1, far));
    put(4, hn::NegMulAdd(number(1.0F / 12), g1, far));
    put(5, g2);
  }
};

template <>
struct ResultGradientLine<4> {
  static constexpr int64_t kFrom = 4, kTo = 6;
  template <typename Read, typename Put>
  HWY_INLINE static void run(Read&& read, Put&& put) {
    const Vector y0 = read(0), y1 = read(1), y2 = read(2), y3 = read(3);
    const Vector even = hn::Add(y0, y2), odd = hn::Add(y1, y3);
    const Vector far_even = hn::MulAdd(number(4), y2, y0);
    const Vector far_odd = hn::Mul(number(2), hn::MulAdd(number(4), y3, y1));
    put(0, y0);
    put(1, hn::Add(even, odd));
    put(2, hn::Sub(even, odd));
    put(3, hn::Add(far_even, far_odd));
    put(4, hn::Sub(far_even, far_odd));
    put(5, y3);
  }
};

template <>
struct FilterGradientLine<4> {
  static constexpr int64_t kFrom = 6, kTo = 3;
  template <typename Read, typename Put>
  HWY_INLINE static void run(Read&& read, Put&& put) {
    const Vector m0 = read(0), m1 = read(1), m2 = read(2), m3 = read(3), m4 = read(4), m5 = read(5);
    const Vector sixth = number(1.0F / 6);
    const Vector sum = hn::Mul(sixth, hn::Add(m1, m2)), far_sum = hn::Mul(sixth, hn::Add(m3, m4));
    const Vector far_difference = hn::Mul(number(1.0F / 12), hn::Sub(m3, m4));
    put(0, hn::MulAdd(number(0.25F), hn::Add(m0, far_sum), hn::Neg(sum)));
    put(1, hn::MulAdd(sixth, hn::Sub(m2, m1), far_difference));
    put(2, hn::Add(hn::Sub(far_sum, sum), m5));
  }
};

// Transforms both dimensions of a square: read(y, x) and put(y, x, value).
template <typename Line, typename Read, typename Put>
HWY_INLINE void square(Read&& read, Put&& put) {
  HWY_ALIGN float between[Line::kTo * Line::kFrom * kWinogradChannels];
  const Tag tag;
  const auto location = [&](int64_t y, int64_t x)
                            HWY_ATTR { return between + (y * Line::kFrom + x) * kWinogradChannels; };
  for (int64_t x = 0; x < Line::kFrom; ++x) {
    Line::run([&](int64_t y) HWY_ATTR { return read(y, x); },
              [&](int64_t y, Vector value) HWY_ATTR { hn::Store(value, tag, location(y, x)); });
  }
  for (int64_t y = 0; y < Line::kTo; ++y) {
    Line::run([&](int64_t x) HWY_ATTR { return hn::Load(tag, location(y, x)); },
              [&](int64_t x, Vector value) HWY_ATTR { put(y, x, value); });
  }
}

// Calls body(first) for vectors of channels.
template <typename Body>
HWY_INLINE void for_vectors(Body&& body) {
  for (int64_t first = 0; first < kWinogradChannels; first += static_cast<int64_t>(hn::Lanes(Tag()))) body(first);
}

// From squares of rows to planes: of images, or of the results' gradients.
template <int64_t kOutput, typename Line>
void planes_of(const float* rows, WinogradLines lines, int64_t tiles, const WinogradPlanes& planes, float* to) {
  const Tag tag;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    for_vectors([&](int64_t first) HWY_ATTR {
      const float* from = rows + tile * kOutput * lines.position_stride + first;
      float* output = to + tile * planes.tile_stride + first;
      square<Line>([&](int64_t y, int64_t x)
                       HWY_ATTR { return hn::LoadU(tag, from + y * lines.row_stride + x * lines.position_stride); },
                   [&](int64_t y, int64_t x, Vector value)
                       HWY_ATTR { hn::StoreU(value, tag, output + (y * Line::kTo + x) * planes.plane_stride); });
    });
  }
}

template <int64_t kOutput>
void result_tiles(const float* from, const WinogradPlanes& planes, int64_t tiles, const float* offsets, float* rows,
                  WinogradLines lines) {
  constexpr int64_t kRead = WinogradTile{kOutput}.read();
  const Tag tag;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    for_vectors([&](int64_t first) HWY_ATTR {
      const float* read = from + tile * planes.tile_stride + first;
      float* output = rows + tile * kOutput * lines.position_stride + first;
      const Vector offset = hn::LoadU(tag, offsets + first);
      square<ResultLine<kOutput>>(
          [&](int64_t y, int64_t x) HWY_ATTR { return hn::LoadU(tag, read + (y * kRead + x) * planes.plane_stride); },
          [&](int64_t y, int64_t x, Vector value) HWY_ATTR {
            hn::StoreU(hn::Add(value, offset), tag, output + y * lines.row_stride + x * lines.position_stride);
          });
    });
  }
}

// From one filter's taps to another's, both `stride` elements apart.
template <typename Line>
void filter_of(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
  const Tag tag;
  for_vectors([&](int64_t first) HWY_ATTR {
    square<Line>([&](int64_t y, int64_t x)
                     HWY_ATTR { return hn::LoadU(tag, from + (y * Line::kFrom + x) * from_stride + first); },
                 [&](int64_t y, int64_t x, Vector value)
                     HWY_ATTR { hn::StoreU(value, tag, to + (y * Line::kTo + x) * to_stride + first); });
  });
}

void image(WinogradTile tile, const float* rows, WinogradLines lines, int64_t tiles, const WinogradPlanes& planes,
           float* to) {
  const auto run = tile.output == 2 ? planes_of<2, ImageLine<2>> : planes_of<4, ImageLine<4>>;
  run(rows, lines, tiles, planes, to);
}

void result(WinogradTile tile, const float* from, const WinogradPlanes& planes, int64_t tiles, const float* offsets,
            float* rows, WinogradLines lines) {
  (tile.output == 2 ? result_tiles<2> : result_tiles<4>)(from, planes, tiles, offsets, rows, lines);
}

void filter(WinogradTile tile, const float* taps, float* planes) {
  (tile.output == 2 ? filter_of<FilterLine<2>> : filter_of<FilterLine<4>>)(taps, kWinogradChannels, planes,
                                                                           kWinogradChannels);
}

void result_gradient(WinogradTile tile, const float* rows, WinogradLines lines, int64_t tiles,
                     const WinogradPlanes& planes, float* to) {
  const auto run = tile.output == 2 ? planes_of<2, ResultGradientLine<2>> : planes_of<4, ResultGradientLine<4>>;
  run(rows, lines, tiles, planes, to);
}

void filter_gradient(WinogradTile tile, const float* sums, int64_t plane_stride, float* taps) {
  const auto run = tile.output == 2 ? filter_of<FilterGradientLine<2>> : filter_of<FilterGradientLine<4>>;
  run(sums, plane_stride, taps, kWinogradChannels);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {
HWY_EXPORT(image);
HWY_EXPORT(result);
HWY_EXPORT(filter);
HWY_EXPORT(result_gradient);
HWY_EXPORT(filter_gradient);
}  // namespace

void winograd_image(WinogradTile tile, const float* rows, WinogradLines lines, int64_t tiles,
                    const WinogradPlanes& planes, float* to) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(image)(tile, rows, lines, tiles, planes, to);
}

void winograd_result(WinogradTile tile, const float* from, const WinogradPlanes& planes, int64_t tiles,
                     const float* offsets, float* rows, WinogradLines lines) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(result)(tile, from, planes, tiles, offsets, rows, lines);
}

void winograd_filter(WinogradTile tile, const float* taps, float* planes) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(filter)(tile, taps, planes);
}

void winograd_result_gradient(WinogradTile tile, const float* rows, WinogradLines lines, int64_t tiles,
                              const WinogradPlanes& planes, float* to) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(result_gradient)(tile, rows, lines, tiles, planes, to);
}

void winograd_filter_gradient(WinogradTile tile, const float* sums, int64_t plane_stride, float* taps) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(filter_gradient)(tile, sums, plane_stride, taps);
}

}  // namespace softnpu
#endif
