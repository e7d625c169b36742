#pragma once
// Rows of an image's values in the order of a convolution's sum.

#include "ops/core/convert/element_rows.h"
#include "ops/nn/conv/problem.h"

namespace softnpu {

// A tap of the filter.
struct Tap {
  int64_t channel = 0;  // within the group
  Triple at = {0, 0, 0};
};

// The tap of `index` in [channels, taps].
Tap tap_of(const Filter& filter, int64_t index);
Triple position_of(const Image& image, int64_t index);

// Reads rows of a problem's two images in the compute type. Positions are in row-major order; at most kMaxPositions
// per call. Padding, and gaps due to strides, are 0.
class ImageRows {
 public:
  static constexpr int64_t kMaxPositions = 64;

  explicit ImageRows(const ConvProblem& problem);

  // The values of `in` that `tap` of the filter multiplies, for positions of `out`.
  void in_seen_from_out(int64_t batch, int64_t channel, const Triple& tap, int64_t position, int64_t count,
                        char* to) const;
  // The values of `out` that `tap` of the filter multiplies in the input's gradient, for positions of `in`.
  void out_seen_from_in(int64_t batch, int64_t channel, const Triple& tap, int64_t position, int64_t count,
                        char* to) const;
  // The values of `out` at the positions.
  void out(int64_t batch, int64_t channel, int64_t position, int64_t count, char* to) const;

 private:
  const ConvProblem& p_;
  ElementReader in_reader_;
  ElementReader out_reader_;
  int64_t value_bytes_;
};

}  // namespace softnpu
