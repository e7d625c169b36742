#pragma once
// Exact dot products of int8 rows and columns that are contiguous along the sum.

#include <cstddef>
#include <cstdint>

namespace softnpu {

constexpr size_t kInt8Rows = 4;
constexpr size_t kInt8Columns = 32;

struct Int8Block {
  const int8_t* const* rows;
  size_t row_count;  // at most kInt8Rows
  const int8_t* const* columns;
  size_t column_count;  // at most kInt8Columns
  size_t depth;
};

// sums[row * kInt8Columns + column] = the sum over k of the products, modulo 2^32.
using MultiplyInt8 = void (*)(const Int8Block& block, int32_t* sums);
MultiplyInt8 multiply_int8();

}  // namespace softnpu
