#pragma once

#include <cstddef>

namespace softnpu {

// The least multiple of `multiple` that is at least `value`.
constexpr size_t round_up(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace softnpu
