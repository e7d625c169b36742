#pragma once
// Samples images at the positions in a grid: out[n, c, p] = sum over k of weight_k(grid[n, p]) in[n, c, index_k].

#include "nnopbase/executor.h"
#include "ops/nn/conv/problem.h"
#include "ops/nn/grid_sample/axis.h"

namespace softnpu {

// All have one floating-point dtype. The grid is an image whose channels are the coordinates, the last dimension's
// first.
struct GridSampleProblem {
  size_t dims = 2;
  int64_t batch = 0;
  Image in;    // or its gradient
  Image grid;  // or its gradient
  Image out;   // or its gradient
  GridMode mode = GridMode::kLinear;
  GridPadding padding = GridPadding::kZeros;
  bool align_corners = false;
};

Plan plan_grid_sample(const GridSampleProblem& problem);
// Computes the gradients of `in` and of the grid; one without memory is skipped.
Plan plan_grid_sample_backward(const GridSampleProblem& problem, const Image& in_grad, const Image& grid_grad);

}  // namespace softnpu
