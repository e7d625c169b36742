#pragma once
// What the C functions of the graph engine get, in the engine's own types.

#include <cstdint>
#include <span>
#include <vector>

#include "graph/session/session.h"
#include "softnpu/graph.h"

namespace softnpu::graph {

inline std::vector<Buffer> buffers(const softnpuBuffer* first, size_t count) {
  std::vector<Buffer> result;
  result.reserve(count);
  for (const softnpuBuffer& one : std::span(first, count)) result.push_back({one.data, one.bytes});
  return result;
}

inline std::vector<int64_t> sizes_of(const softnpuSizes& sizes) { return {sizes.dims, sizes.dims + sizes.rank}; }

}  // namespace softnpu::graph
