#pragma once
// Interpolation along one dimension as a sparse matrix: which values of the input each value of the result is the
// weighted sum of. Positions and weights are those of PyTorch's kernels (aten/src/ATen/native/UpSample.h and
// cpu/UpSampleKernel.cpp); the gradient is the transposed matrix.

#include <cstdint>
#include <vector>

namespace softnpu {

enum class Interpolation : uint8_t { kNearest, kNearestExact, kLinear, kCubic, kSmoothLinear, kSmoothCubic };

struct Resize {
  Interpolation mode = Interpolation::kNearest;
  int64_t in = 0;   // 1 or more
  int64_t out = 0;  // 1 or more
  bool align_corners = false;
  double scale = 0;  // how much larger the result is; 0 or less: out / in
};

struct Taps {
  std::vector<int64_t> begin = {0};  // of each row in what follows, and their end
  std::vector<int64_t> index;        // columns, in rising order within a row unless the border repeats one
  std::vector<double> weight;

  int64_t rows() const { return static_cast<int64_t>(begin.size()) - 1; }
  int64_t count() const { return begin.back(); }
  Taps transposed(int64_t columns) const;
};

// Rows: the result's positions. `Real`, float or double, is what positions and weights are computed in.
template <typename Real>
Taps taps_of(const Resize& resize);

}  // namespace softnpu
