#pragma once
// Transposes small squares of elements in registers.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace softnpu {

// Elements of a 16-byte vector: the side of a square.
template <typename T>
constexpr int64_t kTransposedSide = 16 / static_cast<int64_t>(sizeof(T));

namespace transposing {

template <typename T>
using Vector [[gnu::vector_size(16)]] = T;

// Interleaves the lower or the upper halves: a0 b0 a1 b1 ..
template <bool kUpper, typename T, size_t... kLane>
Vector<T> zip(Vector<T> a, Vector<T> b, std::index_sequence<kLane...>) {
  constexpr size_t kLanes = sizeof...(kLane);
  return __builtin_shufflevector(a, b, (kLane / 2 + (kUpper ? kLanes / 2 : 0) + (kLane % 2 ? kLanes : 0))...);
}

}  // namespace transposing

// Element i of line k becomes element k of line i; strides between lines in bytes. T must be unsigned, of 1 to 8 bytes.
template <typename T>
void transpose_tile(const char* from, ptrdiff_t from_stride, char* to, ptrdiff_t to_stride) {
  using transposing::Vector;
  constexpr int64_t kSide = kTransposedSide<T>;
  constexpr auto kLanes = std::make_index_sequence<kSide>();
  Vector<T> lines[kSide];
  for (int64_t i = 0; i < kSide; ++i) std::memcpy(&lines[i], from + i * from_stride, 16);
  // Interleaving the halves rotates the index bits (line, lane): the highest becomes the lowest.
  for (int64_t step = 1; step < kSide; step *= 2) {
    Vector<T> next[kSide];
    for (int64_t i = 0; i < kSide / 2; ++i) {
      next[2 * i] = transposing::zip<false, T>(lines[i], lines[i + kSide / 2], kLanes);
      next[2 * i + 1] = transposing::zip<true, T>(lines[i], lines[i + kSide / 2], kLanes);
    }
    std::memcpy(lines, next, sizeof lines);
  }
  for (int64_t i = 0; i < kSide; ++i) std::memcpy(to + i * to_stride, &lines[i], 16);
}

}  // namespace softnpu
