#pragma once
// Images as matrices of their windows' values, and sums of such matrices back into images: what torch.nn.Unfold and
// torch.nn.Fold do. Columns are [batch, channels * kernel height * kernel width, windows].

#include "nnopbase/executor.h"
#include "ops/conv/problem.h"

namespace softnpu {

struct Plane {
  int64_t height = 1;
  int64_t width = 1;
};

struct ColumnsProblem {
  int64_t batch = 0;
  Image image;
  aclTensor columns;     // three dimensions
  char* data = nullptr;  // of the columns
  Plane kernel, dilation, padding, stride;
  Plane windows;  // how many there are
};

// columns from image.
Plan plan_im2col(ColumnsProblem problem);
// image from columns, added up in the compute type of the dtype.
Plan plan_col2im(ColumnsProblem problem);

}  // namespace softnpu
