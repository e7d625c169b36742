#pragma once
// Planner for operators.txt: rotary embedding by positions.

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// Rotates the first channels of each head of query and key, [T, heads * head_size], by the angles of its token: row
// positions[t] of `table`, [positions, 2 n], has n cosines, then n sines. Pairs are elements (i, i + n), or adjacent
// ones without `by_halves`. Of positions [m, T] row j has the angles of section[j] channels. A position behind the last
// row is an error of the launch, and nothing is written.
struct PositionRotation {
  const aclTensor& positions;
  const aclTensor& query;
  const aclTensor& key;
  const aclTensor& table;
  const aclIntArray* section;
  int64_t head_size;
  bool by_halves;
  const aclTensor& query_out;
  const aclTensor& key_out;
};
Status rotate_by_positions(const PositionRotation& operands, Plan* plan);

}  // namespace softnpu
