#include "ops/iterate/sweeps.h"

#include <algorithm>

#include "ops/onednn/engine.h"
#include "ops/parallel.h"

namespace softnpu {

void run_sweeps(std::span<const Sweep* const> sweeps, double cost) {
  // Elements at a time: what several sweeps touch of them stays in the second-level cache.
  constexpr int64_t kTile = 8192;
  // What is worth a thread's turn.
  constexpr int64_t kGrain = 4 * kTile;
  parallel_for(sweeps[0]->count(), kGrain, threads_for(cost), [&](int64_t first, int64_t last) {
    for (int64_t at = first; at < last; at += kTile) {
      const int64_t end = std::min(at + kTile, last);
      for (const Sweep* sweep : sweeps) sweep->run(at, end);
    }
  });
}

}  // namespace softnpu
