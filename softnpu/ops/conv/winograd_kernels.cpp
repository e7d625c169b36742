#include "ops/conv/winograd_kernels.h"

#include "ops/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv/winograd_kernels.cpp"
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

// The transforms of one line, for tiles that make kMade values: `read(i)` is what it has, `put(i, value)` takes what it
// becomes.
template <int64_t kMade>
struct ImageLine;
template <int64_t kMade>
struct ResultLine;
template <int64_t kMade>
struct FilterLine;

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

// Both dimensions of a square: read(y, x) and put(y, x, value).
template <typename Line, typename Read, typename Put>
HWY_INLINE void square(Read&& read, Put&& put) {
  HWY_ALIGN float between[Line::kTo * Line::kFrom * kWinogradChannels];
  const Tag tag;
  const auto place = [&](int64_t y, int64_t x) HWY_ATTR { return between + (y * Line::kFrom + x) * kWinogradChannels; };
  for (int64_t x = 0; x < Line::kFrom; ++x) {
    Line::run([&](int64_t y) HWY_ATTR { return read(y, x); },
              [&](int64_t y, Vector value) HWY_ATTR { hn::Store(value, tag, place(y, x)); });
  }
  for (int64_t y = 0; y < Line::kTo; ++y) {
    Line::run([&](int64_t x) HWY_ATTR { return hn::Load(tag, place(y, x)); },
              [&](int64_t x, Vector value) HWY_ATTR { put(y, x, value); });
  }
}

// Calls body(first) for the channels as vectors.
template <typename Body>
HWY_INLINE void for_vectors(Body&& body) {
  for (int64_t first = 0; first < kWinogradChannels; first += static_cast<int64_t>(hn::Lanes(Tag()))) body(first);
}

template <int64_t kMade>
void image_tiles(const float* rows, int64_t row_stride, int64_t tiles, const WinogradPlanes& planes, float* to) {
  constexpr int64_t kRead = WinogradTile{kMade}.read();
  const Tag tag;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    for_vectors([&](int64_t first) HWY_ATTR {
      const float* from = rows + tile * kMade * kWinogradChannels + first;
      float* made = to + tile * planes.tile_stride + first;
      square<ImageLine<kMade>>([&](int64_t y, int64_t x)
                                   HWY_ATTR { return hn::LoadU(tag, from + y * row_stride + x * kWinogradChannels); },
                               [&](int64_t y, int64_t x, Vector value)
                                   HWY_ATTR { hn::StoreU(value, tag, made + (y * kRead + x) * planes.plane_stride); });
    });
  }
}

template <int64_t kMade>
void result_tiles(const float* from, const WinogradPlanes& planes, int64_t tiles, const float* offsets, float* rows,
                  int64_t row_stride) {
  constexpr int64_t kRead = WinogradTile{kMade}.read();
  const Tag tag;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    for_vectors([&](int64_t first) HWY_ATTR {
      const float* read = from + tile * planes.tile_stride + first;
      float* made = rows + tile * kMade * kWinogradChannels + first;
      const Vector offset = hn::LoadU(tag, offsets + first);
      square<ResultLine<kMade>>(
          [&](int64_t y, int64_t x) HWY_ATTR { return hn::LoadU(tag, read + (y * kRead + x) * planes.plane_stride); },
          [&](int64_t y, int64_t x, Vector value)
              HWY_ATTR { hn::StoreU(hn::Add(value, offset), tag, made + y * row_stride + x * kWinogradChannels); });
    });
  }
}

template <int64_t kMade>
void filter_tile(const float* places, float* planes) {
  constexpr int64_t kRead = WinogradTile{kMade}.read();
  const Tag tag;
  for_vectors([&](int64_t first) HWY_ATTR {
    square<FilterLine<kMade>>(
        [&](int64_t y, int64_t x) HWY_ATTR { return hn::LoadU(tag, places + (y * 3 + x) * kWinogradChannels + first); },
        [&](int64_t y, int64_t x, Vector value)
            HWY_ATTR { hn::StoreU(value, tag, planes + (y * kRead + x) * kWinogradChannels + first); });
  });
}

void image(WinogradTile tile, const float* rows, int64_t row_stride, int64_t tiles, const WinogradPlanes& planes,
           float* to) {
  (tile.made == 2 ? image_tiles<2> : image_tiles<4>)(rows, row_stride, tiles, planes, to);
}

void result(WinogradTile tile, const float* from, const WinogradPlanes& planes, int64_t tiles, const float* offsets,
            float* rows, int64_t row_stride) {
  (tile.made == 2 ? result_tiles<2> : result_tiles<4>)(from, planes, tiles, offsets, rows, row_stride);
}

void filter(WinogradTile tile, const float* places, float* planes) {
  (tile.made == 2 ? filter_tile<2> : filter_tile<4>)(places, planes);
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
}  // namespace

void winograd_image(WinogradTile tile, const float* rows, int64_t row_stride, int64_t tiles,
                    const WinogradPlanes& planes, float* to) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(image)(tile, rows, row_stride, tiles, planes, to);
}

void winograd_result(WinogradTile tile, const float* from, const WinogradPlanes& planes, int64_t tiles,
                     const float* offsets, float* rows, int64_t row_stride) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(result)(tile, from, planes, tiles, offsets, rows, row_stride);
}

void winograd_filter(WinogradTile tile, const float* places, float* planes) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(filter)(tile, places, planes);
}

}  // namespace softnpu
#endif
