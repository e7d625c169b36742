#include "ops/nn/experts/order.h"

#include <algorithm>
#include <numeric>

namespace softnpu {

std::vector<int64_t> stable_order(const std::vector<int64_t>& keys) {
  std::vector<int64_t> order(keys.size());
  if (keys.empty()) return order;
  const auto [least, most] = std::ranges::minmax_element(keys);
  const auto first = *least;
  const auto span = static_cast<uint64_t>(*most) - static_cast<uint64_t>(first);
  if (span > 4 * keys.size()) {
    std::iota(order.begin(), order.end(), int64_t{0});
    std::ranges::stable_sort(order, {}, [&](int64_t i) { return keys[static_cast<size_t>(i)]; });
    return order;
  }
  // Experts are few: their elements are counted.
  std::vector<int64_t> next(static_cast<size_t>(span) + 2);
  const auto of = [&](int64_t key) { return static_cast<size_t>(key - first); };
  for (const int64_t key : keys) ++next[of(key) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (size_t i = 0; i < keys.size(); ++i) {
    order[static_cast<size_t>(next[of(keys[i])]++)] = static_cast<int64_t>(i);
  }
  return order;
}

std::vector<int64_t> positions_in(const std::vector<int64_t>& order) {
  std::vector<int64_t> positions(order.size());
  for (size_t i = 0; i < order.size(); ++i) positions[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return positions;
}

}  // namespace softnpu
