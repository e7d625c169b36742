#pragma once
// Products of matrices on the CPU, with packed panels and sums in registers.

#include <cstddef>
#include <cstdint>

#include "softnpu_kernel/instruction.h"

namespace softnpu::kernel {

// Element (i, j) is at i * row_step + j * column_step elements.
struct GemmOperand {
  const void* data;
  DataType type;  // kHalf, kBfloat16, kFloat or kInt8
  size_t row_step;
  size_t column_step;
};

// result[i * stride + j] = sum of left(i, p) * right(p, j), for i < m, j < n, p < k. Sums are of float, in an order
// that depends on the sizes alone.
void gemm(const GemmOperand& left, const GemmOperand& right, size_t m, size_t n, size_t k, float* result,
          size_t stride);
// The same of int8, exact up to the overflow of int32.
void gemm(const GemmOperand& left, const GemmOperand& right, size_t m, size_t n, size_t k, int32_t* result,
          size_t stride);

}  // namespace softnpu::kernel
