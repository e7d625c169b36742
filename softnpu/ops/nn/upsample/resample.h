#pragma once
// Resizes images along their spatial dimensions, or computes the gradient of that: one sparse matrix per dimension.

#include <array>

#include "nnopbase/executor.h"
#include "ops/nn/conv/problem.h"
#include "ops/nn/upsample/taps.h"

namespace softnpu {

struct ResampleProblem {
  int64_t batch = 0;
  Image in;
  Image out;
  std::array<Taps, 3> taps;  // rows: positions of `out`; columns: those of `in`
};

// Computes out from in, both of one real dtype, with sums in its compute type. If channels are adjacent in both, all
// channels of a row are computed together.
Plan plan_resample(ResampleProblem problem);

}  // namespace softnpu
