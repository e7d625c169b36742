#pragma once
// Elements that a mask or their value chooses, in logical order: those of each piece are counted first, so that each
// piece knows its position.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "nnopbase/plan.h"
#include "ops/core/iterate/view.h"
#include "ops/core/iterate/walk.h"
#include "workers/parallel.h"

namespace softnpu {

// Elements per piece: fixed, so that the result does not depend on the threads.
constexpr int64_t kChosenChunk = 1 << 14;
// Elements that are compressed at once, without branches, before they are stored.
constexpr int64_t kChosenTile = 256;

inline int64_t pieces_of(int64_t count) { return (count + kChosenChunk - 1) / kChosenChunk; }

// Counts the elements of each piece by `chosen(first, last)`. Writes the sums before each piece, and
// returns the total.
template <typename Count>
int64_t count_pieces(int64_t count, int threads, int64_t* before, const Count& chosen) {
  parallel_for(pieces_of(count), 1, threads, [&](int64_t first, int64_t last) {
    for (int64_t chunk = first; chunk < last; ++chunk) {
      before[chunk] = chosen(chunk * kChosenChunk, std::min(count, (chunk + 1) * kChosenChunk));
    }
  });
  int64_t total = 0;
  for (int64_t chunk = 0; chunk < pieces_of(count); ++chunk) total += std::exchange(before[chunk], total);
  return total;
}

// How many elements of a piece were counted: the tensor may be written by another process meanwhile, and no more are
// taken.
inline int64_t counted(const int64_t* before, int64_t chunk, int64_t pieces, int64_t total) {
  return (chunk + 1 < pieces ? before[chunk + 1] : total) - before[chunk];
}

// How many of `count` bytes, `stride` apart, are not zero.
int64_t count_nonzero(const char* at, ptrdiff_t stride, int64_t count);

// Sets a plan's cost, the workspace for the counts of `count` elements, and the description.
void prepare_chosen(double elements, int64_t count, Describe message, Plan* plan);

}  // namespace softnpu
