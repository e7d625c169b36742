#include "ops/iterate/sweeps.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/small_vector.h"
#include "ops/onednn/engine.h"
#include "ops/parallel.h"

namespace softnpu {

void run_sweeps(std::span<const Sweep* const> sweeps, double cost) {
  // Elements at a time: what several sweeps touch of them stays in the second-level cache.
  constexpr int64_t kTile = 8192;
  // What is worth a thread's turn.
  constexpr int64_t kGrain = 4 * kTile;
  std::vector<std::unique_ptr<const Sweep>> made;
  SmallVector<const Sweep*, 16> ready;
  for (const Sweep* sweep : sweeps) {
    made.push_back(sweep->prepared());
    ready.push_back(made.back() == nullptr ? sweep : made.back().get());
  }
  parallel_for(sweeps[0]->count(), kGrain, threads_for(cost), [&](int64_t first, int64_t last) {
    for (int64_t at = first; at < last; at += kTile) {
      const int64_t end = std::min(at + kTile, last);
      for (const Sweep* sweep : ready) sweep->run(at, end);
    }
  });
}

}  // namespace softnpu
