#pragma once
// The tensors of one optimizer step, in tiles.

#include <span>

#include "nnopbase/tensor.h"
#include "ops/core/iterate/tiles.h"

namespace softnpu {

struct StepTensor {
  const aclTensor* tensor;
  const char* role;
  Tiles::Access access;
};

// All are floating point and have the first one's shape. `dtype`: the type of the computation.
Status make_step_tiles(std::span<const StepTensor> tensors, Tiles* out, aclDataType* dtype);

// The cost of one element in the operations of threads_for: access to five tensors dominates.
constexpr double kFlopsPerStep = 48;

}  // namespace softnpu
