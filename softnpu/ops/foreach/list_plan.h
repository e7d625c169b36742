#pragma once
// Many plans as one task.

#include <vector>

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"

namespace softnpu {

// One tensor's part of a list operator, and the tensors it touches.
struct ListPart {
  Plan plan;
  std::vector<const aclTensor*> reads;  // borrowed for the time of planning
  std::vector<const aclTensor*> writes;
};

// Whether work that writes `out` is worth fusing: it is large, and so are its tensors, since the memory of all has to
// be compared.
bool is_worth_a_loop(const aclTensorList& out);

// Runs all parts: `as_loop` as one loop, where all of them are loops. Else small ones run in parallel. Where one
// touches what another writes they run in their order. No part may need a workspace.
void merge_parts(std::vector<ListPart> parts, bool as_loop, Plan* plan);

// No tensor of the list is missing; it has `count` of them.
Status check_list(const aclTensorList& list, const char* role, size_t count);

}  // namespace softnpu
