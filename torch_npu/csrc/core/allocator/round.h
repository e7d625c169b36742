#pragma once

#include <cstddef>

namespace torch_npu {

// The least multiple of `multiple` that is at least `value`.
constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace torch_npu
