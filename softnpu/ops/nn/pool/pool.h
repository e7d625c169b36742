#pragma once
// Pooling: each value of `out` is computed from a window of `in`. Windows are the product of one range per dimension.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "nnopbase/executor.h"
#include "ops/nn/conv/problem.h"

namespace softnpu {

// Along one dimension: begin, begin + step, ... before end. All of it is inside the image.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t padded = 0;  // the length including padding
};

struct Windows {
  std::array<std::vector<Range>, 3> ranges;  // by position in `out`
  Triple step = {1, 1, 1};

  // A lower bound of the range's begin that is monotonic in the position, as the ends are. With a dilation the begins
  // are not: the first ranges skip the positions in the padding.
  int64_t lowest(size_t dim, const Range& range) const { return range.begin < step[dim] ? 0 : range.begin; }

  // The positions of `out` along `dim` whose ranges may contain `at`: [first, last).
  std::pair<int64_t, int64_t> holders(size_t dim, int64_t at) const;
};

enum class PoolKind : uint8_t { kMax, kAverage };

struct PoolProblem {
  PoolKind kind = PoolKind::kMax;
  aclDataType dtype = ACL_DT_UNDEFINED;
  int64_t batch = 0;
  Image in;       // or its gradient
  Image out;      // or its gradient
  Image indices;  // of the maxima, in a channel of `in`; null data: none
  Windows windows;
  bool counts_padding = false;
  int64_t divisor = 0;  // 0: the number of values
};

// Computes out from in, and the indices if they are given.
Plan plan_pool(PoolProblem problem);
// The same for small planes, the gradient of averages for those, or of maxima with indices for planes without gaps in
// float32; nothing for other problems.
std::optional<Plan> plan_pool_of_planes(const PoolProblem& problem, bool backward);
// Computes the gradient of in from that of out and the indices. Without indices windows have one value.
Plan plan_pool_backward(PoolProblem problem);

}  // namespace softnpu
