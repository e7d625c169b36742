#pragma once
// Pooling: each value of `out` comes from a window of `in`. Windows are the product of one range in each dimension.

#include <array>
#include <cstdint>
#include <vector>

#include "nnopbase/executor.h"
#include "ops/conv/problem.h"

namespace softnpu {

// Along one dimension: begin, begin + step, ... before end. All of it lies within the image.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t padded = 0;  // the length that counts where padding does
};

struct Windows {
  std::array<std::vector<Range>, 3> ranges;  // by the position in `out`
  Triple step = {1, 1, 1};

  // Not above where a range begins, and in order as the ends are. With a dilation a range may begin after those behind
  // it: the first ones leave out what lies in the padding.
  int64_t lowest(size_t dim, const Range& range) const { return range.begin < step[dim] ? 0 : range.begin; }

  // The positions of `out` along `dim` whose ranges may hold `at`: [first, last).
  std::pair<int64_t, int64_t> holders(size_t dim, int64_t at) const;
};

enum class PoolKind : uint8_t { kMax, kAverage };

struct PoolProblem {
  PoolKind kind = PoolKind::kMax;
  aclDataType dtype = ACL_DT_UNDEFINED;
  int64_t batch = 0;
  Image in;       // or its gradient
  Image out;      // or its gradient
  Image indices;  // of the greatest values, in a channel of `in`; without data there are none
  Windows windows;
  bool counts_padding = false;
  int64_t divisor = 0;  // 0: the number of values
};

// out, and indices where there are any, from in.
Plan plan_pool(PoolProblem problem);
// The gradient of in from that of out, and the indices. Without indices windows of one value are meant.
Plan plan_pool_backward(PoolProblem problem);

}  // namespace softnpu
