#pragma once
// A dimension of a result as pieces of a dimension of its source, and the copies for all dimensions' pieces together.

#include <vector>

#include "ops/copy/strided_copy.h"

namespace softnpu {

// `count` indices of the result from `to`: of the source from `from`, in steps of `step`: 1, -1 or 0.
struct Piece {
  int64_t to;
  int64_t from;
  int64_t count;
  int64_t step;
  bool is_outside = false;  // of the source: the constant
};

// The pieces of one dimension.
struct PiecesOf {
  size_t dim;
  std::vector<Piece> pieces;
};

// Appends a copy for each combination of pieces; dimensions that are not named are copied whole. `outside` is what
// pieces outside of the source are filled with. Fails where the combinations are too many to list.
Status add_pieces(const View& to, const View& from, const std::vector<PiecesOf>& dims, const aclScalar* outside,
                  CopyList* list);

}  // namespace softnpu
