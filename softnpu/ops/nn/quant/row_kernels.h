#pragma once
// Quantization of rows of float32.

#include <cstddef>

namespace softnpu {

struct RowRange {
  float least;
  float most;
};

struct QuantRowKernels {
  // The minimum and the maximum; infinities without values. NaN does not count.
  RowRange (*range)(const float* x, size_t count);
  // y[i] = to_int8(x[i] / divisor + shift); y may be x.
  void (*divide)(const float* x, size_t count, float divisor, float shift, float* y);
  // y[i] = to_int8(x[i] * scales[i] + offsets[i]); y may be x.
  void (*scale)(const float* x, const float* scales, const float* offsets, size_t count, float* y);
  // y[i] = to_int8(x[i] / scales[i] + offsets[i]); y may be x.
  void (*quotient)(const float* x, const float* scales, const float* offsets, size_t count, float* y);
};

QuantRowKernels quant_row_kernels();

}  // namespace softnpu
