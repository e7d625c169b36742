#include "ops/iterate/sweeps.h"

#include <algorithm>

#include "ops/onednn/engine.h"
#include "ops/parallel.h"

namespace softnpu {
namespace {

// Elements at a time: what several sweeps touch of them stays in the second-level cache.
constexpr int64_t kTile = 8192;
// Tiles that are worth a thread's turn.
constexpr int64_t kGrain = 4;

}  // namespace

double CostedSweep::work() const {
  double elements = 0;
  for (int64_t count : lanes()) elements += static_cast<double>(count);
  return kSweepFlops * cost_ * elements;
}

void CostedSweep::run_together(std::span<const Sweep* const> sweeps) const {
  const std::vector<int64_t>& sizes = lanes();
  std::vector<int64_t> ends;  // of each lane, in tiles
  ends.reserve(sizes.size());
  int64_t tiles = 0;
  for (int64_t size : sizes) ends.push_back(tiles += (size + kTile - 1) / kTile);
  const int threads = threads_for(work() * static_cast<double>(sweeps.size()));
  parallel_for(tiles, kGrain, threads, [&](int64_t first, int64_t last) {
    auto lane = static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), first) - ends.begin());
    for (int64_t tile = first; tile < last; ++tile) {
      while (tile >= ends[lane]) ++lane;
      const int64_t begin = (tile - (lane == 0 ? 0 : ends[lane - 1])) * kTile;
      const int64_t end = std::min(begin + kTile, sizes[lane]);
      for (const Sweep* sweep : sweeps) sweep->run(lane, begin, end);
    }
  });
}

}  // namespace softnpu
