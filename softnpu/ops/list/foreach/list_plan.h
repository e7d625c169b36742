#pragma once
// Combines many plans into one task.

#include <vector>

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"

namespace softnpu {

// One tensor's part of a list operator, and the tensors that it accesses.
struct ListPart {
  Plan plan;
  std::vector<const aclTensor*> reads;  // borrowed during planning
  std::vector<const aclTensor*> writes;
};

// Whether work that writes `out` should be fused: it must be large, and its tensors too, since fusion compares the
// memory ranges of all of them.
bool is_worth_a_loop(const aclTensorList& out);

// Runs all parts: with `as_loop` as one loop, if all of them are loops. Otherwise small parts run in parallel; if one
// accesses memory that another one writes, all run in order. No part may need a workspace.
void merge_parts(std::vector<ListPart> parts, bool as_loop, Plan* plan);

// Checks that the list has `count` tensors and none is null.
Status check_list(const aclTensorList& list, const char* role, size_t count);

}  // namespace softnpu
