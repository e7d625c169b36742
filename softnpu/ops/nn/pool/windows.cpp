#include <algorithm>

#include "ops/nn/pool/pool.h"
#include "ops/nn/pool/values.h"

namespace softnpu {

std::pair<int64_t, int64_t> Windows::holders(size_t dim, int64_t at) const {
  const std::vector<Range>& all = ranges[dim];
  const auto first = std::partition_point(all.begin(), all.end(), [at](const Range& r) { return r.end <= at; });
  const auto last = std::partition_point(first, all.end(), [&](const Range& r) { return lowest(dim, r) <= at; });
  return {first - all.begin(), last - all.begin()};
}

int64_t divisor_of(const PoolProblem& p, const Range& z, const Range& y, const Range& x) {
  if (p.divisor != 0) return p.divisor;
  const auto counted = [&](const Range& r, size_t dim) {
    return std::max<int64_t>(1, p.counts_padding ? r.padded : length(r, p.windows.step[dim]));
  };
  return counted(z, 0) * counted(y, 1) * counted(x, 2);
}

}  // namespace softnpu
