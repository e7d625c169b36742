#pragma once
// Planner for operators.txt: keys and values into the pages of a cache.

#include <array>

#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// Row i of the key, [T, N, D], becomes position slots[i] % page of page slots[i] / page of the cache, [pages, page, N,
// D]; with the mode PA_NZ that is [pages, N D / last, page, last]. Negative slots have no position. The same of the
// value. A slot behind the last page is an error of the launch, and nothing is written.
struct PageRows {
  const aclTensor& key;
  const aclTensor& key_cache;
  const aclTensor& slots;
  const aclTensor* value;
  const aclTensor* value_cache;
  std::array<const aclTensor*, 3> absent;  // compressed rows are not supported
  const char* cache_mode;                  // null, "" or Norm; PA_NZ
  const char* scatter_mode;                // null, "" or None
};
Status write_pages(const PageRows& operands, Plan* plan);

}  // namespace softnpu
