#pragma once
// Pairs of kernels that compute the same, of which one is faster on an NPU by plain arithmetic: what the timeline is
// judged with.

#include <span>

#include "kernel_operator.h"

namespace timelines {

inline constexpr uint32_t kElements = 1 << 20;  // of x, y, z and the workspace

struct Arguments {
  GM_ADDR x, y, z, workspace;
};
using Kernel = void (*)(const Arguments& arguments);

struct Side {
  Kernel kernel;
  uint32_t blocks;
};

struct Pair {
  const char* name;
  const char* arithmetic;  // why the second is faster
  Side slower;
  Side faster;
  const char* reversed_by;  // lines for SOFTNPU_KERNEL_FIGURES that make the first one faster; null: none
};

std::span<const Pair> pairs();

// z = x + y, double-buffered: bound by the bandwidth of global memory on many blocks.
void add(const Arguments& arguments);

}  // namespace timelines
