#pragma once

#include <cstddef>
#include <span>

#include "hccl/hccl_types.h"

namespace softnpu::ccl {

// output[i] = inputs[0][i] op inputs[1][i] op ..., in that order. FP16 and BFP16 are reduced in float32 and rounded
// once, to nearest even. Integers wrap. NaN is the largest and the smallest number. `output` may be one of `inputs`;
// other overlaps are not allowed. `non_temporal`: the output does not stay in the caches, unless it is one of `inputs`.
void reduce(HcclDataType type, HcclReduceOp op, std::span<const char* const> inputs, size_t count, char* output,
            bool non_temporal = false);

}  // namespace softnpu::ccl
