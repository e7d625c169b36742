#include "ops/core/copy/transpose.h"

#include <cstring>
#include <type_traits>

#include "ops/core/element.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/core/copy/transpose.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "simd/non_temporal_lines.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {

// Bytes of a line of `to` and of `from`: whole cache lines, few enough that both copies of a tile fit the first-level
// cache.
constexpr size_t kHigh = 128;
constexpr size_t kWidened = 256;

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE

template <typename T>
void transpose(const uint8_t* from, size_t from_stride, size_t rows, size_t columns, uint8_t* to, size_t to_stride) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) {
      std::memcpy(to + c * to_stride + r * sizeof(T), from + r * from_stride + c * sizeof(T), sizeof(T));
    }
  }
}

#else

constexpr size_t kBlock = 16;

// Loads the blocks at `from`, `stride` bytes apart, into one vector.
template <typename D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const uint8_t* from, size_t stride) {
  constexpr size_t kBytes = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>);
  if constexpr (kBytes == kBlock) {
    return hn::LoadU(d, reinterpret_cast<const hn::TFromD<D>*>(from));
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_blocks(half, from + kBytes / kBlock / 2 * stride, stride),
                       load_blocks(half, from, stride));
  }
}

// A vector's worth of lines, one block each: block k of vector i comes from line k * n + i, so that only blocks remain
// to be transposed.
template <typename T>
HWY_INLINE void transpose_blocks(const uint8_t* from, size_t from_stride, uint8_t* to, size_t to_stride) {
  using Lane = std::conditional_t<sizeof(T) == kBlock, uint64_t, T>;
  constexpr size_t kCount = kBlock / sizeof(T);
  const hn::ScalableTag<Lane> d;
  hn::Vec<decltype(d)> v[kCount];
  for (size_t i = 0; i < kCount; ++i) v[i] = load_blocks(d, from + i * from_stride, kCount * from_stride);
  for (size_t step = 1; step < kCount; step *= 2) {
    hn::Vec<decltype(d)> next[kCount];
    for (size_t i = 0; i < kCount / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(d, v[i], v[i + kCount / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + kCount / 2]);
    }
    for (size_t i = 0; i < kCount; ++i) v[i] = next[i];
  }
  for (size_t i = 0; i < kCount; ++i) hn::StoreU(v[i], d, reinterpret_cast<Lane*>(to + i * to_stride));
}

// Rounded up to whole vectors: both sides have room.
template <typename T>
void transpose(const uint8_t* from, size_t from_stride, size_t rows, size_t columns, uint8_t* to, size_t to_stride) {
  const size_t lines = hn::Lanes(hn::ScalableTag<uint8_t>()) / sizeof(T);
  constexpr size_t kCount = kBlock / sizeof(T);
  for (size_t r = 0; r < rows; r += lines) {
    for (size_t c = 0; c < columns; c += kCount) {
      transpose_blocks<T>(from + r * from_stride + c * sizeof(T), from_stride, to + c * to_stride + r * sizeof(T),
                          to_stride);
    }
  }
}

#endif

template <typename T>
void run(const TransposedTile& tile, bool streams) {
  alignas(64) uint8_t in[kHigh / sizeof(T) * kWidened];
  alignas(64) uint8_t out[kWidened / sizeof(T) * kHigh];
  const auto rows = static_cast<size_t>(tile.rows);
  const auto columns = static_cast<size_t>(tile.columns);
  const size_t width = columns * sizeof(T);
  const size_t height = rows * sizeof(T);
  // Copies first: lines a power of two apart share few cache sets.
  for (size_t r = 0; r < rows; ++r) {
    const char* from = tile.from + static_cast<ptrdiff_t>(r) * tile.from_stride;
    std::memcpy(in + r * kWidened, from, width == kWidened ? kWidened : width);
  }
  transpose<T>(in, kWidened, rows, columns, out, kHigh);
  for (size_t c = 0; c < columns; ++c) {
    auto* to = reinterpret_cast<uint8_t*>(tile.to + static_cast<ptrdiff_t>(c) * tile.to_stride);
    if (streams) {
      store_lines_non_temporal(to, out + c * kHigh, height, [](size_t) {});
    } else {
      std::memcpy(to, out + c * kHigh, height == kHigh ? kHigh : height);
    }
  }
}

Transpose of(size_t element) {
  return with_element(element, []<typename T>() {
    return Transpose{kHigh / sizeof(T), kWidened / sizeof(T), &run<T>};
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {

HWY_EXPORT(of);

}  // namespace

Transpose transpose_of(size_t element) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(of)(element);
}

}  // namespace softnpu
#endif
