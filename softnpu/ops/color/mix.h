#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace softnpu {

// What a color of the result has of each of three others.
using Weights = std::array<double, 3>;

// out[k] = the sum, weighted by weights[k], of the rows in[0..2], of `count` values. The rows of `out`, at most three,
// may be those of `in`.
void mix(std::span<const Weights> weights, const float* const (&in)[3], float* const* out, size_t count);
void mix(std::span<const Weights> weights, const double* const (&in)[3], double* const* out, size_t count);

}  // namespace softnpu
