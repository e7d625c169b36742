#pragma once
// Second factors in FRACTAL_NZ: the matrix [rows, columns], stored as [ceil(columns / 16), padded rows, 16]. Padding is
// zero.

#include <cstdint>

#include "base/checked.h"
#include "nnopbase/tensor.h"

namespace softnpu {

struct Plan;

constexpr int64_t kWeightBlock = 16;

struct WeightBlocks {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t padded_rows = 0;  // a multiple of 16
  int64_t blocks = 0;

  Checked bytes(aclDataType dtype) const {
    return checked(padded_rows) * blocks * kWeightBlock * static_cast<int64_t>(aclDataTypeSize(dtype));
  }
  // The address for host kernels; fails unless all blocks are in one allocation from the tensor's data on.
  Status memory(const aclTensor& tensor, const char* role, char** out) const;
};

WeightBlocks weight_blocks(int64_t rows, int64_t columns);

// Converts a contiguous matrix in place to FRACTAL_NZ; its memory has room for the padding.
Status trans_matmul_weight(const aclTensor& weight, Plan* plan);

}  // namespace softnpu
