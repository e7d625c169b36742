#include "ops/iterate/sweeps.h"

#include <algorithm>

#include "ops/parallel.h"

namespace softnpu {

void run_sweeps(std::span<const Sweep* const> sweeps, double cost, int64_t first, int64_t last) {
  // Elements at a time: what several sweeps touch of them stays in the second-level cache.
  constexpr int64_t kTile = 8192;
  // What is worth a thread's turn.
  constexpr int64_t kGrain = 4 * kTile;
  const int64_t count = last - first;
  parallel_for(count, kGrain, threads_for(cost * static_cast<double>(count)), [&](int64_t begin, int64_t end) {
    for (int64_t at = first + begin; at < first + end; at += kTile) {
      const int64_t behind = std::min(at + kTile, first + end);
      for (const Sweep* sweep : sweeps) sweep->run(at, behind);
    }
  });
}

}  // namespace softnpu
