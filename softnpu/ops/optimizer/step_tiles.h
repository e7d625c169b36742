#pragma once
// The tensors of one step, walked together.

#include <span>

#include "nnopbase/tensor.h"
#include "ops/iterate/tiles.h"

namespace softnpu {

struct StepTensor {
  const aclTensor* tensor;
  const char* role;
  Tiles::Access access;
};

// All have the first one's shape and are floating point. `dtype`: what they are computed in.
Status make_step_tiles(std::span<const StepTensor> tensors, Tiles* out, aclDataType* dtype);

// About what one element costs, in the operations that threads_for counts: five tensors wait for memory.
constexpr double kFlopsPerStep = 48;

}  // namespace softnpu
