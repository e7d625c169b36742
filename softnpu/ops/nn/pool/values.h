#pragma once
// Access to the values of images and windows.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "ops/core/convert/element_rows.h"
#include "ops/nn/pool/pool.h"

namespace softnpu {

// Values of a row per step.
constexpr int64_t kAtATime = 256;

template <typename T>
struct Block {
  T values[kAtATime];
  int64_t indices[kAtATime];
};

inline char* row_of(const Image& image, int64_t batch, int64_t channel, int64_t plane, int64_t row, int64_t x) {
  const int64_t element = batch * image.batch_stride + channel * image.channel_stride + plane * image.strides[0] +
                          row * image.strides[1] + x * image.strides[2];
  return image.data + element * static_cast<int64_t>(aclDataTypeSize(image.dtype));
}

inline ptrdiff_t element_of(const Image& image) { return static_cast<ptrdiff_t>(aclDataTypeSize(image.dtype)); }
inline ptrdiff_t step_of(const Image& image) { return image.strides[2] * element_of(image); }

// Whether `value` replaces the maximum `most`.
template <typename T>
bool is_greater(T value, T most) {
  return value > most || value != value;
}

// The minimum integer divided by -1 wraps.
template <typename T>
T quotient(T value, T by) {
  if constexpr (std::is_integral_v<T>) {
    if (by == T(-1)) return static_cast<T>(std::make_unsigned_t<T>(0) - static_cast<std::make_unsigned_t<T>>(value));
  }
  return value / by;
}

// Whether x is one of the range's positions.
inline bool is_on(const Range& range, int64_t x, int64_t step) { return step == 1 || (x - range.begin) % step == 0; }

inline int64_t first_on(const Range& range, int64_t from, int64_t step) {
  if (from <= range.begin) return range.begin;
  return range.begin + (from - range.begin + step - 1) / step * step;
}

inline int64_t length(const Range& range, int64_t step) { return (range.end - range.begin + step - 1) / step; }

// What the sum of a window's values is divided by.
int64_t divisor_of(const PoolProblem& p, const Range& z, const Range& y, const Range& x);

// `count` values: in place if they are contiguous and in type T, else copied to `buffer`.
template <typename T>
const T* in_place_or_read(const ElementReader& reader, const char* from, ptrdiff_t step, int64_t count, T* buffer) {
  if (reader.is_direct() && step == static_cast<ptrdiff_t>(sizeof(T))) return reinterpret_cast<const T*>(from);
  reader.read(from, step, static_cast<size_t>(count), buffer);
  return buffer;
}

}  // namespace softnpu
