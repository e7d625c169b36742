#pragma once

#include <cstddef>
#include <cstdint>

namespace softnpu {

// out = x * mask * scale for `count` elements, rounded after each product. `out` may be `x` or `mask`.
void masked_scale(const float* x, const uint8_t* mask, float scale, size_t count, float* out);
void masked_scale(const float* x, const float* mask, float scale, size_t count, float* out);

}  // namespace softnpu
