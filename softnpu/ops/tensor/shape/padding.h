#pragma once
// The padding of each dimension.

#include <optional>
#include <vector>

#include "nnopbase/arrays.h"
#include "ops/core/iterate/view.h"
#include "ops/tensor/shape/operators.h"

namespace softnpu {

struct Padding {
  size_t dim = 0;
  int64_t size = 1;    // before padding
  int64_t before = 0;  // negative: cropped
  int64_t after = 0;

  int64_t padded() const { return size + before + after; }
};

// Reads pairs of numbers, the last dimension's first. In `out` the outermost comes first.
Status read_paddings(const Dims& sizes, const aclIntArray& values, std::vector<Padding>* out);
// As read_paddings, with the checks for reflection and replication.
Status check_paddings(PadMode mode, size_t dims, const aclTensor& self, const aclIntArray& values,
                      std::vector<Padding>* out);

// Pads small planes by a table (ops/planes), or computes the gradient of that. `small` has the sizes before padding,
// `large` those after it; nothing for other tensors.
std::optional<Plan> plan_pad_of_planes(PadMode mode, const std::vector<Padding>& paddings, const View& small,
                                       const View& large, bool backward);

}  // namespace softnpu
