#pragma once
// Planners for operators.txt: products of many matrices at once, as the experts of a layer have them.

#include <array>

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// out[i] = x[i] @ weight[i] + bias[i], each of which may be a part of a tensor: for group_type 0 rows of x and of out,
// for 2 columns of x and rows of weight, for -1 there are no parts. The groups are contiguous and in order.
//   int8 x and weight: (x @ weight + bias) * scale * per_token_scale, a floating-point bias last; a scale may be packed
//   as by pack_quant_parameters().
//   int8 weight: x @ ((weight + antiquant_offset) * antiquant_scale) + bias; scales by column, or by rows and column.
// Rows of `out` behind the last group are zero.
struct GroupedMatmul {
  const aclTensorList& x;
  const aclTensorList& weight;  // a matrix for each group, or one stack
  const aclTensorList* bias = nullptr;
  const aclTensorList* scale = nullptr;
  const aclTensorList* antiquant_scale = nullptr;
  const aclTensorList* antiquant_offset = nullptr;
  const aclTensorList* per_token_scale = nullptr;
  const aclTensor* group_list = nullptr;    // read when the operator runs
  const aclIntArray* group_ends = nullptr;  // in place of it, of group_list_type 0
  std::array<const aclTensorList*, 4> absent = {};
  int64_t split_item = 0;  // 0, 1: out has a tensor for each group; 2, 3: one
  int64_t group_type = 0;
  int64_t group_list_type = 0;  // 0: ends; 1: sizes; 2: pairs of a group's number and its size
  int64_t activation = 0;       // a GroupActivation
  const aclTensorList& out;
};
Status grouped_matmul(const GroupedMatmul& operands, Plan* plan);

}  // namespace softnpu
