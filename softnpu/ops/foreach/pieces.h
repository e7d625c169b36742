#pragma once
// The tensors of a list cut into pieces, which are the same for every number of threads.

#include <vector>

#include "nnopbase/arrays.h"
#include "ops/iterate/tiles.h"

namespace softnpu {

struct Piece {
  size_t tensor;
  int64_t first;
  int64_t last;
};

struct ListPieces {
  std::vector<Tiles> tensors;
  std::vector<Piece> pieces;
  double elements = 0;
};

// Each tensor of `list` by itself, computed in its own type; `role` names the list.
Status cut_list(const aclTensorList& list, const char* role, Tiles::Access access, ListPieces* out);

}  // namespace softnpu
