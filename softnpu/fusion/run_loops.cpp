#include "fusion/run_loops.h"

#include <algorithm>

#include "workers/parallel.h"

namespace softnpu {

void run_loops(std::span<const ElementwiseLoop* const> loops, int64_t first, int64_t last) {
  // Elements of a tile: what several loops touch of them stays in the second-level cache.
  constexpr int64_t kTile = 8192;
  // The least that is worth handing to a thread.
  constexpr int64_t kGrain = 4 * kTile;
  const int64_t count = last - first;
  double cost = 0;
  for (const ElementwiseLoop* loop : loops) cost += loop->cost_per_element();
  parallel_for(count, kGrain, threads_for(cost * static_cast<double>(count)), [&](int64_t begin, int64_t end) {
    for (int64_t at = first + begin; at < first + end; at += kTile) {
      const int64_t tile_end = std::min(at + kTile, first + end);
      for (const ElementwiseLoop* loop : loops) loop->run(at, tile_end);
    }
  });
}

}  // namespace softnpu
