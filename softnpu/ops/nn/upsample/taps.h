#pragma once
// Interpolation along one dimension as a sparse matrix: each value of the result is a weighted sum of values of the
// input. Positions and weights are those of PyTorch's kernels (aten/src/ATen/native/UpSample.h and
// cpu/UpSampleKernel.cpp); the gradient is the transposed matrix.

#include <cstdint>
#include <vector>

namespace softnpu {

enum class Interpolation : uint8_t { kNearest, kNearestExact, kLinear, kCubic, kSmoothLinear, kSmoothCubic };

struct Resize {
  Interpolation mode = Interpolation::kNearest;
  int64_t in = 0;   // at least 1
  int64_t out = 0;  // at least 1
  bool align_corners = false;
  double scale = 0;  // factor; 0 or less: out / in
};

struct Taps {
  std::vector<int64_t> begin = {0};  // start of each row in the vectors below, and their end
  std::vector<int64_t> index;        // columns, ascending within a row except for repeated border values
  std::vector<double> weight;

  int64_t rows() const { return static_cast<int64_t>(begin.size()) - 1; }
  int64_t count() const { return begin.back(); }
  Taps transposed(int64_t columns) const;
};

// Rows are positions of the result. `Real`, float or double: the type of positions and weights.
template <typename Real>
Taps taps_of(const Resize& resize);

}  // namespace softnpu
