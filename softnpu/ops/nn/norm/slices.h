#pragma once
// A channel's slices in all samples, a few contiguous values each: one call for all of them.

#include <cstddef>
#include <cstdint>

#include "ops/nn/norm/rows.h"

namespace softnpu {

// Longer slices are rows of their own.
inline constexpr int64_t kMaxShortSlice = 256;

// `count` slices of `size` values, `stride` values apart.
struct SliceShape {
  size_t count;
  size_t stride;
  size_t size;
};

// Sums are in float64.
template <typename T>
struct SliceKernels {
  Moment (*moment)(const SliceShape& shape, const T* x);
  // y = (x - mean) * factor + offset.
  void (*affine)(const SliceShape& shape, const T* x, T mean, T factor, T offset, T* y);
  // Sums over g and the normalized values.
  GradientSums (*gradient_sums)(const SliceShape& shape, const T* g, const T* x, T mean, T scale);
  // out = factor * (g - a - (x - mean) * scale * b).
  void (*gradient)(const SliceShape& shape, const NormGradientRow<T>& row, T factor, T a, T b, T* out);
};

SliceKernels<float> slice_kernels_float();
SliceKernels<double> slice_kernels_double();

template <typename T>
SliceKernels<T> slice_kernels() {
  if constexpr (sizeof(T) == sizeof(float)) {
    return slice_kernels_float();
  } else {
    return slice_kernels_double();
  }
}

}  // namespace softnpu
