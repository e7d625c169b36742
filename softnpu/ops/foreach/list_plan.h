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

// Whether work that writes `out` may go together with what stands behind it: it is large, and so are its tensors, since
// the places of all have to be compared.
bool may_sweep(const aclTensorList& out);

// Runs all parts: as one sweep where all of them are sweeps that were wanted. Else small ones run side by side. Where
// one touches what another writes they go in their order. No part may need a workspace.
void join_parts(std::vector<ListPart> parts, Plan* plan);

// No tensor of the list is missing; it has `count` of them.
Status check_list(const aclTensorList& list, const char* role, size_t count);

}  // namespace softnpu
