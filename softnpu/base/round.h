#pragma once

#include <cstddef>

namespace softnpu {

// The next multiple of `multiple` from `value` on.
constexpr size_t round_up(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace softnpu
