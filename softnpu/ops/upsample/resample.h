#pragma once
// Images resized along their spatial dimensions, or the gradient of that: a sparse matrix for each dimension.

#include <array>

#include "nnopbase/executor.h"
#include "ops/conv/problem.h"
#include "ops/upsample/taps.h"

namespace softnpu {

struct ResampleProblem {
  int64_t batch = 0;
  Image in;
  Image out;
  std::array<Taps, 3> taps;  // rows: positions of `out`; columns: those of `in`
};

// out from in, both of one real dtype, added up in its compute type. Where channels lie next to each other in both, all
// channels of a row are computed together.
Plan plan_resample(ResampleProblem problem);

}  // namespace softnpu
