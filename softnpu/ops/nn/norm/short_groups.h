#pragma once
// Group normalization of groups of a few values: their statistics in lanes, several groups at once.

#include <cstddef>
#include <cstdint>

namespace softnpu {

// More values are a row's work.
inline constexpr int64_t kMaxShortGroup = 64;

template <typename T>
struct ShortGroups {
  const T* x;  // contiguous groups, one behind another
  T* y;
  size_t size;       // values of a group
  size_t per_image;  // groups after which weights repeat
  double eps;
  const T* weight;  // one for each value of an image; null: 1
  const T* bias;    // null: 0
};

// Computes groups [first, last). `mean` and `scale` get the statistics of group `first` on.
template <typename T>
void normalize_short_groups(const ShortGroups<T>& groups, size_t first, size_t last, T* mean, T* scale);

}  // namespace softnpu
