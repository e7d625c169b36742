#pragma once
// Describes a dimension of a result as pieces of a dimension of its source, and makes the copies for all combinations.

#include <vector>

#include "ops/core/copy/strided_copy.h"

namespace softnpu {

// `count` indices of the result from `to` on: those of the source from `from` on, in steps of 1, -1 or 0.
struct Chunk {
  int64_t to;
  int64_t from;
  int64_t count;
  int64_t step;
  bool is_outside = false;  // filled with the constant
};

// The pieces of one dimension.
struct PiecesOf {
  size_t dim;
  std::vector<Chunk> pieces;
};

// Appends a copy for each combination of pieces; dimensions not in `dims` are copied whole. `outside` fills the pieces
// outside of the source. Fails if there are too many combinations to list.
Status add_pieces(const View& to, const View& from, const std::vector<PiecesOf>& dims, const aclScalar* outside,
                  CopyList* list);

}  // namespace softnpu
