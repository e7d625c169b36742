#pragma once
// Images sampled at the positions that a grid tells: out[n, c, p] = sum over k of weight_k(grid[n, p]) in[n, c,
// index_k].

#include "nnopbase/executor.h"
#include "ops/conv/problem.h"
#include "ops/sampler/axis.h"

namespace softnpu {

// All of one floating-point dtype. The grid is an image whose channels are the coordinates, the last dimension's first.
struct SamplerProblem {
  size_t dims = 2;
  int64_t batch = 0;
  Image in;    // and its gradient, where that is made
  Image grid;  // and its gradient
  Image out;   // and its gradient
  GridMode mode = GridMode::kLinear;
  GridPadding padding = GridPadding::kZeros;
  bool align_corners = false;
};

Plan plan_sampler(const SamplerProblem& problem);
// The gradients of `in` and of the grid, each unless it has no memory.
Plan plan_sampler_backward(const SamplerProblem& problem, const Image& in_grad, const Image& grid_grad);

}  // namespace softnpu
