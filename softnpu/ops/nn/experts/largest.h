#pragma once
// The largest of a row of scores.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace softnpu {

// The positions of the `count` largest `values`, from the largest on; of equal ones the first. NaN is the largest.
template <typename T>
void select_largest(const std::vector<T>& values, int64_t count, std::vector<int64_t>* order) {
  constexpr int64_t kFew = 32;  // for as many an insertion is the fastest
  const auto key = [&](int64_t i) {
    const T value = values[static_cast<size_t>(i)];
    return std::isnan(value) ? std::numeric_limits<T>::infinity() : value;
  };
  if (count > kFew) {
    order->resize(values.size());
    std::iota(order->begin(), order->end(), int64_t{0});
    std::partial_sort(order->begin(), order->begin() + count, order->end(),
                      [&](int64_t a, int64_t b) { return key(a) > key(b) || (key(a) == key(b) && a < b); });
    order->resize(static_cast<size_t>(count));
    return;
  }
  order->resize(static_cast<size_t>(count));
  int64_t* const chosen = order->data();
  std::array<T, kFew> keys;  // of those chosen
  int64_t taken = 0;
  for (int64_t i = 0; i < static_cast<int64_t>(values.size()); ++i) {
    const T own = key(i);
    if (taken == count && !(own > keys[static_cast<size_t>(count - 1)])) continue;
    auto at = static_cast<size_t>(taken < count ? taken++ : count - 1);
    for (; at > 0 && own > keys[at - 1]; --at) {
      keys[at] = keys[at - 1];
      chosen[at] = chosen[at - 1];
    }
    keys[at] = own;
    chosen[at] = i;
  }
}

}  // namespace softnpu
