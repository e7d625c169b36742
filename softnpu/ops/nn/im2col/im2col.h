#pragma once
// im2col and col2im: images as matrices of their windows' values, and sums of such matrices back into images, as
// torch.nn.Unfold and torch.nn.Fold. Columns are [batch, channels * kernel height * kernel width, windows].

#include "nnopbase/executor.h"
#include "ops/nn/conv/problem.h"

namespace softnpu {

struct Plane {
  int64_t height = 1;
  int64_t width = 1;
};

struct Im2colProblem {
  int64_t batch = 0;
  Image image;
  aclTensor columns;     // three dimensions
  char* data = nullptr;  // of the columns
  Plane kernel, dilation, padding, stride;
  Plane windows;  // number of windows
};

// Computes the columns from the image.
Plan plan_im2col(Im2colProblem problem);
// Computes the image from the columns; sums are in the compute type of the dtype.
Plan plan_col2im(Im2colProblem problem);

}  // namespace softnpu
