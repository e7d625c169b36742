#pragma once
// Rows of float32 times columns of int8 weights that are contiguous along the sum, with scales for groups of weights.

#include <cstddef>
#include <cstdint>

namespace softnpu {

constexpr size_t kWeightRows = 4;
constexpr size_t kWeightColumns = 32;

struct WeightBlock {
  const float* x;  // [rows, depth]
  size_t rows;     // at most kWeightRows
  size_t depth;
  const int8_t* const* weights;  // of each column
  size_t columns;                // at most kWeightColumns
  size_t group;                  // weights that share a scale
  size_t groups;
  const float* scales;   // [groups, kWeightColumns]
  const float* offsets;  // as the scales; null: none
};

// sums[row * kWeightColumns + column] = the sum over k of x * ((weight + offset) * scale).
using MultiplyWeights = void (*)(const WeightBlock& block, float* sums);
MultiplyWeights multiply_weights();

// The same of weights that spread_weights() wrote, [columns, depth]: for more rows than a block has.
using MultiplyValues = void (*)(const WeightBlock& block, const float* values, float* sums);
MultiplyValues multiply_values();
using SpreadWeights = void (*)(const WeightBlock& block, float* values);
SpreadWeights spread_weights();

// Signed 4-bit numbers, two a byte, the lower half first, as one byte each.
using UnpackHalves = void (*)(const uint8_t* from, size_t bytes, int8_t* to);
UnpackHalves unpack_halves();

}  // namespace softnpu
