#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace softnpu {

// The coefficients of three input colors in one output color.
using Weights = std::array<double, 3>;

// out[k] = the sum of in[0..2], weighted by weights[k]; each row has `count` values. Up to three outputs; an output row
// may be an input row.
void mix(std::span<const Weights> weights, const float* const (&in)[3], float* const* out, size_t count);
void mix(std::span<const Weights> weights, const double* const (&in)[3], double* const* out, size_t count);

}  // namespace softnpu
