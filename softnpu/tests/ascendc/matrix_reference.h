#pragma once
// Matrices of tests: their numbers, and products in double with the bound of sums in float.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "ascendc/types.h"

// Row after row, with `stride` elements from one to the next; transposed: column after column.
template <typename T>
struct TestMatrix {
  uint32_t rows;
  uint32_t columns;
  bool is_transposed;
  uint32_t stride;
  std::vector<T> values;

  TestMatrix(uint32_t m, uint32_t n, uint32_t seed, bool transposed = false, uint32_t gap = 0)
      : rows(m), columns(n), is_transposed(transposed), stride((transposed ? m : n) + gap) {
    values.resize(size_t{transposed ? n : m} * stride);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto mixed = static_cast<uint32_t>(i + 1) * 2654435761U + seed * 40503U;
      const auto small = static_cast<int32_t>(mixed >> 16 & 0xff) - 128;
      values[i] = static_cast<T>(std::is_integral_v<T> ? static_cast<float>(small) : static_cast<float>(small) / 32);
    }
  }
  T at(uint32_t i, uint32_t j) const {
    return is_transposed ? values[size_t{j} * stride + i] : values[size_t{i} * stride + j];
  }
};

// What is wrong with `found`, element (i, j) of a b; empty where it is within k rounding steps of float of the sum of
// absolute values, and one of R.
template <typename R, typename T>
std::string wrong_element(const TestMatrix<T>& a, const TestMatrix<T>& b, uint32_t i, uint32_t j, R found,
                          double added = 0) {
  double sum = added;
  double size = std::fabs(added);
  for (uint32_t p = 0; p < a.columns; ++p) {
    const double term = static_cast<double>(a.at(i, p)) * static_cast<double>(b.at(p, j));
    sum += term;
    size += std::fabs(term);
  }
  constexpr double step = std::is_same_v<R, half> ? 0x1p-11 : std::is_same_v<R, bfloat16_t> ? 0x1p-8 : 0;
  const bool is_integer = std::is_integral_v<R>;
  const double bound =
      is_integer ? 0 : size * (a.columns + 1) * std::numeric_limits<float>::epsilon() + step * (std::fabs(sum) + size);
  if (std::fabs(static_cast<double>(found) - sum) <= bound) return "";
  return "(" + std::to_string(i) + ", " + std::to_string(j) + ") is " + std::to_string(static_cast<double>(found)) +
         ", not " + std::to_string(sum) + " with " + std::to_string(bound);
}
