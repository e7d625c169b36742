#pragma once

#include <cstdint>
#include <vector>

namespace softnpu {

// The positions of `keys` in rising order, those of equal keys in theirs.
std::vector<int64_t> stable_order(const std::vector<int64_t>& keys);

// Where each element is in that order.
std::vector<int64_t> positions_in(const std::vector<int64_t>& order);

}  // namespace softnpu
