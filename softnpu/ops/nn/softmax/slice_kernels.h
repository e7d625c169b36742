#pragma once
// softmax and its gradient on values in float32 or float64: for one line, and for adjacent interleaved lines.

#include <cstddef>

namespace softnpu {

// If a line's maximum is not finite, all its results are NaN. x and y may be the same memory.
template <typename T>
struct SoftmaxLines {
  // A whole line.
  void (*whole)(const T* x, size_t count, bool log, T* y);
  // In parts: the maximum (NaN if any value is NaN), the sum of exp(x - greatest), and the results.
  T (*largest)(const T* x, size_t count);
  double (*sum)(const T* x, size_t count, T largest);
  void (*results)(const T* x, size_t count, T largest, double sum, bool log, T* y);
  // The same for one value of each of `count` lines.
  void (*largest_across)(const T* x, size_t count, T* largest);
  void (*sum_across)(const T* x, size_t count, const T* largest, T* sum);
  // `scale`: 1 / sum, or with `log` the logarithm of the sum.
  void (*results_across)(const T* x, size_t count, const T* largest, const T* scale, bool log, T* y);

  // The gradient needs the sum of grad * y, or with `log` of grad: then it is (grad - sum) * y, or grad - exp(y) * sum.
  double (*gradient_sum)(const T* grad, const T* y, size_t count, bool log);
  void (*gradient)(const T* grad, const T* y, size_t count, double sum, bool log, T* out);
  void (*gradient_sum_across)(const T* grad, const T* y, size_t count, bool log, T* sum);
  void (*gradient_across)(const T* grad, const T* y, size_t count, const T* sum, bool log, T* out);
  // `lines` lines of `length` values, one behind another: softmax, and its gradient.
  void (*short_lines)(const T* x, size_t lines, size_t length, bool log, T* y);
  void (*short_gradients)(const T* grad, const T* y, size_t lines, size_t length, bool log, T* out);
};

SoftmaxLines<float> softmax_lines_float();
SoftmaxLines<double> softmax_lines_double();

template <typename T>
SoftmaxLines<T> softmax_lines() {
  if constexpr (sizeof(T) == sizeof(float)) {
    return softmax_lines_float();
  } else {
    return softmax_lines_double();
  }
}

}  // namespace softnpu
