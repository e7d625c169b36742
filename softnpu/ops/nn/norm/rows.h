#pragma once
// Kernels of normalizations on contiguous values in float32 or float64. Sums are in float64.

#include <cstddef>

namespace softnpu {

struct Moment {
  double count = 0;
  double mean = 0;
  double squares = 0;  // of the deviations from the mean
  // Combines with the moment of other values (Chan's formula).
  void add(const Moment& other) {
    if (other.count == 0) return;
    const double total = count + other.count;
    const double distance = other.mean - mean;
    mean += distance * (other.count / total);
    squares += other.squares + distance * distance * (count * other.count / total);
    count = total;
  }
};

// Sums over a gradient g and the normalized values z = (x - mean) * scale.
struct GradientSums {
  double g = 0;
  double gz = 0;
};

// Kernels on rows with one value per channel.
template <typename T>
struct RowsOfChannels {
  // sums += x.
  void (*sum)(const T* x, size_t count, double* sums);
  // sums += (x - mean)^2.
  void (*squares)(const T* x, size_t count, const double* mean, double* sums);
  // y = (x - mean) * factor + offset.
  void (*affine)(const T* x, size_t count, const T* mean, const T* factor, const T* offset, T* y);
  // sums += g, products += g * (x - mean).
  void (*gradient_sums)(const T* g, const T* x, size_t count, const T* mean, double* sums, double* products);
  // out = factor * (g - a - (x - mean) * scale * b).
  void (*gradient)(const T* g, const T* x, size_t count, const T* mean, const T* scale, const T* factor, const T* a,
                   const T* b, T* out);
};

// A row of a gradient, the row of x, and the row's statistics.
template <typename T>
struct NormGradientRow {
  const T* g;
  const T* x;
  T mean;
  T scale;
};

template <typename T>
struct NormRows {
  Moment (*moment)(const T* x, size_t count);
  double (*squares)(const T* x, size_t count);
  // y = (x - mean) * scale * weight + bias; weight and bias have one element per value, or are null.
  void (*normalize)(const T* x, size_t count, T mean, T scale, const T* weight, const T* bias, T* y);
  // y = (x - mean) * factor + offset.
  void (*affine)(const T* x, size_t count, T mean, T factor, T offset, T* y);
  void (*add)(const T* a, const T* b, size_t count, T* sum);
  // Sums over g * weight; weight may be null.
  GradientSums (*gradient_sums)(const T* g, const T* x, size_t count, T mean, T scale, const T* weight);
  // out = factor * (g * weight - a - z * b).
  void (*gradient)(const T* g, const T* x, size_t count, T mean, T scale, const T* weight, T factor, T a, T b, T* out);
  // dweight += g * z, dbias += g, row after row; each may be null.
  void (*weight_gradient)(const NormGradientRow<T>* rows, size_t row_count, size_t count, double* dweight,
                          double* dbias);
  // The same with separate statistics for each value of the row.
  RowsOfChannels<T> channels;
};

NormRows<float> norm_rows_float();
NormRows<double> norm_rows_double();

template <typename T>
NormRows<T> norm_rows() {
  if constexpr (sizeof(T) == sizeof(float)) {
    return norm_rows_float();
  } else {
    return norm_rows_double();
  }
}

}  // namespace softnpu
