#pragma once
// Rows of an image's values as the sum of a convolution meets them.

#include "ops/conv/problem.h"
#include "ops/convert/element_rows.h"

namespace softnpu {

// A tap of the filter.
struct Tap {
  int64_t channel = 0;  // of the group
  Triple at = {0, 0, 0};
};

// `index` among [channels, taps].
Tap tap_of(const Filter& filter, int64_t index);
Triple position_of(const Image& image, int64_t index);

// Reads rows of the two images of one problem in the compute type. Positions go through an image row by row; at most
// kMostPositions at a time. Where there is padding, or nothing between two strides, a value is 0.
class ImageRows {
 public:
  static constexpr int64_t kMostPositions = 64;

  explicit ImageRows(const ConvProblem& problem);

  // What `tap` of the filter multiplies for the positions of `out`.
  void in_seen_from_out(int64_t batch, int64_t channel, const Triple& tap, int64_t position, int64_t count,
                        char* to) const;
  // What `tap` of the filter multiplies in the gradient for the positions of `in`.
  void out_seen_from_in(int64_t batch, int64_t channel, const Triple& tap, int64_t position, int64_t count,
                        char* to) const;
  // `out` itself.
  void out(int64_t batch, int64_t channel, int64_t position, int64_t count, char* to) const;

 private:
  const ConvProblem& p_;
  ElementReader in_reader_;
  ElementReader out_reader_;
  int64_t value_bytes_;
};

}  // namespace softnpu
