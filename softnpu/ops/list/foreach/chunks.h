#pragma once
// Cuts the tensors of a list into pieces, independent of the number of threads.

#include <vector>

#include "nnopbase/arrays.h"
#include "ops/core/iterate/tiles.h"

namespace softnpu {

struct ListChunk {
  size_t tensor;
  int64_t first;
  int64_t last;
};

struct ListPieces {
  std::vector<Tiles> tensors;
  std::vector<ListChunk> pieces;
  double elements = 0;
};

// Cuts each tensor of `list`, to be computed in its own type; `role` names the list.
Status cut_list(const aclTensorList& list, const char* role, Tiles::Access access, ListPieces* out);

}  // namespace softnpu
